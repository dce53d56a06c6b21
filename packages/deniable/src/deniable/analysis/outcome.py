"""What a test found: a statistic, how surprising it is, and how large the effect is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TestOutcome:
    """The result of a test, corrected for the privacy noise."""

    __test__ = False  # not one of pytest's

    hypothesis: str
    statistic: float
    degrees: float
    p_value: float
    effect: float
    measure: str
    n: int

    def __str__(self) -> str:
        verdict = "contradicted" if self.p_value < 0.05 else "not contradicted"
        degrees = "1 degree" if self.degrees == 1 else f"{self.degrees:.3g} degrees"
        return (
            f"{self.hypothesis}: {verdict} (chi-square {self.statistic:.2f} with {degrees} of freedom, "
            f"p = {formatted_p(self.p_value)}; {self.measure} {self.effect:.3f}; {self.n:,} people)"
        )


def formatted_p(p_value: float) -> str:
    """A p-value for people to read.

    >>> formatted_p(0.0312), formatted_p(1e-9)
    ('0.031', '1e-09')
    """
    if p_value < 1e-300:
        return "below 1e-300"
    return f"{p_value:.3f}" if p_value >= 0.0005 else f"{p_value:.0e}"
