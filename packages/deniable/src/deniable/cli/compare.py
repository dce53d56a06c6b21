"""`deniable compare`: predicted and measured errors of mechanisms, on simulated people."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from deniable.arrays import Ints
from deniable.cli import domains, options
from deniable.cli.mechanisms import NAMES
from deniable.cli.modes import Modes, has
from deniable.cli.release import compare_mode as releases_mode
from deniable.cli.targets import draw
from deniable.core import AnyDomain
from deniable.domains import Categories, Interval, KeyValue, Vectors
from deniable.files.histogram import read_histogram
from deniable.planning.aims import Truth, people_by_answer, scaled
from deniable.planning.measured import compare as measured
from deniable.planning.ranking import short_name


def _mode(args: Sequence[str]) -> str:
    return "histogram" if has(args, "--histogram") else domains.mode(args)


@click.group(cls=Modes, pick=_mode, short_help="Measure the errors of mechanisms and compare them with the predictions.")
def compare() -> None:
    """Simulate whole collections and compare the measured error of each mechanism with the predicted one.

    People with known answers are randomized, counted and estimated, many times over. The measured squared error divided by
    the predicted one should be 1; its standard error follows it. Times are seconds for a million reports on this
    machine, in the fastest collection.

    \b
    deniable compare --values 64 --epsilon 1 --people 10000
    deniable compare --numbers 0 120 --epsilon 1 --people 10000
    deniable compare --histogram ratings.csv --value-column rating --epsilon 1 --top 3
    deniable compare releases --numbers 18 99 --epsilon 1

    Mechanisms of other packages take part (see docs/extending.md). You can leave the mode out: --histogram means histogram,
    --numbers means number, --item or --items means set, --answers means record, and anything else means question.
    """


def simulation(command: options.Command) -> options.Command:
    """The options of a simulation."""
    for option in (
        options.json_flag,
        options.picture,
        options.seed,
        click.option("--mechanisms", "names", metavar="A,B,C", help="Compare only these, separated by commas."),
        click.option(
            "--repeats", type=click.IntRange(min=2), default=20, show_default=True, metavar="R",
            help="How many collections to simulate for each mechanism.",
        ),
        options.epsilon,
    ):  # fmt: skip
        command = option(command)
    return command


def of_shares(command: options.Command) -> options.Command:
    """Also the options that only the shares of single answers have."""
    top = click.option(
        "--top", type=click.IntRange(min=1), metavar="K",
        help="Also measure how well the K largest shares are found and ranked.",
    )  # fmt: skip
    return options.sensitive(top(simulation(command)))


truth_option = click.option(
    "--truth",
    type=click.Choice(["zipf", "uniform"]),
    default="zipf",
    show_default=True,
    help="What people answer: the x-th value in proportion to 1/x, or all values equally often.",
)


@compare.command("question", short_help="A question, answered by made-up people.", epilog=f"Names of mechanisms: {NAMES}.")
@options.question
@options.people
@truth_option
@of_shares
def question_mode(
    question: Categories,
    people: int,
    truth: Truth,
    secrets: tuple[str, ...],
    **given: Any,
) -> None:
    """Compare the mechanisms for a question that made-up people answer.

    \b
    deniable compare --values 64 --epsilon 1 --people 10000
    deniable compare --values 1024 --epsilon 2 --people 20000 --mechanisms subset,design,wheel --picture errors.png
    deniable compare --category yes --category no --epsilon 0.5 --people 1000 --repeats 200 --seed 1 --json

    With --sensitive, the mechanisms protect only those answers and are compared with the published ones (uSS, uUE). All are
    tuned for the true share of the other answers unless you give --open-share.
    """
    _show(question, people_by_answer(question, people, truth), truth, secrets, **given)


@compare.command("histogram", short_help="Known counts of answers.", epilog=f"Names of mechanisms: {NAMES}.")
@options.file_option(
    "--histogram", help="A CSV file of answers and how many people gave each; it may end in .gz.", required=True
)
@click.option("--value-column", default="value", show_default=True, metavar="NAME", help="The column of answers.")
@click.option("--count-column", default="count", show_default=True, metavar="NAME", help="The column of people.")
@click.option("--sensitive-column", metavar="NAME", help="The column with 1 for a sensitive answer and 0 for the others.")
@click.option("--people", type=int, metavar="N", help="Scale the counts to N people; by default they stay as they are.")
@of_shares
def histogram_mode(
    histogram: Path,
    value_column: str,
    count_column: str,
    sensitive_column: str | None,
    people: int | None,
    secrets: tuple[str, ...],
    **given: Any,
) -> None:
    """Compare the mechanisms for a question whose answers are known, from a histogram.

    \b
    deniable compare --histogram ratings.csv --value-column rating --sensitive 1 --sensitive 2 --epsilon 1 --top 3
    """
    table = read_histogram(histogram, value_column, count_column, sensitive_column)
    answers = scaled(table.people, sum(table.people) if people is None else people)
    _show(Categories(table.labels), answers, "histogram", secrets or (table.sensitive or ()), **given)


@compare.command("number", short_help="The mean of a number, or its distribution, for made-up people.")
@domains.numbers
@options.people
@truth_option
@simulation
def number_mode(domain: Interval, target: str, people: int, truth: Truth, **given: Any) -> None:
    """Compare the mechanisms for the mean of a number, or for its distribution.

    \b
    deniable compare --numbers 0 120 --epsilon 1 --people 10000
    deniable compare --numbers 0 120 --target ranges --steps 64 --epsilon 1 --people 10000
    """
    _simulate(domain, people, truth, target=target, truth=truth, **given)


@compare.command("set", short_help="Sets of items that made-up people have.")
@domains.sets
@options.people
@truth_option
@simulation
def set_mode(domain: KeyValue, people: int, truth: Truth, **given: Any) -> None:
    """Compare the mechanisms for sets of items, by the errors of frequencies and, with --scores, of weights.

    \b
    deniable compare --item Git --item Jira --item Slack --at-most 2 --epsilon 1 --people 10000
    """
    _simulate(domain, people, truth, target="shares" if domain.scored else "frequencies", truth=truth, **given)


@compare.command("record", short_help="Records of several answers, for made-up people.")
@domains.records
@options.people
@truth_option
@simulation
def record_mode(domain: Vectors, people: int, truth: Truth, **given: Any) -> None:
    """Compare the mechanisms for records of several answers.

    \b
    deniable compare --answers yes,no --answers car,bus,walk --epsilon 1 --people 10000
    """
    _simulate(domain, people, truth, truth=truth, **given)


compare.add_command(releases_mode, "releases")


def _show(question: Categories, answers: Ints, truth: str, secrets: tuple[str, ...], **given: Any) -> None:
    """Compare the mechanisms for the shares of single answers."""
    _simulate(question, answers, truth, sensitive=options.secrets_of(question, secrets), **given)


def _simulate(
    domain: AnyDomain,
    n: int | Ints,
    shape: str,
    *,
    epsilon: float,
    repeats: int,
    names: str | None,
    seed: int | None,
    picture: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Run the simulation and print it."""
    from deniable.cli import panel  # loads rich, which --help does not need

    with panel.progress("simulating") as advance_to:
        found = measured(
            domain,
            epsilon,
            n,
            mechanisms=None if names is None else names.split(","),
            repeats=repeats,
            coins=options.coins_of(seed),
            progress=advance_to,
            **given,
        )
    found = replace(found, rows=tuple(replace(row, name=short_name(row.name)) for row in found.rows))
    if picture is not None:
        draw(found.plot(), picture)
    if as_json:
        about = {"people": found.people, "repeats": repeats, "truth": shape}
        click.echo(json.dumps(about | {"mechanisms": [row.record() for row in found.rows]}))
        return
    console = panel.console()
    console.print(f"{found.subject}:", markup=False)
    console.print(found.table(), markup=False, soft_wrap=True)  # its lines are wider than narrow terminals
    console.print(found.legend(), markup=False)
    if picture is not None:
        console.print(f"Wrote the picture to {picture}.", soft_wrap=True, markup=False)
