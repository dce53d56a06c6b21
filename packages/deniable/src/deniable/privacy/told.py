"""Reports on one pair of a padded set, at real size: everything at the keys of a few sets is followed.

Which pair of a set is told does not depend on the set, so the law of a report is a mixture over the draws with the same
weights for all sets, and two sets differ at most as much as what is told at the same draw. That is a pair or padding, as
in the sets of at most one pair, with the draw that tells it. Bits of other keys must not depend on what is told.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from deniable.arrays import Bools, Ints
from deniable.core.bits import PackedBits
from deniable.core.coins import SeededCoins, check_probability
from deniable.core.every import FollowedCoins
from deniable.core.layout import Columns
from deniable.core.mechanism import Mechanism
from deniable.errors import NotCertifiable
from deniable.mechanisms.key_value.pckv_unary import PCKVUnary
from deniable.privacy.law import Chances, Law, combinations, gathered, runs

TRIALS = 64  # reports with the same coins on different sets, whose other bits must agree


class FirstDraw(FollowedCoins):
    """Follows every coin but two kinds: the first pair is always drawn, and only bits of watched cells are tossed."""

    def __init__(self, watched: Sequence[int]) -> None:
        super().__init__()
        self.watched = np.array(watched, np.int64)

    def below(self, n: int, size: int) -> Ints:
        return np.zeros(size, np.int64)

    def toss_packed(self, heads: Fraction, rows: int, bits: int) -> PackedBits:
        check_probability(heads)
        cells = len(self.watched)
        outcome = self._outcome(rows, 1 << cells)
        ones = np.bitwise_count(outcome).astype(np.int64)
        self._record(ones, [heads**k * (1 - heads) ** (cells - k) for k in range(cells + 1)])
        table = np.zeros((rows, bits), np.bool_)
        table[:, self.watched] = (outcome[:, None] >> np.arange(cells) & 1).astype(np.bool_)
        return PackedBits.pack(table)

    def subset(self, n: int, k: int, one_less: Bools) -> PackedBits:
        raise NotCertifiable("Only independent bits are followed at some of their cells.")


def told_laws(mechanism: PCKVUnary) -> tuple[list[Law], list[int], int]:
    """The laws of what is seen at a few keys, for the sets of at most one of them; the numbers of these sets; outcomes."""
    keys = mechanism.keys
    watched = sorted({0, keys // 2, keys - 1})
    sets = [0, *(1 + key for key in watched), *(2 * keys - key for key in watched)]  # none; low values; high values
    _check_elsewhere(mechanism, sets)
    laws, followed = [], 0
    for index in sets:
        coins = FirstDraw(watched)
        followed += combinations(mechanism, index, coins)
        rows, codes, chances = [], [], Chances()
        for reports, code, table in runs(mechanism, index, coins):
            rows.append(_bits(mechanism, reports.columns)[:, :, watched].reshape(len(code), -1).astype(np.uint8))
            codes.append(chances.indices(table)[code])
        laws.append(gathered(np.concatenate(rows), np.concatenate(codes), chances.values))
    return laws, sets, followed


def in_words(mechanism: PCKVUnary, report: str) -> str:
    """What a report says about the watched keys."""
    keys = mechanism.keys
    watched = sorted({0, keys // 2, keys - 1})
    high, low = np.frombuffer(bytes.fromhex(report), np.uint8).reshape(2, -1)
    said = [f"{key} {('none', 'low', 'high', 'both')[2 * h + bit]}" for key, h, bit in zip(watched, high, low, strict=True)]
    return f"of the keys it says {', '.join(said)}"


def _bits(mechanism: Mechanism, columns: Columns) -> Bools:
    return np.stack(
        [
            np.unpackbits(columns[field.name], axis=1, bitorder="little", count=field.bits)
            for field in mechanism.layout.fields
        ],
        axis=1,
    ).astype(np.bool_)


def _check_elsewhere(mechanism: PCKVUnary, sets: list[int]) -> None:
    """With the same coins, reports on two sets of at most one pair must agree at all keys that neither has."""
    domain, first = mechanism.domain, None
    for index in sets:
        answer = domain.answer(index)
        bits = _bits(mechanism, mechanism.perturb([answer] * TRIALS, SeededCoins(b"elsewhere")).columns)
        first = bits if first is None else first
        differ = set(np.flatnonzero((bits != first).any(axis=(0, 1))).tolist())
        if not differ <= {list(domain.labels).index(key) for key in answer}:
            raise NotCertifiable("What is reported about a key depends on other keys, so keys cannot be followed alone.")
