"""The bounds of an operation hold for everything that it can give: proofs and folded constants rest on them."""

import itertools

import numpy as np
import pytest

from deniable.core.operations import OPERATIONS, Node, Type, type_of
from deniable.core.running import operation
from deniable.errors import InvalidLaw

KINDS = [Type(low, high) for low in range(-3, 4) for high in range(low, 4)]
PARAMETERS = {"div": (2,), "mod": (3,), "around": (2, 4)}
ON_NUMBERS = [
    *("add", "sub", "mul", "min", "max", "abs", "div", "mod", "lt", "eq", "not", "and", "or", "xor", "shr", "ones"),
    *("where", "aim", "around"),
]


@pytest.mark.parametrize("op", ON_NUMBERS)
def test_bounds_hold_for_every_number_within_the_bounds_of_the_arguments(op: str) -> None:
    arity, tried = OPERATIONS[op][0], 0
    assert arity is not None
    for kinds in itertools.product(KINDS if arity < 3 else [kind for kind in KINDS if kind.low >= 0], repeat=arity):
        node = Node(op, tuple(range(arity)), PARAMETERS.get(op, ()))
        try:
            found = type_of(node, list(kinds))
        except InvalidLaw:
            continue
        rows = list(itertools.product(*(range(kind.low, kind.high + 1) for kind in kinds)))
        columns = [np.array(column) for column in zip(*rows, strict=True)]
        given = np.asarray(operation(node, kinds, False)(columns, None, len(rows))).astype(np.int64)  # type: ignore[arg-type]
        assert given.min() >= found.low and given.max() <= found.high, (kinds, found)
        tried += 1
    assert tried > 1


def test_the_negation_of_what_is_certain_is_certain() -> None:
    """It was taken for the same as what is negated, so that a worst case was named the wrong way round."""
    for value in (0, 1):
        assert type_of(Node("not", (0,)), [Type(value, value)]) == Type(1 - value, 1 - value)
