"""From the tables of a survey file to how its questions are reported: by themselves, or some of them together."""

from collections.abc import Sequence
from typing import NamedTuple, cast

from deniable.core import Domain, Mechanism
from deniable.domains import Product, Vectors
from deniable.errors import DeniableError, InvalidParameter
from deniable.mechanisms.registry import mechanism_from_spec
from deniable.survey.budget import Spending
from deniable.survey.group import KIND, Group, name_of
from deniable.survey.question import Asked, Member, Question
from deniable.survey.reading import Draft, Section, check_ids, read_draft, read_weight
from deniable.survey.relation import Relation
from deniable.survey.tables import MOST_QUESTIONS, SPLIT, Part, check_cells, check_part, connected, places_of, ways


class Unit(NamedTuple):
    """Questions that are reported together, or one by itself; the mechanism of the former, where the file has it."""

    drafts: list[Draft]
    table: Section
    mechanism: Mechanism | None = None

    @property
    def weight(self) -> float:
        """Its weight in the budget."""
        return sum(draft.weight for draft in self.drafts)

    @property
    def ids(self) -> list[str]:
        """The questions in it."""
        return [draft.id for draft in self.drafts]


def arrange(
    questions: Sequence[Section], tables: Sequence[Section], spending: Spending, about: Section
) -> tuple[tuple[Question, ...], tuple[Relation, ...]]:
    """The questions as they are reported, those that tables connect one after the other; and the tables."""
    units = [_unit(table, spending) for table in questions]
    check_ids([draft.table for unit in units for draft in unit.drafts], [name for unit in units for name in unit.ids])
    relations = tuple(_relation(table, units) for table in tables)
    units = _planned(units, tables, relations, spending)
    if spending.budget == "sampled" and spending.sample > len(units):
        about.refuse(
            "sample", f"Each person answers {spending.sample} parts of the survey, but questions that are reported together "
            f"are one part, so there are {len(units)}."
        )  # fmt: skip
    epsilons = spending.shares([unit.weight for unit in units])
    reports = spending.reports(len(units))
    made = [_made(u, e, relations, spending.people, reports) for u, e in zip(units, epsilons, strict=True)]
    return tuple(made), relations


def _unit(table: Section, spending: Spending) -> Unit:
    split, edition = spending.budget, spending.edition
    if "questions" not in table.data:
        return Unit([read_draft(table, read_weight(table, split), edition)], table)
    table.only({"id", "kind", "questions", "mechanism"})
    members = table.data["questions"]
    if table.data.get("kind") != KIND or not isinstance(members, list) or len(members) < 2 or "mechanism" not in table.data:
        table.refuse("questions", "A survey file cannot list questions that are reported together. Use [[table]] instead.")
    drafts = []
    for row in members:
        inside = table.within(row)
        drafts.append(read_draft(inside, read_weight(inside, split), edition))
    try:
        mechanism = mechanism_from_spec(table.data["mechanism"])
        domains = [draft.domain for draft in drafts]
        matches = mechanism.domain == Product(domains) or mechanism.domain == Vectors(domains)
    except DeniableError as error:
        table.refuse("mechanism", str(error))
    if not matches or table.data.get("id") != name_of([draft.id for draft in drafts]):
        table.refuse("mechanism", "The domain of the mechanism does not match the answers of the questions.")
    return Unit(drafts, table, mechanism)


def _relation(table: Section, units: Sequence[Unit]) -> Relation:
    """A table of the file, whose questions must be there and have lists of answers."""
    table.only({"questions", "title"})
    drafts = {draft.id: draft for unit in units for draft in unit.drafts}
    names = table.data.get("questions")
    if not isinstance(names, list) or not 2 <= len(set(map(str, names))) == len(names) <= MOST_QUESTIONS:
        table.refuse("questions", 'A table needs two or three different questions: questions = ["smokes", "age"].')
    for name in names:
        if name not in drafts:
            table.refuse("questions", f"There is no question {name!r}. The questions are {', '.join(map(repr, drafts))}.")
    try:
        for name in names:
            check_part(_part(drafts[name], 1))
        check_cells([drafts[name].domain.size for name in names])
    except InvalidParameter as error:
        table.refuse("questions", str(error))
    return Relation(tuple(names), table.text("title") if "title" in table.data else "")


def _part(draft: Draft, people: int) -> Part:
    sensitive, fixed = bool(draft.how.sensitive(draft.details)), "mechanism" in draft.table.data
    return Part(draft.id, draft.how, draft.domain, sensitive, fixed, lambda epsilon: draft.mechanism(epsilon, people))


def _planned(units: list[Unit], tables: Sequence[Section], relations: Sequence[Relation], spending: Spending) -> list[Unit]:
    """The units after it was decided for each set of connected questions how they are reported."""
    if len({relation.id for relation in relations}) != len(relations):
        tables[-1].refuse("questions", "Two tables have the same questions. Leave one of them out.")
    named = [name for unit in units for name in unit.ids]
    drafts = {draft.id: draft for unit in units for draft in unit.drafts}
    whole = {unit.ids[0]: unit for unit in units if unit.mechanism is not None}
    groups = [[named[place] for place in group] for group in connected(named, relations)]
    total, found = sum(unit.weight for unit in units), list[Unit]()
    for group in groups:
        table = next((t for t, r in zip(tables, relations, strict=True) if r.questions[0] in group), None)
        own = [drafts[name] for name in group]
        if group[0] in whole:
            if whole[group[0]].ids != group:
                whole[group[0]].table.refuse(
                    "questions", "Questions that are reported together are not those of the tables."
                )
            found.append(whole[group[0]])
        elif table is None or not _together(own, relations, spending, len(groups), total, table):
            found += [Unit([draft], draft.table) for draft in own]
        else:
            found.append(Unit(own, own[0].table))
    return found


def _together(
    drafts: Sequence[Draft], relations: Sequence[Relation], spending: Spending, groups: int, total: float, table: Section
) -> bool:
    """Whether the questions are better reported together."""
    sampled = spending.budget == "sampled"
    parts = [_part(draft, spending.people) for draft in drafts]
    epsilons = [spending.epsilon * draft.weight / total for draft in drafts]
    budget = spending.epsilon / spending.sample if sampled else sum(epsilons)
    try:
        wanted = places_of([draft.id for draft in drafts], relations)
        return ways(parts, wanted, epsilons, budget, spending.reports(groups), together=sampled).best.name != SPLIT
    except InvalidParameter as error:
        table.refuse("questions", str(error))


def _made(unit: Unit, epsilon: float, relations: Sequence[Relation], people: int, reports: int) -> Question:
    if len(unit.drafts) == 1:
        (draft,) = unit.drafts
        return draft.question(draft.mechanism(epsilon, people))
    members = [
        Member(each.id, each.ask, each.kind, each.details, each.weight, each.domain, edition=each.edition)
        for each in unit.drafts
    ]
    tables = places_of(unit.ids, relations)
    chosen = unit.mechanism
    if chosen is None:
        parts = [_part(draft, people) for draft in unit.drafts]
        chosen = ways(parts, tables, [], epsilon, reports, together=True).best.mechanism[0]
    return Group.of(members, chosen, tables)


def parts_of(asked: Sequence[Asked], people: int) -> list[Part]:
    """What is known of the questions of a survey, for comparing ways to report them."""

    def part(own: Asked) -> Part:
        def alone(epsilon: float) -> Mechanism:
            mechanism: Mechanism = own.how.mechanism(own.domain, own.details, epsilon, people)
            return mechanism

        return Part(own.id, own.how, cast(Domain, own.domain), bool(own.sensitive), False, alone)

    return [part(own) for own in asked]
