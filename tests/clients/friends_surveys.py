"""The rounds of js/test/friends.json, with what each reports: `python -m tests.clients.friends_surveys` writes them anew."""

import hashlib
import json
from typing import Any

import numpy as np

import deniable as dn
from deniable.domains.members import hashed_name
from deniable.graphs.friends import Friends
from deniable.survey import message as wire
from deniable.survey.law_document import law_json
from deniable.survey.rounds import next_survey
from tests import ROOT
from tests.surveys import survey

FILE = ROOT / "js" / "test" / "friends.json"
ASKED = """
[survey]
id = "{id}"
epsilon = {epsilon}
people = {size}

[[question]]
id = "friends"
ask = "Whom do you know?"
kind = "friends"
members = {members}
alpha = {alpha}
protects = "friendship"
"""
WATCHED = 12  # people whose messages are in the file


def knows(size: int, group: int, seed: int) -> list[list[int]]:
    """Whom each of so many people knows: some of their group, and one person whom all know."""
    random = np.random.default_rng(seed)
    pairs = {(i, j) for i in range(size) for j in range(i) if i // group == j // group and random.random() < 0.6}
    pairs |= {(i, 3) for i in range(4, size)}
    lists: list[list[int]] = [[] for _ in range(size)]
    for first, second in sorted(pairs):
        lists[first].append(second)
        lists[second].append(first)
    return lists


def run(asked: dn.Survey, lists: list[list[int]], hubs: int | None, missing: int) -> list[dict[str, Any]]:
    """Three rounds: the survey, the law, and what the first people report in each, by seeded coins."""
    earlier, rounds, current = [], list[dict[str, Any]](), asked
    for number in (1, 2, 3):
        (question,) = current.questions
        mechanism = question.mechanism
        assert isinstance(mechanism, Friends)
        made, reports = [], []
        for me, known in enumerate(lists[: len(lists) - missing]):
            seed = f"{asked.id} {number} {me}"
            answer = {"me": me, "knows": known}
            found = mechanism.perturb([answer], dn.SeededCoins(seed.encode()))
            reports.append(found)
            if me < WATCHED:
                made.append(written(current, answer, seed, found))
        rounds.append({"survey": current.to_json(), "law": law_json(current), "made": made})
        tally = mechanism.tally(reports[0])
        for each in reports[1:]:
            tally = tally + mechanism.tally(each)
        earlier.append((current, {question.id: tally}))
        if number < 3:
            current = next_survey(earlier)
            if number == 1 and hubs is not None:
                current = with_hubs(current, hubs)
    return rounds


def message_of(asked: dn.Survey, answer: dict[str, Any], seed: str) -> dict[str, Any]:
    """What somebody reports in a round, by seeded coins."""
    (question,) = asked.questions
    return written(asked, answer, seed, question.mechanism.perturb([answer], dn.SeededCoins(seed.encode())))


def written(asked: dn.Survey, answer: dict[str, Any], seed: str, found: dn.Reports) -> dict[str, Any]:
    """A report as a message whose id follows from the seed."""
    (question,) = asked.questions
    identity = hashlib.sha256(seed.encode()).digest()[:16]
    header = wire.Header(identity, 1, (asked.round or 1) - 1)
    message = wire.Message.of(header, 1, question.mechanism.layout.pack(found.columns))
    body = wire.encode(asked.fingerprint_bytes, message)
    return {"seed": seed, "id": identity.hex(), "answer": answer, "message": body.hex()}


def with_hubs(asked: dn.Survey, hubs: int) -> dn.Survey:
    """The second round with so many hubs, so that most answers are compressed."""
    tree = json.loads(asked.to_json())
    tree["question"][0]["mechanism"]["shares"][0] = hubs
    return dn.Survey.from_json(json.dumps(tree, sort_keys=True, separators=(",", ":")))


def made() -> str:
    """The file."""
    names = [f"person {number:02} \u00e9" for number in range(30)]
    cases = [
        (survey(ASKED.format(id="all-hubs", epsilon=4.0, size=24, members=24, alpha=1.5)), knows(24, 12, 1), None, 0),
        (survey(ASKED.format(id="few-hubs", epsilon=3.0, size=120, members=120, alpha=1.5)), knows(120, 30, 2), 20, 5),
        (survey(ASKED.format(id="no-hubs", epsilon=8.0, size=61, members=61, alpha=2.0)), knows(61, 20, 3), 0, 1),
        (
            survey(ASKED.format(id="named", epsilon=2.0, size=30, members=json.dumps(names), alpha=1.25)),
            knows(30, 15, 4), 7, 0,
        ),
        (
            survey(ASKED.format(id="hashed", epsilon=2.0, size=30, alpha=1.5,
                                members=json.dumps(sorted(map(hashed_name, names))))),
            knows(30, 10, 5), 5, 0,
        ),
    ]  # fmt: skip
    return json.dumps([run(*case) for case in cases], indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(made())
