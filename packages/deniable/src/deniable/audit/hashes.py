"""Hash functions that clients use: which of them ties the fields of a report to the answer.

A report of local hashing is a seed and a bucket. Each of them alone is uniform, so only somebody who knows the hash function
sees what they disclose together. The audit tries the usual functions, as an attacker would.
"""

import hashlib
import itertools
import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.arrays import Ints, Words
from deniable.audit.batch import Batch
from deniable.audit.feature import Context, Feature

MOST_BUCKETS = 64
MOST_FIELDS = 4
SAMPLE = 2_000  # reports on which all functions are tried
MOST_FOUND = 4
CLEAR = 8.0  # deviations that a function must stand out by: several hundred are tried

Raw = Words | list[bytes]  # hashes: whole numbers below 2^64, or digests
Hash = Callable[[Sequence[Words], Any], Raw]  # of the seeds of all reports, and one value
Reduce = Callable[[Any, int], Ints]  # of hashes and the number of buckets


@dataclass(frozen=True)
class _Reading:
    """One way to read reports: the places of the seeds and of the bucket."""

    seeds: tuple[int, ...]
    bucket: int
    low: int
    buckets: int

    def columns(self, batch: Batch) -> tuple[list[Words], Ints]:
        """The seeds, and the bucket counted from 0."""
        cells = batch.cells.astype(np.int64, copy=False)
        bucket = np.clip(cells[:, self.bucket] - self.low, 0, self.buckets - 1)
        return [np.ascontiguousarray(cells[:, place]).view(np.uint64) for place in self.seeds], bucket


def by_hashes(batch: Batch, values: Ints, context: Context) -> Iterator[Feature]:
    """Which values a report supports, by the functions that the answers behind this batch confirm."""
    if batch.cells.dtype.kind == "f" or not 2 <= batch.cells.shape[1] <= MOST_FIELDS:
        return
    sample, asked = batch.rows(slice(0, SAMPLE)), values[:SAMPLE]
    found: list[tuple[float, str, _Reading, Hash, Reduce]] = []
    for reading in _readings(batch):
        seeds, bucket = reading.columns(sample)
        for name, function in _functions(seeds):
            hashes = _of_the_answers(function, seeds, asked, context.values)
            for way, reduce in (_OF_DIGESTS if isinstance(hashes, list) else _OF_WORDS).items():
                clear = _dependence(reduce(hashes, reading.buckets), bucket, reading.buckets)
                if clear > CLEAR:
                    found.append((clear, f"{name}, {way}", reading, function, reduce))
    found.sort(key=lambda each: -each[0])
    for _, name, reading, function, reduce in found[:MOST_FOUND]:
        seeds, bucket = reading.columns(batch)
        true = reduce(_of_the_answers(function, seeds, values, context.values), reading.buckets)
        usual = _table(true, bucket, reading.buckets).argmax(axis=1)  # the bucket that is reported most often for each
        for value, label in zip(context.values, context.labels, strict=True):
            yield Feature(
                f"support of {label} by {name}",
                _supports(reading, function, reduce, usual, value),
                f"the report supports {label} ({name})",
                f"the report does not support {label} ({name})",
            )


def _readings(batch: Batch) -> Iterator[_Reading]:
    """Fields with few levels may be buckets, those with many seeds."""
    few, many = [], []
    for place in range(batch.cells.shape[1]):
        levels = np.unique(batch.cells[:, place])
        if len(levels) > MOST_BUCKETS:
            many.append(place)
        elif 0 < levels[-1] - levels[0] < MOST_BUCKETS:
            few.append((place, int(levels[0]), int(levels[-1] - levels[0]) + 1))
    for (place, low, buckets), size in itertools.product(few, (1, 2)):
        for seeds in itertools.permutations(many, size):
            yield _Reading(seeds, place, low, buckets)


def _of_the_answers(function: Hash, seeds: Sequence[Words], asked: Ints, values: Sequence[object]) -> Raw:
    """The hash of each report's own answer."""
    parts: list[Raw] = []
    for place, value in enumerate(values):
        rows = asked == place
        parts.append(function([seed[rows] for seed in seeds], value))
    order = np.argsort(np.argsort(asked, kind="stable"), kind="stable")
    if isinstance(parts[0], list):
        joined = list(itertools.chain.from_iterable(parts))
        return [joined[place] for place in order.tolist()]
    return np.concatenate(parts)[order]


def _supports(reading: _Reading, function: Hash, reduce: Reduce, usual: Ints, value: object) -> Callable[[Batch], Ints]:
    def read(batch: Batch) -> Ints:
        seeds, bucket = reading.columns(batch)
        return (usual[reduce(function(seeds, value), reading.buckets)] == bucket).astype(np.int64)

    return read


def _table(first: Ints, second: Ints, size: int) -> Ints:
    return np.bincount(first * size + second, minlength=size * size).reshape(size, size)


def _dependence(first: Ints, second: Ints, size: int) -> float:
    """By how many deviations chi-square says that two columns of numbers below `size` depend on each other."""
    table = _table(first, second, size).astype(np.float64)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    squares = np.divide((table - expected) ** 2, expected, out=np.zeros_like(table), where=expected > 0).sum()
    columns, rows = (int(np.count_nonzero(table.sum(axis=axis))) for axis in (0, 1))
    freedom = max(1, (columns - 1) * (rows - 1))
    return float((squares - freedom) / math.sqrt(2 * freedom))


def _number(text: bytes) -> int:
    return int.from_bytes(text, "big")


def _reduced(number: Callable[[bytes], int]) -> Reduce:
    return lambda digests, size: np.fromiter((number(each) % size for each in digests), np.int64, len(digests))


_OF_DIGESTS: dict[str, Reduce] = {
    "modulo the buckets": _reduced(_number),
    "its first four bytes": _reduced(lambda digest: _number(digest[:4])),
    "its first eight bytes": _reduced(lambda digest: _number(digest[:8])),
    "its first bytes, the lowest first": _reduced(lambda digest: int.from_bytes(digest[:8], "little")),
    "its first byte": _reduced(lambda digest: digest[0]),
}
_OF_WORDS: dict[str, Reduce] = {
    "modulo the buckets": lambda words, size: (words % np.uint64(size)).astype(np.int64),
    "the highest of 32 bits": lambda words, size: _highest(words & np.uint64(0xFFFFFFFF), 32, size),
    "the highest of 64 bits": lambda words, size: _highest(words >> np.uint64(32), 32, size),
}


def _highest(words: Words, bits: int, size: int) -> Ints:
    return (words * np.uint64(size) >> np.uint64(bits)).astype(np.int64)


_PRIMES = (10_007, 65_537, 1_000_003, 1_000_000_007, (1 << 31) - 1, (1 << 32) - 5, (1 << 61) - 1)
_FORMS = tuple(f"{{{a}}}{between}{{{b}}}" for a, b in (("s", "v"), ("v", "s")) for between in ("", *",:-_|/ ", ", "))
_DIGESTS = ("md5", "sha1", "sha256", "sha512", "blake2b")
_CHECKSUMS: dict[str, Callable[[bytes], int]] = {
    "CRC-32": zlib.crc32,
    "Adler-32": zlib.adler32,
    "hash": lambda text: hash(text.decode()),
}


def _functions(seeds: Sequence[Words]) -> Iterator[tuple[str, Hash]]:
    """All that are tried for one seed, or for two."""
    primes = sorted({*_PRIMES, _prime_above(max(int(seed.max()) for seed in seeds))} - {0})
    for prime, first, scaled in itertools.product(primes, (0, 1), (False, True)):
        share = ", as a share" if scaled else ""
        yield (
            f"{'(a x + b)' if len(seeds) == 2 else 'a x'} mod {prime} for x from {first}{share}",
            _affine(prime, first, scaled),
        )
    if len(seeds) == 2:
        return
    yield "xxHash with a seed", lambda given, value: xxhash(str(value).encode(), given[0])
    yield "CRC-32 from the seed on", _each(lambda seed, value: zlib.crc32(str(value).encode(), seed & 0xFFFFFFFF))
    yield "hash((s, v))", _each(lambda seed, value: hash((seed, value)))
    yield "hash((v, s))", _each(lambda seed, value: hash((value, seed)))
    for form in _FORMS:
        for name, checksum in _CHECKSUMS.items():
            yield f"{name} of {form}", _each(_of_text(checksum, form))
        for name in _DIGESTS:
            yield f"{name} of {form}", _digests(getattr(hashlib, name), form)
    for (name, mix), (way, join) in itertools.product(_MIXES.items(), _JOINS.items()):
        yield f"{name} of {way}", _mixed(mix, join)


def _of_text(function: Callable[[bytes], int], form: str) -> Callable[[int, Any], int]:
    return lambda seed, value: function(form.format(s=seed, v=value).encode())


def _each(function: Callable[[int, Any], int]) -> Hash:
    def of_all(seeds: Sequence[Words], value: Any) -> Words:
        mask = (1 << 64) - 1
        return np.fromiter((function(seed, value) & mask for seed in seeds[0].tolist()), np.uint64, len(seeds[0]))

    return of_all


def _digests(digest: Callable[[bytes], Any], form: str) -> Hash:
    return lambda seeds, value: [digest(form.format(s=seed, v=value).encode()).digest() for seed in seeds[0].tolist()]


def _whole(value: Any) -> int:
    """A value as a number: itself, or the first bytes of its text."""
    return int(value) if isinstance(value, int | np.integer) else _number(str(value).encode()[:4])


def _affine(prime: int, first: int, scaled: bool) -> Hash:
    def of_all(seeds: Sequence[Words], value: Any) -> Words:
        x = _whole(value) + first
        large = max(prime, *(int(seed.max(initial=0)) for seed in seeds)) * (x + 1) >> 63 or scaled
        a, b = (seed.astype(object) if large else seed for seed in (seeds[0], seeds[-1]))
        rest = (a * x + (b if len(seeds) == 2 else 0)) % prime
        return np.asarray((rest << 32) // prime if scaled else rest).astype(np.uint64)

    return of_all


def _prime_above(number: int) -> int:
    """The next prime, where it is quickly found; else 0."""
    if number > 1 << 24:
        return 0
    return next(n for n in itertools.count(max(2, number + 1)) if all(n % d for d in range(2, math.isqrt(n) + 1)))


def xxhash(text: bytes, seeds: Words) -> Words:
    """XXH32 of a text of less than 16 bytes with each of these seeds; longer texts are cut.

    >>> xxhash(b"a", np.array([0], np.uint64)).tolist() == [0x550D7456]
    True
    """
    one, two, three, four, five = (np.uint64(prime) for prime in _XXHASH)
    mask, text = np.uint64(0xFFFFFFFF), text[:15]
    state = (seeds + five + np.uint64(len(text))) & mask
    whole = len(text) // 4 * 4
    for start in range(0, whole, 4):
        state = (state + np.uint64(int.from_bytes(text[start : start + 4], "little")) * three) & mask
        state = _rolled(state, 17) * four & mask
    for byte in text[whole:]:
        state = (state + np.uint64(byte) * five) & mask
        state = _rolled(state, 11) * one & mask
    state = (state ^ state >> np.uint64(15)) * two & mask
    state = (state ^ state >> np.uint64(13)) * three & mask
    return state ^ state >> np.uint64(16)


_XXHASH = 2654435761, 2246822519, 3266489917, 668265263, 374761393


def _rolled(words: Words, by: int) -> Words:
    return (words << np.uint64(by) | words >> np.uint64(32 - by)) & np.uint64(0xFFFFFFFF)


def _splitmix(words: Words) -> Words:
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ words >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ words >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return words ^ words >> np.uint64(31)


def _murmur(words: Words) -> Words:
    mask = np.uint64(0xFFFFFFFF)
    words = words & mask
    words = (words ^ words >> np.uint64(16)) * np.uint64(0x85EBCA6B) & mask
    words = (words ^ words >> np.uint64(13)) * np.uint64(0xC2B2AE35) & mask
    return words ^ words >> np.uint64(16)


_MIXES: dict[str, Callable[[Words], Words]] = {
    "nothing": lambda words: words,
    "Knuth's product": lambda words: words * np.uint64(2654435761) & np.uint64(0xFFFFFFFF),
    "Murmur's last step": _murmur,
    "SplitMix": _splitmix,
}
_JOINS: dict[str, Callable[[Words, np.uint64], Words]] = {
    "s + v": lambda seeds, value: seeds + value,
    "s xor v": lambda seeds, value: seeds ^ value,
    "s v": lambda seeds, value: seeds * value,
    "s (v + 1)": lambda seeds, value: seeds * (value + np.uint64(1)),
}


def _mixed(mix: Callable[[Words], Words], join: Callable[[Words, np.uint64], Words]) -> Hash:
    def of_all(seeds: Sequence[Words], value: Any) -> Words:
        with np.errstate(over="ignore"):
            return mix(join(seeds[0], np.uint64(_whole(value) & (1 << 64) - 1)))

    return of_all
