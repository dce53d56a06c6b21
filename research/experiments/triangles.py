"""Triangles of real graphs by compressed response, beside its two rivals at no fewer bits.

    python -m research.experiments.triangles --data DIR          writes triangles.md, half an hour
    python -m research.experiments.triangles --data DIR --quick  prints it for a few runs

The graphs are wiki_vote, facebook_combined and soc_slashdot0902 of the SNAP collection. Our budget is split by
`foreseen_split`, from noisy degrees that it pays for. The rivals get the split that is best for each graph as it really
is, and more bits than ours. Standard errors are known exactly given the scales of the noise; for the rivals it is that
of their second round alone, which is less than all of it.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import click
import numpy as np

from deniable.core.coins import SeededCoins
from deniable.graphs import Graph, Split, count_triangles
from deniable.mechanisms.sparse.noisy_count import NoisyCount
from research.data.folder import Data
from research.data.lists import edges
from research.experiments.command import data_option, deliver, quick_option
from research.rivals.asymmetric import Asymmetric, cuts, second_variance
from research.rivals.grouped import Grouped, grouped_round

RESULT = Path(__file__).with_suffix(".md")
GRAPHS = {"wiki_vote": 40, "facebook_combined": 40, "soc_slashdot0902": 4}  # and how often each is counted
EPSILON = 1.0
REACH = 1.96  # standard errors: 95 % of a normal law
DEGREES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3)  # the shares that a rival may choose
RESPONSES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8)
WIDENINGS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class Outcome:
    """The standard error as it is known, the bits that everybody downloads, and what was measured of ours."""

    name: str
    error: float
    bits: float
    measured: str = ""
    covered: str = ""
    seconds: str = ""


def ours(graph: Graph, truth: int, shared: int, alpha: float, runs: int) -> Outcome:
    """Compressed response with the foreseen split; the time is that of one whole run."""
    start = time.process_time()
    found = [count_triangles(graph, EPSILON, alpha, coins=SeededCoins(1000 + run)) for run in range(runs)]
    seconds = (time.process_time() - start) / runs
    errors = np.array([math.sqrt(each.second_variance + each.response_variance(shared)) for each in found])
    off = np.array([abs(each.estimate - truth) for each in found])
    covered = f"{int((off <= REACH * errors).sum())} of {runs}"
    name = f"compressed, alpha {alpha:g}, split {shown(found[0].split)}"
    bits = float(np.mean([each.bits for each in found]))
    return Outcome(name, rms(errors), bits, f"{rms(off):,.0f}", covered, f"{seconds:.2f}")


def rms(numbers: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(numbers**2)))


def shown(split: Split) -> str:
    """The shares of degrees, response and widening."""
    return f"{split.degrees:g}/{split.response:g}/{split.widening:g}"


def best(error: Callable[[int, int], float], degrees: float, response: float) -> tuple[int, int]:
    """The shares of degrees and response, by their places, than which no neighbour is better."""
    at = (DEGREES.index(degrees), RESPONSES.index(response))
    while True:
        near = [at, *((at[0] + by, at[1]) for by in (-1, 1)), *((at[0], at[1] + by) for by in (-1, 1))]
        inside = [place for place in near if 0 <= place[0] < len(DEGREES) and 0 <= place[1] < len(RESPONSES)]
        least = min(inside, key=lambda place: error(*place))
        if least == at:
            return at
        at = least


def asymmetric(graph: Graph, bits: float) -> Outcome:
    """The best split, with the mu for which the download is just above ours; its second round is known without a run."""

    @cache
    def tried(degrees: int, response: int) -> tuple[float, Split, Asymmetric]:
        split = Split(EPSILON, DEGREES[degrees], RESPONSES[response])
        both = 1e-6
        while Asymmetric(split.for_response, math.sqrt(both)).download_bits(graph.vertices) < bits and both < 1:
            both *= 1.02
        law = Asymmetric(split.for_response, math.sqrt(min(both, 1.0)))
        noisy = graph.degrees + NoisyCount(split.for_degrees).noise(graph.vertices, SeededCoins(7))
        return second_variance(cuts(noisy, law.both), split, law), split, law

    variance, split, law = tried(*best(lambda *place: tried(*place)[0], 0.05, 0.5))
    name = f"ARROne, split {split.degrees:g}/{split.response:g}, mu^2 {law.both:.2g}"
    return Outcome(name, math.sqrt(variance), law.download_bits(graph.vertices))


def grouped(graph: Graph, bits: float) -> Outcome:
    """The best split, with the largest saving for which the download is still above ours."""

    @cache
    def tried(degrees: int, response: int) -> tuple[float, Split, float, float]:
        split = Split(EPSILON, DEGREES[degrees], RESPONSES[response])
        saving = 8.0
        while _grouped_bits(graph, split, saving * 1.05) > bits:
            saving *= 1.05
        seen = grouped_round(graph, split, saving, SeededCoins(8))
        splits = [replace(split, widening=widening) for widening in WIDENINGS]
        variance, least = min(((float((seen.scales(each) ** 2).sum()), each) for each in splits), key=lambda pair: pair[0])
        return variance, least, saving, seen.bits

    variance, split, saving, sent = tried(*best(lambda *place: tried(*place)[0], 0.005, 0.3))
    return Outcome(f"GroupRR, split {shown(split)}, saving {saving:.3g}", math.sqrt(variance), sent)


def _grouped_bits(graph: Graph, split: Split, saving: float) -> float:
    size = math.ceil(saving ** (1 / 3))
    return Grouped(split.for_response, size, -(-graph.vertices // size)).bits(graph.vertices, min(1.0, size * size / saving))


def table(data: Data, most: int) -> list[str]:
    """A row for each graph and method."""
    lines = ["| graph | method | error | kbit | measured | within 95 % | seconds |", "|---|---|--:|--:|--:|--:|--:|"]
    for name, runs in GRAPHS.items():
        graph = edges(data, f"graphs/{name}.csv.gz")
        truth = graph.triangles()
        shared = graph.renumbered(np.random.default_rng(9).permutation(graph.vertices)).shared_pairs()
        click.echo(f"{name}: {graph.vertices:,} vertices, {graph.edges:,} edges, {truth:,} triangles", err=True)
        first, second = (ours(graph, truth, shared, alpha, min(runs, most)) for alpha in (1.5, 2.0))
        for each in (first, second, asymmetric(graph, first.bits), grouped(graph, first.bits)):
            cells = f"{each.error:,.0f} | {each.bits / 1000:.1f} | {each.measured} | {each.covered} | {each.seconds}"
            lines.append(f"| {name}, {truth:,} triangles | {each.name} | {cells} |")
            click.echo(lines[-1], err=True)
    return lines


def page(data: Data, most: int) -> str:
    """The whole result."""
    what = "standard error, bits to download, error measured, runs within 1.96 standard errors, CPU seconds:"
    return "\n".join([f"Triangles at epsilon {EPSILON:g} for one edge: {what}", "", *table(data, most), ""])


@click.command()
@data_option
@quick_option("A few runs")
def main(data: Data, quick: bool) -> None:
    """Count the triangles of three graphs by all methods."""
    deliver(page(data, 2 if quick else max(GRAPHS.values())), None if quick else RESULT)


if __name__ == "__main__":
    main()
