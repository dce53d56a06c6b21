"""What was found: names with shares, how sure each is, and what may be missing."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.arrays import Floats
from deniable.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Name:
    """A string that was found. `error_rate`: how often the people who verify back a string so well that nobody has."""

    name: str | int
    share: float
    low: float
    high: float
    error_rate: float
    standard_error: float = 0.0

    def __str__(self) -> str:
        return f"{self.name}: {100 * self.share:.2f} % ({100 * self.low:.2f} to {100 * self.high:.2f} %)"


@dataclass(frozen=True)
class Found:
    """The most frequent strings, in decreasing order of frequency.

    Names were searched for among the reports of most people, and verified by those of the others, who took no part in the
    search. So the shares are unbiased for every string that was verified, and all intervals hold together with `confidence`.
    Of the names at most a share of `false_discoveries` is expected to be a string that nobody has.
    """

    names: tuple[Name, ...]
    n: int
    find: int
    confidence: float
    false_discoveries: float
    verified: int  # strings that were verified
    passed: int  # of which so many passed
    missing: float  # with `confidence`, no string with a larger share is missing, but those of the blocklist
    gain: float = 0.0  # one false report raises the share of a string by so much at most

    def __iter__(self) -> Iterator[Name]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def shares(self) -> Floats:
        """The shares of the names, in their order."""
        return np.array([each.share for each in self.names])

    @property
    def errors(self) -> Floats:
        """The standard errors of the shares."""
        return np.array([each.standard_error for each in self.names])

    @property
    def left_out(self) -> str:
        """What is not in the list, in one line."""
        more = self.passed - len(self.names)
        further = f"{more} more passed verification (not shown); " if more > 0 else ""
        missing = (
            f"no string above {100 * self.missing:.2g} % is missing ({100 * self.confidence:g} % confidence)"
            if self.missing < 1
            else "too few people reported to say what is missing"
        )
        return f"{further}{missing}."

    def worst_gain(self, fakes: float) -> float:
        """By how much false reports raise the share of a string at most, if so many of the n reports are false.

        All of them would have to be about this string, and come from the group that verifies. For the string to be found
        at all, others would have to come from each of the other groups.
        """
        return min(1.0, fakes * self.n * self.gain)

    def __str__(self) -> str:
        lines = [str(each) for each in self.names] or ["No string passed verification."]
        return "\n".join([*lines, self.left_out[0].upper() + self.left_out[1:]])

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Bars with their intervals, the most frequent first."""
        try:
            from matplotlib import pyplot
        except ImportError:
            raise MissingExtra("A plot", "plot") from None
        axes = pyplot.subplots(figsize=(6.4, 1 + 0.3 * len(self.names)))[1] if ax is None else ax
        places = np.arange(len(self.names))[::-1]
        error = [[100 * (each.share - each.low) for each in self], [100 * (each.high - each.share) for each in self]]
        axes.barh(places, 100 * self.shares, xerr=error if self.names else None, color="#9ab", ecolor="#345", capsize=2)
        axes.set_yticks(places, [_plain(str(each.name)) for each in self.names])
        axes.set_xlabel("share of people (%)")
        return axes


def _plain(text: str) -> str:
    """A name from strangers as a label: nothing in it is read as a formula."""
    return text.replace("$", r"\$")
