"""How often to draw each of several groups of attributes, so that the errors of all attributes together are smallest.

`known[g][i]` is what one report of group g says about attribute i: 1 over the sum of the variances of its shares, or 0. If
group g is drawn with probability w_g, attribute i has the error 1 / J_i with J_i the sum of w_g known[g][i], and the sum of
these over all attributes is a convex function of w.
"""

from collections.abc import Sequence

import numpy as np

from deniable.arrays import Floats
from deniable.errors import InvalidParameter

ROUNDS = 2000
CLOSE = 1e-6  # how far above the smallest the error may stay
NEAR = 1.002  # how far above the smallest the error may be because weights are whole numbers


def error(known: Floats, shares: Floats) -> float:
    """The sum of the errors of all attributes from one report, if the groups are drawn in these proportions.

    >>> error(np.eye(2), np.array([1.0, 1.0]))
    4.0
    """
    return float((1 / (shares / shares.sum() @ known)).sum())


def best_shares(known: Floats) -> Floats:
    """The proportions with the smallest error, by multiplicative steps (Silvey, Titterington, Torsney 1978).

    Where groups have no attribute in common, the first step gives them: in proportion to the roots of their errors.

    >>> best_shares(np.diag([1.0, 1 / 9])).round(9).tolist()
    [0.25, 0.75]
    """
    shares = np.full(len(known), 1 / len(known))
    for _ in range(ROUNDS):
        slopes = known @ (shares @ known) ** -2.0
        if slopes.max() <= (1 + CLOSE) * error(known, shares):  # no report of any group would lower it by more than that
            break
        shares = shares * np.sqrt(slopes)
        shares /= shares.sum()
    return shares


def whole_weights(known: Floats, most: int) -> tuple[int, ...]:
    """Whole weights from 1 with nearly the smallest error, and with as small a sum as that takes, up to `most`.

    >>> whole_weights(np.eye(3), 256), whole_weights(np.diag([1.0, 1 / 9]), 256)
    ((1, 1, 1), (1, 3))
    """
    if not 1 <= len(known) <= most:
        raise InvalidParameter(f"At most {most} groups can be drawn from. Make larger groups.")
    if not known.sum(axis=0).all():
        raise InvalidParameter("Every attribute must be in a group.")
    shares = best_shares(known)
    made = [_whole(shares, total) for total in range(len(known), most + 1)]
    errors = [error(known, np.array(weights, np.float64)) for weights in made]
    least = min(errors)
    return next(
        weights for weights, found in zip(made, errors, strict=True) if found <= max(NEAR * error(known, shares), least)
    )


def _whole(shares: Sequence[float] | Floats, total: int) -> tuple[int, ...]:
    """Whole numbers from 1 with this sum, near these proportions."""
    wanted = np.maximum(np.asarray(shares, np.float64) * total - 1, 0)
    spare = total - len(wanted)
    wanted *= spare / wanted.sum() if wanted.sum() > 0 else 0
    kept = np.floor(wanted + 1e-9).astype(np.int64)
    kept[np.argsort(kept - wanted, kind="stable")[: spare - kept.sum()]] += 1
    return tuple((1 + kept).tolist())
