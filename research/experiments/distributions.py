"""The distribution of a number: errors beside those of rivals, and predicted errors beside measured ones.

    python -m research.experiments.distributions --data DIR     writes distributions.md, about ten minutes
    python -m research.experiments.distributions --quick        prints it for few collections

In each collection people draw new numbers from a shape, or are those of a data set, and are asked with epsilon 1. The plan
is `plan(domain, 1.0, n, target="distribution")`, the same for all shapes of a size; nothing is chosen by hand. Errors are
measured against the people who answered: W1 is the mean error of the distribution function, which is the Wasserstein
distance where the range has length 1, KS its largest error, and the median's rank error how far 50 % lies outside the shares
below and up to the answer that is given as the median. The coins are seeded.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import click
import numpy as np

from deniable import Cuts, Hierarchy, Ordered, Product, SquareWave, Tally, Workload, WorkloadChannel, certify, norm_sub, plan
from deniable.arrays import Floats, Ints
from deniable.mechanisms.distributions.distribution_mechanism import (
    DistributionMechanism,
    LinearMechanism,
    least_squares_inverse,
)
from deniable.mechanisms.distributions.fitting import CLEAR, fitted, nonnegative
from deniable.mechanisms.distributions.rounds import combined
from deniable.mechanisms.registry import candidates
from deniable.planning.rounds import next_round
from deniable.postprocess import ems
from research.data.folder import Data
from research.experiments.command import data_option, deliver, quick_option
from research.number_shapes import CELLS, MADE_UP, PEOPLE, TRAINING, Shape, real_shapes

RESULT = Path(__file__).with_suffix(".md")
EPSILON = 1.0
RUNS, TRAINING_RUNS, PREDICTION_RUNS = 20, 3, 4000
SMALL, FEWER = 64, 20_000  # answers and people of the predictions
REAL = (
    "The same for real data. Check-ins go round the clock: their W1 is that of the circle, from the best origin, their KS "
    "the largest error of any range that goes round, and their median counts from midnight:"
)


@dataclass(frozen=True)
class Method:
    """A mechanism and an estimate of the shares of all cells, one way to set them."""

    setting: str
    make: Callable[[Ordered, bool], DistributionMechanism]
    shares: Callable[[DistributionMechanism, Tally], Floats]


def fit(clear: float = CLEAR) -> Callable[[DistributionMechanism, Tally], Floats]:
    """Ours: a smooth curve and heaps."""
    return lambda mechanism, tally: fitted(mechanism.matrix, tally.counts, mechanism.circular, None, clear)[0]


def smoothed(tolerance: float) -> Callable[[DistributionMechanism, Tally], Floats]:
    """Smoothed expectation maximisation, until the likelihood changes by less; published: 1e-3 e^epsilon."""
    return lambda mechanism, tally: (
        ems(mechanism.matrix, tally.counts, circular=mechanism.circular, tolerance=tolerance * math.e).values
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


@lru_cache(maxsize=8)
def channel(size: int) -> DistributionMechanism:
    """McKenna et al. 2020: the channel that gradient steps lead to, for the distribution function."""
    return WorkloadChannel.optimal(Ordered(range(size)), EPSILON, Workload.prefixes(size), STEPS)


STEPS = 40


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
    "**planned, fitted**": [Method("as shipped", planned, fit())],
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
    "workload channel, constrained": [Method("prefixes", lambda domain, _: channel(domain.size), constrained)],
    "workload channel, our fit": [Method("prefixes", lambda domain, _: channel(domain.size), fit())],
    "points, norm_sub": [Method("", lambda domain, _: Hierarchy.of(domain, EPSILON, [domain.size]), projected)],
}


def other_plans() -> dict[str, Method]:
    """What the planner chooses for other targets, each with our fit."""
    made: dict[str, Callable[[Ordered, bool], DistributionMechanism]] = {
        "distribution, smooth": lambda domain, _: plan(domain, EPSILON, PEOPLE, target="distribution", prior="smooth"),
        "distribution, spiky": lambda domain, _: plan(domain, EPSILON, PEOPLE, target="distribution", prior="spiky"),
        "ranges": lambda domain, _: plan(domain, EPSILON, PEOPLE, target="ranges"),
    }
    return {name: Method(f"target {name}", make, fit()) for name, make in made.items()}


def errors(shares: Floats, truth: Floats, circular: bool = False) -> Floats:
    """W1, KS and the median's rank error; on a circle W1 is from the best origin, and KS the largest error of a range.

    >>> errors(np.array([0.0, 0.5, 0.5, 0.0]), np.full(4, 0.25), circular=True)[:2]
    array([0.125, 0.5  ])
    """
    distance = np.cumsum(shares - truth)
    distance = np.abs(distance - np.median(distance)) if circular else np.abs(distance)
    largest = np.ptp(np.cumsum(shares - truth)) if circular else distance.max()
    median, upto = min(int(np.searchsorted(np.cumsum(shares), 0.5)), len(truth) - 1), np.cumsum(truth)
    rank = max(0.0, upto[median] - truth[median] - 0.5, 0.5 - upto[median])
    return np.array([distance.mean(), largest, rank])


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
            own.append(errors(method.shares(mechanism, tallies[key]), people / people.sum(), shape.circular))
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


def collected(mechanism: LinearMechanism, people: Ints, random: np.random.Generator, runs: int) -> Ints:
    """Counts of reports in several collections from the same people, drawn from the law."""
    return np.sum([random.multinomial(many, row, runs) for many, row in zip(people, mechanism.matrix, strict=True)], axis=0)


def falling() -> Ints:
    """How many of 20,000 people have each of 64 answers, fewer and fewer."""
    weights = np.exp(-5 * np.arange(SMALL) / SMALL)
    return np.diff(np.rint(np.cumsum(weights) / weights.sum() * FEWER), prepend=0).astype(np.int64)


def predictions(runs: int) -> list[str]:
    """The standard error of the distribution function that each mechanism predicts, beside the measured one."""
    lines = ["| mechanism | questions | predicted | measured | ratio |", "|---|---|--:|--:|--:|"]
    domain, people, prefixes = Ordered(range(SMALL)), falling(), Workload.prefixes(SMALL)
    few = Workload(np.tril(np.ones((SMALL, SMALL)))[[9, 19, 39]])
    cases: list[tuple[str, LinearMechanism, str, Workload]] = [
        (each.name, each.made(domain, EPSILON, prefixes), "distribution function", prefixes)
        for each in candidates("distributions").values()
    ]
    cases.append(("channel for three questions", WorkloadChannel.merged(domain, EPSILON, few), "these three", few))
    arcs = Workload.arcs(SMALL)
    cases += [(f"{each.name}, round", each.made(domain, EPSILON), "ranges round", arcs) for each in Hierarchy.round()]
    side = Ordered(range(8))
    cases.append(("tiles", plan(Product([side, side]), EPSILON, FEWER, target="ranges"), "all rectangles", rectangles(8)))
    for place, (name, mechanism, what, workload) in enumerate(cases):
        counts = collected(mechanism, people, np.random.default_rng([9, place]), runs)
        found = counts @ mechanism.inverse.T / FEWER
        lines.append(prediction(name, what, workload, mechanism.joint_noise(people / FEWER) / FEWER, found))
    rounds = next_round(domain, EPSILON, FEWER // 2), Cuts(domain, EPSILON, [[9, 19], [10, 24], [12, 30]], [1, 2, 1])
    found, spread = in_two_rounds(rounds, people, np.random.default_rng([9, len(cases)]), runs)
    return [*lines, prediction("two rounds, combined", "distribution function", prefixes, spread, found)]


def prediction(name: str, what: str, workload: Workload, spread: Floats, found: Floats) -> str:
    """A row of the table: the root mean square error of these questions by a covariance, and in estimated shares."""
    wrong = found - falling() / FEWER
    predicted, measured = (math.sqrt(workload.mean_square(each)) for each in (spread, wrong.T @ wrong / len(wrong)))
    return f"| {name} | {what} | {100 * predicted:.3f} | {100 * measured:.3f} | {measured / predicted:.3f} |"


def rectangles(side: int) -> Workload:
    """The shares of all rectangles of a square map."""
    line = Workload.ranges(side)
    return Workload(np.kron(line.gram, line.gram), "the shares of all rectangles", line.questions**2)


def in_two_rounds(
    rounds: Sequence[DistributionMechanism], people: Ints, random: np.random.Generator, runs: int
) -> tuple[Floats, Floats]:
    """Shares that are estimated from two rounds, to which people are assigned at random, and what their covariance is."""
    half, counts = FEWER // 2, list[Ints]()
    for _ in range(runs):
        first = random.multivariate_hypergeometric(people, half)
        groups = zip(rounds, (first, people - first), strict=True)
        counts.append(np.concatenate([collected(mechanism, group, random, 1)[0] for mechanism, group in groups]))
    expected = [np.rint(people @ each.matrix / 2).astype(np.int64) for each in rounds]
    known = [(each, Tally(each.fingerprint, half, seen)) for each, seen in zip(rounds, expected, strict=True)]
    inverse = least_squares_inverse(np.concatenate([each.matrix / 2 for each in rounds], axis=1))
    return np.array(counts) @ inverse.T / FEWER, combined(known).covariance


def page(data: Data, quick: bool) -> str:
    """The whole result."""
    runs, many = (2 if quick else RUNS), (200 if quick else PREDICTION_RUNS)
    chosen, best = plan(Ordered(range(CELLS)), EPSILON, PEOPLE, target="distribution"), tuned(1 if quick else TRAINING_RUNS)
    real = real_shapes(data)
    parts = [
        f"Errors in thousandths, epsilon {EPSILON:g}, {PEOPLE:,} people, {CELLS} cells: means of {runs} collections and "
        "their standard errors. The settings of the rivals are those with the least W1 times KS on nine other shapes: "
        f"{', '.join(shape.name.replace('_', ' ') for shape in TRAINING)}. Our fit was developed on the same nine "
        "shapes, with other seeds: of penalties on differences of order 1 to 4, of three criteria for the smoothness, and "
        f"of heaps from 3.2 to 4 standard errors, the marginal likelihood with order 2 and heaps from {CLEAR:g} were best.",
        "\n".join(accuracy(best, MADE_UP, runs)),
        *((REAL, "\n".join(accuracy(best, real, runs))) if real else ()),
        "What other targets of the planner lead to, each with our fit. The plan above is a compromise for smooth and for "
        "spiky numbers and for bands, and its `explain()` says so; that for quantiles is the same:",
        "\n".join(accuracy(other_plans(), MADE_UP, runs)),
        "The plan:",
        "```\n" + chosen.explain() + "\n```",
        f"Its certificate: {'holds' if certify(chosen).holds else 'does not hold'}, by {', '.join(certify(chosen).rules)}.",
        "Standard errors in percentage points, root mean square over all questions of a kind, predicted and measured over "
        f"{many:,} collections from {FEWER:,} people with {SMALL} answers whose shares fall:",
        "\n".join(predictions(many)),
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
