"""Surveys of every kind of question, whose plans must stay what they are in each edition of the planner."""

QUESTIONS = {
    "category": 'kind = "category"\nchoices = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]',
    "few": 'kind = "category"\nchoices = ["a", "b", "c"]',
    "many": 'kind = "ordered"\nlow = 1\nhigh = 60',
    "sensitive": 'kind = "category"\nchoices = ["a", "b", "c", "d", "e", "f", "g", "h"]\n'
    'sensitive = ["a", "b", "c", "d", "e"]\noptional = true',
    "number": 'kind = "number"\nlow = 0\nhigh = 120',
    "steps": 'kind = "number"\nlow = 0\nhigh = 10\nsteps = 20',
    "distribution": 'kind = "number"\nlow = 0\nhigh = 100\ntarget = "distribution"',
    "ranges": 'kind = "number"\nlow = 0\nhigh = 48\ntarget = "ranges"',
    "quantiles": 'kind = "ordered"\nlow = 0\nhigh = 60\ntarget = "quantiles"',
    "ordered": 'kind = "ordered"\nchoices = ["never", "rarely", "sometimes", "often", "always"]',
    "marks": 'kind = "ordered"\nlow = 0\nhigh = 10\ntarget = "ranges"',
    "place": 'kind = "place"\nplaces = ["Lyon", "Paris", "Nice"]\npoints = [[45.76, 4.84], [48.86, 2.35], [43.70, 7.27]]',
    "map": 'kind = "place"\narea = [[48.80, 2.25], [48.92, 2.42]]\ngrid = [8, 8]\ntarget = "ranges"',
    "ratings": 'kind = "ratings"\nitems = ["a", "b", "c", "d", "e", "f", "g", "h"]\nlow = 1\nhigh = 5\nat_most = 3',
    "set": 'kind = "set"\nitems = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]\nat_most = 3',
    "one": 'kind = "set"\nitems = ["a", "b", "c", "d"]\nat_most = 1',
    "text": 'kind = "text"\nfind = 5',
    "sparse": 'kind = "sparse-set"\nsize = 1000\nprotects = "item"\nat_most = 4',
    "features": 'kind = "features"\ndimensions = 4\nlow = 0\nhigh = 1',
}
EPSILONS = (1.0, 4.0)
TABLES = """
[survey]
id = "tables"
epsilon = 2.0
{planner}
[[question]]
id = "smokes"
kind = "category"
choices = ["never", "sometimes", "daily"]

[[question]]
id = "age"
kind = "ordered"
choices = ["18-34", "35-64", "65+"]

[[table]]
questions = ["smokes", "age"]
"""
ROUNDS = """
[survey]
id = "rounds"
epsilon = 1.0
rounds = 3
people = 9000
{planner}
[[question]]
id = "salary"
kind = "number"
low = 0
high = 100
target = "quantiles"
quantiles = [0.5, 0.9]
"""
REPEATED = """
[survey]
id = "repeated"
epsilon = 1.0
lifetime_epsilon = 2.0
window = "day"
{planner}
[[question]]
id = "mood"
kind = "category"
choices = ["good", "fair", "bad", "awful"]
repeat = "permanent"

[[question]]
id = "hours"
kind = "number"
low = 0
high = 24
repeat = "permanent"

[[question]]
id = "tools"
kind = "set"
items = ["a", "b", "c", "d"]
repeat = "permanent"

[[question]]
id = "town"
kind = "category"
choices = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]
"""


def one_question(name: str, epsilon: float, edition: int) -> str:
    """A survey with one of the questions."""
    return f'[survey]\nid = "{name}"\nepsilon = {epsilon}\n{_planner(edition)}\n[[question]]\nid = "q"\n{QUESTIONS[name]}\n'


def every_kind(epsilon: float, edition: int, budget: str = "equal", left_out: frozenset[str] = frozenset()) -> str:
    """A survey with all of the questions."""
    asked = "".join(f'\n[[question]]\nid = "{name}"\n{text}\n' for name, text in QUESTIONS.items() if name not in left_out)
    return f'[survey]\nid = "every"\nepsilon = {epsilon}\nbudget = "{budget}"\n{_planner(edition)}\n{asked}'


def several_questions(edition: int) -> dict[str, str]:
    """Surveys whose questions are planned together, in rounds, or again and again."""
    texts = {"tables": TABLES, "sampled": TABLES, "rounds": ROUNDS, "repeated": REPEATED}
    made = {name: text.format(planner=_planner(edition)) for name, text in texts.items()}
    made["sampled"] = made["sampled"].replace("epsilon = 2.0", 'epsilon = 2.0\nbudget = "sampled"')
    return made


def _planner(edition: int) -> str:
    return "" if edition == 1 else f"planner = {edition}\n"


if __name__ == "__main__":
    from deniable.survey.plan_bounds import above_best
    from deniable.survey.reading import parse_toml

    for name in QUESTIONS:
        for epsilon in (1.0, 2.0, 4.0):
            for edition in (1, 2):
                (question,) = parse_toml(one_question(name, epsilon, edition), "survey.toml").questions
                mechanism, above = question.mechanism, above_best(question, 10_000)
                shown = above if isinstance(above, str) else f"{above:.1%}"
                error = 100 * question.how.error(question.domain, mechanism, 10_000)
                print(name, epsilon, edition, mechanism.wire, f"{mechanism.layout.bits} bits", f"{error:.3g}", shown)
