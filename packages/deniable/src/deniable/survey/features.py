"""Vectors of numbers: the mean of each."""

import numpy as np

from deniable.core.domain import Answers, Domain
from deniable.domains import Features
from deniable.errors import InvalidParameter, OutsideDomain
from deniable.survey.kind import Details, Kind, WrongDetail, error_of_means, for_mean


def _box(details: Details) -> Features:
    for key in ("dimensions", "low", "high"):
        if isinstance(details.get(key), bool) or not isinstance(details.get(key), int | float):
            raise WrongDetail(
                key, f'A question of kind "features" needs {key}, a number: dimensions = 8, low = -1, high = 1.'
            )
    try:
        return Features(details["dimensions"], details["low"], details["high"])
    except (InvalidParameter, TypeError) as error:
        raise WrongDetail("dimensions", str(error)) from None


def _read(domain: Domain, text: str) -> object:
    assert isinstance(domain, Features)
    try:
        numbers = [float(part) for part in text.split()]
    except ValueError:
        numbers = []
    if len(numbers) != domain.dimensions:
        raise OutsideDomain(f"Type {domain.dimensions} numbers with blanks between them.")
    return numbers


def _pretend(domain: Domain, random: np.random.Generator, people: int) -> Answers:
    assert isinstance(domain, Features)
    middle = random.uniform(0.3, 0.7, domain.dimensions)
    shares = np.clip(middle + random.normal(0, 0.1, (people, domain.dimensions)), 0, 1)
    return np.round(domain.low + (domain.high - domain.low) * shares, 6)


def _hint(domain: Domain) -> str:
    assert isinstance(domain, Features)
    return f"{domain.dimensions} numbers from {domain.low:g} to {domain.high:g}, with blanks between them"


FEATURES = Kind(frozenset({"dimensions", "low", "high"}), _box, for_mean, _hint, _read, _pretend, error=error_of_means)
