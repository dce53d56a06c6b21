"""`deniable plan`: which mechanism suits a question, what it costs and how well it will work."""

import json
from collections.abc import Sequence
from pathlib import Path

import click

from deniable.cli import options, surveys
from deniable.cli.mechanisms import MAKERS
from deniable.cli.modes import Modes, has, names_survey
from deniable.cli.targets import write_text
from deniable.core import Mechanism
from deniable.domains import Categories, Interval
from deniable.errors import InvalidParameter
from deniable.planning import measured_cost
from deniable.planning import options as share_options
from deniable.planning.distributions import distribution_options, plan_distribution
from deniable.planning.means import mean_options, people_for_mean, plan_mean
from deniable.planning.planner import people_for
from deniable.planning.ranking import Ranking, short_name
from deniable.planning.repeated import plan_repeated
from deniable.planning.shares import best_for_shares
from deniable.survey import Survey, plan_survey
from deniable.wrappers.utility_optimized import OPEN_SHARE


def _mode(args: Sequence[str]) -> str:
    if names_survey(args):
        return "survey"
    if has(args, "--once"):
        return "repeated"
    return "number" if has(args, "--numbers") else "question"


@click.group(cls=Modes, pick=_mode, short_help="Choose the mechanism for a question or a survey.")
def plan() -> None:
    """Choose a mechanism before anything is collected, and predict its error.

    The error follows from the exact probabilities of each mechanism, without a simulation. Among the mechanisms with nearly
    the smallest error, the one with the smallest reports is chosen, then the one with the least work for the server.

    \b
    deniable plan --category yes --category no --epsilon 1 --people 5000
    deniable plan --numbers 0 120 --epsilon 1 --people 5000
    deniable plan --values 20 --epsilon 2 --once 1 --people 50000
    deniable plan survey.toml --people 50000

    You can leave the mode out, as above: a file that ends in .toml means survey, --once means repeated, --numbers means
    number, and anything else means question. For the options of a mode, see for example deniable plan question --help.
    """


out_option = options.target("--out", help="Write the mechanism to FILE, as JSON.")
time_option = click.option(
    "--time", "timed", is_flag=True, help="Also measure the time that device and server need, on this machine."
)
people_option = click.option(
    "--people", "--n", "people", type=int, required=True, metavar="N", help="How many people will answer."
)
max_bits_option = click.option("--max-bits", type=int, metavar="B", help="The largest size of a report, in bits.")


def _finish(mechanism: Mechanism, out: Path | None, timed: bool, record: dict[str, object] | None, needed: str = "") -> None:
    """Write the mechanism, then print it: as JSON, or with the reason why it was chosen."""
    if out is not None:
        write_text(out, mechanism.to_json() + "\n")
    if record is not None:
        click.echo(json.dumps(record))
        return

    from deniable.cli import panel  # loads rich, which --help does not need

    console = panel.console()
    for line in (mechanism.explain(), needed, f"Cost of a report: {measured_cost(mechanism)}." if timed else ""):
        if line:
            console.print(line, markup=False)
    if out is not None:
        console.print(f"Wrote the mechanism to {out}.", soft_wrap=True, markup=False)


def _record(ranking: Ranking[Mechanism], needed: int | None) -> dict[str, object]:
    best = ranking.best
    record = {"chosen": best.name, "mechanism": best.mechanism.spec(), "fingerprint": best.mechanism.fingerprint}
    return record | {"options": ranking.records()} | ({} if needed is None else {"people_needed": needed})


@plan.command("question", short_help="The shares of the answers to one question.")
@options.question
@options.sensitive
@options.epsilon
@people_option
@max_bits_option
@click.option("--mechanism", "name", type=click.Choice(list(MAKERS)), help="Use this mechanism instead of the best one.")
@click.option(
    "--error", type=float, metavar="SHARE", help="Also say how many people must answer for this margin of error: 0.01."
)
@out_option
@time_option
@options.force
@options.json_flag
def question_mode(
    question: Categories,
    secrets: tuple[str, ...],
    open_share: float | None,
    epsilon: float,
    people: int,
    max_bits: int | None,
    name: str | None,
    error: float | None,
    out: Path | None,
    timed: bool,
    as_json: bool,
) -> None:
    """Compare all mechanisms for a question and choose one.

    \b
    deniable plan --category yes --category no --epsilon 1 --people 5000
    deniable plan --categories towns.txt --other elsewhere --epsilon 2 --people 100000 --out mechanism.json
    deniable plan --values 1024 --epsilon 1 --people 50000 --max-bits 16
    deniable plan --values 100 --epsilon 1 --people 50000 --error 0.01
    deniable plan --values 100 --sensitive 0-19 --open-share 0.9 --epsilon 1 --people 50000

    With --sensitive, only those answers are protected. A report may disclose one of the others; all other reports are as
    indistinguishable as the budget requires.

    Devices, collectors and analysts share the FILE that --out writes: see deniable perturb, certify and estimate.
    """
    secret = options.secrets_of(question, secrets)
    ranking = share_options(question, epsilon, people, secret, OPEN_SHARE if open_share is None else open_share)
    ranking = ranking.renamed(short_name).within(max_bits, name)
    mechanism = best_for_shares(ranking, people)
    needed = None if error is None else people_for(mechanism, error)
    said = ""
    if error is not None:
        margin = f"within {100 * error:g} percentage points at 95 % confidence"
        said = f"For each share to be {margin}, {needed:,} people must answer."
    _finish(mechanism, out, timed, _record(ranking, needed) if as_json else None, said)


@plan.command("number", short_help="The mean of a number, or its distribution.")
@click.option(
    "--numbers", type=(float, float), required=True, metavar="LOW HIGH", help="The range of the numbers; it must be public."
)
@click.option(
    "--steps", type=int, metavar="S", help="Into how many steps the range is cut; default: 1024 for a mean, otherwise 256."
)
@click.option(
    "--target",
    type=click.Choice(["mean", "distribution", "quantiles", "ranges"]),
    default="mean",
    show_default=True,
    help="What to estimate.",
)
@click.option(
    "--prior", type=click.Choice(["smooth", "spiky"]), help="What is known about the distribution; default: nothing."
)
@options.epsilon
@people_option
@max_bits_option
@click.option("--error", type=float, metavar="E", help="Also say how many people must answer for this standard error.")
@out_option
@time_option
@options.force
@options.json_flag
def number_mode(
    numbers: tuple[float, float],
    steps: int | None,
    target: str,
    prior: str | None,
    epsilon: float,
    people: int,
    max_bits: int | None,
    error: float | None,
    out: Path | None,
    timed: bool,
    as_json: bool,
) -> None:
    """Compare all mechanisms for the mean of a number, or for its distribution, and choose one.

    \b
    deniable plan number --numbers 0 120 --epsilon 1 --people 5000 --out minutes.json
    deniable plan number --numbers 0 200000 --epsilon 1 --people 5000 --error 1000
    deniable plan number --numbers 0 120 --target quantiles --epsilon 1 --people 50000 --out ages.json
    """
    if target != "mean":
        if error is not None:
            raise InvalidParameter("--error is for the mean. Leave it out: the plan shows the error for so many people.")
        grid = Interval(*numbers, steps=256 if steps is None else steps)
        chosen = plan_distribution(grid, epsilon, people, target, prior, max_bits)
        options_ = distribution_options(grid, epsilon, people, target, prior).within(max_bits) if as_json else None
        _finish(chosen, out, timed, None if options_ is None else _record(options_, None))
        return
    if prior is not None:
        raise InvalidParameter("--prior is for the distribution. Add --target distribution, or leave it out.")
    domain = Interval(*numbers, steps=1024 if steps is None else steps)
    mechanism = plan_mean(domain, epsilon, people, max_bits)
    needed = None if error is None else people_for_mean(mechanism, error)
    said = "" if needed is None else f"For a standard error of {error:g}, {needed:,} people must answer."
    record = _record(mean_options(domain, epsilon, people).within(max_bits), needed) if as_json else None
    _finish(mechanism, out, timed, record, said)


@plan.command("repeated", short_help="A question that is asked repeatedly.")
@options.question
@click.option("--epsilon", type=float, required=True, metavar="E", help="The privacy budget of all reports of a person.")
@click.option("--once", type=float, required=True, metavar="E", help="The privacy budget of one report.")
@people_option
@click.option(
    "--changes", type=int, default=1, show_default=True, metavar="K", help="How many different values a person may have."
)
@out_option
@time_option
@options.force
def repeated_mode(
    question: Categories,
    epsilon: float,
    once: float,
    people: int,
    changes: int,
    out: Path | None,
    timed: bool,
) -> None:
    """Choose a mechanism for a question that is asked repeatedly.

    The device draws a permanent answer once and keeps it; every report randomizes the permanent answer again. --epsilon
    bounds all reports that a person ever sends, and --once each report alone.

    \b
    deniable plan --values 20 --epsilon 2 --once 1 --people 50000
    """
    mechanism = plan_repeated(question, epsilon, once, people, changes)
    _finish(mechanism, out, timed, None)


@plan.command("survey", short_help="All questions of a survey.")
@surveys.argument
@click.option("--people", "--n", "people", type=int, metavar="N", help="How many people will answer; default: as in SURVEY.")
@time_option
def survey_mode(survey: Path, people: int | None, timed: bool) -> None:
    """Show the mechanism, the expected error and the cost of every question of SURVEY.

    It also says whether the questions should share the budget of a person, or whether each person should answer only some
    of them, drawn at random.

    \b
    deniable plan survey.toml
    deniable plan survey.toml --people 50000
    """
    click.echo(plan_survey(Survey.load(survey), people, timed).explain())
