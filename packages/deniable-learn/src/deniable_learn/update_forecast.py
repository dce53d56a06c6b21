"""How exact the mean update of a round will be, before anybody is asked."""

import math
from dataclasses import dataclass

from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class UpdateForecast:
    """The noise that is to be expected in the mean update of so many clients.

    `noise` is the root of the mean squared length of the noise in one round, and `longest` the length of the longest update
    that the clip allows.
    """

    clients: int
    rounds: int
    noise: float
    longest: float

    def __post_init__(self) -> None:
        if isinstance(self.clients, bool) or not isinstance(self.clients, int) or self.clients < 1:
            raise InvalidParameter("The number of clients must be a whole number, at least one.")

    @property
    def ratio(self) -> float:
        """The noise over the longest update."""
        return self.noise / self.longest

    @property
    def hopeless(self) -> bool:
        """Whether the noise of all rounds together is longer than the sum of their updates, even if all clients agreed.

        Updates add up over rounds, and noise with the root of their number.
        """
        return self.ratio > math.sqrt(self.rounds)

    @property
    def needed(self) -> int:
        """The least number of clients that is not hopeless.

        >>> UpdateForecast(100, 4, noise=6.0, longest=1.0).needed
        900
        """
        return max(1, math.ceil(self.clients * self.ratio**2 / self.rounds * (1 - 1e-12)))

    def __str__(self) -> str:
        """What is to be expected, in a sentence.

        >>> str(UpdateForecast(100, 4, noise=0.5, longest=1.0))
        '100 clients, 4 rounds: the noise of a round is 0.5 times as long as the longest update.'
        """
        said = (
            f"{self.clients:,} clients, {self.rounds:,} rounds: the noise of a round is {self.ratio:.3g} times as long as "
            "the longest update."
        )
        if not self.hopeless:
            return said
        return (
            f"{said} Hopeless: even if all clients agreed in all rounds, noise would prevail. At least {self.needed:,} "
            "clients are needed."
        )
