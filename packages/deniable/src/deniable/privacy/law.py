"""The exact law of a program: how likely each report is under each value, with every outcome of every draw followed."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.arrays import Bytes, Ints
from deniable.core import Mechanism, PackedBits, distinct_rows
from deniable.core.operations import DRAWS
from deniable.core.running import checked_code, compiled, copied, operation
from deniable.errors import NotCertifiable
from deniable.privacy.worlds import TOO_MANY, Worlds, draw, outcome_count, sums, tiled

LIMIT = 1 << 21  # combinations of outcomes that are followed at most
_NO_COINS: Any = None  # for operations that draw nothing


@dataclass(frozen=True, eq=False)
class Law:
    """The reports that can occur, as rows of bytes, and the exact probability of each: `chances[chance[i]]` for row i."""

    reports: Bytes
    chance: Ints
    chances: list[Fraction]

    def __len__(self) -> int:
        return len(self.reports)

    def items(self) -> Iterator[tuple[bytes, Fraction]]:
        """Every report with its probability."""
        for row, chance in zip(self.reports, self.chance, strict=True):
            yield row.tobytes(), self.chances[int(chance)]


def law(mechanism: Mechanism, index: int, limit: int = LIMIT) -> Law:
    """The exact law of the reports on the value with this index: its program, with every outcome of every draw followed.

    >>> from deniable.domains import Categories
    >>> from deniable.mechanisms.shares.direct_response import DirectResponse
    >>> import math
    >>> dict(law(DirectResponse(Categories(["yes", "no"]), math.log(3)), 0).items())
    {b'\\x00': Fraction(3, 4), b'\\x01': Fraction(1, 4)}
    """
    return law_of(mechanism, mechanism.domain.answer(index), limit)


def outcomes(mechanism: Mechanism, index: int) -> int:
    """How many combinations of outcomes the draws have for the value with this index, at most."""
    return _outcomes(mechanism, mechanism.domain.answer(index))


def _outcomes(mechanism: Mechanism, answer: object) -> int:
    if not mechanism.traced:
        raise NotCertifiable("This mechanism rests on a theorem: it is not a program, so there is no law to enumerate.")
    program, codes, values = mechanism.law, iter(mechanism.encoded(mechanism.prepared([answer]))), dict[int, Any]()
    total = 1
    for place, (node, kind) in enumerate(zip(program.nodes, program.types, strict=True)):
        if node.op in DRAWS:
            heads = values.get(node.args[0]) if node.op == "toss_each" else None
            if heads is not None:  # known before anything is drawn: what is certain is not tossed
                total *= 1 << int(np.count_nonzero((np.asarray(heads) != 0) & (np.asarray(heads) != node.params[0])))
            else:
                total *= outcome_count(node, kind)
            if total > TOO_MANY:
                raise NotCertifiable("The draws of this law have too many outcomes to follow each of them.")
            continue
        code = next(codes) if node.op == "code" else None
        if all(arg in values for arg in node.args):
            given = [values[arg] for arg in node.args]
            if node.op == "code":
                values[place] = code(*given) if callable(code) else code
            else:
                run = operation(node, [program.types[arg] for arg in node.args], False)
                values[place] = run(given, _NO_COINS, 1)
    return total


def law_of(mechanism: Mechanism, answer: object, limit: int = LIMIT) -> Law:
    """The exact law of the reports on any answer, also one that lies between the points of a grid."""
    total = _outcomes(mechanism, answer)
    if total > limit:
        raise NotCertifiable(f"The law has {total:.3g} combinations of coins; the limit is {limit}.")
    program, found = mechanism.law, Worlds()
    single, turn = mechanism.encoded(mechanism.prepared([answer])), 0
    constants, steps = compiled(program)
    found.values.update((place, value) for place, value in enumerate(constants) if value is not None)
    for place, operate, args, dead in steps:
        node, kind = program.nodes[place], program.types[place]
        if operate is None:
            code = single[turn]
            if callable(code):
                many = mechanism.encoded(mechanism.prepared([answer] * found.size))
                encode: Any = many[turn]
                code = np.asarray(encode(*(copied(found.values[arg]) for arg in args)))
            else:
                code = tiled(code, found.size)
            found.values[place] = checked_code(code, kind, found.size)
            turn += 1
        elif node.op in DRAWS:
            draw(found, place, node, kind)
        else:
            found.values[place] = operate([found.values[arg] for arg in args], _NO_COINS, found.size)
        for arg in dead:
            del found.values[arg]
    columns = {field.name: field.empty(found.size) for field in mechanism.layout.fields}
    for name, place in program.report:
        value = found.values[place]
        columns[name][:] = value.bytes if isinstance(value, PackedBits) else value
    return gathered(mechanism.layout.rows(columns), found.chance, found.chances)


def gathered(rows: Bytes, codes: Ints, chances: list[Fraction]) -> Law:
    """The law that gives each distinct row the sum of its probabilities."""
    possible = np.array([chance > 0 for chance in chances])[codes]
    rows = rows[possible]
    example, which = distinct_rows(rows)
    reports = rows[example]
    chance, sums_of = sums(which, codes[possible], chances)
    return Law(reports, chance, sums_of)
