"""People with known answers: what is true of them, and what estimates say; open to other kinds of answers and estimates."""

from functools import singledispatch
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.core import AnyDomain, Estimate
from deniable.domains import Features, KeyValue, SignMagnitude, UnitVectors, Vectors
from deniable.domains.strings import Strings
from deniable.mechanisms.key_value.key_value_estimate import KeyValueEstimate
from deniable.testing.failures import NotApplicable


class Published(NamedTuple):
    """The numbers of an estimate in a row, their variances, and their covariances where those are known."""

    values: Floats
    variance: Floats
    covariance: Floats | None


@singledispatch
def published(estimate: object) -> Published:
    """What an estimate says. Register a function for a type of estimate of your own."""
    raise NotApplicable(f"{type(estimate).__name__} is not an Estimate; register it with deniable.testing.published.")


@published.register
def _(estimate: Estimate) -> Published:
    if estimate.variance is None:
        raise NotApplicable("The estimate has no variance in closed form.")
    return Published(estimate.values, estimate.variance, estimate.covariance() if estimate.covary else None)


@published.register
def _(estimate: KeyValueEstimate) -> Published:
    pairs = [(estimate.shares, estimate.spread.frequency), (estimate.signed, estimate.spread.signed)]
    known = [(values, variance) for values, variance in pairs if values is not None]
    return Published(np.concatenate([own for own, _ in known]), np.concatenate([own for _, own in known]), None)


@singledispatch
def truth(domain: AnyDomain, people: Ints) -> ArrayLike:
    """What `predict` takes for people with these answers: the shares of all answers unless registered otherwise."""
    return np.bincount(people, minlength=domain.size) / len(people)


@truth.register(Features)
@truth.register(SignMagnitude)
@truth.register(UnitVectors)
def _(domain: AnyDomain, people: Ints) -> ArrayLike:
    return np.array([domain.answer(person) for person in people.tolist()], np.float64)


@truth.register(Vectors)
def _(domain: Vectors, people: Ints) -> ArrayLike:
    rows = domain.index([domain.answer(person) for person in people.tolist()])
    counts = [np.bincount(own, minlength=part.size) for own, part in zip(rows.T, domain.parts, strict=True)]
    return np.concatenate(counts) / len(people)


@truth.register(Strings)
def _(domain: Strings, people: Ints) -> ArrayLike:
    cells = domain.cells_of(domain.index([domain.answer(person) for person in people.tolist()]))
    found = [np.bincount(own, minlength=domain.cells)[: domain.cells] for own in cells.T]  # some may be in none
    return np.concatenate(found) / len(people)


@truth.register(KeyValue)
def _(domain: KeyValue, people: Ints) -> ArrayLike:
    sets = [domain.answer(person) for person in people.tolist()]
    owners = [[own[key] for own in sets if key in own] for key in domain.labels]
    return [(len(values) / len(sets), float(np.mean(values)) if values else 0.0) for values in owners]


@singledispatch
def population(domain: AnyDomain) -> Ints:
    """People with many answers in shares that all differ, some of them zero, for which `predict` is exact."""
    return np.repeat(np.arange(domain.size), [(7 * place + 3) % 11 for place in range(domain.size - 1)] + [domain.size < 3])


@population.register(SignMagnitude)
def _(domain: SignMagnitude) -> Ints:
    answers = np.array([domain.answer(index) for index in range(domain.size)])
    return np.flatnonzero((domain.decode(domain.index(answers)) == answers).all(axis=1))  # numbers that are codes


@population.register(KeyValue)
def _(domain: KeyValue) -> Ints:
    ends = {key: (domain.low, domain.high)[place % 2] for place, key in enumerate(domain.labels)}
    alike = [index for index in range(domain.size) if domain.answer(index).items() <= ends.items()]  # one value for each key
    return np.repeat(alike, [place % 3 + 1 for place in range(len(alike))])
