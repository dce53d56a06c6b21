"""Which of several items people have, asked for again and again: a permanent pair of bits about one item."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.core import (
    WHOLE,
    Answers,
    Coins,
    Columns,
    Drawn,
    Estimate,
    Layout,
    Number,
    PermanentBits,
    PrivacyLoss,
    Tally,
    check_people,
    encoded,
)
from deniable.domains.key_value import KeyValue, Pairs
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class PermanentSet(PermanentBits[object, Pairs]):
    """A person draws one item once, in public, and keeps a noisy bit for having it and one for not having it.

    The bit is right with probability h = odds / (odds + 1), drawn once; every report names the item and repeats the bit
    with probability `stay`, and flips it otherwise. Only one person in d reports on an item, with the whole budget. Whatever
    happens to the set, reports are made of two kept bits, so that a person never pays more than twice.
    """

    domain: KeyValue
    epsilon: float
    stay: Fraction = Fraction(1)
    wire = "permanent-set-1"
    question = "key_value"
    bit = "has"
    derived = ("odds",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.domain, KeyValue):
            raise InvalidParameter("This mechanism needs sets of items: KeyValue(items, 0, 1, at_most=...).")

    @property
    def keys(self) -> int:
        """How many items there are."""
        return len(self.domain.labels)

    @property
    def layout(self) -> Layout:
        return Layout((Number("key", self.keys), Number("has", 2)))

    @property
    def cells(self) -> int:
        return 2 * self.keys  # no and yes of each item

    def randomize(self, truth: Pairs, coins: Coins) -> Drawn:
        key = coins.public(self.keys, len(truth))
        has = encoded(truth, self._asked, "asked", WHOLE + 2, key) <= WHOLE
        kept = {"key": key, "has": has == coins.toss(self.first, len(truth))}
        return self.again(kept, coins)

    def _asked(self, truth: Pairs, key: Ints) -> Ints:
        return self.domain.asked(truth, key)

    def kept_node(self) -> int:
        """The node of the law that a permanent bit is kept for: whether the drawn item is in the set."""
        nodes = self.law.nodes
        asked = next(place for place, node in enumerate(nodes) if node.op == "code")
        return next(place for place, node in enumerate(nodes) if asked in node.args)

    def kept_for(self, values: Answers, public: Sequence[Ints]) -> Ints:
        """The same of many people, with their sets and the items that they drew."""
        return np.asarray(self.domain.asked(self.domain.index(values), public[0]) <= WHOLE, np.int64)

    def votes(self, columns: Columns) -> Ints:
        self.layout.check(columns)
        cells = 2 * columns["key"].astype(np.int64) + columns["has"]
        return np.bincount(cells, minlength=self.cells)

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.honest / (1 - self.honest), protects="any two sets of pairs")

    def estimate(self, tally: Tally) -> Estimate:
        """The share of people who have each item; unknown for an item that nobody drew."""
        self.check_tally(tally)
        no, yes = tally.counts.reshape(-1, 2).T
        asked, slope = no + yes, float(2 * self.honest - 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            said = yes / asked
            return self._with_error((said - float(1 - self.honest)) / slope, asked, tally.n)

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        """The estimate to expect where `truth` has the share of people who have each item, or rows that begin with it."""
        check_people(n)
        shares = np.asarray(truth, np.float64)
        shares = shares if shares.ndim == 1 else shares[:, 0]
        if shares.shape != (self.keys,) or not ((shares >= 0) & (shares <= 1)).all():
            raise InvalidParameter(f"The true shares must be {self.keys} numbers from 0 to 1.")
        return self._with_error(shares, np.full(self.keys, n / self.keys), n)

    def _with_error(self, shares: Floats, asked: Any, n: int) -> Estimate:
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = _noise(self.honest, shares) / asked
        return Estimate(self.domain.labels, shares, np.where(asked > 0, variance, np.inf), n)

    def kept_variance(self, estimate: Estimate) -> Floats:
        # Who drew an item is kept too, so that the people who report on it are always the same sample.
        assert estimate.variance is not None
        part = _noise(self.base.honest, estimate.values) / _noise(self.honest, estimate.values)
        return estimate.variance * np.clip(part, 0.0, 1.0)


def _noise(honest: Fraction, shares: Floats) -> Floats:
    """How many times the variance is over the number of people asked: of a yes, which also varies with who was asked."""
    slope = float(2 * honest - 1)
    yes = np.clip(float(1 - honest) + slope * shares, 0.0, 1.0)
    return np.asarray(yes * (1 - yes) / slope**2, np.float64)
