"""Which coin moves which bit of a report: one coin at a time is flipped, from two opposite starting points.

Every bit of the report must follow at most one coin, and every coin move at most one bit. Bits that follow coins of their
own are independent. That a bit which follows one coin in both starting points follows it in all is assumed. Every value is
followed up to about 600 bits; above that four of them, and for the others only that no bit is stuck and single tosses move
as many bits.
"""

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from deniable.arrays import Bools, Ints
from deniable.core import Flags, Mechanism, SingleCoins
from deniable.errors import NotCertifiable
from deniable.privacy.certificate import Certificate, certificate
from deniable.privacy.law import Chances, combinations, runs
from deniable.privacy.proofs import proves
from deniable.privacy.ratio import Worst

LARGEST_ROW = 1 << 14  # bits of a report that are followed one by one
LARGEST_TABLE = 1 << 26  # bytes of reports looked at to follow every value, about two seconds of work


@proves(Mechanism, "factored")
def factored(mechanism: Mechanism, limit: int) -> Certificate:
    """The loss of reports of independent bits: the product of the worst ratios of each."""
    field = _only_flags(mechanism)
    chosen = _followed_values(mechanism, field)
    chances, ones, followed = Chances(), [], 0
    for index in chosen:
        coins = SingleCoins()
        followed += combinations(mechanism, index, coins)
        if coins.members:
            raise NotCertifiable("Only independent yes-or-no coins can be certified in factors.")
        ones.append(chances.indices(bit_chances(coins.heads, *wires(mechanism, index, coins))))
    worst: Worst | None = None
    for a, b in _pairs(ones):
        product: Fraction | None = Fraction(1)
        bits = {}  # the worst setting for each kind of bit
        kinds, kind = np.unique(np.stack([ones[a], ones[b]], axis=1), axis=0, return_inverse=True)
        for place, (under_a, under_b) in enumerate(kinds):
            ratio, bits[place] = bit_ratio(chances.values[under_a], chances.values[under_b])
            repeats = int((kind.ravel() == place).sum())
            product = None if product is None or ratio is None else product * ratio**repeats
        if worst is None or product is None or (worst.odds is not None and product > worst.odds):
            setting = np.array([bits[int(k)] for k in kind.ravel()], np.bool_)
            report = np.packbits(setting, bitorder="little").tobytes().hex()
            worst = Worst(product, (chosen[a], chosen[b]), report)
            if product is None:
                break
    assert worst is not None
    return certificate(mechanism, worst, "factored", followed, len(chosen))


def _only_flags(mechanism: Mechanism) -> Flags:
    """The bits that a report consists of."""
    fields = mechanism.layout.fields
    if len(fields) != 1 or not isinstance(fields[0], Flags):
        raise NotCertifiable("Only reports of bits can be enumerated bit by bit; independent bits are certified in factors.")
    if fields[0].bits > LARGEST_ROW:
        raise NotCertifiable(f"Reports of more than {LARGEST_ROW} bits are too wide to be enumerated bit by bit.")
    return fields[0]


def _followed_values(mechanism: Mechanism, field: Flags) -> Sequence[int]:
    """All values where that is not too much work; else four, after a shorter look at all the others."""
    size, row_bytes = mechanism.domain.size, (field.bits + 7) // 8
    if size * (2 * field.bits + 4) * row_bytes <= LARGEST_TABLE:
        return range(size)
    _check_alike(mechanism, field)
    return mechanism.domain.representatives()


def _pairs(ones: list[Ints]) -> Iterator[tuple[int, int]]:
    """Pairs of values to compare: one for each different way in which the laws of their bits differ."""
    seen = set()
    for a, b in itertools.permutations(range(len(ones)), 2):
        differ = ones[a] != ones[b]
        kinds = tuple(sorted(zip(ones[a][differ].tolist(), ones[b][differ].tolist(), strict=True)))
        if kinds not in seen:
            seen.add(kinds)
            yield a, b


def _check_alike(mechanism: Mechanism, field: Flags) -> None:
    """For every value: turning all coins over turns all bits over, and single tosses move as many bits as for the others."""
    moved = set()
    for index in range(mechanism.domain.size):
        coins = SingleCoins()
        combinations(mechanism, index, coins)
        coins.follow(np.array([0, 1, *(2 + 2 * coin + start for coin in coins.singles for start in (0, 1))]))
        rows = mechanism.perturb([mechanism.domain.answer(index)] * (2 + 2 * len(coins.singles)), coins).columns[field.name]
        if int(np.bitwise_count(rows[0] ^ rows[1]).sum()) != field.bits:
            raise NotCertifiable(f"The report on value number {index} has a bit that no coin moves: it is not randomized.")
        changes = rows[2:] ^ np.tile(rows[:2], (len(coins.singles), 1))
        moved.add(tuple(np.bitwise_count(changes).sum(axis=1).tolist()))
    if len(moved) > 1:
        raise NotCertifiable("Some values are randomized with other coins than the rest, so they are not alike.")


def bit_ratio(one_a: Fraction, one_b: Fraction) -> tuple[Fraction | None, int]:
    """The worse of the two settings of a bit, and which it is."""
    settings = [(1 - one_a, 1 - one_b), (one_a, one_b)]
    for bit, (a, b) in enumerate(settings):
        if a > 0 and b == 0:
            return None, bit
    return max((a / b, bit) for bit, (a, b) in enumerate(settings) if b > 0)


def check_members(mechanism: Mechanism) -> None:
    """Refuse code that does not treat all values alike, where a report is a subset of cells.

    For every value, one bit of the report must follow the toss that says whether a member is missing, and every other bit
    one member of the subset; and the toss must be the same for all.
    """
    field = _only_flags(mechanism)
    tosses = set()
    for index in _followed_values(mechanism, field):
        coins = SingleCoins()
        combinations(mechanism, index, coins)
        moved_by, inverted = wires(mechanism, index, coins)
        own = moved_by[(moved_by < coins.members.start) | (moved_by >= coins.members.stop)].tolist()
        if len(own) != 1 or own[0] < 0 or inverted.any() or len(coins.members) != field.bits - 1:
            raise NotCertifiable(f"The report on value number {index} is not one toss and a subset of the other cells.")
        tosses.add((own[0], coins.heads[own[0]], coins.one_less.tobytes()))
    if len(tosses) > 1:
        raise NotCertifiable("Some values are randomized with other coins than the rest, so they are not alike.")


def bit_chances(heads: Sequence[Fraction], moved_by: Ints, inverted: Bools) -> list[Fraction]:
    """The probability that each bit is one: it always has its start value, or copies its coin, or the coin's opposite."""
    return [
        Fraction(int(start)) if coin < 0 else 1 - heads[coin] if start else heads[coin]
        for coin, start in zip(moved_by, inverted, strict=True)
    ]


def wires(mechanism: Mechanism, index: int, coins: SingleCoins) -> tuple[Ints, Bools]:
    """For each bit of the report on a value, the coin that moves it (-1: none) and whether it is one when coins are zero."""
    bits, layout = mechanism.layout.bits, mechanism.layout
    rows = np.concatenate([layout.rows(part.columns) for part, _, _ in runs(mechanism, index, coins)])
    starts, flipped = rows[:2], rows[2:]
    moved = flipped ^ np.tile(starts, (len(flipped) // 2, 1))
    if np.bitwise_count(moved).sum(axis=1).max(initial=0) > 1:
        raise NotCertifiable("One coin moves several bits of a report, so the bits are not independent.")
    row, byte = np.nonzero(moved)
    bit = byte * 8 + np.log2(moved[row, byte]).astype(np.int64)
    coin_of = np.full((2, bits), -1, np.int64)
    coin_of[row % 2, bit] = row // 2
    several = len(np.unique(np.stack([row % 2, bit]), axis=1)[0]) != len(bit)
    if several or not np.array_equal(coin_of[0], coin_of[1]):
        raise NotCertifiable("A bit of a report depends on several coins, so its law cannot be read off one at a time.")
    return coin_of[0], np.unpackbits(starts[0], bitorder="little", count=bits).view(np.bool_)
