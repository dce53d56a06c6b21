"""Candidates side by side: the error and the costs of each, which one is chosen, and why."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import Generic, Self, TypeVar, overload

from deniable.core import Candidate, Mechanism
from deniable.core.showing import html_table
from deniable.errors import DeniableError, InvalidParameter

CLOSE = 1.015  # squared errors this close to the smallest count as equally good; then report size and server work decide
NEGLIGIBLE = 1e-100  # errors and bounds up to this are rounding
EQUAL = 1 + 1e-9  # the same, where only rounding may separate them
UNBIASED = "any mechanism with an unbiased estimate"  # of which most bounds are
NO_BOUND = "no bound above 0 is proved at this epsilon"

M = TypeVar("M", covariant=True)
Made = TypeVar("Made", bound=Mechanism)


@dataclass(frozen=True)
class Column:
    """A column of a ranking: its heading, what it means, how its numbers are formatted, and in which unit."""

    name: str
    meaning: str
    format: str = ",d"
    scale: float = 1

    def shown(self, number: float | None) -> str:
        """A number of this column; nothing where there is none."""
        return "" if number is None else format(self.scale * number, self.format)


ERROR = Column("error", "standard error of a share in percentage points, root mean square over all answers", ".3g", 100)
BITS = Column("bits", "size of one report")


@dataclass(frozen=True)
class Row(Generic[M]):
    """One candidate: its mechanism, the error to expect, the bits of one report, and what else it costs."""

    name: str
    mechanism: M
    error: float
    bits: int
    costs: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Ranking(Sequence[Row[M]]):
    """Candidates for one question, the smallest error first.

    `best` is the one to use: among those whose squared error is within a factor `close` of the smallest, the one with the
    smallest reports, then the one with the least server work; or the one that is `wanted`. `beside` holds rows that
    cannot be chosen, such as a bound, and `remarks` says which candidates were left out and why. Ratios are of errors to the
    `power`. `bound` is an error that is proved to be out of reach of all `rivals`, where one is known; `unbounded` says why
    none is. With an `aim`, a column of what a given precision takes, the best is the one that has the least of it.
    """

    rows: tuple[Row[M], ...]
    subject: str
    error: Column = ERROR
    columns: tuple[Column, ...] = ()
    beside: tuple[Row[None], ...] = ()
    remarks: tuple[str, ...] = ()
    close: float = CLOSE
    power: int = 2
    max_bits: int | None = None
    wanted: str | None = None
    bound: float | None = None
    rivals: str = "any mechanism"  # of which the bound is about
    unbounded: str = ""  # why there is no bound, after "because"
    aim: Column | None = None

    def __post_init__(self) -> None:
        if not self.rows:
            raise InvalidParameter(" ".join([f"No mechanism supports {self.subject}.", *self.remarks]))
        object.__setattr__(self, "rows", tuple(sorted(self.rows, key=lambda row: row.error)))
        if self.bound is not None and self.bound <= NEGLIGIBLE:
            object.__setattr__(self, "bound", None)
            object.__setattr__(self, "unbounded", self.unbounded or NO_BOUND)

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, place: int) -> Row[M]: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row[M]]: ...
    def __getitem__(self, place: int | slice) -> Row[M] | Sequence[Row[M]]:
        return self.rows[place]

    def within(self, max_bits: int | None, wanted: str | None = None) -> Self:
        """The same candidates, of which only those with reports of at most so many bits, and of this name, may be chosen."""
        if not isinstance(max_bits, Integral | None):
            raise InvalidParameter("max_bits is the largest size of a report: a whole number of bits, such as max_bits=64.")
        return replace(self, max_bits=max_bits, wanted=wanted)

    def aimed(self, aim: Column, needed: Callable[[M], float | None]) -> Self:
        """The same candidates with a column of what a precision takes with each, such as people: the least is best."""
        rows = (replace(row, costs={**row.costs, aim.name: needed(row.mechanism)}) for row in self.rows)
        return replace(self, rows=tuple(rows), columns=(*self.columns, aim), aim=aim)

    def renamed(self, name: Callable[[str], str]) -> Self:
        """The same candidates under other names."""
        return replace(self, rows=tuple(replace(row, name=name(row.name)) for row in self.rows))

    @cached_property
    def best(self) -> Row[M]:
        """The row to choose."""
        named = [row for row in self.rows if self.wanted in (None, row.name)]
        if not named:
            raise InvalidParameter(
                f"{self.wanted} does not support {self.subject}. Use one of {', '.join(r.name for r in self)}."
            )
        fitting = [row for row in named if self.max_bits is None or row.bits <= self.max_bits]
        if not fitting:
            limit, least = counted(self.max_bits or 0, "bit"), min(row.bits for row in named)
            raise InvalidParameter(f"No mechanism fits in {limit} per report; the smallest needs {least}.")
        near = [row for row in fitting if row.error**2 <= self.close * fitting[0].error ** 2]
        if self.aim is not None:
            fewest = min(self._needed(row) for row in fitting)
            near = [row for row in fitting if self._needed(row) == fewest]
        return min(near, key=lambda row: (row.bits, row.costs.get("work") or 0, float(f"{row.error:.9e}")))

    def _needed(self, row: Row[object]) -> float:
        """What the aim takes with this one."""
        needed = None if self.aim is None else row.costs.get(self.aim.name)
        return math.inf if needed is None else needed

    def ratio(self, row: Row[object]) -> float:
        """The squared error of a row relative to the smallest of all candidates; of losses, the ratio itself.

        Infinite where the smallest is nothing but rounding, and this one is more.
        """
        return _relative(row.error, self.rows[0].error) ** self.power

    def above(self, row: Row[object]) -> float | None:
        """How far the error of a row, squared as in `ratio`, is above the best possible, at most; 0.01 is one percent.

        None where no bound is known, and for what stands beside and has a smaller error, such as a constant: no rival.
        """
        if self.bound is None or (row.mechanism is None and row.error < self.bound):
            return None
        return max(0.0, _relative(row.error, self.bound) ** self.power - 1)

    @property
    def shown(self) -> list[Column]:
        """The columns of costs that have a number in some row."""
        return [column for column in self.columns if any(row.costs.get(column.name) is not None for row in self.rows)]

    def table(self) -> str:
        """All rows, aligned; the best one is marked."""
        return aligned(self._lines(), left=2)

    def _lines(self) -> list[list[str]]:
        """The heading and all rows, as cells."""
        above = [] if self.bound is None else ["above"]
        lines = [["", "mechanism", self.error.name, "ratio", *above, BITS.name, *(column.name for column in self.shown)]]
        for row in (*self.rows, *self.beside):
            ratio = self.ratio(row)
            cells = [
                self.error.shown(row.error),
                "" if math.isinf(ratio) else f"{ratio:.3f}x" if ratio < 1e5 else f"{ratio:.1e}x",
                *([percent(self.above(row))] if above else []),
                BITS.shown(row.bits or None),
            ]
            cells += [column.shown(row.costs.get(column.name)) for column in self.shown]
            lines.append(["*" if row is self.best else "", row.name, *cells])
        return lines

    def _repr_html_(self) -> str:
        """The table, with the choice in words: what notebooks show."""
        heading, *lines = self._lines()
        words = self.reason()
        return html_table(f"{self.best.name} for {self.subject}", heading, lines, 2, words[0].upper() + words[1:])

    def legend(self) -> str:
        """What the columns mean, one a line."""
        ratio = Column("ratio", f"{self._measure}, relative to the smallest")
        known = self.bound is not None or self.unbounded
        columns = (self.error, ratio, *([self.proof] if known else []), BITS, *self.shown)
        return "\n".join(f"{column.name}: {column.meaning}" for column in columns)

    @property
    def proof(self) -> Column:
        """The column of how far each row is above the best possible, or why it is not shown."""
        best = f"{self._measure}, at most this far above the best that {self.rivals} can have; 0 % cannot be beaten"
        unknown = f"not shown: the distance from the best possible is unknown, because {self.unbounded}"
        return Column("above", unknown if self.bound is None else best)

    @property
    def _measure(self) -> str:
        return f"squared {self.error.name}" if self.power == 2 else self.error.name

    def reason(self) -> str:
        """Why the best row is the best, as a sentence."""
        ratio = self.ratio(self.best)
        above = f"{100 * (ratio - 1):.2g} % above" if ratio < 2 else f"{ratio:.3g} times"
        error = f"its {self._measure} is {above} the smallest"
        if math.isinf(ratio):
            error = f"another has no {self.error.name} but rounding"
        if ratio < 1 + 5e-5:
            error = f"none has a smaller {self.error.name}"
        if self.aim is not None and self.wanted is None:
            error = f"none needs fewer {self.aim.name}"
        how = "chosen" if self.wanted is None else "used as you asked"
        return (
            f"of {counted(len(self.rows), 'mechanism')}, {self.best.name} is {how}: {error}, and its reports take "
            f"{counted(self.best.bits, 'bit')}."
        )

    def explain(self, words: str = "") -> str:
        """The table, what it means, and the choice in words."""
        limit = "" if self.max_bits is None else f", at most {counted(self.max_bits, 'bit')} a report"
        lines = [f"{self.best.name} for {self.subject}{limit}", self.table(), self.legend(), *self.remarks]
        return "\n".join([*lines, f"In words: {self.reason()} {words}".rstrip()])

    def __str__(self) -> str:
        return self.explain()

    def records(self) -> list[dict[str, object]]:
        """The rows as plain data."""
        return [
            {
                "name": row.name,
                "error": row.error,
                "squared_to_smallest": None if math.isinf(self.ratio(row)) else self.ratio(row),
                **({} if self.bound is None else {"above_bound": self.above(row)}),
                "bits": row.bits,
                **row.costs,
            }
            for row in self.rows
        ]


def _relative(error: float, other: float) -> float:
    """One error over another; at the largest budgets one or both may be nothing but rounding."""
    if other > NEGLIGIBLE:
        return error / other
    return math.inf if error > NEGLIGIBLE else 1.0


def percent(share: float | None) -> str:
    """A share as a percentage; nothing where there is none."""
    if share is None:
        return ""
    return f"{share:.1%}" if share < 1e3 else f"{100 * share:.0e}%"


def planned(ranking: Ranking[Made], words: str = "") -> Made:
    """The mechanism of the best row, with the ranking as its reason."""
    return ranking.best.mechanism.because(ranking.explain(words))


def made(
    candidates: Iterable[Candidate[Made]], size: int, row: Callable[[Candidate[Made]], Row[M]]
) -> tuple[tuple[Row[M], ...], tuple[str, ...]]:
    """The rows of all candidates that can be made for so many values, and a remark on each that cannot.

    Where none can be made, the first refusal is raised.
    """
    rows: list[Row[M]] = []
    remarks: list[str] = []
    refusal: Exception | None = None
    for candidate in candidates:
        if candidate.largest is not None and size > candidate.largest:
            remarks.append(f"Left out: {candidate.name}, which supports at most {candidate.largest:,} values.")
            continue
        try:
            found = row(candidate)
            if _is_provable(found.mechanism):
                rows.append(found)
            else:
                remarks.append(f"Left out: {candidate.name}, which is not proved at this size.")
        except ArithmeticError:
            remarks.append(f"Left out: {candidate.name}, whose probabilities cannot be computed at this epsilon.")
        except (DeniableError, ValueError) as error:
            remarks.append(f"Left out: {candidate.name}. {error}")
            refusal = refusal or error
    if refusal is not None and not rows:
        raise refusal
    return tuple(rows), tuple(remarks)


def _is_provable(mechanism: object) -> bool:
    """Whether a certificate may be given at all: its law is a program, or a theorem stands for it."""
    return not isinstance(mechanism, Mechanism) or mechanism.traced or mechanism.loss().proof == "theorem"


def checked_people(n: int) -> int:
    """A number of people to plan for."""
    if not isinstance(n, int) or n < 1:
        raise InvalidParameter("A plan needs the number of people who will answer, at least 1.")
    return n


def short_name(name: str) -> str:
    """A candidate's name without spaces, as on the command line; the optimized one of a kind has the kind's name.

    >>> short_name("unary, symmetric"), short_name("hashing, optimized")
    ('unary-symmetric', 'hashing')
    """
    return name.removesuffix(", optimized").replace(", ", "-")


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "bit"), counted(1024, "bit"), counted(5, "person", "people")
    ('1 bit', '1,024 bits', '5 people')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def there_are(number: int, noun: str) -> str:
    """That there are so many.

    >>> there_are(1, "report"), there_are(100, "report")
    ('there is 1 report', 'there are 100 reports')
    """
    return f"there {'is' if number == 1 else 'are'} {counted(number, noun)}"


def people(n: int) -> str:
    """So many people."""
    return counted(n, "person", "people")


def aligned(lines: Sequence[Sequence[str]], left: int = 1) -> str:
    """Lines of cells as columns: the first ones to the left, the others to the right.

    >>> print(aligned([["name", "bits"], ["direct", "2"], ["unary", "1,000"]]))
    name     bits
    direct      2
    unary   1,000
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    widths[0] = max(1, widths[0])
    return "\n".join(
        " ".join(
            cell.ljust(width) if place < left else cell.rjust(width + 1)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
