"""The exact likelihood of reports under a regression model, and its maximum by Newton's method.

A person's reports have the probability: the sum over all states of the randomized covariates of P(state | open covariates)
times the likelihood of the reports on them times that of the outcome. The states have a multinomial logistic model with
parameters of its own, so that nothing is assumed about how randomized and open covariates depend on each other but that.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from deniable.arrays import Floats

MOST_ROUNDS, CLOSE = 200, 1e-10
FAR = 15.0  # a linear predictor this far from 0 is a probability of 0 or 1 for all that can be seen


class Outcome(ABC):
    """What is known of everybody's outcome, and its likelihood given the linear predictor."""

    extra = 0  # parameters besides the coefficients

    @abstractmethod
    def terms(self, predictor: Floats, extra: Floats) -> tuple[Floats, Floats, Floats]:
        """The logarithm of the likelihood of each outcome, and its first and second derivatives, of shape (.., people).

        The derivatives are by the linear predictor, then by the other parameters; the second ones as a square.
        """

    @abstractmethod
    def start(self) -> tuple[float, list[float]]:
        """A first guess of the linear predictor of everybody, and of the other parameters."""


class Binary(Outcome):
    """A yes or no of which only the likelihoods of a report under no and under yes are known; logistic regression."""

    def __init__(self, under_no: Floats, under_yes: Floats) -> None:
        self.no, self.gain = under_no, under_yes - under_no

    def terms(self, predictor: Floats, extra: Floats) -> tuple[Floats, Floats, Floats]:
        share = 1 / (1 + np.exp(-np.clip(predictor, -700, 700)))
        seen = np.maximum(self.no + self.gain * share, 1e-300)
        spread = share * (1 - share)
        first = self.gain * spread / seen
        return np.log(seen), first[None], (first * (1 - 2 * share) - first**2)[None, None]

    def start(self) -> tuple[float, list[float]]:
        share = 0.5
        for _ in range(50):  # expectation maximisation of the overall share
            share = float(np.clip(np.mean((self.no + self.gain) * share / (self.no + self.gain * share)), 1e-3, 1 - 1e-3))
        return float(np.log(share / (1 - share))), []


class Normal(Outcome):
    """An open number with normal errors; linear regression. The other parameter is the logarithm of their deviation."""

    extra = 1

    def __init__(self, values: Floats) -> None:
        self.values = values

    def terms(self, predictor: Floats, extra: Floats) -> tuple[Floats, Floats, Floats]:
        scale = np.exp(extra[0])
        apart = (self.values - predictor) / scale
        seen = -(apart**2) / 2 - extra[0] - np.log(2 * np.pi) / 2
        first = np.stack([apart / scale, apart**2 - 1])
        cross = -2 * apart / scale
        second = np.stack([np.stack([np.full_like(apart, -1 / scale**2), cross]), np.stack([cross, -2 * apart**2])])
        return seen, first, second

    def start(self) -> tuple[float, list[float]]:
        return float(self.values.mean()), [float(np.log(self.values.std() + 1e-12))]


class Step(NamedTuple):
    """The log-likelihood, its gradient for each person, and the negative of its second derivatives."""

    value: float
    scores: Floats
    information: Floats


@dataclass(eq=False)
class Mixture:
    """The likelihood of everybody's reports: columns for every state, what the states depend on, and the outcome."""

    matrices: Sequence[Floats]
    seen: Floats  # the likelihood of the reports on the covariates, (people, states)
    open_matrix: Floats
    outcome: Outcome
    weights: Floats
    rounds: int = field(default=0, init=False)

    @property
    def coefficients(self) -> int:
        """How many coefficients there are."""
        return self.matrices[0].shape[1]

    @property
    def size(self) -> int:
        """How many parameters there are."""
        return self.coefficients + self.outcome.extra + (len(self.matrices) - 1) * self.open_matrix.shape[1]

    def start(self, intercept: bool) -> Floats:
        """A first guess."""
        found, (level, extra) = np.zeros(self.size), self.outcome.start()
        if intercept:
            found[0] = level
        found[self.coefficients : self.coefficients + self.outcome.extra] = extra
        return found

    def _shares(self, parameters: Floats) -> Floats:
        """The probability of each state, for every person."""
        own = parameters[self.coefficients + self.outcome.extra :].reshape(-1, self.open_matrix.shape[1])
        logits = np.hstack([np.zeros((len(self.open_matrix), 1)), self.open_matrix @ own.T])
        logits -= logits.max(axis=1, keepdims=True)
        chances = np.exp(logits)
        return chances / chances.sum(axis=1, keepdims=True)

    def value(self, parameters: Floats) -> float:
        """The log-likelihood, up to a constant."""
        extra = parameters[self.coefficients : self.coefficients + self.outcome.extra]
        found = [self.outcome.terms(own @ parameters[: own.shape[1]], extra)[0] for own in self.matrices]
        return self._joint(found, self._shares(parameters))[0]

    def _joint(self, logarithms: list[Floats], shares: Floats) -> tuple[float, Floats]:
        """The log-likelihood, and the probability of each state given all reports."""
        stacked = np.stack(logarithms, axis=1)
        largest = stacked.max(axis=1, keepdims=True)  # taken out, so that nothing becomes too small for a float
        parts = np.exp(stacked - largest) * shares * self.seen
        total = np.maximum(parts.sum(axis=1), 1e-300)
        return float(self.weights @ (np.log(total) + largest[:, 0])), parts / total[:, None]

    def step(self, parameters: Floats) -> Step:
        """The log-likelihood with its derivatives, by the identity of Louis (1982)."""
        wide, extra_end = self.coefficients, self.coefficients + self.outcome.extra
        extra, shares, z = parameters[wide:extra_end], self._shares(parameters), self.open_matrix
        terms = [self.outcome.terms(own @ parameters[:wide], extra) for own in self.matrices]
        value, chance = self._joint([seen for seen, _, _ in terms], shares)
        mean, information = np.zeros((len(z), self.size)), np.zeros((self.size, self.size))
        for place, own in enumerate(self.matrices):
            _, first, second = terms[place]
            weight = self.weights * chance[:, place]
            score = np.hstack([first[0][:, None] * own, first[1:].T, self._state_scores(place, shares)])
            mean += chance[:, [place]] * score
            information -= (score.T * weight) @ score
            information[:wide, :wide] -= (own.T * (weight * second[0, 0])) @ own
            if self.outcome.extra:
                cross = (own.T * weight) @ second[0, 1:].T
                information[:wide, wide:extra_end] -= cross
                information[wide:extra_end, :wide] -= cross.T
                information[wide:extra_end, wide:extra_end] -= second[1:, 1:] @ weight
        information += (mean.T * self.weights) @ mean
        step = z.shape[1]
        for one in range(1, len(self.matrices)):
            for other in range(1, len(self.matrices)):
                spread = shares[:, one] * ((one == other) - shares[:, other])
                rows, columns = (slice(extra_end + (s - 1) * step, extra_end + s * step) for s in (one, other))
                information[rows, columns] += (z.T * (self.weights * spread)) @ z
        return Step(value, mean, information)

    def _state_scores(self, place: int, shares: Floats) -> Floats:
        """The derivative of the logarithm of the probability of a state by the parameters of the states."""
        parts = [((state == place) - shares[:, [state]]) * self.open_matrix for state in range(1, len(self.matrices))]
        return np.hstack(parts) if parts else np.zeros((len(shares), 0))

    def maximum(self, intercept: bool) -> tuple[Floats, Step, bool]:
        """The parameters with the largest likelihood, its derivatives there, and whether the search has ended."""
        found = self.start(intercept)
        step, total = self.step(found), float(self.weights.sum())
        for turn in range(1, MOST_ROUNDS + 1):
            self.rounds = turn
            gradient = self.weights @ step.scores
            direction = _ascent(step.information, gradient)
            if float(gradient @ direction) < CLOSE * CLOSE * total:
                return found, step, True
            length, moved = 1.0, found + direction
            while (value := self.value(moved)) < step.value + 1e-4 * length * float(gradient @ direction) and length > 1e-8:
                length /= 2
                moved = found + length * direction
            if not value > step.value:  # no better point within rounding
                return found, step, float(gradient @ direction) < 1e-9 * total
            found, step = moved, self.step(moved)
        return found, step, False


def _ascent(information: Floats, gradient: Floats) -> Floats:
    """Newton's step; where the likelihood is not concave, that of the nearest matrix for which it would be."""
    scale = 1 / np.sqrt(np.maximum(np.abs(np.diag(information)), 1e-12))
    values, vectors = np.linalg.eigh(information * np.outer(scale, scale))
    values = np.maximum(np.abs(values), 1e-8)
    return np.asarray(scale * (vectors @ (vectors.T @ (scale * gradient) / values)))
