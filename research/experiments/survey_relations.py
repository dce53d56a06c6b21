"""Relations in two real surveys: who has contact with armed groups, by forced response; and tables of a social survey.

    python -m research.experiments.survey_relations --data DIR    writes survey_relations.md
    python -m research.experiments.survey_relations --quick       prints it for made-up people

The first survey asked 2,457 civilians in Nigeria for social ties to armed groups, with a die: 1 forces "no", 6 forces
"yes", and the rest ask for the truth (Blair, Imai, Zhou 2015). Its answers are randomized as they are. In the second, the
General Social Survey from 2000 to 2014, answers are randomized here, and tables are compared with the true ones. The last
part has made-up people: all pairs of ten questions.
"""

from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import numpy as np

import deniable as dn
from research.data.folder import Data
from research.data.tables import complete
from research.experiments.command import data_option, deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
NIGERIA, SOCIAL = "surveys/nigeria_randomized_response.csv.gz", "surveys/gss_2000_2014.csv.gz"
CONTACT = dn.FiniteChannel.forced(dn.Categories(["no", "yes"]), Fraction(2, 3), [Fraction(1, 6), Fraction(1, 6)])
MODEL = "contact ~ assets + married + age + age_squared + education + female"
EPSILON, REPEATS = 1.0, 10


def civilians(data: Data) -> dict[str, Any]:
    """The people of the first survey who answered all questions; made-up ones without the data."""
    if not data.has(NIGERIA):
        random = np.random.default_rng(1)
        age, female, married = random.integers(18, 70, 2400), random.integers(0, 2, 2400), random.integers(0, 2, 2400)
        assets, education = random.integers(0, 10, 2400), random.integers(1, 9, 2400)
        share = 1 / (1 + np.exp(-(-0.5 + 0.1 * assets - 0.5 * female - 0.02 * (age - 40))))
        answers = np.where(random.random(2400) < share, "yes", "no").tolist()
        reports: Any = CONTACT.perturb(answers, dn.SeededCoins(1)).columns["value"].astype(int)
    else:
        columns = ["rr_q1", "cov_age", "cov_asset_index", "cov_married", "cov_education", "cov_female"]
        cells = complete(data, NIGERIA, columns)[1].astype(np.float64)
        (reports, age), (assets, married, education, female) = cells[:, :2].T.astype(int), cells[:, 2:].T
    return {
        "contact": reports,
        "assets": assets,
        "married": married,
        "age": age / 10,
        "age_squared": (age / 10) ** 2,
        "education": education,
        "female": female,
    }


def regression(data: Data) -> dn.Regression:
    """Contact with armed groups, explained by what is known of people."""
    return dn.regress(MODEL, civilians(data), {"contact": CONTACT})


def social(data: Data) -> dict[str, list[str]]:
    """The people of the second survey: marital status, race, party and religion; made-up ones without the data."""
    if not data.has(SOCIAL):
        random = np.random.default_rng(2)
        party = random.integers(0, 3, 20_000)
        return {
            "party": [("left", "middle", "right")[i] for i in party],
            "religion": [("none", "some")[int(random.random() < 0.3 + 0.2 * i)] for i in party],
        }
    names, cells = complete(data, SOCIAL, ["marital", "race", "partyid", "relig"])
    columns = dict(zip(names, cells.T.tolist(), strict=True))
    return {
        "marital": [each if each in ("Married", "Never married") else "Was married" for each in columns["marital"]],
        "race": [each if each in ("White", "Black") else "Other" for each in columns["race"]],
        "party": [_party(each) for each in columns["partyid"]],
        "religion": [each if each in ("Protestant", "Catholic", "None") else "Other" for each in columns["relig"]],
    }


def _party(answer: str) -> str:
    return next((word for word in ("republican", "democrat") if word in answer.lower()), "independent or other")


def tables(columns: dict[str, list[str]], repeats: int) -> list[str]:
    """The error of a cell over all tables of pairs, as predicted and as measured, for the three ways to ask."""
    from deniable.analysis.plan import table_options

    domains = [dn.Categories(sorted(set(own))) for own in columns.values()]
    people, names = list(zip(*columns.values(), strict=True)), list(columns)
    exact = {pair: dn.crosstab(columns, {}, *pair) for pair in [(a, b) for a in names for b in names if a < b]}
    lines = ["| how to ask | predicted error of a cell | measured |", "|---|--:|--:|"]
    for row in table_options(domains, EPSILON, len(people)):
        squares = []
        for repeat in range(repeats):
            reports = row.mechanism.perturb(people, dn.SeededCoins(repeat))
            for pair, truth in exact.items():
                found = dn.crosstab(reports, row.mechanism, *pair, names=names)
                wanted = truth.shares if found.questions == pair else truth.shares.T
                squares.append(np.mean((found.shares - wanted) ** 2))
        lines.append(f"| {row.name} | {100 * row.error:.2f} | {100 * np.sqrt(np.mean(squares)):.2f} |")
    return lines


def example(columns: dict[str, list[str]]) -> list[str]:
    """Two questions, asked for one table: the table from reports, the test, and the true shares."""
    names = list(columns)[-2:]
    own = {name: columns[name] for name in names}
    people = list(zip(*own.values(), strict=True))
    mechanism = dn.plan_tables([dn.Categories(sorted(set(each))) for each in own.values()], EPSILON, len(people))
    found = dn.crosstab(mechanism.perturb(people, dn.SeededCoins(1)), mechanism, names=names)
    truth = dn.crosstab(own, {}, *names)
    return [str(found), str(found.test()), "", "without randomization:", str(truth).rsplit("\n", 1)[0], str(truth.test())]


def all_pairs(repeats: int, questions: int = 10, answers: int = 4, people: int = 100_000) -> str:
    """The error of a cell over the tables of all pairs of questions, for people whose answers hang together."""
    random = np.random.default_rng(3)
    mood = random.integers(0, answers, people)
    rows = np.stack(
        [np.where(random.random(people) < 0.3, mood, random.integers(0, answers, people)) for _ in range(questions)]
    )
    mechanism = dn.OnePair(dn.Vectors([dn.Categories(range(answers))] * questions), EPSILON)
    squares = []
    for repeat in range(repeats):
        found = dn.crosstabs(mechanism.perturb(rows.T.tolist(), dn.SeededCoins(repeat)), mechanism)
        for table in found:
            first, second = (rows[int(name)] for name in table.questions)
            truth = np.bincount(answers * first + second, minlength=answers**2).reshape(answers, answers) / people
            squares.append(np.mean((table.shares - truth) ** 2))
    return (
        f"All {questions * (questions - 1) // 2} tables of {questions} questions with {answers} answers, {people:,} made-up "
        f"people, epsilon {EPSILON:g}, pairs drawn in public, {repeats} collections: root mean square error of a cell "
        f"{np.sqrt(np.mean(squares)):.4f}, predicted {mechanism.total_error(people):.4f}."
    )


def page(data: Data, repeats: int) -> str:
    """The whole result."""
    found, columns = regression(data), social(data)
    people = len(next(iter(columns.values())))
    whose = "civilians" if data.has(NIGERIA) else "civilians (made up)"
    lines = [
        f"Contact with armed groups among {found.n:,} {whose}, by forced response:",
        "",
        "```",
        str(found),
        "```",
        "",
        f"Tables of {len(columns)} questions of {people:,} people{'' if data.has(SOCIAL) else ' (made up)'}, epsilon "
        f"{EPSILON:g} for one person, over {repeats} collections, errors in percentage points:",
        "",
        *tables(columns, repeats),
        "",
        f"Two of the questions, asked for one table, epsilon {EPSILON:g}:",
        "",
        "```",
        *example(columns),
        "```",
        "",
        all_pairs(repeats),
        "",
    ]
    return "\n".join(lines)


@click.command()
@data_option
@quick_option("Two collections")
def main(data: Data, quick: bool) -> None:
    """Model one real survey, and tabulate another."""
    deliver(page(data, 2 if quick else REPEATS), None if quick else RESULT)


if __name__ == "__main__":
    main()
