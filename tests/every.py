"""Coins that follow every outcome: a second way to the exact law, by what devices run, to check the first one with.

Row i of a batch sees the i-th combination of outcomes of all coins, so one vectorised run follows many combinations. That
needs code which tosses the same coins whatever comes up, as `Mechanism.randomize` promises; code that does not is refused.
"""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.arrays import Bools, Ints
from deniable.core.bits import PackedBits
from deniable.core.coins import WHOLE, Coins, check_shares, check_subset
from deniable.core.mechanism import Mechanism
from deniable.core.odds import check_probability
from deniable.core.weights import WeightTable, check_weights
from deniable.errors import NotCertifiable
from deniable.privacy.law import gathered
from deniable.wrappers.memoized import Memoized

Chances = list[Fraction]

LARGEST_COIN = 1 << 22  # outcomes of a single coin that may be listed
LARGEST_MAJORITY = 20  # bits of a row with more ones than zeros, where all such rows are listed


class FollowedCoins(Coins):
    """Coins whose outcomes are listed and numbered. The first run, on a batch of one, finds out which coins there are."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """The next run is on a batch of one, and finds out which coins there are."""
        self.outcomes: list[int] = []  # of each coin, in the order they are tossed
        self._rows: Ints | None = None
        self._tossed = 0
        self._chances: list[tuple[Ints, Chances]] = []

    @property
    def combinations(self) -> int:
        """How many combinations of outcomes there are."""
        return math.prod(self.outcomes)

    def follow(self, rows: Ints) -> None:
        """The next run is on a batch of len(rows) and sees these combinations."""
        self._rows, self._tossed, self._chances = rows, 0, []

    def chances(self) -> tuple[Ints, Chances]:
        """The probability of each row's combination in the last run: an index into a list of exact fractions."""
        assert self._rows is not None
        code, table = np.zeros(len(self._rows), np.int64), [Fraction(1)]
        for own, chances in self._chances:
            code = code * len(chances) + own
            used = np.flatnonzero(np.bincount(code))
            place = np.zeros(len(table) * len(chances), np.int64)
            place[used] = np.arange(len(used))
            table = [table[int(u) // len(chances)] * chances[int(u) % len(chances)] for u in used]
            code = place[code]
        return code, table

    def _outcome(self, size: int, outcomes: int) -> Ints:
        """Which outcome of the coin tossed now each row sees."""
        if outcomes > LARGEST_COIN:
            raise NotCertifiable(
                "A coin has too many outcomes to enumerate. Leave the proof out: the rules need no enumeration."
            )
        if self._rows is None:
            if size != 1:
                raise NotCertifiable("The code tosses more than one coin for one answer in a single call.")
            self.outcomes.append(outcomes)
            return np.zeros(1, np.int64)
        if self._tossed >= len(self.outcomes) or self.outcomes[self._tossed] != outcomes or size != len(self._rows):
            raise NotCertifiable(
                "The code does not toss the same coins every time, or not one for each answer: what it does with its "
                "randomness depends on what came up. Draw all branches first, then select."
            )
        place = math.prod(self.outcomes[: self._tossed])
        self._tossed += 1
        if len(self.outcomes) == 1:
            return self._rows.copy()
        return self._rows // place % outcomes

    def _record(self, chance: Ints, chances: Chances) -> None:
        if self._rows is not None:
            self._chances.append((chance.copy(), chances))  # what runs may reuse the array

    def toss(self, heads: Fraction, size: int) -> Bools:
        check_probability(heads)
        outcome = self._outcome(size, 2)
        self._record(outcome, [1 - heads, heads])
        return outcome.astype(np.bool_)

    def pick(self, weights: Sequence[int], size: int) -> Ints:
        whole = check_weights(weights)
        outcome = self._outcome(size, len(whole))
        self._record(outcome, [Fraction(weight, sum(whole)) for weight in whole])
        return outcome

    def pick_each(self, table: WeightTable, rows: Ints) -> Ints:
        outcome = self._outcome(len(rows), table.weights.shape[1])
        weights, own = np.unique(table.weights[rows, outcome], return_inverse=True)
        self._record(own.ravel(), [Fraction(int(weight), table.total) for weight in weights])
        return outcome

    def toss_each(self, heads: Ints, whole: int = WHOLE) -> Bools:
        check_shares(heads, whole)
        outcome = self._outcome(len(heads), 2)
        shares, own = np.unique(heads, return_inverse=True)
        self._record(2 * own + outcome, [chance for share in shares for chance in _both(Fraction(int(share), whole))])
        return outcome.astype(np.bool_)

    def rounded(self, heads: Ints) -> Bools:
        # The answers that are followed lie on the grid, so that there is nothing to toss.
        return heads > 0 if not (heads % WHOLE).any() else self.toss_each(heads)

    def majority(self, n: int, size: int) -> PackedBits:
        raise NotCertifiable("Rows with more ones than zeros must be enumerated one by one, and there are too many.")

    def split(self, heads: Fraction, first: int, second: int, size: int) -> Ints:
        check_probability(heads)
        outcome = self._outcome(size, first + second)
        self._record((outcome >= first).astype(np.int64), [heads / first, (1 - heads) / second])
        return outcome


def _both(heads: Fraction) -> tuple[Fraction, Fraction]:
    return 1 - heads, heads


class EveryCoin(FollowedCoins):
    """Follows every outcome of every coin."""

    def toss_packed(self, heads: Fraction, rows: int, bits: int) -> PackedBits:
        check_probability(heads)
        outcome = self._outcome(rows, 1 << bits if bits < 60 else 1 << 60)
        ones = np.bitwise_count(outcome).astype(np.int64)
        self._record(ones, [heads**k * (1 - heads) ** (bits - k) for k in range(bits + 1)])
        return PackedBits.pack((outcome[:, None] >> np.arange(bits) & 1).astype(np.bool_))

    def below(self, n: int, size: int) -> Ints:
        outcome = self._outcome(size, n)
        self._record(np.zeros_like(outcome), [Fraction(1, n)])
        return outcome

    def majority(self, n: int, size: int) -> PackedBits:
        rows = np.arange(1 << n if n <= LARGEST_MAJORITY else 0)
        rows = rows[2 * np.bitwise_count(rows) > n]
        outcome = self._outcome(size, len(rows) or LARGEST_COIN + 1)
        self._record(np.zeros_like(outcome), [Fraction(1, len(rows))])
        return PackedBits.pack((rows[outcome][:, None] >> np.arange(n) & 1).astype(np.bool_))

    def subset(self, n: int, k: int, one_less: Bools) -> PackedBits:
        check_subset(n, k)
        more, fewer = math.comb(n, k), math.comb(n, k - 1)
        outcome = self._outcome(len(one_less), more * fewer)
        self._record(np.zeros_like(outcome), [Fraction(1, more * fewer)])
        chosen = np.where(one_less[:, None], _subsets(n, k - 1)[outcome // more], _subsets(n, k)[outcome % more])
        return PackedBits.pack(chosen)


def _subsets(n: int, k: int) -> Bools:
    """All k-subsets of range(n), a row of truth values each."""
    members = np.array(list(itertools.combinations(range(n), k)), np.int64).reshape(math.comb(n, k), k)
    table = np.zeros((len(members), n), np.bool_)
    table[np.arange(len(members))[:, None], members] = True
    return table


def law_by_coins(mechanism: Mechanism, index: int, limit: int) -> dict[bytes, Fraction]:
    """The exact law of what `perturb` does on every outcome of the coins it draws."""
    coins, answer = EveryCoin(), mechanism.domain.answer(index)
    mechanism.perturb([answer], coins)
    if coins.combinations > limit:
        raise NotCertifiable(f"The law has {coins.combinations:.3g} combinations of coins; the limit is {limit}.")
    rows, code, chances = list[Any](), list[Ints](), list[Fraction]()
    for start in range(0, coins.combinations, mechanism.batch):
        part = np.arange(start, min(start + mechanism.batch, coins.combinations))
        coins.follow(part)
        rows.append(mechanism.layout.rows(mechanism.perturb([answer] * len(part), coins).columns))
        own, table = coins.chances()
        code.append(own + len(chances))
        chances += table
    return dict(gathered(np.concatenate(rows), np.concatenate(code), chances).items())


def kept_law(mechanism: Memoized, kept: bytes) -> dict[bytes, Fraction]:
    """The exact law of what is sent, given the kept answer as a row of bytes: the second round with every coin."""
    columns = mechanism.layout.columns(np.frombuffer(kept, np.uint8)[None, :])
    coins = EveryCoin()
    mechanism.again(columns, coins)
    rows = np.arange(coins.combinations)
    coins.follow(rows)
    sent = mechanism.again({name: np.repeat(column, len(rows), axis=0) for name, column in columns.items()}, coins)
    code, chances = coins.chances()
    dtypes = {field.name: field.empty(1).dtype for field in mechanism.layout.fields}
    packed = mechanism.layout.rows({name: column.astype(dtypes[name]) for name, column in sent.items()})
    return dict(gathered(packed, code, chances).items())
