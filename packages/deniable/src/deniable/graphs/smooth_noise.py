"""Noise for smooth sensitivity whose privacy loss is the budget wherever it falls: no part of the budget is left over."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.arrays import Floats
from deniable.core import Coins, checked_epsilon
from deniable.errors import InvalidParameter
from deniable.graphs.noise import smooth_sensitivity, uniforms


@dataclass(frozen=True)
class SmoothNoise:
    """Noise that is S times a draw u, for a count whose smooth sensitivity is S; `tail` is how fast its tails fall.

    A change of one edge moves the count by at most S and S by at most a factor e^beta, beta = epsilon / tail. Let the
    density of u be e^-l. Along a path that moves the centre by S and ln S by beta, the logarithm of the density changes by
    at most l' + beta |u l' - 1|. Setting this to epsilon gives l' = (epsilon - beta) / (1 - beta u) up to u = 1 / epsilon
    and l' = (epsilon + beta) / (1 + beta u) beyond: a density that falls as (1 - v)^(tail - 1), then as
    (1 + v)^-(tail + 1), v being beta |u|. Moments below `tail` are finite. As `tail` grows it becomes Laplace's.

    >>> noise = SmoothNoise(epsilon=0.5, tail=5.0)
    >>> noise.beta, round(noise.deviation, 2)
    (0.1, 4.18)
    """

    epsilon: float
    tail: float

    def __post_init__(self) -> None:
        checked_epsilon(self.epsilon)
        if not self.tail > 2:
            raise InvalidParameter("The tail of the noise must be above 2, so that its variance is finite.")

    @property
    def beta(self) -> float:
        """By what factor e^beta the sensitivity may change with one edge."""
        return self.epsilon / self.tail

    @cached_property
    def deviation(self) -> float:
        """The standard deviation for sensitivity one."""
        g, low, high = self.tail, 1 - 1 / self.tail, 1 + 1 / self.tail

        def inner(w: float) -> float:  # of (1 - w)^2 w^(g - 1)
            return w**g / g - 2 * w ** (g + 1) / (g + 1) + w ** (g + 2) / (g + 2)

        core = inner(1.0) - inner(low)
        outer = self._ratio * (high ** (2 - g) / (g - 2) - 2 * high ** (1 - g) / (g - 1) + high**-g / g)
        return math.sqrt((core + outer) / sum(self._masses)) / self.beta

    @cached_property
    def size(self) -> float:
        """The mean absolute size for sensitivity one."""
        g, low, high = self.tail, 1 - 1 / self.tail, 1 + 1 / self.tail
        core = (1 - low**g) / g - (1 - low ** (g + 1)) / (g + 1)  # of (1 - w) w^(g - 1)
        outer = self._ratio * (high ** (1 - g) / (g - 1) - high**-g / g)
        return (core + outer) / sum(self._masses) / self.beta

    @property
    def _ratio(self) -> float:
        """What joins the two parts of the density where they meet."""
        return (1 - 1 / self.tail) ** (self.tail - 1) * (1 + 1 / self.tail) ** (self.tail + 1)

    @property
    def _masses(self) -> tuple[float, float]:
        """Of the middle and of the tail on one side, before they are divided by their sum."""
        core = (1 - (1 - 1 / self.tail) ** self.tail) / self.tail
        return core, self._ratio * (1 + 1 / self.tail) ** -self.tail / self.tail

    def log_density(self, u: Floats) -> Floats:
        """The logarithm of the density for sensitivity one."""
        v, g = self.beta * np.abs(u), self.tail
        core = (g - 1) * np.log1p(-np.minimum(v, 1 / g))
        outer = math.log(self._ratio) - (g + 1) * np.log1p(v)
        return np.where(v <= 1 / g, core, outer) - math.log(2 * sum(self._masses) / self.beta)

    def sensitivities(self, local: Floats, step: float) -> Floats:
        """Smooth sensitivities of counts whose local ones are these, and change by at most `step` with one edge."""
        return smooth_sensitivity(local, step, self.beta)

    def draw(self, sensitivities: Floats, coins: Coins) -> Floats:
        """Independent noise for counts of these smooth sensitivities."""
        size, g, whole = len(sensitivities), self.tail, sum(self._masses)
        side, chance = uniforms(size, coins) - 0.5, uniforms(size, coins)
        inside = chance * whole < self._masses[0]
        core = 1 - (1 - g * np.where(inside, chance, 0.0) * whole) ** (1 / g)
        outer = (g * (1 - chance) * whole / self._ratio) ** (-1 / g) - 1
        return np.sign(side) * np.where(inside, core, outer) / self.beta * sensitivities
