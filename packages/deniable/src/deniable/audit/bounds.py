"""Exact confidence limits for the odds between two answers, from counts alone (Clopper, Pearson 1934)."""

import math

_SAFE = 1 - 1e-6  # of the error allowed: covers the rounding of the logarithms below


def share_at_least(hits: int, n: int, error: float) -> float:
    """The lower limit of a probability that gave `hits` out of n; it is too high with at most this probability.

    >>> share_at_least(0, 10, 0.01), round(share_at_least(10, 10, 0.01), 4)
    (0.0, 0.631)
    """
    if hits == 0:
        return 0.0
    if hits == n:
        return float(error ** (1 / n)) * (1 - 1e-12)
    low, high = 0.0, hits / n
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _tail(hits, n, middle) <= error * _SAFE else (low, middle)
    return low


def share_at_most(hits: int, n: int, error: float) -> float:
    """The upper limit of a probability that gave `hits` out of n."""
    return 1.0 - share_at_least(n - hits, n, error)


def loss_from_coins(first: int, second: int, error: float) -> float:
    """The epsilon that is lost at least, if an event came `first` times under one value and `second` times under another.

    Before each trial a fair coin chose the value. Then each time that the event happened, the value was the first one with
    probability r = p1 / (p1 + p0), independently: a binomial number, one limit, and p1 / p0 = r / (1 - r).

    >>> loss_from_coins(0, 0, 0.01), round(loss_from_coins(731, 269, 0.001), 2)
    (0.0, 0.78)
    """
    if first == 0:
        return 0.0
    share = share_at_least(first, first + second, error)
    return max(0.0, math.log(share / (1 - share))) if 0 < share < 1 else 0.0


def loss_from_shares(first: int, of_first: int, second: int, of_second: int, error: float, delta: float = 0.0) -> float:
    """The same from two shares with a limit each, so that each may err half as often; `delta` is given away first.

    Whatever is (epsilon, delta) private has p1 <= e^epsilon p0 + delta.
    """
    if not of_first or not of_second:
        return 0.0
    low = share_at_least(first, of_first, error / 2) - delta
    high = share_at_most(second, of_second, error / 2)
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


def _tail(hits: int, n: int, p: float) -> float:
    """The probability of at least `hits` out of n, for p below hits / n: the incomplete beta function, as a fraction."""
    a, b = hits, n - hits + 1
    front = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(p) + b * math.log1p(-p) if p > 0 else -math.inf
    )
    return math.exp(front) * _continued(a, b, p) / a if front > -745 else 0.0


def _continued(a: float, b: float, x: float) -> float:
    """Lentz's evaluation of the continued fraction of the incomplete beta function, for x < (a + 1) / (a + b + 2)."""
    tiny = 1e-300
    c, d = 1.0, 1 / max(1 - (a + b) * x / (a + 1), tiny)
    whole = d
    for m in range(1, 100_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 + term * d, 1 + term / c
            d, c = 1 / (d if abs(d) > tiny else tiny), c if abs(c) > tiny else tiny
            whole *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return whole
