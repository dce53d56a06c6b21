"""The certificate: the exact privacy loss of the code that runs, with the worst pair of values and the worst report.

Three ways, tried in this order:

- *enumerated*: every value, every combination of coins. Nothing is assumed but the coins themselves.
- *factored*: for reports of independent bits. One coin at a time is flipped, from two opposite starting points; every bit of
  the report must follow at most one coin and every coin move at most one bit. Then bits are independent and losses multiply.
  Every value is followed up to about 600 bits; above that four of them, and for the others only that no bit is stuck.
- *symmetric*: for mechanisms that treat all values alike. Four representative values are followed in full at the real size;
  where public seeds are too many, some of them; where subsets of cells are, what happens at the cells of the four.

The last two assume that the mechanism is of the kind it says (`loss().proof`); the project's tests check that on small
instances, where both must equal the enumeration.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable.core.bits import distinct_rows
from deniable.core.every import EveryCoin, SingleCoins, WatchedCoins
from deniable.core.layout import Flags
from deniable.core.loss import PrivacyLoss, Proof
from deniable.core.mechanism import Mechanism, PureProtocol
from deniable.errors import NotCertifiable
from deniable.privacy.law import LIMIT, Chances, Law, combinations, gathered, law, runs

Ints = NDArray[np.int64]

LARGEST_ROW = 1 << 14  # bits of a report that are certified in factors
LARGEST_TABLE = 1 << 26  # bytes of reports looked at to follow every value in factors, about two seconds of work
SEEDS = (64, 16, 4, 2)  # public choices that stand for all of them where there are too many: as many as can be followed


@dataclass(frozen=True)
class Certificate:
    """What was promised, what the code does, and where it is worst."""

    mechanism: Mechanism
    loss: PrivacyLoss
    worst_pair: tuple[object, object]
    worst_report: str
    followed: int
    values: int

    @property
    def declared(self) -> PrivacyLoss:
        """What the mechanism says of itself."""
        return self.mechanism.loss()

    @property
    def holds(self) -> bool:
        """Whether the code keeps both the mechanism's own word and the budget that was asked for."""
        if self.loss.odds is None or self.declared.odds is None:
            return False
        return self.loss.odds <= self.declared.odds and self.loss.epsilon() <= self.mechanism.epsilon

    @property
    def slack(self) -> float:
        """How much of the budget is left unused; negative if it is overspent."""
        return self.mechanism.epsilon - self.loss.epsilon()

    def __str__(self) -> str:
        first, second = self.worst_pair
        verdict = "holds" if self.holds else "DOES NOT HOLD"
        return "\n".join(
            [
                f"certificate   {verdict}",
                f"mechanism     {self.mechanism.wire} {self.mechanism.fingerprint}",
                f"budget        epsilon {self.mechanism.epsilon:.12g}, {self.loss.unit}, {self.loss.protects}",
                f"exact loss    epsilon {self.loss.epsilon():.12g} (odds {self._odds()})",
                f"slack         {self.slack:.3g}",
                f"worst case    report {self.worst_report}: {first!r} against {second!r}",
                f"proof         {self.loss.proof}: {self.followed:,} outcomes followed, "
                f"{self.values:,} of {self.mechanism.domain.size:,} values",
            ]
        )

    def _odds(self) -> str:
        odds = self.loss.odds
        if odds is None:
            return "unbounded: the report rules one of them out"
        exact = f" = {odds}" if len(str(odds)) <= 40 else ""
        return f"{float(odds):.9g}{exact}"


@dataclass(frozen=True)
class _Worst:
    odds: Fraction | None
    pair: tuple[int, int]
    report: str


def certify(mechanism: Mechanism, proof: Proof | None = None, limit: int = LIMIT) -> Certificate:
    """The exact loss of `mechanism.perturb`; `proof` asks for one of the ways instead of the first that is possible."""
    if proof is None:
        small = _within(mechanism, EveryCoin(), limit // mechanism.domain.size)
        proof = "enumerated" if small else mechanism.loss().proof
    match proof:
        case "enumerated":
            return _enumerated(mechanism, limit)
        case "factored":
            return _factored(mechanism)
        case "symmetric":
            return _symmetric(mechanism, limit)
    raise NotCertifiable("This mechanism rests on a theorem; it is too large for its law to be followed.")


def _enumerated(mechanism: Mechanism, limit: int) -> Certificate:
    laws, followed = [], 0
    total = combinations(mechanism, 0, EveryCoin()) * mechanism.domain.size
    if total > limit:
        raise NotCertifiable(f"This has {total:.3g} combinations of coins in all; at most {limit} are followed.")
    for index in range(mechanism.domain.size):
        coins = EveryCoin()
        laws.append(law(mechanism, index, limit, coins))
        followed += coins.combinations
    return _certificate(mechanism, _worst_ratio(laws, range(len(laws))), "enumerated", followed, len(laws))


def _symmetric(mechanism: Mechanism, limit: int) -> Certificate:
    size = mechanism.domain.size
    chosen = sorted({0, 1, size // 2, size - 1})
    for coins in map(EveryCoin, (None, *SEEDS)):
        if _within(mechanism, coins, limit):
            laws = [law(mechanism, index, limit, coins) for index in chosen]
            followed = coins.combinations * len(chosen)
            return _certificate(mechanism, _worst_ratio(laws, chosen), "symmetric", followed, len(chosen))
    return _watched(mechanism, chosen)


def _watched(mechanism: Mechanism, chosen: list[int]) -> Certificate:
    """What happens at the cells of the chosen values, when every other cell is interchangeable."""
    if not isinstance(mechanism, PureProtocol):
        raise NotCertifiable("Only mechanisms whose reports support values can be certified by watching their cells.")
    cells, laws, followed = np.array(chosen), [], 0
    for index in chosen:
        coins = WatchedCoins(chosen)
        followed += combinations(mechanism, index, coins)
        rows, codes, chances = [], [], Chances()
        for reports, code, table in runs(mechanism, index, coins):
            rows.append(mechanism.supports(reports.columns, cells).astype(np.uint8))
            codes.append(chances.indices(table)[code])
        laws.append(gathered(np.concatenate(rows), np.concatenate(codes), chances.values))
    worst = _worst_ratio(laws, chosen)
    supported = [str(chosen[place]) for place, bit in enumerate(bytes.fromhex(worst.report)) if bit]
    among = ", ".join(str(cell) for cell in chosen)
    report = f"of the cells {among} it supports " + (", ".join(supported) or "none")
    worst = _Worst(worst.odds, worst.pair, report)
    return _certificate(mechanism, worst, "symmetric", followed, len(chosen))


def _within(mechanism: Mechanism, coins: EveryCoin, limit: int) -> bool:
    """Whether the combinations of these coins can be followed for one value."""
    try:
        return combinations(mechanism, 0, coins) <= limit
    except NotCertifiable:
        return False


def _worst_ratio(laws: Sequence[Law], indices: Sequence[int]) -> _Worst:
    """The largest ratio between two laws over all reports."""
    rows = np.concatenate([each.reports for each in laws])
    example, which = distinct_rows(rows)
    reports = rows[example]
    merged = Chances()
    merged.indices([Fraction(0)])
    order = [merged.indices(each.chances) for each in laws]
    by_size = sorted(range(len(merged.values)), key=merged.values.__getitem__)
    rank = np.empty(len(by_size), np.int64)
    rank[by_size] = np.arange(len(by_size))
    table = np.zeros((len(laws), len(reports)), np.int64)  # rank of the probability; rank 0 is probability 0
    edges = np.cumsum([0, *(len(each) for each in laws)])
    for row, each in enumerate(laws):
        table[row, which[edges[row] : edges[row + 1]]] = rank[order[row][each.chance]]
    high, low = table.max(axis=0), table.min(axis=0)
    values = [merged.values[place] for place in by_size]
    worst: _Worst | None = None
    for top, bottom in np.unique(np.stack([high, low], axis=1), axis=0):
        odds = values[top] / values[bottom] if values[bottom] else None
        if worst is None or odds is None or (worst.odds is not None and odds > worst.odds):
            at = int(np.flatnonzero((high == top) & (low == bottom))[0])
            pair = indices[int(table[:, at].argmax())], indices[int(table[:, at].argmin())]
            worst = _Worst(odds, pair, reports[at].tobytes().hex())
            if odds is None:
                break
    assert worst is not None
    return worst


def _factored(mechanism: Mechanism) -> Certificate:
    (field,) = mechanism.layout.fields if len(mechanism.layout.fields) == 1 else (None,)
    if not isinstance(field, Flags):
        raise NotCertifiable("Only reports of independent bits can be certified in factors.")
    if field.bits > LARGEST_ROW:
        raise NotCertifiable(f"Reports of more than {LARGEST_ROW} bits are too wide to be followed bit by bit.")
    size, row_bytes = mechanism.domain.size, (field.bits + 7) // 8
    every = size * (2 * field.bits + 4) * row_bytes <= LARGEST_TABLE
    chosen = range(size) if every else sorted({0, 1, size // 2, size - 1})
    if not every:
        _check_no_bit_is_stuck(mechanism, field)
    chances, ones, followed = Chances(), [], 0
    for index in chosen:
        coins = SingleCoins()
        followed += combinations(mechanism, index, coins)
        ones.append(chances.indices(_bit_chances(mechanism, index, coins, field)))
    worst: _Worst | None = None
    for a, b in _pairs(ones):
        product: Fraction | None = Fraction(1)
        bits = {}  # the worst setting for each kind of bit
        kinds, kind = np.unique(np.stack([ones[a], ones[b]], axis=1), axis=0, return_inverse=True)
        for place, (under_a, under_b) in enumerate(kinds):
            ratio, bits[place] = _bit_ratio(chances.values[under_a], chances.values[under_b])
            repeats = int((kind.ravel() == place).sum())
            product = None if product is None or ratio is None else product * ratio**repeats
        if worst is None or product is None or (worst.odds is not None and product > worst.odds):
            setting = np.array([bits[int(k)] for k in kind.ravel()], np.bool_)
            report = np.packbits(setting, bitorder="little").tobytes().hex()
            worst = _Worst(product, (chosen[a], chosen[b]), report)
            if product is None:
                break
    assert worst is not None
    return _certificate(mechanism, worst, "factored", followed, len(chosen))


def _pairs(ones: list[Ints]) -> Iterator[tuple[int, int]]:
    """Pairs of values to compare: one for each different way in which the laws of their bits differ."""
    seen = set()
    for a, b in itertools.permutations(range(len(ones)), 2):
        differ = ones[a] != ones[b]
        kinds = tuple(sorted(zip(ones[a][differ].tolist(), ones[b][differ].tolist(), strict=True)))
        if kinds not in seen:
            seen.add(kinds)
            yield a, b


def _check_no_bit_is_stuck(mechanism: Mechanism, field: Flags) -> None:
    """For every value: no bit of its report stays as it is when all coins are turned over."""
    for index in range(mechanism.domain.size):
        coins = SingleCoins()
        combinations(mechanism, index, coins)
        coins.follow(np.arange(2))
        rows = mechanism.perturb([mechanism.domain.labels[index]] * 2, coins).columns[field.name]
        if int(np.bitwise_count(rows[0] ^ rows[1]).sum()) != field.bits:
            raise NotCertifiable(f"The report on value number {index} has a bit that no coin moves: it is not randomized.")


def _bit_ratio(one_a: Fraction, one_b: Fraction) -> tuple[Fraction | None, int]:
    """The worse of the two settings of a bit, and which it is."""
    settings = [(1 - one_a, 1 - one_b), (one_a, one_b)]
    for bit, (a, b) in enumerate(settings):
        if a > 0 and b == 0:
            return None, bit
    return max((a / b, bit) for bit, (a, b) in enumerate(settings) if b > 0)


def _bit_chances(mechanism: Mechanism, index: int, coins: SingleCoins, field: Flags) -> list[Fraction]:
    """The probability that each bit is one, from flipping every coin on its own."""
    rows = np.concatenate([part.columns[field.name] for part, _, _ in runs(mechanism, index, coins)])
    starts, flipped = rows[:2], rows[2:]
    moved = flipped ^ np.tile(starts, (len(flipped) // 2, 1))
    bits = np.unpackbits(starts, axis=1, bitorder="little", count=field.bits)
    if np.bitwise_count(moved).sum(axis=1).max(initial=0) > 1:
        raise NotCertifiable("One coin moves several bits of a report, so the bits are not independent.")
    row, byte = np.nonzero(moved)
    bit = byte * 8 + np.log2(moved[row, byte]).astype(np.int64)
    coin_of = np.full((2, field.bits), -1, np.int64)
    coin_of[row % 2, bit] = row // 2
    several = len(np.unique(np.stack([row % 2, bit]), axis=1)[0]) != len(bit)
    if several or not np.array_equal(coin_of[0], coin_of[1]):
        raise NotCertifiable("A bit of a report depends on several coins, so its law cannot be read off one at a time.")
    moved_by = coin_of[0]
    # A bit that no coin moves always has its start value; else it copies its coin, or the coin's opposite.
    return [
        Fraction(int(zero)) if coin < 0 else 1 - coins.heads[coin] if zero else coins.heads[coin]
        for coin, zero in zip(moved_by, bits[0], strict=True)
    ]


def _certificate(mechanism: Mechanism, worst: _Worst, proof: Proof, followed: int, values: int) -> Certificate:
    pair = mechanism.domain.labels[worst.pair[0]], mechanism.domain.labels[worst.pair[1]]
    loss = PrivacyLoss(worst.odds, proof, mechanism.loss().protects)
    return Certificate(mechanism, loss, pair, worst.report, followed, values)
