"""What the verbs print with rich: the console, a spinner or bar while something takes time, the certificate as a panel."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from io import TextIOWrapper

import numpy as np
from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from deniable.core import Mechanism, PureProtocol, formatted_odds, formatted_size, written_odds
from deniable.errors import InvalidReport
from deniable.privacy.certificate import Certificate, shown_answer

WIDEST = 120
SHOWN_BYTES = 8  # of a report in hexadecimal


def console(errors: bool = False) -> Console:
    """The terminal, or a pipe, at a width that reads well; characters it does not have become question marks.

    With `errors`, the error stream, where the output itself is data.
    """
    stream = sys.stderr if errors else sys.stdout
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="replace")
    made = Console(highlight=False, stderr=errors)
    made.width = min(made.width, WIDEST)
    return made


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """The time since the block began, on the error stream, where nobody knows how long it takes; nothing on a pipe."""
    stream = Console(stderr=True)
    columns = (SpinnerColumn("line"), TextColumn("{task.description} ..."), TimeElapsedColumn())
    with Progress(*columns, console=stream, transient=True, disable=not stream.is_terminal) as bar:
        bar.add_task(what, total=None)
        yield


@contextmanager
def progress(what: str) -> Iterator[Callable[[float], None]]:
    """A bar on the error stream for the share of the work that is done; nothing at all when that is not a terminal."""
    stream = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stream, transient=True, disable=not stream.is_terminal) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda share: bar.update(task, completed=share)


def table(words: Sequence[str], numbers: Sequence[str], notes: Sequence[str] = ()) -> Table:
    """A table without a frame: columns of words, then columns of numbers to the right, then columns of notes."""
    made = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False)
    for heading in words:
        made.add_column(heading, overflow="fold")
    for heading in numbers:
        made.add_column(heading, justify="right", no_wrap=True)
    for heading in notes:
        made.add_column(heading)
    return made


def at_most(number: Fraction) -> str:
    """Three significant digits, rounded up; of the part above one where the number is hardly larger.

    >>> at_most(Fraction(271828, 100000)), at_most(Fraction(1000001, 1000000)), at_most(Fraction(10**9 + 1))
    ('2.72', '1.000001', '1.01E+9')
    """
    base = Fraction(1) if 1 < number < Fraction(11, 10) else Fraction(0)
    context = Context(prec=3, rounding=ROUND_CEILING)
    part = context.divide(Decimal((number - base).numerator), Decimal((number - base).denominator))
    return str((part + int(base)).normalize())


def certificate(shown: Certificate) -> Panel:
    """What was promised, what the code does, and where it is worst."""
    loss, mechanism = shown.loss, shown.mechanism
    lines = Table.grid(padding=(0, 2))
    lines.add_column(style="bold", no_wrap=True)
    lines.add_column(overflow="fold")
    verdict = Text("holds", "bold green") if shown.holds else Text("DOES NOT HOLD", "bold red")
    lines.add_row("verdict", verdict)
    lines.add_row(
        "mechanism", Text(f"{mechanism.wire}, {formatted_size(mechanism.domain.size)} values, {mechanism.fingerprint}")
    )
    lines.add_row("budget", Text(f"epsilon {mechanism.epsilon:.12g} for {loss.unit}, {loss.protects}"))
    lines.add_row(
        "exact loss" if shown.worst_pair else "loss at most", Text(f"epsilon {loss.epsilon():.12g} for {loss.unit}")
    )
    if loss.odds is None:
        lines.add_row("odds", Text("unbounded: the worst report is impossible under one of the two answers"))
    else:
        written = written_odds(loss.odds)
        lines.add_row("odds", Text(formatted_odds(loss.odds, 9) + (f" = {written}" if written is not None else "")))
        which = "no report" if shown.disclosed is None else "a report that discloses no answer never"
        lines.add_row("in words", Text(f"{which} changes the odds of two answers more than {at_most(loss.odds)}-fold"))
    if shown.disclosed is not None:
        disclosed = f"disclosed {shown.disclosed:.1%} of the time; such a report can come from no other answer"
        lines.add_row("non-sensitive", Text(disclosed))
    lines.add_row("slack", Text(f"{shown.slack:.3g} of epsilon for {loss.unit}"))
    if shown.worst_pair is not None:
        first, second = map(shown_answer, shown.worst_pair)
        lines.add_row("worst pair", Text(f"{first} against {second}"))
        lines.add_row("worst report", Text(_report(shown)))
    for heading, text in shown.further():
        lines.add_row(heading, Text(text))
    lines.add_row("proof", Text(f"{loss.proof}: {shown.proved()}"))
    if mechanism.traced:
        lines.add_row("law", Text(f"{mechanism.law.fingerprint}, {len(mechanism.law.nodes):,} operations"))
    return Panel(lines, title="certificate", title_align="left", border_style="green" if shown.holds else "red")


def _report(shown: Certificate) -> str:
    """The worst report: its bytes and the answers it names, or what the proof says about it in words."""
    try:
        row = np.frombuffer(bytes.fromhex(shown.worst_report), np.uint8)
    except ValueError:  # the reports on several answers, in words
        return shown.worst_report
    digits = row[:SHOWN_BYTES].tobytes().hex() + (f"... ({len(row):,} bytes)" if len(row) > SHOWN_BYTES else "")
    answers = named(shown.mechanism, row)
    return f"{digits}, which names {_few(answers)}" if answers is not None else digits


def named(mechanism: Mechanism, row: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> list[str | int] | None:
    """The answers that a report supports, if the mechanism has such a notion; the report is a row of bytes."""
    if not isinstance(mechanism, PureProtocol):
        return None
    try:
        columns = mechanism.layout.columns(row[None, :])
    except InvalidReport:  # a mechanism that breaks its promise may break its layout too
        return None
    supported = mechanism.supports(columns, np.arange(mechanism.domain.size))[0]
    return [mechanism.domain.labels[int(cell)] for cell in np.flatnonzero(supported)]


def _few(answers: Sequence[str | int]) -> str:
    if len(answers) > 4:
        return f"{len(answers):,} answers"
    return ", ".join(repr(answer) for answer in answers) or "no answer"
