"""`deniable plan`: which mechanism suits a question, what it costs and how well it will work."""

import json
from collections.abc import Sequence
from pathlib import Path

import click

from deniable.cli import domains, options, surveys
from deniable.cli.mechanisms import MAKERS
from deniable.cli.modes import Modes, has, names_survey
from deniable.cli.targets import write_text
from deniable.core import Mechanism
from deniable.domains import Categories, Interval, KeyValue, Vectors
from deniable.errors import InvalidParameter
from deniable.planning import measured_cost
from deniable.planning import options as share_options
from deniable.planning.distributions import distribution_options, plan_distribution
from deniable.planning.key_value import key_value_options
from deniable.planning.means import aimed_at_mean, bounded, mean_options, people_for_mean, plan_mean
from deniable.planning.ranking import Ranking, percent, planned, short_name
from deniable.planning.records import plan_records, record_options
from deniable.planning.repeated import plan_repeated
from deniable.planning.shares import aimed_at, best_for_shares, people_for, percentage_points
from deniable.survey import Survey, plan_survey
from deniable.wrappers.utility_optimized import OPEN_SHARE

BUDGETS = (0.25, 0.5, 1.0, 2.0, 4.0)  # compared if none is given
PEOPLE = 10_000  # as in survey files


def _mode(args: Sequence[str]) -> str:
    if names_survey(args):
        return "survey"
    if has(args, "--once"):
        return "repeated"
    return domains.mode(args)


@click.group(cls=Modes, pick=_mode, short_help="Choose the mechanism for a question or a survey.")
def plan() -> None:
    """Choose a mechanism before anything is collected, and predict its error.

    The error follows from the exact probabilities of each mechanism, without a simulation. Among the mechanisms with nearly
    the smallest error, the one with the smallest reports is chosen, then the one with the least work for the server.

    \b
    deniable plan --category yes --category no --epsilon 1 --people 5000
    deniable plan --numbers 0 120 --epsilon 1 --people 5000
    deniable plan --item Git --item Jira --item Slack --epsilon 1 --people 5000
    deniable plan --answers yes,no --answers car,bus,walk --epsilon 1 --people 5000
    deniable plan --values 20 --epsilon 2 --once 1 --people 50000
    deniable plan survey.toml --people 50000

    You can leave the mode out, as above: a file that ends in .toml means survey, --once means repeated, --numbers means
    number, --item or --items means set, --answers means record, and anything else means question. For the options of a mode,
    see for example deniable plan question --help.
    """


out_option = options.target("--out", help="Write the mechanism to FILE, as JSON.")
time_option = click.option(
    "--time", "timed", is_flag=True, help="Also measure the time that the device and the server need, on this machine."
)
people_option = click.option(
    "--people", "--n", "people", type=int, required=True, metavar="N", help="How many people will answer."
)
max_bits_option = click.option("--max-bits", type=int, metavar="B", help="The largest size of a report, in bits.")


def planning(command: options.Command) -> options.Command:
    """The options that all questions without a survey have."""
    for option in (
        options.json_flag,
        options.force,
        time_option,
        out_option,
        max_bits_option,
        people_option,
        options.epsilon,
    ):
        command = option(command)
    return command


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
    record: dict[str, object] = {
        "chosen": best.name,
        "mechanism": best.mechanism.spec(),
        "fingerprint": best.mechanism.fingerprint,
    }
    record |= {"no_bound_because": ranking.unbounded} if ranking.bound is None else {"bound": ranking.bound}
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
    ranking = ranking if error is None else aimed_at(ranking, error)
    mechanism = best_for_shares(ranking, people)
    needed = None if error is None else people_for(mechanism, error)
    said = ""
    if error is not None:
        margin = f"within {percentage_points(error)} at 95 % confidence"
        said = f"For each share to be {margin}, {needed:,} people must answer."
    _finish(mechanism, out, timed, _record(ranking, needed) if as_json else None, said)


@plan.command("number", short_help="The mean of a number, or its distribution.")
@domains.numbers
@click.option(
    "--prior", type=click.Choice(["smooth", "spiky"]), help="What is known about the distribution; default: nothing."
)
@click.option("--epsilon", type=float, metavar="E", help=f"{options.EPSILON} Without it, several are compared.")
@click.option(
    "--people",
    "--n",
    "people",
    type=int,
    default=PEOPLE,
    show_default=True,
    metavar="N",
    help="How many people will answer.",
)
@max_bits_option
@click.option("--error", type=float, metavar="E", help="Also say how many people must answer for this standard error.")
@out_option
@time_option
@options.force
@options.json_flag
def number_mode(
    domain: Interval,
    target: str,
    prior: str | None,
    epsilon: float | None,
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
    deniable plan number --numbers 0 120 --target quantiles

    Without --epsilon, as in the last line, no mechanism is chosen: the errors for several budgets are shown instead.
    """
    if target != "mean" and error is not None:
        raise InvalidParameter("--error is for the mean. Leave it out: the plan shows the error for that many people.")
    if target == "mean" and prior is not None:
        raise InvalidParameter("--prior is for the distribution. Add --target distribution, or leave it out.")
    if epsilon is None:
        if out is not None or error is not None or timed or max_bits is not None:
            raise InvalidParameter("A mechanism needs a budget. Add --epsilon, for example --epsilon 1.")
        _compare_budgets(domain, target, prior, people, as_json)
        return
    from deniable.cli import panel  # loads rich, which --help does not need

    with panel.waiting("planning"):
        ranking = _number_options(domain, target, prior, epsilon, people).within(max_bits) if as_json else None
    if target != "mean":
        with panel.waiting("planning"):
            chosen = plan_distribution(domain, epsilon, people, target, prior, max_bits)
        _finish(chosen, out, timed, None if ranking is None else _record(ranking, None))
        return
    if ranking is not None and error is not None:
        ranking = aimed_at_mean(ranking, error)
    with panel.waiting("planning"):
        mechanism = plan_mean(domain, epsilon, people, max_bits, error=error)
    needed = None if error is None else people_for_mean(mechanism, error)
    said = "" if needed is None else f"For a standard error of {error:g}, {needed:,} people must answer."
    _finish(mechanism, out, timed, None if ranking is None else _record(ranking, needed), said)


def _compare_budgets(domain: Interval, target: str, prior: str | None, people: int, as_json: bool) -> None:
    """The best mechanism and its error for several budgets, since nobody but the user can choose one."""
    from deniable.cli import panel  # loads rich, which --help does not need

    with panel.waiting("planning"):
        rankings = {epsilon: _number_options(domain, target, prior, epsilon, people) for epsilon in BUDGETS}
    if as_json:
        records = [
            {
                "epsilon": epsilon,
                "mechanism": each.best.name,
                "error": each.best.error,
                "above_bound": each.above(each.best),
            }
            for epsilon, each in rankings.items()
        ]
        click.echo(json.dumps({"people": people, "target": target, "budgets": records}))
        return
    table = panel.table(["mechanism"], ["epsilon", "error", "above"])
    for epsilon, each in rankings.items():
        table.add_row(each.best.name, f"{epsilon:g}", each.error.shown(each.best.error), percent(each.above(each.best)))
    console, first = panel.console(), rankings[BUDGETS[0]]
    console.print(table)
    for line in (
        f"error: {first.error.meaning}; for {people:,} people.",
        f"{first.proof.name}: {first.proof.meaning}.",
        "A smaller epsilon protects more. Choose one and add it to get the mechanism, for example --epsilon 1 --out FILE.",
    ):
        console.print(line, markup=False)


def _number_options(domain: Interval, target: str, prior: str | None, epsilon: float, people: int) -> Ranking[Mechanism]:
    """All mechanisms for the target."""
    if target == "mean":
        return bounded(mean_options(domain, epsilon, people), domain, epsilon, people)
    return distribution_options(domain, epsilon, people, target, prior)


@plan.command("set", short_help="Which of several items people have, and how they score them.")
@domains.sets
@planning
def set_mode(
    domain: KeyValue, epsilon: float, people: int, max_bits: int | None, out: Path | None, timed: bool, as_json: bool
) -> None:
    """Compare all mechanisms for sets of items and choose one. The budget covers the whole set of a person.

    \b
    deniable plan set --item Git --item Jira --item Slack --at-most 2 --epsilon 1 --people 5000 --out tools.json
    deniable plan set --items films.txt --at-most 5 --scores 0.5 5 --epsilon 2 --people 100000 --out films.json

    The smaller --at-most is, the smaller the error of every item.
    """
    ranking = key_value_options(domain, epsilon, people, domain.scored).within(max_bits)
    _finish(planned(ranking), out, timed, _record(ranking, None) if as_json else None)


@plan.command("record", short_help="Several answers of each person together.")
@domains.records
@planning
def record_mode(
    domain: Vectors, epsilon: float, people: int, max_bits: int | None, out: Path | None, timed: bool, as_json: bool
) -> None:
    """Compare all mechanisms for records of several answers and choose one. The budget covers the whole record of a person.

    \b
    deniable plan record --answers yes,no --answers car,bus,walk --epsilon 1 --people 5000 --out commute.json
    deniable plan record --answers @towns.txt --answers 10 --epsilon 2 --people 100000 --out records.json
    """
    record = _record(record_options(domain, epsilon, people).within(max_bits), None) if as_json else None
    _finish(plan_records(domain, epsilon, people, max_bits), out, timed, record)


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
    from deniable.cli import panel  # loads rich, which --help does not need

    with panel.waiting("planning"):
        words = plan_survey(Survey.load(survey), people, timed).explain()
    click.echo(words)
