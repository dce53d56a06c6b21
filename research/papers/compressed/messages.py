"""Bits and times of compressed messages, person by person: as published, and ours.

The bits of the published protocol follow from the law of its labels, which our encoder draws too and much faster; its times
are those of its own encoder, run for fewer people.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from deniable import Compressed
from deniable.arrays import Floats, Ints
from deniable.core.coins import Coins
from deniable.domains import SparseVector
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.index_law import mixed_index_law
from deniable.mechanisms.sparse.published_compressed import PublishedCompressed
from research.data.lists import Lists
from research.papers.compressed.heap import CAP, Work, heap_work
from research.papers.figure import Check, Pace, Result, Row, coins_for, near, ranking, set_up, theory, trend
from research.rivals.vector_costs import Costs

COLUMNS = ("differing", "way", "bits", "milliseconds", "points ranked")
MEASURED = ("milliseconds",)
PUBLISHED, HEAP, OURS, ACCURATE, LIST, SUBSET = (
    "as published (paper's cost)",
    "published encoder",
    "ours, alpha 2",
    "ours, alpha 1.5",
    "list, not private",
    "subset, not private",
)
PEOPLE = 1000  # in the paper
EPSILON = 1.0
RUNS = 3  # of which the fastest counts: others may use the processor too
NEAR = 64  # labels that are summed one by one
LEAK = "the number of chunks discloses how many coordinates differ, so nothing is promised (erratum Compressed C1)"


@dataclass(frozen=True)
class Published(PublishedCompressed):
    """The published chunks with our encoder: labels of the same law, found much faster."""

    def _labels(self, *given: object) -> Ints:
        return Compressed._labels(self, *given)  # type: ignore[arg-type]


def paper_cost(labels: Ints) -> float:
    """What the paper counts for labels K: the sum of log2 K + log2(1 + log2 K) + 2, which is no code."""
    logs = np.log2(labels.astype(np.float64))
    return float((logs + np.log2(1 + logs) + 2).sum())


@dataclass(frozen=True, eq=False)
class Cost:
    """Bits and time of every person's message."""

    differing: Ints
    bits: Floats
    milliseconds: Floats
    processor: float  # milliseconds of all together, as the processor counts them


def published(size: int, lists: Sequence[Ints], seed: int, epsilon: float = EPSILON, beta: float = 2.0) -> Cost:
    """The paper's cost of the published protocol at alpha 2."""
    made = Published(SparseVector(size), epsilon, 2.0, beta=beta)
    return _each(made, lists, seed, f"published {epsilon} {beta}", pseudo=True)


def ours(size: int, lists: Sequence[Ints], seed: int, alpha: float, epsilon: float = EPSILON) -> Cost:
    """The bits of messages that hide how many coordinates differ."""
    return _each(Compressed(SparseVector(size), epsilon, alpha), lists, seed, f"ours {epsilon} {alpha}", pseudo=False)


def _each(made: Compressed, lists: Sequence[Ints], seed: int, what: str, pseudo: bool) -> Cost:
    coins, spare, bits, times = coins_for(seed, what), coins_for(seed, "spare"), [], []
    made.perturb([max(lists, key=len)], spare)  # compiles, where that is done
    total = 0.0
    for each in lists:
        start = time.process_time()
        report = made.perturb([each], coins)
        total += 1000 * (time.process_time() - start)
        times.append(1000 * min(_seconds(made, each, spare) for _ in range(RUNS)))
        bits.append(paper_cost(made.decoder(report).labels) if pseudo else float(made.bits(report)[0]))
    return Cost(np.array([len(each) for each in lists]), np.array(bits), np.array(times), total)


def _seconds(made: Compressed, each: Ints, coins: Coins) -> float:
    """By the clock: a processor's own time is measured in steps that are longer than this takes."""
    start = time.perf_counter()
    made.perturb([each], coins)
    return time.perf_counter() - start


def rows_of(way: str, cost: Cost) -> list[Row]:
    """A row for each person."""
    every = zip(cost.differing, cost.bits, cost.milliseconds, strict=True)
    return [(int(d), way, float(b), float(t), math.nan) for d, b, t in every]


def heap_rows(work: Work) -> list[Row]:
    """The same for the published encoder."""
    every = zip(work.differing, work.milliseconds, work.ranked, strict=True)
    return [(int(d), HEAP, math.nan, float(t), int(ranked)) for d, t, ranked in every]


def stated_slope(epsilon: float = EPSILON, beta: float = 2.0) -> float:
    """The paper's cost of a differing coordinate by the exact law of the labels: beta eps chunks, 1 / (beta eps) in each."""
    return cost_moments(epsilon, beta)[0]


def beyond(differing: Ints, share: float) -> float:
    """The share of people whose cost is further from the mean than this, by the moments of the exact law."""
    mean, variance = cost_moments()
    own, average = mean * differing, mean * float(np.mean(differing))
    spread = np.sqrt(variance * differing)
    sides = [((1 + sign * share) * average - own) * sign / spread for sign in (1, -1)]
    return float(np.mean([0.5 * math.erfc(z / math.sqrt(2)) for side in sides for z in side])) * 2


def cost_moments(epsilon: float = EPSILON, beta: float = 2.0) -> tuple[float, float]:
    """The mean and the variance of the paper's cost, for each differing coordinate: chunks are independent."""
    coordinate = CoordinateResponse.quantised(epsilon / 4)
    chunks = beta * coordinate.epsilon
    law = mixed_index_law(coordinate, 2.0, 1 / chunks)
    logs = np.concatenate([np.log2(np.arange(1, NEAR)), np.arange(math.log2(NEAR), 60, 0.1) + 0.05])
    tails = law.tail(np.concatenate([np.arange(NEAR), 2.0 ** (logs[NEAR - 1 :] + 0.05)]))
    cost = logs + np.log2(1 + logs) + 2
    chances = -np.diff(tails)
    mean = float(cost @ chances)
    return chunks * mean, chunks * float((cost - mean) ** 2 @ chances)


def against_size(held: Lists, count: int, seed: int, pace: Pace, heaps: int) -> tuple[list[Row], dict[str, Cost], Work]:
    """Figs. 1, 5 and 9: bits and time against the number of differing coordinates."""
    lists, costs = held.first(count), dict[str, Cost]()
    for way in pace.over((PUBLISHED, OURS, ACCURATE)):
        if way == PUBLISHED:
            costs[way] = published(held.size, lists, seed)
        else:
            costs[way] = ours(held.size, lists, seed, 2.0 if way == OURS else 1.5)
    work = heap_work(held.size, lists[: max(2, heaps)], seed, EPSILON, 2.0)
    rows = [row for way, cost in costs.items() for row in rows_of(way, cost)] + heap_rows(work)
    for each in lists:
        plain = Costs(CoordinateResponse.of(EPSILON), held.size, len(each))
        rows += [(len(each), way, bits, 0.0, math.nan) for way, bits in ((LIST, plain.listed), (SUBSET, plain.subset))]
    return rows, costs, work


def slope(cost: Cost) -> tuple[float, float]:
    """Bits for each coordinate that differs, by least squares, and its standard error."""
    if np.ptp(cost.differing) == 0 or len(cost.bits) < 4:
        return float(cost.bits.sum() / max(1, cost.differing.sum())), 0.0
    (found, _), spread = np.polyfit(cost.differing, cost.bits, 1, cov=True)
    return float(found), float(np.sqrt(spread[0, 0]))


def size_checks(costs: dict[str, Cost], work: Work, size: int) -> list[Check]:
    """What the text says of all three figures."""
    cost = costs[PUBLISHED]
    listed = cost.differing * np.log2(size)
    subset = np.array([Costs(CoordinateResponse.of(EPSILON), size, int(d)).subset for d in cost.differing])

    def lower(claim: str, than: Floats) -> Check:
        few = cost.differing[cost.bits >= than]
        among = f", who have {few.min()} to {few.max()} coordinates" if len(few) else ""
        return ranking(claim, len(few) == 0, f"it is not for {len(few)} of {len(than)} people{among}")

    if len(work.ranked) > 2 and np.ptp(work.differing):
        rising = float(np.corrcoef(np.log(work.differing), np.log(np.maximum(work.draws, 1)))[0, 1])
    else:
        rising = 1.0
    spread = {name: float(np.std(each) / np.mean(each)) for name, each in _each_coordinate(cost, work).items()}
    return [
        lower("the cost is lower than that of a list without privacy, for all", listed),
        lower("the cost is lower than log2 of the number of sets of that size, for all", subset),
        trend(
            "the time of the published encoder grows with the number of coordinates",
            rising > 0,
            f"the correlation of its draws with the coordinates is {rising:.2f}, among {len(work.ranked)} people",
        ),
        trend(
            "per coordinate, the time of the published encoder varies more than the bits",
            spread["draws"] > spread["bits"],
            f"it varies by {spread['draws']:.2f} of its mean, and they by {spread['bits']:.2f}",
        ),
        theory("the published protocol keeps epsilon", _promises(size), LEAK),
    ]


def _each_coordinate(cost: Cost, work: Work) -> dict[str, Floats]:
    """Bits and draws for each coordinate, of the people whose messages both encoders made."""
    same = slice(0, len(work.ranked))
    return {"bits": cost.bits[same] / cost.differing[same], "draws": work.draws / work.differing}


def _promises(size: int) -> bool:
    return np.isfinite(PublishedCompressed(SparseVector(size), EPSILON, 2.0, beta=2.0).loss().epsilon())


def slope_checks(cost: Cost) -> list[Check]:
    """What the text says of the ratings."""
    found, error = slope(cost)
    why = f"the text rounds: by the exact law of the labels, log2 K + log2(1 + log2 K) + 2 comes to {stated_slope():.3f}"
    return [near("bits for each differing coordinate", "2", found, why, error)]


def size_result(
    held: Lists, count: int, seed: int, pace: Pace, heaps: int, own: Callable[[Cost], list[Check]] | None
) -> Result:
    """The whole result of one of the three figures; `own` makes the checks that the others do not have."""
    rows, costs, work = against_size(held, count, seed, pace, heaps)
    notes: tuple[str, ...] = (
        f"{held.note}; {min(count, len(held.lists))} of them",
        "times are of this machine, for ours the shortest of three, and not in the CSV",
        f"the published encoder is run in Python for {len(work.ranked)} of them, and gave up {work.given_up:.2%} of "
        f"the chunks at {CAP:,} points; bits are those of labels of the same law",
    )
    share = costs[OURS].bits.sum() / costs[PUBLISHED].bits.sum()
    words = f"take {share:.2f} of the published bits, and hide how many coordinates differ"
    better = (f"fuller chunks {words}",) if share < 1 else ()
    if not better:
        notes = (*notes, f"ours {words}: on lists as short as these hiding the number costs more than fuller chunks save")
    checks = [*(own(costs[PUBLISHED]) if own else []), *size_checks(costs, work, held.size)]
    setup = set_up(notes, "missing" in held.note or "made-up" in held.note, min(count, len(held.lists)) < PEOPLE)
    return Result(COLUMNS, rows, tuple(checks), notes, MEASURED, better, setup)
