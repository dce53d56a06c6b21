"""Which words and page addresses are found in real text: names, what was missed, and what is promised.

Each person has one word of an AG News text, or the address of one page of microsoft.com that a visitor opened, drawn
at random with replacement.

    python -m research.experiments.discovery_text --data FOLDER       writes discovery_text.md; about five minutes

Single runs are kept in discovery_text.json; with --anew they are made again.
"""

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

import deniable as dn
from deniable.errors import InvalidParameter
from research.data.folder import Data
from research.data.lists import VISITS
from research.experiments.command import data_option, deliver
from research.experiments.runs import Runs

RESULT, KEPT_RUNS = Path(__file__).with_suffix(".md"), Path(__file__).with_suffix(".json")
TEXTS, AREAS = ("text/agnews_train_12k.csv.gz", "text/agnews_test_7600.csv.gz"), "telemetry/msweb_areas.csv.gz"
SETS = {"words": "text", "addresses": "address"}  # and the form of each
PEOPLE, EPSILONS, ROUNDS, FIND = (100_000, 1_000_000), (2.0, 4.0), (1, 4), 20


def strings(data: Data, name: str) -> list[str]:
    """The words of all texts, or the addresses of all visits."""
    if not data.has(*TEXTS, AREAS, VISITS):
        raise InvalidParameter(f"This needs --data with a folder that holds {', '.join((*TEXTS, AREAS, VISITS))}.")
    if name == "words":
        texts = [text for file in TEXTS for text in data.table(file, ["text"])[0]]
        return [word for text in texts for word in re.findall(r"[^\W\d_]+", text) if len(word.encode()) <= 64]
    pages = dict(zip(*data.table(AREAS, ["area", "url"]), strict=True))
    return [f"microsoft.com{pages[area]}" for area in data.table(VISITS, ["area"])[0]]


def found_in(data: Data, name: str, people: int, epsilon: float, rounds: int) -> dict[str, object]:
    """One run: what was named, and what should have been."""
    mechanism = dn.plan_discovery(epsilon, SETS[name])
    known = Counter(map(mechanism.domain.normalised, strings(data, name)))
    random = np.random.default_rng(people)
    counts = dict(zip(known, random.multinomial(people, np.array([*known.values()]) / known.total()).tolist(), strict=True))
    answers = [word for word, count in counts.items() for _ in range(count)]
    coins = dn.SeededCoins(people)
    if rounds == 1:
        found = dn.decode(mechanism, mechanism.tally(mechanism.perturb(answers, coins)), FIND)
    else:
        random.shuffle(answers)
        found = dn.discover_in_rounds(answers, epsilon, FIND, rounds, SETS[name], coins=coins)
    named = [str(each.name) for each in found]
    top = sorted(counts, key=lambda word: -counts[word])[:FIND]
    return {
        "named": named,
        "right": len({*named} & {*top}),
        "false": len([each for each in named if not counts.get(each)]),
        "largest": max(count for word, count in counts.items() if word not in named) / people,
        "bound": found.missing,
        "held": all(each.low <= counts.get(str(each.name), 0) / people <= each.high for each in found),
        "strings": len([count for count in counts.values() if count]),
    }


def row(name: str, people: int, epsilon: float, rounds: int, run: dict[str, Any]) -> str:
    """A line of the table."""
    named: Sequence[str] = run["named"]
    cells = [
        name, f"{people:,}", f"{run['strings']:,}", f"{epsilon:g}", f"{rounds}", f"{len(named)}", f"{run['right']}",
        f"{run['false']}", f"{100 * run['largest']:.2f} %", f"{100 * run['bound']:.2f} %",
        "yes" if run["held"] else "no",
        ", ".join(f"`{each}`" for each in named) or "none",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def page(known: dict[str, Any]) -> str:
    """The whole result."""
    head = (
        "strings", "people", "different", "epsilon", "rounds", "named", "of the top 20", "that nobody has",
        "largest not named", "bound on that", "intervals held", "names",
    )  # fmt: skip
    found = {case: known[name_of(*case)] for case in CASES if name_of(*case) in known}
    named, false = sum(len(run["named"]) for run in found.values()), sum(run["false"] for run in found.values())
    return "\n".join(
        [
            "# Frequent words and addresses in real text",
            "",
            "Written by `python -m research.experiments.discovery_text --data FOLDER`. *Words* are those of 19,600 AG News",
            "texts (descriptions: the data have no titles), *addresses* those of the pages of microsoft.com that visitors",
            "opened (UCI msweb). People are drawn with replacement, each with one string. One run each, with a fixed seed.",
            f"Of {named} names in all, {false} belong{'s' if false == 1 else ''} to nobody; the stated rate of false",
            "discoveries is 3 %.",
            "",
            f"| {' | '.join(head)} |",
            f"|---|{'--:|' * (len(head) - 2)}---|",
            *(row(*case, run) for case, run in found.items()),
            "",
        ]
    )


CASES = tuple(itertools.product(SETS, PEOPLE, EPSILONS, ROUNDS))


def name_of(name: str, people: int, epsilon: float, rounds: int) -> str:
    """How a run is called in the file."""
    return f"{people} {name}, epsilon {epsilon:g}{f', {rounds} rounds' if rounds > 1 else ''}"


@click.command()
@data_option
@click.option("--anew", is_flag=True, help="Make the runs again that discovery_text.json holds.")
def main(data: Data, anew: bool) -> None:
    """Search real text, and write the table."""
    if anew:
        KEPT_RUNS.unlink(missing_ok=True)
    runs = Runs(KEPT_RUNS)
    runs.make([(name_of(*case), found_in, (data, *case)) for case in CASES])
    deliver(page(runs.known()), RESULT)


if __name__ == "__main__":
    main()
