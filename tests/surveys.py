"""Surveys that several tests use."""

from functools import cache

import deniable as dn
from deniable.survey.reading import parse_toml


def with_planner(text: str, edition: int) -> str:
    """The survey file, planned by this edition of the planner."""
    return text.replace("[survey]\n", f"[survey]\nplanner = {edition}\n")


COMMUTE = """
[survey]
id = "commute-2026"
epsilon = 2.0
minimum_reports = 10

[[question]]
id = "mode"
ask = "How did you travel today?"
kind = "category"
choices = ["walk", "bicycle", "bus", "car", "none of these"]
sensitive = ["none of these"]

[[question]]
id = "minutes"
ask = "How many minutes did it take?"
kind = "number"
low = 0
high = 120
"""

ONE = """
[survey]
id = "one"
epsilon = 1.0
minimum_reports = 10
people = 100000

[[question]]
id = "town"
ask = "Which town?"
kind = "category"
choices = ["Lyon", "Paris", "Nice", "Lille", "Metz", "Brest"]
"""

SAMPLED = """
[survey]
id = "sampled"
epsilon = 1.0
budget = "sampled"
sample = 2
minimum_reports = 1
keep_reports = true
opens = 2026-01-01T00:00:00Z
closes = 2026-01-11T00:00:00Z
window = "day"

[[question]]
id = "a"
kind = "category"
choices = ["yes", "no"]
optional = true

[[question]]
id = "b"
kind = "category"
choices = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]

[[question]]
id = "c"
kind = "number"
low = -1.5
high = 1.5
steps = 3
"""
SPARSE = """
[survey]
id = "sparse"
epsilon = 6.0
minimum_reports = 10

[[question]]
id = "films"
ask = "Which films did you see?"
kind = "sparse-set"
protects = "item"
size = 500

[[question]]
id = "sex"
kind = "category"
choices = ["f", "m", "other"]

[[question]]
id = "genes"
kind = "sparse-set"
protects = "item"
size = 300
at_most = 20
alpha = 2
"""

KINDS = """
[survey]
id = "kinds"
epsilon = 4.0
minimum_reports = 10

[[question]]
id = "mood"
ask = "How are you, from 0 to 10?"
kind = "ordered"
low = 0
high = 10

[[question]]
id = "often"
ask = "How often do you see films?"
kind = "ordered"
choices = ["never", "sometimes", "often"]

[[question]]
id = "films"
ask = "Which films did you see, and how were they?"
kind = "ratings"
items = ["Alien", "Brazil", "Casablanca"]
low = 0.5
high = 5
at_most = 2

[[question]]
id = "apps"
ask = "Which apps do you have?"
kind = "set"
items = ["chat", "map", "game", "bank"]
at_most = 3

[[question]]
id = "home"
ask = "Where do you live?"
kind = "place"
places = ["Lyon", "Paris", "Nice"]
points = [[45.76, 4.84], [48.86, 2.35], [43.70, 7.27]]

[[question]]
id = "taste"
ask = "What does your device make of your taste?"
kind = "features"
dimensions = 4
low = -1
high = 1
"""
OPENS = 1767225600  # 2026-01-01, when SAMPLED opens


@cache  # planning takes a while, and a survey never changes
def survey(text: str) -> dn.Survey:
    return parse_toml(text, "survey.toml")


def several(*choices: int, epsilon: float = 1.0, identity: str = "several") -> str:
    """A survey of plain questions with so many numbered answers each."""
    head = f'[survey]\nid = "{identity}"\nepsilon = {epsilon}\nminimum_reports = 1\n'
    questions = [
        f'[[question]]\nid = "q{place}"\nkind = "category"\nchoices = {list(range(size))}\n'
        for place, size in enumerate(choices)
    ]
    return head + "\n".join(questions)
