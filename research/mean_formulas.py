"""The published mechanisms for a mean, on all of [-1, 1] and without a grid: their constants, variances and crossings.

The formulas say what to expect of the mechanisms that run, which are finite channels on a grid, and where one mechanism
becomes better than another. E = e^epsilon and h = e^(epsilon / 2).
"""

import math
from collections.abc import Callable

from deniable.core import checked_epsilon
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra import mean_formulas as shipped


def duchi(epsilon: float, x: float) -> dict[str, float]:
    """Outputs +-C with C = (E + 1) / (E - 1) and P(+C) = 1/2 + x / (2 C) (Duchi, Jordan, Wainwright 2013)."""
    c = shipped.duchi_scale(epsilon)
    return {"C": c, "p_plus": 0.5 + x / (2 * c), "var": shipped.duchi(epsilon, x), "mae": c - x * x / c}


def piecewise(epsilon: float, x: float) -> dict[str, float]:
    """Density `high` on [l, r], which moves with x, and high / E elsewhere in [-C, C] (Wang et al. 2019)."""
    h = math.exp(epsilon / 2)
    c = (h + 1) / (h - 1)
    left = (c + 1) * x / 2 - (c - 1) / 2
    high = (h * h - h) / (2 * h + 2)
    return {
        "C": c,
        "l": left,
        "r": left + c - 1,
        "high": high,
        "low": high / (h * h),
        "p_center": h / (h + 1),
        "var": shipped.piecewise(epsilon, x),
        "mae": _absolute_error(x, c, left, left + c - 1, high, high / (h * h)),
    }


def suboptimal(epsilon: float, x: float) -> dict[str, float]:
    """The piecewise mechanism with a window 1 / t as wide as its way, t = e^(epsilon / 3): PM-SUB (Zhao et al. 2020)."""
    e, t = math.exp(epsilon), math.exp(epsilon / 3)
    a = shipped.suboptimal_end(epsilon)
    high = t * e * (e - 1) / (2 * (e + t) ** 2)
    left, right = ((e + t) * (x * t + side) / (t * (e - 1)) for side in (-1, 1))
    return {
        "t": t,
        "A": a,
        "high": high,
        "low": high / e,
        "L": left,
        "R": right,
        "p_center": e / (e + t),
        "var": shipped.suboptimal(epsilon, x),
        "mae": _absolute_error(x, a, left, right, high, high / e),
    }


def _absolute_error(x: float, end: float, left: float, right: float, high: float, low: float) -> float:
    """The mean of |y - x| under a density `high` on [left, right] and `low` elsewhere in [-end, end]."""

    def area(start: float, stop: float) -> float:
        """The integral of |y - x| from start to stop."""
        return sum(side * (stop_ - x) * abs(stop_ - x) / 2 for side, stop_ in ((1, stop), (-1, start)))

    return low * area(-end, end) + (high - low) * area(left, right)


def hybrid(epsilon: float, x: float) -> dict[str, float]:
    """The piecewise mechanism with probability alpha, else Duchi's; alpha = 0 up to epsilon 0.609 (Wang et al. 2019)."""
    return {"alpha": shipped.hybrid_share(epsilon), "var": shipped.hybrid(epsilon, x)}


def hybrid_formula(epsilon: float) -> float:
    """The variance of the hybrid with alpha = 1 - 1/h, which is the same for every x, whether or not it pays."""
    e, h = math.exp(epsilon), math.exp(epsilon / 2)
    return (h + 3) / (3 * h * (h - 1)) + (e + 1) ** 2 / (h * (e - 1) ** 2)


def three_outputs(epsilon: float, x: float) -> dict[str, float]:
    """Outputs -C, 0 and C; the probabilities are linear in |x| on either side of 0."""
    c, minus, zero, plus = shipped.three_outputs_law(epsilon, x)
    found = {"a": shipped.three_outputs_share(epsilon), "C": c, "p_minus": minus, "p_zero": zero, "p_plus": plus}
    return found | {"var": shipped.three_outputs(epsilon, x)}


def laplace(epsilon: float) -> dict[str, float]:
    """x plus noise of density proportional to e^(-|y| epsilon / 2) (Dwork et al. 2006)."""
    return {"scale": 2 / epsilon, "var": 8 / epsilon**2, "mae": 2 / epsilon}


def worst_variances(epsilon: float) -> dict[str, float]:
    """The largest variance over x in [-1, 1] of every published mechanism.

    >>> {name: round(variance, 3) for name, variance in worst_variances(1.0).items()}
    {'DM': 4.683, 'PM': 5.224, 'HM': 4.289, 'ThreeOutputs': 4.455, 'PM_SUB': 5.082, 'Laplace': 8.0}
    """
    return {name: worst(epsilon) for name, worst in WORST.items() if name != "HM_formula"}


def _worst_three(epsilon: float) -> float:
    e, found = math.exp(epsilon), three_outputs(epsilon, 0)
    x = min(1.0, found["C"] ** 2 * found["a"] * (1 - 1 / e) / 2)  # where the concave variance is largest
    return three_outputs(epsilon, x)["var"]


WORST: dict[str, Callable[[float], float]] = {
    "DM": lambda epsilon: duchi(epsilon, 0)["var"],
    "PM": lambda epsilon: piecewise(epsilon, 1)["var"],
    "HM": lambda epsilon: hybrid(epsilon, 0)["var"],
    "HM_formula": hybrid_formula,
    "ThreeOutputs": _worst_three,
    "PM_SUB": lambda epsilon: suboptimal(epsilon, 1)["var"],
    "Laplace": lambda epsilon: laplace(epsilon)["var"],
}


def crossover(first: str, second: str, low: float, high: float) -> float:
    """The epsilon between `low` and `high` at which two worst-case variances are equal, found by bisection.

    >>> round(crossover("ThreeOutputs", "PM_SUB", 1.8, 3.0), 6)
    2.561089
    """
    if first not in WORST or second not in WORST:
        raise InvalidParameter(f"There are formulas for {', '.join(WORST)}.")

    def gap(epsilon: float) -> float:
        return WORST[first](epsilon) - WORST[second](epsilon)

    low, high = checked_epsilon(low), checked_epsilon(high)
    if gap(low) * gap(high) > 0:
        raise InvalidParameter("The two variances do not cross between these epsilons. Move the ends.")
    rising = gap(high) > 0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if (gap(middle) > 0) == rising else (middle, high)
    return (low + high) / 2


def sampled_coordinates(dimensions: int, epsilon: float) -> int:
    """The published rule for how many coordinates of a vector to report: epsilon / 2.5 of them (Wang et al. 2019)."""
    return max(1, min(dimensions, math.floor(epsilon / 2.5)))


def sampled_variance(name: str, dimensions: int, epsilon: float, x: float) -> float:
    """The variance of one coordinate when k are reported with epsilon / k each: (d / k) (Var(x) + x^2) - x^2."""
    k = sampled_coordinates(dimensions, epsilon)
    at: dict[str, Callable[[float, float], dict[str, float]]] = {
        "DM": duchi,
        "PM": piecewise,
        "HM": hybrid,
        "ThreeOutputs": three_outputs,
        "PM_SUB": suboptimal,
    }
    if name not in at:
        raise InvalidParameter(f"There are formulas for {', '.join(at)}.")
    return dimensions / k * (at[name](epsilon / k, x)["var"] + x * x) - x * x
