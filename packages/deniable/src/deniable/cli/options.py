"""Options that several verbs share, and what comes out of them: a question, a mechanism, coins, files to write."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from deniable.cli.targets import check_picture, check_target
from deniable.core import Coins, Label, Mechanism, SecureCoins, SeededCoins
from deniable.domains import Categories
from deniable.errors import InvalidParameter
from deniable.wrappers.utility_optimized import OPEN_SHARE

Command = TypeVar("Command", bound=Callable[..., object])

EPSILON = "The privacy budget of one answer."
PICTURE = "picture.png"
FORCE = "deniable.force"  # where a context says that files may be replaced


def file_option(*names: str, metavar: str = "FILE", **named: Any) -> Callable[[Command], Command]:
    """An option that takes the path of a file."""
    return click.option(*names, type=click.Path(path_type=Path), metavar=metavar, **named)


def target(*names: str, help: str, required: bool = False) -> Callable[[Command], Command]:
    """An option that takes the path of a file to write, refused before any work if it could not be written."""

    def check(ctx: click.Context, _: click.Parameter, path: Path | None) -> Path | None:
        check_target(path, ctx.meta.get(FORCE, False))
        return path

    return file_option(*names, help=help, required=required, callback=check)


def at_scale(command: Command) -> Command:
    """Where the work is done: a cluster, or so many processes on this machine."""
    workers = click.option(
        "--workers", type=click.IntRange(min=1), metavar="N", help="Processes on this machine. Default: one per core."
    )
    engine = click.option(
        "--engine",
        metavar="ADDRESS",
        help="Count on a cluster: dask://HOST:8786, spark://HOST:7077, or spark under spark-submit. Default: this machine.",
    )
    return engine(workers(command))


def question(command: Command) -> Command:
    """The possible answers, by number, one by one, or from a file, which the command gets as its `question`."""

    @wraps(command)
    def asked(*args: Any, values: int | None, words: Any, file: Path | None, other: str | None, **given: Any) -> object:
        return command(*args, question=domain(values, words, file, other), **given)

    with_options = cast("Command", asked)
    for option in (
        click.option(
            "--other",
            metavar="WORD",
            help="The answer that replaces all answers not in the list; without it, those are refused.",
        ),
        file_option("--categories", "file", help="A file with one possible answer per line."),
        click.option(
            "--category", "words", multiple=True, metavar="WORD", help="One possible answer; repeat the option for each."
        ),
        click.option("--values", type=int, metavar="N", help="The question has N numbered answers, 0 to N - 1."),
    ):
        with_options = option(with_options)
    return with_options


def domain(values: int | None, words: tuple[str, ...], file: Path | None = None, other: str | None = None) -> Categories:
    """The question that the options describe."""
    if (values is not None) + bool(words) + (file is not None) != 1:
        raise InvalidParameter(
            "A mechanism needs a question: --values N for N numbered answers, --category for each answer, or --categories "
            "FILE with one answer per line. Give exactly one of them."
        )
    if values is not None:
        if other is not None and not other.isdigit():
            raise InvalidParameter("With numbered answers, --other must be one of the numbers.")
        return Categories(range(values), None if other is None else int(other))
    labels: list[Label] = [*words] if file is None else [*lines(file)]
    if other is not None and other not in labels:
        labels.append(other)
    return Categories(labels, other)


secrets_only = click.option(
    "--sensitive",
    "secrets",
    multiple=True,
    metavar="WORD",
    help="A sensitive answer; the others are then not protected. Repeat the option for each; numbers also as 5-9.",
)


def sensitive(command: Command) -> Command:
    """Which answers are sensitive, where not all are, and how many people have one of the others."""
    share = click.option(
        "--open-share",
        type=float,
        default=None,
        metavar="SHARE",
        help=f"The expected share of people whose answer is not sensitive; {OPEN_SHARE:g} by default.",
    )
    return secrets_only(share(command))


def secrets_of(question: Categories, words: tuple[str, ...]) -> list[Label] | None:
    """The sensitive answers that the options name; None if they name none."""
    if not words:
        return None
    if not isinstance(question.labels, range):
        return [*words]
    numbers: list[Label] = []
    for word in words:
        first, _, last = word.partition("-")
        if not first.isdigit() or not (last or first).isdigit() or len(word) > 20:
            raise InvalidParameter("With numbered answers, --sensitive takes a number, or a range such as 5-9.")
        if not int(first) <= int(last or first) < question.size:
            raise InvalidParameter(
                f"--sensitive names an answer that is not there. The answers are 0 to {question.size - 1:,}: give one of "
                "them, or a range such as 0-1."
            )
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def lines(file: Path) -> list[str]:
    """The lines of a text file that are not empty."""
    try:
        found = file.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise InvalidParameter(f"The file {str(file)!r} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise InvalidParameter(f"The file {str(file)!r} is not UTF-8 text. Save it in that encoding.") from error
    return [line for line in (line.removesuffix("\r") for line in found) if line]


seed = click.option(
    "--seed", type=int, metavar="N", help="Use repeatable coins, for experiments only; by default they are secure."
)


def coins_of(number: int | None) -> Coins:
    """Secure coins, or those of a seed."""
    return SecureCoins() if number is None else SeededCoins(number)


def _mechanism(_: click.Context, __: click.Parameter, file: Path) -> Mechanism:
    from deniable.cli.mechanisms import read_mechanism

    return read_mechanism(file)


def _picture(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    check_picture(path)
    return path


def _force(ctx: click.Context, _: click.Parameter, given: bool) -> None:
    ctx.meta[FORCE] = given


mechanism = file_option(
    "--mechanism",
    help="The mechanism of the reports: the JSON file that deniable plan wrote.",
    required=True,
    callback=_mechanism,
)
force = click.option(
    "--force", is_flag=True, is_eager=True, expose_value=False, callback=_force, help="Replace files that exist already."
)
json_flag = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on one line.")
picture = file_option(
    "--picture",
    metavar="[FILE]",
    help=f"Write a picture to FILE: png, svg or pdf. Without FILE, to {PICTURE}.",
    is_flag=False,
    flag_value=Path(PICTURE),
    callback=_picture,
)
alpha = click.option(
    "--alpha",
    type=float,
    default=1.5,
    show_default=True,
    help="Compression: larger values save bits and increase the error.",
)
confidence = click.option(
    "--confidence", type=float, default=0.95, show_default=True, metavar="C", help="Confidence level of the intervals."
)
epsilon = click.option("--epsilon", type=float, required=True, metavar="E", help=EPSILON)
people = click.option("--people", type=int, required=True, metavar="N", help="How many people will answer.")
