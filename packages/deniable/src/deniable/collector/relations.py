"""The tables that a survey asks for: what is counted for them, in the same transaction, and what is published."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.arrays import Bools, Ints
from deniable.core import Estimate, Reports, Tally
from deniable.domains.categories import NO_ANSWER
from deniable.errors import DeniableError
from deniable.survey import Question, Survey
from deniable.survey.relation import Relation

if TYPE_CHECKING:
    from deniable.analysis.table import Table

Key = tuple[int, str]  # period, and what the tally is kept under


def joint_counts(
    survey: Survey, part: int, reports: Sequence[Reports], wanted: Sequence[tuple[int, Bools | None]]
) -> Iterator[tuple[Key, int, Ints]]:
    """For each table, how many of these people are added to it, and their counts; of each period those rows."""
    names = [question.id for question in survey.part(part)]
    for joint in survey.joints:
        own = [reports[names.index(name)] for name in joint.relation.questions]
        for period, rows in wanted:
            chosen = own if rows is None else [_rows(each, rows) for each in own]
            yield (period, joint.id), len(chosen[0]), joint.votes(chosen)


def _rows(reports: Reports, rows: Bools) -> Reports:
    columns = {name: column[rows] for name, column in reports.columns.items()}
    return Reports(reports.fingerprint, reports.layout, columns)


@dataclass(frozen=True, eq=False)
class Related:
    """A table that the survey asks for, over all periods; None where it is hidden because there are too few reports."""

    relation: Relation
    reports: int
    table: "Table | None"

    def records(self, confidence: float) -> list[dict[str, object]]:
        """A row for each cell: the answers, the share, its error and interval, and whether it may be zero."""
        if self.table is None:
            return []
        noisy, clean = self.table.noisy(confidence).ravel(), self.table.cleaned().ravel()
        rows = []
        for row, star, own in zip(self.table.rows(confidence), noisy, clean, strict=True):
            answers = [str(row[name]) for name in self.relation.questions]
            numbers = {name: row[name] for name in ("standard_error", "low", "high")}
            rows.append({"answers": answers, "value": row["share"], **numbers, "cleaned": float(own), "noisy": bool(star)})
        return rows

    def data(self, confidence: float) -> dict[str, object]:
        """The table as plain data."""
        about: dict[str, object] = {"questions": list(self.relation.questions), "title": self.relation.title}
        about |= {"reports": self.reports, "hidden": self.table is None, "cells": self.records(confidence)}
        if self.table is None:
            return about
        return about | {"labels": [[str(each) for each in own] for own in self.table.answers], **self._tested(self.table)}

    def _tested(self, table: "Table") -> dict[str, object]:
        """Whether the questions are independent; people who skipped one of them are left out of that."""
        skipped = [name for name, own in zip(table.questions, table.answers, strict=True) if NO_ANSWER in own]
        try:
            for name in skipped:
                table = table.without(name, NO_ANSWER)
            found = table.test()
        except (DeniableError, np.linalg.LinAlgError) as error:
            return {"test": None, "trouble": str(error)}
        test: dict[str, object] = {"statistic": found.statistic, "degrees": found.degrees, "p_value": found.p_value}
        test |= {"effect": found.effect, "measure": found.measure, "people": found.n, "text": str(found)}
        return {"test": test | {"without": skipped}, "trouble": ""}


def related(survey: Survey, tallies: Mapping[str, Tally | None]) -> list[Related]:
    """The tables of a survey from its tallies, which are None where they are missing or hidden."""
    from deniable.survey.joint import source_of, table_from  # only surveys with tables need them

    found = []
    for relation in survey.tables:
        tally = tallies[source_of(survey, relation.questions)]
        shown = tally is not None and tally.n >= survey.minimum_reports
        table = table_from(survey, relation.questions, tally) if tally is not None and shown else None
        found.append(Related(relation, 0 if tally is None else tally.n, table))
    return found


def margins(survey: Survey, group: Question, tally: Tally) -> dict[str, Estimate]:
    """The shares of each question of a group, from the tally of their combinations."""
    from deniable.survey.joint import table_from

    found: dict[str, Estimate] = {}
    ids = {member.id for member in group.members}
    for relation in survey.tables:
        if set(relation.questions) <= ids and not set(relation.questions) <= set(found):
            found = table_from(survey, relation.questions, tally).margins() | found
    ordered = {member.id: member.domain.ordered for member in group.members}
    return {name: replace(estimate, ordered=ordered[name]) for name, estimate in found.items()}
