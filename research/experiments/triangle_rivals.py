"""Triangles in three rounds beside ARROne, GroupRR and plain response, each tuned, and given what ours has learnt since.

    python -m research.experiments.triangle_rivals --data DIR              makes what is missing, writes .md
    python -m research.experiments.triangle_rivals --data DIR --only wiki  for graphs with such names only

Ours are the runs of triangle_survey.json. The rivals get the split that is best for the graph as it really is, which nobody
would know, and at least as many bits as ours downloads. Each is shown as it was published, with people in random order, and
improved: with people in the order of their noisy numbers of neighbours, as in ours, and GroupRR also with the noise of ours.
Their error is that of their last round alone, a lower bound. Plain response is ours with every pair answered in plain, with
the split that ours plans for it, on graphs of up to 8,192 people. All that was tried is kept in triangle_rivals.json, so
that it can be taken up again.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from statistics import fmean

import click
import numpy as np

from deniable.arrays import Ints
from deniable.core.coins import SeededCoins
from deniable.graphs import Graph, Split, estimate_triangles
from deniable.graphs.ownership import Circle
from deniable.graphs.plan import TAILS
from deniable.graphs.triangle_survey import ranks
from deniable.mechanisms.sparse.noisy_count import NoisyCount
from research.data.folder import Data
from research.experiments.command import data_option, deliver
from research.experiments.graph_runs import SETTINGS
from research.experiments.runs import Runs
from research.experiments.triangle_survey import CASES, between, known, rms
from research.experiments.triangle_survey import RESULT as SURVEY
from research.experiments.triangles import DEGREES, EPSILON, RESPONSES, WIDENINGS, _grouped_bits, best
from research.rivals.asymmetric import Asymmetric, cuts, second_variance
from research.rivals.grouped import grouped_round

OURS = SURVEY.with_suffix(".json")
RESULT = Path(__file__).with_suffix(".md")
GRAPHS = ("wiki_vote", "facebook_combined", "soc_slashdot0902")
PLAIN_RUNS, PLAIN_MOST = 3, 1 << 13  # each pair is answered, which takes long; its standard error is stated


@dataclass(frozen=True)
class Outcome:
    """A method, its error, what it downloads, and whether the error is measured or a lower bound."""

    name: str
    error: float
    bits: float
    how: str


def degree_order(graph: Graph, epsilon: float) -> Ints:
    """The order of the noisy numbers of neighbours that people answer for, as in ours, the largest first.

    A rival gets it without paying, beside the noisy numbers that it pays for.
    """
    size = graph.vertices
    owned = np.bincount(Circle(size).owned(graph)[0], minlength=size)
    return ranks(owned + NoisyCount(epsilon).noise(size, SeededCoins(7)))


def asymmetric(graph: Graph, bits: float, ordered: bool) -> Outcome:
    """ARROne: the best split, with the mu for which the download is just above ours."""

    @cache
    def tried(degrees: int, response: int) -> tuple[float, Split, Asymmetric]:
        split = Split(EPSILON, DEGREES[degrees], RESPONSES[response])
        both = 1e-6
        while Asymmetric(split.for_response, math.sqrt(both)).download_bits(graph.vertices) < bits and both < 1:
            both *= 1.02
        law = Asymmetric(split.for_response, math.sqrt(min(both, 1.0)))
        placed = graph.renumbered(degree_order(graph, split.for_degrees)) if ordered else graph
        noisy = placed.degrees + NoisyCount(split.for_degrees).noise(graph.vertices, SeededCoins(7))
        return second_variance(cuts(noisy, law.both), split, law), split, law

    variance, split, law = tried(*best(lambda *place: tried(*place)[0], 0.05, 0.5))
    name = f"ARROne, {order_name(ordered)}, split {split.degrees:g}/{split.response:g}, mu^2 {law.both:.2g}"
    return Outcome(name, math.sqrt(variance), law.download_bits(graph.vertices), "last round alone")


def grouped(kept: Runs, name: str, graph: Graph, bits: float, ordered: bool) -> Outcome:
    """GroupRR: the best split, with the largest saving for which the download is still above ours."""

    def made(split: Split) -> list[float]:
        saving = 8.0
        while _grouped_bits(graph, split, saving * 1.05) > bits:
            saving *= 1.05
        order = degree_order(graph, split.for_degrees) if ordered else None
        seen = grouped_round(graph, split, saving, SeededCoins(8), order)
        if ordered:
            variance = seen.least_variance(split.for_second_round, TAILS)
        else:
            splits = [replace(split, widening=widening) for widening in WIDENINGS]
            variance = min(float((seen.scales(each) ** 2).sum()) for each in splits)
        return [math.sqrt(variance), saving, seen.bits]

    def tried(degrees: int, response: int) -> list[float]:
        split = Split(EPSILON, DEGREES[degrees], RESPONSES[response])
        key = f"{name}, GroupRR, {order_name(ordered)}, {split.degrees:g}/{split.response:g}, {bits:.0f} bits"
        kept.make([(key, made, (split,))])
        click.echo(f"{key}: {kept.known()[key]}", err=True)
        return list(kept.known()[key])

    at = best(lambda *place: tried(*place)[0], 0.005, 0.3)
    error, saving, sent = tried(*at)
    split = f"{DEGREES[at[0]]:g}/{RESPONSES[at[1]]:g}"
    return Outcome(f"GroupRR, {order_name(ordered)}, split {split}, saving {saving:.3g}", error, sent, "last round alone")


def plain(kept: Runs, name: str, graph: Graph) -> Outcome:
    """Ours with every pair answered in plain: the stated error."""

    def made(run: int) -> list[float]:
        found = estimate_triangles(graph, EPSILON, hubs=graph.vertices, coins=SeededCoins(9500 + run))
        return [found.standard_error, found.bits]

    keys = [f"{name}, plain response, run {run}" for run in range(PLAIN_RUNS)]
    kept.make([(key, made, (run,)) for run, key in enumerate(keys)])
    found = [kept.known()[key] for key in keys]
    return Outcome("plain response, three rounds", rms([each[0] for each in found]), found[0][1], "stated")


def order_name(ordered: bool) -> str:
    """How the people are ordered."""
    return "improved" if ordered else "as published"


def rows(kept: Runs, name: str, graph: Graph, runs: int) -> Iterator[tuple[Outcome, str]]:
    """All methods on one graph, ours first, each with how many times ours its error is."""
    found = known(Runs(OURS), name, SETTINGS[0], runs)
    error = rms([each.off for each in found])
    low, high = between(error, len(found))
    mean = fmean(each.bits for each in found)
    yield Outcome("three rounds, alpha 1.5", error, mean, f"measured, {len(found)} runs"), ""
    bits = 1000.0 * math.ceil(mean / 1000)
    rivals = [
        method(ordered)
        for ordered in (False, True)
        for method in (partial(asymmetric, graph, bits), partial(grouped, kept, name, graph, bits))
    ]
    if graph.vertices <= PLAIN_MOST:
        rivals.append(plain(kept, name, graph))
    for each in rivals:
        yield each, f"{each.error / error:.2f} ({each.error / high:.2f} to {each.error / low:.2f})"


def page(kept: Runs, data: Data, only: str) -> str:
    """The whole result."""
    what = "times ours with the 95 % interval from the runs of ours:"
    lines = [f"Triangles at epsilon {EPSILON:g} for one edge, compared with rivals that send as many bits; {what}", ""]
    lines += ["| graph | method | error | error is | times ours | kbit |", "|---|---|--:|---|--:|--:|"]
    for case in CASES:
        if case.name in GRAPHS and only in case.name:
            graph = case.graph(data)
            for each, lead in rows(kept, case.name, graph, case.runs[0]):
                cells = f"{each.name} | {each.error:,.0f} | {each.how} | {lead} | {each.bits / 1000:,.0f} |"
                lines.append(f"| {case.name}, {graph.triangles():,} triangles | {cells}")
                click.echo(lines[-1], err=True)
    return "\n".join([*lines, ""])


@click.command()
@data_option
@click.option("--only", default="", metavar="TEXT", help="Graphs with this in their names only; prints the result.")
def main(data: Data, only: str) -> None:
    """Count the triangles of three graphs by all methods."""
    deliver(page(Runs(RESULT.with_suffix(".json")), data, only), None if only else RESULT)


if __name__ == "__main__":
    main()
