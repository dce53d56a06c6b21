"""Measured errors of what is planned, beside those of the best published mechanisms, and the distance to the proved bound.

    python -m research.experiments.field            writes field.md, about a minute
    python -m research.experiments.field --quick    prints it for fewer collections
    python -m research.experiments.field --others   writes anew only what other commands measured

For every task the same people, the same epsilon and the same number of reports. The people are those that the bound is
about: even shares, or the answers that are worst for a mechanism. Rivals are the published laws, run by this library.
Below them stand the tasks that other commands measure: see field_pages.py.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

import deniable as dn
from deniable.arrays import Floats
from deniable.mechanisms.distributions.plane import plane_of
from deniable.planning import options
from deniable.planning.circles import circle_options
from deniable.planning.distributions import distribution_options
from deniable.planning.key_value import key_value_options
from deniable.planning.maps import map_options
from deniable.planning.means import bounded, mean_options
from deniable.planning.ranking import Ranking, Row
from deniable.planning.releases import release_options
from deniable.planning.vectors import unit_options, vector_options
from research.experiments.command import deliver, quick_option
from research.experiments.field_pages import HEAD, pages

RESULT = Path(__file__).with_suffix(".md")
PAGE = Path(__file__).parents[2] / "docs" / "field.md"
START, END = "<!-- the tables -->", "<!-- up to here -->"
COLLECTIONS, QUICK = 20, 3
UNIT = ("unit codes",)
SINGLE = 20  # times as many collections where one number is estimated

Measure = Callable[[Any, int, np.random.Generator], float]  # the squared error of one collection, or the loss itself


@dataclass(frozen=True)
class Task:
    """A question, the candidates for it, which of them are published, and how one collection is measured."""

    name: str
    people: int
    ranking: Ranking[Any]
    published: Sequence[str]
    measure: Measure
    times: int = 1  # as many collections: single numbers need more of them

    def row(self, collections: int) -> str:
        """The line of the table."""
        best, bound = self.ranking.best, self.ranking.bound
        rivals = [row for row in self.ranking if row.name in self.published and row is not best]
        rival = min(rivals, key=lambda row: row.error)
        ours, theirs = (self._measured(row.mechanism, collections) for row in (best, rival))
        power = self.ranking.power
        assert bound is not None
        return (
            f"| {self.name} | {self.people:,} | {best.name} | {_shown(ours)} | {rival.name} | {_shown(theirs)} | "
            f"{(theirs[0] / ours[0]) ** power:.2f} | {bound:.4g} | {100 * ((best.error / bound) ** power - 1):.1f} % |"
        )

    def _measured(self, mechanism: Any, collections: int) -> tuple[float, float]:
        """The error, and its standard error."""
        found = np.array(
            [self.measure(mechanism, self.people, np.random.default_rng(seed)) for seed in range(self.times * collections)]
        )
        if self.ranking.power == 1:
            return float(found.mean()), float(found.std(ddof=1) / math.sqrt(len(found)))
        error = math.sqrt(float(found.mean()))
        return error, float(found.std(ddof=1) / math.sqrt(len(found))) / (2 * error)


def _shown(found: tuple[float, float]) -> str:
    return f"{found[0]:.4g} ± {found[1]:.1g}"


def _coins(draws: np.random.Generator) -> dn.SeededCoins:
    return dn.SeededCoins(int(draws.integers(1 << 62)))


def _shares(chances: Floats) -> Measure:
    def measure(mechanism: Any, people: int, draws: np.random.Generator) -> float:
        answers = draws.choice(len(chances), people, p=chances)
        found = mechanism.estimate(mechanism.tally(mechanism.perturb(answers.tolist(), _coins(draws))))
        return float(np.mean((found.values - np.bincount(answers, minlength=len(chances)) / people) ** 2))

    return measure


def _mean(mechanism: Any, people: int, draws: np.random.Generator) -> float:
    worst = max(np.linspace(-1, 1, 201), key=mechanism.variance)
    reports = mechanism.perturb(np.full(people, worst), _coins(draws))
    return float(mechanism.estimate(mechanism.tally(reports)).values[0] - worst) ** 2


def _vectors(mechanism: Any, people: int, draws: np.random.Generator) -> float:
    reports = mechanism.perturb(np.zeros((people, mechanism.domain.dimensions)), _coins(draws))
    return float(np.mean(mechanism.estimate(mechanism.tally(reports)).values ** 2))


def _units(mechanism: Any, people: int, draws: np.random.Generator) -> float:
    rows = draws.normal(size=(people, mechanism.domain.dimensions))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = mechanism.estimate(mechanism.tally(mechanism.perturb(rows, _coins(draws))))
    return float(np.mean((found.values - rows.mean(axis=0)) ** 2))


def _release(mechanism: Any, people: int, draws: np.random.Generator) -> float:
    truth = draws.integers(mechanism.domain.size, size=people)
    answers = [mechanism.domain.labels[index] for index in truth]
    reported = np.asarray(mechanism.perturb(answers, _coins(draws)).columns["value"], np.int64)
    released = np.asarray(mechanism.outputs)[reported]
    return float(mechanism.domain.paid(truth, released).mean())


def _keys(values: bool) -> Measure:
    def measure(mechanism: Any, people: int, draws: np.random.Generator) -> float:
        keys, most = mechanism.keys, mechanism.domain.at_most
        sets = np.argsort(draws.random((people, keys)), axis=1)[:, :most]
        answers = [{int(key): 0.0 for key in each} for each in sets]
        found = mechanism.estimate(mechanism.tally(mechanism.perturb(answers, _coins(draws))))
        truth = np.bincount(sets.ravel(), minlength=keys) / people
        error = float(np.mean((found.frequency.values - truth) ** 2))
        return (error + float(np.mean(found.weight.values**2))) / 2 if values else error

    return measure


def _ranges(mechanism: Any, people: int, draws: np.random.Generator) -> float:
    size = mechanism.domain.size
    answers = draws.integers(size, size=people)
    raw = mechanism.estimate(mechanism.tally(mechanism.perturb(answers.tolist(), _coins(draws)))).values
    off = raw - np.bincount(answers, minlength=size) / people
    return dn.Workload.ranges(size).mean_square(np.outer(off, off))


def _hours(mechanism: Any, people: int, draws: np.random.Generator) -> float:
    size = mechanism.domain.size
    answers = draws.integers(size, size=people)
    found = dn.mean_direction(mechanism, mechanism.tally(mechanism.perturb(answers.tolist(), _coins(draws))))
    off = found.agreement * np.exp(2j * np.pi * found.place / size) - np.exp(2j * np.pi * answers / size).mean()
    return float(abs(off) ** 2 / 2)


def _rectangles(mechanism: Any, people: int, draws: np.random.Generator) -> float:
    plane = plane_of(mechanism.domain)
    answers = draws.integers(plane.shape, size=(people, 2))
    raw = mechanism.estimate(mechanism.tally(mechanism.perturb([tuple(each) for each in answers.tolist()], _coins(draws))))
    truth = np.bincount(np.ravel_multi_index(answers.T, plane.shape), minlength=plane.size) / people
    off = np.ravel(raw.values) - truth
    return plane.rectangles.mean_square(np.outer(off, off))


def metric_options(domain: dn.Points, per_unit: float) -> Ranking[Any]:
    """Releases with an epsilon for each unit of distance, all places equally common."""
    made = {"optimal": dn.MetricRelease.optimal(domain, per_unit), "laplace": dn.MetricRelease.laplace(domain, per_unit)}
    rows = tuple(Row(name, each, each.expected_loss(), each.layout.bits) for name, each in made.items())
    return Ranking(rows, "places", power=1, bound=dn.compare_metric_releases(domain, per_unit).bound)


def tasks() -> list[Task]:
    """All tasks with a bound."""
    places = dn.Points(np.random.default_rng(1).random((500, 2)).tolist())
    sensitive = np.r_[np.full(8, 0.25 / 8), np.full(24, 0.75 / 24)]
    hidden = options(dn.Categories(range(32)), 1.0, 5000, sensitive=range(8), open_share=0.75)
    interval = dn.Interval(-1, 1)
    mean = bounded(mean_options(interval, 1.0, 5000), interval, 1.0, 5000)
    waves = ("square wave", "hierarchy of four", "hierarchy, weighted", "points")
    pckv = ("pckv-unary, published", "pckv-direct", "pckv-unary, frequency", "key-sampling, kvue")
    even = _shares(np.full(64, 1 / 64))
    oracles = ("unary, optimized", "hashing, optimized", "hadamard", "direct")
    numbers, cube = ("Duchi", "hybrid", "piecewise", "three outputs"), ("sampled coordinates", "all signs together")
    near = ("staircase", "direct", "bipartite, min")
    one, five = dn.KeyValue(range(50), -1, 1, 1), dn.KeyValue(range(50), -1, 1, 5)
    line, hours = dn.Ordered(range(64)), dn.Ordered(range(24))
    city = dn.Points([[48.80 + i / 80, 2.25 + j / 60] for i in range(6) for j in range(6)], metric="haversine")
    square, trees = dn.Product([dn.Ordered(range(8)), dn.Ordered(range(8))]), ("quad tree, weighted", "points")
    return [
        Task("shares of 64 answers, epsilon 1", 5000, options(dn.Categories(range(64)), 1.0, 5000), oracles, even),
        Task(
            "shares of 32 answers, 8 sensitive, epsilon 1", 5000, hidden, ("direct", "unary, symmetric"), _shares(sensitive)
        ),
        Task("mean of a number, epsilon 1", 5000, mean, numbers, _mean, SINGLE),
        Task("mean of 64 numbers, epsilon 4", 2000, vector_options(dn.Features(64, -1, 1), 4.0, 2000), cube, _vectors),
        Task("mean of directions, 128 numbers, epsilon 4", 200, unit_options(dn.UnitVectors(128), 4.0, 200), UNIT, _units),
        Task("one of 500 places, epsilon 2", 5000, release_options(places, 2.0), near, _release),
        Task("50 keys with values, one a person, epsilon 1", 5000, key_value_options(one, 1.0, 5000), pckv, _keys(True)),
        Task("sets of five of 50, epsilon 2", 5000, key_value_options(five, 2.0, 5000, False), pckv, _keys(False)),
        Task("ranges of 64 numbers, epsilon 1", 5000, distribution_options(line, 1.0, 5000, "ranges"), waves, _ranges),
        Task("mean of 24 hours, epsilon 1", 5000, circle_options(hours, 1.0, 5000), ("square wave",), _hours, SINGLE),
        Task("rectangles of a map, 8 by 8, epsilon 1", 5000, map_options(square, 1.0, 5000), trees, _rectangles),
        Task("one of 36 places, epsilon 0.5 for each km", 5000, metric_options(city, 0.5), ("laplace",), _release),
    ]


def table(collections: int) -> list[str]:
    """A line for each task."""
    head = "| task | people | planned | its error | best published | its error | ratio | bound | planned, above it at most |"
    return [head, "|---|--:|---|--:|---|--:|--:|--:|--:|", *(task.row(collections) for task in tasks())]


@click.command()
@quick_option(f"{QUICK} collections")
@click.option("--others", is_flag=True, help="Measures nothing: only the rows of other commands are written anew.")
def main(quick: bool, others: bool) -> None:
    """The tables of all tasks, in a file beside this one and on their page."""
    collections = QUICK if quick else COLLECTIONS
    head = (
        f"Root mean square errors over {collections} collections, {SINGLE * collections} of a mean, and their "
        "standard errors; for places the mean distance. The ratio is of squared errors, for places of distances."
    )
    if others:
        measured = RESULT.read_text(encoding="utf-8").partition(f"\n\n{HEAD}")[0]
    else:
        measured = "\n".join([head, "", *table(collections)])
    text = "\n".join([measured, "", HEAD, "", *pages()]) + "\n"
    if not quick:
        before, start, rest = PAGE.read_text(encoding="utf-8").partition(START)
        PAGE.write_text(f"{before}{start}\n\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    deliver(text, None if quick else RESULT)


if __name__ == "__main__":
    main()
