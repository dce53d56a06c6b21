"""The tasks across the field that other commands measure, from the tables that these wrote.

No bound over all mechanisms is known for them. Where something else limits what can be reached, it is said.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from deniable.planning.distributions import Shapes
from deniable.planning.marginal_bound import marginal_bound

FOLDER = Path(__file__).parent
HEAD = (
    "Tasks without a bound over all mechanisms, from the tables that other commands wrote: ours, the best published one on "
    "the same data with the same epsilon and number of people, and what is known of the best possible."
)
LARGER, SMALLER = "larger is better", "smaller is better"


@dataclass(frozen=True)
class Cell:
    """Where a figure stands: the table by the beginning of its head, the row by the beginnings of its cells, the column."""

    file: str
    table: str
    row: Sequence[str]
    column: str

    def text(self) -> str:
        """What stands there."""
        lines = (FOLDER / self.file).read_text(encoding="utf-8").splitlines()
        start = next(place for place, line in enumerate(lines) if line.startswith(self.table))
        names = _cells(lines[start])
        for line in lines[start + 2 :]:
            if not line.startswith("|"):
                break
            cells = _cells(line)
            if all(_begins(cell, part) for cell, part in zip(cells, self.row, strict=False)):
                return cells[names.index(self.column)]
        raise LookupError(f"{self.file} has no row {self.row} below {self.table!r}.")

    def number(self) -> float:
        """The first number of it."""
        found = re.match(r"-?[0-9.,]+", self.text())
        if found is None:
            raise LookupError(f"{self.text()!r} is no number.")
        return float(found[0].replace(",", ""))


def _begins(cell: str, part: str) -> bool:
    """Whether a cell begins so; numbers are the same as a whole."""
    return cell == part if part[0].isdigit() else cell.startswith(part)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


@dataclass(frozen=True)
class Page:
    """A task that another command measures: how ours fares, and each of the published ones."""

    task: str
    measure: str
    ours: Cell
    rivals: Mapping[str, Cell]
    best: str = "not known"

    def row(self) -> str:
        """The line of the table."""
        rival, theirs = self.rival()
        command = self.ours.file.removesuffix(".md")
        return (
            f"| {self.task} | {self.measure} | {self.ours.text()} | {rival} | {theirs.text()} | {self.best} | `{command}` |"
        )

    def rival(self) -> tuple[str, Cell]:
        """The best of them."""
        sign = -1 if LARGER in self.measure else 1
        return min(self.rivals.items(), key=lambda each: sign * each[1].number())

    def leads(self) -> bool:
        """Whether ours is better."""
        ours, theirs = self.ours.number(), self.rival()[1].number()
        return ours > theirs if LARGER in self.measure else ours < theirs


def every() -> list[Page]:
    """All of them."""
    return [*_numbers(), *_strings(), *_triangles(), *_periods(), *_tables(), *_learning()]


def _numbers() -> Iterator[Page]:
    for shape, words, kind in (("beta(5, 2)", "beta(5, 2)", "smooth"), ("log-normal", "log-normal, half rounded", "spiky")):
        least = f"{1000 * (Shapes.of(256, kind).bound(1.0, 100_000, False) or 0):.2f} on average over {kind} densities"
        for column, name in (("W1", "distribution"), ("median, within cells", "median")):
            ours, theirs = (
                Cell("distribution_leads.md", f"| {shape}", (row,), column) for row in ("**plan**", "Square Wave, EMS")
            )
            measure = "W1" if column == "W1" else "rank error"
            task = f"{name} of 256 numbers, {words}, epsilon 1, 100,000 people"
            best = least if column == "W1" else "not known"
            yield Page(task, f"{measure} in thousandths, {SMALLER}", ours, {"Square Wave, EMS": theirs}, best)


def _strings() -> Iterator[Page]:
    for epsilon in ("1", "2", "4"):
        ours, published, tuned, best = (
            Cell("discovery.md", "| epsilon | F1", (epsilon,), column)
            for column in ("F1, one round", "published, F1", "tuned, F1 (precision)", "the same, without the dictionary")
        )
        task = f"20 commonest of 2^64 strings, epsilon {epsilon}, 1,000,000 people"
        rivals = {"prefix extension": published, "prefix extension, tuned": tuned}
        yield Page(task, f"F1, {LARGER}", ours, rivals, f"{best.text()} expected, every string looked at")


def _triangles() -> Iterator[Page]:
    rivals = [f"{name}, {how}" for name in ("ARROne", "GroupRR") for how in ("as published", "improved")]
    for graph in ("wiki_vote", "facebook_combined", "soc_slashdot0902"):
        ours, *theirs = (Cell("triangle_rivals.md", "| graph", (graph, name), "error") for name in ("three rounds", *rivals))
        names = [f"{name}, tuned" for name in rivals]
        task = f"triangles of {graph}, epsilon 1 for an edge, as many bits"
        yield Page(task, f"root mean square error, {SMALLER}", ours, dict(zip(names, theirs, strict=True)))


def _periods() -> Iterator[Page]:
    for series in ("flat", "wave", "walk", "jump", "restless"):
        ours, theirs = (Cell("repeated.md", "| series", (series,), name) for name in ("adaptive", "LPA of the paper"))
        task = f"shares of 5 answers in 200 periods, {series}, epsilon 1 for any 20, 100,000 people"
        yield Page(task, f"mean squared error in 1e-4, {SMALLER}", ours, {"LPA": theirs})


def _tables() -> Iterator[Page]:
    names = ("pairs drawn in public", "compound question", "every answer, split budget")
    ours, *theirs = (Cell("survey_relations.md", "| how to ask", (name,), "measured") for name in names)
    task, sizes, people = "tables of 4 questions, epsilon 1, 21,483 people", (3, 3, 3, 4), 21_483
    least = 100 * marginal_bound(sizes, combinations(range(len(sizes)), 2), 1.0, people)
    best = f"{least:.2f} if all combinations are equally common"
    yield Page(task, f"error of a cell in points, {SMALLER}", ours, dict(zip(names[1:], theirs, strict=True)), best)


def _learning() -> Iterator[Page]:
    contests = (
        ("fair_trees.md", "abalone", "explained variance", ("1", "5"), ("noise on sums",), ("Laplace leaves", "BRR leaves")),
        ("fair_torch.md", "adult", "AUC", ("1", "3.5"), ("class means", "signed vectors"), ("DNN-BRR", "DNN-DP")),
    )
    for file, data, column, epsilons, ours, theirs in contests:
        for epsilon in epsilons:
            cells = {
                name: Cell(file, "| epsilon | certified", (epsilon, epsilon, name), column) for name in (*ours, *theirs)
            }
            best = max((cells[name] for name in ours), key=Cell.number)
            rivals = {name: cells[name] for name in theirs}
            yield Page(f"a model of {data}, epsilon {epsilon}", f"{column} in percent, {LARGER}", best, rivals)


def pages() -> list[str]:
    """A line for each."""
    head = "| task | measured by | ours | best published | its figure | best possible, as far as known | command |"
    return [head, "|---|---|--:|---|--:|--:|---|", *(page.row() for page in every())]
