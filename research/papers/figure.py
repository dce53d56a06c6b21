"""One figure or table of a paper: what it shows, what came out here, and whether that is what the paper says.

A check compares a statement of the paper with what was computed. The verdict is made of the checks and of nothing else, so
that nobody can write "reproduced" under a figure that is not.
"""

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable.core.coins import SeededCoins
from deniable.errors import InvalidParameter
from research.data.folder import Data

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

Cell = str | int | float
Row = tuple[Cell, ...]
Item = TypeVar("Item")

ROUNDING = 1e-9  # by which a number may miss the edge of its printed rounding
ABOUT = 0.1  # the relative error allowed for a number that was measured, read off a drawing or called approximate


@dataclass(frozen=True)
class Figure:
    """What a figure is: its name, "paper/figN" or "paper/tableN", what it shows, what it needs, and how long it takes."""

    name: str
    paper: str
    what: str
    needs: tuple[str, ...] = ()  # extras, without which it cannot be made
    seconds: float = 1.0  # of one processor core, with --quick
    minutes: float = 0.1  # the same with --full


@dataclass(frozen=True)
class Check:
    """A statement of the paper, whether it holds here, and if not why; with the two numbers where it is about a number.

    The reason is `sure` if it was computed too: by a counterexample, or by putting the paper's fault back in.
    """

    claim: str
    holds: bool
    otherwise: str
    stated: str = ""
    ours: float = math.nan
    sure: bool = True

    @property
    def line(self) -> str:
        """The check in words.

        >>> Check("no better mechanism exists", False, "the optimum is 12 % lower").line
        'no better mechanism exists. Contradicted: the optimum is 12 % lower.'
        """
        numbers = f" (paper {self.stated}, here {self.ours:.4g})" if self.stated else ""
        if self.holds:
            return f"{self.claim}{numbers}"
        why = f"Contradicted: {self.otherwise}" if self.sure else f"Not matched, perhaps because {self.otherwise}"
        return f"{self.claim}{numbers}. {why}."


def claimed(claim: str, holds: bool | np.bool_, otherwise: str, sure: bool = True) -> Check:
    """A statement in words, which holds or not."""
    return Check(claim, bool(holds), otherwise, sure=sure)


def printed(claim: str, stated: str, ours: float, otherwise: str, sure: bool = True) -> Check:
    """A number in the paper's text: it is matched if ours rounds to it, in the digits that are printed.

    >>> printed("ratio", "4.57", 4.5714, "").holds, printed("ratio", "4.75", 4.5731, "").holds
    (True, False)
    >>> printed("ratio", "4.6e6", 4.5517e6, "").holds
    True
    """
    return Check(claim, rounds_to(ours, stated), otherwise, stated, float(ours), sure)


def near(claim: str, stated: str, ours: float, otherwise: str, error: float = 0.0, sure: bool = True) -> Check:
    """A number that was measured, read off a drawing or is called approximate: it is matched within a tenth of itself.

    `error` is the standard error of ours, where it is measured too; three of them are allowed in addition.
    """
    number = float(stated)
    return Check(claim, bool(abs(ours - number) <= ABOUT * abs(number) + 3 * error), otherwise, stated, float(ours), sure)


def rounds_to(number: float, stated: str) -> bool:
    """Whether a number, rounded to as many digits as are printed, is the printed one; a printed fraction is met exactly.

    >>> rounds_to(0.333, "1/3"), rounds_to(1 / 3, "1/3")
    (False, True)
    """
    if "/" in stated:
        return math.isclose(number, Fraction(stated), rel_tol=ROUNDING)
    decimal = Decimal(stated)
    exponent = decimal.as_tuple().exponent
    assert isinstance(exponent, int)
    return bool(abs(number - float(decimal)) <= 0.5 * 10.0**exponent * (1 + ROUNDING) + ROUNDING * abs(number))


@dataclass(frozen=True, eq=False)
class Result:
    """The table of a figure, the checks, and notes about the data.

    `measured` are columns of times, never the same twice. `improved` says what is better than in the paper and by how much;
    it is no statement of the paper, so the verdict does not look at it.
    """

    columns: tuple[str, ...]
    rows: Sequence[Row]
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    improved: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.rows or any(len(row) != len(self.columns) for row in self.rows):
            raise InvalidParameter("A result needs at least one row, and each row a cell for each column.")

    @property
    def verdict(self) -> str:
        """The last line under a figure: how many of the statements about it hold."""
        if not self.checks:
            return "no statement to check"
        held = sum(check.holds for check in self.checks)
        return f"{'reproduced' if self.reproduced else 'differs'}: {held} of {len(self.checks)} statements hold"

    @property
    def reproduced(self) -> bool:
        """Whether there are statements, and all of them hold."""
        return bool(self.checks) and all(check.holds for check in self.checks)

    def column(self, name: str) -> list[Cell]:
        """One column."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def numbers(self, name: str, **where: Cell) -> NDArray[np.float64]:
        """The numbers of one column, of the rows whose other columns have these cells; underscores stand for spaces."""
        places = {self.columns.index(key.replace("_", " ")): cell for key, cell in where.items()}
        own = self.columns.index(name)
        return np.array([float(row[own]) for row in self.rows if all(row[place] == cell for place, cell in places.items())])

    def csv(self, measured: bool = False) -> str:
        """The table as CSV without the measured times, so that it is the same for the same seed; or with them."""
        kept = [place for place, name in enumerate(self.columns) if measured or name not in self.measured]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([self.columns[place] for place in kept])
        for row in self.rows:
            writer.writerow([written(row[place]) for place in kept])
        return text.getvalue()

    def json(self) -> str:
        """Everything, to be read again by `result_from`."""
        return json.dumps(asdict(self), indent=1)


def result_from(text: str) -> Result:
    """A result that was kept as JSON."""
    kept = json.loads(text)
    checks = tuple(Check(**check) for check in kept["checks"])
    rows = [tuple(row) for row in kept["rows"]]
    lists = {name: tuple(kept[name]) for name in ("notes", "measured", "improved")}
    return Result(tuple(kept["columns"]), rows, checks, **lists)


def written(cell: Cell) -> str:
    """A cell in ten significant digits: enough for everything, and too few for the last bit to matter."""
    return f"{cell:.10g}" if isinstance(cell, float) else str(cell)


@dataclass(frozen=True)
class Pace:
    """How much of the work to do, and where to report progress: tests do a share of what --quick does."""

    share: float = 1.0
    progress: Callable[[float], object] = field(default=float, compare=False)

    def times(self, quick: bool, few: int, many: int) -> int:
        """How often something random is repeated, or how many people take part."""
        return max(1, round((few if quick else many) * self.share))

    def over(self, items: Sequence[Item]) -> Iterator[Item]:
        """The items one after the other, reporting the share that is done."""
        for place, item in enumerate(items):
            self.progress(place / len(items))
            yield item


def coins_for(seed: int, *what: object) -> SeededCoins:
    """Coins of their own for each part of a figure, so that one part can change without the others."""
    return SeededCoins(" ".join(map(str, (seed, *what))).encode())


ALL = Pace()  # all of the work, without a report of progress


@dataclass(frozen=True)
class Loaded:
    """A figure and the two functions that make it."""

    figure: Figure
    run: Callable[[bool, int, Data, Pace], Result]
    plot: Callable[[Result], "Picture"]
