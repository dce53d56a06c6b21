"""Strings that nobody listed: any text of up to 64 bytes, as cells of public hash tables over its prefixes."""

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ints, Words32
from deniable.core import Answers, Domain
from deniable.domains.string_codes import FORMS, prefix_code
from deniable.domains.string_hash import hashed
from deniable.errors import InvalidParameter, OutsideDomain

LONGEST = 64  # bytes of a string
MOST_LISTED = 8  # strings that one person may list
KEY = "key"
NORMAL = ("nfc", "case", "spaces")
# What counts as white space, the same in every client.
_SPACES = re.compile("[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")


class Batch(NamedTuple):
    """The strings of a batch as words, those of one person after the other."""

    words: Words32
    starts: Ints
    counts: Ints


@dataclass(frozen=True)
class Strings(Domain[str | int | Sequence[str], Batch]):
    """Any string of up to `length` bytes, of one `form`: "text", "address", "version" or "bytes"; or "key".

    A string is normalised as `normal` says: "nfc" composes characters (Unicode NFC), "case" ignores upper and lower case,
    "spaces" strips and joins white space. A prefix code of the form turns it into bits. `prefixes` are numbers of leading
    bits that are hashed, each into one of `cells` cells, and one more cell is that of the whole string. With the form "key"
    answers are numbers of `length` bits, or strings that are hashed to such a number. `at_most`: how many strings a person
    may list; one of them, drawn at random, is reported.

    >>> domain = Strings(prefixes=[16, 32], cells=1000)
    >>> domain.normalised("  New   York ")
    'new york'
    >>> domain.cells_of(domain.index(["new york", "New York"])).tolist()
    [[995, 929, 900], [995, 929, 900]]
    """

    form: str = "text"
    length: int = LONGEST
    prefixes: Sequence[int] = (16,)
    cells: int = 1 << 15
    normal: Sequence[str] = NORMAL
    at_most: int = 1
    kind = "strings"

    def __post_init__(self) -> None:
        prefixes, normal = tuple(self.prefixes), tuple(self.normal)
        if self.form != KEY and self.form not in FORMS:
            raise InvalidParameter(f"The form of strings must be one of {', '.join([*FORMS, KEY])}.")
        if not _is_whole(self.length, 1, LONGEST):
            raise InvalidParameter(f"Strings have at most {LONGEST} bytes, and keys as many bits; at least 1.")
        if not all(_is_whole(each, 1, self.most_bits) for each in prefixes) or sorted(set(prefixes)) != list(prefixes):
            raise InvalidParameter(f"Prefixes are increasing numbers of bits from 1 to {self.most_bits}.")
        if not _is_whole(self.cells, 2, 1 << 20) or not _is_whole(self.at_most, 1, MOST_LISTED):
            raise InvalidParameter(f"There are 2 to {1 << 20:,} cells, and at most {MOST_LISTED} strings for each person.")
        if len(prefixes) > 31 or [each for each in NORMAL if each in normal] != list(normal):
            raise InvalidParameter(f"Strings have at most 31 prefixes, and are normalised by some of {', '.join(NORMAL)}.")
        self._fix(prefixes=prefixes, normal=normal)

    @property
    def most_bits(self) -> int:
        """The longest prefix that may be hashed."""
        return self.length if self.form == KEY else 512

    @property
    def levels(self) -> int:
        """How many cells a string has: one for each prefix, and one for all of it."""
        return len(self.prefixes) + 1

    @property
    def codes(self) -> int:
        """How many cells `cells_of` may give a string at each level."""
        return self.cells

    @property
    def size(self) -> int:
        return 1 << (self.length if self.form == KEY else 8 * self.length)

    @property
    def labels(self) -> Sequence[int]:  # type: ignore[override]
        """What is estimated: the cells of each prefix in turn, and those of whole strings."""
        return range(self.levels * self.cells)

    @property
    def inputs(self) -> None:
        return None

    @property
    def draws(self) -> int:
        """A multiple of every number of strings that a person may list, so that each of them is drawn equally often."""
        return math.lcm(*range(1, self.at_most + 1))

    def answer(self, index: int) -> str | int:
        """Keys are their own numbers; strings are numbered by words over a to z."""
        if self.form == KEY:
            return index
        letters = ""
        while index >= 0:
            letters, index = chr(97 + index % 26) + letters, index // 26 - 1
        return letters

    def normalised(self, text: str) -> str:
        """The string as it is reported; refuses what is no string, is empty, or has more than `length` bytes."""
        if not isinstance(text, str):
            raise OutsideDomain("An answer is not a string. Write it as text.")
        if "nfc" in self.normal:
            text = unicodedata.normalize("NFC", text)
        if "case" in self.normal:
            text = unicodedata.normalize("NFC", text.lower()) if "nfc" in self.normal else text.lower()
        if "spaces" in self.normal:
            text = _SPACES.sub(" ", text).strip(" ")
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            raise OutsideDomain("An answer is not valid Unicode text.") from None
        most = LONGEST if self.form == KEY else self.length
        if not 1 <= size <= most or "\0" in text:
            raise OutsideDomain(f"An answer has no characters, or more than {most} bytes. Shorten it.")
        return text

    @cached_property
    def width(self) -> int:
        """The words of the bits that prefixes are taken from."""
        return (max(self.prefixes, default=0) + 31) // 32

    def index(self, values: Answers) -> Batch:
        """The strings as words: first the bits that prefixes are taken from, then all bytes of the string."""
        if self.form == KEY and isinstance(values, np.ndarray) and values.dtype.kind in "iu":
            ones = np.ones(len(values), np.int64)
            return Batch(self._key_words(values), np.arange(len(values)), ones)
        listed = [each if isinstance(each, list | tuple) else (each,) for each in values]
        counts = np.array([len(each) for each in listed], np.int64)
        if len(counts) and not 1 <= counts.min() <= counts.max() <= self.at_most:
            raise OutsideDomain(f"An answer lists from one to {self.at_most} strings.")
        known: dict[object, int] = {}
        try:
            places = np.array([known.setdefault(each, len(known)) for own in listed for each in own], np.int64)
        except TypeError:
            raise OutsideDomain("An answer is not a string. Write it as text.") from None
        return Batch(self._words(list(known))[places], np.cumsum(counts) - counts, counts)

    def _words(self, strings: Sequence[object]) -> Words32:
        if self.form == KEY:
            return self._key_words(np.array([self.key(each) for each in strings], np.uint64))
        code, bits = prefix_code(self.form), 32 * self.width
        rows = bytearray()
        for each in strings:
            text = self.normalised(cast(str, each)).encode()
            rows += code.bits(text, bits).to_bytes(4 * self.width, "big") + text.ljust(LONGEST, b"\0")
        return np.frombuffer(bytes(rows), ">u4").astype(np.uint32).reshape(len(strings), -1)

    def key(self, value: object) -> int:
        """The number of a string, or a number itself."""
        if isinstance(value, int | np.integer) and not isinstance(value, bool):
            if not 0 <= value < 1 << self.length:
                raise OutsideDomain(f"A key is not a number of {self.length} bits.")
            return int(value)
        text = self.normalised(cast(str, value)).encode().ljust(LONGEST, b"\0")
        words = np.frombuffer(text, ">u4").astype(np.uint32)[None, :]
        both = (int(hashed(words, seed, 1 << 20)[0]) for seed in (1001, 1002, 1003, 1004))
        number = 0
        for part in both:
            number = number << 20 | part
        return number >> 80 - self.length

    def _key_words(self, keys: NDArray[np.generic]) -> Words32:
        numbers = keys.astype(np.uint64)
        if self.length < 64 and len(numbers) and int(numbers.max()) >> self.length:
            raise OutsideDomain(f"A key is not a number of {self.length} bits.")
        left = numbers << np.uint64(64 - self.length)
        both = np.stack([left >> np.uint64(32), left & np.uint64(0xFFFFFFFF)], axis=1).astype(np.uint32)
        return np.concatenate([both[:, : self.width], both], axis=1)

    def cells_of(self, batch: Batch, draw: Ints | None = None) -> Ints:
        """The cells of one string of each person: the first, or the one that is drawn."""
        chosen = batch.starts if draw is None else batch.starts + np.asarray(draw) % batch.counts
        return self.word_cells(batch.words[chosen])

    def word_cells(self, words: Words32) -> Ints:
        """The cells of strings, a column for each prefix and one for all of the string."""
        columns = [hashed(leading(words, bits), level, self.cells) for level, bits in enumerate(self.prefixes)]
        columns.append(hashed(words[:, self.width :], len(self.prefixes), self.cells))
        return np.stack(columns, axis=1)


def leading(words: Words32, bits: int) -> Words32:
    """The words that the first bits of each row take, all other bits being zero."""
    used = (bits + 31) // 32
    kept = words[:, :used].copy()
    if bits % 32:
        kept[:, -1] &= np.uint32(0xFFFFFFFF << (32 - bits % 32) & 0xFFFFFFFF)
    return kept


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
