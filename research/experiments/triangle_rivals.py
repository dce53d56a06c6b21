"""Triangles in three rounds beside ARROne, GroupRR and plain response, each tuned, and given what ours has learnt since.

    python -m research.experiments.triangle_rivals --data DIR          writes triangle_rivals.md, about an hour
    python -m research.experiments.triangle_rivals --data DIR --quick  prints it for two runs of ours

The rivals get the split that is best for the graph as it really is, which nobody would know, and at least as many bits as
ours downloads. Each is shown as it was published, with people in random order, and improved: with people in the order of
their noisy numbers of neighbours, as in ours, and GroupRR also with the noise of ours. Their error is that of their last
round alone, a lower bound. Plain response is ours with every pair answered in plain, with the split that ours plans for it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import click
import numpy as np

from deniable.arrays import Ints
from deniable.core.coins import SeededCoins
from deniable.graphs import Graph, Split, estimate_triangles
from deniable.graphs.ownership import Circle
from deniable.graphs.plan import TAILS
from deniable.graphs.triangle_survey import TriangleEstimate, ranks
from deniable.mechanisms.sparse.noisy_count import NoisyCount
from research.data.folder import Data
from research.data.lists import edges
from research.experiments.command import data_option, deliver, quick_option
from research.experiments.triangles import DEGREES, EPSILON, RESPONSES, WIDENINGS, _grouped_bits, best
from research.rivals.asymmetric import Asymmetric, cuts, second_variance
from research.rivals.grouped import grouped_round

RESULT = Path(__file__).with_suffix(".md")
GRAPHS = ("wiki_vote", "facebook_combined")
RUNS = 20
PLAIN_RUNS = 3  # each pair is answered, which takes long; its standard error is stated


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


def measured(name: str, found: Sequence[TriangleEstimate], truth: int) -> Outcome:
    """The root mean square error over these runs."""
    error = math.sqrt(np.mean([(each.raw - truth) ** 2 for each in found]))
    return Outcome(name, error, float(np.mean([each.bits for each in found])), f"measured, {len(found)} runs")


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


def grouped(graph: Graph, bits: float, ordered: bool) -> Outcome:
    """GroupRR: the best split, with the largest saving for which the download is still above ours."""

    @cache
    def tried(degrees: int, response: int) -> tuple[float, Split, float, float]:
        split = Split(EPSILON, DEGREES[degrees], RESPONSES[response])
        saving = 8.0
        while _grouped_bits(graph, split, saving * 1.05) > bits:
            saving *= 1.05
        order = degree_order(graph, split.for_degrees) if ordered else None
        seen = grouped_round(graph, split, saving, SeededCoins(8), order)
        if ordered:
            return seen.least_variance(split.for_second_round, TAILS), split, saving, seen.bits
        splits = [replace(split, widening=widening) for widening in WIDENINGS]
        variance, least = min(((float((seen.scales(each) ** 2).sum()), each) for each in splits), key=lambda pair: pair[0])
        return variance, least, saving, seen.bits

    variance, split, saving, sent = tried(*best(lambda *place: tried(*place)[0], 0.005, 0.3))
    name = f"GroupRR, {order_name(ordered)}, split {split.degrees:g}/{split.response:g}, saving {saving:.3g}"
    return Outcome(name, math.sqrt(variance), sent, "last round alone")


def order_name(ordered: bool) -> str:
    """How the people are ordered."""
    return "improved" if ordered else "as published"


def table(data: Data, most: int) -> list[str]:
    """A row for each graph and method."""
    lines = ["| graph | method | error | error is | kbit |", "|---|---|--:|---|--:|"]
    for name in GRAPHS:
        graph = edges(data, f"graphs/{name}.csv.gz")
        truth = graph.triangles()
        found = [estimate_triangles(graph, EPSILON, coins=SeededCoins(9000 + run)) for run in range(min(RUNS, most))]
        first = measured("three rounds, alpha 1.5", found, truth)
        rows = [first]
        for ordered in (False, True):
            rows += [asymmetric(graph, first.bits, ordered), grouped(graph, first.bits, ordered)]
        plain = [
            estimate_triangles(graph, EPSILON, hubs=graph.vertices, coins=SeededCoins(9500 + run))
            for run in range(min(PLAIN_RUNS, most))
        ]
        stated = math.sqrt(np.mean([each.standard_error**2 for each in plain]))
        rows.append(Outcome("plain response, three rounds", stated, float(plain[0].bits), "stated"))
        for each in rows:
            cells = f"{each.name} | {each.error:,.0f} | {each.how} | {each.bits / 1000:,.0f} |"
            lines.append(f"| {name}, {truth:,} triangles | {cells}")
            click.echo(lines[-1], err=True)
    return lines


def page(data: Data, most: int) -> str:
    """The whole result."""
    what = f"Triangles at epsilon {EPSILON:g} for one edge, beside rivals with as many bits:"
    return "\n".join([what, "", *table(data, most), ""])


@click.command()
@data_option
@quick_option("A few runs")
def main(data: Data, quick: bool) -> None:
    """Count the triangles of two graphs by all methods."""
    deliver(page(data, 2 if quick else RUNS), None if quick else RESULT)


if __name__ == "__main__":
    main()
