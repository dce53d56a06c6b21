"""Programs from outside: what is a law, with which bounds, and that Python runs every law that it takes."""

import json
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.program import Program
from deniable.core.running import run
from deniable.errors import InvalidLaw


def law(*nodes: list[Any]) -> str:
    return json.dumps({"nodes": nodes, "report": [["last", len(nodes) - 1]]})


GOOD = '{"nodes":[["const",[],5]],"report":[["a",0]]}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace('["a",0]', '["a",Infinity]'),
        GOOD.replace('["a",0]', '["a","0"]'),
        GOOD.replace('["a",0]', "[5,0]"),
        GOOD.replace('["a",0]', '"a0"'),
        GOOD.replace('["const",[],5]', '{"const":1,"":2,"5":3}'),
        GOOD.replace("[],5", '"",5'),
        GOOD.replace("5", '"\u0665"'),
        GOOD.replace("5", "5.5"),
        "[" * 100_000,
    ],
)
def test_texts_of_another_form_are_refused(text: str) -> None:
    assert Program.from_json(GOOD).to_json() == GOOD
    with pytest.raises(InvalidLaw, match="not a law"):
        Program.from_json(text)


@pytest.mark.parametrize(
    "text",
    [
        law(["const", [], 0], ["not", [0]], ["table", [1], [7]]),
        law(["split", [], "1/2", 3, 0]),
        law(["const", [], 0], ["subset", [0], 1 << 20, 1 << 20]),
        law(["const", [], 1], ["toss_each", [0], 2, 5]),
    ],
    ids=["not", "split", "subset", "toss_each"],
)
def test_values_that_leave_their_bounds_or_never_come_are_refused(text: str) -> None:
    with pytest.raises(InvalidLaw):
        Program.from_json(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (law(["const", [], 0], ["not", [0]], ["table", [1], [7, 8]]), 8),
        (law(["const", [], 4], ["mod", [0], 3]), 1),
        (law(["const", [], 1], ["const", [], 5], ["below", [], 1], ["where", [0, 1, 2]]), 5),
        (law(["const", [], 1], ["flags", [], "1/1", 3], ["not", [1]], ["where", [0, 1, 2]], ["ones", [3]]), 3),
        (law(["code", [], "v", 0, 9, 3], ["below", [], 1], ["add", [1, 0]], ["toss", [], "1/1"], ["at", [2, 3]]), 7),
        (
            law(
                ["flags", [], "1/1", 3],
                ["const", [], 0],
                ["const", [], 2],
                ["put", [0, 2, 1]],
                ["ones", [3]],
                ["swap", [3, 1, 2]],
                ["ones", [5]],
                ["mul", [4, 6]],
            ),
            4,
        ),
        (law(["toss", [], "1/1"], ["around", [0, 0], 2, 3]), 2),
        (law(["split", [], "1/1", 1, 0]), 0),
        (law(["toss", [], "1/1"], ["const", [], 1 << 24], ["max", [0, 1]]), 1 << 24),
        (law(["const", [], -7], ["toss", [], "1/1"], ["min", [0, 1]]), -7),
    ],
    ids=["not", "mod", "where", "rows", "vector", "put", "around", "split", "max", "min"],
)
def test_constants_and_truth_values_may_stand_anywhere(text: str, expected: int) -> None:
    codes = [np.array([[6, 7, 8]])] if "code" in text else []
    fields = run(Program.from_json(text), codes, dn.SeededCoins(1), 1)
    assert int(np.ravel(fields["last"])[0]) == expected
