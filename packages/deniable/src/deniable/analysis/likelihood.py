"""The exact likelihood of reports under a regression model, with its derivatives.

A person's reports have the probability: the sum over all states of the randomized covariates of P(state | open covariates)
times the likelihood of the reports on them times that of the outcome. The states have a multinomial logistic model with
parameters of its own (`Design.columns`), so that nothing is assumed about how covariates depend on each other but that.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple, Self

import numpy as np

from deniable.analysis.columns import ShareTerm, StateColumns
from deniable.arrays import Floats, Ints

SMALLEST = 1e-300  # a likelihood below this counts as this
_WORK = 1 << 20  # numbers that are held at a time


class Terms(NamedTuple):
    """The likelihood of each outcome in every state, (states, people), and the derivatives of its logarithm.

    The likelihood is divided by the exponential of `taken`, so that it does not become too small for a float. Derivatives
    are by the linear predictor and by the other parameter, where there is one.
    """

    likelihood: Floats
    taken: Floats
    first: Floats
    second: Floats
    extra_first: Floats | None = None
    extra_second: Floats | None = None
    cross: Floats | None = None


class Outcome(ABC):
    """What is known of everybody's outcome, and its likelihood given the linear predictor."""

    extra = 0  # parameters besides the coefficients: none or one

    @abstractmethod
    def of(self, rows: Ints | slice) -> Self:
        """The same of some people."""

    @abstractmethod
    def likelihood(self, predictor: Floats, extra: Floats) -> tuple[Floats, Floats]:
        """The likelihood of each outcome in every state, and the logarithm of what was taken out of it."""

    @abstractmethod
    def terms(self, predictor: Floats, extra: Floats) -> Terms:
        """The same with its derivatives."""

    @abstractmethod
    def start(self, weights: Floats) -> tuple[float, list[float]]:
        """A first guess of the linear predictor of everybody, and of the other parameters."""


class Binary(Outcome):
    """A yes or no of which only the likelihoods of a report under no and under yes are known; logistic regression.

    They are (people,), or (states, people) where a report is on the outcome and covariates at once.
    """

    def __init__(self, under_no: Floats, under_yes: Floats) -> None:
        self.no, self.yes = under_no, under_yes

    def of(self, rows: Ints | slice) -> "Binary":
        return Binary(self.no[..., rows], self.yes[..., rows])

    def likelihood(self, predictor: Floats, extra: Floats) -> tuple[Floats, Floats]:
        share, other = logistic(predictor)
        return self._seen(share, other), np.zeros(predictor.shape[1])

    def _seen(self, share: Floats, other: Floats) -> Floats:
        seen = self.no * other
        seen += self.yes * share
        return np.maximum(seen, SMALLEST, out=seen)

    def terms(self, predictor: Floats, extra: Floats) -> Terms:
        share, other = logistic(predictor)
        seen = self._seen(share, other)
        first = share * other
        first *= self.yes - self.no
        first /= seen
        return Terms(seen, np.zeros(seen.shape[1]), first, first * (other - share - first))

    def start(self, weights: Floats) -> tuple[float, list[float]]:
        share, total = 0.5, weights.sum()
        no, yes = (each.reshape(-1, len(weights)).mean(axis=0) for each in (self.no, self.yes))
        for _ in range(50):  # expectation maximisation of the overall share
            chance = yes * share / np.maximum(no * (1 - share) + yes * share, SMALLEST)
            share = float(np.clip(weights @ chance / total, 1e-3, 1 - 1e-3))
        return float(np.log(share / (1 - share))), []


class Normal(Outcome):
    """An open number with normal errors; linear regression. The other parameter is the logarithm of their deviation."""

    extra = 1

    def __init__(self, values: Floats) -> None:
        self.values = values

    def of(self, rows: Ints | slice) -> "Normal":
        return Normal(self.values[rows])

    def likelihood(self, predictor: Floats, extra: Floats) -> tuple[Floats, Floats]:
        return self._seen(((self.values - predictor) / np.exp(extra[0])) ** 2, extra)

    def _seen(self, squares: Floats, extra: Floats) -> tuple[Floats, Floats]:
        nearest = squares.min(axis=0)
        return np.exp((nearest - squares) / 2), -nearest / 2 - extra[0] - np.log(2 * np.pi) / 2

    def terms(self, predictor: Floats, extra: Floats) -> Terms:
        scale = np.exp(extra[0])
        apart = (self.values - predictor) / scale
        squares = apart**2
        likelihood, taken = self._seen(squares, extra)
        flat = np.full_like(apart, -1 / scale**2)
        return Terms(likelihood, taken, apart / scale, flat, squares - 1, -2 * squares, -2 * apart / scale)

    def start(self, weights: Floats) -> tuple[float, list[float]]:
        mean = float(weights @ self.values / weights.sum())
        spread = float(weights @ (self.values - mean) ** 2 / weights.sum())
        return mean, [float(np.log(spread + 1e-24) / 2)]


def logistic(predictor: Floats) -> tuple[Floats, Floats]:
    """The probability of yes and that of no, both exact where they are small."""
    odds = np.exp(np.minimum(-predictor, 700))
    share = 1 / (1 + odds)
    return share, odds * share


class Step(NamedTuple):
    """The log-likelihood, its gradient, the negative of its second derivatives, and the sum of squared scores."""

    value: float
    gradient: Floats
    information: Floats
    squares: Floats | None


class _Sums(NamedTuple):
    value: float
    gradient: Floats
    outer: Floats
    squares: Floats
    inner: Floats
    extras: Floats

    def plus(self, other: "_Sums") -> "_Sums":
        return _Sums(
            self.value + other.value, self.gradient + other.gradient, self.outer + other.outer,
            self.squares + other.squares, self.inner + other.inner, self.extras + other.extras,
        )  # fmt: skip


class _Posterior(NamedTuple):
    value: float
    shares: Floats
    chance: Floats  # of each state given all reports
    terms: Terms


@dataclass(frozen=True, eq=False)
class Mixture:
    """The likelihood of everybody's reports: columns for every state, what the states depend on, and the outcome.

    Parameters are the coefficients, then those of the outcome, then those of the shares of the states, term by term.
    """

    columns: StateColumns
    seen: Floats  # the likelihood of the reports on the covariates, (states, people)
    outcome: Outcome
    weights: Floats

    @property
    def size(self) -> int:
        """How many parameters there are."""
        return self.own + sum(term.size for term in self.columns.shares)

    @property
    def own(self) -> int:
        """How many parameters come before those of the shares."""
        return self.columns.coefficients + self.outcome.extra

    def of(self, rows: Ints | slice) -> "Mixture":
        """The same of some people."""
        return Mixture(self.columns.of(rows), self.seen[:, rows], self.outcome.of(rows), self.weights[rows])

    def _parts(self) -> Iterator["tuple[Mixture, slice]"]:
        """The same people, some at a time."""
        wide, states = self.columns.basis.shape[1], self.columns.states
        step = max(64, _WORK // (wide * wide // 2 + 2 * self.size + 12 * states))
        for start in range(0, len(self.weights), step):
            rows = slice(start, start + step)
            yield self.of(rows), rows

    def _placed(self) -> Iterator[tuple[ShareTerm, slice]]:
        """The terms of the shares, and where their parameters are."""
        start = self.own
        for term in self.columns.shares:
            yield term, slice(start, start + term.size)
            start += term.size

    def logits(self, parameters: Floats) -> Floats:
        """The logarithm of how much likelier each state is than the first, before the reports: (states, people)."""
        columns = self.columns
        factors = np.zeros((columns.states, columns.basis.shape[1]))
        for term, places in self._placed():
            factors[:, term.on] += term.features @ parameters[places].reshape(-1, len(term.on))
        return factors @ columns.basis.T

    def furthest(self, parameters: Floats) -> float:
        """The largest logit: of a state, or of the outcome if it is a yes or no."""
        found = np.abs(self.logits(parameters)).max()
        if not self.outcome.extra:
            found = max(found, np.abs(self.columns.predictors(parameters[: self.columns.coefficients])).max())
        return float(found)

    def value(self, parameters: Floats) -> float:
        """The log-likelihood, up to a constant."""
        return sum(part._value(parameters) for part, _ in self._parts())

    def _value(self, parameters: Floats) -> float:
        likelihood, taken = self.outcome.likelihood(*self._predicted(parameters))
        likelihood *= self._shares(parameters)
        likelihood *= self.seen
        total = np.maximum(likelihood.sum(axis=0), SMALLEST)
        return float(self.weights @ (np.log(total) + taken))

    def step(self, parameters: Floats, squares: Floats | None = None) -> Step:
        """The log-likelihood with its derivatives, by the identity of Louis (1982).

        `squares` are weights of the squares of scores, for errors of weighted estimates.
        """
        sums = (part._sums(parameters, None if squares is None else squares[rows]) for part, rows in self._parts())
        found = reduce(_Sums.plus, sums)
        information = found.outer - self._assembled(found.inner, found.extras)
        return Step(found.value, found.gradient, information, None if squares is None else found.squares)

    def _sums(self, parameters: Floats, squares: Floats | None) -> "_Sums":
        found = self._posterior(parameters)
        mean, prior = self._means(found)
        gradient, root = self.weights @ mean, np.sqrt(self.weights)[:, None]
        gradient[self.own :] -= self.weights @ prior
        outer = _square(root * mean)
        outer[self.own :, self.own :] -= _square(root * prior)
        meat = np.zeros(0)
        if squares is not None:
            mean[:, self.own :] -= prior
            meat = _square(np.sqrt(squares)[:, None] * mean)
        extras = self._extras(found) if self.outcome.extra else np.zeros(0)
        return _Sums(found.value, gradient, outer, meat, self._inner(found), extras)

    def _posterior(self, parameters: Floats) -> _Posterior:
        terms, shares = self.outcome.terms(*self._predicted(parameters)), self._shares(parameters)
        joint = shares * self.seen
        joint *= terms.likelihood
        total = np.maximum(joint.sum(axis=0), SMALLEST)
        joint /= total
        return _Posterior(float(self.weights @ (np.log(total) + terms.taken)), shares, joint, terms)

    def _predicted(self, parameters: Floats) -> tuple[Floats, Floats]:
        """The linear predictor in every state, and the other parameters of the outcome."""
        wide = self.columns.coefficients
        return self.columns.predictors(parameters[:wide]), parameters[wide : wide + self.outcome.extra]

    def _shares(self, parameters: Floats) -> Floats:
        """The probability of each state before the reports, (states, people)."""
        shares = self.logits(parameters)
        shares -= shares.max(axis=0)
        np.exp(shares, out=shares)
        shares /= shares.sum(axis=0)
        return shares

    def _means(self, found: _Posterior) -> tuple[Floats, Floats]:
        """The mean of the derivatives over the states of each person, given the reports and before them."""
        columns, outcome = self.columns, found.terms
        mean = np.empty((len(columns.basis), self.size))
        mean[:, : columns.coefficients] = columns.weighted(found.chance * outcome.first)
        if outcome.extra_first is not None:
            mean[:, columns.coefficients] = (found.chance * outcome.extra_first).sum(axis=0)
        prior = np.empty((len(mean), self.size - self.own))
        for term, places in self._placed():
            before = slice(places.start - self.own, places.stop - self.own)
            for made, at, chance in ((mean, places, found.chance), (prior, before, found.shares)):
                features, open_columns = chance.T @ term.features, columns.basis[:, term.on]
                made[:, at] = (features[:, :, None] * open_columns[:, None, :]).reshape(len(mean), -1)
        return mean, prior

    def _inner(self, found: _Posterior) -> Floats:
        """Sums of products of the basis: for the coefficients, between them and the shares, and for the shares."""
        chance, first, second = found.chance, found.terms.first, found.terms.second
        weights = np.stack([chance * (second + first**2), chance * first, chance - found.shares]) * self.weights
        grams = self.columns.grams(weights.reshape(-1, weights.shape[-1]))
        return grams.reshape(3, self.columns.states, *grams.shape[1:])

    def _extras(self, found: _Posterior) -> Floats:
        """Sums of the basis: between the other parameter and the coefficients, the shares, and (first place) itself."""
        chance, terms = found.chance * self.weights, found.terms
        assert terms.cross is not None and terms.extra_first is not None and terms.extra_second is not None
        with_coefficients = (chance * (terms.cross + terms.first * terms.extra_first)) @ self.columns.basis
        with_shares = (chance * terms.extra_first) @ self.columns.basis
        itself = np.zeros_like(with_shares)
        itself[:, 0] = (chance * (terms.extra_second + terms.extra_first**2)).sum(axis=1)
        return np.stack([with_coefficients, with_shares, itself])

    def _assembled(self, inner: Floats, extras: Floats) -> Floats:
        """The part of the second derivatives that is a sum over the states, from the sums of products of the basis."""
        columns, made = self.columns, np.zeros((self.size, self.size))
        wide = columns.coefficients
        made[:wide, :wide] = columns.between(inner[0])
        if self.outcome.extra:
            made[:wide, wide] = made[wide, :wide] = (columns.scales * extras[0][:, columns.places]).sum(axis=0)
            made[wide, wide] = extras[2][:, 0].sum()
        for term, own in self._placed():
            mixed = inner[1][:, columns.places][:, :, term.on]
            made[:wide, own] = _summed("sc,sm,scj->cmj", columns.scales, term.features, mixed).reshape(wide, -1)
            made[own, :wide] = made[:wide, own].T
            if self.outcome.extra:
                made[wide, own] = made[own, wide] = _summed("sm,sj->mj", term.features, extras[1][:, term.on]).ravel()
            for other, places in self._placed():
                between = inner[2][:, term.on][:, :, other.on]
                whole = _summed("sm,sn,sjk->mjnk", term.features, other.features, between)
                made[own, places] = whole.reshape(term.size, other.size)
        return made


def _summed(what: str, *parts: Floats) -> Floats:
    return np.asarray(np.einsum(what, *parts, optimize=True))


def _square(rows: Floats) -> Floats:
    return np.asarray(rows.T @ rows)
