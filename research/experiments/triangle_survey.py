"""Triangles in three rounds, with the error bar that everybody may see: errors on real graphs and one made up.

    python -m research.experiments.triangle_survey --data DIR          adds missing runs to triangle_survey.json, writes .md
    python -m research.experiments.triangle_survey --data DIR --quick  prints it for two runs
    python -m research.experiments.triangle_survey --data DIR --only wiki_vote    the runs of one graph only

Single runs are kept, so that it can be taken up again; all together take about half an hour of one core. wiki_vote,
facebook_combined and soc_slashdot0902 are of the SNAP collection, and the settings were chosen with single runs on them, on
other seeds. None was chosen on the graphs that are called held out: contacts of the people of two files of check-ins, who
were at the same place on the same day, and three that are made up. The true error follows from the graph, the order and the
answers of each run, so that a few runs show what counting covered intervals shows in thousands; the intervals of measured
errors and of their ratios, and the expected coverage, are those of normal errors.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist, fmean, median
from tempfile import TemporaryDirectory

import click

from deniable.core.coins import SeededCoins
from deniable.graphs import Graph
from research.data.folder import Data
from research.data.lists import FACEBOOK, FOURSQUARE, GOWALLA, SLASHDOT, WIKI, contacts, edges
from research.experiments.command import data_option, deliver, quick_option
from research.experiments.graph_runs import REACH, SETTINGS, one_run
from research.experiments.graph_shapes import communities, power_law, small_world
from research.experiments.runs import Runs

RESULT = Path(__file__).with_suffix(".md")
Setting = tuple[float, float]


@dataclass(frozen=True)
class Case:
    """A graph, how often it is counted at epsilon 1 and 2."""

    name: str
    graph: Callable[[Data], Graph]
    runs: tuple[int, int]
    real: bool = False

    @property
    def settings(self) -> list[tuple[Setting, int]]:
        """Epsilon and alpha, and how many runs."""
        return list(zip(SETTINGS, self.runs, strict=True))


CASES = (
    Case("wiki_vote", lambda data: edges(data, WIKI), (200, 200), real=True),
    Case("facebook_combined", lambda data: edges(data, FACEBOOK), (200, 200), real=True),
    Case("soc_slashdot0902", lambda data: edges(data, SLASHDOT), (20, 20), real=True),
    Case("contacts, Gowalla, held out", lambda data: contacts(data, GOWALLA), (20, 20), real=True),
    Case("contacts, Foursquare, held out", lambda data: contacts(data, FOURSQUARE), (20, 20), real=True),
    Case("power law 2.1, held out", lambda _: power_law(8000, 30.0, 2.1, 5), (20, 20)),
    Case("communities of 100, held out", lambda _: communities(4000, 100, 0.3, 0.002, 6), (20, 20)),
    Case("small world, 8,000, held out", lambda _: small_world(8000, 15, 0.2, 7), (20, 20)),
)


@dataclass(frozen=True)
class Single:
    """One run: how far off, the true and the stated standard error, the bits to download, and the processor's seconds."""

    off: float
    true: float
    stated: float
    bits: int
    seconds: float

    @property
    def coverage(self) -> float:
        """How often such an interval holds, if errors are normal."""
        return 2 * NormalDist().cdf(REACH * self.stated / self.true) - 1

    @classmethod
    def of(cls, graph: Graph, truth: int, setting: Setting, seed: int) -> "Single":
        """All rounds with the coins of a seed."""
        start = time.process_time()
        made = one_run(graph, *setting, SeededCoins(seed))
        seconds = time.process_time() - start
        return cls(made.found.raw - truth, made.true, made.found.standard_error, made.bits, seconds)


def key(name: str, setting: Setting, run: int) -> str:
    """What a run is called in the file."""
    return f"{name}, epsilon {setting[0]:g}, run {run:03d}"


def measure(runs: Runs, case: Case, graph: Graph, truth: int, most: int) -> None:
    """Make the runs of a graph that are missing."""

    def one(setting: Setting, run: int) -> list[float]:
        found = Single.of(graph, truth, setting, 9000 + run)
        return [round(found.off), round(found.true), round(found.stated), found.bits, round(found.seconds, 2)]

    wanted = [(setting, run) for setting, count in case.settings for run in range(min(count, most))]
    runs.make([(key(case.name, setting, run), one, (setting, run)) for setting, run in wanted])


def known(runs: Runs, name: str, setting: Setting, count: int) -> list[Single]:
    """The runs of a graph and a setting, as they were kept."""
    kept = runs.known()
    names = [key(name, setting, run) for run in range(count)]
    return [Single(*kept[each]) for each in names if each in kept]


def rms(numbers: Sequence[float]) -> float:
    """The root of the mean square."""
    return math.sqrt(fmean(number**2 for number in numbers))


def between(error: float, runs: int) -> tuple[float, float]:
    """The ends of a 95 % interval of an error that was measured in so many runs (Wilson and Hilferty 1931)."""
    z, part = NormalDist().inv_cdf(0.975), 2 / (9 * runs)
    low, high = ((1 - part + sign * z * math.sqrt(part)) ** 3 for sign in (1, -1))
    return error / math.sqrt(low), error / math.sqrt(high)


def table(runs: Runs, data: Data, most: int, only: str) -> list[str]:
    """A row for each graph and setting."""
    head = "| graph | triangles | epsilon | alpha | runs | error measured | 95 % interval | true error | error stated |"
    lines = [f"{head} covered | expected | kbit | seconds |"]
    lines.append("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for case in CASES:
        graph = case.graph(data)
        truth = graph.triangles()
        if only in case.name:
            measure(runs, case, graph, truth, most)
        for setting, count in case.settings:
            found = known(runs, case.name, setting, count)
            if found:
                lines.append(line(case.name, truth, setting, found))
                click.echo(lines[-1], err=True)
    return lines


def line(name: str, truth: int, setting: Setting, found: Sequence[Single]) -> str:
    """One row of the table."""
    error, count = rms([each.off for each in found]), len(found)
    low, high = between(error, count)
    covered = sum(abs(each.off) <= REACH * each.stated for each in found) / count
    expected = fmean(each.coverage for each in found)
    true, stated = rms([each.true for each in found]), rms([each.stated for each in found])
    errors = f"{error:,.0f} | {low:,.0f} to {high:,.0f} | {true:,.0f} | {stated:,.0f} | {covered:.1%} | {expected:.1%}"
    costs = f"{fmean(each.bits for each in found) / 1000:,.0f} | {median(each.seconds for each in found):.1f}"
    return f"| {name} | {truth:,} | {setting[0]:g} | {setting[1]:g} | {count} | {errors} | {costs} |"


def ratios(runs: Runs) -> list[str]:
    """How many times smaller the error is at epsilon 2, a row for each graph."""
    lines = ["| graph | measured | 95 % interval | true errors |", "|---|--:|--:|--:|"]
    for case in CASES:
        found = [known(runs, case.name, setting, count) for setting, count in case.settings]
        if all(found):
            measured, true = (
                rms([getattr(each, of) for each in found[0]]) / rms([getattr(each, of) for each in found[1]])
                for of in ("off", "true")
            )
            reach = math.exp(NormalDist().inv_cdf(0.975) * math.sqrt(sum(1 / (2 * len(some)) for some in found)))
            lines.append(f"| {case.name} | {measured:.2f} | {measured / reach:.2f} to {measured * reach:.2f} | {true:.2f} |")
    return lines


def page(runs: Runs, data: Data, most: int, only: str = "") -> str:
    """The whole result."""
    what = (
        "root mean square error, 95 % intervals that contain the truth, bits that each person downloads, "
        "CPU seconds of one run:"
    )
    first = [f"Triangles with an error bar that is computed from the reports: {what}", "", *table(runs, data, most, only)]
    second = ["How many times smaller the error is at epsilon 2 than at epsilon 1:", "", *ratios(runs)]
    return "\n".join([*first, "", *second, ""])


@click.command()
@data_option
@quick_option("Two runs")
@click.option("--only", default="", metavar="TEXT", help="Make new runs of graphs with this in their names only.")
def main(data: Data, quick: bool, only: str) -> None:
    """Count the triangles of all graphs."""
    if quick:
        with TemporaryDirectory() as folder:
            deliver(page(Runs(Path(folder) / "runs.json"), data, 2, only), None)
    else:
        deliver(page(Runs(RESULT.with_suffix(".json")), data, 200, only), RESULT)


if __name__ == "__main__":
    main()
