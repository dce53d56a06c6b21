"""The smallest effects that a survey can show: in its figures, between two halves of its people, and in its tables."""

import itertools
from dataclasses import dataclass

from deniable.analysis.distributions import NORMAL
from deniable.analysis.power import PowerTarget, difference_of, share_of, table_of
from deniable.errors import DeniableError
from deniable.planning.ranking import aligned
from deniable.survey.kinds.choice import Choice
from deniable.survey.question import Question
from deniable.survey.survey import Survey

POWER, LEVEL = 0.8, 0.05
MOST_EXACT = 128  # answers; beyond that the noise alone is counted
REACH = NORMAL.inv_cdf(1 - LEVEL / 2) + NORMAL.inv_cdf(POWER)  # in standard errors


@dataclass(frozen=True)
class Effect:
    """What can be seen of one question or table; None where so few people show nothing.

    `smallest` is the difference of a share or mean from a known one, and `between` that of two halves of all people; both in
    parts of the range. Of a table, `smallest` is Cramer's V.
    """

    what: str
    measure: str
    smallest: float | None
    between: float | None = None


def smallest_effects(survey: Survey, reports: int) -> list[Effect]:
    """The effects that a test at 5 % finds with a probability of 80 %, from so many reports on each question."""
    found = [effect for question in survey.questions for effect in _alone(question, reports)]
    units = {member.id: (unit, place) for unit in survey.questions for place, member in enumerate(unit.members)}
    for relation in survey.tables:
        for first, second in itertools.combinations(relation.questions, 2):
            (one, a), (two, b) = units[first], units[second]
            target = table_of(one.mechanism, questions=(a, b)) if one is two else table_of(one.mechanism, two.mechanism)
            found.append(Effect(f"{first} and {second}", "Cramer's V", _seen(target, reports)))
    return list(dict.fromkeys(found))


def _alone(question: Question, reports: int) -> list[Effect]:
    found = []
    for place, member in enumerate(question.members):
        size = member.domain.size
        if isinstance(member.how, Choice) and size <= MOST_EXACT:
            one, two = (make(question.mechanism, 1 / size, question=place) for make in (share_of, difference_of))
            found.append(Effect(member.id, "share", _seen(one, reports), _seen(two, reports)))
        else:
            error = REACH * member.how.error(question.mechanism.domain, question.mechanism, reports)
            found.append(Effect(member.id, "estimate", error, 2 * error))
    return found


def _seen(target: PowerTarget, reports: int) -> float | None:
    try:
        return target.smallest(max(2, reports), POWER, LEVEL)
    except DeniableError:
        return None


def shown(effects: tuple[Effect, ...]) -> list[str]:
    """The effects in a table and in words."""

    def written(value: float | None, scale: float) -> str:
        return "none" if value is None else f"{scale * value:.3g}"

    rows = [["", "smallest effect", "measure", "from a known value", "between two halves"]]
    for each in effects:
        scale = 1.0 if each.measure == "Cramer's V" else 100.0
        between = "" if each.measure == "Cramer's V" else written(each.between, scale)
        rows.append(["", each.what, each.measure, written(each.smallest, scale), between])
    return [
        aligned(rows, left=3),
        "smallest effect: what a test at the 5 % level finds with a power of 80 %, in percentage points of a share or % of "
        "the range, for equally common answers; for a table, Cramer's V from 0 to 1; none: ask more people",
    ]
