"""What a survey may cost a person, in words: for them, and for whoever has to judge it."""

from collections.abc import Sequence
from fractions import Fraction

from deniable.core import PrivacyLoss, formatted_odds, written_odds
from deniable.errors import InvalidParameter
from deniable.planning.ranking import there_are
from deniable.privacy.certificate import Certificate
from deniable.survey import budget
from deniable.survey.repeating import PERMANENT, lifetime_loss, spoken
from deniable.survey.survey import Survey

SUSPICIONS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))


def surest(odds: Fraction, before: Fraction) -> float:
    """How likely somebody can come to think what they thought this likely, rounded up to a hundredth of a percent.

    >>> surest(Fraction(3), Fraction(1, 2))
    0.75
    """
    after = odds * before / (odds * before + 1 - before)
    return -(-after * 10_000 // 1) / 10_000


def suspicions(odds: Fraction) -> list[str]:
    """What suspicions can become, in words."""
    return [f"from {100 * float(each):g} % to at most {100 * surest(odds, each):.4g} %" for each in SUSPICIONS]


def statement(survey: Survey, certificates: Sequence[Certificate] | None = None) -> str:
    """The statement for a person and for a regulator; with the certificates of the questions, from the code that runs."""
    losses = survey.losses()
    if certificates is not None:
        if [each.mechanism for each in certificates] != [question.mechanism for question in survey.questions]:
            raise InvalidParameter("These certificates belong to another survey. Certify this one.")
        losses = {question.id: each.loss for question, each in zip(survey.questions, certificates, strict=True)}
    whole = budget.person([*losses.values()], survey.budget, survey.sample)
    return "\n".join([*_person(survey, whole), "", *_regulator(survey, whole, losses, certificates or ())])


def _person(survey: Survey, whole: PrivacyLoss) -> list[str]:
    asked, units = len(survey.asked), len(survey.questions)
    some = survey.budget == "sampled" and survey.sample < units
    what = (
        f"{survey.sample} of {units} {_units(survey)}, drawn at random" if some else f"{asked} question{'s' * (asked > 1)}"
    )
    lines = [
        "For you",
        f"  You are asked {what}. Your device randomizes your answers {_often(survey)}, before it sends them.",
        *(f"  {line}" for line in spoken(survey)),
    ]
    for question in survey.questions:
        if len(question.members) > 1:
            listed = ", ".join(member.id for member in question.members)
            lines.append(f"  Your answers to {listed} are reported together, as one randomized combination.")
    if whole.odds is None:
        return [*lines, "  What it sends can prove some of your answers. Do not answer anything that must stay secret."]
    lines += [
        "  Whatever else somebody knows, your report can raise their suspicion about your answers",
        *(f"  - {line}" for line in suspicions(whole.odds)),
        *_suspicions_ever(survey),
        f"  This covers {_covered(survey)} and is the worst case. Most reports reveal less.",
        "  It is not hidden that you took part, when, and from which address.",
    ]
    if survey.invitations is not None:
        lines.append("  Those who invited you can see that you used your invitation. Nobody can see which report is yours.")
    open_ones = ", ".join(question.id for question in survey.questions if question.sensitive)
    if open_ones:
        lines.append(f"  In {open_ones}, only the sensitive answers are protected; the others may be sent as they are.")
    item_ones = ", ".join(question.id for question in survey.questions if question.how.unit)
    if item_ones:
        lines.append(
            f"  In {item_ones}, this holds for each item on its own; about several items together, more can be learned."
        )
    for question in survey.questions:
        lines += (f"  {line}" for line in question.how.promised(question.mechanism, question.details))
    if survey.rounds is not None and survey.same_people:
        lines.append(
            f"  There are {survey.rounds} rounds, and you are asked in each of them: all your reports together disclose no "
            "more than this."
        )
    elif survey.rounds is not None:
        lines.append(
            f"  There are {survey.rounds} rounds, and you answer one: this is all that you disclose in the whole survey. "
            "Later rounds ask other people, and cost them no more."
        )
    if survey.window is not None:
        lines.append(f"  Your report carries the number of the period ({survey.window:,} seconds) in which it was made.")
    return lines


def _regulator(
    survey: Survey, whole: PrivacyLoss, losses: dict[str, PrivacyLoss], certificates: Sequence[Certificate]
) -> list[str]:
    source = "by formula; deniable certify proves it from the law"
    if certificates:
        source = "proved from the law that devices run" if whole.proof == "proved" else "by a published theorem"
    lines = [
        "For a regulator",
        f"  survey {survey.id}, fingerprint {survey.fingerprint}",
        f"  unit: {survey.unit}; budget epsilon {survey.epsilon:g}, {_way(survey)}",
        f"  loss: {_exact(whole)}, {source}",
    ]
    if survey.repeats is not None:
        ever = lifetime_loss(survey)
        lines.append(f"  all reports ever on one value: {'no bound, grows with time' if ever is None else _exact(ever)}")
    for question in survey.questions:
        loss = losses[question.id]
        lines.append(f"  - {question.id}: {_exact(loss)}, {question.mechanism.wire}, {loss.proof}, {loss.protects}")
    for question, each in zip(survey.questions, certificates, strict=False):
        if each.worst_pair is None:
            continue
        first, second = (question.how.describe(answer) for answer in each.worst_pair)
        if len(first) + len(second) <= 80:
            lines.append(f"    strongest evidence on {question.id}: report {each.short_report} favors {first} over {second}")
    readers = "to everybody, " if survey.share_results else ""
    kept = "keeps the randomized reports" if survey.keep_reports else "counts reports and discards them"
    return [
        *lines,
        "  adversary: sees every report, knows the survey and the code, may have any other information; no "
        "collector is trusted",
        f"  collector: {kept}; publishes results {readers}once {there_are(survey.minimum_reports, 'report')}",
        "  not covered: taking part, time and address; what is true of a group; devices that were tampered with",
        "  voided by: seeded coins, answering again after losing the ledger, true answers stored beside the reports",
    ]


def _way(survey: Survey) -> str:
    if survey.budget == "sampled":
        return f"spent on {survey.sample} of {len(survey.questions)} {_units(survey)}; which ones is public"
    return "split over the questions " + ("equally" if survey.budget == "equal" else "by weight")


def _suspicions_ever(survey: Survey) -> list[str]:
    ever = None if survey.repeats is None else lifetime_loss(survey)
    if ever is None or ever.odds is None:
        return []
    return ["  All your reports ever on the same answers can raise it", *(f"  - {line}" for line in suspicions(ever.odds))]


def _often(survey: Survey) -> str:
    if survey.same_people:
        return "in each round"
    return "once" if survey.repeats is None else "in each period"


def _covered(survey: Survey) -> str:
    """What the worst case is about."""
    if survey.repeats is None:
        return "all your answers together"
    return "one report" if survey.repeats.way == PERMANENT else f"any {survey.repeats.span} periods in a row"


def _units(survey: Survey) -> str:
    """What each person answers a sample of."""
    return "questions" if len(survey.asked) == len(survey.questions) else "parts of the survey"


def _exact(loss: PrivacyLoss) -> str:
    if loss.odds is None:
        return "unbounded: a report can rule out an answer"
    written = written_odds(loss.odds)
    exact = f" = {written}" if written is not None and len(written) <= 40 else ""
    return f"epsilon {loss.epsilon():.9g}, odds {formatted_odds(loss.odds, 9)}{exact}"
