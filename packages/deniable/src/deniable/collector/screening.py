"""Which messages no device of a survey can have sent: a few among many are found without trying each of them alone."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence

from deniable.collector.reader import breathe
from deniable.collector.relations import joint_counts
from deniable.collector.verdicts import IMPOSSIBLE, Verdict
from deniable.errors import InvalidReport
from deniable.survey import Message, Survey


def weed(
    survey: Survey, messages: Sequence[Message], verdicts: list[Verdict | None], places: Iterable[int] | None = None
) -> None:
    """Refuse those of these messages that have no verdict yet and cannot be counted even alone.

    Many are tried at once, and halves of them where that fails: one bad message costs little more than none.
    """
    alike = defaultdict[tuple[int, Hashable], list[int]](list)
    for place in range(len(messages)) if places is None else places:
        if verdicts[place] is None:
            one = messages[place]
            alike[one.part, "one" if one.reports == 1 else "many" if survey.joins(one) else place].append(place)
    waiting = list(alike.values())
    while waiting:
        some = waiting.pop()
        try:
            _try(survey, [messages[place] for place in some])
        except InvalidReport as error:
            if len(some) == 1:
                verdicts[some[0]] = IMPOSSIBLE.saying(str(error))
            else:
                waiting += [some[: len(some) // 2], some[len(some) // 2 :]]
        breathe()


def _try(survey: Survey, messages: Sequence[Message]) -> None:
    """Count these messages of one part, and throw the counts away."""
    part = messages[0].part
    if len(messages) > 1 and messages[0].reports == 1:
        reports = survey.unpack_singles(part, [one.payload for one in messages])
    else:
        reports = survey.unpack_joined(part, messages)
    for question, own in zip(survey.part(part), reports, strict=True):
        question.mechanism.votes(own.columns)
    list(joint_counts(survey, part, reports, [(0, None)]))
