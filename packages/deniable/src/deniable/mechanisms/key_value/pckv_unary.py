"""PCKV-UE: one pair of a padded set, in a row of noisy ends for all keys."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from deniable.arrays import Bytes, Ints
from deniable.core import (
    AnyDomain,
    Candidate,
    Coins,
    Columns,
    Flags,
    Layout,
    PackedBits,
    PrivacyLoss,
    Spec,
    check_probability,
    odds_below,
)
from deniable.domains.key_value import KeyValue, Pairs
from deniable.errors import InvalidParameter
from deniable.mechanisms.key_value.key_value_protocol import FINE, lowest_between
from deniable.mechanisms.key_value.padded_protocol import Chances, PaddedProtocol, expected
from deniable.mechanisms.shares.exact_channel import check_cost, own_cost


@dataclass(frozen=True)
class PCKVUnary(PaddedProtocol):
    """Every key has two bits, "high" and "low". The sampled pair sets its end more often than noise does.

    `published` is PCKV-UE with its near-optimal allocation (Gu, Li, Cheng, Xiong, Cao 2020): a sampled key is named with
    a = 1/2, by its true end with p = E / (E + 1), any other key with b = 2 / (E + 3), never by both ends. `allocated` has
    the best a, b and p. Without chances, the two bits are independent, 1/2 for the true end and 1 / (E + 1) for all others:
    then rare keys have the smallest sum of the variances of frequency and weight, and `balanced` does the same for keys
    that are not rare. Positions that only padding could name carry no information and are not sent.
    """

    domain: KeyValue
    epsilon: float = None  # type: ignore[assignment]
    chances: Chances = None  # type: ignore[assignment]
    wire = "pckv-unary-1"

    def __post_init__(self) -> None:
        if self.chances is None:
            if self.epsilon is None:
                raise InvalidParameter("Give epsilon, or the probabilities of the reports.")
            self._fix(chances=independent(Fraction(1, 2), 1 / (odds_below(self.epsilon) + 1)))
        law = self.chances
        for chance in law:
            check_probability(chance)
        if law.kept + law.flipped + law.both > 1 or 2 * law.noise + law.noise_both > 1:
            raise InvalidParameter("The probabilities of a report on one key must not sum to more than 1.")
        named, noise = law.kept + law.flipped + 2 * law.both, 2 * (law.noise + law.noise_both)
        if named == noise and law.kept == law.flipped:
            raise InvalidParameter(
                "With these probabilities, reports do not depend on the pairs, so nothing can be estimated."
            )
        self._fix(epsilon=own_cost(self.epsilon, self._odds))
        super().__post_init__()
        check_cost(self)

    @classmethod
    def of(cls, domain: KeyValue, a: Fraction, b: Fraction, p: Fraction, epsilon: float | None = None) -> "PCKVUnary":
        """PCKV-UE with these parameters: the sampled key is named with a, by its true end with p; any other key with b."""
        for chance in (a, b, p):
            check_probability(chance)
        return cls(domain, epsilon, Chances(a * p, a * (1 - p), Fraction(0), b / 2, Fraction(0)))  # type: ignore[arg-type]

    @classmethod
    def published(cls, domain: KeyValue, epsilon: float) -> "PCKVUnary":
        """The near-optimal allocation of the paper: a = 1/2, b = 2 / (E + 3), p = E / (E + 1), E = e^epsilon."""
        odds = odds_below(epsilon)
        return cls.of(domain, Fraction(1, 2), 2 / (odds + 3), odds / (odds + 1), epsilon)

    @classmethod
    def allocated(
        cls, domain: KeyValue, epsilon: float, target: str = "balanced", frequency: float = 0.1, mean: float = 0.0
    ) -> "PCKVUnary":
        """PCKV-UE with the a, b and p whose variance is smallest for a key with this frequency and mean (from -1 to 1).

        Targets: "frequency", "weight" or "balanced", their sum. The budget leaves b = 2 p a / (E (1 - a) + 2 p a). For the
        frequency alone the end is random, p = 1/2; otherwise p is as large as the budget allows.
        """
        odds, half = odds_below(epsilon), Fraction(1, 2)
        p = half if target == "frequency" else odds / (odds + 1)

        def other(a: Fraction | float) -> Any:
            return 2 * p * a / (odds * (1 - a) + 2 * p * a)

        def error(a: float) -> float:
            b, end = float(other(a)), float(p)
            return expected((a * end, a * (1 - end), 0.0, b / 2, 0.0), domain.at_most, frequency, mean, target)

        a = Fraction(round(lowest_between(0.01, 0.9999, error) * FINE), FINE)
        return cls.of(domain, a, other(a), p, epsilon)

    @classmethod
    def balanced(
        cls, domain: KeyValue, epsilon: float, target: str = "balanced", frequency: float = 0.1, mean: float = 0.0
    ) -> "PCKVUnary":
        """The smallest variance for a key with this frequency and mean, where a key may also be named by both ends at once.

        Every report on a key is then either E times as likely as another under the true end, or equally likely: an end is
        named by noise with h, of which a share of both ends at once. `allocated` is the case without both; independent bits
        have a share of h.
        """
        odds = odds_below(epsilon)

        def law(h: Any, share: Any, odds: Any) -> tuple[Any, ...]:
            noise, noise_both, scale = h * (1 - share), h * share, 1 / (1 + (odds - 1) * h)
            return scale * odds * noise, scale * noise, scale * odds * noise_both, noise, noise_both

        def error(h: float, share: float) -> float:
            return expected(law(h, share, float(odds)), domain.at_most, frequency, mean, target)

        def best_share(h: float) -> float:
            return lowest_between(0.0, 1.0, lambda share: error(h, share), 30)

        widest = lowest_between(1e-5, 0.5, lambda h: error(h, best_share(h)), 30)
        h, share = (Fraction(round(each * FINE), FINE) for each in (widest, best_share(widest)))
        return cls(domain, epsilon, Chances(*law(h, share, odds)))

    @property
    def layout(self) -> Layout:
        return Layout((Flags("high", self.keys), Flags("low", self.keys)))

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        return (
            Candidate("pckv-unary, balanced", cls.balanced, target="balanced"),
            Candidate("pckv-unary, published", cls.published, target="balanced"),
            Candidate("pckv-unary, frequency", partial(cls.balanced, target="frequency"), target="frequency"),
        )

    def randomize(self, truth: Pairs, coins: Coins) -> Mapping[str, Bytes]:
        law, n = self.chances, len(truth)
        real, key, up = self.sampled_pair(truth, coins)
        named = law.kept + law.both
        true_end = coins.toss(named, n)
        other_too, other_only = coins.toss(_part(law.both, named), n), coins.toss(_part(law.flipped, 1 - named), n)
        other_end = np.where(true_end, other_too, other_only)
        high, low = self.blank(n, coins)
        ends = ((high, np.where(up, true_end, other_end)), (low, np.where(up, other_end, true_end)))
        drawn = (bits.with_bit(key, np.where(real, end, bits.bit(key))).bytes for bits, end in ends)
        return dict(zip(("high", "low"), drawn, strict=True))

    def blank(self, n: int, coins: Coins) -> tuple[PackedBits, PackedBits]:
        """Both bits of every key as if it were not sampled: reports on padding."""
        law = self.chances
        named = law.noise + law.noise_both
        high = coins.toss_packed(named, n, self.keys)
        with_high, alone = _part(law.noise_both, named), _part(law.noise, 1 - named)
        low = coins.toss_packed(alone, n, self.keys)
        if with_high != alone:
            other = coins.toss_packed(with_high, n, self.keys)
            low = (high & other) | (low & ~high)
        return high, low

    def named(self, columns: Mapping[str, Any], key: Any, high: int) -> Any:
        return columns["high" if high else "low"].bit(key)

    def votes(self, columns: Columns) -> Ints:
        ends = (PackedBits(columns[name].astype(np.uint8, copy=False), self.keys) for name in ("high", "low"))
        return np.concatenate([bits.column_sums() for bits in ends])

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self._odds, protects="any two sets of pairs")

    @property
    def hides_which(self) -> bool:
        """Only where sets must overlap for want of keys."""
        return self._odds != set_odds(self.chances, 2 * self.keys, 1)

    @cached_property
    def _odds(self) -> Fraction | None:
        return set_odds(self.chances, self.keys, self.domain.at_most)

    @classmethod
    def from_parameters(cls, domain: AnyDomain, epsilon: float, parameters: Spec) -> Self:
        chances = Chances._make(Fraction(str(parameters[name])) for name in Chances._fields)
        return super().from_parameters(domain, epsilon, {**parameters, "chances": chances})

    def parameters(self) -> Mapping[str, object]:
        return {name: str(chance) for name, chance in self.chances._asdict().items()}


def independent(p: Fraction, q: Fraction) -> Chances:
    """Two bits for each key that do not depend on each other: the true end is named with p, any other end with q."""
    return Chances(p * (1 - q), (1 - p) * q, p * q, q * (1 - q), q * q)


def _part(chance: Fraction, of: Fraction) -> Fraction:
    return chance / of if of else Fraction(0)


def set_odds(law: Chances, keys: int, padding: int) -> Fraction | None:
    """The worst ratio between the laws of two sets of at most `padding` of the keys; None if it is unbounded.

    Given all bits, the law of a set is proportional to the mean, over its padded pairs, of the gain at their keys: how much
    likelier the bits of that key are if it is sampled than if not; 1 for padding. A key may be in the first set only (x
    of them), where the largest gain counts; in the second only (z), where the smallest does; or in both with different
    ends (w). The ratio of two linear functions is largest at a corner of x + w <= l, z + w <= l, x + z + w <= keys, and all
    corners are whole.
    """
    neither = 1 - law.kept - law.flipped - law.both
    noise = (1 - 2 * law.noise - law.noise_both, law.noise, law.noise, law.noise_both)
    high, low = (neither, law.kept, law.flipped, law.both), (neither, law.flipped, law.kept, law.both)
    if any(sampled and not other for sampled, other in zip(high, noise, strict=True)):
        return None
    pairs = {(one / other, two / other) for one, two, other in zip(high, low, noise, strict=True) if other}
    most, least = max(one for one, _ in pairs), min(one for one, _ in pairs)
    if least == 0:
        return None
    worst = Fraction(1)
    for (one, two), both in itertools.product(pairs, {0, padding, max(0, 2 * padding - keys)}):
        free, room = keys - both, padding - both
        for first in {0, min(room, free), max(0, min(room, free - room))}:
            second = min(room, free - first)
            top, bottom = both * one + first * most + room - first, both * two + second * least + room - second
            worst = max(worst, top / bottom)
    return worst
