"""A vector of numbers: the mean of each."""

import numpy as np

from deniable.core import Answers, Mechanism
from deniable.domains import Features as Vectors
from deniable.errors import InvalidParameter, OutsideDomain
from deniable.planning import plan
from deniable.survey.kinds.kind import Details, Kind, WrongDetail, need_numbers, rms


class Features(Kind[Vectors]):
    """`dimensions` numbers, each from `low` to `high`."""

    keys = frozenset({"dimensions", "low", "high"})

    def domain(self, details: Details) -> Vectors:
        need_numbers(details, "features", "dimensions", "low", "high")
        try:
            return Vectors(details["dimensions"], details["low"], details["high"])
        except (InvalidParameter, TypeError) as error:
            raise WrongDetail("dimensions", str(error)) from None

    def mechanism(self, domain: Vectors, details: Details, epsilon: float, people: int) -> Mechanism:
        return plan(domain, epsilon, people, target="mean", edition=self.edition)

    def hint(self, domain: Vectors) -> str:
        return f"{domain.dimensions} numbers from {domain.low:g} to {domain.high:g}, separated by spaces"

    def read(self, domain: Vectors, text: str) -> object:
        try:
            numbers = [float(part) for part in text.split()]
        except ValueError:
            numbers = []
        if len(numbers) != domain.dimensions:
            raise OutsideDomain(f"Type {domain.dimensions} numbers, separated by spaces.")
        return numbers

    def pretend(self, domain: Vectors, random: np.random.Generator, people: int) -> Answers:
        middle = random.uniform(0.3, 0.7, domain.dimensions)
        shares = np.clip(middle + random.normal(0, 0.1, (people, domain.dimensions)), 0, 1)
        return np.round(domain.low + (domain.high - domain.low) * shares, 6)

    def error(self, domain: Vectors, mechanism: Mechanism, people: int) -> float:
        """Of a mean in units of the range, if all answers are the middle."""
        truth = np.full((1, domain.dimensions), (domain.low + domain.high) / 2)
        return rms(mechanism.predict(truth, people)) / (domain.high - domain.low)

    def range(self, domain: Vectors) -> tuple[float, float]:
        return domain.low, domain.high
