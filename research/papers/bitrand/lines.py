"""The lines of the figures on training: what is randomized, by which mechanism, at which claimed and true epsilon."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import BitRand, Duchi, Hybrid, LabelResponse, Piecewise, ThreeOutputs
from deniable.arrays import Floats, Ints
from deniable.core.coins import Coins
from deniable.domains import Categories, Interval, SignMagnitude, UnitVectors
from deniable.mechanisms.means.mean_mechanism import MeanMechanism
from deniable_learn import decode, fit_moments, privatize, privatize_together
from research.data.folder import random_for
from research.data.samples import Samples
from research.mean_formulas import sampled_coordinates
from research.papers.bitrand.rounds import Clients, Layers, learnt, learnt_from_reports
from research.papers.bitrand.theory import LATENT, OME, corrected, true_epsilon
from research.papers.figure import coins_for

BITS = 10  # of a code below one
REACH = 0.5  # public: how far a coordinate of a vector of length one is thought to lie from 0 at most
MOST = 30.0  # epsilon of one number beyond which nothing changes
SCALARS: dict[str, Callable[[Interval, float], MeanMechanism]] = {
    "DM": Duchi,
    "PM": Piecewise.original,
    "HM": Hybrid,
    "Three-outputs": ThreeOutputs,
    "PM-SUB": Piecewise,
}
CODES = ("BitRand", "LATENT", "OME")


@dataclass(frozen=True)
class Line:
    """One line: `what` is randomized ("features", "gradients", "anonymized", "unlinked", "ours" or "nothing").

    `labels` is the epsilon of the labels, infinite where they are public; `laplace` and `corrected` are other ways with
    them: noise on one-hot labels instead of label-RR, and a loss that knows the noise. Without `constants` the layers have
    no constant terms.
    """

    what: str
    mechanism: str
    labels: float = math.inf
    laplace: bool = False
    corrected: bool = False
    constants: bool = True

    @property
    def name(self) -> str:
        """As it stands in tables and pictures."""
        if self.what in ("ours", "nothing"):
            return self.mechanism
        if self.laplace:
            return f"f-RR & Label-Laplace, labels at {self.labels:g}"
        where = {"gradients": " [gradients]", "anonymized": " [gradients, anonymizer]", "unlinked": ""}.get(self.what, "")
        labels = "" if math.isinf(self.labels) else f", labels at {self.labels:g}"
        return f"{self.mechanism}{where}{labels}{', loss corrected' if self.corrected else ''}"


@dataclass(frozen=True)
class Size:
    """How much is trained: hidden units in each of two layers, rounds, and how often all is done again."""

    hidden: int
    rounds: int
    repeats: int


@dataclass(frozen=True, eq=False)
class Task:
    """People to learn from in clients of about `each` samples, and all that is random in one repetition."""

    held: Samples
    each: int
    size: Size
    seed: str

    @property
    def labels(self) -> Ints:
        return self.held.right.astype(np.int64)

    @property
    def classes(self) -> int:
        return int(max(self.labels.max(), self.held.test_right.astype(np.int64).max())) + 1

    @property
    def layers(self) -> Layers:
        return Layers(self.held.rows.shape[1], self.classes, self.size.hidden)

    def coins(self, *what: object) -> Coins:
        return coins_for(0, self.seed, self.held.name, *what)

    def random(self, *what: object) -> np.random.Generator:
        return random_for(0, self.seed, self.held.name, *what)


def outcome(task: Task, line: Line, epsilon: float) -> tuple[Floats, float]:
    """The scores of the classes for the people who test, and the true epsilon."""
    match line.what:
        case "nothing":
            return _guessed(task) if line.mechanism == "random" else (_trained(task, task.held.rows, task.labels), math.inf)
        case "features":
            return _on_features(task, line, epsilon)
        case "ours":
            return _ours(task, line.mechanism, epsilon)
    return _on_gradients(task, line, epsilon)


def _guessed(task: Task) -> tuple[Floats, float]:
    return task.random("guess").normal(size=(len(task.held.test), task.classes)), 0.0


def _trained(task: Task, rows: Floats, labels: Ints, channel: Floats | None = None, constants: bool = True) -> Floats:
    """Rounds on what was sent, brought to a mean square of one: by a number that is worked out from it, at no cost."""
    scale = max(float(np.sqrt((rows**2).mean())), 1e-9)
    clients = Clients.split(rows / scale, labels, task.each)
    known = None if channel is None else channel.astype(np.float32)
    layers = replace(task.layers, constants=constants)
    weights = learnt(layers, clients, task.size.rounds, task.random("weights"), known)
    return layers.scores(weights, (task.held.test / scale).astype(np.float32)).astype(np.float64)


def coded(task: Task, name: str, epsilon: float) -> tuple[Floats, float]:
    """Features by f-RR, or by LATENT or OME as corrected, read as if no bit had been flipped; and what they truly cost."""
    size = task.held.rows.shape[1]
    claimed, epsilon = epsilon, corrected(name, size, BITS, epsilon)
    made = {
        "BitRand": lambda: BitRand.as_published(size, BITS, epsilon),
        "LATENT": lambda: BitRand.latent(size, BITS, epsilon, LATENT),
        "OME": lambda: BitRand.ome(size, BITS, epsilon, OME),
    }[name]()
    domain = made.domain
    assert isinstance(domain, SignMagnitude)
    reports = made.perturb(np.clip(task.held.rows, -domain.largest, domain.largest), task.coins(name, claimed))
    codes = np.zeros(task.held.rows.shape, np.int64)
    for i in range(made.bits):
        codes = 2 * codes + np.unpackbits(reports.columns[f"bit{i}"], axis=1, bitorder="little", count=size)
    return np.asarray(domain.decode(codes)), true_epsilon("f-RR" if name == "BitRand" else name, size, BITS, epsilon)


def numbers(made: MeanMechanism, rows: NDArray[Any], coins: Coins) -> Floats:
    """Every number of the rows reported by a mechanism for one number, and read without bias."""
    return decode(made, made.perturb(np.asarray(rows, np.float64).ravel(), coins)).reshape(rows.shape)


def _on_features(task: Task, line: Line, epsilon: float) -> tuple[Floats, float]:
    if line.mechanism in CODES:
        rows, cost = coded(task, line.mechanism, epsilon)
    else:  # all coordinates, an equal part of the budget each, as the paper counts its rivals
        size = task.held.rows.shape[1]
        made = SCALARS[line.mechanism](Interval(-REACH, REACH, clip=True), epsilon / size)
        rows = numbers(made, task.held.rows, task.coins(line.name, epsilon))
        cost = size * made.loss().epsilon()
    if math.isinf(line.labels):
        return _trained(task, rows, task.labels, constants=line.constants), cost
    domain = Categories(range(task.classes))
    way = (LabelResponse.laplace if line.laplace else LabelResponse)(domain, line.labels)
    reported = way.perturb(task.labels.tolist(), task.coins("labels", line.laplace, line.labels)).columns["value"]
    channel = np.full((task.classes, task.classes), float(way.q)) + np.eye(task.classes) * float(way.p - way.q)
    scores = _trained(task, rows, reported.astype(np.int64), channel if line.corrected else None, line.constants)
    return scores, cost + way.loss().epsilon()


OURS_RAW, OURS_AWARE = "ours: read as it arrives", "ours: noise taken out"
OURS_FAIR, OURS_ONE = "ours, at BitRand's true epsilon", "ours: features and label as one"


def _ours(task: Task, name: str, epsilon: float) -> tuple[Floats, float]:
    """Certified at epsilon: the same reports read as they arrive by the network, or by moments without their noise."""
    if name == OURS_FAIR:
        size = task.held.rows.shape[1]
        cost = true_epsilon("f-RR", size, BITS, epsilon)
        made = Piecewise(Interval(-1, 1, clip=True), min(cost / size, MOST))
        rows = numbers(made, task.held.rows, task.coins(name, epsilon))
        return _trained(task, rows, task.labels), size * made.loss().epsilon()
    domain, people = UnitVectors(task.held.rows.shape[1]), (task.held.rows, task.labels)
    coins = task.coins("ours", name == OURS_ONE, epsilon)
    if name == OURS_ONE:
        both = privatize_together(
            people, features=domain, labels=Categories(range(task.classes)), epsilon=epsilon, coins=coins
        )
        return fit_moments(both).scores(task.held.test), both.guarantee.sample.epsilon()
    sent = privatize(people, features=domain, labels="public", epsilon=(epsilon, None), coins=coins)
    cost = sent.guarantee.sample.epsilon()
    if name == OURS_RAW:
        return _trained(task, sent.features, sent.labels), cost
    return fit_moments(sent).scores(task.held.test), cost


def sampled_mean(made: MeanMechanism, rows: NDArray[Any], many: int, coins: Coins, random: np.random.Generator) -> Floats:
    """The mean of rows of which each reports so many numbers, evenly spread from a place drawn in public; without bias."""
    count, size = rows.shape
    where = (random.integers(size, size=(count, 1)) + np.arange(many) * size // many) % size
    sums = np.zeros(size)
    np.add.at(sums, where, numbers(made, np.take_along_axis(rows, where, axis=1), coins))
    return np.asarray(sums * size / many / count)


def _on_gradients(task: Task, line: Line, epsilon: float) -> tuple[Floats, float]:
    """Clients report their gradients in every round, cut to a public length and their numbers to a public reach.

    Without an anonymizer the rounds share epsilon; with one, as the paper counts, each has all of it. A few coordinates are
    reported, as Wang et al. 2019 do; LDP-FL reports all, with a part of the round's epsilon each, or ("unlinked") all of it.
    """
    layers, rounds = task.layers, task.size.rounds
    clients = Clients.split(task.held.rows * task.held.rows.shape[1] ** 0.5, task.labels, task.each)
    reach = min(1.0, 3 / math.sqrt(layers.size))
    budget = epsilon / rounds if line.what == "gradients" else epsilon
    every = line.mechanism == "LDP-FL"
    many = layers.size if every else sampled_coordinates(layers.size, budget)
    maker = Duchi if every else SCALARS[line.mechanism]
    made = maker(Interval(-reach, reach, clip=True), budget if line.what == "unlinked" else budget / many)
    coins, random = task.coins(line.name, epsilon), task.random("coordinates", line.name, epsilon)

    def mean(gradients: NDArray[np.float32]) -> NDArray[np.float32]:
        if every:
            return numbers(made, gradients, coins).mean(axis=0).astype(np.float32)
        return sampled_mean(made, gradients, many, coins, random).astype(np.float32)

    weights = learnt_from_reports(layers, clients, rounds, task.random("weights"), mean)
    test = (task.held.test * task.held.test.shape[1] ** 0.5).astype(np.float32)
    return layers.scores(weights, test).astype(np.float64), rounds * many * made.loss().epsilon()
