"""The distribution of a number: errors beside those of rivals, coverage of bands, predictions, and speed.

    python -m research.experiments.distributions --data DIR     writes distributions.md, about half an hour
    python -m research.experiments.distributions --quick        prints it for few collections

In each collection people draw new numbers from a shape, or are those of a data set, and are asked with epsilon 1. The plan
is `plan(domain, 1.0, n, target="distribution")`, the same for all shapes of a size; nothing is chosen by hand. Errors are
measured against the people who answered: W1 is the mean error of the distribution function, which is the Wasserstein
distance where the range has length 1, KS its largest error, and the median's rank error how far 50 % lies outside the shares
below and up to the answer that is given as the median. The coins are seeded.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from deniable import Distribution, Hierarchy, Interval, Ordered, SeededCoins, SquareWave, Tally, certify, norm_sub, plan
from deniable.arrays import Floats, Ints
from deniable.mechanisms.distributions.distribution_mechanism import DistributionMechanism
from deniable.mechanisms.distributions.fitting import nonnegative
from deniable.mechanisms.distributions.workload import Workload
from deniable.mechanisms.registry import candidates
from deniable.postprocess import ems
from research.data.folder import Data
from research.experiments.command import data_option, deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
EPSILON, PEOPLE, CELLS = 1.0, 100_000, 256
RUNS, COVERAGE_RUNS, PREDICTION_RUNS = 20, 1000, 4000


@dataclass(frozen=True)
class Shape:
    """How numbers are distributed: the cells, from 0 to `cells` - 1, of some people."""

    name: str
    cells: int
    draw: Callable[[np.random.Generator], Ints]
    circular: bool = False


def on_grid(numbers: Floats, cells: int = CELLS) -> Ints:
    """The cells of numbers from 0 to 1."""
    return np.minimum((np.clip(numbers, 0, 1) * cells).astype(np.int64), cells - 1)


def beta(random: np.random.Generator) -> Ints:
    """A smooth density."""
    return on_grid(random.beta(5, 2, PEOPLE))


def rounded_log_normal(random: np.random.Generator) -> Ints:
    """Log-normal numbers, half of them rounded to twentieths."""
    numbers = np.exp(random.normal(-1.6, 0.7, PEOPLE))
    rounded = random.random(PEOPLE) < 0.5
    numbers[rounded] = np.round(20 * numbers[rounded]) / 20
    return on_grid(numbers)


MADE_UP = (
    Shape("beta(5, 2)", CELLS, beta),
    Shape("log-normal(-1.6, 0.7), half rounded to twentieths", CELLS, rounded_log_normal),
)


def real_shapes(data: Data) -> list[Shape]:
    """Ages of Adult, ratings of films, and hours of check-ins in quarters, which go round."""
    if not data.has("tabular/adult.csv.gz", "ratings/ml_latest_small_2018.csv.gz", "locations/gowalla_nyc_checkins.csv.gz"):
        return []
    ages = np.array([int(age) for age in data.table("tabular/adult.csv.gz", ["age"])[0]])
    rated = [int(rating) for rating in data.table("ratings/ml_latest_small_2018.csv.gz", ["rating_x2"])[0]]
    times = data.table("locations/gowalla_nyc_checkins.csv.gz", ["time"])[0]
    quarters = np.array([int(text[11:13]) * 4 + int(text[14:16]) // 15 for text in times])
    return [
        Shape(f"ages, {len(ages):,} people", 91, lambda _: np.clip(ages, 0, 90)),
        Shape(f"ratings, {len(rated):,}", 10, lambda _: np.array(rated) - 1),
        Shape(f"quarters of an hour of check-ins, {len(quarters):,}", 96, lambda _: quarters, circular=True),
    ]


@dataclass(frozen=True)
class Method:
    """A mechanism and an estimate of the shares of all cells."""

    name: str
    make: Callable[[Ordered, bool], DistributionMechanism]
    shares: Callable[[DistributionMechanism, Tally], Floats]


def fit(mechanism: DistributionMechanism, tally: Tally) -> Floats:
    """Ours: a smooth curve and heaps."""
    return mechanism.distribution(tally).values


def smoothed(mechanism: DistributionMechanism, tally: Tally) -> Floats:
    """Smoothed expectation maximisation, until the likelihood changes by less than 1e-3 e^epsilon, as published."""
    return ems(mechanism.matrix, tally.counts, circular=mechanism.circular, tolerance=1e-3 * np.e).values


def projected(mechanism: DistributionMechanism, tally: Tally) -> Floats:
    """Least squares, then the nearest shares that are not negative."""
    return norm_sub(mechanism.estimate(tally)).values


def constrained(mechanism: DistributionMechanism, tally: Tally) -> Floats:
    """Least squares over shares that are not negative, which a hierarchy needs: norm_sub would forget what levels say."""
    form = mechanism.information + 10
    shares = nonnegative(form, form @ mechanism.estimate(tally).values)
    return shares / shares.sum()


def planned(domain: Ordered, _: bool) -> DistributionMechanism:
    """The plan, whatever the shape is."""
    return plan(domain, EPSILON, PEOPLE, target="distribution")


METHODS = (
    Method("**planned, fitted**", planned, fit),
    Method("Square Wave, EMS", lambda domain, circular: SquareWave(domain, EPSILON, circular=circular), smoothed),
    Method("Square Wave, fitted", lambda domain, circular: SquareWave(domain, EPSILON, circular=circular), fit),
    Method("hierarchy of four, equal levels, constrained", lambda domain, _: Hierarchy.fours(domain, EPSILON), constrained),
    Method("hierarchy of two, weighted, constrained", lambda domain, _: Hierarchy.weighted(domain, EPSILON), constrained),
    Method("hierarchy of two, weighted, fitted", lambda domain, _: Hierarchy.weighted(domain, EPSILON), fit),
    Method("points, norm_sub", lambda domain, _: Hierarchy.of(domain, EPSILON, [domain.size]), projected),
)


def errors(shares: Floats, truth: Floats) -> Floats:
    """W1, KS and the median's rank error."""
    distance = np.abs(np.cumsum(shares - truth))
    median, upto = min(int(np.searchsorted(np.cumsum(shares), 0.5)), len(truth) - 1), np.cumsum(truth)
    rank = max(0.0, upto[median] - truth[median] - 0.5, 0.5 - upto[median])
    return np.array([distance.mean(), distance.max(), rank])


def accuracy(shapes: Sequence[Shape], runs: int) -> list[str]:
    """A row for each method, three columns for each shape, in thousandths."""
    found: dict[str, list[Floats]] = {method.name: [] for method in METHODS}
    for shape in shapes:
        domain = Ordered(range(shape.cells))
        made = {method.name: method.make(domain, shape.circular) for method in METHODS}
        sums = {method.name: np.zeros(3) for method in METHODS}
        for run in range(runs):
            people = shape.draw(np.random.default_rng([2026, run]))
            truth = np.bincount(people, minlength=shape.cells) / len(people)
            tallies: dict[str, Tally] = {}
            for method in METHODS:
                mechanism = made[method.name]
                if mechanism.fingerprint not in tallies:
                    coins = SeededCoins(f"{shape.name}, {mechanism.wire}, {run}".encode())
                    tallies[mechanism.fingerprint] = mechanism.tally(mechanism.perturb(people, coins))
                sums[method.name] += errors(method.shares(mechanism, tallies[mechanism.fingerprint]), truth) / runs
        for name, total in sums.items():
            found[name].append(total)
    lines = [
        "| method |" + "".join(f" {shape.name}: W1 | KS | median |" for shape in shapes),
        "|---|" + "--:|" * 3 * len(shapes),
    ]
    for name, rows in found.items():
        lines.append(f"| {name} | " + " | ".join(f"{1000 * each:.1f}" for row in rows for each in row) + " |")
    return lines


FIVE: dict[str, Callable[[int], Floats]] = {
    "even": lambda size: np.ones(size),
    "bell": lambda size: np.exp(-(((np.arange(size) / size - 0.5) / 0.15) ** 2) / 2),
    "falling": lambda size: np.exp(-5 * np.arange(size) / size),
    "two peaks": lambda size: (
        np.exp(-(((np.arange(size) / size - 0.2) / 0.05) ** 2) / 2)
        + np.exp(-(((np.arange(size) / size - 0.7) / 0.1) ** 2) / 2)
    ),
    "spikes": lambda size: np.where(np.arange(size) % 8 == 5, 1.0, 0.02),
}
SMALL, FEWER = 64, 20_000


def people_of(shape: str) -> Ints:
    """How many of 20,000 people have each of 64 answers."""
    weights = FIVE[shape](SMALL)
    return np.diff(np.rint(np.cumsum(weights) / weights.sum() * FEWER), prepend=0).astype(np.int64)


def collected(mechanism: DistributionMechanism, people: Ints, random: np.random.Generator, runs: int) -> Ints:
    """Counts of reports in several collections from the same people, drawn from the law."""
    return np.sum([random.multinomial(many, row, runs) for many, row in zip(people, mechanism.matrix, strict=True)], axis=0)


def held(found: Distribution, truth: Floats) -> tuple[bool, list[bool], list[bool]]:
    """Whether the band, the intervals of the quartiles, and those of four ranges hold the truth."""
    upto, band = np.cumsum(truth), found.band(0.95)
    whole = bool(((band.lower <= upto + 1e-12) & (upto <= band.upper + 1e-12)).all())
    quartiles = []
    for share in (0.25, 0.5, 0.75):
        cell = int(np.abs(upto - share).argmin())  # the distribution function takes this value exactly, at its end
        low, high = found.quantile(float(upto[cell])).interval(0.95)
        quartiles.append(low <= found.grid.edges[cell + 1] <= high)
    ranges = []
    for first, last in ((0, 15), (10, 20), (16, 47), (40, 63)):
        weights = np.where((np.arange(SMALL) >= first) & (np.arange(SMALL) <= last), 1.0, 0.0)
        low, high = found.linear(weights).interval(0.95)
        ranges.append(low <= float(weights @ truth) <= high)
    return whole, quartiles, ranges


def coverage(runs: int) -> list[str]:
    """How often bands and intervals hold, in percent, for five shapes."""
    lines = ["| shape | band | quartiles | ranges |", "|---|--:|--:|--:|"]
    domain = Interval(0, 1, steps=SMALL - 1)
    mechanism = plan(domain, EPSILON, FEWER, target="distribution")
    for place, shape in enumerate(FIVE):
        people, random = people_of(shape), np.random.default_rng([7, place])
        hits: list[list[float]] = []
        for counts in collected(mechanism, people, random, runs):
            found = mechanism.distribution(Tally(mechanism.fingerprint, FEWER, counts))
            band, quartiles, ranges = held(found, people / FEWER)
            hits.append([float(band), float(np.mean(quartiles)), float(np.mean(ranges))])
        lines.append(f"| {shape} | " + " | ".join(f"{100 * each:.1f}" for each in np.mean(hits, axis=0)) + " |")
    return lines


def predictions(runs: int) -> list[str]:
    """The standard error of the distribution function that each mechanism predicts, beside the measured one."""
    lines = ["| mechanism | predicted | measured | ratio |", "|---|--:|--:|--:|"]
    domain, people, workload = Ordered(range(SMALL)), people_of("falling"), Workload.prefixes(SMALL)
    truth = people / FEWER
    for place, candidate in enumerate(candidates("distributions").values()):
        mechanism: DistributionMechanism = candidate.made(domain, EPSILON, workload)
        predicted = np.sqrt(workload.mean_square(mechanism.joint_noise(truth) / FEWER))
        counts = collected(mechanism, people, np.random.default_rng([9, place]), runs)
        distance = np.cumsum(counts @ mechanism.inverse.T / FEWER - truth, axis=1)
        measured = np.sqrt(np.mean(distance**2))
        lines.append(f"| {candidate.name} | {100 * predicted:.3f} | {100 * measured:.3f} | {measured / predicted:.3f} |")
    return lines


def speed(reports: int) -> str:
    """Seconds from reports in memory to three quantiles with intervals."""
    domain = Interval(0, 1, steps=CELLS - 1)
    mechanism = plan(domain, EPSILON, PEOPLE, target="distribution")
    made = mechanism.perturb(np.random.default_rng(0).beta(5, 2, reports), SeededCoins(0))
    mechanism.distribution(mechanism.tally(made[:1000])).quantile(0.5).interval()  # compiles and inverts once
    start = time.perf_counter()
    found = mechanism.distribution(mechanism.tally(made))
    [found.quantile(share).interval() for share in (0.25, 0.5, 0.75)]
    return f"From {reports:,} reports in memory to three quantiles with intervals: {time.perf_counter() - start:.2f} s."


def page(data: Data, quick: bool) -> str:
    """The whole result."""
    runs, few = (2 if quick else RUNS), (20 if quick else COVERAGE_RUNS)
    chosen = plan(Ordered(range(CELLS)), EPSILON, PEOPLE, target="distribution")
    real = real_shapes(data)
    parts = [
        f"Errors in thousandths, epsilon {EPSILON:g}, {PEOPLE:,} people, {CELLS} cells, means of {runs} collections:",
        "\n".join(accuracy(MADE_UP, runs)),
        *(("The same for real data:", "\n".join(accuracy(real, runs))) if real else ()),
        "The plan:",
        "```\n" + chosen.explain() + "\n```",
        f"Its certificate: {'holds' if certify(chosen).holds else 'does not hold'}, by {', '.join(certify(chosen).rules)}.",
        f"How often 95 % bands and intervals hold the truth, in percent, over {few:,} collections from {FEWER:,} people "
        f"with {SMALL} answers:",
        "\n".join(coverage(few)),
        "Standard error of the distribution function in percentage points, root mean square, predicted and measured over "
        f"{200 if quick else PREDICTION_RUNS:,} collections from {FEWER:,} people with {SMALL} answers whose shares fall:",
        "\n".join(predictions(200 if quick else PREDICTION_RUNS)),
        speed(100_000 if quick else 10_000_000),
    ]
    return "\n\n".join(parts) + "\n"


@click.command()
@data_option
@quick_option("A few collections each")
def main(data: Data, quick: bool) -> None:
    """Measure the estimates of distributions, beside rivals."""
    deliver(page(data, quick), None if quick else RESULT)


if __name__ == "__main__":
    main()
