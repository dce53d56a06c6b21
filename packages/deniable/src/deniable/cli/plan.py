"""`deniable plan`: which mechanism suits a question, what it costs and how well it will work."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli import options
from deniable.cli.mechanisms import MAKERS, short
from deniable.cli.surveys import show_plan
from deniable.cli.targets import check_target, write_text
from deniable.core.domain import Label
from deniable.domains import Categories
from deniable.errors import InvalidParameter
from deniable.planning import CLOSE, Option, chosen, measured_cost, plan_repeated, required_n
from deniable.planning import options as planned
from deniable.wrappers.utility_optimized import OPEN_SHARE

if TYPE_CHECKING:
    from rich.table import Table


LEGEND = (
    "error: of a share, in % points; squared: the error squared, beside the smallest; bits: of a report; work: steps of the "
    "server for a report; guess: how often a report gives the answer away to somebody who knows nothing else"
)


@click.command(short_help="Choose the mechanism for a question.")
@click.argument("survey", type=click.Path(path_type=Path), metavar="[SURVEY]", required=False)
@options.question
@options.sensitive
@click.option("--epsilon", type=float, metavar="E", help="The privacy budget of one answer.")
@click.option("--people", "--n", "people", type=int, metavar="N", help="How many people will answer.")
@click.option("--max-bits", type=int, metavar="B", help="The most bits that a report may take.")
@click.option("--mechanism", "name", type=click.Choice(list(MAKERS)), help="Take this one instead of the best.")
@click.option("--error", type=float, metavar="SHARE", help="Also tell how many people an error of this size takes: 0.01.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write the mechanism to FILE, as JSON.")
@click.option("--once", type=float, metavar="E", help="For a question that is asked again and again: epsilon of one report.")
@click.option(
    "--changes", type=int, metavar="K", help="With --once: how many values a person may have over time; 1 unless given."
)
@click.option("--time", "timed", is_flag=True, help="Also measure the time of device and server, on this machine.")
@options.force
@options.json_flag
def plan(
    survey: Path | None,
    values: int | None,
    words: tuple[str, ...],
    file: Path | None,
    other: str | None,
    secrets: tuple[str, ...],
    open_share: float | None,
    epsilon: float | None,
    people: int | None,
    max_bits: int | None,
    name: str | None,
    error: float | None,
    out: Path | None,
    once: float | None,
    changes: int | None,
    timed: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Compare all mechanisms for a question and choose one.

    The error is that of an estimated share, in percentage points: the root of the mean square over all answers. It follows
    from the exact law of each mechanism, without any trial. Of those with nearly the smallest error the one with the
    smallest reports is chosen, then the one with the least work for the server.

    \b
    deniable plan --category yes --category no --epsilon 1 --people 5000
    deniable plan --categories towns.txt --other elsewhere --epsilon 2 --people 100000 --out mechanism.json
    deniable plan --values 1024 --epsilon 1 --people 50000 --max-bits 16
    deniable plan --values 100 --epsilon 1 --people 50000 --error 0.01
    deniable plan --values 100 --sensitive 0-19 --open-share 0.9 --epsilon 1 --people 50000

    With --sensitive, only those answers are protected: a report that tells another one can come from nobody else, and all
    other reports are as alike as the budget asks.

    With a survey.toml instead of a question, the mechanisms it takes are shown, and whether the budget of a person is better
    shared by all questions or spent on some of them, drawn at random:

    \b
    deniable plan survey.toml
    deniable plan survey.toml --n 50000

    With --once, the question is asked again and again: the device keeps a permanent answer, --epsilon is for all reports
    ever made of it, and --once for each of them alone.

    \b
    deniable plan --values 20 --epsilon 2 --once 1 --people 50000

    FILE is what devices, collectors and analysts share: see deniable perturb, certify and estimate.
    """
    if survey is not None:
        given = (values, file, other, open_share, epsilon, max_bits, name, error, out, once, changes)
        if any(option is not None for option in given) or words or secrets or as_json:
            raise InvalidParameter("A survey holds its own questions and budget. Leave all options but --n and --time out.")
        show_plan(survey, people, timed)
        return
    if epsilon is None or people is None:
        raise InvalidParameter("A plan needs --epsilon, the budget of one answer, and --people, how many will answer.")
    check_target(out, force)
    if once is not None:
        if secrets or name is not None or max_bits is not None or error is not None or as_json:
            raise InvalidParameter(
                "A plan with --once takes a question, --epsilon, --people and --changes, and nothing else."
            )
        kept = plan_repeated(options.domain(values, words, file, other), epsilon, once, people, changes or 1)
        if out is not None:
            write_text(out, kept.to_json() + "\n")
        click.echo(kept.explain())
        if timed:
            click.echo(f"cost of a report: {measured_cost(kept)}")
        return
    if changes is not None:
        raise InvalidParameter("--changes is for a question that is asked again and again: give --once as well.")
    if name is not None and max_bits is not None:
        raise InvalidParameter("Give --mechanism or --max-bits, not both: a mechanism has the bits it has.")
    if error is not None and (name is not None or max_bits is not None):
        raise InvalidParameter("--error tells about the best mechanism. Leave --mechanism and --max-bits out.")
    question = options.domain(values, words, file, other)
    secret = options.secrets_of(question, secrets)
    ranked = planned(question, epsilon, people, secret, OPEN_SHARE if open_share is None else open_share)
    named = [option for option in ranked if short(option.name) == name]
    if name and not named:
        raise InvalidParameter(f"{name} is not for this question. Leave --mechanism out to see what is.")
    best = named[0] if name else chosen(ranked, max_bits)
    needed = None if error is None else required_n(question, epsilon, error, sensitive=secret)
    if out is not None:
        write_text(out, best.mechanism.to_json() + "\n")
    if as_json:
        click.echo(json.dumps(_record(ranked, best, needed)))
        return

    from deniable.cli import panel  # loads rich, which --help does not need

    console = panel.console()
    console.print(f"{_subject(question, secret, epsilon, people)}:", markup=False)
    console.print(_table(ranked, best))
    console.print(LEGEND, style="dim", markup=False)
    console.print(_reason(ranked, best, name, max_bits), markup=False)
    if error is not None:
        console.print(
            f"For every share to be right within {100 * error:g} points, each at 95 % confidence, {needed:,} people must "
            "answer.",
            markup=False,
        )
    if out is not None:
        console.print(f"The mechanism is in {out}.", soft_wrap=True, markup=False)


def _subject(question: Categories, secret: list[Label] | None, epsilon: float, people: int) -> str:
    some = "" if secret is None else f", {len(set(secret)):,} of them sensitive"
    return f"{question.size:,} answers{some}, epsilon {epsilon:g} for one answer, {people:,} people"


def _table(ranked: list[Option], best: Option) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("mechanism", no_wrap=True)
    for heading in ("error", "squared", "bits", "work", "guess"):
        table.add_column(heading, justify="right", no_wrap=True)
    for option in ranked:
        table.add_row(
            ">" if option is best else "",
            short(option.name),
            f"{100 * option.error:.3g}",
            f"x {_ratio(ranked, option):.3f}",
            f"{option.bits:,}",
            f"{option.work:,}",
            f"{100 * option.guess:.3g} %",
            style="bold" if option is best else None,
        )
    return table


def _ratio(ranked: list[Option], option: Option) -> float:
    return (option.error / ranked[0].error) ** 2


def _reason(ranked: list[Option], best: Option, name: str | None, max_bits: int | None) -> str:
    ratio = f"its squared error is {_ratio(ranked, best):.3f} times the smallest"
    if name is not None:
        return f"You asked for {short(best.name)}: {ratio}."
    among = "all mechanisms" if max_bits is None else f"those that report in at most {max_bits:,} bits"
    return (
        f"Take {short(best.name)}: {ratio}. Of {among} whose squared error is within {100 * (CLOSE - 1):.1f} % of the "
        f"smallest among them, it has the smallest reports ({best.bits:,} bit{'s' * (best.bits > 1)}), and of those the "
        "least work."
    )


def _record(ranked: list[Option], best: Option, needed: int | None) -> dict[str, object]:
    return {
        "chosen": short(best.name),
        "mechanism": best.mechanism.spec(),
        "fingerprint": best.mechanism.fingerprint,
        "options": [
            {
                "name": short(option.name),
                "error": option.error,
                "squared_to_smallest": _ratio(ranked, option),
                "bits": option.bits,
                "work": option.work,
                "guess": option.guess,
                "liar": option.liar,
            }
            for option in ranked
        ],
    } | ({} if needed is None else {"people_needed": needed})
