"""The columns of a model for every state of the randomized covariates: open columns times a factor for each state."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from deniable.arrays import Floats, Ints


class ShareTerm(NamedTuple):
    """A part of the logarithms of the shares of states: features[s] @ parameters @ basis[person, on]."""

    features: Floats  # (states, features)
    on: Ints  # columns of the basis

    @property
    def size(self) -> int:
        """How many parameters it has."""
        return self.features.shape[1] * len(self.on)


@dataclass(frozen=True, eq=False)
class StateColumns:
    """Column j of a person in state s is basis[person, places[j]] * scales[s, j]; shares of states have their own model."""

    basis: Floats  # different open columns, (people, columns)
    places: Ints
    scales: Floats  # (states, coefficients)
    shares: tuple[ShareTerm, ...]

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.scales)

    @property
    def coefficients(self) -> int:
        """How many coefficients there are."""
        return len(self.places)

    def of(self, rows: Ints | slice) -> "StateColumns":
        """The same of some people."""
        return replace(self, basis=self.basis[rows])

    def predictors(self, coefficients: Floats) -> Floats:
        """The linear predictor of every person in each state, of shape (states, people)."""
        factors = np.zeros((self.states, self.basis.shape[1]))
        np.add.at(factors.T, self.places, (self.scales * coefficients).T)
        return factors @ self.basis.T

    def weighted(self, weights: Floats) -> Floats:
        """The sum over the states of weights times columns, of shape (people, coefficients)."""
        return np.asarray((weights.T @ self.scales) * self.basis[:, self.places])

    @cached_property
    def _pairs(self) -> tuple[Ints, Ints]:
        return np.triu_indices(self.basis.shape[1])

    @cached_property
    def _products(self) -> Floats:
        first, second = self._pairs
        return self.basis[:, first] * self.basis[:, second]

    def grams(self, weights: Floats) -> Floats:
        """For each row of weights, the weighted sum of products of the basis, of shape (rows, columns, columns)."""
        wide = self.basis.shape[1]
        found, (first, second) = np.empty((len(weights), wide, wide)), self._pairs
        sums = weights @ self._products
        found[:, first, second] = found[:, second, first] = sums
        return found

    def between(self, grams: Floats) -> Floats:
        """The sum over the states of products of the columns, from one gram for each state."""
        whole = grams[:, self.places][:, :, self.places]
        return np.asarray(np.einsum("sj,sjk,sk->jk", self.scales, whole, self.scales))
