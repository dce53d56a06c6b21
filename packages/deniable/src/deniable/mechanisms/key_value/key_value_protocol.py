"""What all mechanisms for keys with values share, and those that pad each set and report one pair of it."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.core import Estimate, Mechanism, Padded, Tally, check_people, padded
from deniable.core.reading import supporting
from deniable.domains.key_value import KeyValue, Pairs
from deniable.errors import InvalidParameter
from deniable.mechanisms.key_value.key_value_estimate import KeyValueEstimate

FINE = 10**6  # the grid of fractions on which numerical optima are put


class KeyValueProtocol(Mechanism[object, Pairs]):
    """A mechanism for a `KeyValue` domain: its estimates are frequencies, weights and means of keys."""

    domain: KeyValue
    question = "key_value"

    @property
    def keys(self) -> int:
        """How many keys there are."""
        return len(self.domain.labels)

    @property
    def cells(self) -> int:
        return 2 * self.keys  # high and low reports of each key

    @abstractmethod
    def estimate(self, tally: Tally) -> KeyValueEstimate:  # type: ignore[override]
        """Unbiased frequencies and weights, with the variance of their privacy noise."""

    def listed(self, tally: Tally) -> Estimate:
        return self.estimate(tally).frequency

    def mean_of(self, tally: Tally) -> Estimate:
        return self.estimate(tally).mean

    @abstractmethod
    def predict(self, truth: ArrayLike, n: int) -> KeyValueEstimate:  # type: ignore[override]
        """The estimate to expect where `truth` has a row (frequency, mean value) for each key.

        Exact if all who have a key give it the same value; else the variance of the weight is smaller than this.
        """

    def named(self, columns: Mapping[str, Any], key: Any, high: int) -> Any:
        """Whether a report names a key, with a low value or a high one; for devices, which show it to people."""
        return None

    def reading(self) -> dict[str, object]:
        ends = [supporting(self.layout, self.keys, partial(self.named, high=high)) for high in (0, 1)]
        return {} if None in ends else {"supports": ends}

    def _all_keys(self, truth: Pairs) -> Padded | Ints:
        """The keys of all pairs, then those beyond the last one for padding, each once."""
        return padded(truth.starts, truth.keys, self.keys + np.arange(self.domain.at_most))

    def explain(self) -> str:
        by_hand = (
            f"{self.wire} for {self.keys:,} keys, at most {self.domain.at_most:,} a person, chosen by hand: {self.loss()}"
        )
        return self.why or by_hand

    def checked_table(self, truth: ArrayLike, n: int) -> tuple[Floats, Floats]:
        """The frequencies, and the signed weights for values from -1 to 1, of what `predict` was given."""
        table = np.asarray(truth, np.float64)
        if table.shape != (self.keys, 2) or not ((table[:, 0] >= 0) & (table[:, 0] <= 1)).all():
            raise InvalidParameter(f"The truth must be {self.keys} rows of a frequency from 0 to 1 and a mean value.")
        low, high = self.domain.low, self.domain.high
        if not ((table[:, 1] >= low) & (table[:, 1] <= high)).all():
            raise InvalidParameter(f"Mean values must lie in the range from {low:g} to {high:g}.")
        check_people(n)
        return table[:, 0], table[:, 0] * (2 * table[:, 1] - low - high) / (high - low)


def total_error(mechanism: KeyValueProtocol, frequency: float, mean: float, target: str = "balanced") -> float:
    """n times the variance of frequency, of weight, or of both added up, of one key with values from -1 to 1."""
    low, high = mechanism.domain.low, mechanism.domain.high
    truth = np.tile([frequency, (low + high) / 2 + mean * (high - low) / 2], (mechanism.keys, 1))
    people = 1 << 20
    spread = mechanism.predict(truth, people).spread
    return people * weighed(spread.frequency[0], spread.signed[0], target)


def weighed(frequency: float, weight: float, target: str) -> float:
    """The variance that a target asks to be small."""
    variances = {"frequency": frequency, "weight": weight, "balanced": frequency + weight}
    if target not in variances:
        raise InvalidParameter(f"The target must be one of {', '.join(variances)}.")
    return float(variances[target])


def lowest_between(low: float, high: float, error: Callable[[float], float], rounds: int = 60) -> float:
    """Where an error that falls and then rises is smallest, by golden section."""
    inner = (5**0.5 - 1) / 2
    a, b = low, high
    for _ in range(rounds):
        left, right = b - inner * (b - a), a + inner * (b - a)
        if error(left) <= error(right):
            b = right
        else:
            a = left
    return (a + b) / 2
