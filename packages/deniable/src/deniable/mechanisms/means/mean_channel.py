"""The mean through any finite channel: Laplace and Gaussian noise as references, and the best channel there is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.core import Coins, Drawn, PrivacyLoss, WeightTable, checked_epsilon, odds_below
from deniable.domains.interval import Interval
from deniable.errors import InvalidParameter, MissingExtra
from deniable.mechanisms.algebra.mean_formulas import duchi_scale, gaussian_scale, suboptimal_end
from deniable.mechanisms.means.mean_mechanism import MeanMechanism
from deniable.mechanisms.shares.finite_channel import worst_odds

TOTAL = 1 << 60  # what the weights of a row sum to
BIAS = 1e-9  # the largest distance of the mean report from the truth, where the interval is [-1, 1]
MOST_STEPS = 512  # of a channel that is written out
NEVER = 1e-10  # reports that are less likely than this in a computed channel are left out


@dataclass(frozen=True)
class MeanChannel(MeanMechanism):
    """Report k on grid point j with probability weights[j][k] / total; it stands for values[k] on [-1, 1].

    The loss is the largest ratio within a column, whatever was asked for. Channels whose mean report is not the truth are
    refused. `MeanChannel.optimal` is the channel with the smallest variance that the budget allows.
    """

    domain: Interval
    epsilon: float
    weights: Sequence[Sequence[int]]
    values: Sequence[float]
    table: WeightTable = field(init=False, repr=False, compare=False)  # the weights as an array, for sampling
    wire = "mean-channel-1"
    derived = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        table = WeightTable(self.weights if isinstance(self.weights, np.ndarray) else [list(row) for row in self.weights])
        shape, values = table.weights.shape, np.asarray(self.values, np.float64)
        if shape[0] != self.domain.size or values.shape != (shape[1],) or not np.isfinite(values).all():
            raise InvalidParameter(
                "A channel has a row of weights for each point of the grid, and a number for each column."
            )
        if np.abs(table.weights / table.total @ values - np.linspace(-1, 1, shape[0])).max() > BIAS:
            raise InvalidParameter(
                "The expected report of this channel is not the true value, so a mean of reports would be biased."
            )
        self._fix(weights=tuple(tuple(row) for row in table.weights.tolist()), values=tuple(values.tolist()), table=table)

    @cached_property
    def centred(self) -> Sequence[Fraction]:
        return [Fraction(value) for value in self.values]

    def row(self, index: int) -> Sequence[Fraction]:
        return [Fraction(weight, self.table.total) for weight in self.weights[index]]

    def chances(self, index: int) -> Floats:
        return self.table.weights[index] / self.table.total

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        return {"value": coins.pick_each(self.table, truth)}

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(worst_odds(self.table.weights))

    def delta(self, epsilon: float) -> float:
        """The smallest delta for which (epsilon, delta) privacy holds: what a report can give away beyond e^epsilon."""
        chances, odds = self.table.weights / self.table.total, float(odds_below(epsilon))
        beyond = (np.maximum(row - odds * chances, 0).sum(axis=1).max() for row in chances)
        return float(max(beyond))

    @classmethod
    def laplace(cls, domain: Interval, epsilon: float) -> "MeanChannel":
        """Two-sided geometric noise on the grid, cut at the ends: Laplace's mechanism, and a little better.

        A report at an end stands for all noise beyond it. Since the noise has no memory, that is one and the same mean
        beyond the end, 1 / (r - 1) steps, wherever the truth is; so the cut leaves no bias (r = e^(epsilon / steps)).
        """
        _check_steps(domain)
        steps = domain.steps
        rate = checked_epsilon(epsilon) / steps * (1 - 1e-12)  # room for rounding the weights
        distance = np.abs(np.arange(steps + 1)[:, None] - np.arange(steps + 1)[None, :])
        fall = np.array([math.exp(-rate * far) for far in range(steps + 1)])[distance]  # np.exp depends on the processor
        chances = math.tanh(rate / 2) * fall
        chances[:, [0, -1]] = fall[:, [0, -1]] / (1 + math.exp(-rate))
        values = np.linspace(-1, 1, steps + 1)
        values[[0, -1]] += np.array([-2, 2]) / steps / math.expm1(rate)
        return _channel(domain, epsilon, chances, values)

    @classmethod
    def gaussian(cls, domain: Interval, epsilon: float, delta: float = 1e-6) -> "MeanChannel":
        """Normal noise, on the grid and up to eight standard deviations: a reference that does NOT keep epsilon.

        It has (epsilon, delta) privacy: `delta(epsilon)` is the probability left over, `loss()` the loss that always holds.
        """
        _check_steps(domain)
        scale = gaussian_scale(epsilon, delta)
        step = 2 / domain.steps
        reach = math.ceil(8 * scale / step)
        stride = max(1, 2 * reach // 4096)  # in steps of the grid: wide noise does not need every place
        offsets = np.arange(-reach // stride - domain.steps // stride - 1, reach // stride + domain.steps // stride + 2)
        places: Floats = offsets.astype(np.float64) * stride * step
        x = np.linspace(-1, 1, domain.size)[:, None]
        chances = np.exp(-(((places - x) / scale) ** 2) / 2)
        return _channel(domain, epsilon, chances / chances.sum(axis=1, keepdims=True), places)

    @classmethod
    def optimal(cls, domain: Interval, epsilon: float, prior: ArrayLike | None = None, outputs: int = 101) -> "MeanChannel":
        """The unbiased channel with the smallest worst-case variance, or the smallest mean variance under a prior.

        A linear program over all channels with so many equally spaced reports, solved by HiGHS and made exact afterwards.
        """
        chances, values = _best_channel(domain, epsilon, prior, outputs)
        return _repaired(domain, epsilon, chances, values)


def _check_steps(domain: Interval) -> None:
    if not isinstance(domain, Interval) or domain.steps > MOST_STEPS:
        raise InvalidParameter(f"An explicit channel needs an Interval of at most {MOST_STEPS} steps.")


def _channel(domain: Interval, epsilon: float, chances: Floats, values: Floats) -> MeanChannel:
    """Whole weights for these probabilities; what rounding leaves over goes to the likeliest report of the row."""
    # Rounding is safe whichever way it goes: `loss` and the certificate are those of the whole weights, which are the law.
    # A report that rounding makes impossible for one number alone is an unbounded loss there, and is stated as such.
    weights = np.floor(chances / chances.sum(axis=1, keepdims=True) * TOTAL).astype(np.int64)
    weights[np.arange(len(weights)), weights.argmax(axis=1)] += TOTAL - weights.sum(axis=1)
    used = weights.max(axis=0) > 0
    return MeanChannel(domain, epsilon, weights[:, used].tolist(), values[used].tolist())


def _best_channel(domain: Interval, epsilon: float, prior: ArrayLike | None, outputs: int) -> tuple[Floats, Floats]:
    """The solution of the linear program: the probabilities p[j, k] and the least of each column, m[k]; m <= p <= odds m."""
    _check_steps(domain)
    if not 3 <= outputs <= 1001:
        raise InvalidParameter("The number of reports must be from 3 to 1001.")
    try:
        from scipy.optimize import linprog
        from scipy.sparse import coo_array
    except ImportError:
        raise MissingExtra("The best channel", "stats") from None
    inputs, odds = domain.size, float(odds_below(epsilon))
    x = np.linspace(-1, 1, inputs)
    values = np.linspace(-1, 1, outputs) * 1.05 * max(duchi_scale(epsilon), suboptimal_end(epsilon))
    weights = None if prior is None else np.asarray(prior, np.float64)
    if weights is not None and (weights.shape != (inputs,) or (weights < 0).any() or abs(weights.sum() - 1) > 1e-9):
        raise InvalidParameter(
            f"A prior must be {inputs} non-negative shares that sum to 1, one for each point of the grid."
        )
    many = inputs * outputs  # variables: p row by row, then m, then the worst variance t
    j, k = np.divmod(np.arange(many), outputs)
    ones, t = np.ones(many), many + outputs
    each = np.arange(many)
    rows, columns = [each, each, many + each, many + each], [each, many + k, each, many + k]
    entries = [-ones, ones, ones, -odds * ones]  # m <= p, and p <= odds m
    limits = np.zeros(2 * many)
    cost = np.zeros(many + outputs + 1)
    if weights is None:
        cost[t] = 1
        rows += [2 * many + j, 2 * many + np.arange(inputs)]
        columns += [each, np.full(inputs, t)]
        entries += [values[k] ** 2, -np.ones(inputs)]
        limits = np.append(limits, x**2)
    else:
        cost[:many] = weights[j] * values[k] ** 2
    above = coo_array(
        (np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))), shape=(len(limits), many + outputs + 1)
    )
    equal = coo_array(
        (np.append(ones, values[k]), (np.append(j, inputs + j), np.tile(each, 2))),
        shape=(2 * inputs, many + outputs + 1),
    )
    sums = np.append(np.ones(inputs), x)
    found = linprog(cost, above.tocsr(), limits, equal.tocsr(), sums, (0, None), method="highs")
    if not found.success:
        raise InvalidParameter("No unbiased channel with so few reports fits in this budget. Allow more reports.")
    return found.x[:many].reshape(inputs, outputs), values


def _repaired(domain: Interval, epsilon: float, chances: Floats, values: Floats) -> MeanChannel:
    """The same channel with its ratios at most the odds and its means the truth, exactly or as near as floats come."""
    used = chances.max(axis=0) > NEVER
    chances, values = np.maximum(chances[:, used], 0), values[used]
    chances /= chances.sum(axis=1, keepdims=True)
    allowed, x = odds_below(epsilon), np.linspace(-1, 1, domain.size)
    common = chances.mean(axis=0)
    for share in 10.0 ** np.arange(-12, -2):  # mixed with what all have in common, the ratios fall
        mixed = (1 - share) * chances + share * common
        lost = x - mixed @ values
        moved = values + np.linalg.lstsq(mixed / np.sqrt(common), lost, rcond=1e-9)[0] / np.sqrt(common)
        if np.abs(mixed @ moved - x).max() > BIAS / 2:
            continue
        channel = _channel(domain, epsilon, mixed, moved)
        odds = channel.loss().odds
        if odds is not None and odds <= allowed:
            return channel
    raise InvalidParameter("The best channel could not be made exact for this budget. Use fewer steps or reports.")
