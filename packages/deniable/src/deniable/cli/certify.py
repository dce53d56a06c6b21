"""`deniable certify`: the privacy loss of a mechanism, proved from its law."""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from deniable.cli import options, surveys
from deniable.cli.mechanisms import MAKERS, NAMES, made, read_mechanism
from deniable.cli.modes import Modes, has, names_survey
from deniable.cli.targets import write_text
from deniable.core import Mechanism
from deniable.domains import Categories
from deniable.errors import InvalidParameter, MissingExtra
from deniable.mechanisms.algebra.metric_program import EXACT
from deniable.mechanisms.releases.metric_release import MetricRelease
from deniable.mechanisms.shares.subset_selection import SubsetSelection
from deniable.mixing import BothLosses, Terms, mixed_losses
from deniable.privacy.certify import certify as certificate_of
from deniable.privacy.proofs import Method, second_loss
from deniable.survey import Survey, certify_survey
from deniable.survey.certificate_record import certificate_record
from deniable.wrappers.utility_optimized import UtilityOptimized

LARGEST = 100_000  # values; beyond this, a certificate takes minutes


def _mode(args: Sequence[str]) -> str:
    if has(args, "--claims") or args[0] == "claims":
        raise InvalidParameter("Claims of papers are now a separate command: deniable claims.")
    if names_survey(args):
        return "survey"
    asked = has(args, "--epsilon", "--values", "--category", "--categories") and not args[0].endswith(".json")
    return "name" if asked or any(arg in MAKERS for arg in args) else "file"


@click.group(cls=Modes, pick=_mode, short_help="Prove the exact privacy loss of a mechanism or a survey.")
def certify() -> None:
    """Compute the exact privacy loss of a mechanism and say whether it keeps its promise.

    Epsilon bounds how much anybody can learn from one report. No report is more than e^epsilon times as likely under one
    answer as under another, so the odds between any two answers, whatever they were before, change by at most that factor:

    \b
    epsilon 0.1   odds 1.11   even odds become at most 52.5 to 47.5
    epsilon 1     odds 2.72   even odds become at most 73.2 to 26.8
    epsilon 4     odds 54.6   even odds become at most 98.3 to 1.7

    This holds for one answer: a person who answers twice spends twice as much.

    What a device runs on an answer is a program, the law of the mechanism. Rules of proof bound its loss in exact fractions,
    for all answers and all random draws, and the certificate names the rules. If two answers and a report are found that
    reach the bound, they are shown; otherwise the certificate says "loss at most". A few mechanisms are too large for a
    program: their loss rests on a published theorem.

    \b
    deniable certify direct --category yes --category no --epsilon 1
    deniable certify mechanism.json
    deniable certify survey.toml

    You can leave the mode out, as above: a file that ends in .toml means survey, the name of a mechanism means name, and
    anything else means file.

    Exit code: 0 if the promise holds, 1 if it does not, 2 if there is nothing to certify.
    """


proof_option = click.option(
    "--proof",
    type=click.Choice(["enumerated"]),
    help="Enumerate all outcomes of all answers instead of using the rules; for small questions.",
)


@certify.command("name", short_help="A mechanism by its name, for a question.", epilog=f"Names of mechanisms: {NAMES}.")
@click.argument("name", type=click.Choice(list(MAKERS)), metavar="NAME")
@options.question
@options.secrets_only
@options.epsilon
@click.option("--size", type=int, metavar="K", help="For subset: how many answers a report names; by default the best.")
@proof_option
@options.json_flag
@click.pass_context
def name_mode(
    ctx: click.Context,
    name: str,
    question: Categories,
    secrets: tuple[str, ...],
    epsilon: float,
    size: int | None,
    proof: Method | None,
    as_json: bool,
) -> None:
    """Certify the mechanism NAME for a question.

    \b
    deniable certify direct --category yes --category no --epsilon 1
    deniable certify subset --values 16 --epsilon 0.5 --size 4
    deniable certify unary-symmetric --values 1024 --epsilon 2 --json
    deniable certify hashing --values 30 --sensitive 0-9 --epsilon 1
    """
    _check_size(question.size)
    secret = options.secrets_of(question, secrets)
    if size is not None and (name != "subset" or secret is not None):
        raise InvalidParameter("Only subset takes --size, and only where all answers are sensitive. Leave it out.")
    if size is not None and size < 1:
        raise InvalidParameter("A report must name at least one answer. Leave --size out to get the best number.")
    if secret is not None:
        _show(ctx, UtilityOptimized(MAKERS[name], question, secret, epsilon), proof, as_json)
    elif size is not None:
        _show(ctx, SubsetSelection(question, epsilon, size), proof, as_json)
    else:
        _show(ctx, made(name, question, epsilon), proof, as_json)


@certify.command("file", short_help="A mechanism from a JSON file.")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@proof_option
@options.json_flag
@click.pass_context
def file_mode(ctx: click.Context, file: Path, proof: Method | None, as_json: bool) -> None:
    """Certify the mechanism in FILE, which deniable plan or mechanism.to_json() wrote.

    \b
    deniable certify mechanism.json
    """
    if not file.is_file():
        raise InvalidParameter(
            f"There is no mechanism or file {str(file)!r}. Use one of {NAMES}, or the path of a JSON file written by "
            "deniable plan or mechanism.to_json()."
        )
    mechanism = read_mechanism(file)
    _check_mechanism(mechanism)
    _show(ctx, mechanism, proof, as_json)


def _show(ctx: click.Context, mechanism: Mechanism, proof: Method | None, as_json: bool) -> None:
    """Certify a mechanism and print the certificate; exit code 1 if it does not hold."""
    from deniable.cli import panel  # loads rich, which --help does not need

    with panel.waiting("certifying"):
        certificate = certificate_of(_bounded(mechanism), proof)
    if as_json:
        click.echo(json.dumps(certificate.record()))
    else:
        panel.console().print(panel.certificate(certificate))
        other = second_loss(mechanism)
        if other is not None:
            bound = "no promise" if other.odds is None else f"epsilon {other.epsilon():.9g}"
            click.echo(f"For {other.unit}, {other.protects}: {bound} ({other.proof}).")
    if not certificate.holds:
        ctx.exit(1)


def _bounded(mechanism: Mechanism) -> Mechanism:
    """A release with a promise per unit of distance: with how far it is from the best possible, where that takes seconds."""
    if isinstance(mechanism, MetricRelease) and mechanism.domain.size <= EXACT:
        with suppress(MissingExtra, InvalidParameter):
            return mechanism.bounded()
    return mechanism


@certify.command("survey", short_help="Every question of a survey, and all of them together.")
@surveys.argument
@options.json_flag
@options.file_option(
    "--mix", help="Also state the privacy loss if reports are mixed under these terms, and if they are not."
)
@click.option(
    "--delta",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=None,
    help="With --mix: the probability with which the smaller loss may fail. Default: as in the terms.",
)
@options.target("--html", help="Write the certificate to FILE as a page that people can read and deniable verify can check.")
@options.force
@click.pass_context
def survey_mode(
    ctx: click.Context, survey: Path, as_json: bool, mix: Path | None, delta: float | None, html: Path | None
) -> None:
    """Certify every question of SURVEY, and what one person spends on all of them.

    The certificate can be passed on: with --json or --html it contains the survey, the law of the reports and the steps
    of the proof, and anybody can check it again with deniable verify.

    \b
    deniable certify survey.toml
    deniable certify survey.toml --json > certificate.json
    deniable certify survey.toml --html certificate.html
    deniable certify survey.toml --mix survey.mix
    """
    asked = Survey.load(survey)
    if mix is not None and (as_json or html is not None):
        raise InvalidParameter(
            "The losses of mixed reports are only printed; they are not part of the certificate. Leave --mix out."
        )
    both = None if mix is None else _mixed(asked, mix, delta)
    for question in asked.questions:
        _check_mechanism(question.mechanism)
    from deniable.cli import panel

    with panel.progress("certifying") as advance_to:
        found = certify_survey(asked, advance_to)
        record = certificate_record(found) if as_json or html is not None else None
    if html is not None and record is not None:
        from deniable.survey.certificate_page import page

        write_text(html, page(record, found.law))
    if as_json:
        click.echo(json.dumps(record))
    elif html is not None:
        click.echo(f"Wrote {html}. Anybody can check it: deniable verify {html}")
    else:
        for question, each in zip(asked.questions, found.questions, strict=True):
            click.echo(f"{question.id}: {question.ask}")
            panel.console().print(panel.certificate(each))
        click.echo(str(found))
        click.echo()
        click.echo(found.statement())
        if both is not None:
            click.echo(f"\n{both}")
        if asked.invitations is None and not asked.has_secrets:
            click.echo(
                "\nNot certified: that each person answers once. Anyone can answer any number of times; see deniable invite."
            )
    if not found.holds:
        ctx.exit(1)


def _mixed(survey: Survey, file: Path, delta: float | None) -> BothLosses:
    """Both losses, under these terms of mixing."""
    terms = Terms.load(file)
    terms.check(survey)
    return mixed_losses(survey, terms.people, terms.delta if delta is None else delta)


def _check_mechanism(mechanism: Mechanism) -> None:
    listed = mechanism.question not in ("vectors", "discovery")  # whose proofs do not go through all answers
    if listed and mechanism.loss().proof != "theorem":
        _check_size(len(mechanism.domain.labels))


def _check_size(values: int) -> None:
    if values > LARGEST:
        raise InvalidParameter(f"At most {LARGEST:,} values can be certified here. Try fewer.")
