"""The expected loss that no law under metric privacy can beat: prices of the answers, checked in whole numbers.

Proof. Let y be any prices, and P[x, z] a law that keeps its limits. For one release z, write c_x = P[x, z] and let a_x be
prior_x loss(x, z) - y_x. A flow from u to v of amount f >= 0 has f (c_v - g c_u) >= 0, with g any number up to
exp(-limits[u, v]). So the sum of a_x c_x is at least that of r_x c_x, where r_x is a_x, less what flows in, plus g times
what flows out. If no r_x is below -s w_x, for weights w > 0 and all z, then summed over z the expected loss is at least the
sum of y_x - s w_x: the probabilities of each answer sum to one. Every choice of prices and flows proves something.

Prices that prove much are those of a program in which rows sum to one only on average, over neighbourhoods of some answers:
its prices are smooth, and few columns (`metric_columns`) are needed. What they prove is little below the optimum.
"""

import math
from collections.abc import Iterable

import numpy as np

from deniable.arrays import Floats, Ints, Progress
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.interior import mixture
from deniable.mechanisms.algebra.metric_columns import Columns, Flow

BITS, GAIN_BITS, WEIGHT_BITS = 33, 26, 20  # binary digits of losses and prices, of gains, and of weights
CENTRES = (16, 48, 1024)  # answers in whose neighbourhoods prices are given; more than the first where neighbours differ
SMOOTH = 0.4  # epsilon between neighbours up to which prices are smooth
NEAR = 0.02  # the share of a known loss below it that is near enough
FEW = 200  # answers up to which the columns of all releases are found in every round
TRIED = 60  # releases of more answers whose columns are
ROUNDS = 8  # of prices at most
CLOSE = 2e-3  # the share of the loss by which columns may miss the best, and half of what prices may miss
CENTRED = 3e-3  # how near to the optimum of the few columns the prices are


def proved(columns: Columns, prices: Floats, flows: Iterable[Flow]) -> float:
    """What these prices and flows prove, in whole numbers; there must be a flow for every release, or it is taken as none.

    >>> apart = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> two = Columns(apart, math.log(3) * apart, np.array([0.5, 0.5]))
    >>> there, back = (Flow(z, np.array([z]), np.array([1 - z]), np.array([0.375])) for z in (0, 1))
    >>> round(proved(two, np.array([0.125, 0.125]), [there, back]), 6)  # the truth with probability 3/4
    0.25
    """
    unit = float((columns.prior @ columns.losses).min())
    if not 0 < unit < math.inf:
        return 0.0
    scale = 2.0 ** (BITS - math.ceil(math.log2(float(columns.losses.max()))))
    paid = np.floor(columns.paid * (1 - 2.0**-50) * scale).astype(np.int64)
    whole = np.floor(np.clip(prices, -unit, unit) * scale).astype(np.int64)
    gains = np.floor(np.exp(-columns.limits * (1 + 2.0**-50)) * (1 - 2.0**-50) * (1 << GAIN_BITS)).astype(np.int64)
    weights = np.rint(columns.weights * (1 << WEIGHT_BITS)).astype(np.int64) + 1
    given, short = {flow.release: flow for flow in flows}, 0
    for release in range(columns.size):
        left = (paid[:, release] - whole) << GAIN_BITS
        flow = given.get(release)
        amounts = np.zeros(0, np.int64) if flow is None else np.floor(flow.amounts * scale).astype(np.int64)
        if flow is not None and amounts.sum() < 1 << (BITS + 1):  # sums stay below 2^62
            np.add.at(left, flow.targets, -(amounts << GAIN_BITS))
            np.add.at(left, flow.sources, amounts * gains[flow.sources, flow.targets])
        short = max(short, int((-(left // weights)).max()))
    total = (int(whole.sum()) << GAIN_BITS) - short * int(weights.sum())
    return math.nextafter(total / (scale * (1 << GAIN_BITS)) * (1 - 2.0**-50), -math.inf)


def metric_bound(columns: Columns, rays: Floats, known: float, progress: Progress | None = None) -> tuple[float, Floats]:
    """The expected loss that no law can beat, as far as it is proved, and columns that are good for other things.

    `rays` are columns to begin with, `known` is a loss that some law has: with prices in more neighbourhoods the bound
    comes nearer to it. `progress` is called with the share that is done.
    """
    size = columns.size
    tried = far_apart(columns.losses, size if size <= FEW else TRIED)
    best: tuple[float, Floats] = (-math.inf, np.zeros(size))
    smooth = float(np.median(np.sort(columns.limits, axis=1)[:, 1])) < SMOOTH
    for level, centres in enumerate(CENTRES):
        found, rays = _climbed(columns, rays, tried, min(centres, size))
        best = max(best, found, key=lambda pair: pair[0])
        if progress is not None:
            progress(0.4 * (level + 1) / len(CENTRES))
        if smooth or best[0] >= (1 - NEAR) * known or centres >= size:
            break
    # Those already tried come first: they know how low values get, and others need be found only as far as that.
    order = np.concatenate([tried, np.setdiff1d(np.arange(size), tried)])
    close, flows, added = CLOSE * float((columns.prior @ columns.losses).min()), list[Flow](), list[Floats]()
    for place, each in enumerate(columns.priced(best[1], order, rays, close)):
        flows.append(each.flow)
        added.append(each.column)
        if progress is not None:
            progress(0.4 + 0.6 * (place + 1) / size)
    return max(0.0, proved(columns, best[1], flows)), np.array(added)


def _climbed(columns: Columns, rays: Floats, tried: Ints, centres: int) -> tuple[tuple[float, Floats], Floats]:
    """The best prices that rounds of columns lead to, with what they prove for the releases tried, and all columns."""
    near, sums = neighbourhoods(columns, centres)
    best: tuple[float, Floats] = (-math.inf, np.zeros(columns.size))
    close = CLOSE * float((columns.prior @ columns.losses).min())
    for _ in range(ROUNDS):
        scaled = rays / (rays @ columns.weights)[:, None]
        costs = (scaled @ columns.paid).min(axis=1)
        try:
            found = mixture((scaled @ near / sums).T, np.ones(len(sums)), costs, CENTRED, kept=0.01)
        except InvalidParameter:
            break  # what was found so far counts
        prices = near @ (found.prices / sums)
        priced = list(columns.priced(prices, tried, rays, close))
        worth = float(prices.sum()) + min(0.0, *(each.least for each in priced))
        best = max(best, (worth, prices), key=lambda pair: pair[0])
        new = [each.column for each in priced if each.least < 0]
        if not new or worth >= (1 - 2 * CLOSE) * float(prices.sum()):
            break
        rays = np.vstack([rays, *new])
    return best, rays


def neighbourhoods(columns: Columns, count: int) -> tuple[Floats, Floats]:
    """For each answer its share of the prior, spread over the centres near it, and the sums for each centre."""
    centres = far_apart(columns.losses, count)
    apart = columns.losses[:, centres]
    width = float(apart.min(axis=1).max()) or 1.0
    close = np.exp(-((apart / width) ** 2))
    near = columns.prior[:, None] * close / close.sum(axis=1, keepdims=True)
    kept = near.sum(axis=0) > 0
    return near[:, kept], near[:, kept].sum(axis=0)


def far_apart(losses: Floats, count: int) -> Ints:
    """So many answers, each as far as possible from those before it; the first is the best constant one."""
    chosen, far = [int(losses.sum(axis=1).argmin())], np.full(len(losses), np.inf)
    while len(chosen) < min(count, len(losses)):
        far = np.minimum(far, losses[chosen[-1]])
        chosen.append(int(far.argmax()))
    return np.array(chosen)
