"""`deniable certify`: the exact privacy loss of a mechanism, from the code that devices run."""

import json
from pathlib import Path

import click

from deniable.core.domain import Categories
from deniable.core.loss import Proof
from deniable.core.mechanism import Mechanism
from deniable.errors import DeniableError, InvalidParameter
from deniable.mechanisms import DirectResponse, SubsetSelection, Unary, mechanism_from_json
from deniable.privacy.certify import Certificate
from deniable.privacy.certify import certify as certificate_of

NAMES = ("direct", "unary", "subset")
LARGEST = 100_000  # values: past this, following a mechanism takes minutes


@click.command(short_help="Prove the exact privacy loss of a mechanism.")
@click.argument("mechanism", metavar="MECHANISM")
@click.option("--values", type=int, metavar="N", help="The question has N numbered answers.")
@click.option(
    "--category", "categories", multiple=True, metavar="WORD", help="One possible answer; give it for each of them."
)
@click.option("--epsilon", type=float, metavar="E", help="The privacy budget of one answer.")
@click.option("--size", type=int, metavar="K", help="For subset: how many answers a report names; the best unless given.")
@click.option("--symmetric", is_flag=True, help="For unary: treat zeros and ones alike, as basic RAPPOR does.")
@click.option(
    "--proof",
    type=click.Choice(["enumerated", "symmetric", "factored"]),
    help="Ask for one way to prove it instead of the first that is possible.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a panel.")
@click.pass_context
def certify(
    ctx: click.Context,
    mechanism: str,
    values: int | None,
    categories: tuple[str, ...],
    epsilon: float | None,
    size: int | None,
    symmetric: bool,
    proof: Proof | None,
    as_json: bool,
) -> None:
    """Work out the exact privacy loss of MECHANISM and say whether it keeps its promise.

    MECHANISM is direct, unary or subset, or the path of a JSON file written by mechanism.to_json().

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
    deniable certify unary --values 1024 --epsilon 2 --symmetric --json
    deniable certify mechanism.json

    Exit code: 0 if the promise holds, 1 if it does not, 2 if there is nothing to certify.
    """
    if mechanism in NAMES:
        chosen = _named(mechanism, _domain(values, categories), epsilon, size, symmetric)
    elif values is not None or categories or epsilon is not None or size is not None or symmetric:
        raise InvalidParameter(
            "Only direct, unary and subset take a question and a budget; a file holds its own. "
            "Name one of these three, or leave the other options out."
        )
    else:
        chosen = _read(Path(mechanism))
        _check_size(chosen.domain.size)

    from deniable.cli import panel  # loads rich, which --help does not need

    with panel.waiting("following the coins"):
        certificate = certificate_of(chosen, proof)
    if as_json:
        click.echo(json.dumps(_record(certificate)))
    else:
        panel.console().print(panel.certificate(certificate))
    if not certificate.holds:
        ctx.exit(1)


def _domain(values: int | None, categories: tuple[str, ...]) -> Categories:
    if (values is None) == (not categories):
        raise InvalidParameter(
            "A mechanism needs a question: either --values N for N numbered answers, or --category for each answer."
        )
    _check_size(values or 0)
    return Categories(categories or range(values or 0))


def _check_size(values: int) -> None:
    if values > LARGEST:
        raise InvalidParameter(f"At most {LARGEST:,} values can be certified here. Try fewer.")


def _named(name: str, domain: Categories, epsilon: float | None, size: int | None, symmetric: bool) -> Mechanism:
    if epsilon is None:
        raise InvalidParameter("A mechanism needs a privacy budget: add --epsilon, for example --epsilon 1.")
    if size is not None and name != "subset":
        raise InvalidParameter("Only subset takes --size. Leave it out.")
    if size is not None and size < 1:
        raise InvalidParameter("A report must name at least one answer. Leave --size out to get the best one.")
    if symmetric and name != "unary":
        raise InvalidParameter("Only unary takes --symmetric. Leave it out; to ask for a proof write --proof symmetric.")
    if name == "direct":
        return DirectResponse(domain, epsilon)
    if name == "subset":
        return SubsetSelection(domain, epsilon, size or 0)
    return Unary.symmetric(domain, epsilon) if symmetric else Unary(domain, epsilon)


def _read(path: Path) -> Mechanism:
    if not path.is_file():
        raise InvalidParameter(
            f"There is no mechanism or file {str(path)!r}. Use direct, unary or subset, or the path of a JSON file "
            "written by mechanism.to_json()."
        )
    try:
        return mechanism_from_json(path.read_text(encoding="utf-8"))
    except DeniableError as error:
        raise InvalidParameter(f"The file {str(path)!r} does not describe a mechanism. {error}") from error
    except (OSError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidParameter(
            f"The file {str(path)!r} cannot be read as the JSON of a mechanism. Write it again with mechanism.to_json()."
        ) from error


def _record(certificate: Certificate) -> dict[str, object]:
    """The certificate as plain data; fractions are text, and an unbounded loss is null."""
    loss, mechanism = certificate.loss, certificate.mechanism
    bounded = loss.odds is not None
    return {
        "holds": certificate.holds,
        "mechanism": mechanism.spec(),
        "fingerprint": mechanism.fingerprint,
        "unit": loss.unit,
        "protects": loss.protects,
        "budget": mechanism.epsilon,
        "epsilon": loss.epsilon() if bounded else None,
        "odds": str(loss.odds) if bounded else None,
        "declared_odds": str(certificate.declared.odds) if certificate.declared.odds is not None else None,
        "slack": certificate.slack if bounded else None,
        "worst_pair": list(certificate.worst_pair),
        "worst_report": certificate.worst_report,
        "proof": loss.proof,
        "outcomes_followed": certificate.followed,
        "values_followed": certificate.values,
        "values": mechanism.domain.size,
    }
