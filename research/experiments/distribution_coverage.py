"""How often intervals and bands of distributions hold, and the rank error of quantiles in rounds, beside rivals.

    python -m research.experiments.distribution_coverage                 writes distribution_coverage.md, about 30 minutes
    python -m research.experiments.distribution_coverage --part even     one part alone; several may run at once
    python -m research.experiments.distribution_coverage --quick         prints it for few collections

Coverage is about 20,000 people with 64 answers, and 100,000 with 256, the same in all collections, for five shapes: reports
are drawn from the law. Rounds are about 100,000 people who draw new numbers from the two shapes of `distributions.py` in
each collection; the coins are seeded.
"""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import numpy as np

from deniable import Distribution, Hierarchy, Interval, Ordered, Tally, plan
from deniable.arrays import Floats, Ints
from deniable.mechanisms.distributions.distribution_mechanism import DistributionMechanism
from deniable.mechanisms.distributions.rounds import Round, combined
from deniable.planning.distributions import plan_distribution
from deniable.planning.rounds import next_round
from research.experiments.command import deliver, quick_option
from research.experiments.distributions import EPSILON, FEWER, SMALL, collected
from research.experiments.runs import Runs
from research.number_shapes import CELLS, MADE_UP, PEOPLE, TRAINING, Shape
from research.rank_bound import best_known, least_rank_error
from research.rank_bound import rank_error as model_error
from research.rivals.searches import binary_search, screening_search

RESULT = Path(__file__).with_suffix(".md")
PARTS = Path(__file__).with_suffix(".json")  # what each part found
LARGE_HITS, CHUNKS = Path(__file__).with_name("distribution_coverage_large.json"), 10
RUNS, ROUND_RUNS, SEARCHES, QUICK = 1000, 20, 10, 10
STEPS = (0.1, 0.3, 0.6, 1.0)  # of a screening search, times sqrt(log cells / people); its authors use 0.6
ROUNDS, PILOT = 3, 0.2  # how many rounds, and which part of the people answers in a pilot
ASKED = ((0.5,), (0.9,), (0.25, 0.5, 0.75))  # which quantiles three rounds look for
KINDS = ("smooth", "spiky")

MIDDLE = (0.15, 0.85)  # where a quantile may lie, for the bound

FIVE: dict[str, Callable[[Floats], Floats]] = {
    "even": lambda at: np.ones(len(at)),
    "bell": lambda at: np.exp(-(((at - 0.5) / 0.15) ** 2) / 2),
    "falling": lambda at: np.exp(-5 * at),
    "two peaks": lambda at: np.exp(-(((at - 0.2) / 0.05) ** 2) / 2) + np.exp(-(((at - 0.7) / 0.1) ** 2) / 2),
    "spikes": lambda at: np.where(np.arange(len(at)) % (len(at) // 8) == 5, 1.0, 0.02 * SMALL / len(at)),
}
LARGE = {f"{shape}, large": shape for shape in FIVE}  # the parts with 100,000 people and 256 answers


def people_of(shape: str, n: int = FEWER, size: int = SMALL) -> Ints:
    """How many of n people have each answer."""
    weights = FIVE[shape](np.arange(size) / size)
    return np.diff(np.rint(np.cumsum(weights) / weights.sum() * n), prepend=0).astype(np.int64)


def held(found: Distribution, truth: Floats) -> list[float]:
    """Whether the band holds, and what part of the intervals of quartiles, of four ranges and of shares up to 15 places."""
    upto, band, size = np.cumsum(truth), found.band(0.95), len(truth)
    whole = bool(((band.lower <= upto + 1e-12) & (upto <= band.upper + 1e-12)).all())
    ranges = []
    for start, end in ((0, 16), (10, 21), (16, 48), (40, 64)):
        weights = np.zeros(size)
        weights[start * size // SMALL : end * size // SMALL] = 1
        low, high = found.linear(weights).interval(0.95)
        ranges.append(low <= float(weights @ truth) <= high)
    shares = []
    for place in range(size // 16 - 1, size - 1, size // 16):
        low, high = found.cdf(float(band.at[place])).interval(0.95)
        shares.append(low - 1e-12 <= upto[place] <= high + 1e-12)
    quartiles = quartiles_held(found, upto)
    return [float(whole), float(np.mean(quartiles)), float(np.mean(ranges)), float(np.mean(shares))]


def quartiles_held(found: Distribution, upto: Floats) -> list[bool]:
    """Whether the intervals of the quartiles hold."""
    quartiles = []
    for share in (0.25, 0.5, 0.75):
        cell = int(np.abs(upto - share).argmin())
        if found.grid.atoms:
            true = float(np.searchsorted(upto, share))
        else:  # the distribution function takes this value exactly, at the end of the cell
            share, true = float(upto[cell]), float(found.grid.edges[cell + 1])
        low, high = found.quantile(share).interval(0.95)
        quartiles.append(low - 1e-12 <= true <= high + 1e-12)
    return quartiles


def hits(shape: str, runs: int, n: int, size: int, random: np.random.Generator) -> list[list[float]]:
    """`held` for each of several collections, and what part of the intervals of quartiles of single answers hold."""
    on_line = plan(Interval(0, 1, steps=size - 1), EPSILON, n, target="distribution")
    single = plan(Ordered(range(size)), EPSILON, n, target="distribution")
    people, found_hits = people_of(shape, n, size), list[list[float]]()
    for counts in collected(on_line, people, random, runs):
        found = on_line.distribution(Tally(on_line.fingerprint, n, counts))
        line = held(found, people / n)
        atoms = Distribution(single.grid, found.n, found.values, found.raw, found.covary, found.heaps)  # of the same reports
        vars(atoms).update({name: each for name, each in vars(found).items() if name not in vars(atoms)})  # and draws
        found_hits.append([*line, float(np.mean(quartiles_held(atoms, np.cumsum(people / n))))])
    return found_hits


def percentages(shape: str, found: Sequence[Sequence[float]]) -> list[str]:
    """How often bands and intervals hold, in percent, for one shape, or for one and a number of collections."""
    return [f"| {shape} | " + " | ".join(f"{100 * each:.1f}" for each in np.mean(found, axis=0)) + " |"]


def coverage(shape: str, runs: int) -> list[str]:
    """The same for 20,000 people with 64 answers, without the shares up to places."""
    found = hits(shape, runs, FEWER, SMALL, np.random.default_rng([7, list(FIVE).index(shape)]))
    return percentages(shape, np.delete(found, 3, axis=1).tolist())


def large_chunk(shape: str, chunk: int, runs: int) -> list[float]:
    """The means of some of the collections from 100,000 people with 256 answers."""
    random = np.random.default_rng([8, list(FIVE).index(shape), chunk])
    return [round(float(each), 9) for each in np.mean(hits(shape, runs, PEOPLE, CELLS, random), axis=0)]


def large_coverage(shape: str, quick: bool) -> list[str]:
    """The same for 100,000 people with 256 answers; each hundred collections are kept as soon as they are done."""
    if quick:
        return percentages(f"{shape} | 2", [large_chunk(shape, 0, 2)])
    Runs(LARGE_HITS).make([(f"{shape} {chunk}", large_chunk, (shape, chunk, RUNS // CHUNKS)) for chunk in range(CHUNKS)])
    return known_coverage(shape)


def known_coverage(shape: str) -> list[str]:
    """What the hundreds of collections that are kept so far give."""
    found = [means for name, means in Runs(LARGE_HITS).known().items() if name.rsplit(" ", 1)[0] == shape]
    return percentages(f"{shape} | {RUNS // CHUNKS * len(found):,}", found) if found else []


def with_known_shares(shape: str, runs: int) -> str:
    """How often intervals of quartiles would hold that know the true shares, and those that know the place besides.

    Their limits are draws around the true shares instead of the fitted ones. At the true place such limits are exact;
    an interval has to use those of all places.
    """
    mechanism = plan(Interval(0, 1, steps=SMALL - 1), EPSILON, FEWER, target="distribution")
    people, random = people_of(shape), np.random.default_rng([7, list(FIVE).index(shape)])
    truth = people / FEWER
    upto, spread, grid = np.cumsum(truth), mechanism.joint_noise(truth) / FEWER, mechanism.grid
    known = Distribution(grid, FEWER, truth, truth, lambda: spread)
    low, high = np.quantile(known._errors_in_order, [0.025, 0.975], axis=0)
    hits = []
    for counts in collected(mechanism, people, random, runs):
        found = Distribution(grid, FEWER, truth, mechanism.inverse @ counts / FEWER, lambda: spread)
        vars(found).update(_errors_in_order=known._errors_in_order)
        ordered = np.sort(np.clip(np.cumsum(found.raw)[:-1], 0, 1))
        for share in (0.25, 0.5, 0.75):
            cell = int(np.abs(upto - share).argmin())
            first, last = found.quantile(float(upto[cell])).interval(0.95)
            everywhere = first - 1e-12 <= grid.edges[cell + 1] <= last + 1e-12
            hits.append([everywhere, ordered[cell] - high[cell] <= upto[cell] <= ordered[cell] - low[cell]])
    return f"| {shape} | " + " | ".join(f"{100 * each:.1f}" for each in np.mean(hits, axis=0)) + " |"


def rank_error(cell: int, truth: Floats, share: float = 0.5) -> float:
    """How far the share lies outside the shares below and up to a cell."""
    upto = np.cumsum(truth)
    return float(max(0.0, upto[cell] - truth[cell] - share, share - upto[cell]))


def rank_error_within(number: float, truth: Floats, share: float = 0.5) -> float:
    """How far the share below a number, in cells from the start, lies from the wanted one, if cells are evenly filled.

    >>> rank_error_within(1.5, np.array([0.2, 0.4, 0.4])), rank_error_within(1.0, np.array([0.2, 0.4, 0.4]))
    (0.1, 0.3)
    """
    upto = np.concatenate([[0.0], np.cumsum(truth)])
    return round(float(abs(np.interp(number, np.arange(len(upto)), upto) - share)), 12)


Maker = Callable[[Ordered, int], DistributionMechanism]


def planned(domain: Ordered, n: int) -> DistributionMechanism:
    """The plan for quantiles, which is also that for the distribution."""
    return plan_distribution(domain, EPSILON, n, "quantiles")


def for_the_middle(kind: str) -> Maker:
    """The best channel that is known for one kind of densities and quantiles in the middle, and 5 % of people for points."""

    def made(domain: Ordered, n: int) -> DistributionMechanism:
        return Hierarchy.with_wave(domain, EPSILON, best_known(EPSILON, PEOPLE, kind, *MIDDLE), 5)

    return made


def in_rounds(shape: Shape, rounds: int | float, run: int, shares: Sequence[float], first: Maker | None = None) -> Floats:
    """For each quantile both rank errors, whether its interval holds, and how wide it is, in one collection for all.

    There are so many rounds of equally many people, or two, if it is the part of the people in the first.
    """
    random, domain = np.random.default_rng([77, run]), Ordered(range(shape.cells))
    people, known = random.permutation(shape.draw(random)), list[Round]()
    for group in np.array_split(people, rounds if isinstance(rounds, int) else [round(rounds * len(people))]):
        given = None if known or first is None else first(domain, len(group))
        mechanism = given or next_round(domain, EPSILON, len(group), shares, known)
        counts = collected(mechanism, np.bincount(group, minlength=shape.cells), random, 1)[0]
        known.append((mechanism, Tally(mechanism.fingerprint, len(group), counts)))
    truth, found = np.bincount(people, minlength=shape.cells) / len(people), combined(known)
    upto = np.concatenate([[0.0], np.cumsum(found.values)])
    rows = []
    for share in shares:
        quantile = found.quantile(share)
        low, high = quantile.interval(0.95)
        holds = low <= np.searchsorted(np.cumsum(truth), share) <= high
        within = rank_error_within(float(np.interp(share, upto, np.arange(len(upto)))), truth, share)
        rows.append([rank_error(int(quantile), truth, share), within, float(holds), high - low])
    return np.array(rows)


LOOKED_FOR = dict(zip(("rounds, smooth", "rounds, heaps"), MADE_UP, strict=True))

Search = Callable[[Ints, np.random.Generator], int]


def searches() -> dict[str, Search]:
    """The rivals; the step of the screening search is the one with the smallest error on two training shapes."""
    scale = math.sqrt(math.log(CELLS) / PEOPLE)
    screening: dict[float, Search] = {
        step: lambda people, random, step=step: screening_search(people, CELLS, EPSILON, random, step * scale)  # type: ignore[misc]
        for step in STEPS
    }
    best = min(STEPS, key=lambda step: sum(searched(screening[step], shape, 3, 5)[:, 1].mean() for shape in TRAINING[2:4]))
    return {
        "binary search, 8 rounds": lambda people, random: binary_search(people, np.arange(CELLS), EPSILON, 0.5, random),
        f"screening search, {PEOPLE:,} rounds, step {best:g}": screening[best],
    }


def searched(search: Search, shape: Shape, runs: int, seed: int) -> Floats:
    """Both rank errors of a search, a row for each collection; its answer is taken to be the middle of a cell."""
    found = []
    for run in range(runs):
        random = np.random.default_rng([seed, run])
        people = random.permutation(shape.draw(random))
        truth = np.bincount(people, minlength=shape.cells) / len(people)
        cell = search(people, random)
        found.append([rank_error(cell, truth), rank_error_within(cell + 0.5, truth)])
    return np.array(found)


def mean_of(errors: Sequence[float] | Floats) -> str:
    """The mean in thousandths, and its standard error."""
    return f"{1000 * np.mean(errors):.2f} ± {1000 * np.std(errors) / max(len(errors) - 1, 1) ** 0.5:.2f}"


def rounds(shape: Shape, runs: int) -> list[str]:
    """Rank errors in thousandths, and how often intervals hold, in one round and in three for some quantiles."""
    lines = []
    every = tuple(sorted({share for asked in ASKED for share in asked}))
    ways: list[tuple[str, int | float, Sequence[float], Maker | None]] = [
        ("one round, as planned", 1, every, planned),
        *((f"one round, channel for {kind} numbers and the middle", 1, every, for_the_middle(kind)) for kind in KINDS),
        (f"a pilot of {PILOT:.0%}, then one round for 0.5", PILOT, (0.5,), None),
        *((f"{ROUNDS} rounds for {', '.join(f'{share:g}' for share in asked)}", ROUNDS, asked, None) for asked in ASKED),
    ]
    for name, many, asked, first in ways:
        found = np.array([in_rounds(shape, many, run, asked, first) for run in range(runs)])
        for share, (ranks, within, holds, widths) in zip(asked, np.transpose(found, (1, 2, 0)), strict=True):
            cells = f"{mean_of(within)} | {mean_of(ranks)} | {100 * holds.mean():.1f} % | {widths.mean():.1f}"
            lines.append(f"| {shape.name} | {share:g} | ours, {name} | {runs} | {cells} |")
    return lines


def searched_for(shapes: Sequence[Shape], runs: int) -> list[str]:
    """The rank errors of the median by the searches."""
    rivals, lines = searches(), []
    for shape in shapes:
        for name, search in rivals.items():
            ranks, within = searched(search, shape, runs, 77).T
            lines.append(f"| {shape.name} | 0.5 | {name} | {runs} | {mean_of(within)} | {mean_of(ranks)} | none | none |")
    return lines


def bounds() -> list[str]:
    """The least rank error without rounds for random densities, and what channels leave to the best estimate."""
    mechanism, lines = plan(Ordered(range(SMALL)), EPSILON, PEOPLE, target="quantiles"), []
    for kind in KINDS:
        least = least_rank_error(math.exp(EPSILON), PEOPLE, kind, *MIDDLE)
        best = model_error(best_known(EPSILON, PEOPLE, kind, *MIDDLE), PEOPLE, kind, *MIDDLE)
        ours = model_error(mechanism, PEOPLE, kind, *MIDDLE)
        lines.append(f"| {kind} | {1000 * least:.2f} | {1000 * best:.2f} | {1000 * ours:.2f} |")
    return lines


def page(parts: dict[str, list[str]], quick: bool) -> str:
    """The whole result."""
    runs = QUICK if quick else RUNS
    floor = 0.4 / math.tanh(EPSILON / 2) / math.sqrt(PEOPLE)
    return "\n".join(
        [
            f"How often 95 % bands and intervals hold the truth, in percent, over {runs:,} collections from {FEWER:,} "
            f"people with {SMALL} answers, epsilon {EPSILON:g}; the standard error of a percentage is at most 0.7. "
            "Intervals of quantiles of single answers cannot be exact, and cover more:",
            "",
            "| shape | band | quartiles | ranges | quartiles of single answers |",
            "|---|--:|--:|--:|--:|",
            *(line for shape in FIVE for line in parts.get(shape, [f"| {shape} | not measured | | | |"])),
            "",
            f"The same from {PEOPLE:,} people with {CELLS} answers, and intervals of the shares up to 15 places. A band "
            "that holds in 95 % has a standard error of 0.7 in 1,000 collections, of 1.3 in 300 and of 1.5 in 200:",
            "",
            "| shape | collections | band | quartiles | ranges | shares up to places | quartiles of single answers |",
            "|---|--:|--:|--:|--:|--:|--:|",
            *(line for part in LARGE for line in parts.get(part, [f"| {LARGE[part]} | not measured | | | | | |"])),
            "",
            "The intervals of quartiles cover more where people are in spikes. Not because the fit misses some of the "
            "spikes: the same collections, if the intervals knew the true shares; and what the same limits would cover at "
            "the true place, which an interval cannot know. In spikes these limits rise and fall from place to place, and "
            "an interval, which has no gaps, covers more than each of them:",
            "",
            "| shape | shares known | place known too |",
            "|---|--:|--:|",
            *parts.get("known", ["| not measured | | |"]),
            "",
            f"The rank error of a quantile in thousandths, {PEOPLE:,} people, {CELLS} cells: how far the share below the "
            "number that is given lies from the wanted one. *Within cells* takes each cell to be evenly filled, and "
            "compares the shares below the interpolated numbers; for smooth numbers that is the rank of exact numbers. "
            "*Beyond the cell* counts every rank within the cell that is given as right, which is all that reports on "
            "cells can show where people are in heaps. If everybody were asked about the median itself, the error within "
            f"cells would be 0.4 / (tanh(epsilon / 2) sqrt n) = {1000 * floor:.2f}. Rounds have equally many people, and "
            "each person answers in one. The searches are those of Aamand et al. 2025, arXiv 2502.02990, which ask "
            "everybody one question; a screening search waits for every single answer. Their answer is a cell, of which "
            "the middle is taken; they state no interval:",
            "",
            "| shape | quantile | method | collections | within cells | beyond the cell | interval holds | width in cells |",
            "|---|--:|---|--:|--:|--:|--:|--:|",
            *sorted(
                line
                for name in (*LOOKED_FOR, "searches")
                for line in parts.get(name, [f"| {name} | not measured | | | | | | |"])
            ),
            "",
            "A *pilot* asks for the whole distribution; then one round cuts the line near the median. A *channel for the "
            "middle* is the best that gradient steps over all channels found for smooth, or for spiky numbers and quantiles "
            "in the middle of the range; 5 % of people are asked for points. It fails elsewhere, so no plan uses it.",
            "",
            "How small the error within cells can be without rounds, if densities are drawn as the planner assumes for "
            f"smooth and for spiky numbers and the quantile may lie anywhere from {MIDDLE[0]:.0%} to {MIDDLE[1]:.0%} of the "
            "range: no channel and no estimate goes below the first figure (`research/rank_bound.py`), which counts on all "
            "the information that a report can have, and so need not be reached; the second is that of the best channel "
            f"that gradient steps over all channels for {SMALL} answers found, the third that of the plan, both with the "
            "best estimate:",
            "",
            "| densities | bound | best channel found | plan |",
            "|---|--:|--:|--:|",
            *parts.get("bound", ["| not measured | | | |"]),
            "",
        ]
    )


ALL = (*FIVE, *LARGE, "known", *LOOKED_FOR, "searches", "bound")  # the parts


def measured(part: str, quick: bool) -> list[str]:
    """The rows of one part."""
    if part == "known":
        return [with_known_shares(shape, QUICK if quick else RUNS) for shape in FIVE]
    if part == "searches":
        return searched_for(MADE_UP, 2 if quick else SEARCHES)
    if part == "bound":
        return bounds()
    if part in LOOKED_FOR:
        return rounds(LOOKED_FOR[part], QUICK if quick else ROUND_RUNS)
    if part in LARGE:
        return large_coverage(LARGE[part], quick)
    return coverage(part, QUICK if quick else RUNS)


def remembered() -> dict[str, list[str]]:
    """The rows of the parts that were measured before."""
    return json.loads(PARTS.read_text()) if PARTS.exists() else {}


@click.command()
@quick_option("A few collections each")
@click.option("--part", type=click.Choice(ALL), help="Only this part; the others are kept.")
def main(quick: bool, part: str | None) -> None:
    """Measure how often intervals of distributions hold, and the rank error of quantiles."""
    known: dict[str, list[str]] = {} if quick else remembered()
    for name in [part] if part else ALL:
        found = {name: measured(name, quick)}
        known = known | found if quick else remembered() | found
        if not quick:
            PARTS.write_text(json.dumps(known, indent=1) + "\n")
    deliver(page(known, quick), None if quick else RESULT)


if __name__ == "__main__":
    main()
