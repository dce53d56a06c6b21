"""Which words and page addresses are found in real text: names, what was missed, and what is promised.

Each person has one word of an AG News text, or the address of one page of microsoft.com that a visitor opened, drawn
at random with replacement.

    python -m research.experiments.discovery_text --data FOLDER [--runs FOLDER]
"""

import itertools
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp

import click
import numpy as np

import deniable as dn
from deniable.errors import InvalidParameter
from research.data.folder import Data
from research.data.lists import VISITS
from research.experiments.command import data_option, deliver

RESULT = Path(__file__).with_suffix(".md")
TEXTS, AREAS = ("text/agnews_train_12k.csv.gz", "text/agnews_test_7600.csv.gz"), "telemetry/msweb_areas.csv.gz"
SETS = {"words": "text", "addresses": "address"}  # and the form of each
PEOPLE, EPSILONS, FIND = (100_000, 1_000_000), (2.0, 4.0), 20


def strings(data: Data, name: str) -> list[str]:
    """The words of all texts, or the addresses of all visits."""
    if not data.has(*TEXTS, AREAS, VISITS):
        raise InvalidParameter(f"This needs --data with a folder that holds {', '.join((*TEXTS, AREAS, VISITS))}.")
    if name == "words":
        texts = [text for file in TEXTS for text in data.table(file, ["text"])[0]]
        return [word for text in texts for word in re.findall(r"[^\W\d_]+", text) if len(word.encode()) <= 64]
    pages = dict(zip(*data.table(AREAS, ["area", "url"]), strict=True))
    return [f"microsoft.com{pages[area]}" for area in data.table(VISITS, ["area"])[0]]


def found_in(data: Data, name: str, people: int, epsilon: float) -> dict[str, object]:
    """One run: what was named, and what should have been."""
    mechanism = dn.plan_discovery(epsilon, SETS[name])
    known = Counter(map(mechanism.domain.normalised, strings(data, name)))
    random = np.random.default_rng(people)
    counts = dict(zip(known, random.multinomial(people, np.array([*known.values()]) / known.total()).tolist(), strict=True))
    answers = [word for word, count in counts.items() for _ in range(count)]
    tally = mechanism.tally(mechanism.perturb(answers, dn.SeededCoins(people)))
    found = dn.decode(mechanism, tally, FIND)
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


def remembered(path: Path, data: Data, name: str, people: int, epsilon: float) -> dict[str, object]:
    """The same, computed once."""
    file = path / f"text-{name}-{people}-{epsilon:g}.json"
    if not file.exists():
        file.write_text(json.dumps(found_in(data, name, people, epsilon)))
    found: dict[str, object] = json.loads(file.read_text())
    return found


def row(name: str, people: int, epsilon: float, run: dict[str, object]) -> str:
    """A line of the table."""
    named: Sequence[str] = run["named"]  # type: ignore[assignment]
    cells = [
        name, f"{people:,}", f"{run['strings']:,}", f"{epsilon:g}", f"{len(named)}", f"{run['right']}", f"{run['false']}",
        f"{100 * float(str(run['largest'])):.2f} %", f"{100 * float(str(run['bound'])):.2f} %",
        "yes" if run["held"] else "no",
        ", ".join(f"`{each}`" for each in named) or "none",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


@click.command()
@data_option
@click.option("--runs", type=click.Path(path_type=Path), help="A folder that keeps the results of single runs.")
def main(data: Data, runs: Path | None) -> None:
    """Search real text, and write the table."""
    path = runs or Path(mkdtemp())
    head = (
        "strings", "people", "different", "epsilon", "named", "of the top 20", "that nobody has", "largest not named",
        "bound on that", "intervals held", "names",
    )  # fmt: skip
    lines = [
        "# Frequent words and addresses in real text",
        "",
        "Written by `python -m research.experiments.discovery_text --data FOLDER`. *Words* are those of 19,600 AG News",
        "texts (descriptions: the data have no titles), *addresses* those of the pages of microsoft.com that visitors",
        "opened (UCI msweb). People are drawn with replacement, and each has one string. One run each, with a fixed seed.",
        "",
        f"| {' | '.join(head)} |",
        f"|---|{'--:|' * (len(head) - 2)}---|",
    ]
    for name, people, epsilon in itertools.product(SETS, PEOPLE, EPSILONS):
        lines.append(row(name, people, epsilon, remembered(path, data, name, people, epsilon)))
    deliver("\n".join([*lines, ""]), RESULT)


if __name__ == "__main__":
    main()
