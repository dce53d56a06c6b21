"""Numbers, sets and records on the command line: the options that describe them, as the domain that a command gets."""

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, cast

import click

from deniable.cli import options
from deniable.cli.modes import has
from deniable.core import Domain
from deniable.domains import Categories, Interval, KeyValue, Vectors
from deniable.errors import InvalidParameter

MEAN_STEPS, STEPS = 1024, 256  # of the grid of numbers, unless it is given

target = click.option(
    "--target",
    type=click.Choice(["mean", "distribution", "quantiles", "ranges"]),
    default="mean",
    show_default=True,
    help="What to estimate.",
)


def mode(args: Sequence[str]) -> str:
    """Which kind of answers these arguments describe."""
    if has(args, "--numbers"):
        return "number"
    if has(args, "--item", "--items"):
        return "set"
    return "record" if has(args, "--answers") else "question"


def numbers(command: options.Command) -> options.Command:
    """The range of a number and what to estimate of it, which the command gets as its `domain` and `target`."""
    return _with(
        command,
        lambda target, numbers, steps: _numbers(numbers, steps or (MEAN_STEPS if target == "mean" else STEPS)),
        ["numbers", "steps"],
        click.option(
            "--steps",
            type=click.IntRange(min=1),
            metavar="S",
            help=f"Number of steps into which the range is divided; default: {MEAN_STEPS} for a mean, otherwise {STEPS}.",
        ),
        click.option(
            "--numbers",
            type=(float, float),
            required=True,
            metavar="LOW HIGH",
            help="The range of the numbers; it must be public.",
        ),
        target,
    )


def sets(command: options.Command) -> options.Command:
    """Items of which people have some, perhaps with a score each, which the command gets as its `domain`."""
    return _with(
        command,
        lambda target, words, file, at_most, scores: _sets(words, file, at_most, scores),
        ["words", "file", "at_most", "scores"],
        click.option(
            "--scores",
            type=(float, float),
            metavar="LOW HIGH",
            help="People also give each of their items a number in this range, such as a rating.",
        ),
        click.option("--at-most", type=int, metavar="K", help="How many items one person may have; default: all of them."),
        options.file_option("--items", "file", help="A file with one item per line."),
        click.option("--item", "words", multiple=True, metavar="WORD", help="One item; repeat the option for each."),
    )


def records(command: options.Command) -> options.Command:
    """The possible answers of each column of a record, which the command gets as its `domain`."""
    return _with(
        command,
        lambda target, answers: Vectors([_answers(each) for each in answers]),
        ["answers"],
        click.option(
            "--answers",
            multiple=True,
            required=True,
            metavar="A,B,C",
            help="The possible answers in one column, separated by commas; N means the numbers 0 to N - 1, and @FILE one "
            "answer per line. Repeat the option for each column, in order.",
        ),
    )


def _with(command: options.Command, made: Callable[..., Any], names: list[str], *given: Any) -> options.Command:
    """The command with these options, of which those named become its `domain`."""

    @wraps(command)
    def asked(*args: Any, **all_: Any) -> object:
        own = {name: all_.pop(name) for name in names}
        return command(*args, domain=made(all_.get("target"), **own), **all_)

    with_options = cast("options.Command", asked)
    for option in given:
        with_options = option(with_options)
    return with_options


def _numbers(ends: tuple[float, float], steps: int) -> Interval:
    return Interval(*ends, steps=steps)


def _sets(words: tuple[str, ...], file: Path | None, at_most: int | None, scores: tuple[float, float] | None) -> KeyValue:
    if bool(words) == (file is not None):
        raise InvalidParameter("Sets need items: --item for each, or --items FILE with one item per line.")
    items = list(words) if file is None else options.lines(file)
    low, high = (0.0, 1.0) if scores is None else scores
    domain = KeyValue(items, low, high, len(items) if at_most is None else at_most)
    if scores is not None and not domain.scored:
        raise InvalidParameter("Scores from 0 to 1 mean that people have an item or not. Use another range, such as 0 100.")
    return domain


def _answers(text: str) -> Domain:
    if text.startswith("@"):
        return Categories(options.lines(Path(text[1:])))
    if text.isascii() and text.isdigit() and len(text) < 10:
        return Categories(range(int(text)))
    return Categories([part.strip() for part in text.split(",") if part.strip()])
