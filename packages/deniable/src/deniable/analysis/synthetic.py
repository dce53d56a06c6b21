"""Synthetic rows: made-up people whose answers hang together in pairs as the tables say."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.analysis.table import Table
from deniable.arrays import Floats, Ints
from deniable.errors import InvalidParameter, MissingPackage
from deniable.postprocess.norm_sub import norm_sub

if TYPE_CHECKING:
    import pandas

LABEL = "synthetic"


@dataclass(frozen=True, eq=False)
class SyntheticRows:
    """Synthetic rows, drawn from estimated tables: for trying things out, not for estimates."""

    columns: dict[str, list[Any]]
    links: tuple[tuple[str, str], ...]  # the pairs whose tables were followed
    seed: int

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    @property
    def statement(self) -> str:
        """What these rows are, and what they are not."""
        pairs = ", ".join(f"{first} and {second}" for first, second in self.links) or "no pair"
        return (
            f"{len(self):,} synthetic rows, drawn with seed {self.seed} from estimated tables. No row is a person. They "
            f"follow the tables of {pairs}; all other dependence follows from those. Estimate from the reports, not "
            "from these."
        )

    def to_pandas(self) -> "pandas.DataFrame":
        """The rows as a data frame, with a last column that says that they are synthetic."""
        try:
            import pandas
        except ImportError:
            raise MissingPackage("A data frame", "pandas") from None
        frame = pandas.DataFrame({**self.columns, LABEL: [True] * len(self)})
        frame.attrs["statement"] = self.statement
        return frame

    def to_csv(self) -> str:
        """The rows as comma-separated text with a header; the last column says that they are synthetic."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*self.columns, LABEL])
        writer.writerows([*row, "yes"] for row in zip(*self.columns.values(), strict=True))
        return text.getvalue()


def synthesize(tables: Sequence[Table], n: int, seed: int) -> SyntheticRows:
    """Rows of n made-up people from tables of pairs of questions.

    The strongest dependencies that form a tree are followed exactly, up to cleaning (Chow, Liu 1968). Since the tables come
    from randomized reports, drawing from them costs no privacy.
    """
    if not tables or any(not isinstance(table, Table) or table.shares.ndim != 2 for table in tables):
        raise InvalidParameter("Synthetic rows are drawn from tables of two questions, such as those of crosstabs.")
    if n < 1:
        raise InvalidParameter("Ask for at least one row.")
    random = np.random.default_rng(seed)
    answers = {name: own for table in tables for name, own in zip(table.questions, table.answers, strict=True)}
    cleaned = {table.questions: table.cleaned() for table in tables}
    chosen = _tree(list(answers), cleaned)
    drawn: dict[str, Ints] = {}
    for first, second in chosen:
        joint = cleaned[first, second] if (first, second) in cleaned else cleaned[second, first].T
        if first not in drawn:
            drawn[first] = random.choice(len(joint), n, p=joint.sum(axis=1) / joint.sum())
        if second not in drawn:
            drawn[second] = _given(joint, drawn[first], random)
    for name in answers:  # in no table that was followed
        if name not in drawn:
            table = next(each for each in tables if name in each.questions)
            shares = norm_sub(table.margins()[name]).values
            drawn[name] = random.choice(len(shares), n, p=shares / shares.sum())
    columns = {name: [own[place] for place in drawn[name].tolist()] for name, own in answers.items()}
    return SyntheticRows(columns, tuple(chosen), seed)


def _given(joint: Floats, rows: Ints, random: np.random.Generator) -> Ints:
    """An answer to the second question for everybody, by the answer to the first."""
    totals = joint.sum(axis=1, keepdims=True)
    even = joint.sum(axis=0) / joint.sum()
    edges = np.cumsum(np.where(totals > 0, joint / np.where(totals > 0, totals, 1), even), axis=1)
    edges[:, -1] = 1.0
    return (random.random(len(rows))[:, None] >= edges[rows]).sum(axis=1)


def _tree(names: list[str], tables: dict[tuple[str, ...], Floats]) -> list[tuple[str, str]]:
    """The pairs of the tree with the most information, each joining a new question to those before."""
    worth = sorted(((_information(joint), pair) for pair, joint in tables.items()), reverse=True)
    inside, chosen = {names[0]}, list[tuple[str, str]]()
    while len(inside) < len(names):
        joining = [pair for _, pair in worth if len(inside & set(pair)) == 1]
        if not joining:
            inside.add(next(name for name in names if name not in inside))
            continue
        first, second = joining[0] if joining[0][0] in inside else joining[0][::-1]
        chosen.append((first, second))
        inside.add(second)
    return chosen


def _information(joint: Floats) -> float:
    """The mutual information of a table."""
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    used = joint > 0
    return float((joint[used] * np.log(joint[used] / product[used])).sum())
