"""PrivKVM: PrivKV in rounds whose fake values follow the means of the round before. For comparison only."""

from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats
from deniable.core import Answers, Coins, PrivacyLoss, checked_epsilon
from deniable.domains.key_value import KeyValue
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.tuning import is_whole
from deniable.mechanisms.key_value.key_sampling import KeySampling
from deniable.mechanisms.key_value.key_value_estimate import KeyValueEstimate


@dataclass(frozen=True, eq=False)
class Rounds:
    """What PrivKVM found: frequencies and weights of the first round, and the mean values after each round."""

    first: KeyValueEstimate
    means: list[Floats]


@dataclass(frozen=True)
class PrivKVM:
    """Every person answers in every round (Ye, Hu, Meng, Zheng 2019).

    Round one spends epsilon / 2 on presence and epsilon / (2 rounds) on the end; later rounds flip presence by a fair coin
    and spend the rest on ends, giving absent keys the last mean as value. The mean is still biased after any number of
    rounds, by a share that shrinks as (1 - frequency)^rounds; weight over frequency, `KeyValueEstimate.mean`, needs none.
    """

    domain: KeyValue
    epsilon: float
    rounds: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        if not is_whole(self.rounds) or self.rounds < 1:
            raise InvalidParameter("PrivKVM needs a whole number of rounds, at least one.")

    def mechanism(self, means: Floats | None = None) -> KeySampling:
        """The first round's mechanism, or that of a later round, given the means (from -1 to 1) of the one before."""
        end = self.epsilon / (2 * self.rounds)
        if means is None:
            return KeySampling.privkv(self.domain, self.epsilon / 2, end)
        return KeySampling.privkv(self.domain, 0.0, end, np.clip(means, -1, 1))

    def loss(self) -> PrivacyLoss:
        """The exact loss of all rounds together, whatever the means are."""
        loss = self.mechanism().loss()
        for _ in range(self.rounds - 1):
            loss = loss + self.mechanism(np.zeros(len(self.domain.labels))).loss()
        return loss

    def run(self, values: Answers, coins: Coins | None = None) -> Rounds:
        """All rounds with the same people."""
        centre, half = (self.domain.low + self.domain.high) / 2, (self.domain.high - self.domain.low) / 2
        mechanism = self.mechanism()
        tally = mechanism.tally(mechanism.perturb(values, coins))
        first, means = mechanism.estimate(tally), [np.nan_to_num(mechanism.privkv_mean(tally), nan=centre)]
        for _ in range(self.rounds - 1):
            mechanism = self.mechanism((means[-1] - centre) / half)
            tally = mechanism.tally(mechanism.perturb(values, coins))
            means.append(np.nan_to_num(mechanism.privkv_mean(tally), nan=centre))
        return Rounds(first, means)

    def limit(self, frequency: float, mean: float) -> float:
        """The mean (from -1 to 1) that it comes to with infinitely many people, for a key of this frequency and mean.

        A round mixes the true mean with the fake one in proportion to the reports that come from owners and from others.
        """
        fake = 0.0
        for number in range(self.rounds):
            kept = float(self.mechanism(None if number == 0 else np.zeros(len(self.domain.labels))).three[0])
            owners, others = frequency * kept, (1 - frequency) * (1 - kept)
            fake = (owners * mean + others * fake) / (owners + others)
        return fake
