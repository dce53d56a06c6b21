"""Bits and times of compressed messages, person by person: as published, and ours."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.domains import SparseVector
from deniable.mechanisms import Compressed
from deniable.mechanisms.compressed_published import PublishedCompressed
from deniable.papers.figure import Check, Pace, Result, Row, claimed, coins_for, near
from deniable.papers.lists import Lists
from deniable.sparse.channel import Channel
from deniable.sparse.costs import Costs

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

COLUMNS = ("differing", "way", "bits", "milliseconds")
MEASURED = ("milliseconds",)
PUBLISHED, OURS, ACCURATE, LIST, SUBSET = (
    "as published (paper's cost)",
    "ours, alpha 2",
    "ours, alpha 1.5",
    "list, not private",
    "subset, not private",
)
EPSILON = 1.0
LEAK = "the number of chunks tells how many coordinates differ, so nothing is promised (erratum Compressed C1)"


@dataclass(frozen=True)
class Published(PublishedCompressed):
    """The published chunks with our encoder: labels of the same law, found thousands of times faster."""

    def _labels(self, *given: object) -> Ints:
        return Compressed._labels(self, *given)  # type: ignore[arg-type]


def paper_cost(labels: Ints) -> float:
    """What the paper counts for labels K: the sum of log2 K + log2(1 + log2 K) + 2, which is no code."""
    logs = np.log2(labels.astype(np.float64))
    return float((logs + np.log2(1 + logs) + 2).sum())


@dataclass(frozen=True, eq=False)
class Cost:
    """Bits and processor time of every person's message."""

    differing: Ints
    bits: Floats
    milliseconds: Floats


def published(size: int, lists: Sequence[Ints], seed: int, epsilon: float = EPSILON, beta: float = 2.0) -> Cost:
    """The paper's cost of the published protocol at alpha 2."""
    made = Published(SparseVector(size), epsilon, 2.0, beta=beta)
    return _each(made, lists, seed, f"published {epsilon} {beta}", pseudo=True)


def ours(size: int, lists: Sequence[Ints], seed: int, alpha: float, epsilon: float = EPSILON) -> Cost:
    """The bits of messages that hide how many coordinates differ."""
    return _each(Compressed(SparseVector(size), epsilon, alpha), lists, seed, f"ours {epsilon} {alpha}", pseudo=False)


def _each(made: Compressed, lists: Sequence[Ints], seed: int, what: str, pseudo: bool) -> Cost:
    coins, bits, times = coins_for(seed, what), [], []
    made.perturb([max(lists, key=len)], coins_for(seed, "warm"))  # compiles, where that is done
    for each in lists:
        start = time.process_time()
        report = made.perturb([each], coins)
        times.append(1000 * (time.process_time() - start))
        bits.append(paper_cost(made.decoder(report).labels) if pseudo else float(made.bits(report)[0]))
    return Cost(np.array([len(each) for each in lists]), np.array(bits), np.array(times))


def rows_of(way: str, cost: Cost) -> list[Row]:
    """A row for each person."""
    return [(int(d), way, float(b), float(t)) for d, b, t in zip(cost.differing, cost.bits, cost.milliseconds, strict=True)]


def against_size(held: Lists, count: int, seed: int, pace: Pace) -> tuple[list[Row], dict[str, Cost]]:
    """Figs. 1, 5 and 9: bits and time against the number of differing coordinates."""
    lists, costs = held.first(count), dict[str, Cost]()
    for way in pace.over((PUBLISHED, OURS, ACCURATE)):
        if way == PUBLISHED:
            costs[way] = published(held.size, lists, seed)
        else:
            costs[way] = ours(held.size, lists, seed, 2.0 if way == OURS else 1.5)
    rows = [row for way, cost in costs.items() for row in rows_of(way, cost)]
    for each in lists:
        plain = Costs(Channel.of(EPSILON), held.size, len(each))
        rows += [(len(each), LIST, plain.listed, 0.0), (len(each), SUBSET, plain.subset, 0.0)]
    return rows, costs


def slope(cost: Cost) -> float:
    """Bits for each coordinate that differs, by least squares."""
    if np.ptp(cost.differing) == 0:
        return float(cost.bits.mean() / max(1, cost.differing[0]))
    return float(np.polyfit(cost.differing, cost.bits, 1)[0])


def size_checks(costs: dict[str, Cost], size: int, linear: bool = True) -> list[Check]:
    """What the text says of the three figures."""
    cost = costs[PUBLISHED]
    listed = cost.differing * np.log2(size)
    subset = np.array([Costs(Channel.of(EPSILON), size, int(d)).subset for d in cost.differing])
    checks = [
        claimed(
            "the cost is lower than that of a list without privacy, for all",
            (cost.bits < listed).all(),
            "for very few coordinates it is not",
        ),
        claimed(
            "and than that of the fairest code of the set, for all",
            (cost.bits < subset).all(),
            "for very few coordinates it is not",
        ),
        claimed("the published protocol keeps epsilon", _promises(size), LEAK),
    ]
    if linear:
        checks.insert(
            0,
            near("bits for each differing coordinate", "2", slope(cost), "the text rounds"),
        )
    return checks


def _promises(size: int) -> bool:
    return np.isfinite(PublishedCompressed(SparseVector(size), EPSILON, 2.0, beta=2.0).loss().epsilon())


def size_result(held: Lists, count: int, seed: int, pace: Pace, linear: bool = True) -> Result:
    """The whole result of one of the three figures."""
    rows, costs = against_size(held, count, seed, pace)
    notes = (
        f"{held.note}; {min(count, len(held.lists))} of them",
        "times are processor time on this machine, and not in the CSV",
        "the published encoder is not run: ours finds labels of the same law",
    )
    share = costs[OURS].bits.sum() / costs[PUBLISHED].bits.sum()
    better = f"fuller chunks take {share:.2f} of the published bits, and hide how many coordinates differ"
    return Result(COLUMNS, rows, tuple(size_checks(costs, held.size, linear)), notes, MEASURED, (better,))
