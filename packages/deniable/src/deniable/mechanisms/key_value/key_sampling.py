"""One key drawn in public, and a three-state report on it: Harmony, PrivKV, KVUE."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import kernels
from deniable.arrays import Floats, Ints
from deniable.core import (
    WHOLE,
    AnyDomain,
    Candidate,
    Coins,
    Columns,
    Layout,
    Number,
    PrivacyLoss,
    Spec,
    Tally,
    encoded,
    log_up,
    lookup,
    odds_below,
)
from deniable.core.reading import supporting
from deniable.domains.key_value import KeyValue, Pairs
from deniable.domains.link import HIGH, LOW, NONE
from deniable.errors import InvalidParameter, InvalidReport
from deniable.mechanisms.key_value.key_value_estimate import KeyValueEstimate
from deniable.mechanisms.key_value.key_value_protocol import KeyValueProtocol
from deniable.mechanisms.key_value.three_state import ThreeState, estimate_by_states
from deniable.mechanisms.shares.exact_channel import check_cost, own_cost

Chances3 = tuple[Fraction, Fraction, Fraction]

HALF = WHOLE // 2


@dataclass(frozen=True)
class KeySampling(KeyValueProtocol):
    """A key is drawn, uniformly and in public; three-state response reports whether it is in the set, with which end.

    `three` are the chances p1, p2, q of `ThreeState`. Where the key is not in the set but a link is reported, its end is
    high with a chance of its own for each key, `fakes` in units of 2^-53, 1/2 unless given. Only one person in d is asked
    about a key, so the variance is d times that of the three-state response.
    """

    domain: KeyValue
    epsilon: float = None  # type: ignore[assignment]
    three: Chances3 = None  # type: ignore[assignment]
    fakes: tuple[int, ...] | None = None
    claimed: bool = False  # whether epsilon is only what a paper says
    wire = "key-sampling-1"

    def __post_init__(self) -> None:
        if self.three is None:
            if self.epsilon is None:
                raise InvalidParameter("Give epsilon, or the probabilities of the reports.")
            best = ThreeState.ewrr(self.epsilon)
            self._fix(three=(best.p1, best.p2, best.q))
        if self.fakes is not None:
            good = len(self.fakes) == self.keys and all(isinstance(f, int) and 0 <= f <= WHOLE for f in self.fakes)
            if not good:
                raise InvalidParameter(f"fakes must be {self.keys} whole numbers from 0 to 2^53, one for each key.")
        self._fix(epsilon=own_cost(self.epsilon, self._odds))
        super().__post_init__()
        if not self.claimed:
            check_cost(self)

    @classmethod
    def kvue(cls, domain: KeyValue, epsilon: float) -> "KeySampling":
        """The three states by direct response, which is the best report on one key (Sun, Zhao, Xu and others 2019: KVUE)."""
        return cls(domain, epsilon)

    @classmethod
    def harmony(cls, domain: KeyValue, epsilon: float) -> "KeySampling":
        """The end only, of a key in the set with E / (E + 1), of a missing one at random: weights and no frequencies.

        Nguyen, Xiao, Yang and others 2016. Where a person instead draws a key from their own set and sends it in the clear
        (the value perturbation of Ye, Hu, Meng, Zheng 2019 on its own), everybody learns that they have it.
        """
        odds = odds_below(epsilon)
        return cls(domain, epsilon, (Fraction(0), Fraction(1), odds / (odds + 1)))

    @classmethod
    def privkv(
        cls, domain: KeyValue, key_epsilon: float, value_epsilon: float, fake: ArrayLike = 0.0, epsilon: float | None = None
    ) -> "KeySampling":
        """PrivKV (Ye, Hu, Meng, Zheng 2019): presence is flipped by one budget, the end by another.

        `fake` is the mean value, from -1 to 1, that absent keys are given. With 0 it costs
        max(e2, e1 + ln(2 / (1 + exp(-e2)))), and not e1 + e2; `epsilon` is that cost unless given. With 0 it is also the
        same mechanism as the local perturbation of Ma, Wang 2021 (LPP-ddagger).
        """
        key, end = (odds_below(each) if each else Fraction(1) for each in (key_epsilon, value_epsilon))
        kept, true_end = key / (key + 1), end / (end + 1)
        means = np.broadcast_to(np.asarray(fake, np.float64), (len(domain.labels),))
        if not (np.abs(means) <= 1).all():
            raise InvalidParameter("The mean of fake values must lie between -1 and 1.")
        # a fake value is rounded to an end and then goes through the same flip: Q(f) = 1/2 + (2q - 1) f / 2
        lean = [Fraction(1, 2) + (2 * true_end - 1) * Fraction(mean) / 2 for mean in means.tolist()]
        fakes = None if not means.any() else tuple(math.floor(chance * WHOLE) for chance in lean)
        return cls(domain, epsilon, (kept, kept, true_end), fakes)  # type: ignore[arg-type]

    @classmethod
    def privkv_for(cls, domain: KeyValue, epsilon: float) -> "KeySampling":
        """PrivKV that costs the budget exactly, both terms tight: odds of E for the end, (E + 1) / 2 for the presence."""
        odds = odds_below(epsilon)
        kept, end = (odds + 1) / (odds + 3), odds / (odds + 1)
        return cls(domain, epsilon, (kept, kept, end))

    @classmethod
    def as_published(cls, domain: KeyValue, key_epsilon: float, value_epsilon: float) -> "KeySampling":
        """LPP-ddagger with the cost that Ma, Wang 2021 state, e1 + ln(2 / (1 + exp(-e2))): too small where e2 is larger.

        `loss` gives the true cost: budgets of 0.1 and 2.0 cost 2.0, and not 0.67.
        """
        made = cls.privkv(domain, key_epsilon, value_epsilon)
        key, end = odds_below(key_epsilon), odds_below(value_epsilon)
        return cls(domain, log_up(key * 2 * end / (end + 1)), made.three, claimed=True)

    @cached_property
    def response(self) -> ThreeState:
        """The response about the drawn key."""
        p1, p2, q = self.three
        if p1 + p2 == 1 and (p2 == 0 or q == Fraction(1, 2)):
            raise InvalidParameter(
                "With these probabilities, reports do not depend on the pairs, so nothing can be estimated."
            )
        return ThreeState(p1, p2, q, 100.0, claimed=True)

    @property
    def cells(self) -> int:
        return 3 * self.keys  # none, high and low reports of each key

    @property
    def layout(self) -> Layout:
        return Layout((Number("key", self.keys), Number("state", 3)))

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        return (
            Candidate("key-sampling, kvue", cls.kvue, target="balanced"),
            Candidate("key-sampling, privkv", cls.privkv_for, target="balanced"),
        )

    def randomize(self, truth: Pairs, coins: Coins) -> Mapping[str, Ints]:
        n = len(truth)
        key = coins.public(self.keys, n)
        asked = encoded(truth, self._asked, "asked", WHOLE + 2, key)
        linked = asked <= WHOLE
        up, fake = coins.toss_each(np.minimum(asked, WHOLE)), coins.toss_each(lookup(self._fakes, key))
        true = np.where(linked, np.where(up, HIGH, LOW), NONE)
        return {"key": key, "state": self.response.respond(true, coins, fake)}

    def _asked(self, truth: Pairs, key: Ints) -> Ints:
        return self.domain.asked(truth, key)

    @cached_property
    def _fakes(self) -> Ints:
        return np.full(self.keys, HALF) if self.fakes is None else np.array(self.fakes, np.int64)

    def named(self, columns: Mapping[str, Any], key: Any, high: int) -> Any:
        return (columns["key"] == key) & (columns["state"] == 2 - high)

    def reading(self) -> dict[str, object]:
        denied = supporting(self.layout, self.keys, lambda columns, key: (columns["key"] == key) & (columns["state"] == 0))
        return {**super().reading(), "denies": denied}

    def votes(self, columns: Columns) -> Ints:
        key, state = columns["key"].astype(np.int64), columns["state"].astype(np.int64)
        if len(key) and (key.max() >= self.keys or state.max() > LOW):
            raise InvalidReport("A report names a key or state outside the domain.")
        return kernels.histogram((state * self.keys + key).astype(np.uint64), self.cells)

    def estimate(self, tally: Tally) -> KeyValueEstimate:  # type: ignore[override]
        self.check_tally(tally)
        none, high, low = tally.counts.reshape(3, -1)
        asked = none + high + low
        per = 1 / np.maximum(asked, 1)
        return self._with_error((high + low) * per, (high - low) * per, asked, tally.n, None)

    def predict(self, truth: ArrayLike, n: int) -> KeyValueEstimate:  # type: ignore[override]
        shares, signed = self.checked_table(truth, n)
        p1, p2, q = (float(chance) for chance in self.three)
        answered = (1 - p1) * (1 - shares) + p2 * shares
        high_low = (1 - p1) * (1 - shares) * self._lean + p2 * (2 * q - 1) * signed
        with np.errstate(divide="ignore", invalid="ignore"):
            second = np.where(shares > 0, signed**2 / shares, 0.0)
        return self._with_error(answered, high_low, np.full(self.keys, n / self.keys), n, second)

    def _with_error(
        self, answered: Floats, signed: Floats, asked: NDArray[Any], n: int, second: Floats | None
    ) -> KeyValueEstimate:
        labels, lean = self.domain.labels, self._lean
        return estimate_by_states(self.response, answered, signed, asked, n, self.domain, labels, lean, second)

    @property
    def _lean(self) -> Floats:
        return 2 * self._fakes / WHOLE - 1

    def privkv_mean(self, tally: Tally) -> Floats:
        """PrivKV's own mean of each key, for comparison: biased towards the fake values, since it counts them in."""
        self.check_tally(tally)
        _, high, low = tally.counts.reshape(3, -1)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = (high - low) / float(2 * self.three[2] - 1) / (high + low)
        return (self.domain.low + self.domain.high) / 2 + mean * (self.domain.high - self.domain.low) / 2

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self._odds, "proved", "any two sets of pairs")

    @cached_property
    def _odds(self) -> Fraction | None:
        p1, p2, q = self.three
        worst = Fraction(1)
        for heads in {HALF} if self.fakes is None else set(self.fakes):
            fake = Fraction(heads, WHOLE)
            rows = (
                (p1, (1 - p1) * fake, (1 - p1) * (1 - fake)),
                (1 - p2, p2 * q, p2 * (1 - q)),
                (1 - p2, p2 * (1 - q), p2 * q),
            )
            for column in zip(*rows, strict=True):
                if min(column) == 0 < max(column):
                    return None
                worst = max(worst, max(column) / min(column)) if max(column) else worst
        return worst

    @classmethod
    def from_parameters(cls, domain: AnyDomain, epsilon: float, parameters: Spec) -> Self:
        three = [parameters[name] for name in ("p1", "p2", "q")]
        return super().from_parameters(domain, epsilon, {**parameters, "three": three})

    def parameters(self) -> Mapping[str, object]:
        given: dict[str, object] = dict(zip(("p1", "p2", "q"), map(str, self.three), strict=True))
        given |= {} if self.fakes is None else {"fakes": list(self.fakes)}
        return given | ({"claimed": True} if self.claimed else {})
