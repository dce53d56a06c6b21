"""Learning the topic of a text from embeddings that each person randomizes once: what papers claim, and what is certified.

    python -m research.experiments.learning_text --data DIR            writes learning_text.md, 15 minutes of one core
    python -m research.experiments.learning_text --data DIR --quick    prints it for a tenth of the people, trained once
    python -m research.experiments.learning_text                       the same, for a generated stand-in

Three contests: features and
label together, at certified budgets; the label alone, with and without a correction of the loss; the features alone, as
published and at the same true epsilon. Every training has seeded coins of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

import deniable as dn
import deniable_learn as learning
from deniable.arrays import Floats, Ints
from deniable_learn.guarantee import Guarantee, together
from research.contest import Contest, Entrant, Standings, Trial
from research.data.folder import Data
from research.data.samples import TEXTS
from research.experiments.command import data_option, quick_option

RESULT = Path(__file__).with_suffix(".md")
CLAIMED, CERTIFIED, LABEL = tuple(range(1, 11)), (1, 2, 4, 8, 16, 32, 64), (1, 2.5, 5, 10)
REPEATS, ROUNDS, REACH, BITS, PENALTY = 10, 40, 0.3, 10, 1e-4
FEW = 4  # trainings where all of 1 to 10 are claimed, at most: intervals are narrow there
BLOCK = 8  # coordinates that are randomized together where all of them are reported: no mechanism takes an epsilon above 100

Maker = Callable[[int, float], dn.Mechanism]


class Texts:
    """The samples, and how each learner is trained and scored on them."""

    def __init__(self, x: Floats, y: Ints, test_x: Floats, test_y: Ints) -> None:
        lengths = [np.linalg.norm(each, axis=1, keepdims=True) for each in (x, test_x)]
        self.x, self.y, self.test_x, self.test_y = x / lengths[0], y, test_x / lengths[1], test_y
        self.labels = dn.Categories(range(int(y.max()) + 1))

    @property
    def dimensions(self) -> int:
        """How many numbers an embedding has."""
        return self.x.shape[1]

    def score(self, model: learning.LinearModel) -> float:
        """The share of test texts whose topic is found."""
        return model.accuracy(self.test_x, self.test_y)

    def softmax(self, data: learning.PrivateData, correction: Any, penalty: float = 1e-3) -> float:
        """Softmax regression on randomized samples, their features brought to a mean length of one.

        Where features are noisy the intercept is left out: texts to test have none of the noise and are much shorter, so
        that it would outweigh all else; and topics are equally frequent.
        """
        size = float(np.sqrt((data.features**2).sum(axis=1).mean()))
        model = learning.fit_softmax(data.features / size, data.labels, data.channel, correction, penalty, ROUNDS)
        bias = model.bias if np.array_equal(data.features, self.x) else np.zeros(self.labels.size)
        return self.score(learning.LinearModel(model.weights / size, bias))

    def ceiling(self, seed: int) -> float:
        """Softmax regression without any privacy."""
        return self.score(learning.fit_softmax(self.x, self.y, np.eye(self.labels.size), "none", PENALTY))

    def floor(self, seed: int) -> float:
        """Always the topic that is most frequent."""
        return float((self.test_y == np.bincount(self.y).argmax()).mean())


def coins(name: str, epsilon: float, seed: int) -> dn.Coins:
    """Coins of their own for every learner, budget and training."""
    return dn.SeededCoins(f"{name}, {epsilon:g}, {seed}".encode())


def bits_of(texts: Texts, name: str, epsilon: float) -> dn.BitRand:
    """The bits of a paper as it publishes them: each with the constants of its text, numbers in (-1/2, 1/2)."""
    shape = texts.dimensions, BITS, epsilon
    match name:
        case "f-RR":
            return dn.BitRand.as_published(*shape, whole=-1)
        case "LATENT":
            return dn.BitRand.latent(*shape, alpha=7, whole=-1)
    return dn.BitRand.ome(*shape, alpha=float(name.split()[-1]), whole=-1)


def published(texts: Texts, name: str, epsilon: float, seed: int) -> Trial:
    """The bits of a paper, their codes read as they are: the features alone, labels public."""
    mechanism = bits_of(texts, name, epsilon)
    reports = mechanism.perturb(texts.x, coins("published" if name == "f-RR" else name, epsilon, seed))
    data = learning.PrivateData(plain(mechanism, reports), texts.y, np.eye(texts.labels.size), Guarantee((mechanism,), ""))
    return Trial(texts.softmax(data, "none"), mechanism.loss())


def plain(mechanism: dn.BitRand, reports: dn.Reports) -> Floats:
    """The numbers that codes stand for, as if no bit had been flipped."""
    domain = mechanism.domain
    assert isinstance(domain, dn.SignMagnitude)
    codes: Any = 0
    for i in range(mechanism.bits):
        bits = np.unpackbits(reports.columns[f"bit{i}"], axis=1, bitorder="little", count=domain.dimensions)
        codes = 2 * codes + bits.astype(np.int64)
    return np.asarray(domain.decode(codes))


@dataclass(frozen=True)
class AllReported:
    """Samples of which every number was randomized on its own, in blocks; labels are public."""

    rows: Floats
    labels: Floats
    mechanisms: tuple[dn.FeatureVector, ...]
    noisy: bool = True

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, part: slice) -> "AllReported":
        return AllReported(self.rows[part], self.labels[part], self.mechanisms)

    def cross(self) -> Floats:
        """The mean of x (1{y = c} - 1/C)."""
        return np.asarray(self.rows.T @ (self.labels - 1 / self.labels.shape[1]) / len(self))

    def squares(self) -> Floats:
        """The mean of x x'; numbers of different blocks are randomized independently."""
        gram = self.rows.T @ self.rows / len(self)
        start = 0
        for mechanism in self.mechanisms:
            block = slice(start, start + mechanism.domain.dimensions)
            found = learning.decoding.squares(mechanism, self.rows[:, block])
            assert found is not None
            gram[block, block], start = found, block.stop
        return gram


def all_reported(texts: Texts, epsilon: float, seed: int) -> Trial:
    """Every number by the piecewise mechanism, with no more than f-RR's true epsilon; labels public."""
    whole = bits_of(texts, "f-RR", epsilon).loss()
    each = min(whole.epsilon() / texts.dimensions * (1 - 1e-9), 100 / BLOCK)
    rows, used, mechanisms = [], coins("all", epsilon, seed), []
    for start in range(0, texts.dimensions, BLOCK):
        part = texts.x[:, start : start + BLOCK]
        box = dn.Features(part.shape[1], -REACH, REACH, steps=128, clip=True)
        mechanisms.append(dn.FeatureVector(box, each * part.shape[1], part.shape[1], "piecewise-1"))
        rows.append(learning.decode(mechanisms[-1], mechanisms[-1].perturb(part, used)))
    data = AllReported(np.concatenate(rows, axis=1), np.eye(texts.labels.size)[texts.y], tuple(mechanisms))
    loss = together([each.loss() for each in mechanisms], "the features of a sample, not its label")
    return Trial(texts.score(learning.fit_moments(data)), loss)


def directions(texts: Texts, name: str, epsilon: float, seed: int) -> Trial:
    """One certified report of the whole vector, with no more than the true epsilon of a paper's bits; labels public."""
    own = bits_of(texts, name, epsilon).loss().epsilon() * (1 - 1e-9)
    data = learning.privatize(
        (texts.x, texts.y),
        features=dn.UnitAxes(dn.UnitVectors(texts.dimensions), own),
        labels="public",
        epsilon=(own, None),
        coins=coins(f"directions {name}", epsilon, seed),
    )
    return Trial(texts.score(learning.fit_moments(data)), data.guarantee.sample)


def as_usual(texts: Texts, name: str, make: Maker, epsilon: float, seed: int) -> Trial:
    """Half of the budget for the features, half for the label by label-RR, trained as if neither were noisy."""
    mechanism = make(texts.dimensions, epsilon / 2)
    data = learning.privatize(
        (texts.x, texts.y),
        features=mechanism,
        labels=dn.LabelResponse(texts.labels, epsilon / 2),
        epsilon=(epsilon / 2, epsilon / 2),
        coins=coins(name, epsilon, seed),
    )
    return Trial(texts.softmax(data, "none"), data.guarantee.sample)


def planned(texts: Texts, make: Any, epsilon: float, seed: int) -> Trial:
    """The split with the least noise, or features and label as one; trained by moments without the noise."""
    domain = dn.UnitVectors(texts.dimensions)
    parts = learning.split_sample(domain, texts.labels.size, epsilon).parts
    used, data = coins(make.wire, epsilon, seed), (texts.x, texts.y)
    if parts is None:
        signed = learning.privatize_together(
            data, features=make(domain, epsilon), labels=texts.labels, epsilon=epsilon, coins=used
        )
        return Trial(texts.score(learning.fit_moments(signed)), signed.guarantee.sample)
    split = learning.privatize(data, features=make(domain, parts[0]), labels=texts.labels, epsilon=parts, coins=used)
    return Trial(texts.score(learning.fit_moments(split)), split.guarantee.sample)


def label_only(texts: Texts, correction: str, epsilon: float, seed: int) -> Trial:
    """Features public, the label by label-RR; with or without a correction of the loss, or by moments."""
    data = learning.privatize(
        (texts.x, texts.y),
        features="public",
        labels=texts.labels,
        epsilon=(None, epsilon),
        coins=coins("label", epsilon, seed),  # the same noisy labels for all learners
    )
    model = learning.fit_moments(data) if correction == "moments" else None
    score = texts.softmax(data, correction, PENALTY) if model is None else texts.score(model)
    return Trial(score, data.guarantee.sample)


def sampled(dimensions: int, epsilon: float) -> dn.Mechanism:
    """The best number of coordinates by the piecewise or hybrid mechanism, drawn at random."""
    return dn.FeatureVector(dn.Features(dimensions, -REACH, REACH, clip=True), epsilon, scalar="hybrid-1")


def all_signs(dimensions: int, epsilon: float) -> dn.Mechanism:
    """Duchi's mechanism for vectors, in the form that keeps epsilon."""
    return dn.DuchiVector(dn.Features(dimensions, -REACH, REACH, clip=True), epsilon)


def cap(dimensions: int, epsilon: float) -> dn.Mechanism:
    """PrivUnit, on the word of its theorem."""
    return dn.PrivUnit(dn.UnitVectors(dimensions), epsilon)


USUAL: dict[str, tuple[str, Maker]] = {
    "Duchi, all signs": ("Duchi et al. 2013", all_signs),
    "Hybrid, sampled coordinates": ("Wang et al. 2019", sampled),
    "PrivUnit": ("Bhowmick et al. 2018", cap),
}


def contests(texts: Texts) -> list[Contest]:
    """What is compared with what."""
    people, d = texts.x.shape
    about = f"{people:,} people with one text each, embeddings of {d} numbers, {len(texts.test_y):,} texts to test"
    both = [Entrant(name, partial(as_usual, texts, name, make), paper) for name, (paper, make) in USUAL.items()]
    both += [
        Entrant("UnitAxes, planned, moments", partial(planned, texts, dn.UnitAxes)),
        Entrant("PrivUnit, planned, moments", partial(planned, texts, dn.PrivUnit)),
    ]
    alone = [
        Entrant("softmax on raw labels", partial(label_only, texts, "none"), "BitRand 2022"),
        Entrant("softmax, forward correction", partial(label_only, texts, "forward")),
        Entrant("softmax, backward correction", partial(label_only, texts, "backward")),
        Entrant("moments", partial(label_only, texts, "moments")),
    ]
    features = [
        Entrant("f-RR as published", partial(published, texts, "f-RR"), "BitRand 2022"),
        Entrant("OME as published, alpha 100", partial(published, texts, "OME 100"), "Lyu et al. 2020"),
        Entrant("Piecewise, every number, moments, within f-RR's", partial(all_reported, texts)),
        Entrant("LATENT as published, alpha 7", partial(published, texts, "LATENT"), "Arachchige et al. 2019"),
        Entrant("UnitAxes, moments, within LATENT's", partial(directions, texts, "LATENT")),
        Entrant("OME as published, alpha 1", partial(published, texts, "OME 1"), "Lyu et al. 2020"),
        Entrant("UnitAxes, moments, within OME's", partial(directions, texts, "OME 1")),
    ]
    make = partial(Contest, measure="accuracy", ceiling=texts.ceiling, floor=texts.floor)
    return [
        make("Features and label", budgets=CERTIFIED, entrants=both, about=f"{about}; epsilon is for features and label"),
        make("Label alone", budgets=LABEL, entrants=alone, about=f"{about}; features are public"),
        make("Features alone, as published", budgets=CLAIMED, entrants=features, about=f"{about}; labels are public"),
    ]


def stand_in(people: int = 1200, d: int = 64, classes: int = 4) -> Texts:
    """Made-up embeddings: a direction for each topic, and much else."""
    random = np.random.default_rng(1)
    centres = random.normal(size=(classes, d)) / d**0.5
    spread = 0.3 + 2.0 / np.sqrt(1 + np.arange(d))

    def drawn(n: int) -> tuple[Floats, Ints]:
        y = np.arange(n) % classes
        return np.asarray(centres[y] + random.normal(size=(n, d)) * spread / d**0.5), y

    return Texts(*drawn(people), *drawn(people))


def loaded(data: Data, every: int = 1) -> Texts:
    """The embeddings of AG News; of those to train on, every so many."""
    kept = data.arrays(TEXTS)
    x, y, test_x, test_y = (kept[name] for name in ("x_train", "y_train", "x_test", "y_test"))
    return Texts(
        x[::every].astype(np.float64), y[::every].astype(np.int64), test_x.astype(np.float64), test_y.astype(np.int64)
    )


def leads(found: Standings) -> str:
    """By how much our best is ahead of the best of the papers at each certified epsilon, in points."""
    leads = ", ".join(f"{100 * lead:+.2f} at {epsilon:.4g}" for epsilon, lead in found.leads().items())
    return f"Our best is ahead of the best of the papers, in points, at the same certified epsilon: {leads}."


def page(found: Standings) -> str:
    """The result of a contest: every line, and what the documentation shows of it."""
    return f"{found.markdown()}\n{found.summary()}\n{leads(found)}\n"


@click.command()
@data_option
@quick_option("A tenth of the people, trained once")
@click.option("--repeats", default=REPEATS, show_default=True, help="Trainings of each learner.")
def main(data: Data, quick: bool, repeats: int) -> None:
    """Compare private learners on embeddings of texts."""
    quick = quick or data.folder is None
    done: list[str] = []
    for contest in contests(loaded(data, 10 if quick else 1) if data.folder else stand_in()):
        most = FEW if contest.budgets == CLAIMED else repeats
        done.append(page(contest.run(1 if quick else min(most, repeats))))
        if quick:
            click.echo(done[-1])
        else:
            RESULT.write_text("\n".join(done), encoding="utf-8")
            click.echo(f"written: {len(done)} contests to {RESULT.name}")


if __name__ == "__main__":
    main()
