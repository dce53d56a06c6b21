"""Certificates of reports on vectors: their parts are independent, each is followed on its own, and losses multiply.

Vectors are too many to go through. Three kinds of mechanism need not: those that report coordinates one by one with a
mechanism for numbers, those that randomize every bit of the vector by itself, and those that draw how far the report agrees
with the vector before they look at it.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Bools, Ints
from deniable.core import Mechanism, PackedBits, SeededCoins, SingleCoins, check_probability
from deniable.errors import NotCertifiable
from deniable.mechanisms.vectors.bitrand import BitRand
from deniable.mechanisms.vectors.duchi_vector import DuchiVector
from deniable.mechanisms.vectors.feature_vector import FeatureVector
from deniable.mechanisms.vectors.unit_codes import UnitCodes
from deniable.privacy.certificate import Certificate, certificate
from deniable.privacy.certify import certify, enumerated, symmetric
from deniable.privacy.law import combinations
from deniable.privacy.proofs import proves
from deniable.privacy.ratio import Worst
from deniable.privacy.wiring import LARGEST_ROW, bit_chances, bit_ratio, wires

VECTORS = 512  # vectors on which the reports are compared with those of their parts


@proves(FeatureVector, "factored")
def by_parts(mechanism: FeatureVector, limit: int) -> Certificate:
    """The loss of several coordinates from the certificate of one.

    The coordinates that are reported are drawn before any number is looked at. That the report then is what the certified
    mechanism says of each of them, and nothing else, is compared coin by coin on seeded streams and random vectors.
    """
    domain, k, part = mechanism.domain, mechanism.coordinates, enumerated(mechanism.part, limit)
    numbers = SeededCoins(b"vectors").below(domain.coordinate.size, VECTORS * domain.dimensions)
    vectors = domain.coordinate.points[numbers].reshape(VECTORS, domain.dimensions)
    part_size = min(mechanism.batch, VECTORS)
    for start in range(0, VECTORS, part_size):
        rows, seed = vectors[start : start + part_size], b"parts %d" % start
        where, values = mechanism.unpacked(mechanism.perturb(rows, SeededCoins(seed)).columns)
        coins = SeededCoins(seed)
        truth = domain.place(rows, coins)
        first = coins.public(domain.dimensions, len(rows)) if mechanism.sampled else np.zeros(len(rows), np.int64)
        expected = (first[:, None] + mechanism.offsets) % domain.dimensions
        made = [mechanism.part.randomize(truth[np.arange(len(rows)), each], coins)["value"] for each in expected.T]
        if not np.array_equal(where, expected) or not np.array_equal(values, np.stack(made, axis=1)):
            raise NotCertifiable("The report on a vector is not what the mechanism for numbers says of its coordinates.")
    points = domain.coordinate.labels
    digits = [points.index(value) for value in part.worst_pair]
    pair = [sum(digit * domain.coordinate.size ** int(at) for at in mechanism.offsets) for digit in digits]
    report = int.from_bytes(bytes.fromhex(part.worst_report), "little")
    width = mechanism.part.layout.bits
    bits = np.array([report >> place & 1 for _ in range(k) for place in range(width)], np.uint8)
    packed = np.packbits(bits, bitorder="little")[None, :]
    columns = {"start": np.zeros(1, mechanism.layout.fields[0].empty(1).dtype), "values": packed}
    row = mechanism.layout.rows(columns if mechanism.sampled else {"values": packed})[0]
    odds = None if part.loss.odds is None else part.loss.odds**k
    worst = Worst(odds, (pair[0], pair[1]), row.tobytes().hex())
    return certificate(mechanism, worst, "factored", part.followed, part.values)


@proves(UnitCodes, "symmetric")
def by_rank(mechanism: UnitCodes, limit: int) -> Certificate:
    """From a few seeds: with any, the nearest directions are a permutation of all."""
    return symmetric(mechanism, 2 * mechanism.codes)


@proves(UnitCodes, "factored")
def by_rounds(mechanism: UnitCodes, limit: int) -> Certificate:
    """The loss of several rounds from the certificate of one: that they are such rounds is compared on a seeded stream."""
    part = certify(mechanism.part, "symmetric")
    vectors = np.array([mechanism.domain.answer(index) for index in range(16)])[: mechanism.batch]
    made, coins = mechanism.perturb(vectors, SeededCoins(b"rounds")).columns, SeededCoins(b"rounds")
    truth = mechanism.domain.place(vectors, coins)
    for k in range(mechanism.rounds):
        wanted = mechanism.part.randomize(truth, coins)
        if not all(np.array_equal(made[f"{name}{k}"], wanted[f"{name}0"]) for name in ("seed", "code")):
            raise NotCertifiable("The report is not several rounds of what was certified.")
    pair = tuple(
        next(i for i in range(2 * mechanism.domain.dimensions) if mechanism.domain.answer(i) == a) for a in part.worst_pair
    )
    row = np.unpackbits(
        np.frombuffer(bytes.fromhex(part.worst_report), np.uint8), bitorder="little", count=part.mechanism.layout.bits
    )
    report = np.packbits(np.tile(row, mechanism.rounds), bitorder="little").tobytes().hex()
    odds = None if part.loss.odds is None else part.loss.odds**mechanism.rounds
    return certificate(mechanism, Worst(odds, (pair[0], pair[1]), report), "factored", part.followed, part.values)


class HeardCoins(SeededCoins):
    """Seeded coins that write down which rows of bits and which tosses they are asked for, one by one."""

    def __init__(self, seed: bytes) -> None:
        super().__init__(seed)
        self.rows, self.tosses = list[tuple[str, int, int]](), list[Fraction]()

    def toss(self, heads: Fraction, size: int) -> Bools:
        self.tosses.append(heads)
        return super().toss(heads, size)

    def majority(self, n: int, size: int) -> PackedBits:
        self.rows.append(("majority", n, 0))
        return super().majority(n, size)

    def subset(self, n: int, k: int, one_less: Bools) -> PackedBits:
        self.rows.append(("subset", n, k))
        return super().subset(n, k, one_less)


@proves(DuchiVector, "symmetric")
def by_agreement(mechanism: DuchiVector, limit: int) -> Certificate:
    """The loss of reports whose agreement with the rounded vector is drawn without looking at it.

    Then all vectors are alike: the law of one is that of another with some signs turned. That the report is the rounded
    vector with the drawn agreement, and nothing else, is compared coin by coin on seeded streams and random vectors; the
    tosses that decide between more, equal and less agreement are heard, and rows of each kind are equally likely.
    """
    domain, d = mechanism.domain, mechanism.domain.dimensions
    numbers = SeededCoins(b"vectors").below(domain.coordinate.size, VECTORS * d)
    vectors = domain.coordinate.points[numbers].reshape(VECTORS, d)
    chances: set[tuple[Fraction, ...]] = set()
    for start in range(0, VECTORS, mechanism.batch):
        rows, seed = vectors[start : start + mechanism.batch], b"signs %d" % start
        signs, coins = mechanism.perturb(rows, SeededCoins(seed)).columns["signs"], HeardCoins(seed)
        ends = mechanism.rounded(domain.place(rows, coins), coins)
        coins.rows.clear()
        coins.tosses.clear()
        agree = mechanism.agreement(len(rows), coins)
        wanted = PackedBits(ends.bytes ^ agree.bytes, d).turned(np.ones(len(rows), np.bool_))
        asked = [("majority", d, 0), ("subset", d, d // 2)][: 1 if d % 2 else 2]
        if not np.array_equal(signs, wanted.bytes) or coins.rows != asked:
            raise NotCertifiable("The report is not the rounded vector with an agreement that was drawn before.")
        chances.add(tuple(coins.tosses))
    (heads,) = chances
    tied = heads[1] if d % 2 == 0 else Fraction(0)
    ties = math.comb(d, d // 2) if d % 2 == 0 else 0
    more = (2**d - ties) // 2
    kinds = {d: (1 - tied) * heads[0] / more, 0: (1 - tied) * (1 - heads[0]) / more} | (
        {d // 2: tied / ties} if ties else {}
    )
    high, low = max(kinds, key=kinds.__getitem__), min(kinds, key=kinds.__getitem__)
    # Against the report of only ones a vector of so many upper ends agrees in so many places.
    top, base = domain.steps, domain.steps + 1
    pair = tuple(sum(top * base**place for place in range(agreeing)) for agreeing in (high, low))
    full = PackedBits.pack(np.ones((1, d), np.bool_)).bytes.tobytes().hex()
    worst = Worst(kinds[high] / kinds[low] if kinds[low] else None, (pair[0], pair[1]), full)
    return certificate(mechanism, worst, "symmetric", VECTORS, VECTORS)


class TableCoins(SingleCoins):
    """Coins that come up as a table says: one row of outcomes for each setting, and rows of a batch name their setting."""

    def __init__(self, table: Bools) -> None:
        super().__init__()
        self.table = table

    def _coins(self, heads: Fraction, size: int, bits: int) -> Bools:
        check_probability(heads)
        assert self._rows is not None
        start, self._tossed = self._tossed, self._tossed + bits
        if size != len(self._rows) or self._tossed > self.table.shape[1]:
            raise NotCertifiable("The code does not toss the same coins every time, or not one for each answer.")
        return self.table[self._rows, start : self._tossed]


@proves(BitRand, "factored")
def separate(mechanism: Mechanism, limit: int) -> Certificate:
    """The loss of a mechanism that randomizes every bit of an answer by itself, where the answers are all rows of bits.

    With the answers of only zeros and of only ones every coin is flipped alone, which shows the coin behind each bit of the
    report. Then each bit of the answer is set alone, under three settings of the coins: it must change some bits of the
    report to what they are in the answer of only ones, and no two bits of the answer may change the same bit.
    """
    bits, size = mechanism.layout.bits, mechanism.domain.size
    if bits > LARGEST_ROW or size & (size - 1):
        raise NotCertifiable(f"Only reports of at most {LARGEST_ROW} bits, on rows of bits, can be enumerated bit by bit.")
    places = size.bit_length() - 1
    wired, followed = [], 0
    for index in (0, size - 1):
        coins = SingleCoins()
        followed += combinations(mechanism, index, coins)
        if coins.members:
            raise NotCertifiable("Only independent yes-or-no coins can be certified in factors.")
        wired.append((*wires(mechanism, index, coins), coins.heads))
    (first, inverted, heads), (last, turned, other) = wired
    if heads != other:
        raise NotCertifiable("Some values are randomized with other coins than the rest, so they are not alike.")
    table = np.zeros((3, len(heads)), np.bool_)
    table[1] = True
    table[2, np.setdiff1d(last[last >= 0], first)] = True  # the coins that only count for ones
    chances = [bit_chances(heads, first, inverted), bit_chances(heads, last, turned)]
    none, whole = (_settings(mechanism, [index], table)[0] for index in (0, size - 1))
    owner = np.full(bits, -1, np.int64)
    step = max(1, mechanism.batch // 3)
    for start in range(0, places, step):
        chosen = range(start, min(start + step, places))
        for place, rows in zip(chosen, _settings(mechanism, [1 << place for place in chosen], table), strict=True):
            moved = (rows != none).any(axis=0)
            if not np.array_equal(rows[:, moved], whole[:, moved]) or (owner[moved] >= 0).any():
                raise NotCertifiable("Two bits of an answer move the same bit of the report, so they are not separate.")
            owner[moved] = place
    alone = np.array([a == b for a, b in zip(*chances, strict=True)])
    if ((owner < 0) & ~alone).any():
        raise NotCertifiable("A bit of the report depends on several bits of the answer, so they are not separate.")
    return certificate(mechanism, _worst(chances, owner, places), "factored", followed + 3 * places, places + 2)


def _worst(chances: Sequence[Sequence[Fraction]], owner: Ints, places: int) -> Worst:
    """Every bit of the answer counts in its worse direction, and every bit of the report in its worse setting."""
    kinds: dict[tuple[tuple[Fraction, Fraction], ...], tuple[Fraction | None, int, list[int]]] = {}
    product: Fraction | None = Fraction(1)
    setting, often = np.zeros(len(owner), np.bool_), dict[tuple[tuple[Fraction, Fraction], ...], int]()
    large = small = 0
    order = np.argsort(owner, kind="stable")
    edges = np.searchsorted(owner[order], np.arange(places + 1))
    for place in range(places):
        own = order[edges[place] : edges[place + 1]]
        kind = tuple((chances[0][bit], chances[1][bit]) for bit in own)
        if kind not in kinds:
            kinds[kind] = _direction(kind)
        _, towards, bits = kinds[kind]
        often[kind] = often.get(kind, 0) + 1
        setting[own] = bits
        large, small = large | towards << place, small | (1 - towards) << place
    for kind, (odds, _, _) in kinds.items():
        product = None if product is None or odds is None else product * odds ** often[kind]
    return Worst(product, (large, small), np.packbits(setting, bitorder="little").tobytes().hex())


def _direction(kind: tuple[tuple[Fraction, Fraction], ...]) -> tuple[Fraction | None, int, list[int]]:
    """The worse of the two orders of an answer's bit, zero against one or one against zero: its odds, and the report."""
    found: list[tuple[Fraction | None, int, list[int]]] = []
    for towards in (0, 1):
        odds: Fraction | None = Fraction(1)
        bits = []
        for zero, one in kind:
            ratio, bit = bit_ratio(one, zero) if towards else bit_ratio(zero, one)
            odds = None if odds is None or ratio is None else odds * ratio
            bits.append(bit)
        found.append((odds, towards, bits))
    unbounded = [each for each in found if each[0] is None]
    return unbounded[0] if unbounded else max(found, key=lambda each: each[0] or Fraction(0))


def _settings(mechanism: Mechanism, indices: Sequence[int], table: Bools) -> NDArray[np.bool_]:
    """The bits of the reports on some answers under every setting of the coins, of shape (answers, settings, bits)."""
    coins = TableCoins(table)
    coins.follow(np.tile(np.arange(len(table)), len(indices)))
    answers = np.repeat(np.array([mechanism.domain.answer(index) for index in indices]), len(table), axis=0)
    rows = mechanism.layout.rows(mechanism.perturb(answers, coins).columns)
    bits = np.unpackbits(rows, axis=1, bitorder="little", count=mechanism.layout.bits).view(np.bool_)
    return bits.reshape(len(indices), len(table), -1)
