"""How a law is written down: `randomize` is called with symbols instead of arrays, and what it does to them is the program.

A symbol stands for one value of every answer in a batch. Operators and the functions of NumPy that the law has an operation
for record nodes; the coins record draws. What cannot be recorded is refused with the line that asked for it: a branch on an
answer or a coin, a conversion to a number or an array, an index into an array (write `lookup(table, index)`), randomness
from elsewhere. The function is called several times, on copies of the mechanism and for batches of different sizes, and must
do the same each time: so nothing can depend on a clock, on state, or on how many answer at once.
"""

import traceback
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Bools, Ints
from deniable.core.bits import PackedBits
from deniable.core.coins import WHOLE, Coins
from deniable.core.operations import DRAWS, Node, Type, type_of
from deniable.core.weights import WeightTable
from deniable.errors import InvalidLaw

_HERE = Path(__file__).parent

Encoded = Ints | Callable[..., object]  # a code of an answer, or a function of the draws that the code takes


def refuse(what: str, instead: str) -> NoReturn:
    """Refuse code that cannot be written down, with the line that asked for it."""
    frames = [frame for frame in traceback.extract_stack() if Path(frame.filename).parent != _HERE]
    where = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}: {frames[-1].line}" if frames else "unknown"
    raise InvalidLaw(f"{what} ({where}). {instead}")


class Trace:
    """The nodes recorded so far, for a batch of `size` answers."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.nodes: list[Node] = []
        self.types: list[Type] = []
        self.encoders: list[Callable[..., object] | None] = []
        self._known: dict[Node, int] = {}

    def add(self, op: str, args: Sequence["Symbol"] = (), *params: object, boolean: bool = False) -> "Symbol":
        """The symbol of an operation; one that was recorded before is used again, unless it is a draw."""
        for arg in args:
            self._own(arg)
        node = Node(op, tuple(arg.node for arg in args), params)
        if op not in DRAWS and op != "code" and node in self._known:
            return Symbol(self, self._known[node], boolean)
        kind = type_of(node, [self.types[arg] for arg in node.args])
        if kind.low == kind.high and kind.width is None and op not in DRAWS and op not in ("code", "const"):
            return self.add("const", (), kind.low, boolean=boolean)  # the bounds leave one value only
        self.nodes.append(node)
        self.types.append(kind)
        self._known[node] = len(self.nodes) - 1
        return Symbol(self, len(self.nodes) - 1, boolean)

    def constant(self, value: object) -> "Symbol":
        """The symbol of a number that is the same for all answers."""
        array = np.asarray(value)
        if array.dtype.kind not in "iub" or array.size == 0 or (array != array.ravel()[0]).any():
            refuse(
                "A law holds whole numbers that are the same for every answer of a batch, and symbols",
                "Look numbers up with lookup(table, index), and write probabilities as Fractions.",
            )
        return self.add("const", (), int(array.ravel()[0]), boolean=array.dtype.kind == "b")

    def symbol(self, value: object) -> "Symbol":
        """A symbol as it is, and a constant as a symbol."""
        return self._own(value) if isinstance(value, Symbol) else self.constant(value)

    def _own(self, value: "Symbol") -> "Symbol":
        if value.trace is not self:
            refuse("A value of another run is used", "Keep nothing between calls; make everything from the arguments.")
        return value

    def code(
        self,
        name: str,
        low: int,
        high: int,
        width: int | None,
        encoder: Callable[..., object] | None = None,
        draws: Sequence["Symbol"] = (),
        distinct: bool = False,
    ) -> "Symbol":
        """A number, or a vector of them, that the encoder makes of the answer and of draws that it is given."""
        self.encoders.append(encoder)
        vector = () if width is None else (width, 1) if distinct else (width,)
        return self.add("code", draws, name, low, high, *vector)


def _operation(op: str, swapped: bool = False, negated: bool = False, boolean: bool = False) -> Any:
    def operate(self: "Symbol", other: object) -> "Symbol":
        second = self.trace.symbol(other)
        args = (second, self) if swapped else (self, second)
        result = self.trace.add(
            op, args, boolean=boolean or (op in ("and", "or", "xor") and self.boolean and second.boolean)
        )
        return ~result if negated else result

    return operate


class Symbol:
    """One value of every answer: a number, a vector of numbers, or a row of bits."""

    def __init__(self, trace: Trace, node: int, boolean: bool = False) -> None:
        self.trace, self.node, self.boolean = trace, node, boolean

    @property
    def type(self) -> Type:
        """What it may be."""
        return self.trace.types[self.node]

    def __len__(self) -> int:
        return self.trace.size

    __add__ = __iadd__ = _operation("add")
    __radd__ = _operation("add", swapped=True)
    __sub__ = __isub__ = _operation("sub")
    __rsub__ = _operation("sub", swapped=True)
    __mul__ = __imul__ = _operation("mul")
    __rmul__ = _operation("mul", swapped=True)
    __lt__ = _operation("lt", boolean=True)
    __gt__ = _operation("lt", swapped=True, boolean=True)
    __le__ = _operation("lt", swapped=True, negated=True, boolean=True)
    __ge__ = _operation("lt", negated=True, boolean=True)
    __eq__ = _operation("eq", boolean=True)
    __ne__ = _operation("eq", negated=True, boolean=True)
    __and__ = __rand__ = __iand__ = _operation("and")
    __or__ = __ror__ = __ior__ = _operation("or")
    __xor__ = __rxor__ = __ixor__ = _operation("xor")
    __rshift__ = _operation("shr")

    def __hash__(self) -> int:
        return id(self)

    def __mod__(self, by: object) -> "Symbol":
        by = self._whole(by)
        within = self.type.low >= 0 and self.type.high < by
        return self if within else self.trace.add("mod", (self,), by)

    def __floordiv__(self, by: object) -> "Symbol":
        return self.trace.add("div", (self,), self._whole(by))

    def _whole(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            refuse("A law divides by positive whole numbers only", "Divide by a constant.")
        return int(value)

    def __lshift__(self, by: object) -> "Symbol":
        return self * (1 << self._whole(by))

    def __neg__(self) -> "Symbol":
        return 0 - self

    def __abs__(self) -> "Symbol":
        return self.trace.add("abs", (self,))

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # what Python and NumPy ask for, to see what this is
            raise AttributeError(name)
        refuse(f"A value of a law has no .{name}", "See docs/law.md for what a law may do with one.")

    def __invert__(self) -> "Symbol":
        if not self.boolean and not self.type.row:
            refuse("Only truth values and rows of bits can be negated by ~", "Compare numbers with ==, < or >= first.")
        return self.trace.add("not", (self,), boolean=True)

    def __getitem__(self, key: object) -> "Symbol":
        """Column k of a vector, `truth[:, k]`, also where k is a symbol; with None for another axis the same."""
        if isinstance(key, tuple) and len(key) == 2 and any(axis is None for axis in key):
            return self
        if not isinstance(key, tuple) or len(key) != 2 or key[0] != slice(None) or self.type.width is None or self.type.row:
            refuse("An index into the answers of a batch", "A law treats every answer alike; truth[:, k] is coordinate k.")
        return self.trace.add("at", (self, self.trace.symbol(key[1])))

    def astype(self, *_: object, **__: object) -> "Symbol":
        """The same: numbers of a law have no width."""
        return self

    def looked_up(self, table: NDArray[np.generic]) -> "Symbol":
        """The entries of a table that it is the index of."""
        if table.ndim != 1 or table.dtype.kind not in "iub":
            refuse("A table of a law is a list of whole numbers", "Use one dimension.")
        boolean = table.dtype.kind == "b"
        return self.trace.add(
            "table", (self,), tuple((table.view(np.uint8) if boolean else table).tolist()), boolean=boolean
        )

    # Rows of bits, with the methods of PackedBits

    @property
    def bytes(self) -> "Symbol":
        """The same row: packing it changes nothing."""
        return self

    @property
    def width(self) -> int:
        """How many bits a row has, or how many numbers a vector."""
        return self.type.width or 1

    def bit(self, column: object) -> "Symbol":
        """One bit of each row."""
        return self.trace.add("get", (self, self.trace.symbol(column)), boolean=True)

    def with_bit(self, column: object, value: object) -> "Symbol":
        """The rows with one bit of each replaced."""
        return self.trace.add("put", (self, self.trace.symbol(column), self.trace.symbol(value)))

    def exchanged(self, first: object, second: object) -> "Symbol":
        """The rows with two bits of each exchanged."""
        return self.trace.add("swap", (self, self.trace.symbol(first), self.trace.symbol(second)))

    def widened(self, width: int) -> "Symbol":
        """The rows with room for more bits, which are zero."""
        return self if width == self.width else self.trace.add("widen", (self,), width)

    def turned(self, which: object) -> "Symbol":
        """The rows with every bit turned over where `which`."""
        return self.trace.add("turn", (self, self.trace.symbol(which)))

    # What NumPy asks

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> "Symbol":
        if method != "__call__" or options or ufunc not in _UFUNCS:
            refuse(f"np.{ufunc.__name__} has no operation in a law", "See docs/law.md for those that a law may use.")
        first, *rest = (self.trace.symbol(each) for each in inputs)
        return _UFUNCS[ufunc](first, *rest)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> "Symbol":
        if function is np.where and len(args) == 3 and not options:
            condition, first, second = (self.trace.symbol(each) for each in args)
            boolean = first.boolean and second.boolean
            if first.type.row and second.type == Type(0, 0):
                return first & condition  # the row, or one without a bit
            return self.trace.add("where", (condition, first, second), boolean=boolean)
        refuse(f"np.{function.__name__} has no operation in a law", "See docs/law.md for those that a law may use.")

    def _refused(self, *_: object, **__: object) -> NoReturn:
        refuse(
            "A law cannot branch on an answer or a coin, nor turn it into a number",
            "Write np.where(condition, a, b) in place of if, and lookup(table, index) in place of table[index].",
        )

    __bool__ = __int__ = __float__ = __index__ = __iter__ = __array__ = __complex__ = __contains__ = _refused
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __rmod__ = __rfloordiv__ = __divmod__ = __setitem__ = _refused


_UFUNCS: Mapping[Any, Callable[..., Any]] = {
    np.add: Symbol.__add__,
    np.subtract: Symbol.__sub__,
    np.multiply: Symbol.__mul__,
    np.less: Symbol.__lt__,
    np.less_equal: Symbol.__le__,
    np.greater: Symbol.__gt__,
    np.greater_equal: Symbol.__ge__,
    np.equal: Symbol.__eq__,
    np.not_equal: Symbol.__ne__,
    np.bitwise_and: Symbol.__and__,
    np.bitwise_or: Symbol.__or__,
    np.bitwise_xor: Symbol.__xor__,
    np.logical_and: Symbol.__and__,
    np.logical_or: Symbol.__or__,
    np.right_shift: Symbol.__rshift__,
    np.invert: Symbol.__invert__,
    np.logical_not: Symbol.__invert__,
    np.negative: Symbol.__neg__,
    np.minimum: lambda a, b: a.trace.add("min", (a, b)),
    np.maximum: lambda a, b: a.trace.add("max", (a, b)),
    np.absolute: lambda a: a.trace.add("abs", (a,)),
    np.bitwise_count: lambda a: a.trace.add("ones", (a,)),
}


class Answer:
    """An answer that no law looks into: only encoders do, see `encoded`."""

    def __init__(self, trace: Trace, column: int | None = None) -> None:
        self.trace, self.column = trace, column

    def __getitem__(self, key: Any) -> "Answer":
        """Coordinate k of a record, `truth[:, k]`."""
        if not isinstance(key, tuple) or len(key) != 2 or key[0] != slice(None) or not isinstance(key[1], int):
            refuse("An index into the answers of a batch", "A law treats every answer alike; truth[:, k] is coordinate k.")
        return Answer(self.trace, key[1])

    def reader(self, function: Callable[..., object]) -> Callable[..., object]:
        """The encoder, on the coordinate that this is."""
        if self.column is None:
            return function
        return lambda truth, *draws: function(truth[:, self.column], *draws)

    def __len__(self) -> int:
        return self.trace.size

    def __getattr__(self, name: str) -> NoReturn:
        refuse("A law cannot look into this answer", "Let an encoder do that: encoded(truth, function, bounds, *draws).")


class TracedCoins(Coins):
    """Coins that record what is drawn."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def _check(self, size: int) -> None:
        if size != self._trace.size:
            refuse("A draw for another number of answers than the batch has", "Draw for len(truth) answers.")

    def _drawn(self, op: str, args: Sequence[Symbol] = (), *params: object, boolean: bool = False) -> Any:
        return self._trace.add(op, args, *params, boolean=boolean)  # which stands for the array that is drawn

    def toss_packed(self, heads: Fraction, rows: int, bits: int) -> PackedBits:
        self._check(rows)
        return self._drawn("flags", (), Fraction(heads), bits)

    def toss(self, heads: Fraction, size: int) -> Bools:
        self._check(size)
        return self._drawn("toss", (), Fraction(heads), boolean=True)

    def below(self, n: int, size: int) -> Ints:
        self._check(size)
        return self._drawn("below", (), int(n))

    def public(self, n: int, size: int) -> Ints:
        self._check(size)
        return self._drawn("public", (), int(n))

    def subset(self, n: int, k: int, one_less: Bools) -> PackedBits:
        return self._drawn("subset", (self._trace.symbol(one_less),), n, k)

    def pick(self, weights: Sequence[int], size: int) -> Ints:
        self._check(size)
        return self._drawn("pick", (), tuple(map(int, weights)))

    def pick_each(self, table: WeightTable, rows: Ints) -> Ints:
        weights = tuple(map(tuple, table.weights.tolist()))
        return self._drawn("pick_each", (self._trace.symbol(rows),), weights)

    def split(self, heads: Fraction, first: int, second: int, size: int) -> Ints:
        self._check(size)
        return self._drawn("split", (), Fraction(heads), int(first), int(second))

    def toss_each(self, heads: Ints, whole: int = WHOLE) -> Bools:
        return self._drawn("toss_each", (self._trace.symbol(heads),), whole, boolean=True)

    def majority(self, n: int, size: int) -> PackedBits:
        self._check(size)
        return self._drawn("majority", (), n)
