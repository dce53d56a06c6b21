"""The only randomness: exact draws from a stream of random bytes, given to everything that perturbs as an argument.

How bytes become outcomes is part of the wire format, because clients in other languages must agree with it:

- `toss_packed(heads)`: every bit compares a random number r in [0, 1) with the probability, eight binary digits at a time,
  and is one if r < heads. The first eight digits of all bits of a block come as eight planes of bits, most significant plane
  first; each plane has the block's bytes rounded up to a multiple of eight. Bits still equal after that take one further
  byte each, in order, until none is left or the probability has no digits left.
- `below(n)`: one little-endian word each (32 bits for n up to 2^24, else 64); the value is word * n / 2^bits rounded down,
  and words whose low part is under 2^bits mod n are drawn again, in order.
- `subset(n, k)`: k such words a row, for the steps of Floyd's algorithm with bounds n - k + 1 to n; where one element less
  is wanted, the first step takes nothing. Rows of which any word is refused are drawn again whole, in order.
- `split(heads, first, second)`: a toss each, then `below(second)` each, then `below(first)` each; a draw
  from only one is left out.
- `toss_each(heads)`: one little-endian 64-bit word each; true if its upper 53 bits, as a number, are below `heads`. With
  another `whole` than 2^53: true if `below(whole)` is below `heads`.
- `majority(n)`: rows of n fair tosses; rows with as many ones as zeros are drawn again, whole, in order, and rows with more
  zeros than ones are turned over.
- `public(n)`: as `below`.
- `pick(weights)`: `below` the sum of the weights, looked up among their running sums.
- `pick_each(table, rows)`: the same with weights that differ from answer to answer; all rows of the table have one sum.

Since r has as many digits as are needed, a toss has exactly the probability asked for, whatever fraction that is.
"""

import hashlib
import os
import threading
import warnings
import weakref
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from struct import Struct
from typing import Self

import numpy as np
from numpy.typing import NDArray

from deniable import kernels
from deniable.arrays import Bools, Bytes, Ints
from deniable.core.bits import PackedBits
from deniable.core.odds import check_probability
from deniable.core.orders import inside
from deniable.core.weights import WeightTable, check_weights
from deniable.errors import InvalidCoins, InvalidParameter

WHOLE = 1 << 53  # what `toss_each` counts its probabilities in
FEW = 64  # tosses, up to which a plane is one word
BLOCK = 1 << 16  # bytes of packed bits made at a time: their random bytes stay in the processor's cache


class Coins(ABC):
    """Exact, vectorised draws. Each outcome has exactly the stated probability."""

    @abstractmethod
    def toss_packed(self, heads: Fraction, rows: int, bits: int) -> PackedBits:
        """Independent bits, each one with probability `heads`."""

    @abstractmethod
    def below(self, n: int, size: int) -> Ints:
        """Uniform integers 0..n-1."""

    @abstractmethod
    def subset(self, n: int, k: int, one_less: Bools) -> PackedBits:
        """Uniform subsets of range(n), as rows of n bits: of k elements, or of k - 1 in the rows where `one_less`."""

    @abstractmethod
    def pick(self, weights: Sequence[int], size: int) -> Ints:
        """Index i with probability weights[i] / sum(weights)."""

    @abstractmethod
    def pick_each(self, table: WeightTable, rows: Ints) -> Ints:
        """Index j with probability weights[rows[i], j] / total for answer i: a row of weights of its own for each."""

    @abstractmethod
    def split(self, heads: Fraction, first: int, second: int, size: int) -> Ints:
        """With probability `heads` one of the indices 0..first-1, else one of the `second` after them, uniformly."""

    @abstractmethod
    def toss_each(self, heads: Ints, whole: int = WHOLE) -> Bools:
        """Truth values, each true with a probability of its own: heads[i] / whole."""

    @abstractmethod
    def majority(self, n: int, size: int) -> PackedBits:
        """Rows of n bits with more ones than zeros, each such row equally likely."""

    def rounded(self, heads: Ints) -> Bools:
        """As `toss_each`, for rounding an answer to a grid before anything else happens to it."""
        return self.toss_each(heads)

    def public(self, n: int, size: int) -> Ints:
        """Uniform integers 0..n-1 that go into the report as they are, such as the choice of a hash function."""
        return self.below(n, size)

    def where(self, rows: Bools) -> "Coins":
        """These coins: it used to mark draws that a certificate need not follow, and has no effect now."""
        warnings.warn("Coins.where has no effect any more. Leave it out.", DeprecationWarning, stacklevel=2)
        return self

    def toss(self, heads: Fraction, size: int) -> Bools:
        """Truth values, each true with probability `heads`."""
        return self.toss_packed(heads, 1, size).unpack()[0]


class StreamCoins(Coins):
    """Coins made of a stream of uniform, independent bytes, which a subclass provides."""

    @abstractmethod
    def draw(self, size: int) -> Bytes:
        """The next bytes of the stream."""

    def draw_into(self, out: Bytes, size: int) -> Bytes:
        """The next `size` bytes of the stream, in `out`, which has room for 15 more."""
        out[:size] = self.draw(size)
        return out[:size]

    def toss(self, heads: Fraction, size: int) -> Bools:
        if 1 < size <= FEW:
            found = np.frombuffer(self._toss_few(heads, size).to_bytes(8, "little"), np.uint8)
            return np.unpackbits(found, count=size, bitorder="little").view(np.bool_)
        return super().toss(heads, size) if size != 1 else np.array([self._toss_one(heads)])

    def _toss_one(self, heads: Fraction) -> bool:
        """What `toss` does for one answer, without arrays: the first lane of each plane is its binary digit."""
        check_probability(heads)
        numerator, denominator = heads.numerator, heads.denominator
        if numerator in (0, denominator):
            return numerator > 0
        digit, rest = divmod(numerator << 8, denominator)
        planes, drawn = self.draw(64).tobytes(), 0
        for level in range(0, 64, 8):
            drawn = 2 * drawn + (planes[level] & 1)
        while rest and drawn == digit:
            digit, rest = divmod(rest << 8, denominator)
            drawn = int(self.draw(1)[0])
        return drawn < digit

    def _toss_few(self, heads: Fraction, size: int) -> int:
        """The same for so few answers that a plane is one word: the first answer is the lowest bit."""
        check_probability(heads)
        smaller, equal, denominator = 0, (1 << size) - 1, heads.denominator
        if heads in (0, 1):
            return int(heads) * equal
        digit, rest = divmod(heads.numerator << 8, denominator)
        for level, plane in enumerate(_PLANES.unpack(self.draw(_PLANES.size).data)):
            ones = equal & plane
            if digit >> (7 - level) & 1:
                smaller, equal = smaller | equal ^ ones, ones
            else:
                equal ^= ones
        while rest and equal:
            tied = [lane for lane in range(size) if equal >> lane & 1]
            digit, rest = divmod(rest << 8, denominator)
            for lane, byte in zip(tied, self.draw(len(tied)).tolist(), strict=True):
                smaller |= (byte < digit) << lane
                equal ^= (byte != digit) << lane
        return smaller

    def toss_packed(self, heads: Fraction, rows: int, bits: int) -> PackedBits:
        check_probability(heads)
        row_bytes = (bits + 7) // 8
        block = max(1, BLOCK // row_bytes)
        if heads.numerator in (0, heads.denominator):
            out = np.full((rows, row_bytes), 255 if heads.numerator else 0, np.uint8)
        elif 0 < rows <= block:
            out = self._toss_block(heads, (rows, row_bytes), bits)
        else:
            out = np.empty((rows, row_bytes), np.uint8)
            for start in range(0, rows, block):
                part = out[start : start + block]
                part[:] = self._toss_block(heads, part.shape, bits)
        if bits % 8:
            last = out[:, -1]
            last &= (1 << bits % 8) - 1
        return PackedBits(out, bits)

    def _toss_block(self, heads: Fraction, shape: tuple[int, ...], bits: int) -> Bytes:
        size, denominator = shape[0] * shape[1], heads.denominator
        words = (size + 7) // 8
        digit, rest = divmod(heads.numerator << 8, denominator)
        planes = self.draw(words * 64).view(np.uint64).reshape(8, words)
        used = bits if shape[0] == 1 else size * 8  # lanes that only fill up a last word are not tossed further
        smaller, tied = kernels.toss_lanes(planes, digit, used if rest else 0)
        block = smaller.view(np.uint8)[:size]
        if bits % 8 and tied.size:
            tied = tied[tied % (shape[1] * 8) < bits]
        while rest and tied.size:
            digit, rest = divmod(rest << 8, denominator)
            tied = kernels.settle(block, tied, self.draw(tied.size), digit)
        return block.reshape(shape)

    def below(self, n: int, size: int) -> Ints:
        word = _word_for(check_bound(n))
        values, again = kernels.scale(self._words(word, size), n, word.itemsize * 8)
        while again.size:
            values[again], refused = kernels.scale(self._words(word, again.size), n, word.itemsize * 8)
            again = again[refused]
        return values

    def subset(self, n: int, k: int, one_less: Bools) -> PackedBits:
        check_subset(n, k)
        bits, word = np.empty((len(one_less), (n + 7) // 8), np.uint8), _word_for(n)
        block = max(1, 2 * BLOCK // k)
        for start in range(0, len(bits), block):
            part = one_less[start : start + block]
            words = self._words(word, len(part) * k).reshape(-1, k)
            bits[start : start + block], again = kernels.subsets(words, n, part, word.itemsize * 8)
            again += start
            while again.size:
                words = self._words(word, len(again) * k).reshape(-1, k)
                bits[again], refused = kernels.subsets(words, n, one_less[again], word.itemsize * 8)
                again = again[refused]
        return PackedBits(bits, n)

    def _words(self, word: np.dtype[np.unsignedinteger], size: int) -> NDArray[np.unsignedinteger]:
        return self.draw(size * word.itemsize).view(word)

    def split(self, heads: Fraction, first: int, second: int, size: int) -> Ints:
        inside = self.toss(heads, size)
        if second > 1:
            index = np.zeros(size, np.int64)
            self._add_below(index, second, ~inside, first)
        else:
            index = np.multiply(~inside, first, dtype=np.int64)
        if first > 1:
            self._add_below(index, first, inside, 0)
        return index

    def _add_below(self, values: Ints, n: int, where: Bools, more: int) -> None:
        """Add `below(n)` and `more` to these values where it says so; numbers are drawn for all of them."""
        word = _word_for(check_bound(n))
        again = kernels.add_scaled(values, self._words(word, len(values)), n, word.itemsize * 8, where, more)
        while again.size:
            part = values[again]
            refused = kernels.add_scaled(part, self._words(word, len(part)), n, word.itemsize * 8, where[again], more)
            values[again] = part
            again = again[refused]

    def toss_each(self, heads: Ints, whole: int = WHOLE) -> Bools:
        check_shares(heads, whole)
        if whole != WHOLE:
            return self.below(whole, len(heads)) < heads
        words = self._words(_LONG, len(heads))
        words >>= np.uint64(64 - 53)
        return words.view(np.int64) < heads

    def majority(self, n: int, size: int) -> PackedBits:
        rows = self.toss_packed(Fraction(1, 2), size, n)
        ones, bits = rows.row_sums(), rows.bytes
        while (again := np.flatnonzero(2 * ones == n)).size:
            drawn = self.toss_packed(Fraction(1, 2), len(again), n)
            bits[again], ones[again] = drawn.bytes, drawn.row_sums()
        return rows.turned(2 * ones < n)

    def pick(self, weights: Sequence[int], size: int) -> Ints:
        edges = np.cumsum([0, *check_weights(weights)])[1:]
        return np.searchsorted(edges, self.below(int(edges[-1]), size), side="right").astype(np.int64)

    def pick_each(self, table: WeightTable, rows: Ints) -> Ints:
        return table.find(rows, self.below(table.total, len(rows)))


class _KeyStream(StreamCoins):
    """The keystream of AES-256 in counter mode."""

    def _key(self, key: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        self._encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def draw(self, size: int) -> Bytes:
        return self.draw_into(np.empty(size + 15, np.uint8), size)  # the cipher asks for room for one block more

    def draw_into(self, out: Bytes, size: int) -> Bytes:
        view = out.data
        for start in range(0, size, len(_ZEROS)):
            self._encryptor.update_into(_ZEROS[: size - start], view[start:])
        return out[:size]


_PLANES = Struct("<8Q")
_ZEROS = memoryview(bytes(1 << 17))


class _FreshKey(_KeyStream):
    """A keystream under a key from the operating system, drawn at first use and again in every forked process."""

    def __init__(self) -> None:
        self.renew()
        _fresh.add(self)

    def renew(self) -> None:
        """Forget the key, and a lock that a thread of the parent process may hold; the next draw takes a new key."""
        self._lock, self._process = threading.Lock(), 0

    def draw_into(self, out: Bytes, size: int) -> Bytes:
        process = os.getpid()  # besides the hook below, which a process that forks in foreign code does not run
        if self._process not in (0, process):
            self.renew()
        with self._lock:
            if not self._process:
                self._key(os.urandom(32))
                self._process = process
            return super().draw_into(out, size)


_fresh: weakref.WeakSet[_FreshKey] = weakref.WeakSet()


def _renew_all() -> None:
    for stream in _fresh:
        stream.renew()


class SecureCoins(StreamCoins):
    """Unpredictable coins: a keystream under a fresh key from the operating system. The default everywhere.

    Safe to share between threads. A forked process, a copy and an unpickled object take a key of their own.
    """

    def __new__(cls, *args: object, **named: object) -> Self:
        """Not in `__init__`, which a subclass may leave out."""
        coins = super().__new__(cls)
        object.__setattr__(coins, "_stream", _FreshKey())  # a subclass may be frozen
        return coins

    def __init__(self) -> None:
        """Takes no seed."""

    def __getstate__(self) -> dict[str, object]:
        """All that is copied or pickled; never the stream, whose bytes would come twice."""
        return {name: value for name, value in self.__dict__.items() if name != "_stream"}

    def draw(self, size: int) -> Bytes:
        stream: _FreshKey = self.__dict__["_stream"]
        return stream.draw(size)

    def draw_into(self, out: Bytes, size: int) -> Bytes:
        stream: _FreshKey = self.__dict__["_stream"]
        return stream.draw_into(out, size)


if hasattr(os, "register_at_fork"):  # where it is missing, processes do not fork
    os.register_at_fork(after_in_child=_renew_all)


class SeededCoins(_KeyStream):
    """The same stream every time, from a seed: for experiments and test vectors, never for people's answers.

    >>> SeededCoins(1).below(6, 5)
    array([5, 2, 5, 3, 2])
    """

    def __init__(self, seed: int | bytes) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int | bytes):
            raise InvalidCoins("A seed must be a whole number or bytes, for example SeededCoins(7).")
        name = seed if isinstance(seed, bytes) else str(seed).encode()
        self._key(hashlib.sha256(b"deniable seed\0" + name).digest())


_SHORT: np.dtype[np.unsignedinteger] = np.dtype("<u4")
_LONG: np.dtype[np.unsignedinteger] = np.dtype("<u8")


def _word_for(n: int) -> np.dtype[np.unsignedinteger]:
    return _SHORT if n <= 1 << 24 else _LONG


def check_bound(n: int) -> int:
    """The bound of a uniform draw; refused if there is none."""
    if not 1 <= n < 1 << 63:
        raise InvalidParameter("A uniform draw needs a bound from 1 to 2^63 - 1.")
    return n


def check_shares(heads: Ints, whole: int = WHOLE) -> None:
    """Refuse what is not a whole number from 0 to `whole`: the probabilities of `toss_each`."""
    if heads.dtype != np.int64 or (len(heads) and not inside(heads, 0, whole)):
        raise InvalidParameter(
            "Probabilities that differ between answers must be whole numbers from 0 to 2^53, or to the given total."
        )


def check_subset(n: int, k: int) -> None:
    """Refuse subsets that do not exist."""
    if not 1 <= k <= n:
        raise InvalidParameter(f"A subset of {n} elements cannot have {k} of them.")


def checked_coins(coins: Coins | None) -> Coins:
    """The coins to use: fresh secure ones unless some are given. A bare seed is refused."""
    if coins is None:
        return SecureCoins()
    if not isinstance(coins, Coins):
        raise InvalidCoins(
            "Coins must be a source of randomness, not a seed or a generator. Leave them out for secure randomness; "
            "for an experiment that can be repeated pass SeededCoins(seed)."
        )
    return coins
