"""Formulas of utility-optimized response as it was published (He et al.), numbered as there."""

import numpy as np

from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.tuning import Real


def disguise(values: int, p: Real, q: Real) -> Real:
    """Eq. 9: f, at which a disguised open answer supports a sensitive value as often as another sensitive one does."""
    return values * q / (p + (values - 1) * q)


def disclosed_beside(family: str, values: int, parameter: Real, odds: Real) -> Real:
    """z as printed: after Eq. 34 for uSS (subsets of k), 39 for uUE (p), 45 for uLH (g) and 59 for uWheel (l)."""
    match family:
        case "uSS":
            return 1 - (values - 1) / (parameter * odds + values - parameter - odds)
        case "uUE":
            return parameter * (odds - 1) / (odds + values - 1)
        case "uLH":
            return (odds - 1) / (odds + parameter - 1)
        case "uWheel":
            return parameter * (odds - 1) / (parameter * odds + 1 - parameter)
    raise InvalidParameter("The published mechanisms are uSS, uUE, uLH and uWheel.")


def published_error(values: int, p: Real, q: Real, disclosed: Real, open_share: Real) -> Real:
    """Eq. 28: n times the sum of all variances."""
    own = (1 - open_share) * (1 - p - q) / (p - q) + values * q * (1 - q) / (p - q) ** 2
    return own + open_share * (1 - disclosed) / disclosed


def true_odds(values: int, odds: Real, hidden: Real, load: int) -> Real:
    """How much likelier a report on a sensitive value is than under an open one, if it supports `load` of the values.

    A sensitive value drawn at random gives it the mean of the two levels, one of which is `odds` times the other.
    """
    return values * odds / (hidden * (load * odds + values - load))


def published_optimum(values: int, odds: float, open_share: float) -> dict[str, float]:
    """The closed forms of Eqs. 37, 43, 49 and 63: the k, p, g and l that the paper recommends."""
    s, e, t = values, odds, open_share
    k = s / (e * np.sqrt((s - 1) * (e * (s + t - 1) - t) / (e * ((e - 1) * t + (s - 1) ** 2))) + 1)
    p = 1 / (np.sqrt((e * s + (e - 1) * (t - 1)) / (e * (s - (e - 1) * (t - 1)))) + 1)
    g = e * np.sqrt((e * (s + t - 1) - t + 1) / (e * (e + s - 1))) + 1
    return {"k": float(k), "p": float(p), "g": float(g), "l": float(1 / g)}
