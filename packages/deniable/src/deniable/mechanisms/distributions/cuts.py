"""Cuts of the line at a few places that are drawn in public: what later rounds ask, once it is known where to look."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Candidate, Coins, Domain, Drawn, Number, PrivacyLoss, PureProtocol, lookup
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.tuning import is_whole
from deniable.mechanisms.distributions.distribution_mechanism import DistributionMechanism
from deniable.mechanisms.distributions.hierarchy import level_matrix, level_oracle

MOST_ROWS, MOST_CUTS = 64, 32


@dataclass(frozen=True)
class Cuts(DistributionMechanism):
    """Draw a row of cuts with these weights, and report in which part of the line the answer lies, with the whole budget.

    A cut c separates the answers before number c from the others; k cuts in a row, which never fall, make k + 1 parts. The
    part is reported by the best mechanism for so many parts whose report is one number; one cut is randomized response,
    which no other mechanism beats for the share below it. Which row was drawn can be seen in the report. With fewer cuts
    than answers, one such collection says nothing about single answers: `combined` adds it to others that do.
    """

    domain: Domain
    epsilon: float
    cuts: Sequence[Sequence[int]]
    weights: Sequence[int]
    wire = "cuts-1"

    def __post_init__(self) -> None:
        rows, weights = tuple(tuple(row) for row in self.cuts), tuple(self.weights)
        whole = all(map(is_whole, weights)) and all(is_whole(cut) for row in rows for cut in row)
        if not 1 <= len(rows) <= MOST_ROWS or len(rows) != len(weights) or not whole or min(weights) < 1:
            raise InvalidParameter(
                f"There are 1 to {MOST_ROWS} rows of cuts, whole numbers, and a positive weight for each."
            )
        good = all(list(row) == sorted(row) and row[0] >= 1 and row[-1] < self.domain.size for row in rows if row)
        if not good or len({len(row) for row in rows}) > 1 or not 1 <= len(rows[0]) <= MOST_CUTS:
            raise InvalidParameter(
                f"All rows have the same number of cuts, 1 to {MOST_CUTS}, in order, from 1 to {self.domain.size - 1}."
            )
        self._fix(cuts=tuple(tuple(map(int, row)) for row in rows), weights=tuple(map(int, weights)))
        super().__post_init__()

    @classmethod
    def candidates(cls) -> Sequence[Candidate["Cuts"]]:
        return ()  # only later rounds know where to cut

    @cached_property
    def parts(self) -> PureProtocol:
        """The mechanism for the parts of one row."""
        return level_oracle(len(self.cuts[0]) + 1, float(self.epsilon))

    @cached_property
    def reports(self) -> int:
        """How many reports there are for one row."""
        return cast(Number, self.parts.layout.fields[0]).below

    @property
    def cells(self) -> int:
        return self.reports * len(self.cuts)

    @cached_property
    def matrix(self) -> Floats:
        law, answers = level_matrix(self.parts), np.arange(self.domain.size)
        shares = np.array(self.weights, np.float64) / sum(self.weights)
        return np.concatenate(
            [share * law[np.searchsorted(row, answers, side="right")] for share, row in zip(shares, self.cuts, strict=True)],
            axis=1,
        )

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        chosen = coins.pick(self.weights, len(truth))
        above: list[Any] = [truth >= lookup(np.array(column), chosen) for column in zip(*self.cuts, strict=True)]
        part = above[0] + 0  # a whole number, not a truth value
        for each in above[1:]:
            part = part + each
        (own,) = self.parts.randomize(part, coins).values()
        return {"value": own + chosen * self.reports}

    def loss(self) -> PrivacyLoss:
        return self.parts.loss()
