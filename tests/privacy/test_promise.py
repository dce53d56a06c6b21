"""What the promise says of side channels, and that every test it names is there."""

import ast
import re

import numpy as np
import pytest

import deniable as dn
from deniable.core.coins import StreamCoins
from tests import ROOT
from tests.examples import ALL as EXAMPLES
from tests.surveys import COMMUTE, SAMPLED, survey

NAMED = [
    (page, *name)
    for page in ("promise.md", "threats.md")
    for name in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs" / page).read_text(encoding="utf-8"))
]


def test_every_named_test_exists() -> None:
    assert len(NAMED) > 30
    for page, file, name in NAMED:
        found = {
            node.name
            for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8")))
            if isinstance(node, ast.FunctionDef)
        }
        assert name in found, f"docs/{page} names {file}::{name}"


def test_every_line_of_the_promise_has_something_behind_it() -> None:
    page = (ROOT / "docs" / "promise.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", page.split("## How it is exact")[0], re.MULTILINE)
    assert len(rows) > 25 and all(sentence and behind for sentence, behind in rows)


@pytest.mark.parametrize("text", [COMMUTE, SAMPLED])
def test_the_length_of_a_message_tells_nothing(text: str) -> None:
    asked = survey(text)
    lengths: dict[int, set[int]] = {}
    for turn in range(60):
        (part,) = asked.draw_parts(1, dn.SeededCoins(turn))
        answers = {q.id: q.mechanism.domain.answer(turn * 7 % q.mechanism.domain.size) for q in asked.part(part)}
        lengths.setdefault(part, set()).add(len(asked.randomize(answers, now=asked.opens or 0, part=part)))
    assert all(len(seen) == 1 for seen in lengths.values())


class Counting(StreamCoins):
    """Coins of a constant stream that remember which bytes they were asked for: then nothing is drawn again by chance."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def draw(self, size: int):  # type: ignore[no-untyped-def]
        self.asked.append(size)
        return (np.arange(size, dtype=np.int64) * 97 + 55).astype(np.uint8)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_coins_tossed_do_not_depend_on_the_answer(name: str) -> None:
    """With the same random bytes, the same number of them is taken whatever the answer is."""
    mechanism, seen = EXAMPLES[name], set()
    for index in range(mechanism.domain.size):
        coins = Counting()
        mechanism.perturb([mechanism.domain.answer(index)], coins)
        seen.add(tuple(coins.asked))
    assert len(seen) == 1
