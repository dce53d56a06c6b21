"""Descriptions of mechanisms that somebody changed: refused with a sentence, or a mechanism that says what it loses."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

import deniable as dn
from tests.families import INSTANCES

ODD: list[Any] = [
    *(float("nan"), float("inf"), 1e308, -1, 0, 1.5, 2**70, 10**400, True, None),
    *("1", "1/0", "__class__", "\ud800", [], [[]], {}),
]
PROVED = 3  # of the changed descriptions that are mechanisms, so many of a family are certified


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a value stands in a description; of a list the first entry is enough."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            yield from places(value, (*path, name))
    elif isinstance(tree, list) and tree:
        yield from places(tree[0], (*path, 0))
    if path:
        yield path


def changed(tree: Any, path: tuple[Any, ...], value: Any) -> str:
    made = at = copy.deepcopy(tree)
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return json.dumps(made)


FAMILIES = {mechanism.wire: json.loads(mechanism.to_json()) for mechanism in reversed(INSTANCES.values())}


@pytest.mark.parametrize("wire", [wire for wire, spec in FAMILIES.items() if len(json.dumps(spec)) < 20_000])
def test_a_changed_description_is_refused_or_says_what_it_loses(wire: str) -> None:
    accepted = 0
    for path in places(FAMILIES[wire]):
        for odd in ODD:
            try:
                made = dn.mechanism_from_json(changed(FAMILIES[wire], path, odd))
                loss, found = made.loss(), None
                assert json.loads(made.to_json())["mechanism"] == wire and made.fingerprint
                accepted += 1
                if accepted <= PROVED:
                    found = dn.certify(made).loss
            except dn.DeniableError as error:
                assert str(error)
                continue
            if found is not None:
                assert loss.odds is None or (found.odds is not None and found.odds <= loss.odds), (path, odd)


@pytest.mark.parametrize("name", ["x" * 100_000, list(range(5000)), {"a": "b" * 9000}], ids=["text", "list", "object"])
def test_a_name_of_any_length_is_refused_in_one_sentence(name: object) -> None:
    with pytest.raises(dn.InvalidParameter, match="is installed") as refused:
        dn.mechanism_from_json(json.dumps({"mechanism": name, "domain": {"kind": "categories", "size": 3}, "epsilon": 1.0}))
    assert len(str(refused.value)) < 250
