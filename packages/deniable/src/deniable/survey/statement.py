"""What a survey may cost a person, in words: for them, and for whoever has to judge it."""

from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.core.loss import PrivacyLoss, told_odds, written_odds
from deniable.errors import InvalidParameter
from deniable.survey.survey import Survey

if TYPE_CHECKING:
    from deniable.survey.certificate import SurveyCertificate

SUSPICIONS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))


def surest(odds: Fraction, before: Fraction) -> float:
    """How sure somebody can become of something that they held this likely, rounded up to a hundredth of a percent.

    >>> surest(Fraction(3), Fraction(1, 2))
    0.75
    """
    after = odds * before / (odds * before + 1 - before)
    return -(-after * 10_000 // 1) / 10_000


def statement(survey: Survey, certificate: "SurveyCertificate | None" = None) -> str:
    """The statement for a person and for a regulator; with a certificate, from what the code was found to do."""
    if certificate is not None and certificate.survey.fingerprint != survey.fingerprint:
        raise InvalidParameter("This certificate is of another survey. Certify this one.")
    whole = survey.loss() if certificate is None else certificate.loss
    return "\n".join([*_person(survey, whole), "", *_regulator(survey, whole, certificate)])


def _person(survey: Survey, whole: PrivacyLoss) -> list[str]:
    asked = len(survey.questions)
    some = survey.budget == "sampled" and survey.sample < asked
    what = f"{survey.sample} of {asked} questions, drawn at random" if some else f"{asked} question{'s' * (asked > 1)}"
    lines = [
        "For you who answer",
        f"  You are asked {what}. Your device changes your answers at random before it sends them, once.",
    ]
    if whole.odds is None:
        return [*lines, "  What it sends can prove some of your answers. Do not answer what nobody may know."]
    lines.append("  The worst that anybody can conclude, whatever else they know and whoever they are:")
    for before in SUSPICIONS:
        held, come = 100 * float(before), 100 * surest(whole.odds, before)
        lines.append(f"  - what they held {held:g} % likely, they can come to hold {come:.4g} % likely")
    lines += [
        "  That is about all your answers together, for the two cases that can be told apart best. Most reports say less.",
        "  It is not hidden that you took part, when, and from which address.",
    ]
    open_ones = [question.id for question in survey.questions if question.sensitive]
    if open_ones:
        lines.append(
            f"  Of {', '.join(open_ones)} only the sensitive answers are protected; the others may be told as they are."
        )
    item_ones = [question.id for question in survey.questions if question.how.unit]
    if item_ones:
        lines.append(
            f"  Of {', '.join(item_ones)} this is true for each item by itself; about many together more can be concluded."
        )
    if survey.window is not None:
        lines.append(f"  Your report carries the number of the period it was made in, of {survey.window:,} seconds each.")
    return lines


def _regulator(survey: Survey, whole: PrivacyLoss, certificate: "SurveyCertificate | None") -> list[str]:
    source = "from the formulas of the mechanisms; deniable certify works them out from the code"
    if certificate is not None:
        source = "worked out from the code that devices run"
    lines = [
        "For a regulator",
        f"  survey {survey.id}, fingerprint {survey.fingerprint}",
        f"  unit: {survey.unit}; budget epsilon {survey.epsilon:g}, {_way(survey)}",
        f"  loss: {_told(whole)}, {source}",
    ]
    found = (
        survey.losses()
        if certificate is None
        else {question.id: each.loss for question, each in zip(survey.questions, certificate.questions, strict=True)}
    )
    for question in survey.questions:
        lines.append(
            f"  - {question.id}: {_told(found[question.id])}, {question.mechanism.wire}, {found[question.id].proof}, "
            f"{found[question.id].protects}"
        )
    if certificate is not None:
        for question, each in zip(survey.questions, certificate.questions, strict=True):
            first, second = (repr(answer) for answer in each.worst_pair)
            if len(first) + len(second) <= 80:
                lines.append(
                    f"    worst inference on {question.id}: {first} rather than {second}, from report {each.short_report}"
                )
    kept = "the randomized reports are kept" if survey.keep_reports else "reports are counted and not kept"
    lines += [
        "  adversary: sees every report, knows this survey and the code, has any side knowledge; trusts no collector",
        f"  collector: {kept}; results are shown from {survey.minimum_reports:,} reports on",
        "  not covered: taking part, time and address; what is true of a group; devices that were tampered with",
        "  voided by: seeded coins, answering again after losing the ledger, true answers kept beside the reports",
    ]
    return lines


def _way(survey: Survey) -> str:
    if survey.budget == "sampled":
        return f"spent on {survey.sample} of {len(survey.questions)} questions, which ones is public"
    return "split over the questions, " + ("equally" if survey.budget == "equal" else "by weight")


def _told(loss: PrivacyLoss) -> str:
    if loss.odds is None:
        return "unbounded: a report can rule an answer out"
    written = written_odds(loss.odds)
    exact = f" = {written}" if written is not None and len(written) <= 40 else ""
    return f"epsilon {loss.epsilon():.9g}, odds {told_odds(loss.odds, 9)}{exact}"
