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
from deniable.mechanisms.distributions.fitting import CLEAR, DEGREE, fitted, nonnegative
from deniable.mechanisms.distributions.rounds import Round, combined
from deniable.mechanisms.distributions.workload import Workload
from deniable.mechanisms.registry import candidates
from deniable.planning.rounds import next_round
from deniable.postprocess import ems
from research.data.folder import Data
from research.experiments.command import data_option, deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
EPSILON, PEOPLE, CELLS = 1.0, 100_000, 256
RUNS, TRAINING_RUNS, COVERAGE_RUNS, PREDICTION_RUNS = 20, 3, 1000, 4000


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


def two_peaks(random: np.random.Generator) -> Ints:
    """A mixture of two normal densities."""
    low = random.random(PEOPLE) < 0.4
    return on_grid(np.where(low, random.normal(0.25, 0.06, PEOPLE), random.normal(0.65, 0.12, PEOPLE)))


def even_with_spikes(random: np.random.Generator) -> Ints:
    """Even numbers, of which a third are rounded to tenths."""
    numbers, rounded = random.random(PEOPLE), random.random(PEOPLE) < 1 / 3
    numbers[rounded] = np.round(10 * numbers[rounded]) / 10
    return on_grid(numbers)


def gamma(random: np.random.Generator) -> Ints:
    """A skew density."""
    return on_grid(random.gamma(2, 0.1, PEOPLE))


def normal(random: np.random.Generator) -> Ints:
    """A normal density, cut off at both ends, of which a fifth are rounded to quarters."""
    numbers, rounded = random.normal(0.5, 0.3, PEOPLE), random.random(PEOPLE) < 0.2
    numbers[rounded] = np.round(4 * numbers[rounded]) / 4
    return on_grid(numbers)


# What the settings of all methods are chosen on, and what they are compared on.
TRAINING = tuple(Shape(draw.__name__, CELLS, draw) for draw in (two_peaks, even_with_spikes, gamma, normal))
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
    """A mechanism and an estimate of the shares of all cells, one way to set them."""

    setting: str
    make: Callable[[Ordered, bool], DistributionMechanism]
    shares: Callable[[DistributionMechanism, Tally], Floats]


def fit(degree: float = DEGREE, clear: float = CLEAR) -> Callable[[DistributionMechanism, Tally], Floats]:
    """Ours: a smooth curve and heaps."""
    return lambda mechanism, tally: fitted(mechanism.matrix, tally.counts, mechanism.circular, None, degree, clear)[0]


def smoothed(tolerance: float) -> Callable[[DistributionMechanism, Tally], Floats]:
    """Smoothed expectation maximisation, until the likelihood changes by less; published: 1e-3 e^epsilon."""
    return lambda mechanism, tally: (
        ems(mechanism.matrix, tally.counts, circular=mechanism.circular, tolerance=tolerance * np.e).values
    )


def projected(mechanism: DistributionMechanism, tally: Tally) -> Floats:
    """Least squares, then the nearest shares that are not negative."""
    return norm_sub(mechanism.estimate(tally)).values


def constrained(mechanism: DistributionMechanism, tally: Tally) -> Floats:
    """Least squares over shares that are not negative: what HH-ADMM converges to, with the best weights of levels."""
    form = mechanism.information + 10
    shares = nonnegative(form, form @ mechanism.estimate(tally).values)
    return shares / shares.sum()


def planned(domain: Ordered, circular: bool) -> DistributionMechanism:
    """The plan, whatever the shape is."""
    return plan(domain, EPSILON, PEOPLE, target="distribution", circular=circular)


def wave(width: float) -> Callable[[Ordered, bool], DistributionMechanism]:
    """A square wave of so many times the published width."""

    def made(domain: Ordered, circular: bool) -> DistributionMechanism:
        best = SquareWave(domain, EPSILON, circular=circular)
        return best if circular else SquareWave(domain, EPSILON, max(1, round(width * best.window)))

    return made


def levels(branches: int) -> Callable[[Ordered, bool], DistributionMechanism]:
    """Equal levels, each cut into so many parts as the one before."""

    def made(domain: Ordered, _: bool) -> DistributionMechanism:
        cells = [branches**k for k in range(1, 12) if branches**k < domain.size]
        return Hierarchy.of(domain, EPSILON, [*cells, domain.size])

    return made


WAVES, BRANCHES = (0.5, 0.75, 1.0), (2, 4, 8, 16)
METHODS: dict[str, list[Method]] = {
    "**planned, fitted**": [
        Method(f"{degree} per degree, heaps from {clear}", planned, fit(degree, clear))
        for degree in (2.0, 2.5, 3.0)
        for clear in (3.2, 3.6, 4.0)
    ],
    "Square Wave, EMS": [
        Method(f"{width} widths, tolerance {tolerance:g}", wave(width), smoothed(tolerance))
        for width in WAVES
        for tolerance in (1e-2, 1e-3, 1e-4)
    ],
    "Square Wave, our fit": [Method(f"{width} widths", wave(width), fit()) for width in WAVES],
    "equal levels, constrained": [Method(f"branches {many}", levels(many), constrained) for many in BRANCHES],
    "equal levels, norm_sub": [Method(f"branches {many}", levels(many), projected) for many in BRANCHES],
    "weighted levels, constrained": [
        Method("branches 2", lambda domain, _: Hierarchy.weighted(domain, EPSILON), constrained)
    ],
    "weighted levels, our fit": [Method("branches 2", lambda domain, _: Hierarchy.weighted(domain, EPSILON), fit())],
    "points, norm_sub": [Method("", lambda domain, _: Hierarchy.of(domain, EPSILON, [domain.size]), projected)],
}


def errors(shares: Floats, truth: Floats) -> Floats:
    """W1, KS and the median's rank error."""
    distance = np.abs(np.cumsum(shares - truth))
    median, upto = min(int(np.searchsorted(np.cumsum(shares), 0.5)), len(truth) - 1), np.cumsum(truth)
    rank = max(0.0, upto[median] - truth[median] - 0.5, 0.5 - upto[median])
    return np.array([distance.mean(), distance.max(), rank])


def measured(methods: Sequence[Method], shape: Shape, runs: int, seed: int) -> list[Floats]:
    """For each method a row of errors per collection."""
    domain, random = Ordered(range(shape.cells)), np.random.default_rng([seed, 1])
    made = [method.make(domain, shape.circular) for method in methods]
    rows: list[list[Floats]] = [[] for _ in methods]
    for run in range(runs):
        people = np.bincount(shape.draw(np.random.default_rng([seed, run])), minlength=shape.cells)
        tallies: dict[str, Tally] = {}
        for own, method, mechanism in zip(rows, methods, made, strict=True):
            if (key := mechanism.fingerprint) not in tallies:
                tallies[key] = Tally(key, int(people.sum()), collected(mechanism, people, random, 1)[0])
            own.append(errors(method.shares(mechanism, tallies[key]), people / people.sum()))
    return [np.array(each) for each in rows]


def tuned(runs: int) -> dict[str, Method]:
    """Of each kind of method the setting with the least W1 times KS on the training shapes."""
    best = {}
    for name, methods in METHODS.items():
        score = np.zeros(len(methods))
        for shape in TRAINING if len(methods) > 1 else ():
            score += [np.log(each.mean(axis=0)[:2]).sum() for each in measured(methods, shape, runs, 1000)]
        best[name] = methods[int(score.argmin())]
    return best


def accuracy(chosen: dict[str, Method], shapes: Sequence[Shape], runs: int) -> list[str]:
    """A row for each method, three columns for each shape, in thousandths, with standard errors."""
    lines = [
        "| method | setting |" + "".join(f" {shape.name}: W1 | KS | median |" for shape in shapes),
        "|---|---|" + "--:|" * 3 * len(shapes),
    ]
    found = [measured(list(chosen.values()), shape, runs, 2026) for shape in shapes]
    for place, (name, method) in enumerate(chosen.items()):
        cells = [
            f"{1000 * mean:.1f} ± {1000 * error:.1f}"
            for rows in found
            for mean, error in zip(rows[place].mean(axis=0), rows[place].std(axis=0) / max(runs - 1, 1) ** 0.5, strict=True)
        ]
        lines.append(f"| {name} | {method.setting} | " + " | ".join(cells) + " |")
    return lines


def in_rounds(shapes: Sequence[Shape], runs: int) -> list[str]:
    """The rank error of the median in thousandths, without rounds and with three, and how often its interval holds."""
    lines = ["| shape | rounds | median | interval holds | width in cells |", "|---|--:|--:|--:|--:|"]
    for shape in shapes:
        domain = Ordered(range(shape.cells))
        for many in (1, 3):
            rows = []
            for run in range(runs):
                random = np.random.default_rng([77, run])
                people = random.permutation(shape.draw(random))
                rounds: list[Round] = []
                for group in np.array_split(people, many):
                    mechanism = next_round(domain, EPSILON, len(group), [0.5], rounds)
                    held = np.bincount(group, minlength=shape.cells)
                    counts = collected(mechanism, held, random, 1)[0]
                    rounds.append((mechanism, Tally(mechanism.fingerprint, len(group), counts)))
                truth = np.bincount(people, minlength=shape.cells) / len(people)
                found = combined(rounds)
                low, high = found.quantile(0.5).interval(0.95)
                holds = low <= np.searchsorted(np.cumsum(truth), 0.5) <= high
                rows.append([errors(found.values, truth)[2], holds, high - low])
            rank, holds, width = np.mean(rows, axis=0)
            spread = np.std(rows, axis=0)[0] / max(runs - 1, 1) ** 0.5
            lines.append(
                f"| {shape.name} | {many} | {1000 * rank:.1f} ± {1000 * spread:.1f} | {100 * holds:.0f} % | {width:.1f} |"
            )
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


def held(found: Distribution, truth: Floats) -> list[float]:
    """Whether the band, the intervals of the quartiles, and those of four ranges hold the truth."""
    upto, band = np.cumsum(truth), found.band(0.95)
    whole = bool(((band.lower <= upto + 1e-12) & (upto <= band.upper + 1e-12)).all())
    quartiles = []
    for share in (0.25, 0.5, 0.75):
        cell = int(np.abs(upto - share).argmin())
        if found.grid.atoms:
            true = float(np.searchsorted(upto, share))
        else:  # the distribution function takes this value exactly, at the end of the cell
            share, true = float(upto[cell]), float(found.grid.edges[cell + 1])
        low, high = found.quantile(share).interval(0.95)
        quartiles.append(low - 1e-12 <= true <= high + 1e-12)
    ranges = []
    for first, last in ((0, 15), (10, 20), (16, 47), (40, 63)):
        weights = np.where((np.arange(SMALL) >= first) & (np.arange(SMALL) <= last), 1.0, 0.0)
        low, high = found.linear(weights).interval(0.95)
        ranges.append(low <= float(weights @ truth) <= high)
    return [float(whole), float(np.mean(quartiles)), float(np.mean(ranges))]


def coverage(runs: int) -> list[str]:
    """How often bands and intervals hold, in percent, for five shapes."""
    lines = ["| shape | band | quartiles | ranges | quartiles of single answers |", "|---|--:|--:|--:|--:|"]
    on_line = plan(Interval(0, 1, steps=SMALL - 1), EPSILON, FEWER, target="distribution")
    single = plan(Ordered(range(SMALL)), EPSILON, FEWER, target="distribution")
    for place, shape in enumerate(FIVE):
        people, random = people_of(shape), np.random.default_rng([7, place])
        hits: list[list[float]] = []
        for counts in collected(on_line, people, random, runs):
            tallies = [(each, Tally(each.fingerprint, FEWER, counts)) for each in (on_line, single)]
            line, atoms = (held(each.distribution(tally), people / FEWER) for each, tally in tallies)
            hits.append([*line, atoms[1]])
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
    chosen, best = plan(Ordered(range(CELLS)), EPSILON, PEOPLE, target="distribution"), tuned(1 if quick else TRAINING_RUNS)
    real = real_shapes(data)
    parts = [
        f"Errors in thousandths, epsilon {EPSILON:g}, {PEOPLE:,} people, {CELLS} cells: means of {runs} collections and "
        "their standard errors. The settings of every method, ours included, are those with the least W1 times KS on four "
        f"other shapes: {', '.join(shape.name.replace('_', ' ') for shape in TRAINING)}. Our constants in the package are "
        f"{DEGREE:g} per degree of freedom and heaps from {CLEAR:g} standard errors.",
        "\n".join(accuracy(best, MADE_UP, runs)),
        *(("The same for real data:", "\n".join(accuracy(best, real, runs))) if real else ()),
        f"The median's rank error in thousandths, in rounds of equal size, over {runs} collections:",
        "\n".join(in_rounds(MADE_UP, runs)),
        "The plan:",
        "```\n" + chosen.explain() + "\n```",
        f"Its certificate: {'holds' if certify(chosen).holds else 'does not hold'}, by {', '.join(certify(chosen).rules)}.",
        f"How often 95 % bands and intervals hold the truth, in percent, over {few:,} collections from {FEWER:,} people "
        f"with {SMALL} answers. Intervals of quantiles of single answers cannot be exact, and cover more:",
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
