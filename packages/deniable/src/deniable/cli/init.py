"""`deniable init`: a folder with a first survey, made from three answers."""

import csv
import io
import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from deniable.cli.options import EPSILON
from deniable.cli.targets import write_text
from deniable.core import NEWEST_EDITION
from deniable.errors import InvalidParameter
from deniable.survey.reading import parse_toml
from deniable.survey.survey import Survey

ASK = "How did you travel today?"
CHOICES = ("walk", "bicycle", "bus", "car")
PEOPLE = 1000
ROWS = 200  # of the sample
SURVEY = """\
# A survey for `deniable serve`. Check it with `deniable plan survey.toml`. Every key is described in docs/survey.md.

[survey]
# Permanent: once people have answered, a changed survey needs a new id.
id = {id}
# What people see above the questions.
title = {title}
# The privacy budget of one person over all questions. Smaller is more private and less accurate.
epsilon = {epsilon}
# About how many people will answer: the best mechanism depends on it.
people = {people}
# Results stay hidden until this many people have answered.
minimum_reports = {minimum}
# Which edition of the planner chooses the mechanisms. It makes the same choice in every later release of deniable.
planner = {planner}
# Let everybody read the results, not only those with the token:
# share_results = true

[[question]]
# The name of the column in results.
id = {question}
ask = {ask}
# Other kinds: number, ordered, set, ratings, place, text.
kind = "category"
choices = {choices}
# If only some answers are sensitive, the others may be disclosed, and estimates are more accurate:
# sensitive = [{first}]

# One more question; the budget is then split between both:
# [[question]]
# id = "minutes"
# ask = "How many minutes did it take?"
# kind = "number"
# low = 0
# high = 120
"""
README = """\
# {title}

| file | is |
|---|---|
| survey.toml | the survey: edit it until people have answered, never afterwards |
| answers.csv | {rows} made-up answers, to try the commands for answers you already have |

Ask people. They answer at the address that the first command prints; run the others in a second terminal:

    deniable serve survey.toml
    deniable simulate survey.toml --people {people} --yes
    deniable estimate survey.toml

`simulate` sends made-up answers. Before you ask real people, delete survey.db to start afresh.

Or randomize answers that you already have:

    deniable plan {categories} --epsilon {epsilon} --people {rows} --out mechanism.json
    deniable perturb answers.csv --column {question} --mechanism mechanism.json --out answers.reports
    deniable estimate answers.reports --mechanism mechanism.json
"""


@click.command(short_help="Write a first survey, with a sample and a short guide.")
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@click.option("--ask", metavar="TEXT", help="The question.")
@click.option("--choice", "choices", multiple=True, metavar="WORD", help="A possible answer; repeat the option for each.")
@click.option("--people", type=click.IntRange(min=1), metavar="N", help="About how many people will answer.")
@click.option("--epsilon", type=float, default=1.0, show_default=True, help=EPSILON)
@click.option("--yes", is_flag=True, help="Ask nothing; use an example for whatever is not given.")
def init(folder: Path, ask: str | None, choices: tuple[str, ...], people: int | None, epsilon: float, yes: bool) -> None:
    """Write survey.toml, a sample of answers and a README to FOLDER, which is created if it does not exist.

    Asks for the question, the possible answers and the number of people, unless they are given as options. Existing
    files are never replaced.

    \b
    deniable init
    deniable init lunch --ask "What did you eat?" --choice soup --choice salad --people 500
    deniable init --yes
    """
    files = {name: folder / name for name in ("survey.toml", "answers.csv", "README.md")}
    there = [str(path) for path in files.values() if path.exists()]
    if there or (folder.exists() and not folder.is_dir()):
        raise InvalidParameter(f"{', '.join(there) or folder} exists already. Choose another folder: deniable init FOLDER")
    ask = ask or (ASK if yes else click.prompt("What do you want to ask?", default=ASK))
    choices = choices or (CHOICES if yes else _asked_choices(CHOICES if ask == ASK else ()))
    people = people or (PEOPLE if yes else click.prompt("About how many people will answer?", default=PEOPLE, type=int))
    assert ask is not None and people is not None
    text = survey_text(ask, choices, people, epsilon)
    survey = parse_toml(text, "survey.toml")  # refuses what cannot be asked before anything is written
    folder.mkdir(parents=True, exist_ok=True)
    write_text(files["survey.toml"], text)
    write_text(files["answers.csv"], sample(survey.questions[0].id, choices))
    write_text(files["README.md"], _readme(survey, choices, people, epsilon))
    click.echo(f"Wrote {', '.join(str(path) for path in files.values())}.")
    click.echo(_expected(survey, people))
    click.echo(f"Next: deniable serve {files['survey.toml']}")


def _asked_choices(example: Sequence[str]) -> tuple[str, ...]:
    given = click.prompt("Which answers can people choose? Separate them by commas", default=", ".join(example) or None)
    return tuple(word.strip() for word in given.split(",") if word.strip())


def survey_text(ask: str, choices: Sequence[str], people: int, epsilon: float) -> str:
    """The survey file for one question with these answers."""
    if len(choices) < 2:
        raise InvalidParameter("A question needs at least two possible answers. Repeat --choice for each of them.")
    return SURVEY.format(
        id=_quoted(_slug(ask)),
        title=_quoted(ask),
        epsilon=f"{epsilon:g}" if epsilon != int(epsilon) else f"{epsilon:.1f}",
        people=people,
        minimum=min(100, max(1, people // 10)),
        planner=NEWEST_EDITION,
        question=_quoted("answer"),
        ask=_quoted(ask),
        choices=f"[{', '.join(map(_quoted, choices))}]",
        first=_quoted(choices[0]),
    )


def sample(column: str, choices: Sequence[str]) -> str:
    """Made-up answers as CSV: the first is the most common, each further one half as common."""
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow([column])
    weights = [2.0**-place for place in range(len(choices))]
    for row in range(ROWS):
        share, place = (row * 0.618034) % 1 * sum(weights), 0  # evenly spread, the same each time
        while share >= weights[place] and place < len(choices) - 1:
            share, place = share - weights[place], place + 1
        rows.writerow([choices[place]])
    return file.getvalue()


def _readme(survey: Survey, choices: Sequence[str], people: int, epsilon: float) -> str:
    named = " ".join(f"--category {shlex.quote(word)}" for word in choices)
    question = survey.questions[0].id
    about = {"title": survey.title, "people": people, "epsilon": f"{epsilon:g}", "rows": ROWS}
    return README.format(categories=named, question=question, **about)


def _expected(survey: Survey, people: int) -> str:
    """What an error to expect means, in a sentence."""
    import numpy as np

    mechanism = survey.questions[0].mechanism
    size = mechanism.domain.size
    variance = mechanism.predict(np.full(size, 1 / size), people).variance
    assert variance is not None
    error = float(np.sqrt(np.mean(variance)))
    points = f"{100 * 1.96 * error:.1f} percentage points"
    return f"With {people:,} people, each share will be accurate to about {points} (95 % interval)."


def _slug(text: str) -> str:
    """An id from a text: its first words in small letters; `survey` if it has none that an id may have."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return "-".join(words[:6])[:40].strip("-") or "survey"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
