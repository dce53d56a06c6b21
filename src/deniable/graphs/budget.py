"""How a budget for one edge is divided between the rounds."""

from dataclasses import dataclass

from deniable.core.odds import checked_epsilon
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class Split:
    """Shares of epsilon: for noisy degrees, for the response, and for the second round.

    An edge is in the list of one person only, that of its upper end, so that all three add up to what one edge costs. The
    defaults suit graphs of some thousand vertices and are fitted to none. Less for the degrees gives a slightly smaller
    error for more bits, and now and then a crowded chunk.
    """

    epsilon: float
    degrees: float = 0.08
    response: float = 0.48

    def __post_init__(self) -> None:
        checked_epsilon(self.epsilon)
        shares = (self.degrees, self.response, 1 - self.degrees - self.response)
        if not all(0 < share < 1 for share in shares):
            raise InvalidParameter("The shares of the degrees and of the response are above 0 and together below 1.")

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
