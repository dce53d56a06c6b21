"""`deniable certify`: the exact privacy loss of a mechanism, from the code that devices run."""

import json
from pathlib import Path

import click

from deniable.cli import claims as claims_verb
from deniable.cli import options
from deniable.cli.mechanisms import MAKERS, NAMES, made, read_mechanism
from deniable.cli.surveys import is_survey
from deniable.core.domain import Label
from deniable.core.loss import Proof, written_odds
from deniable.core.mechanism import Mechanism
from deniable.domains import Categories
from deniable.errors import InvalidParameter
from deniable.mechanisms.shares.subset_selection import SubsetSelection
from deniable.mechanisms.vectors.bitrand import BitRand
from deniable.mechanisms.vectors.duchi_vector import DuchiVector
from deniable.mechanisms.vectors.feature_vector import FeatureVector
from deniable.mechanisms.vectors.unit_codes import UnitCodes
from deniable.privacy.certificate import Certificate
from deniable.privacy.certify import certify as certificate_of
from deniable.privacy.memoized import certify_ever
from deniable.survey import Survey, certify_survey
from deniable.wrappers.fake_attributes import FakeAttributes
from deniable.wrappers.memoized import Memoized
from deniable.wrappers.utility_optimized import UtilityOptimized

LARGEST = 100_000  # values: past this, following a mechanism takes minutes


@click.command(short_help="Prove the exact privacy loss of a mechanism.", epilog=f"Names of mechanisms: {NAMES}.")
@click.argument("mechanism", metavar="MECHANISM", required=False)
@options.question
@options.secrets_only
@click.option("--epsilon", type=float, metavar="E", help="The privacy budget of one answer.")
@click.option("--size", type=int, metavar="K", help="For subset: how many answers a report names; the best unless given.")
@click.option(
    "--proof",
    type=click.Choice(["enumerated", "symmetric", "factored"]),
    help="Ask for one way to prove it instead of the first that is possible.",
)
@click.option("--claims", is_flag=True, help="Check what papers claim of their mechanisms instead, with counterexamples.")
@options.json_flag
@click.pass_context
def certify(
    ctx: click.Context,
    mechanism: str | None,
    values: int | None,
    words: tuple[str, ...],
    file: Path | None,
    other: str | None,
    secrets: tuple[str, ...],
    epsilon: float | None,
    size: int | None,
    proof: Proof | None,
    claims: bool,
    as_json: bool,
) -> None:
    """Work out the exact privacy loss of MECHANISM and say whether it keeps its promise.

    MECHANISM is a name from the list below, or the path of a JSON file written by deniable plan or mechanism.to_json(), or
    of a survey.toml: then every question is certified, and what a person spends on all of them.

    Epsilon bounds how much one report can change anybody's mind. No report is more than e^epsilon times as likely under one
    answer as under another, so the odds between any two answers, whatever they were before, change by at most that factor:

    \b
    epsilon 0.1   odds 1.11   even odds become at most 52.5 to 47.5
    epsilon 1     odds 2.72   even odds become at most 73.2 to 26.8
    epsilon 4     odds 54.6   even odds become at most 98.3 to 1.7

    It counts for one answer: who answers twice pays twice.

    The code that devices run is followed through the outcomes of its coins with exact fractions, and the worst pair of
    answers and the worst report are shown. Small questions are enumerated: every answer, every outcome. Larger ones use the
    independence of a report's bits (factored) or the likeness of all answers (symmetric).

    \b
    deniable certify direct --category yes --category no --epsilon 1
    deniable certify subset --values 16 --epsilon 0.5 --size 4
    deniable certify unary-symmetric --values 1024 --epsilon 2 --json
    deniable certify hashing --values 30 --sensitive 0-9 --epsilon 1
    deniable certify mechanism.json
    deniable certify survey.toml
    deniable certify --claims

    With --claims, mechanisms are certified as they were published, and the epsilon that holds is shown beside the one that
    their paper states, with the smallest case in which they differ.

    Exit code: 0 if the promise holds, 1 if it does not, 2 if there is nothing to certify.
    """
    given = any(option is not None for option in (values, file, other, epsilon, size, proof)) or bool(words or secrets)
    if claims:
        if mechanism is not None or given:
            raise InvalidParameter("--claims has its own list of mechanisms. Leave everything else out, but for --json.")
        claims_verb.show(as_json)
        return
    if mechanism is None:
        raise click.MissingParameter(ctx=ctx, param_type="argument", param_hint="'MECHANISM'")
    if is_survey(Path(mechanism)):
        if given:
            raise InvalidParameter("A survey holds its own questions and budget. Leave the other options out.")
        _survey(ctx, Path(mechanism), as_json)
        return
    if mechanism in MAKERS:
        _check_size(values or 0)
        question = options.domain(values, words, file, other)
        _check_size(question.size)
        chosen = _named(mechanism, question, epsilon, size, options.secrets_of(question, secrets))
    elif any(option is not None for option in (values, file, other, epsilon, size)) or words or secrets:
        raise InvalidParameter(
            f"Only a name takes a question and a budget; a file holds its own. Use one of {NAMES}, or leave the other "
            "options out."
        )
    elif not Path(mechanism).is_file():
        raise InvalidParameter(
            f"There is no mechanism or file {mechanism!r}. Use one of {NAMES}, or the path of a JSON file written by "
            "deniable plan or mechanism.to_json()."
        )
    else:
        chosen = read_mechanism(Path(mechanism))
        one_by_one = not isinstance(chosen, FeatureVector | DuchiVector | BitRand | UnitCodes)
        if one_by_one and chosen.loss().proof != "theorem":
            _check_size(len(chosen.domain.labels))

    from deniable.cli import panel  # loads rich, which --help does not need

    with panel.waiting("following the coins"):
        certificate = certificate_of(chosen, proof)
    if as_json:
        click.echo(json.dumps(_record(certificate)))
    else:
        panel.console().print(panel.certificate(certificate))
        for line in _besides(chosen):
            click.echo(line)
    if not certificate.holds:
        ctx.exit(1)


def _besides(mechanism: Mechanism) -> list[str]:
    """What else there is to say where one report on one whole answer is not all that counts."""
    if isinstance(mechanism, Memoized):
        ever = certify_ever(mechanism).loss
        told = "no promise" if ever.odds is None else f"epsilon {ever.epsilon():.9g}"
        return [f"This is about one report. {ever.unit[0].upper()}{ever.unit[1:]}: {told} ({ever.proof})."]
    if isinstance(mechanism, FakeAttributes):
        return [f"For {mechanism.attribute_loss().protects}: epsilon {mechanism.attribute_loss().epsilon():.9g}."]
    return []


def _survey(ctx: click.Context, path: Path, as_json: bool) -> None:
    """The certificate of a survey: of every question, and of a person over all of them."""
    survey = Survey.load(path)
    for question in survey.questions:
        _check_size(question.mechanism.domain.size)
    from deniable.cli import panel

    with panel.waiting("following the coins"):
        found = certify_survey(survey)
    if as_json:
        bounded = found.loss.odds is not None
        record = {
            "holds": found.holds,
            "survey": survey.id,
            "fingerprint": survey.fingerprint,
            "unit": survey.unit,
            "budget": survey.epsilon,
            "epsilon": found.loss.epsilon() if bounded else None,
            "odds": str(found.loss.odds) if bounded else None,
            "statement": found.statement(),
            "questions": {q.id: _record(each) for q, each in zip(survey.questions, found.questions, strict=True)},
        }
        click.echo(json.dumps(record))
    else:
        for question, each in zip(survey.questions, found.questions, strict=True):
            click.echo(f"{question.id}: {question.ask}")
            panel.console().print(panel.certificate(each))
        click.echo(str(found))
        click.echo()
        click.echo(found.statement())
    if not found.holds:
        ctx.exit(1)


def _check_size(values: int) -> None:
    if values > LARGEST:
        raise InvalidParameter(f"At most {LARGEST:,} values can be certified here. Try fewer.")


def _named(
    name: str, question: Categories, epsilon: float | None, size: int | None, secret: list[Label] | None
) -> Mechanism:
    if epsilon is None:
        raise InvalidParameter("A mechanism needs a privacy budget: add --epsilon, for example --epsilon 1.")
    if secret is not None:
        if size is not None:
            raise InvalidParameter("With --sensitive the best size is taken. Leave --size out.")
        return UtilityOptimized(MAKERS[name], question, secret, epsilon)
    if size is None:
        return made(name, question, epsilon)
    if name != "subset":
        raise InvalidParameter("Only subset takes --size. Leave it out.")
    if size < 1:
        raise InvalidParameter("A report must name at least one answer. Leave --size out to get the best one.")
    return SubsetSelection(question, epsilon, size)


def _record(certificate: Certificate) -> dict[str, object]:
    """The certificate as plain data; fractions are text, and an unbounded loss is null."""
    loss, mechanism = certificate.loss, certificate.mechanism
    bounded, declared = loss.odds is not None, certificate.declared.odds
    return {
        "holds": certificate.holds,
        "mechanism": mechanism.spec(),
        "fingerprint": mechanism.fingerprint,
        "unit": loss.unit,
        "protects": loss.protects,
        "budget": mechanism.epsilon,
        "epsilon": loss.epsilon() if bounded else None,
        "odds": written_odds(loss.odds) if loss.odds is not None else None,
        "declared_odds": written_odds(declared) if declared is not None else None,
        "slack": certificate.slack if bounded else None,
        "worst_pair": list(certificate.worst_pair),
        "worst_report": certificate.worst_report,
        "proof": loss.proof,
        "outcomes_followed": certificate.followed,
        "values_followed": certificate.values,
        "outcomes_of_an_enumeration": certificate.spared,
        "values": mechanism.domain.size if mechanism.domain.size < 1 << 53 else None,
    }
