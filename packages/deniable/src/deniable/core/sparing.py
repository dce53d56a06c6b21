"""Runs a law on many answers with secure coins, where nobody can repeat what is drawn: what decides nothing is not drawn.

A law draws all branches and selects afterwards. Three of its patterns take much less, with the same law of the reports:

- `where(c, A, B)` for rows that are made of a `subset`: A is drawn for the answers where c holds, B for the others. That is
  done where c is made of draws alone, or where A and B take as many words: then as many coins are tossed whatever the
  answers are.
- `toss_each(below + toss_each(up), whole)` for all numbers of a vector, packed: that is w < below + b for a w from 0 to
  whole - 1. The coin b decides only where w = below, and is tossed only there: with probability 1 / whole, whatever the
  answers are.
- a few places of the vector `below + toss_each(up)`: coins are tossed for these places alone, and one where places are the
  same.

One answer, as a device has it, runs as ever.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.arrays import Bools, Ints
from deniable.core.bits import PackedBits
from deniable.core.coins import WHOLE, Coins, StreamCoins
from deniable.core.layout import Drawn
from deniable.core.program import Program
from deniable.core.running import Run, Step, Steps, compiled, followed, operation
from deniable.core.tracing import Encoded

SHORT = 1 << 16  # what a word of two bytes decides, if it is a power of two
SHORT_WORDS = 1 << 24  # elements of which a subset takes words of four bytes, as in coins.py
FEW = 8  # places of a vector
ROWS = {"widen", "put", "swap", "turn", "not"}  # operations on a row and on numbers


def spared_run(program: Program, codes: Sequence[Encoded], coins: Coins, size: int) -> Drawn:
    """As `run`, without draws that decide nothing: for secure coins, and more than one answer."""
    return followed(program, spared(program), codes, coins, size)


def spared(program: Program) -> Steps:
    """The constants and steps of a program, those that can be spared put off until it is known where they are needed."""
    found: Steps | None = program.__dict__.get("_spared")  # kept with the program, which never changes
    if found is None:
        found = program.__dict__["_spared"] = _Planner(program).made()
    return found


@dataclass(frozen=True)
class _Later:
    """A node that is computed for some of the answers only, once it is known for which."""

    operate: Run
    args: Sequence[Any]

    def rows(self, which: Ints, coins: Coins) -> Any:
        """The node for these answers."""
        given = [
            each.rows(which, coins) if isinstance(each, _Later) else each[which] if isinstance(each, np.ndarray) else each
            for each in self.args
        ]
        return self.operate(given, coins, len(which))


class _Planner:
    """Finds the patterns, and puts other steps in the place of theirs."""

    def __init__(self, program: Program) -> None:
        self._program, (self._constants, steps) = program, compiled(program)
        self._steps = {step[0]: step for step in steps}
        self._uses = Counter(arg for node in program.nodes for arg in node.args)
        self._uses.update(node for _, node in program.report)
        self._asks: list[bool] = []  # whether a node depends on the answer
        for node in program.nodes:
            self._asks.append(node.op == "code" or any(self._asks[arg] for arg in node.args))

    def made(self) -> Steps:
        for place, node in enumerate(self._program.nodes):
            if node.op == "where":
                self._chosen(place)
            elif node.op == "pack" and node.params == (1,):
                self._rounded(place)
            elif node.op == "add" and self._uses[place] <= FEW:
                self._looked_at(place)
        return self._constants, list(self._steps.values())

    def _put(self, place: int, operate: Run) -> None:
        """Another step for a node; whatever it needs stays until the end."""
        step: Step = (place, operate, self._program.nodes[place].args, ())
        self._steps[place] = step

    def _later(self, place: int) -> None:
        node = self._program.nodes[place]
        operate = operation(node, [self._program.types[arg] for arg in node.args], True)
        self._put(place, lambda args, coins, size: _Later(operate, args))

    # Rows that are chosen

    def _chosen(self, place: int) -> None:
        condition, *sides = self._program.nodes[place].args
        chains = [self._chain(side) for side in sides]
        if not any(chains) or self._program.types[condition].row:
            return
        words = {self._program.nodes[chain[-1]].params[1] for chain in chains if chain}
        if self._asks[condition] and not (all(chains) and len(words) == 1):
            return
        for chain in chains:
            for each in chain:
                self._later(each)
        self._put(place, _selected)

    def _chain(self, place: int) -> list[int]:
        """The nodes from here down to the subset that they are made of, and nothing else looks at; none if it is not so."""
        chain: list[int] = []
        while self._uses[place] == 1:
            node = self._program.nodes[place]
            chain.append(place)
            if node.op == "subset":
                return chain if node.params[0] <= SHORT_WORDS else []
            if node.op not in ROWS or not self._program.types[place].row:
                return []
            place = node.args[0]
        return []

    # Vectors that are rounded to one of two ends

    def _rounded(self, place: int) -> None:
        nodes, tosses = self._program.nodes, self._program.nodes[place].args
        if not all(nodes[toss].op == "toss_each" and self._uses[toss] == 1 for toss in tosses):
            return
        entries = [nodes[toss].args[0] for toss in tosses]
        if not all(nodes[entry].op == "at" and self._uses[entry] == 1 for entry in entries):
            return
        vectors, wholes = {nodes[entry].args[0] for entry in entries}, {nodes[toss].params[0] for toss in tosses}
        places = [self._constants[nodes[entry].args[1]] for entry in entries]
        (vector, *others), (whole, *more) = vectors, wholes
        width = self._program.types[vector].width
        if others or more or not 2 <= whole <= SHORT or whole & (whole - 1) or places != list(range(width or 0)):
            return
        codes = self._rounding(vector)
        if codes is None or self._uses[vector] != len(entries):
            return
        for each in (*tosses, *entries, vector, *nodes[vector].args[1:]):
            self._steps.pop(each, None)
        self._steps[place] = (place, _ends(whole), codes, codes)

    def _rounding(self, place: int) -> tuple[int, int] | None:
        """The codes of a vector that is `below + toss_each(up)`, if nothing else looks at its parts."""
        nodes, types, node = self._program.nodes, self._program.types, self._program.nodes[place]
        if node.op != "add" or nodes[node.args[1]].op != "toss_each" or nodes[node.args[1]].params[0] != WHOLE:
            return None
        codes = node.args[0], nodes[node.args[1]].args[0]
        same = all(types[each].width == types[place].width and self._uses[each] == 1 for each in (*codes, node.args[1]))
        return codes if same and types[place].width is not None else None

    # A few places of a vector that is rounded

    def _looked_at(self, place: int) -> None:
        nodes, codes = self._program.nodes, self._rounding(place)
        looks = [each for each, node in enumerate(nodes) if node.op == "at" and node.args[0] == place]
        if codes is None or len(looks) != self._uses[place]:
            return
        del self._steps[nodes[place].args[1]]
        self._steps[place] = (place, _rounding, codes, codes)
        for each in looks:
            self._put(each, _looking)


class _Rounded:
    """Vectors that are rounded where somebody looks."""

    def __init__(self, below: Ints, up: Ints) -> None:
        self._below, self._up = np.asarray(below), np.asarray(up)
        self._tossed: list[tuple[Any, Bools]] = []  # places, and the coins of their numbers

    def at(self, place: Any, coins: Coins, size: int) -> Ints:
        """The number at a place of each."""
        where = np.arange(size), place
        coin = coins.toss_each(self._up[where].astype(np.int64, copy=False))
        for earlier, known in self._tossed:
            coin = np.where(np.equal(place, earlier), known, coin)
        self._tossed.append((place, coin))
        return self._below[where].astype(np.int64) + coin


def _rounding(args: Sequence[Any], coins: Coins, size: int) -> _Rounded:
    return _Rounded(*args)


def _looking(args: Sequence[Any], coins: Coins, size: int) -> Ints:
    vector, place = args
    found: Ints = vector.at(place, coins, size)
    return found


def _selected(args: Sequence[Any], coins: Coins, size: int) -> PackedBits:
    condition, *sides = args
    holds: Bools = np.broadcast_to(condition, size) != 0
    whole = [side for side in sides if not isinstance(side, _Later)]
    parts = [(side, np.flatnonzero(holds == (place == 0))) for place, side in enumerate(sides) if isinstance(side, _Later)]
    drawn = [(side.rows(which, coins), which) for side, which in parts]
    rows = whole[0].bytes.copy() if whole else np.empty((size, drawn[0][0].bytes.shape[1]), np.uint8)
    for found, which in drawn:
        rows[which] = found.bytes
    return PackedBits(rows, drawn[0][0].width)


def _ends(whole: int) -> Run:
    from deniable.kernels.vectors import rows_below  # which few questions need

    shift = SHORT.bit_length() - whole.bit_length()

    def operate(args: Sequence[Any], coins: Coins, size: int) -> PackedBits:
        below, up = map(np.asarray, args)
        assert isinstance(coins, StreamCoins)
        draws = coins.draw(2 * below.size).view("<u2").reshape(below.shape)
        rows, tied = rows_below(draws, below, shift)
        row, column = np.divmod(tied, below.shape[1])
        won = coins.toss_each(np.ascontiguousarray(up[row, column], np.int64))
        np.bitwise_or.at(rows, (row, column >> 3), won.astype(np.uint8) << (column & 7).astype(np.uint8))
        return PackedBits(rows, below.shape[1])

    return operate
