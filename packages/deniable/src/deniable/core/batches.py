"""Runs a law on the batches of many answers: the plan of fusing.py, in memory that is used again from batch to batch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np

from deniable.arrays import Bytes, Words, Words32
from deniable.core.coins import Coins, SecureCoins, SeededCoins, StreamCoins
from deniable.core.fusing import Draw, Other, Pass, Plan, plan
from deniable.core.layout import Drawn, Layout, Number
from deniable.core.program import Program
from deniable.core.running import Run, Steps, checked_code, copied, operation, run_steps
from deniable.core.tracing import Encoded
from deniable.kernels import fused

Made = TypeVar("Made")

FEWEST = 1 << 12  # answers, below which the steps of an array each take no longer
FEW = 1 << 4  # the same for vectors
MORE = 4  # times as many at once where nobody can repeat what is drawn, and nothing else needs the cache
CACHED = 1 << 20  # bytes of long words, words, codes and their copies, where there are long ones


def fused_run(program: Program, layout: Layout, coins: object, size: int) -> "FusedRun | VectorRun | None":
    """What runs this law on batches of up to `size` answers; None where it runs as ever: few answers, or other coins."""
    if type(coins) not in (SecureCoins, SeededCoins):  # others may draw in ways of their own
        return None
    steps = _kept(program, (), _vector_steps) if size >= FEW else None
    if steps is not None:
        return VectorRun(program, steps, size)
    if size < FEWEST:
        return None
    fields = [(each.name, each.dtype) for each in layout.fields if isinstance(each, Number)]
    if [name for name, _ in fields] != [name for name, _ in program.report] or len(fields) != len(layout.fields):
        return None
    kinds = tuple(dtype.name for _, dtype in fields)
    chosen = _kept(program, kinds, partial(plan, columns=kinds))
    if chosen is None:
        return None
    others = [program.nodes[each.place] for each in chosen.actions if isinstance(each, Other)]
    alone = all(node.op == "code" and not node.args and len(node.params) == 3 for node in others)
    if alone and type(coins) is SecureCoins:
        each = 8 * chosen.longs + 4 * chosen.words + 16 * len(others)
        size = min(size, CACHED // each) if chosen.longs else size * MORE
    return FusedRun(program, chosen, size)


def _vector_steps(program: Program) -> Steps | None:
    if all(kind.row or kind.width is None for kind in program.types):
        return None
    from deniable.core.vector_steps import vector_steps  # which few questions need

    return vector_steps(program)


# By the identity of a program, and not in the program itself, where the code of a mechanism could put other steps.
_PLANS: dict[tuple[int, tuple[str, ...]], tuple[Program, Any]] = {}
MOST_PLANS = 256


def _kept(program: Program, kinds: tuple[str, ...], make: Callable[[Program], Made]) -> Made:
    """What is made of a program, for columns of these types, made once."""
    kept = _PLANS.get((id(program), kinds))
    if kept is not None and kept[0] is program:
        return cast("Made", kept[1])
    if len(_PLANS) >= MOST_PLANS:
        _PLANS.clear()
    made = make(program)
    _PLANS[id(program), kinds] = program, made
    return made


@dataclass(frozen=True)
class VectorRun:
    """Runs a law on batches of up to `size` vectors."""

    program: Program
    steps: Steps
    size: int

    def another(self) -> "VectorRun":
        """The same for another thread: nothing is kept from batch to batch."""
        return self

    def run(self, codes: Sequence[Encoded], coins: Coins, size: int) -> Drawn:
        """The fields of the reports, as `running.run` would give them."""
        return run_steps(self.program, self.steps, codes, coins, size)


class FusedRun:
    """The memory for one batch, and the steps of its law."""

    def __init__(self, program: Program, steps: Plan, size: int) -> None:
        self._program, self._plan, self.size = program, steps, size
        self._bits = np.empty((max(1, steps.bits), (size + 7) // 8), np.uint8)
        self._words = np.empty(4 * size * max(1, steps.words) + 16, np.uint8)  # the cipher asks for room for a block more
        self._constants = {place: node.params[0] for place, node in enumerate(program.nodes) if node.op == "const"}
        self._longs = np.empty(8 * size * max(1, steps.longs) + 16, np.uint8)
        words, longs = (
            self._words[:-16].view(np.uint32).reshape(-1, size),
            self._longs[:-16].view(np.uint64).reshape(-1, size),
        )
        self._passes = {
            id(each): _Memory(each, words, longs, self._bits) for each in steps.actions if isinstance(each, Pass)
        }
        nodes = [(each.place, program.nodes[each.place]) for each in steps.actions if isinstance(each, Other)]
        self._others: Mapping[int, Run] = {
            place: operation(node, [program.types[arg] for arg in node.args], False)
            for place, node in nodes
            if node.op != "code"
        }

    def another(self) -> "FusedRun":
        """The same with memory of its own, for another thread."""
        return FusedRun(self._program, self._plan, self.size)

    def run(self, codes: Sequence[Encoded], coins: Coins, size: int) -> Drawn:
        """The fields of the reports, as `running.run` would give them, in columns of their own types."""
        assert isinstance(coins, StreamCoins)  # see `fused_run`
        given, values = list(codes), self._constants.copy()
        found: list[Any] = []
        for action in self._plan.actions:
            if type(action) is Draw:
                self._draw(action, coins, size)
            elif type(action) is Other:
                values[action.place] = self._other(action.place, values, given, coins, size)
            elif type(action) is Pass:
                found = self._passes[id(action)].followed(values, size)
                if action is not self._plan.actions[-1]:
                    values |= {node: column.copy() for (_, node), column in zip(action.stores, found, strict=True)}
        return {name: column for (name, _), column in zip(self._program.report, found, strict=True)}

    def _other(self, place: int, values: Mapping[int, Any], given: list[Encoded], coins: StreamCoins, size: int) -> object:
        node = self._program.nodes[place]
        args = [values[arg] for arg in node.args]
        if node.op != "code":
            return self._others[place](args, coins, size)
        code = given.pop(0)
        value = code(*map(copied, args)) if callable(code) else code
        checked = checked_code(value, self._program.types[place], size)
        return copied(checked) if any(map(callable, given)) else checked

    def _draw(self, draw: Draw, coins: StreamCoins, size: int) -> None:
        if draw.heads is not None:
            packed = coins.toss_packed(draw.heads, 1, size).bytes[0]
            self._bits[draw.bits, : len(packed)] = packed
        if draw.long is not None:
            start = 8 * draw.long * self.size
            coins.draw_into(self._longs[start : start + 8 * size + 15], 8 * size)
        for row, bound in draw.words:
            self._draw_words(row, bound, coins, size)

    def _draw_words(self, row: int, bound: int, coins: StreamCoins, size: int) -> None:
        start = 4 * row * self.size
        draw_words(self._words[start : start + 4 * size + 15], bound, coins, size)


def draw_words(room: Bytes, bound: int, coins: StreamCoins, size: int) -> Words32:
    """Words that may be scaled: each that is refused gives way to one that is drawn later, as in `below`."""
    words = coins.draw_into(room, 4 * size).view(np.uint32)
    if bound & (bound - 1) == 0:
        return words
    again = fused.refused_places(words, bound)
    while again.size:
        more = coins.draw(4 * again.size).view(np.uint32)
        words[again] = more
        again = again[fused.refused_places(more, bound)]
    return words


class _Memory:
    """The arrays of one pass."""

    def __init__(self, steps: Pass, words: Words32, longs: Words, bits: Bytes) -> None:
        self._pass, size = steps, words.shape[1]
        kinds = [column for column, _ in steps.stores]
        names = ("uint8", "uint16", "uint32", "int64")
        out: dict[str, Any] = {
            name: np.empty((max(1, kinds.count(name)), size if name in kinds else 1), name) for name in names
        }
        self._columns = [out[name][kinds[:place].count(name)] for place, name in enumerate(kinds)]
        registers = np.empty((max(1, steps.registers), fused.PIECE), np.int64 if steps.wide else np.int32)
        for value, register in zip(*steps.fills, strict=True):
            registers[register] = value
        self._inputs = registers, words, longs, bits
        self._outputs = steps.tables, *out.values()
        self._numbers = np.empty((max(1, len(steps.numbers)), size), np.int64)

    def followed(self, values: Mapping[int, Any], size: int) -> list[Any]:
        """The columns that are written."""
        steps = self._pass
        numbers = _columns([values[node] for node in steps.numbers], self._numbers)
        fused.follow(steps.steps, fused.Arrays(*self._inputs, numbers, *self._outputs), size)
        return [column[:size] for column in self._columns]


def _columns(values: list[Any], room: Any) -> Any:
    """These columns as rows of one array, a constant as a row of it; a single column as it is."""
    if len(values) == 1 and isinstance(values[0], np.ndarray) and values[0].dtype == room.dtype and values[0].flags.carray:
        return values[0].reshape(1, -1)
    for row, value in zip(room, values, strict=False):
        row[: np.size(value) if np.ndim(value) else None] = value
    return room
