"""A count that can be shown: never an impossible number, and none at all where the noise says more than the data."""

from dataclasses import dataclass
from statistics import NormalDist

from deniable.errors import InvalidParameter

CONFIDENCE = 0.95


@dataclass(frozen=True)
class HonestCount:
    """An unbiased count with noise, its standard error, the most it can be, and what was counted.

    >>> found = HonestCount(raw=-300.0, standard_error=400.0, most=4, what="triangles")
    >>> found.value, found.interval(), found.clear
    (0.0, (0.0, 4.0), False)
    >>> print(found)
    too noisy to say how many triangles: between 0 and 4 (95 % interval)
    >>> print(HonestCount(60_000.0, 5_000.0, 10**9, "triangles"))
    60,000 triangles, between 50,200 and 69,800 (95 % interval)
    >>> print(HonestCount(1_164.0, 900.0, 0, "triangles"))
    0 triangles: so few people cannot have any
    """

    raw: float
    standard_error: float
    most: int
    what: str

    @property
    def value(self) -> float:
        """The count as it may be shown, within what is possible; `raw` is right on average."""
        return min(max(self.raw, 0.0), float(self.most))

    @property
    def clear(self) -> bool:
        """Whether the 95 % interval, before it is cut to the possible, is no wider than the value, or there can be none."""
        return self.most == 0 or 2 * self._reach(CONFIDENCE) <= self.value

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """The ends of an interval around the value, cut to what is possible.

        It holds the true count with this confidence, and with more where the count is next to an end of what is possible.
        """
        reach = self._reach(confidence)
        return max(self.value - reach, 0.0), min(self.value + reach, float(self.most))

    @property
    def low(self) -> float:
        """The lower end of the 95 % interval."""
        return self.interval()[0]

    @property
    def high(self) -> float:
        """The upper end of the 95 % interval."""
        return self.interval()[1]

    def _reach(self, confidence: float) -> float:
        if not 0 < confidence < 1:
            raise InvalidParameter("Confidence lies between 0 and 1, such as 0.95.")
        return NormalDist().inv_cdf(0.5 + confidence / 2) * self.standard_error

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self, confidence: float = CONFIDENCE) -> str:
        """The count in words."""
        if self.most == 0:
            return f"0 {self.what}: so few people cannot have any"
        low, high = self.interval(confidence)
        between = f"between {low:,.0f} and {high:,.0f} ({100 * confidence:g} % interval)"
        if self.clear:
            return f"{self.value:,.0f} {self.what}, {between}"
        return f"too noisy to say how many {self.what}: {between}"
