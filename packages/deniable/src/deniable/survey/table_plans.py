"""How the questions of a survey's tables can be reported, and what error each way would have."""

from deniable.errors import InvalidParameter
from deniable.survey.arranging import parts_of
from deniable.survey.budget import Spending
from deniable.survey.group import Group
from deniable.survey.survey import Survey
from deniable.survey.tables import COMPOUND, PAIRS, SPLIT, connected, places_of, ways
from deniable.wrappers.one_pair import OnePair


def explained_ways(survey: Survey, people: int) -> list[str]:
    """The ways side by side, for each set of questions that tables connect."""
    asked, ids = survey.asked, [each.id for each in survey.asked]
    units = {member.id: unit for unit in survey.questions for member in unit.members}
    spending = Spending(survey.epsilon, survey.budget, survey.sample, people)
    total, lines, groups = sum(each.weight for each in asked), list[str](), connected(ids, survey.tables)
    for group in groups:
        if len(group) == 1:
            continue
        own = [asked[place] for place in group]
        unit, sampled = units[own[0].id], survey.budget == "sampled"
        used = (PAIRS if isinstance(unit.mechanism, OnePair) else COMPOUND) if isinstance(unit, Group) else SPLIT
        epsilons = [survey.epsilon * each.weight / total for each in own]
        whole = survey.epsilon / survey.sample if sampled else sum(epsilons)
        wanted = places_of([each.id for each in own], survey.tables)
        try:
            found = ways(parts_of(own, people), wanted, epsilons, whole, spending.reports(len(survey.questions)), sampled)
        except InvalidParameter as error:  # only the way that the file fixes is left
            lines.append(f"{' and '.join(each.id for each in own)}: {used}. {error}")
            continue
        chosen = found.within(None, used if used in {row.name for row in found} else None)
        lines += [f"Tables of {chosen.subject}: {used}", chosen.table(), chosen.legend(), *chosen.remarks]
    return lines
