"""Steps of laws on vectors, several nodes in one: the same draws, of the same bytes, without arrays between them.

Numbers that are rounded, where `below + toss_each(up)` is only read by place; and coins tossed for all numbers of such a
vector one after the other, packed into a row. Steps are made from the nodes of the program alone, and `running.run` gives
the same reports for the same coins.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

import numpy as np

from deniable.arrays import Bytes, Words, Words32
from deniable.core.batches import draw_words
from deniable.core.bits import PackedBits
from deniable.core.coins import WHOLE, Coins, StreamCoins
from deniable.core.fusing import SHORT
from deniable.core.operations import DRAWS, Node
from deniable.core.orders import Gridded, unmade
from deniable.core.program import Program
from deniable.core.running import Run, Step, Steps, made_steps
from deniable.kernels.vectors import Codes, rounded_up, toss_columns

BLOCK = 1 << 18  # bytes drawn at a time, which stay in the processor's cache
TOGETHER = 64  # columns of bits, a multiple of eight


def vector_steps(program: Program) -> Steps | None:
    """The steps of a program, with those on vectors joined; None where there are none."""
    finder = _Finder(program)
    sums = finder.rounded()
    if not sums:
        return None
    constants, steps = made_steps(program)
    read = finder.only_rounded(sums)
    steps = [(step[0], unmade, step[2], step[3]) if step[0] in read else step for step in steps]
    for toss, found in sums.items():
        kind = np.min_scalar_type(program.types[found].high)
        steps = _joined(steps, [toss, found], _rounding(kind), program.nodes[found].args[0], program.nodes[toss].args[0])
    for place in finder.tossed(set(sums.values())):
        tosses = program.nodes[place].args
        reads = [program.nodes[toss].args[0] for toss in tosses]
        whole, vector = program.nodes[tosses[0]].params[0], program.nodes[reads[0]].args[0]
        steps = _joined(steps, [*reads, *tosses, place], _tossing(whole), vector)
    return constants, steps


def _joined(steps: list[Step], places: Collection[int], operate: Run, *args: int) -> list[Step]:
    """One step in place of these, where the first of them was; what they compute is for the last of them alone."""
    gone = set(places)
    first = next(number for number, step in enumerate(steps) if step[0] in gone)
    dead = {arg for step in steps if step[0] in gone for arg in step[3]} & set(args)
    rest = [step for step in steps[first:] if step[0] not in gone]
    return [*steps[:first], (max(gone), operate, args, tuple(sorted(dead))), *rest]


class _Finder:
    """Finds nodes that can be joined."""

    def __init__(self, program: Program) -> None:
        self._nodes, self._types = program.nodes, program.types
        self._kept = {node for _, node in program.report}
        self._readers: dict[int, list[int]] = {}
        for place, node in enumerate(program.nodes):
            for arg in node.args:
                self._readers.setdefault(arg, []).append(place)

    def rounded(self) -> dict[int, int]:
        """Tosses of 2^53 parts for a code, and the sum of another code with each, which is only read by place."""
        return {node.args[1]: place for place, node in enumerate(self._nodes) if self._is_rounded(place, node)}

    def _is_rounded(self, place: int, node: Node) -> bool:
        if node.op != "add" or place in self._kept or not self._is_for(node.args[1], place):
            return False
        below, toss = node.args
        chances = self._nodes[toss]
        if chances.op != "toss_each" or chances.params != (WHOLE,) or below > toss:
            return False
        is_read = all(self._nodes[each].op == "at" and self._nodes[each].args[1] != place for each in self._readers[place])
        return is_read and self._is_vector(below) and self._is_vector(chances.args[0])

    def only_rounded(self, sums: Mapping[int, int]) -> set[int]:
        """The codes that nothing else reads."""
        pairs = [(self._nodes[found].args[0], found) for found in sums.values()]
        pairs += [(self._nodes[toss].args[0], toss) for toss in sums]
        return {code for code, reader in pairs if self._is_for(code, reader)}

    def _is_vector(self, place: int) -> bool:
        kind = self._types[place]
        return self._nodes[place].op == "code" and kind.width is not None and kind.low == 0

    def _is_for(self, place: int, reader: int) -> bool:
        """Whether a node has one reader, and is not reported."""
        return self._readers.get(place) == [reader] and place not in self._kept

    def tossed(self, vectors: Collection[int]) -> list[int]:
        """Rows of a bit for each number of one of these vectors, tossed one after the other with nothing drawn between."""
        return [place for place, node in enumerate(self._nodes) if self._is_tossed(place, node, vectors)]

    def _is_tossed(self, place: int, node: Node, vectors: Collection[int]) -> bool:
        if node.op != "pack" or node.params != (1,):
            return False
        tosses = [self._nodes[toss] for toss in node.args]
        drawn = tuple(each for each in range(node.args[0], place) if self._nodes[each].op in DRAWS)
        if drawn != node.args or any(toss.op != "toss_each" or toss.params != tosses[0].params for toss in tosses):
            return False
        reads = [self._nodes[toss.args[0]] for toss in tosses]
        if not all(read.op == "at" and read.args[0] == reads[0].args[0] for read in reads):
            return False
        vector, whole = reads[0].args[0], tosses[0].params[0]
        places = [self._nodes[read.args[1]] for read in reads]
        is_whole = len(places) == self._types[vector].width and self._types[vector].high <= whole <= SHORT
        in_turn = all(each.op == "const" and each.params == (number,) for number, each in enumerate(places))
        alone = all(self._is_for(each, place) for each in node.args)
        alone = alone and all(self._is_for(toss.args[0], each) for each, toss in zip(node.args, tosses, strict=True))
        return vector in vectors and is_whole and in_turn and alone


def _rounding(kind: np.dtype[np.unsignedinteger[Any]]) -> Run:
    def operate(args: Sequence[Any], coins: Coins, size: int) -> Any:
        write, shape = _written(*args)
        points, room = np.empty(shape, kind), np.empty(min(BLOCK, 8 * math.prod(shape)) + 16, np.uint8)
        flat = points.reshape(-1)
        for start in range(0, points.size, BLOCK // 8):
            target = flat[start : start + BLOCK // 8]
            write(target, cast(StreamCoins, coins).draw_into(room, 8 * len(target)).view(np.uint64), start)
        return points

    return operate


Write = Callable[[Codes, Words, int], None]  # numbers from a place on, rounded by a word each


def _written(below: Any, chances: Any) -> tuple[Write, tuple[int, ...]]:
    """What rounds the numbers of these codes, and the shape of all of them."""
    if type(below) is Gridded and below.goes_with(chances):
        return below.round_into, below.numbers.shape
    below, chances = (code.copy() if type(code) is Gridded else code for code in (below, chances))
    points, ups = _numbers(below), np.ascontiguousarray(chances, np.int64).reshape(-1)
    flat = points.reshape(-1)

    def write(target: Codes, words: Words, start: int) -> None:
        some = slice(start, start + len(words))
        rounded_up(flat[some], ups[some], words, target)

    return write, points.shape


def _numbers(code: Any) -> Any:
    """One after the other, also where they are truth values."""
    numbers = np.ascontiguousarray(code)
    return numbers.view(np.uint8) if numbers.dtype == np.bool_ else numbers


def _tossing(whole: int) -> Run:
    def operate(args: Sequence[Any], coins: Coins, size: int) -> Any:
        (points,) = args
        width = points.shape[1]
        rows = np.empty((size, (width + 7) // 8), np.uint8)
        room = np.empty(4 * size * min(TOGETHER, width) + 16, np.uint8)
        for first in range(0, width, TOGETHER):
            many = min(TOGETHER, width - first)
            words = drawn_columns(room, whole, cast(StreamCoins, coins), many, size)
            toss_columns(points, words, whole, first, rows)
        return PackedBits(rows, width)

    return operate


def drawn_columns(room: Bytes, bound: int, coins: StreamCoins, columns: int, size: int) -> Words32:
    """Words of some columns, one after the other, that may be scaled: each draws anew what it refuses before the next."""
    if bound & (bound - 1) == 0:  # none is refused
        return draw_words(room, bound, coins, columns * size).reshape(columns, size)
    words = room[: 4 * columns * size].view(np.uint32).reshape(columns, size)
    for column in range(columns):  # a block of the cipher may be written after its end, where the next column comes
        draw_words(room[4 * column * size :], bound, coins, size)
    return words
