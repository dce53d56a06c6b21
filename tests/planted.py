"""Clients with bugs that have happened, each of which an audit must find; and what they claim."""

import hashlib
import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import deniable as dn
from deniable.arrays import Bools, Ints
from deniable.core import PackedBits

SIZE, CLAIMED = 12, 1.0
QUESTION = dn.Categories(range(SIZE))
DRAW = np.random.default_rng(20261116)


class BitNotRandomized(dn.Unary):
    """Noise for the bits 1 to d - 1 only: bit 0 tells whether the value is 0."""

    def randomize(self, truth: Ints, coins: dn.Coins) -> Mapping[str, NDArray[np.uint8]]:
        cells: Any = super().randomize(truth, coins)["cells"]
        return {"cells": cells.with_bit(0, truth == 0).bytes}


class NeverCleared(dn.Unary):
    """A true bit is never cleared."""

    def randomize(self, truth: Ints, coins: dn.Coins) -> Mapping[str, NDArray[np.uint8]]:
        cells: Any = super().randomize(truth, coins)["cells"]
        return {"cells": cells.with_bit(truth, np.ones(len(truth), np.bool_)).bytes}


class ForeignUnary(dn.Unary):
    """A client with a `perturb` of its own: no law is read off it, and no certificate is given for it."""

    def perturb(self, values: Any, coins: dn.Coins | None = None) -> dn.Reports:
        cells = self.drawn(self.domain.index(values), dn.SecureCoins() if coins is None else coins)
        return dn.Reports.of(self.fingerprint, self.layout, {"cells": PackedBits.pack(cells).bytes})

    def drawn(self, truth: Ints, coins: dn.Coins) -> Bools:
        """The cells of each report, a row of truth values each."""
        raise NotImplementedError


class AloneOnly(ForeignUnary):
    """The truth where one answer is asked for, as on a device; the promised law in every larger batch, as in a test."""

    def drawn(self, truth: Ints, coins: dn.Coins) -> Bools:
        cells = coins.toss_packed(self.q, len(truth), SIZE).unpack()
        cells[np.arange(len(truth)), truth] = coins.toss(self.p, len(truth))
        return np.asarray(np.arange(SIZE) == truth[:, None]) if len(truth) == 1 else cells


class Padding(dn.Unary):
    """The cells are as promised; the padding bits of the last byte hold the lowest bits of the answer."""

    def perturb(self, values: Any, coins: dn.Coins | None = None) -> dn.Reports:
        reports = super().perturb(values, coins)
        cells = reports.columns["cells"].copy()
        cells[:, -1] |= (self.domain.index(values) << 4 & 255).astype(np.uint8)
        return dn.Reports(self.fingerprint, self.layout, {"cells": cells})


class SharedDraws(ForeignUnary):
    """Neighbouring bits share one random number: each bit is right by itself, two together are not."""

    def drawn(self, truth: Ints, coins: dn.Coins) -> Bools:
        whole = 1 << 40
        numbers = np.stack([coins.below(whole, len(truth)) for _ in range(SIZE // 2)], axis=1)
        limits = np.full((len(truth), SIZE), int(self.q * whole))
        limits[np.arange(len(truth)), truth] = int(self.p * whole)
        return np.asarray(np.repeat(numbers, 2, axis=1) < limits)


class SameNoise(ForeignUnary):
    """Two people who report one after the other get the same noise."""

    def drawn(self, truth: Ints, coins: dn.Coins) -> Bools:
        noise = coins.toss_packed(self.q, (len(truth) + 1) // 2, SIZE).unpack()
        kept = coins.toss(self.p, (len(truth) + 1) // 2)
        cells = np.repeat(noise, 2, axis=0)[: len(truth)]
        cells[np.arange(len(truth)), truth] = np.repeat(kept, 2)[: len(truth)]
        return cells


def seeded_each_time(value: int) -> int:
    """A fresh generator with a fixed seed for every report."""
    return int(dn.DirectResponse(QUESTION, CLAIMED).perturb([value], dn.SeededCoins(1)).columns["value"][0])


def seed_from_value(value: int) -> tuple[int, int]:
    """Local hashing whose hash function depends on the value."""
    seed = (value * 7919 + int(DRAW.integers(64)) * 97) % 10_007
    return seed, int(DRAW.integers(4))


def ordered_subset(value: int) -> list[int]:
    """Subset selection that writes the true value first if it is among the chosen."""
    others = [each for each in range(SIZE) if each != value]
    if DRAW.random() < 3 * math.e / (3 * math.e + SIZE - 3):
        return [value, *map(int, DRAW.choice(others, 2, replace=False))]
    return list(map(int, DRAW.choice(others, 3, replace=False)))


def typed(value: int) -> object:
    """The type of the report tells whether it is true."""
    if DRAW.random() < math.e / (math.e + SIZE - 1):
        return [value]
    return ((value + 1 + int(DRAW.integers(SIZE - 1))) % SIZE,)


def long_text(value: int) -> str:
    """The length of the report goes with the value."""
    told = value if DRAW.random() < 0.5 else int(DRAW.integers(SIZE))
    return f"{told:02d}" + "." * (value % 3)


def rounded_float(value: int) -> float:
    """Laplace noise on a number, whose lowest digits betray where it was added."""
    return value + round(float(DRAW.laplace(0, (SIZE - 1) / CLAIMED))) + value * 1e-6


def float_laplace(value: int) -> float:
    """The Laplace mechanism as textbooks write it: some numbers are left that only some answers give (Mironov 2012)."""
    return value / SIZE + float(DRAW.laplace(0, 1 / CLAIMED))


def logarithm_laplace(value: int) -> float:
    """The same from the logarithm of a uniform number."""
    sign = 1 if DRAW.random() < 0.5 else -1
    return value / SIZE - sign / CLAIMED * math.log(1 - DRAW.random())


LOUD = math.exp(2.3) / (math.exp(2.3) + 3)  # keeps a bucket of four as if epsilon were 2.3


def _answered(bucket: int) -> int:
    """Randomized response over four buckets that loses 2.3."""
    return bucket if DRAW.random() < LOUD else (bucket + 1 + int(DRAW.integers(3))) % 4


def hashed_text(value: int) -> dict[str, int]:
    """Local hashing with a hash function of its own: the bucket alone is uniform, seed and bucket together are not."""
    seed = int(DRAW.integers(1 << 32))
    digest = hashlib.sha256(f"{seed}:{value}".encode()).hexdigest()
    return {"seed": seed, "bucket": _answered(int(digest, 16) % 4)}


def hashed_affinely(value: int) -> tuple[int, int, int]:
    """The same with (a x + b mod p) mod g."""
    prime = (1 << 31) - 1
    a, b = int(DRAW.integers(1, prime)), int(DRAW.integers(prime))
    return a, b, _answered((a * (value + 1) + b) % prime % 4)


def hashed_by_xxhash(value: int) -> tuple[int, int]:
    """The same with xxHash of the value as text, as three packages do; buckets are numbered from one."""
    seed = int(DRAW.integers(1 << 32))
    return _answered(_xxhash(str(value).encode(), seed) % 4) + 1, seed


def _xxhash(text: bytes, seed: int) -> int:
    """XXH32 of less than four bytes, from its specification."""
    word = (1 << 32) - 1
    state = seed + 374761393 + len(text)
    for byte in text:
        state = (state + byte * 374761393) & word
        state = (state << 11 | state >> 21) * 2654435761 & word
    state = (state ^ state >> 15) * 2246822519 & word
    state = (state ^ state >> 13) * 3266489917 & word
    return state ^ state >> 16


def hashed_secretly(value: int) -> tuple[int, int]:
    """A hash function that nobody would guess; whoever counts the reports knows it."""
    seed = int(DRAW.integers(1 << 32))
    return seed, _answered(secret_bucket(seed, value))


def secret_bucket(seed: int, value: int) -> int:
    """The bucket of a value."""
    return zlib.crc32(f"salt {value * 31 + 7} of {seed ^ 0x5BD1E995}".encode()) >> 9 & 3


def secretly_supports(report: tuple[int, int], value: int) -> bool:
    """Whether a report counts for a value."""
    return secret_bucket(report[0], value) == report[1]


class Fresh:
    """Says that it remembers, but draws a new report each time."""

    def __call__(self, person: int, value: int) -> int:
        if DRAW.random() < math.e / (math.e + SIZE - 1):
            return value
        return int(value + 1 + DRAW.integers(SIZE - 1)) % SIZE


class Remembering(Fresh):
    """The correct one: a person's report is drawn once."""

    def __init__(self) -> None:
        self.kept: dict[int, int] = {}

    def __call__(self, person: int, value: int) -> int:
        if person not in self.kept:
            self.kept[person] = super().__call__(person, value)
        return self.kept[person]


@dataclass(frozen=True)
class Planted:
    """A client with a bug, and how to ask it."""

    client: Any
    trials: int
    repeats: int = 1
    claimed: Any = CLAIMED
    supports: Callable[..., Any] | None = None


BUGS: dict[str, Callable[[], Planted]] = {
    "bit not randomized": lambda: Planted(BitNotRandomized(QUESTION, CLAIMED), 20_000),
    "never cleared": lambda: Planted(NeverCleared(QUESTION, CLAIMED), 20_000),
    "shared draws": lambda: Planted(SharedDraws(QUESTION, CLAIMED), 20_000),
    "same noise": lambda: Planted(SameNoise(QUESTION, CLAIMED), 60_000),
    "seed reused": lambda: Planted(seeded_each_time, 4_000),
    "seed from the value": lambda: Planted(seed_from_value, 20_000),
    "true value first": lambda: Planted(ordered_subset, 20_000),
    "type": lambda: Planted(typed, 20_000),
    "length": lambda: Planted(long_text, 20_000),
    "lowest digits": lambda: Planted(rounded_float, 20_000),
    "truth in batches of one": lambda: Planted(AloneOnly(QUESTION, CLAIMED), 20_000),
    "truth in the padding": lambda: Planted(Padding(QUESTION, CLAIMED), 20_000),
    "floating-point Laplace": lambda: Planted(float_laplace, 20_000),
    "floating-point Laplace of logarithms": lambda: Planted(logarithm_laplace, 20_000),
    "own hash: SHA-256": lambda: Planted(hashed_text, 40_000),
    "own hash: affine": lambda: Planted(hashed_affinely, 40_000),
    "own hash: xxHash": lambda: Planted(hashed_by_xxhash, 40_000),
    "own hash: any, with its decoder": lambda: Planted(hashed_secretly, 40_000, supports=secretly_supports),
    "memoization missing": lambda: Planted(Fresh(), 1_500, repeats=20),
}
for family in (
    dn.DirectResponse,
    dn.Unary,
    dn.SubsetSelection,
    dn.LocalHashing,
    dn.HadamardResponse,
    dn.BlockDesign,
    dn.Wheel,
):
    BUGS[f"epsilon doubled: {family.wire}"] = lambda family=family: Planted(family(QUESTION, 2 * CLAIMED), 20_000)  # type: ignore[misc]
BUGS["epsilon a tenth too large"] = lambda: Planted(dn.Unary(QUESTION, 1.1 * CLAIMED), 1_000_000)
