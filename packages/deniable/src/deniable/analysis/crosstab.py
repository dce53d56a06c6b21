"""Cross-tables from reports: on several questions of the same people, one compound question, or pairs drawn in public."""

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Any, Protocol, overload, runtime_checkable

import numpy as np

from deniable.analysis.decoder import Decoder, OpenDecoder, decoder
from deniable.analysis.joint_tally import JointTally, product_covariance
from deniable.analysis.table import MOST_CELLS, Table
from deniable.arrays import Floats
from deniable.core import Mechanism, Reports, Tally
from deniable.domains import Product
from deniable.errors import InvalidParameter
from deniable.wrappers.attributes import Attributes
from deniable.wrappers.every_attribute import EveryAttribute
from deniable.wrappers.one_pair import OnePair, Tables
from deniable.wrappers.whole_record import WholeRecord

Source = Reports | Tally | JointTally | Mapping[str, Any]


@runtime_checkable
class HasTables(Protocol):
    """What was collected by a survey that asks for tables, such as `dn.collected("survey.toml")`."""

    def table(self, *questions: str) -> Table:
        """The table of these questions."""


@overload
def crosstab(reports: HasTables, mechanisms: str, *questions: str) -> Table: ...
@overload
def crosstab(
    reports: Source,
    mechanisms: Mechanism | Mapping[str, Mechanism],
    *questions: str | int,
    names: Sequence[str] | None = None,
) -> Table: ...
def crosstab(
    reports: Source | HasTables,
    mechanisms: Mechanism | Mapping[str, Mechanism] | str,
    *questions: str | int,
    names: Sequence[str] | None = None,
) -> Table:
    """The share of people with each combination of answers to two or three questions, unbiased, with its exact covariance.

    Either of the same people's reports on several questions: a mapping from each question to its reports, and one to its
    mechanism. A question without a mechanism is open: its column holds the answers themselves. Or of one mechanism: a
    compound question over a `Product`, an `EveryAttribute`, or `OnePair`, of which two questions are chosen. Its questions
    are numbers, unless `names` names them; a tally will do where it has what is needed. Or of what a survey collected:
    `crosstab(dn.collected("survey.toml"), "smokes", "age")`.

    >>> from deniable import Categories, DirectResponse, SeededCoins
    >>> smokes = DirectResponse(Categories(["yes", "no"]), 2.0)
    >>> answers, age = ["yes", "no", "no", "no"] * 500, ["old", "old", "young", "young"] * 500
    >>> columns = {"smokes": smokes.perturb(answers, SeededCoins(1)), "age": age}
    >>> print(crosstab(columns, {"smokes": smokes}))
    smokes / age           old         young
    yes           24.2 +- 1.3   -0.2 +- 1.3*
    no            25.8 +- 1.3   50.2 +- 1.3
    % of these 2,000 people, 95% intervals; * may be zero
    """
    if isinstance(reports, HasTables):
        return reports.table(*(str(each) for each in (mechanisms, *questions)))
    if isinstance(mechanisms, str):
        raise InvalidParameter(
            "Reports need the mechanisms that made them: crosstab(reports, mechanisms, 'a', 'b'). For a survey, give what "
            "it has collected: crosstab(collected('survey.toml'), 'a', 'b')."
        )
    if isinstance(mechanisms, Mapping):
        return _of_questions(reports, mechanisms, questions)
    return of_mechanism(mechanisms, reports, questions, names)


def decoders_of(columns: Mapping[str, Any], mechanisms: Mapping[str, Mechanism], questions: Sequence[Any]) -> list[Decoder]:
    """The decoder of each question; of an open one, by the answers that occur."""
    found: list[Decoder] = []
    for question in questions:
        if question not in columns:
            known = ", ".join(repr(name) for name in columns)
            raise InvalidParameter(f"There are no reports on {question!r}. There are reports on {known}.")
        if question in mechanisms:
            found.append(decoder(mechanisms[question]))
        elif isinstance(columns[question], Reports):
            raise InvalidParameter(f"The reports on {question!r} need their mechanism: mechanisms[{question!r}].")
        else:
            found.append(OpenDecoder.of(columns[question]))
    return found


def _of_questions(reports: Source, mechanisms: Mapping[str, Mechanism], questions: Sequence[Any]) -> Table:
    if isinstance(reports, JointTally):
        asked = list(questions) or list(mechanisms)
        found = [decoder(mechanisms[question]) for question in asked]
        check_cells([each.size for each in found])
        return table_of_tally(reports, found, asked)
    if not isinstance(reports, Mapping):
        raise InvalidParameter("Several mechanisms need a mapping from each question to the reports on it.")
    asked = list(questions) or list(reports)
    found = decoders_of(reports, mechanisms, asked)
    check_cells([each.size for each in found])
    return table_of_tally(
        JointTally.of(found, [reports[each] for each in asked], [str(each) for each in asked]), found, asked
    )


def check_cells(sizes: Sequence[int]) -> None:
    """Refuse tables of one question or more than three, and those with too many cells."""
    if not 2 <= len(sizes) <= 3:
        raise InvalidParameter(f"A table has two or three questions, not {len(sizes)}. Name them: crosstab(..., 'a', 'b').")
    if int(np.prod(sizes)) > MOST_CELLS:
        raise InvalidParameter(
            f"This table would have {int(np.prod(sizes)):,} cells; at most {MOST_CELLS:,} are estimated. Combine rare "
            "answers, ask for bands of numbers, or take fewer questions."
        )


def table_of_tally(tally: JointTally, decoders: Sequence[Decoder], questions: Sequence[Any]) -> Table:
    """The table of people whose reports on each question are counted together."""
    n = tally.n

    def law(shares: Floats) -> Floats:
        return product_covariance(decoders, shares) / n

    answers = tuple(list(each.labels) for each in decoders)
    return Table(tuple(str(each) for each in questions), answers, tally.shares(decoders), n, law)


@singledispatch
def of_mechanism(
    mechanism: Mechanism, reports: Any, questions: Sequence[str | int], names: Sequence[str] | None = None
) -> Table:
    """The table of one mechanism's reports, by its kind; of a compound question unless registered otherwise."""
    domain = mechanism.domain
    if not isinstance(domain, Product):
        raise InvalidParameter(
            "A table needs the reports of several questions, or a mechanism for several: plan_tables(domains, epsilon, n)."
        )
    named, axes = chosen(questions, names, len(domain.parts))
    check_cells([domain.parts[axis].size for axis in axes])
    tally = reports if isinstance(reports, Tally) else mechanism.tally(reports)
    estimate = mechanism.estimate(tally)
    known, n = decoder(mechanism), tally.n

    def law(shares: Floats) -> Floats:
        flat = shares.ravel()
        return (known.mean_square(flat) - np.outer(flat, flat)) / n

    answers = tuple(list(part.labels) for part in domain.parts)
    shares = estimate.values - estimate.values.mean() + 1 / domain.size  # which sum to one
    whole = Table(tuple(named), answers, shares.reshape(domain.shape), n, law)
    return whole if axes == list(range(len(named))) else whole.pair(*(named[axis] for axis in axes))


@of_mechanism.register
def _(mechanism: Attributes, reports: Any, questions: Any, names: Any = None) -> Table:
    raise InvalidParameter(
        "Each of these people reported one answer, so their reports say nothing about how answers are related. Ask with "
        "OnePair, EveryAttribute or a compound question: plan_tables(domains, epsilon, n) compares them."
    )


@of_mechanism.register
def _(mechanism: WholeRecord, reports: Any, questions: Any, names: Any = None) -> Table:
    if isinstance(reports, Tally):
        raise InvalidParameter("A tally of whole records has the votes for each attribute only. Give their reports.")
    compound, own = mechanism.compound(reports)
    return of_mechanism(compound, own, questions, names)


@of_mechanism.register
def _(mechanism: EveryAttribute, reports: Any, questions: Any, names: Any = None) -> Table:
    named, axes = chosen(questions, names, len(mechanism.parts))
    parts = [mechanism.parts[axis] for axis in axes]
    check_cells([part.domain.size for part in parts])
    found, asked = [decoder(part) for part in parts], [named[axis] for axis in axes]
    if isinstance(reports, JointTally):
        return table_of_tally(reports, found, asked)
    if not isinstance(reports, Reports):
        raise InvalidParameter(
            "A tally of single answers says nothing about pairs of answers. Give the reports themselves, or their "
            "joint tally: "
            "aggregate_joint(mechanism, files)."
        )
    return table_of_tally(JointTally.of(found, mechanism.reports_on(reports, axes), asked), found, asked)


@of_mechanism.register
def _(mechanism: OnePair, reports: Any, questions: Any, names: Any = None) -> Table:
    named, axes = chosen(questions, names, len(mechanism.sizes))
    if len(set(axes)) != 2:
        raise InvalidParameter(
            "These people reported pairs of answers, so there are tables of two questions and no larger ones. Name two, or "
            "ask for a table of three questions before people answer."
        )
    tally = reports if isinstance(reports, Tally) else mechanism.tally(reports)
    found = pair_table(mechanism.tables(tally), axes, named)
    return found if axes == sorted(axes) else found.pair(*(named[axis] for axis in axes))


def pair_table(found: Tables, axes: Sequence[int], names: Sequence[str]) -> Table:
    """One of the tables that were estimated together."""
    mechanism, (first, second) = found.mechanism, sorted(axes)
    place = [(pair.first, pair.second) for pair in mechanism.pairs].index((first, second))
    parts = mechanism.domain.parts
    shape = (parts[first].size, parts[second].size)

    def law(shares: Floats) -> Floats:
        tables = [*found.tables[:place], shares.ravel(), *found.tables[place + 1 :]]
        return Tables(mechanism, tables, found.reports, found.n).covariance(place)

    answers = (list(parts[first].labels), list(parts[second].labels))
    return Table((names[first], names[second]), answers, found.tables[place].reshape(shape), found.n, law)


def crosstabs(reports: Reports | Tally, mechanism: OnePair, names: Sequence[str] | None = None) -> list[Table]:
    """The tables of all pairs of questions, with the same margins wherever a question occurs."""
    if not isinstance(mechanism, OnePair):
        raise InvalidParameter("All tables at once come from OnePair; use crosstab for a single one.")
    named = _named(names, len(mechanism.sizes))
    found = mechanism.tables(reports if isinstance(reports, Tally) else mechanism.tally(reports))
    return [pair_table(found, (pair.first, pair.second or 0), named) for pair in mechanism.pairs]


def _named(names: Sequence[str] | None, count: int) -> list[str]:
    found = [str(place) for place in range(count)] if names is None else [str(name) for name in names]
    if len(found) != count or len(set(found)) != count:
        raise InvalidParameter(f"Give {count} different names, one for each question.")
    return found


def chosen(questions: Sequence[str | int], names: Sequence[str] | None, count: int) -> tuple[list[str], list[int]]:
    """The names of all questions of a mechanism, and the places of those that are asked for: all unless they are named."""
    named = _named(names, count)
    return named, [_place(question, named) for question in questions] or list(range(count))


def _place(question: str | int, names: Sequence[str]) -> int:
    if str(question) not in names:
        raise InvalidParameter(f"There is no question {question!r}. The questions are {', '.join(map(repr, names))}.")
    return names.index(str(question))
