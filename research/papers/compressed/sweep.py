"""Figs. 2, 3, 7 and 8: bits and times for other budgets and numbers of chunks."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from deniable.arrays import Floats
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.index_law import index_law
from research.compressed_formulas import published_bound
from research.data.folder import Data
from research.data.lists import rated
from research.papers.compressed.heap import CAP, Work, heap_work
from research.papers.compressed.messages import EPSILON, HEAP, MEASURED, OURS, PUBLISHED, Cost, ours, published
from research.papers.figure import ABOUT, ALL, TIE, Check, Pace, Result, Row, set_up, theory, trend

FEW, MANY = 40, 1000
HEAPS = 15, 40  # people for whom the published encoder is run
Setting = Literal["epsilon", "beta"]
VALUES: dict[Setting, tuple[float, ...]] = {"epsilon": (0.5, 1.0, 2.0, 4.0), "beta": (1.0, 2.0, 4.0, 8.0)}
COLUMNS = ("differing", "way", "bits", "milliseconds", "points ranked")
LOADS = (0, 1, 2)  # differing coordinates of a chunk for which the bound is checked


def bits_result(setting: Setting, quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """The figure of bits."""
    held = rated(data, seed)
    lists = held.first(pace.times(quick, FEW, MANY))
    rows, costs = list[Row](), list[Cost]()
    for value in pace.over(VALUES[setting]):
        epsilon, beta = of(setting, value)
        costs.append(published(held.size, lists, seed, epsilon, beta))
        found = {PUBLISHED: costs[-1]}
        if setting == "epsilon":
            found[OURS] = ours(held.size, lists, seed, 2.0, epsilon)
        rows += [row for way, cost in found.items() for row in bit_rows(value, way, cost)]
    bits = [float(cost.bits.sum() / cost.differing.sum()) for cost in costs]
    listed = ", ".join(f"{each:.3g}" for each in bits)
    checks = [trend(f"bits rise with {setting}", (np.diff(bits) > 0).all(), f"for each coordinate there are {listed}")]
    if setting == "epsilon":
        checks.append(bound_check())
    notes = (f"{held.note}; {len(lists)} of them", "times are those of our encoder, and not in the CSV")
    return Result((setting, *COLUMNS), rows, tuple(checks), notes, MEASURED, setup=set_up(notes, smaller=len(lists) < MANY))


def of(setting: Setting, value: float) -> tuple[float, float]:
    """Epsilon and beta."""
    return (value, 2.0) if setting == "epsilon" else (EPSILON, value)


def bit_rows(value: float, way: str, cost: Cost) -> list[Row]:
    """A row for each person."""
    every = zip(cost.differing, cost.bits, cost.milliseconds, strict=True)
    return [(value, int(d), way, float(b), float(t), math.nan) for d, b, t in every]


def bound_check() -> Check:
    """Theorem 4 and what is said before it, for the exact laws of labels."""
    coordinate, wrong = CoordinateResponse.of(EPSILON / 4), 0
    for differing in LOADS:
        law = index_law(coordinate, 2.0, differing)
        mean = law.mean_log()
        wrong += mean > published_bound(coordinate, 2.0, differing) or law.entropy() > mean + math.log2(mean + 1) + 2
    return theory(
        "the mean of log2 K is at most the divergence plus log2(3.56) / min((alpha - 1) / 2, 1), and the bits are at most "
        "that plus log2(1 + that) + 2 (Theorem 4)",
        wrong == 0,
        f"they are not in {wrong} of {len(LOADS)} cases",
    )


def times_result(setting: Setting, quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """The figure of times: the published encoder in Python, and ours with labels of the same law."""
    held = rated(data, seed)
    lists = held.first(max(4, pace.times(quick, *HEAPS)))
    rows, works, fast = list[Row](), list[Work](), 0.0
    for value in pace.over(VALUES[setting]):
        epsilon, beta = of(setting, value)
        works.append(heap_work(held.size, lists, seed, epsilon, beta))
        every = zip(works[-1].differing, works[-1].milliseconds, works[-1].ranked, strict=True)
        rows += [(value, int(d), HEAP, math.nan, float(t), int(ranked)) for d, t, ranked in every]
        same = published(held.size, lists, seed, epsilon, beta)
        fast += same.processor
        rows += bit_rows(value, "our encoder, same labels", same)
        if setting == "epsilon":
            rows += bit_rows(value, OURS, ours(held.size, lists, seed, 2.0, epsilon))
    checks = [*(epsilon_claims if setting == "epsilon" else beta_claims)(works), heavy_tail(works)]
    notes = (
        f"{held.note}; {len(lists)} of them",
        f"the published encoder gives up a chunk at {CAP:,} points, a share of "
        + ", ".join(f"{work.given_up:.2%}" for work in works)
        + "; its claims are judged by draws, one for each point that it ranks and each differing coordinate of the chunk; "
        "times are not in the CSV",
    )
    slow = sum(float(work.milliseconds.sum()) for work in works)
    better = (
        f"our encoder takes {fast / slow:.3f} of the time of the published one, run in Python, for labels of the same law"
    )
    setup = set_up(notes, smaller=len(lists) < MANY)
    return Result((setting, *COLUMNS), rows, tuple(checks), notes, MEASURED, (better,), setup)


def deviation_error(values: Floats) -> float:
    """The standard error of a standard deviation, from the fourth moment."""
    variance, fourth = float(np.var(values)), float(np.mean((values - values.mean()) ** 4))
    return math.sqrt(max(fourth - variance**2, 0.0) / len(values)) / (2 * math.sqrt(max(variance, 1e-24)))


def falls(claim: str, first: Floats, second: Floats) -> Check:
    """Whether the spread of the draws falls from one setting to the next, by its standard error for heavy tails."""
    spread = [float(np.std(own)) for own in (first, second)]
    error = [deviation_error(own) for own in (first, second)]
    words = " and ".join(f"{a:.3g} (standard error {b:.2g})" for a, b in zip(spread, error, strict=True))
    return trend(
        claim, spread[1] - spread[0] <= TIE * math.hypot(*error), f"the standard deviations are {words}", sure=False
    )


def each_coordinate(work: Work) -> tuple[float, float]:
    """Draws for each differing coordinate of all people together, and the standard error of that."""
    ratio = float(work.draws.sum() / work.differing.sum())
    return ratio, float(np.sqrt(((work.draws - ratio * work.differing) ** 2).sum()) / work.differing.sum())


def moves(claim: str, works: Sequence[Work], sign: int, slack: float = 0.0) -> Check:
    """Whether the draws rise (or fall) from each setting to the next, beyond two standard errors against it."""
    found = [each_coordinate(work) for work in works]
    words = ", ".join(f"{draws:.3g} (standard error {error:.2g})" for draws, error in found)
    against = [
        sign * (later[0] - first[0]) < -TIE * math.hypot(first[1], later[1]) - slack * first[0]
        for first, later in pairwise(found)
    ]
    return trend(claim, not any(against), f"draws for each coordinate are {words}", sure=False)


def epsilon_claims(works: Sequence[Work]) -> list[Check]:
    """What the text says of Fig. 3."""
    relative = [each / each.mean() for each in (work.draws / work.differing for work in (works[0], works[-1]))]
    return [
        moves("the published encoder takes longer for a larger epsilon", works, 1),
        falls("the time of the published encoder varies less from person to person, relative to its mean", *relative),
    ]


def beta_claims(works: Sequence[Work]) -> list[Check]:
    """What the text says of Fig. 8: time and its variance fall with beta, but not from 2 to 4."""
    first, second = (work.draws / work.differing for work in works[:2])
    return [
        moves("the published encoder takes less time at beta 2 than at 1", works[:2], -1),
        falls("the time of the published encoder varies less from person to person", first, second),
        moves("from beta 2 to 4 its time does not fall, within 15 %", works[1:3], 1, ABOUT),
    ]


def heavy_tail(works: Sequence[Work]) -> Check:
    """The published encoder ranks all points up to the one it sends: its mean time is that of K, which is infinite."""
    law = index_law(CoordinateResponse.quantised(0.25), 2.0, 2)
    far, further = (float(law.tail(x)) for x in (1e4, 1e8))
    power = math.log(further / far) / math.log(1e4)
    most = max(int(work.ranked.max()) for work in works)
    return theory(
        "the expected time of the published encoder is in proportion to d (Theorem 7)",
        round(power, 3) < -1,
        f"P(K > x) falls like x^{power:.3f}, so that the mean is infinite at alpha 2; up to {most:,} points were ranked for "
        "one message (erratum Compressed C4)",
    )
