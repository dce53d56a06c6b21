"""Rounds about friends with as many members as a browser is asked to take, and what they cost there.

python -m tests.clients.large_friends    prints a table: seconds of the processor and memory of Node
"""

import json
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from deniable.core import Number, Tally
from deniable.graphs.friends import Friends
from deniable.graphs.standing import Answers
from deniable.survey.law_document import law_json
from tests import ROOT
from tests.clients.friends_surveys import ASKED, message_of
from tests.surveys import survey

MEMBERS = 100_000
KNOWN = (0, 20, 150, 1000)  # how many others those whose reports are compared know


@dataclass(frozen=True)
class Cost:
    """What one round took: seconds to read the survey, to open the round and for each report; memory in MB; the messages."""

    reading: float
    opening: float
    reports: list[float]
    memory: float
    messages: list[str]


def rounds(members: int = MEMBERS, known: tuple[int, ...] = KNOWN, epsilon: float = 2.0) -> list[dict[str, Any]]:
    """Three rounds as in js/test/friends.json. What the first two publish is drawn, not collected: numbers of friends that
    fall as a power law, and labels and plain answers as of people without friends."""
    random = np.random.default_rng(5)
    current = survey(ASKED.format(id="large", epsilon=epsilon, size=members, members=members, alpha=1.5))
    lists = [np.sort(random.choice(np.arange(10, members), count, replace=False)).tolist() for count in known]
    out = list[dict[str, Any]]()
    for number in (1, 2, 3):
        (question,) = current.questions
        mechanism = question.mechanism
        assert isinstance(mechanism, Friends) and mechanism.round == number
        made = [message_of(current, {"me": me, "knows": mine}, f"large {number} {me}") for me, mine in enumerate(lists)]
        out.append({"survey": current.to_json(), "law": law_json(current), "made": made})
        if number < 3:
            published = _next(mechanism, known, random)
            current = replace(current, questions=(replace(question, mechanism=published),), round=number + 1)
    return out


def _next(mechanism: Friends, known: tuple[int, ...], random: np.random.Generator) -> Friends:
    size = mechanism.domain.size
    if mechanism.round == 1:
        numbers = np.minimum(random.pareto(1.5, size) * 10, 2_000).astype(np.int64)
        numbers[: len(known)] = np.array(known) // 2  # one answers for about half of them
        field = mechanism.layout.fields[1]
        assert isinstance(field, Number)
        noisy = numbers + random.integers(-20, 21, size) + (field.below - size) // 2
        return mechanism.next(Tally(mechanism.fingerprint, size, np.concatenate([np.ones(size, np.int64), noisy])))
    answers = Answers(mechanism.standing, mechanism.plan)
    labels = random.geometric(0.7, int(answers.lists.base[-1]))
    bases, rank = answers.hub_bases(), np.arange(mechanism.plan.hubs)
    plain, rest = random.integers(0, 256, int(bases[-1])).astype(np.uint8), rank % 8 > 0
    plain[bases[1:][rest] - 1] &= ((1 << rank[rest] % 8) - 1).astype(np.uint8)  # a hub answers about those before only
    return replace(mechanism, lists=answers.text(labels, plain))


def costs(cases: list[dict[str, Any]]) -> list[Cost]:
    """What the rounds take in Node."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rounds.json"
        path.write_text(json.dumps(cases))
        command = ["node", "friends-time.mjs", str(path)]
        done = subprocess.run(command, cwd=ROOT / "js", capture_output=True, text=True, timeout=600, check=True)
    return [Cost(**json.loads(line)) for line in done.stdout.splitlines()]


def table(members: int = MEMBERS) -> str:
    """The costs, and how large the documents are."""
    cases = rounds(members)
    lines = ["| round | survey | reading | opening | " + " | ".join(f"{each:,} friends" for each in KNOWN) + " | memory |"]
    lines.append("|--:" * (5 + len(KNOWN)) + "|")
    for number, (case, cost) in enumerate(zip(cases, costs(cases), strict=True), 1):
        assert cost.messages == [each["message"] for each in case["made"]], "other bytes than in Python"
        seconds = " | ".join(f"{each:.2f} s" for each in (cost.reading, cost.opening, *cost.reports))
        lines.append(f"| {number} | {len(case['survey']) / 1e6:.2f} MB | {seconds} | {cost.memory:.0f} MB |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
