"""The mean of vectors of length one, certified: name one of some public random directions, more often one that is near."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.arrays import Floats, Ints
from deniable.core import (
    Coins,
    Columns,
    Drawn,
    Estimate,
    Layout,
    Mechanism,
    Number,
    PrivacyLoss,
    Reports,
    Tally,
    check_people,
    encoded,
    rounded_down,
)
from deniable.domains.features import UnitVectors, check_unit_vectors, rows_at_once
from deniable.errors import InvalidParameter, InvalidReport
from deniable.kernels.directions import directions, nearness
from deniable.mechanisms.algebra.tuning import is_whole

CODES, SEEDS, UNIT = 128, 1 << 48, 1 << 24
MOST_ROUNDS = 32
MOST_NEAR = 1 << 14  # directions that are compared with vectors at a time
TOGETHER = 128  # order statistics that are worked out at once


@dataclass(frozen=True)
class UnitCodes(Mechanism[Sequence[float], Floats]):
    """A public seed makes `codes` random directions; report one, the `near` nearest `odds` times as likely as others.

    However near is worked out, the law is given all directions in some order, each once, and draws a place of that order:
    therefore the loss is proved, though the directions are floats. They are uniform on the sphere, so that the mean report
    is c x with

        c = (odds - 1) (sum of the means of the `near` largest of so many coordinates t) / (near odds + codes - near)

    and z / c is unbiased; |z / c - x|^2 = 1 / c^2 - 1 on average. With many directions this is `PrivUnit`. A budget too
    large for the number of directions is shared out among `rounds`, each with its own seed. Without them the best are taken.
    Directions from a public seed: Feldman, Talwar 2021; the k nearest of them: Isik et al. 2023.
    """

    domain: UnitVectors
    epsilon: float
    rounds: int = 0
    near: int = 0
    codes: int = CODES
    wire = "unit-codes-1"
    question = "vectors"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_unit_vectors(self.domain)
        if not all(map(is_whole, (self.rounds, self.near, self.codes))) or not 2 <= self.codes <= self._most_codes:
            raise InvalidParameter("`rounds`, `codes` and `near` must be whole numbers, and there are 2 to 4096 codes.")
        if self.rounds == 0:
            rounds = range(1, max(2, min(MOST_ROUNDS, math.ceil(self.epsilon))))
            best = min(rounds, key=lambda k: self._error(k, self.near or self._best_near(k)))
            self._fix(rounds=best)
        if self.near == 0:
            self._fix(near=self._best_near(self.rounds))
        if not 1 <= self.rounds <= MOST_ROUNDS or not 1 <= self.near < self.codes:
            raise InvalidParameter(
                f"`rounds` must be from 1 to {MOST_ROUNDS}, and `near` at least 1 and below the number of codes."
            )

    @property
    def _most_codes(self) -> int:
        return 4096

    def _length(self, rounds: int, near: int) -> float:
        odds = math.exp(self.epsilon / rounds)
        nearest = order_means(self.domain.dimensions, self.codes)[:near]
        return (odds - 1) * float(nearest.sum()) / (near * odds + self.codes - near)

    def _best_near(self, rounds: int) -> int:
        odds, near = math.exp(self.epsilon / rounds), np.arange(1, self.codes // 2 + 1)
        nearest = np.cumsum(order_means(self.domain.dimensions, self.codes))[: len(near)]
        return int(np.argmax(nearest / (near * odds + self.codes - near))) + 1

    def _error(self, rounds: int, near: int) -> float:
        return (self._length(rounds, near) ** -2 - 1) / rounds

    @property
    def length(self) -> float:
        """c: how long the mean report is."""
        return self._length(self.rounds, self.near)

    @property
    def error(self) -> float:
        """The squared error of the whole vector from one person."""
        return self._error(self.rounds, self.near)

    @cached_property
    def part(self) -> "UnitCodes":
        """One round."""
        return self if self.rounds == 1 else UnitCodes(self.domain, self._share, 1, self.near, self.codes)

    @property
    def _share(self) -> float:
        """The budget of one round, rounded down, so that their sum stays within it."""
        return rounded_down(Fraction(self.epsilon) / self.rounds)

    @cached_property
    def batch(self) -> int:
        return max(1, rows_at_once(self.domain.dimensions) // self.codes)

    @property
    def secure_batch(self) -> int:
        return max(self.batch, MOST_NEAR // self.codes)

    @property
    def layout(self) -> Layout:
        fields = ((Number(f"seed{k}", SEEDS), Number(f"code{k}", self.codes)) for k in range(self.rounds))
        return Layout(tuple(field for pair in fields for field in pair))

    @property
    def cells(self) -> int:
        return self.domain.dimensions

    def randomize(self, truth: Floats, coins: Coins) -> Drawn:
        columns: dict[str, NDArray[Any]] = {}
        inside = self.near * self.part.odds / (self.near * self.part.odds + self.codes - self.near)
        for k in range(self.rounds):
            seed = coins.public(SEEDS, len(truth))
            choice = coins.split(inside, self.near, self.codes - self.near, len(truth))
            order = encoded(truth, self.order, f"order{k}", self.codes, seed, width=self.codes, distinct=True)
            columns |= {f"seed{k}": seed, f"code{k}": order[:, choice]}
        return columns

    def order(self, truth: Floats, seed: Ints) -> Ints:
        """The numbers of all directions for each vector, the nearest first: a permutation, whatever the floats are."""
        return np.argsort(-nearness(truth, seed, self.codes), axis=1, kind="stable")

    def named(self, seed: Ints, code: Ints) -> Floats:
        """The directions that reports name."""
        return directions(seed, code, self.domain.dimensions)

    def votes(self, columns: Columns) -> Ints:
        """The sums of the named directions, their coordinates counted from -1 on in parts of 2^-24."""
        self.layout.check(columns)
        sums = np.zeros(self.domain.dimensions, np.int64)
        step = rows_at_once(self.domain.dimensions)
        for k in range(self.rounds):
            seed, code = (columns[f"{name}{k}"].astype(np.int64) for name in ("seed", "code"))
            for start in range(0, len(seed), step):
                sums += self._sums(seed[start : start + step], code[start : start + step])
        return sums

    def _sums(self, seed: Ints, code: Ints) -> Ints:
        return np.asarray(np.rint((self.named(seed, code) + 1) * UNIT).astype(np.int64).sum(axis=0))

    def decode(self, reports: Reports) -> Floats:
        """An unbiased row of numbers for each report."""
        rows = np.zeros((len(reports), self.domain.dimensions))
        for k in range(self.rounds):
            rows += self.named(*(reports.columns[f"{name}{k}"].astype(np.int64) for name in ("seed", "code")))
        return np.asarray(rows / self.rounds / self.length)

    def check_tally(self, tally: Tally) -> None:
        self.check_owner(tally)
        most = 2 * UNIT * self.rounds * tally.n
        if tally.counts.shape != (self.cells,) or tally.counts.min() < 0 or tally.counts.max() > most:
            raise InvalidReport(f"A tally of this mechanism has {self.cells} sums; this one does not.")

    def estimate(self, tally: Tally) -> Estimate:
        """The mean vector, without bias, with the variance of a coordinate on average over all of them."""
        self.check_tally(tally)
        n = tally.n * self.rounds
        mean = (tally.counts / n / UNIT - 1) / self.length
        return self._with_error(mean, tally.n)

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        """The means to expect from n people with vectors like these, and the variance of a coordinate on average."""
        check_people(n)
        return self._with_error(self.domain.index(np.atleast_2d(np.asarray(truth, np.float64))).mean(axis=0), n)

    def _with_error(self, mean: Floats, n: int) -> Estimate:
        variance = np.full(self.cells, self.error / self.domain.dimensions / n)
        return Estimate(self.domain.labels, mean, variance, n, measure="mean")

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.part.odds**self.rounds)

    def parameters(self) -> Mapping[str, object]:
        return {**super().parameters(), "odds": str(self.part.odds)}


def outer_mean(rows: Floats, second_moments: tuple[float, float], length: float, rounds: int = 1) -> Floats:
    """The mean of x x' from rows, each the mean v of k rounds z / m: their second moments are solved for it.

    E[v v'] = b / (k m^2) I + (1 - 1/k + (a - b) / (k m^2)) x x', with the mean squares a and b of z along and across x.
    """
    (along, across), scale = second_moments, rounds * length**2
    found = rows.T @ rows / len(rows) - across / scale * np.eye(rows.shape[1])
    return np.asarray(found / (1 - 1 / rounds + (along - across) / scale))


@lru_cache(maxsize=64)
def order_means(dimensions: int, codes: int) -> Floats:
    """The means of the largest, second largest, ... of so many first coordinates of uniform directions.

    t = cos(a) with a density proportional to sin(a)^(d - 2); the j-th largest is at a uniform place with a beta density.
    """
    width = min(np.pi, 24 / math.sqrt(dimensions))  # beyond twelve standard deviations there is nothing
    angle = np.pi / 2 + ((np.arange(20_000) + 0.5) / 20_000 - 0.5) * width
    logs = (dimensions - 2) * np.log(np.sin(angle))
    density = np.exp(logs - logs.max())
    density /= density.sum()
    above = np.clip(np.cumsum(density) - density / 2, 1e-300, 1 - 1e-16)  # the share of directions that are nearer
    logs = np.cumsum(np.log(np.arange(1, codes + 1)))
    factorials = np.concatenate([[0.0], logs])
    found = []
    for first in range(1, codes + 1, TOGETHER):
        j = np.arange(first, min(first + TOGETHER, codes + 1))[:, None]
        constant = factorials[codes] - factorials[j - 1] - factorials[codes - j]
        weights = np.exp(constant + (j - 1) * np.log(above) + (codes - j) * np.log1p(-above)) * density
        found.append(weights @ np.cos(angle) / weights.sum(axis=1))
    return np.concatenate(found)
