"""What a survey has collected, for analysis: from its database, or from the collector that runs it."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from deniable.analysis.table import Table
from deniable.analysis.trend import Trend, trend_of
from deniable.collector.fetching import fetched
from deniable.collector.publish import results
from deniable.collector.store import open_store
from deniable.collector.trends import followed
from deniable.core import Estimate, Tally
from deniable.errors import EmptyBatch, InvalidParameter, SurveyMismatch
from deniable.planning.ranking import there_are
from deniable.survey import Survey
from deniable.survey.joint import source_of, table_from


@dataclass(frozen=True, eq=False)
class Collected:
    """A survey and the tallies of what people reported, over all periods and in each; hidden ones are missing.

    `crosstab` and `compare_groups` take it in the place of reports.
    """

    survey: Survey
    tallies: Mapping[str, Tally]
    periods: Mapping[str, Mapping[int, Tally]] = field(default_factory=dict)  # of each question, by number

    @property
    def people(self) -> int:
        """How many people reported on the question that has most."""
        return max((tally.n for tally in self.tallies.values()), default=0)

    def estimate(self, question: str) -> Estimate:
        """The estimate of one question; one that is reported together with others is a margin of its table."""
        for unit in self.survey.questions:
            if question == unit.id and len(unit.members) == 1:
                return unit.mechanism.estimate(self._tally(question))
        for relation in self.survey.tables:
            if question in relation.questions:
                return self.table(*relation.questions).margins()[question]
        raise InvalidParameter(f"The survey has no question {question!r}.")

    def trend(self, question: str) -> Trend:
        """One question over time: its estimates in all periods with enough reports."""
        for each in self.survey.questions:
            if each.id == question and self.periods.get(question):
                history = [
                    (when, each.how.estimate(each.mechanism, tally)) for when, tally in self.periods[question].items()
                ]
                known = [(when, part) for when, found in sorted(history) if (part := followed(each, found)) is not None]
                if known:
                    return trend_of(each.mechanism, [when for when, _ in known], [part for _, part in known])
        raise EmptyBatch(
            f"There is no trend of {question!r}: the survey needs a window, and periods with at least "
            f"{self.survey.minimum_reports:,} reports on a share or a mean."
        )

    def table(self, *questions: str) -> Table:
        """The table of two or three questions; refused where the survey does not ask for it."""
        return table_from(self.survey, questions, self._tally(source_of(self.survey, questions)))

    def _tally(self, key: str) -> Tally:
        if key not in self.tallies:
            least = there_are(self.survey.minimum_reports, "report")
            raise EmptyBatch(f"Results are hidden until {least}. Collect more.")
        return self.tallies[key]


def collected(
    survey: Survey | str | PathLike[str], store: str | None = None, *, url: str | None = None, token: str | None = None
) -> Collected:
    """What the survey in this file has collected: from the database next to it, another `store`, or a collector's `url`."""
    asked = survey if isinstance(survey, Survey) else Survey.load(survey)
    if url is not None:
        return _fetched(asked, url, token)
    if store is None:
        if isinstance(survey, Survey):
            raise InvalidParameter("Name the database of the survey: collected(survey, 'survey.db').")
        store = str(Path(survey).with_suffix(".db"))
    if "://" not in store and not Path(store).is_file():
        raise InvalidParameter(f"There is no database {store!r} yet. Collect answers first: deniable serve.")
    place = open_store(store)
    try:
        number, known = place.register(asked)
        found = results(known, number, place)
    finally:
        place.close()
    return _made(known, found.tallies)


def _fetched(asked: Survey, url: str, token: str | None) -> Collected:
    known = Survey.from_json(fetched(f"{url.rstrip('/')}/v1/survey", None).decode())
    if known.contract() != asked.contract():
        raise SurveyMismatch(
            f"The collector at {url} serves another survey than this file. Ask for the file that it serves."
        )
    rows = json.loads(fetched(f"{url.rstrip('/')}/v1/tallies", token))["tallies"]
    return _made(known, [(row["question"], row["period"], Tally.from_json(json.dumps(row["tally"]))) for row in rows])


def _made(survey: Survey, rows: Iterable[tuple[str, int | None, Tally]]) -> Collected:
    whole, periods = dict[str, Tally](), defaultdict[str, dict[int, Tally]](dict)
    for key, period, tally in rows:
        if period is None:
            whole[key] = tally
        else:
            periods[key][period] = tally
    return Collected(survey, whole, periods)
