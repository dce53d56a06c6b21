"""Reports on one pair of a padded set, at real size: everything at the keys of a few sets is followed.

Which pair of a set is reported does not depend on the set, so the law of a report is a mixture over the draws with the same
weights for all sets, and two sets differ at most as much as the reports at the same draw. That is a pair or padding, as in
the sets of at most one pair, with the draw that reports it. Bits of other keys must not depend on which pair is reported.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from deniable.arrays import Bools, Bytes, Ints
from deniable.core import Columns, FollowedCoins, Mechanism, PackedBits, SeededCoins, check_probability
from deniable.errors import NotCertifiable
from deniable.mechanisms.key_value.pckv_unary import PCKVUnary
from deniable.privacy.certificate import Certificate, certificate
from deniable.privacy.law import all_seen
from deniable.privacy.proofs import proves
from deniable.privacy.ratio import worst_ratio

TRIALS = 64  # reports with the same coins on different answers, whose other bits must agree


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
        raise NotCertifiable("Only independent bits can be enumerated at some of their cells.")


@proves(PCKVUnary, "symmetric")
def symmetric(mechanism: PCKVUnary, limit: int) -> Certificate:
    """The laws of what is seen at a few keys, for the sets of at most one of them."""
    keys, labels = mechanism.keys, list(mechanism.domain.labels)
    watched = sorted({0, keys // 2, keys - 1})
    sets = [0, *(1 + key for key in watched), *(2 * keys - key for key in watched)]  # none; low values; high values

    def bits(columns: Columns) -> Bytes:
        ends = (np.unpackbits(columns[name], axis=1, bitorder="little", count=keys) for name in ("high", "low"))
        return np.stack(list(ends), axis=1)

    own = {index: {labels.index(key) for key in mechanism.domain.answer(index)} for index in sets}
    check_elsewhere(mechanism, bits, own)
    laws, followed = all_seen(
        mechanism, sets, FirstDraw(watched), lambda columns: bits(columns)[:, :, watched].reshape(-1, 2 * len(watched))
    )
    worst = worst_ratio(laws, sets)
    high, low = np.frombuffer(bytes.fromhex(worst.report), np.uint8).reshape(2, -1)
    said = [f"{key} {('none', 'low', 'high', 'both')[2 * h + bit]}" for key, h, bit in zip(watched, high, low, strict=True)]
    worst = replace(worst, report=f"of the keys it says {', '.join(said)}")
    return certificate(mechanism, worst, "symmetric", followed, len(sets))


def check_elsewhere(
    mechanism: Mechanism, bits: Callable[[Columns], Bools | Bytes], own: Mapping[int, Collection[int]]
) -> None:
    """With the same coins, reports on two answers must agree in all bits (the last axis) but the answers' `own`."""
    cells, first = next(iter(own.values())), None
    for index, others in own.items():
        made = mechanism.perturb([mechanism.domain.answer(index)] * TRIALS, SeededCoins(b"elsewhere"))
        seen = bits(made.columns)
        first = seen if first is None else first
        differ = np.flatnonzero((seen != first).any(axis=tuple(range(seen.ndim - 1))))
        if not set(differ.tolist()) <= {*cells, *others}:
            raise NotCertifiable(
                "What is reported about an answer depends on other answers, so it cannot be enumerated on its own."
            )
