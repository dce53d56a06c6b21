"""Fig. 11: networks on vectors that people released feature by feature."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from deniable.arrays import Floats
from deniable_learn import PrivateMeansClassifier, PrivateVectorClassifier
from deniable_learn.learner import scaled
from research.data.folder import Data
from research.data.samples import TABLES, Samples, table
from research.papers import style
from research.papers.brr import published_vectors as program
from research.papers.figure import ALL, Check, Figure, Pace, Result, Row, ahead, near, printed, set_up, theory

FIGURE = Figure("brr/fig11", "BRR", "accuracy of networks on released vectors", seconds=21, minutes=2.5)
COLUMNS = ("data", "epsilon", "way", "accuracy", "standard error", "certified epsilon")
EPSILONS, FEW = (0.25, 0.5, 1.0, 2.0, 3.5), (0.25, 3.5)
WAYS = {
    "laplace": "Laplace",
    "bipartite": "bipartite",
    "coarsened": "coarsened",
    "means": "ours: class means",
}
LAPLACE, BRR, NONE = "Laplace, as in the authors' program", "bipartite, as in the authors' program", "no privacy (NP)"
STATED = ("3.22", "5.29")  # points on adult, on average and at epsilon 0.25
FEATURES = {"adult": "14", "bank": "20"}


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Local: epsilon is for all features and the label of a person; and the authors' program, which promises nothing."""
    rows, equal = list[Row](), list[Row]()
    notes, sizes, spent, repeats = [], [], 0.0, max(2, pace.times(quick, 2, 5))
    for name in pace.over(tuple(FEATURES)):
        held = table(data, name, seed, max(200, pace.times(quick, 6000, 40_000)))
        notes.append(held.note)
        for epsilon in FEW if quick else EPSILONS:
            what = (FIGURE.name, held.note, epsilon, repeats, seed)
            rows += pace.part(partial(certified, held, epsilon, repeats, seed), "certified", *what)
        shown = program.columns(data, name, seed, max(300, pace.times(quick, 20_000, 10**6)))
        spent = spent or float(program.budgets(shown, 1.0).sum())
        for epsilon in EPSILONS if name == "adult" or not quick else FEW:
            parts = (FIGURE.name, name, shown.rows.shape, epsilon, repeats, seed)
            rows += pace.part(partial(as_programmed, name, shown, epsilon, repeats, seed, pace), "program", *parts)
        if name == "adult":
            level = replace(shown, weights=np.full(shown.rows.shape[1], 1 / shown.rows.shape[1]))
            tag = f"{name}, equal weights"
            for epsilon in (EPSILONS[0], EPSILONS[-1]):
                parts = (FIGURE.name, tag, shown.rows.shape, epsilon, repeats, seed)
                equal += pace.part(partial(as_programmed, tag, level, epsilon, repeats, seed, pace), "program", *parts)
        if data.has(TABLES[name][0]):
            sizes.append(printed(f"{name}: features", FEATURES[name], held.rows.shape[1], "the table has others"))
            notes.append(f"{name}: {shown.rows.shape[1]} columns and {len(shown.rows):,} people in the authors' program")
    notes.append(
        "a column's weight is its correlation with the class here, in the authors' program a forest's; its network has two "
        "hidden layers, here one of 100"
    )
    notes.append(f"the budgets of the authors' Laplace noise sum to {spent:.3g} times epsilon on adult, and labels are open")
    checks = (*checks_of(rows, equal), *sizes)
    return Result(COLUMNS, rows, checks, tuple(notes), setup=set_up(notes, smaller=quick))


def certified(held: Samples, epsilon: float, repeats: int, seed: int) -> list[Row]:
    """With a promise for the whole person, and without any data."""
    rows: list[Row] = []
    ends = held.low, held.high
    for way, label in WAYS.items():
        scores, loss = [], 0.0
        for number in range(repeats):
            made: PrivateVectorClassifier | PrivateMeansClassifier
            if way == "means":
                made = PrivateMeansClassifier(epsilon, (0, 1), (-1, 1), seed=seed + number)
                made.fit(scaled(held.rows, ends), held.right)
                chosen = made.predict(scaled(held.test, ends))
            else:
                made = PrivateVectorClassifier(epsilon, (0, 1), ends, None, way, epochs=3, seed=seed + number)
                made.fit(held.rows, held.right)
                chosen = made.predict(held.test)
            scores.append(float((chosen == held.test_right).mean()))
            loss = made.privacy_loss().epsilon()
        rows.append((held.name, epsilon, label, *_summary(scores), loss))
    most = float(max(np.mean(held.test_right == 0), np.mean(held.test_right == 1)))
    return [*rows, (held.name, epsilon, "most frequent class", most, 0.0, 0.0)]


def as_programmed(name: str, held: program.Columns, epsilon: float, repeats: int, seed: int, pace: Pace = ALL) -> list[Row]:
    """The authors' program; its bipartite noise does not know epsilon, so that it is trained once for all of them."""

    def trained(way: str, budget: float) -> list[float]:
        return [program.accuracy(held, way, budget, 100 * seed + number) for number in range(repeats)]

    found = {LAPLACE: trained("laplace", epsilon)}
    for label, way in ((BRR, "grid"), (NONE, "none")):
        what = (FIGURE.name, name, held.rows.shape, way, repeats, seed)
        found[label] = _once(pace, partial(trained, way, 1.0), *what)
    return [(name, epsilon, label, *_summary(scores), math.inf) for label, scores in found.items()]


_known: dict[tuple[object, ...], list[float]] = {}


def _once(pace: Pace, make: Callable[[], list[float]], *what: object) -> list[float]:
    """Kept in the folder of the run, or else for this process."""
    if pace.kept is not None:
        return pace.part(make, *what)
    if what not in _known:
        _known[what] = make()
    return _known[what]


def _summary(scores: list[float]) -> tuple[float, float]:
    return float(np.mean(scores)), float(np.std(scores, ddof=1) / math.sqrt(len(scores)))


def checks_of(rows: list[Row], equal: list[Row]) -> list[Check]:
    """What the text says, on the authors' program and on what keeps its promise; and what other weights make of it."""
    found, level = Result(COLUMNS, rows), Result(COLUMNS, equal)

    def pairs(name: str, first: str, second: str) -> tuple[Floats, Floats]:
        one, other = (found.numbers("accuracy", data=name, way=way) for way in (first, second))
        spread = np.hypot(*(found.numbers("standard error", data=name, way=way) for way in (first, second)))
        return 100 * (one - other), 100 * spread

    gains, spread = pairs("adult", BRR, LAPLACE)
    bank, _ = pairs("bank", BRR, LAPLACE)
    fair, fair_spread = pairs("adult", WAYS["bipartite"], WAYS["laplace"])
    budgets = found.numbers("epsilon", data="adult", way=WAYS["laplace"])
    first, second = (found.numbers("accuracy", data="adult", way=WAYS[way]) for way in ("bipartite", "laplace"))
    others = 100 * (level.numbers("accuracy", way=BRR) - level.numbers("accuracy", way=LAPLACE))
    none = float(found.numbers("accuracy", data="adult", way=NONE)[0])
    why = (
        "the weights of the columns decide how much noise Laplace adds, and the paper does not state them: with equal "
        f"weights the gain is {others[0]:.1f} points at epsilon 0.25 and {others[-1]:.1f} at 3.5, with correlations "
        f"{gains[0]:.1f} and {gains[-1]:.1f}"
    )
    poor = 100 * float(found.numbers("accuracy", data="adult", way=LAPLACE)[0])
    most = 100 * float(found.numbers("accuracy", data="adult", way="most frequent class")[0])
    least = (
        f"with Laplace noise the network is right in {poor:.1f} % there, where the most frequent class is in {most:.1f} %: "
        f"the gain is that of a network over guessing, {100 * none:.1f} % without noise; the paper does not state "
        "its own"
    )
    return [
        near(
            "as programmed: gain over Laplace on adult, points on average",
            STATED[0],
            float(gains.mean()),
            why,
            float(np.sqrt((spread**2).sum()) / len(spread)),
            False,
        ),
        near(
            "as programmed: gain over Laplace on adult at epsilon 0.25, points",
            STATED[1],
            float(gains[0]),
            least,
            float(spread[0]),
            False,
        ),
        theory(
            "as programmed: the noise of DNN-BRR keeps a budget",
            math.isfinite(program.grid_loss()),
            "it is drawn evenly from 41 numbers within a tenth of the range, whatever epsilon is: two people whose words "
            "differ can be distinguished with certainty (erratum BRR A15)",
        ),
        ahead(
            "networks learn better from bipartite vectors than from Laplace ones, at every budget",
            [
                (f"on adult at epsilon {e:g}", float(lead), float(error))
                for e, lead, error in zip(budgets, fair, fair_spread, strict=True)
            ],
            f"where features and label are protected, at epsilon 0.25 and 3.5 they are {100 * first[0]:.0f} and "
            f"{100 * first[-1]:.0f} % accurate, with Laplace noise {100 * second[0]:.0f} and {100 * second[-1]:.0f} %; in "
            "the authors' program, whose noise keeps no budget, bipartite is better everywhere (erratum BRR A15)",
            faulty=bool((gains > 0).all() and (bank > 0).all()),
        ),
    ]


plot = partial(style.panels, x="epsilon", y="accuracy", by="way", panel="data", error="standard error")
