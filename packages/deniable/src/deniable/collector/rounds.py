"""The rounds of a survey at its collectors: one after the other, stored so that all collectors of a database agree."""

import logging
from collections.abc import Sequence

from deniable.collector.collector import Collector
from deniable.collector.events import note
from deniable.collector.store import View
from deniable.errors import DeniableError, Unavailable
from deniable.survey import Survey
from deniable.survey.rounds import Counted, is_over, next_survey


class Rounds:
    """All rounds that were opened so far, each with a collector; reports of the last one are asked for."""

    def __init__(self, first: Collector) -> None:
        self._all: tuple[Collector, ...] = (first,)
        self._failed = 0  # the round that could not be opened
        if first.survey.rounds is not None:
            self.refresh()

    @property
    def first(self) -> Collector:
        """The collector of the survey as it was registered."""
        return self._all[0]

    @property
    def current(self) -> Collector:
        """The collector of the round that people are asked to answer."""
        return self._all[-1]

    @property
    def newest_first(self) -> Sequence[Collector]:
        """The collectors of all rounds, for reports of earlier ones that are still on their way."""
        return self._all[::-1]

    def refresh(self) -> None:
        """Look which rounds other collectors have opened."""
        first = self._all[0]
        with first.store.view() as view:
            texts = view.rounds(first.number)
        self._all += tuple(first.at(Survey.from_json(text)) for text in texts[len(self._all) - 1 :])

    def step(self) -> bool:
        """Open the next round if enough people have answered this one; whether there is a new one now."""
        first, before = self._all[0], len(self._all)
        if before == (first.survey.rounds or 1):
            return False
        self.refresh()
        with first.store.view() as view:
            people = view.people(first.number).get(len(self._all) - 1, 0)
            over = is_over(first.survey, len(self._all), people, first.clock())
            known = counted(view, first.number, [each.survey for each in self._all])
        if over and len(self._all) < (first.survey.rounds or 1) and self._failed < len(self._all) + 1:
            self._open(known)
        return len(self._all) > before

    def _open(self, known: Sequence[Counted]) -> None:
        first, number = self._all[0], len(known) + 1
        try:
            made = next_survey(known)
        except DeniableError as error:
            if isinstance(error, Unavailable):
                raise
            self._failed = number
            note("round-not-opened", logging.ERROR, survey=first.survey.id, round=number, cause=str(error))
            return
        with first.store.change() as change:
            change.alone()
            if len(change.rounds(first.number)) == number - 2:  # else another collector was quicker
                change.put_round(first.number, number, made.to_json())
        self.refresh()
        note("round-opened", survey=first.survey.id, round=number, fingerprint=self.current.survey.fingerprint)


def counted(view: View, number: int, rounds: Sequence[Survey]) -> list[Counted]:
    """The tallies of each round; a round is a period."""
    return [
        (each, {name: tally for (_, name), tally in view.tallies(number, each, place).items()})
        for place, each in enumerate(rounds)
    ]


def opened(view: View, number: int, survey: Survey) -> list[Survey]:
    """All rounds of a survey that were opened, the first one first."""
    later = view.rounds(number) if survey.rounds is not None else []
    return [survey, *map(Survey.from_json, later)]
