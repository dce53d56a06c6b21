"""A number: the mean, with steps the shares of the points of a grid, or with a target its whole distribution."""

from collections.abc import Sequence

import numpy as np

from deniable.core import Additive, Answers, Estimate, Mechanism, Permanent
from deniable.domains import Interval
from deniable.errors import InvalidParameter, OutsideDomain
from deniable.mechanisms.means.permanent_mean import PermanentMean
from deniable.planning.means import mean_options
from deniable.planning.ranking import planned
from deniable.survey.kinds.distributed import TARGETS, Distributed
from deniable.survey.kinds.kind import Details, Figures, Kind, WrongDetail, mean_of, need_numbers, permanent, rms

FINE = 1024  # steps of the grid if only the mean is estimated
WHOLE = range(8, 513)  # the lengths of ranges whose distribution is estimated for each whole number
OTHERWISE = 256  # steps of the grid of any other distribution


class Numbers(Kind[Interval]):
    """A number from `low` to `high`."""

    keys = frozenset({"low", "high", "steps", "clip"})
    flags = frozenset({"clip"})

    def domain(self, details: Details) -> Interval:
        need_numbers(details, "number", "low", "high")
        try:
            return Interval(details["low"], details["high"], details.get("steps", FINE), clip=details.get("clip", True))
        except InvalidParameter as error:
            raise WrongDetail("steps" if "steps" in details else "low", str(error)) from None

    def mechanism(self, domain: Interval, details: Details, epsilon: float, people: int) -> Mechanism:
        """The best for the mean alone; if steps are given, for the shares of the points, from which the mean follows."""
        if details.get("target") == "mean" or "steps" not in details:
            return planned(mean_options(domain, epsilon, people, edition=self.edition))
        return super().mechanism(domain, details, epsilon, people)

    def repeated(self, domain: Interval, details: Details, lifetime: float, once: float, people: int) -> Permanent:
        """A permanent pair of bits for the mean; if steps are given, a permanent answer for the shares of the points."""
        if "steps" in details and details.get("target") != "mean":
            return permanent(domain, details, lifetime, once, people, self.edition)
        if details.get("target") not in (None, "mean"):
            raise WrongDetail(
                "target", 'A permanent answer cannot have this target. Leave it out, or use repeat = "windows".'
            )
        return PermanentMean.twice_randomized(domain, lifetime, once)

    def hint(self, domain: Interval) -> str:
        return f"a number from {domain.low:g} to {domain.high:g}"

    def read(self, domain: Interval, text: str) -> object:
        try:
            return float(text.strip().replace(",", "."))
        except ValueError:
            raise OutsideDomain("That is not a number. Type it in digits.") from None

    def pretend(self, domain: Interval, random: np.random.Generator, people: int) -> Answers:
        return np.round(domain.low + (domain.high - domain.low) * random.beta(2, 4, people), 6)

    def error(self, domain: Interval, mechanism: Mechanism, people: int) -> float:
        """Of a share; or of the mean in units of the range, if all answers are the middle."""
        if isinstance(mechanism, Additive):
            return super().error(domain, mechanism, people)
        truth = np.zeros(domain.size)
        truth[domain.size // 2] = 1.0
        return rms(mechanism.predict(truth, people)) / (domain.high - domain.low)

    def parts(self, estimate: Estimate) -> Sequence[Estimate]:
        return [] if estimate.measure == "mean" else [estimate]

    def more(self, domain: Interval, estimate: Estimate) -> Figures:
        """The mean, unbiased, since answers are rounded to the points without bias."""
        if estimate.measure == "mean":
            return {"mean": (float(estimate.values[0]), float(estimate.standard_error[0]))}
        return mean_of(domain.points, estimate)

    def range(self, domain: Interval) -> tuple[float, float]:
        return domain.low, domain.high


class Number(Distributed[Interval], Numbers):
    """A number from `low` to `high`; with a target, its distribution."""

    keys = Numbers.keys | {"target", "quantiles"}
    targets = ("mean", *TARGETS)

    def domain(self, details: Details) -> Interval:
        target = self.target(details)
        if target in TARGETS and "steps" not in details:
            need_numbers(details, "number", "low", "high")
            details = {**details, "steps": _steps(details["low"], details["high"])}
        return super().domain(details)


def _steps(low: float, high: float) -> int:
    """A step for each whole number, where there are neither few nor many."""
    both = float(low).is_integer() and float(high).is_integer()
    return int(high - low) if both and high - low in WHOLE else OTHERWISE
