"""How a budget for one edge is divided between the rounds."""

from dataclasses import dataclass

from deniable.core import checked_epsilon
from deniable.errors import InvalidParameter

DEGREES = 0.08


@dataclass(frozen=True)
class Split:
    """Shares of epsilon: for noisy degrees, for the response, and for the second round.

    An edge is in the list of one person only, that of its upper end, so that all three add up to what one edge costs. Less
    for the degrees takes more bits, and now and then makes a crowded chunk. `widening` is the share of the second round that
    pays for a scale of the noise that depends on the graph. `foreseen_split` works out all but the first from the noisy
    degrees.
    """

    epsilon: float
    degrees: float = DEGREES
    response: float = 0.48
    widening: float = 0.35

    def __post_init__(self) -> None:
        checked_epsilon(self.epsilon)
        shares = (self.degrees, self.response, 1 - self.degrees - self.response)
        if not all(0 < share < 1 for share in shares):
            raise InvalidParameter("The shares of the degrees and of the response are above 0 and together below 1.")
        if not 0 < self.widening < 1:
            raise InvalidParameter("The share of the second round that is spent on widening must lie between 0 and 1.")

    @property
    def for_degrees(self) -> float:
        """What the noisy number of neighbours costs."""
        return self.degrees * self.epsilon

    @property
    def for_response(self) -> float:
        """What the response costs, all of it: 2 alpha eps where it is compressed."""
        return self.response * self.epsilon

    @property
    def for_second_round(self) -> float:
        """What the second round costs."""
        return (1 - self.degrees - self.response) * self.epsilon
