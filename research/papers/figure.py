"""One figure or table of a paper: what it shows, what came out here, and whether that is what the paper says.

A check compares a statement of the paper with what was computed. It belongs to one aspect of the figure: its trend, the
ranking of its lines, the magnitude of a number, or a number that is printed; or to the theory behind the figure. The status
follows from the checks by the rule in `Result.status` and from nothing else.
"""

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

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
ABOUT = 0.15  # the relative error allowed for a number that was measured, read off a drawing or called approximate
TIE = 2  # standard errors within which two measured numbers are tied

Aspect = Literal["trend", "ranking", "magnitude", "printed numbers", "theory"]
Setup = Literal["same", "other data", "smaller", "other data, smaller"]  # beside what the paper has
Answer = Literal["yes", "no", "not testable"]
Status = Literal["reproduced", "trend and ranking", "only with the authors' fault", "not comparable", "contradicted"]
ASPECTS: tuple[Aspect, ...] = ("trend", "ranking", "magnitude", "printed numbers")  # of the figure itself
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True)
class Figure:
    """What a figure is: its name, "paper/figN" or "paper/tableN", what it shows, what it needs, and how long it takes."""

    name: str
    paper: str
    what: str
    needs: tuple[str, ...] = ()  # extras, without which it cannot be made
    seconds: float = 1.0  # of one processor core, with --quick
    minutes: float = 0.1  # the same with --full
    limit: str = ""  # where --full uses less than the paper
    own: bool = False  # an experiment of ours, not a figure of the paper
    shares: str = ""  # a figure whose trainings it takes over, in one run or with --resume


@dataclass(frozen=True)
class Check:
    """A statement of the paper, whether it holds here, and if not why; with the two numbers where it is about a number.

    The reason is `sure` if it was computed too: by a counterexample, or by putting the paper's fault back in. `faulty` says
    whether the statement holds with that fault. `error` is the standard error of our number.
    """

    claim: str
    holds: bool
    otherwise: str
    stated: str = ""
    ours: float = math.nan
    sure: bool = True
    aspect: Aspect = "trend"
    error: float = 0.0
    faulty: bool = False

    @property
    def numbers(self) -> str:
        """The two numbers, and the ratio of ours to the paper's with its interval.

        >>> near("gain", "20", 18.0, "", error=1.0).numbers
        'paper 20, here 18; ratio 0.90, 0.80 to 1.00'
        """
        if not self.stated:
            return ""
        words = f"paper {self.stated}, here {self.ours:.4g}"
        if self.aspect == "magnitude" and (number := float(Fraction(self.stated))):
            ratio, spread = self.ours / number, abs(TIE * self.error / number)
            words += f"; ratio {ratio:.2f}" + (f", {ratio - spread:.2f} to {ratio + spread:.2f}" if self.error else "")
        return words

    @property
    def line(self) -> str:
        """The check in words.

        >>> ranking("no better mechanism exists", False, "the optimum is 12 % lower").line
        'no better mechanism exists. Contradicted: the optimum is 12 % lower.'
        """
        numbers = f" ({self.numbers})" if self.stated else ""
        if self.holds:
            return f"{self.claim}{numbers}"
        if self.faulty:
            why = f"Only with the authors' fault: {self.otherwise}"
        else:
            why = f"Contradicted: {self.otherwise}" if self.sure else f"Not matched: {self.otherwise}"
        return f"{self.claim}{numbers}. {why}."


def _words(aspect: Aspect, claim: str, holds: bool | np.bool_, otherwise: str, sure: bool, faulty: bool | np.bool_) -> Check:
    return Check(claim, bool(holds), otherwise, sure=sure, aspect=aspect, faulty=bool(faulty))


def trend(claim: str, holds: bool | np.bool_, otherwise: str, sure: bool = True, faulty: bool | np.bool_ = False) -> Check:
    """A statement about the course of a line: it rises, falls, levels off, or widens its distance to another."""
    return _words("trend", claim, holds, otherwise, sure, faulty)


def ranking(claim: str, holds: bool | np.bool_, otherwise: str, sure: bool = True, faulty: bool | np.bool_ = False) -> Check:
    """A statement about which line is above which."""
    return _words("ranking", claim, holds, otherwise, sure, faulty)


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them.

    >>> listed(["uRR", "uRAP", "uHR"])
    'uRR, uRAP and uHR'
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def theory(claim: str, holds: bool | np.bool_, otherwise: str) -> Check:
    """A theorem, an optimum or a privacy guarantee behind the figure. It is judged once for the paper."""
    return _words("theory", claim, holds, otherwise, True, False)


def ahead(
    claim: str, leads: Sequence[tuple[str, float, float]], otherwise: str = "", sure: bool = True, faulty: bool = False
) -> Check:
    """A ranking of measured numbers: it holds if no lead is below zero by more than two standard errors.

    A lead is (where, by how much, its standard error). Leads within two standard errors of zero are ties, and are named.

    >>> ahead("A is above B", [("at epsilon 1", 0.4, 3.6)]).line
    'A is above B (tied at epsilon 1: 0.4, standard error 3.6)'
    >>> ahead("A is above B", [("at epsilon 1", -9.0, 3.6)]).line
    'A is above B. Contradicted: not at epsilon 1: -9, standard error 3.6.'
    """
    tied = [lead for lead in leads if abs(lead[1]) <= TIE * lead[2]]
    behind = [lead for lead in leads if lead[1] < -TIE * lead[2] or (lead[1] < 0 and lead[2] == 0)]
    words = f" (tied {_listed(tied)})" if tied and not behind else ""
    why = f"not {_listed(behind)}" + (f"; {otherwise}" if otherwise else "")
    return ranking(claim + words, not behind, why, sure, faulty)


def _listed(leads: Sequence[tuple[str, float, float]], most: int = 3) -> str:
    shown = "; ".join(f"{where}: {lead:.2g}, standard error {error:.2g}" for where, lead, error in leads[:most])
    return shown + (f" and {len(leads) - most} more" if len(leads) > most else "")


def printed(claim: str, stated: str, ours: float, otherwise: str, sure: bool = True) -> Check:
    """A number in the paper's text: it is matched if ours rounds to it, in the digits that are printed.

    >>> printed("ratio", "4.57", 4.5714, "").holds, printed("ratio", "4.75", 4.5731, "").holds
    (True, False)
    >>> printed("ratio", "4.6e6", 4.5517e6, "").holds
    True
    """
    return Check(claim, rounds_to(ours, stated), otherwise, stated, float(ours), sure, "printed numbers")


def near(
    claim: str, stated: str, ours: float, otherwise: str, error: float = 0.0, sure: bool = True, faulty: bool = False
) -> Check:
    """A number that was measured, read off a drawing or is called approximate: it is matched within 15 % of itself.

    `error` is the standard error of ours, where it is measured too; two of them are allowed in addition.
    """
    holds = approximately(ours, float(stated), error)
    return Check(claim, holds, otherwise, stated, float(ours), sure, "magnitude", float(error), faulty)


def approximately(ours: float, stated: float, error: float = 0.0) -> bool:
    """Whether a number is within 15 % and two standard errors of the stated one."""
    return bool(abs(ours - stated) <= ABOUT * abs(stated) + TIE * error)


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
    it is no statement of the paper, so the status does not look at it. `setup` says how the data compare with the paper's.
    """

    columns: tuple[str, ...]
    rows: Sequence[Row]
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    improved: tuple[str, ...] = ()
    setup: Setup = "same"
    made: Mapping[str, str | float | int] = field(default_factory=dict)  # when and how: mode, seed, data, date, seconds

    def __post_init__(self) -> None:
        if not self.rows or any(len(row) != len(self.columns) for row in self.rows):
            raise InvalidParameter("A result needs at least one row, and each row a cell for each column.")

    @property
    def about_figure(self) -> tuple[Check, ...]:
        """The checks of the figure itself."""
        return tuple(check for check in self.checks if check.aspect != "theory")

    def answer(self, aspect: Aspect) -> Answer:
        """Whether all statements of an aspect hold; "not testable" if the paper makes none that can be tested here."""
        holds = [check.holds for check in self.checks if check.aspect == aspect]
        return "not testable" if not holds else "yes" if all(holds) else "no"

    @property
    def status(self) -> Status:
        """One word for the figure, by rule.

        Reproduced: every statement that can be tested holds. Only with the authors' fault: those that fail hold once the
        fault is put back in. Trend and ranking: only numbers differ. Contradicted: a trend or a ranking fails, or a number
        where nothing else is stated, for a reason that was computed. Not comparable: for one that could not be.
        """
        failed = [check for check in self.about_figure if not check.holds]
        if not failed:
            return "reproduced" if self.about_figure else "not comparable"
        course = [check for check in self.about_figure if check.aspect in ("trend", "ranking")]
        lost = [check for check in course if not check.holds] or failed
        if all(check.faulty for check in lost):
            return "only with the authors' fault"
        if course and all(check.holds for check in course):
            return "trend and ranking"
        return "contradicted" if any(check.sure for check in lost if not check.faulty) else "not comparable"

    @property
    def verdict(self) -> str:
        """The last line under a figure: its status, the answers for each aspect, and the set-up."""
        answers = ", ".join(f"{aspect} {self.answer(aspect)}" for aspect in ASPECTS)
        return f"{self.status}: {answers}; set-up: {self.setup}"

    @property
    def reproduced(self) -> bool:
        """Whether there are statements about the figure, and all of them hold."""
        return self.status == "reproduced"

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
    return Result(tuple(kept["columns"]), rows, checks, setup=kept["setup"], made=kept["made"], **lists)


OTHERS = ("stand-in", "small samples")  # words in notes on data that are not the paper's


def set_up(notes: Sequence[str], other: bool = False, smaller: bool = False) -> Setup:
    """The set-up by its notes: data are other ones if they are made up, a sample of another size, or said to be so.

    >>> set_up(["Gowalla: stand-in, 60 places"], smaller=True), set_up(["real"]), set_up(["real"], smaller=True)
    ('other data, smaller', 'same', 'smaller')
    """
    if other or any(word in note for note in notes for word in OTHERS):
        return "other data, smaller" if smaller else "other data"
    return "smaller" if smaller else "same"


def written(cell: Cell) -> str:
    """A cell in ten significant digits: enough for everything, and too few for the last bit to matter."""
    return f"{cell:.10g}" if isinstance(cell, float) else str(cell)


@dataclass(frozen=True)
class Pace:
    """How much of the work to do, and where to report progress: tests do a share of what --quick does.

    `kept` is a folder for parts of long figures, so that a run that is cut off goes on from there.
    """

    share: float = 1.0
    progress: Callable[[float], object] = field(default=float, compare=False)
    kept: Path | None = field(default=None, compare=False)

    def times(self, quick: bool, few: int, many: int) -> int:
        """How often something random is repeated, or how many people take part."""
        return max(1, round((few if quick else many) * self.share))

    def part(self, make: Callable[[], Item], *what: object) -> Item:
        """What `make` returns, kept under its name if there is a folder to keep it in: lists of numbers and words.

        >>> Pace().part(lambda: [1.5], "any")
        [1.5]
        """
        if self.kept is None:
            return make()
        path, key = self.kept / "parts.jsonl", " ".join(map(str, what))
        parts = _parts(path)
        if key not in parts:
            parts[key] = make()
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, parts[key]]) + "\n")
        return _tuples(parts[key])

    def over(self, items: Sequence[Item]) -> Iterator[Item]:
        """The items one after the other, reporting the share that is done."""
        for place, item in enumerate(items):
            self.progress(place / len(items))
            yield item


@cache
def _parts(path: Path) -> dict[str, Any]:
    """What earlier runs kept in a file, and this one adds to."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return dict(json.loads(line) for line in lines)


def _tuples(value: Any) -> Any:
    """A list whose inner lists are tuples again, as rows are."""
    return [tuple(each) if isinstance(each, list) else each for each in value] if isinstance(value, list) else value


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
