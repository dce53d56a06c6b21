"""Bipartite randomized response: the near answers are all equally likely, and more so than the far ones."""

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.core import Candidate, Coins, Domain, PrivacyLoss
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.rings import Rings, nearest
from deniable.mechanisms.algebra.split import mean_split, published_split, smallest_splits
from deniable.mechanisms.algebra.tuning import is_whole
from deniable.mechanisms.releases.ringed import Ringed

CHOOSING = ("min", "mean")
RULES = (*CHOOSING, "published", "given")  # the others say where a given number comes from
LARGEST_MATRIX = 1 << 12  # answers up to which the whole channel is written out


@dataclass(frozen=True)
class Bipartite(Ringed):
    """Release one of the `near` nearest answers with probability p, uniformly, else one of the others, uniformly.

    p = m odds / (m odds + N - m) for m = near of N answers, so a near one is `odds` times as likely as a far one. Every
    answer has the same number of near ones; which of several equally near ones count is fixed by their numbers.

    `rule` chooses the number: "min" the smallest of what is best for each answer, so that no answer fares worse than under
    direct response (the paper's); "mean" what is best under the prior, where some may. It is not the best release
    there is: see Coarsened, and `compare()`. From `near` = 2 on a line the channel cannot be inverted, so there is no
    unbiased estimate of shares or means.

    Zhang, Zhu, Chen, Hu, Bipartite randomized response mechanism for local differential privacy, 2025.

    >>> from deniable.domains import Ordered
    >>> Bipartite(Ordered(range(18, 100)), epsilon=1.0).near
    31
    """

    domain: Domain
    epsilon: float
    rule: str = field(default="min", compare=False)  # how the number was chosen; the law does not depend on it
    near: int = 0
    prior: InitVar[ArrayLike | None] = None
    wire = "bipartite-1"
    derived = ("odds",)

    def __post_init__(self, prior: ArrayLike | None) -> None:
        super().__post_init__()
        size = self.domain.size
        chosen_here = self.rule in RULES and (self.rule in CHOOSING or bool(self.near))
        if not chosen_here or (prior is not None and self.rule != "mean"):
            raise InvalidParameter('The rule is "min", or "mean", which may have a prior.')
        if is_whole(self.near) and not self.near:
            found = mean_split(self.metric, self.odds, prior) if self.rule == "mean" else self._smallest()
            self._fix(near=found)
        elif self.rule == "min":
            self._fix(rule="given")
        if not is_whole(self.near) or not 1 <= self.near < size:
            raise InvalidParameter(f"Of {size} answers, 1 to {size - 1} can be near. Leave the number out to get the best.")
        self._fix(near=int(self.near))

    def _smallest(self) -> int:
        return smallest_splits(self.metric, [self.odds])[0]

    @classmethod
    def as_published(cls, domain: Domain, epsilon: float) -> "Bipartite":
        """With the number of near answers that the paper's Algorithm 3 prints, for equidistant points on a line.

        It keeps its promise of privacy, but not that of usefulness: in a quarter of all cases it is one too many, and then
        some answers fare worse than under direct response.
        """
        made = cls(domain, epsilon, near=1)
        line = made.metric.line
        if line is None or not line.plain:
            raise InvalidParameter(
                "The published Algorithm 3 is for equidistant points on a line, with distances as losses."
            )
        return cls(domain, epsilon, "published", min(published_split(domain.size, epsilon), domain.size - 1))

    @cached_property
    def p(self) -> Fraction:
        """The probability that a near answer is released."""
        weight = self.near * self.odds
        return weight / (weight + self.domain.size - self.near)

    @cached_property
    def _rings(self) -> Rings:
        return Rings(self.metric, [self.near])

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        return (
            Candidate("direct", partial(cls, rule="given", near=1)),
            Candidate("bipartite, min", cls),
            Candidate("bipartite, mean", partial(cls, rule="mean"), prior="prior"),
        )

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        place = coins.split(self.p, self.near, self.domain.size - self.near, len(truth))
        return {"value": self._rings.member(truth, place)}

    @property
    def remark(self) -> str:
        return f"{self.near} near"

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.odds)

    def row_losses(self) -> Floats:
        line, size = self.metric.line, self.domain.size
        if line is not None:
            near, totals = line.nearest(self.near)[1], line.totals
        else:
            near, totals = np.empty(size), np.empty(size)
            for rows, losses in self.metric.blocks():
                totals[rows] = losses.sum(axis=1)
                near[rows] = np.partition(losses, self.near - 1, axis=1)[:, : self.near].sum(axis=1)
        odds = float(self.odds)
        return np.asarray((odds * near + (totals - near)) / (self.near * odds + size - self.near))

    @cached_property
    def matrix(self) -> Floats:
        size = self.domain.size
        if size > LARGEST_MATRIX:
            raise InvalidParameter(f"The channel of more than {LARGEST_MATRIX:,} answers is too large to compute.")
        inside = np.concatenate([nearest(losses, self.near) for _, losses in self.metric.blocks()])
        if self.metric.line is not None:
            start = self.metric.line.windows(self.near)[:, None]
            inside = (np.arange(size) >= start) & (np.arange(size) < start + self.near)
        return np.where(inside, float(self.p / self.near), float((1 - self.p) / (size - self.near)))

    @cached_property
    def rank(self) -> int:
        if self.metric.line is None:
            return super().rank
        return len(np.unique(self.metric.line.windows(self.near)))
