"""`deniable graph edges`, `stars`, `degrees`, `clustering`, `homophily`, `cycles`, `core`: counts in a round or two."""

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click
import numpy as np

from deniable.arrays import Ints
from deniable.cli import options
from deniable.cli.graph_files import first_two, graph_in, groups_in, links_in
from deniable.graphs.certificates import certify_count
from deniable.graphs.graph import Graph

Command = TypeVar("Command", bound=Callable[..., object])


class Found(Protocol):
    """What was estimated: a value, whether it is clear enough to be shown, and a sentence."""

    @property
    def value(self) -> float: ...
    @property
    def clear(self) -> bool: ...


def counting(command: Command) -> Command:
    """The argument and the options that all counts have."""
    for part in (
        options.json_flag,
        options.seed,
        click.option("--epsilon", type=float, required=True, metavar="E", help="The privacy budget of one edge."),
        click.argument("edges", type=click.Path(path_type=Path), metavar="EDGES"),
    ):
        command = part(command)
    return command


def interval_of(found: Any) -> tuple[float, float]:
    """The ends of the 95 % interval."""
    return found.interval() if hasattr(found, "interval") else (found.low, found.high)


def shown(
    count: str,
    graph: Graph,
    epsilon: float,
    found: Mapping[str, Found],
    exact: Mapping[str, float],
    as_json: bool,
    most: int | None = None,
) -> None:
    """Print what was found, beside what the file has, and what it promises; `most` is how many links a person can have."""
    certificate = certify_count(count, epsilon)
    if as_json:
        rows = []
        for name, each in found.items():
            low, high = interval_of(each)
            row = {"name": name, "estimate": each.value, "low": low, "high": high, "clear": each.clear, "exact": exact[name]}
            rows.append(row)
        about = {"vertices": graph.vertices, "edges": graph.edges, "epsilon": epsilon}
        click.echo(json.dumps({**about, "counts": rows, "certificate": certificate.record()}))
        return
    click.echo(f"graph        {graph.vertices:,} vertices, {graph.edges:,} edges; epsilon {epsilon:g} for one edge")
    for name, each in found.items():
        has = exact[name]
        click.echo(f"{name:<12} {each}; the file has {f'{has:,}' if isinstance(has, int) else f'{has:.3f}'}")
    click.echo(f"certificate  {certificate}")
    click.echo(f"promise      {certificate.statement(graph.vertices if most is None else most + 1)}")


def degrees_of(graph: Graph) -> Any:
    """How many neighbours everybody has."""
    size = graph.vertices
    return np.bincount(graph.owners, minlength=size) + np.bincount(graph.lower, minlength=size)


@click.command(short_help="Estimate the number of edges.")
@counting
def edges(edges: Path, epsilon: float, seed: int | None, as_json: bool) -> None:
    """Estimate the number of edges of the graph in EDGES, from one noisy number per person.

    EDGES is an edge list (CSV or Parquet, the two ends in the first two columns), a sparse matrix (.npz) or a GraphML file.

    \b
    deniable graph edges edges.csv --epsilon 1
    """
    from deniable.graphs.edge_count import estimate_edges

    graph, _ = graph_in(edges)
    found = estimate_edges(graph, epsilon, options.coins_of(seed))
    shown("edges", graph, epsilon, {"edges": found}, {"edges": graph.edges}, as_json)


@click.command(short_help="Estimate the number of stars: people with some of their neighbours.")
@counting
@click.option("--ends", type=click.IntRange(2, 6), default=2, show_default=True, help="How many neighbours a star has.")
def stars(edges: Path, epsilon: float, seed: int | None, as_json: bool, ends: int) -> None:
    """Estimate how many stars the graph in EDGES has: a person with a given number of their neighbours. Each person
    reports their number of neighbours with noise, for half of epsilon, since an edge is in two numbers. EDGES is
    as in deniable graph edges.

    \b
    deniable graph stars edges.csv --ends 3 --epsilon 1
    """
    from deniable.graphs.degree_counts import estimate_stars

    graph, _ = graph_in(edges)
    found = estimate_stars(graph, ends, epsilon, options.coins_of(seed))
    exact = sum(math.comb(degree, ends) for degree in degrees_of(graph).tolist())
    shown("stars", graph, epsilon, {f"{ends}-stars": found}, {f"{ends}-stars": exact}, as_json)


@click.command(short_help="Estimate how many people have how many neighbours.")
@counting
@click.option(
    "--at-least", "numbers", type=click.IntRange(min=1), multiple=True, default=(1, 2, 5, 10, 20, 50), show_default=True,
    metavar="D", help="Count the people with at least D neighbours. May be repeated.",
)  # fmt: skip
def degrees(edges: Path, epsilon: float, seed: int | None, as_json: bool, numbers: tuple[int, ...]) -> None:
    """Estimate the degree distribution of the graph in EDGES: how many people have at least a given number of neighbours.

    Each person reports their number of neighbours with noise, for half of epsilon, since an edge is in two numbers. EDGES is
    as in deniable graph edges.

    \b
    deniable graph degrees edges.csv --epsilon 1
    deniable graph degrees edges.csv --at-least 10 --at-least 100 --epsilon 1
    """
    from deniable.graphs.degree_counts import estimate_degrees

    graph, _ = graph_in(edges)
    found = estimate_degrees(graph, epsilon, numbers, options.coins_of(seed))
    own = degrees_of(graph)
    exact = {f"at least {each}": int((own >= each).sum()) for each in found}
    shown("degrees", graph, epsilon, {f"at least {each}": some for each, some in found.items()}, exact, as_json)


@click.command(short_help="Estimate the clustering coefficient.")
@counting
@options.alpha
@options.at_scale
def clustering(
    edges: Path, epsilon: float, seed: int | None, as_json: bool, alpha: float, engine: str | None, workers: int | None
) -> None:
    """Estimate the clustering coefficient of the graph in EDGES: the share of pairs of neighbours that are joined.

    A quarter of epsilon is for 2-stars, the rest for triangles in three rounds. EDGES is as in deniable graph edges.

    \b
    deniable graph clustering edges.csv --epsilon 2
    """
    from deniable.aggregate.graphs import count_clustering
    from deniable.cli import panel

    graph, _ = graph_in(edges)
    coins = options.coins_of(seed)
    with panel.progress("counting") as tell:
        found = count_clustering(graph, epsilon, engine, alpha=alpha, coins=coins, workers=workers, progress=tell)
        own = degrees_of(graph)
        exact = 3 * graph.triangles() / max(int((own * (own - 1) // 2).sum()), 1)
    shown("clustering", graph, epsilon, {"clustering": found}, {"clustering": exact}, as_json)


@click.command(short_help="Estimate the share of edges within public groups.")
@counting
@options.file_option("--groups", required=True, help="The group of each person: a table with names, then groups.")
def homophily(edges: Path, epsilon: float, seed: int | None, as_json: bool, groups: Path) -> None:
    """Estimate the share of edges in EDGES that join people of the same group. Groups are public, edges are not.

    Each person reports how many of the edges they answer for are within their group, and how many are not, with noise. EDGES
    is as in deniable graph edges.

    \b
    deniable graph homophily edges.csv --groups schools.csv --epsilon 1
    """
    from deniable.graphs.degree_counts import estimate_homophily

    graph, names = graph_in(edges)
    group = groups_in(groups, names)
    found = estimate_homophily(graph, group, epsilon, options.coins_of(seed))
    exact = float((group[graph.owners] == group[graph.lower]).mean()) if graph.edges else 0.0
    shown("homophily", graph, epsilon, {"homophily": found}, {"homophily": exact}, as_json)


@click.command(short_help="Estimate the number of cycles of four.")
@counting
@click.option("--bipartite", is_flag=True, help="The first column has people, the second items they link to.")
def cycles(edges: Path, epsilon: float, seed: int | None, as_json: bool, bipartite: bool) -> None:
    """Estimate how many cycles of four people are in EDGES, or with --bipartite, how often two people share two items.

    Each person answers every pair once, by plain randomized response, so there may be at most 8,192 people and as many
    items. The interval is computed from the answers alone. EDGES is as in deniable graph edges.

    \b
    deniable graph cycles edges.csv --epsilon 2
    deniable graph cycles ratings.csv --bipartite --epsilon 2
    """
    from deniable.cli import panel
    from deniable.graphs.cycles import estimate_butterflies, estimate_cycles, exact_butterflies, exact_cycles

    coins, most = options.coins_of(seed), None
    if bipartite:
        pairs, people, items = _links(edges)
        most, graph = items, Graph.of(pairs + np.array([0, people]), people + items)
    else:
        graph, _ = graph_in(edges)
    with panel.progress("counting") as advance_to:
        if bipartite:
            found = estimate_butterflies(pairs, people, items, epsilon, coins, advance_to)
            exact = exact_butterflies(pairs, people, items)
        else:
            found = estimate_cycles(graph, epsilon, coins, advance_to)
            exact = exact_cycles(graph)
    shown("cycles", graph, epsilon, {"cycles": found}, {"cycles": exact}, as_json, most)


def _links(path: Path) -> tuple[Ints, int, int]:
    """Pairs of people and items, numbered, and how many there are of each."""
    person, item = first_two(path, "a person and an item")
    links = links_in(path, person, item, None)
    pairs = np.unique(np.stack([links.users, links.items], axis=1), axis=0)
    return pairs, len(links.people), len(links.labels)


@click.command(short_help="Estimate how many people are in the k-core.")
@counting
@click.option(
    "-k", "k", type=click.IntRange(min=1), required=True, metavar="K", help="Minimum number of neighbours within the core."
)
def core(edges: Path, epsilon: float, seed: int | None, as_json: bool, k: int) -> None:
    """Estimate how many people are in the k-core of the graph in EDGES: the largest group in which everybody knows at
    least K of the others. Each person reports a noisy number of neighbours; then, round by round, people with too few
    neighbours among those remaining drop out. The interval contains every number that is consistent with what was
    published. EDGES is as in deniable graph
    edges.

    \b
    deniable graph core edges.csv -k 50 --epsilon 4
    """
    from deniable.cli import panel
    from deniable.graphs.cores import estimate_core, exact_core

    graph, _ = graph_in(edges)
    with panel.progress("peeling") as advance_to:
        found = estimate_core(graph, k, epsilon, options.coins_of(seed), advance_to)
    shown("core", graph, epsilon, {f"{k}-core": found}, {f"{k}-core": exact_core(graph, k)}, as_json)
