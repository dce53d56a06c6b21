"""`deniable graph bipartite`: from a table of users, items and weights to degrees and weights of the items."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from deniable.cli import options
from deniable.cli.graph_files import links_in
from deniable.cli.targets import draw
from deniable.core import confidence_each
from deniable.domains import KeyValue, Pairs
from deniable.errors import EmptyBatch, InvalidParameter
from deniable.files.links import Links
from deniable.files.tables import column_names

if TYPE_CHECKING:
    from rich.table import Table

    from deniable.graphs import BipartiteGraph


@click.command(short_help="Estimate the degrees and weights of items that people link to.")
@click.argument("table", type=click.Path(path_type=Path), metavar="TABLE")
@options.epsilon
@click.option("--user", default="user", show_default=True, metavar="NAME", help="The column of people.")
@click.option("--item", default="item", show_default=True, metavar="NAME", help="The column of items.")
@click.option("--weight", metavar="NAME", help="The column of weights. Default: 'weight' if it exists, else none.")
@options.file_option("--items", "items_file", help="The items to ask about, one per line.")
@click.option("--low", type=float, metavar="X", help="The smallest possible weight.")
@click.option("--high", type=float, metavar="X", help="The largest possible weight.")
@click.option(
    "--at-most",
    type=int,
    metavar="L",
    help="How many links of a person count. If a person has more, L of them are drawn at random.",
)
@click.option(
    "--top", type=click.IntRange(min=1), default=20, show_default=True, metavar="K", help="How many items to show."
)
@options.confidence
@options.seed
@options.picture
@options.json_flag
def bipartite(
    table: Path,
    epsilon: float,
    user: str,
    item: str,
    weight: str | None,
    items_file: Path | None,
    low: float | None,
    high: float | None,
    at_most: int | None,
    top: int,
    confidence: float,
    seed: int | None,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Randomize the links in TABLE, one report for each user, and estimate how many people link to each item.

    TABLE is a CSV file with a line of column names (it may end in .gz) or a Parquet file (.parquet). Each row is one link: a
    user, an item and, if links have weights, a weight. All links of a user are one answer, and epsilon covers them together:
    no report is more than e^epsilon times as likely under one person's links as under any other set of links.

    For the items with the most links, the command prints how many people link to each, the sum of the weights and their
    mean, with intervals. It also prints the mean number of links of an item and of a person. A mean weight is shown only
    if the number of links is at least two standard errors above zero.

    The items, the range of weights and the number of links that count must be public. Give them with --items, --low, --high
    and --at-most. Whatever you leave out is taken from TABLE, which the output mentions.

    \b
    deniable graph bipartite ratings.csv --epsilon 2
    deniable graph bipartite ratings.csv --epsilon 2 --items films.txt --low 0.5 --high 5 --at-most 50
    deniable graph bipartite visits.parquet --item area --epsilon 1 --top 10 --picture areas.png
    """
    confidence_each(confidence, 1)
    column = weight if weight is not None else ("weight" if "weight" in column_names(table) else None)
    links = links_in(table, user, item, column)
    coins = options.coins_of(seed)
    question = _question(links, items_file, low, high, at_most)
    pairs, left_out = _pairs(links, question.domain)
    over = question.domain.over(pairs)

    from deniable.cli import panel  # loads rich, which --help does not need
    from deniable.graphs import BipartiteGraph

    with panel.waiting("randomizing"):
        found = BipartiteGraph.collect(question.domain, pairs.shuffled(coins), epsilon, coins, weighted=column is not None)
    result = GraphResult(found, top, confidence, question, left_out, over, column is not None, seed is not None)
    if picture is not None:
        draw(found.plot(top, confidence), picture)
    if as_json:
        click.echo(json.dumps(result.record()))
        return
    console = panel.console()
    console.print(result.table())
    for line in result.notes():
        console.print(line, markup=False)
    if picture is not None:
        console.print(f"Wrote the picture to {picture}; each interval holds on its own.", markup=False, soft_wrap=True)


@dataclass(frozen=True)
class GraphInput:
    """What is asked, and which parts of it were taken from the table."""

    domain: KeyValue
    from_table: list[str]


def _question(
    links: Links, items_file: Path | None, low: float | None, high: float | None, at_most: int | None
) -> GraphInput:
    taken: list[str] = []
    if items_file is None:
        items = list(links.labels)
        taken.append("the items")
    else:
        items = options.lines(items_file)
    if links.weights is None:
        if low is not None or high is not None:
            raise InvalidParameter("This table has no weights, so there is no range of weights. Leave --low and --high out.")
        first, last = 0.0, 1.0
    else:
        first = float(links.weights.min()) if low is None else low
        last = float(links.weights.max()) if high is None else high
        taken += ["the range of weights"] if low is None or high is None else []
    most = at_most
    if most is None:
        sizes = np.bincount(links.users[np.isin(links.labels, items)[links.items]], minlength=1)
        most = min(max(int(sizes.max()), 1), len(items))
        taken.append("how many links count")
    return GraphInput(KeyValue(items, first, last, most, cut=True), taken)


def _pairs(links: Links, domain: KeyValue) -> tuple[Pairs, int]:
    """Everybody's links to the items that are asked about, and how many others there were."""
    places = {label: place for place, label in enumerate(domain.labels)}
    keys = np.array([places.get(label, -1) for label in links.labels], np.int64)[links.items]
    listed = keys >= 0
    if not listed.any():
        raise EmptyBatch("No link in this table leads to an item that is asked about. Check --items.")
    weights = np.ones(len(keys)) if links.weights is None else links.weights
    person = links.users[listed]
    order = np.argsort(person, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(person, minlength=len(links.people)))])
    return Pairs(starts, keys[listed][order], weights[listed][order]), int((~listed).sum())


@dataclass(frozen=True)
class GraphResult:
    """What is printed about a graph."""

    graph: "BipartiteGraph"
    top: int
    confidence: float
    question: GraphInput
    left_out: int
    over: int
    weighted: bool
    seeded: bool

    def rows(self) -> list[dict[str, object]]:
        """The items with most links, as plain data; an end that does not exist is null."""
        rows = []
        for item in self.graph.top(self.top, self.confidence):
            row: dict[str, object] = {"item": item.label}
            parts = {"degree": item.degree} | ({"weight": item.weight, "mean": item.mean} if self.weighted else {})
            for name, part in parts.items():
                values = (None, None, None) if part is None else part
                finite = (each if each is not None and np.isfinite(each) else None for each in values)
                row |= dict(zip((name, f"{name}_low", f"{name}_high"), finite, strict=True))
            rows.append(row)
        return rows

    def record(self) -> dict[str, object]:
        """All of it as plain data."""
        graph, domain = self.graph, self.question.domain
        averages = {"item_degree": graph.item_degree, "person_degree": graph.person_degree}
        return {
            "people": graph.people,
            "items": graph.items,
            "epsilon": graph.mechanism.epsilon,
            "mechanism": graph.mechanism.wire,
            "report_bits": graph.mechanism.layout.bits,
            "at_most": domain.at_most,
            "people_over": self.over,
            "links_left_out": self.left_out,
            "from_table": self.question.from_table,
            "confidence": self.confidence,
            **{name: {"value": each.value, "error": each.error} for name, each in averages.items()},
            "top": self.rows(),
        }

    def table(self) -> "Table":
        """The items with most links."""
        from rich.text import Text

        from deniable.cli import panel

        table = panel.table(["item"], ["people", *(("total weight", "mean", "interval") if self.weighted else ())])
        for item in self.graph.top(self.top, self.confidence):
            both = [item.degree] if item.weight is None else [item.degree, item.weight]
            cells = [f"{each.value:,.0f} ± {each.high - each.value:,.0f}" for each in both]
            if self.weighted:
                mean = item.mean
                cells += ["noise", ""] if mean is None else [f"{mean.value:.3g}", f"{mean.low:.3g} to {mean.high:.3g}"]
            table.add_row(Text(str(item.label)), *cells)
        return table

    def notes(self) -> list[str]:
        """What the table means."""
        graph, domain = self.graph, self.question.domain
        item, person = graph.item_degree, graph.person_degree
        lines = [
            f"An item has {item.value:,.4g} links on average (standard error {item.error:,.2g}), a person "
            f"{person.value:,.4g} ({person.error:,.2g}); {graph.people:,} people, {graph.items:,} items.",
            f"The {min(self.top, graph.items):,} items with the most links. All intervals of a kind hold simultaneously "
            f"with {100 * self.confidence:g} % confidence. They are about these people and include the privacy noise only.",
            f"Reports by {graph.mechanism.wire}, {graph.mechanism.layout.bits:,} bits for a person; epsilon "
            f"{graph.mechanism.epsilon:g} for all links of a person together, of which at most {domain.at_most:,} count.",
        ]
        if self.over:
            lines.append(
                f"{self.over:,} people have more links, of which {domain.at_most:,} were drawn, so degrees are "
                "underestimated."
            )
        if self.left_out:
            lines.append(f"{self.left_out:,} links to other items were left out.")
        if self.question.from_table:
            lines.append(f"Taken from the table, and therefore not private: {', '.join(self.question.from_table)}.")
        if self.seeded:
            lines.append("The coins were seeded: for experiments only.")
        return lines
