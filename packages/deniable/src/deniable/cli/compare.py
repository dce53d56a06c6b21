"""`deniable compare`: predicted and measured errors of mechanisms, on simulated people."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from deniable.arrays import Ints
from deniable.cli import options
from deniable.cli.mechanisms import NAMES
from deniable.cli.modes import Modes, has
from deniable.cli.release import compare_mode as releases_mode
from deniable.cli.targets import draw
from deniable.domains import Categories
from deniable.files.histogram import read_histogram
from deniable.planning.measured import Truth, people_by_answer, scaled
from deniable.planning.measured import compare as measured
from deniable.planning.ranking import short_name


def _mode(args: Sequence[str]) -> str:
    return "histogram" if has(args, "--histogram") else "question"


@click.group(cls=Modes, pick=_mode, short_help="Measure the errors of mechanisms and compare them with the predictions.")
def compare() -> None:
    """Simulate whole collections and compare the measured error of each mechanism with the predicted one.

    People with known answers are randomized, counted and estimated, many times over. The measured squared error divided by
    the predicted one should be 1; its standard error stands behind it. Times are seconds for a million reports on this
    machine, in the fastest collection.

    \b
    deniable compare --values 64 --epsilon 1 --people 10000
    deniable compare --histogram ratings.csv --value-column rating --epsilon 1 --top 3
    deniable compare releases --numbers 18 99 --epsilon 1

    You can leave the mode out: --histogram means histogram, and anything else means question.
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
        click.option(
            "--top", type=click.IntRange(min=1), metavar="K",
            help="Also measure how well the K largest shares are found and ranked.",
        ),
        options.epsilon,
        options.sensitive,
    ):  # fmt: skip
        command = option(command)
    return command


@compare.command("question", short_help="A question, answered by made-up people.", epilog=f"Names of mechanisms: {NAMES}.")
@options.question
@options.people
@click.option(
    "--truth",
    type=click.Choice(["zipf", "uniform"]),
    default="zipf",
    show_default=True,
    help="What people answer: the x-th value in proportion to 1/x, or all values equally often.",
)
@simulation
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
@simulation
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


compare.add_command(releases_mode, "releases")


def _show(
    question: Categories,
    answers: Ints,
    truth: str,
    secrets: tuple[str, ...],
    open_share: float | None,
    epsilon: float,
    top: int | None,
    repeats: int,
    names: str | None,
    seed: int | None,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Run the simulation and print it."""
    from deniable.cli import panel  # loads rich, which --help does not need

    with panel.progress("simulating") as advance_to:
        found = measured(
            question,
            epsilon,
            answers,
            sensitive=options.secrets_of(question, secrets),
            open_share=open_share,
            mechanisms=None if names is None else names.split(","),
            repeats=repeats,
            top=top,
            coins=options.coins_of(seed),
            progress=advance_to,
        )
    found = replace(found, rows=tuple(replace(row, name=short_name(row.name)) for row in found.rows))
    if picture is not None:
        draw(found.plot(), picture)
    if as_json:
        about = {"people": found.people, "repeats": repeats, "truth": truth}
        click.echo(json.dumps(about | {"mechanisms": [row.record() for row in found.rows]}))
        return
    console = panel.console()
    console.print(str(found), markup=False)
    if picture is not None:
        console.print(f"Wrote the picture to {picture}.", soft_wrap=True, markup=False)
