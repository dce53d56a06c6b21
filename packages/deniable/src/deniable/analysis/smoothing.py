"""Smoothing by a state-space model: a level that moves like a random walk, seen through noise of known variance.

    y(t) = x(t) + e(t),  e(t) with the known variance R(t);    x(t) = x(t - 1) + w(t),  w(t) with variance q per period

The Kalman filter and the smoother of Rauch, Tung and Striebel (1965) are exact for it. How much the level moves, q, is
chosen by maximum likelihood on a grid; 0 means that it stays where it is, and gives the weighted mean. Periods may be
missing.
"""

from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats, Ints

GRID = np.concatenate([[0.0], np.geomspace(1e-5, 1e2, 43)])  # of q, in units of the mean variance of the noise
LIKELIER = 2.0  # by how much the log-likelihood of a moving level must be larger, or it is taken not to move


@dataclass(frozen=True)
class Level:
    """The level in each period, of several series (one in each column), with its variance."""

    values: Floats
    variance: Floats
    moves: Floats  # q of each series


def smoothed(periods: Ints, values: Floats, variance: Floats) -> Level:
    """The level in each period from what was seen before and after it."""
    return smoothed_with(periods, values, variance, most_likely(periods, values, variance))


def smoothed_with(periods: Ints, values: Floats, variance: Floats, moves: Floats) -> Level:
    """The same for a level that is known to move so much: a weighted mean of what was seen, whatever that is."""
    mean, spread, _ = _filtered(periods, values, variance, moves)
    level, own = mean.copy(), spread.copy()
    steps = np.diff(periods).astype(np.float64)
    for t in range(len(periods) - 2, -1, -1):
        ahead = spread[t] + moves * steps[t]
        gain = spread[t] / ahead
        level[t] = mean[t] + gain * (level[t + 1] - mean[t])
        own[t] = spread[t] + gain**2 * (own[t + 1] - ahead)
    return Level(level, own, moves)


def filtered(periods: Ints, values: Floats, variance: Floats) -> Level:
    """The level in each period from what was seen until then, with q chosen anew in each period: what can be published."""
    moves = GRID[:, None] * variance.mean(axis=0)
    mean, spread, likelihood = _filtered(periods, values[:, None, :], variance[:, None, :], moves)
    best = np.array([_best(each) for each in likelihood])
    level, own = (np.take_along_axis(each, best[:, None, :], 1)[:, 0, :] for each in (mean, spread))
    return Level(level, own, np.take_along_axis(moves, best[-1:], 0)[0])


def most_likely(periods: Ints, values: Floats, variance: Floats) -> Floats:
    """The variance per period of the movement of each series that makes what was seen likeliest."""
    moves = GRID[:, None] * variance.mean(axis=0)
    likelihood = _filtered(periods, values[:, None, :], variance[:, None, :], moves)[2][-1]
    return np.asarray(np.take_along_axis(moves, _best(likelihood)[None, :], 0)[0])


def _best(likelihood: Floats) -> Ints:
    """The place in the grid with the largest likelihood; the first, no movement, unless another is clearly likelier."""
    best = likelihood.argmax(axis=0)
    return np.where(likelihood.max(axis=0) - likelihood[0] > LIKELIER, best, 0)


def _filtered(periods: Ints, values: Floats, variance: Floats, moves: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean and variance of the level after each period, and the log-likelihood until then; nothing is known before."""
    shape = np.broadcast_shapes(values.shape[1:], moves.shape)
    mean, spread, likelihood = (np.empty((len(periods), *shape)) for _ in range(3))
    mean[0], spread[0], likelihood[0] = values[0], variance[0], 0.0
    steps = np.diff(periods)
    for t in range(1, len(periods)):
        ahead = spread[t - 1] + moves * steps[t - 1]
        total = ahead + variance[t]
        gain, surprise = ahead / total, values[t] - mean[t - 1]
        mean[t] = mean[t - 1] + gain * surprise
        spread[t] = ahead * (1 - gain)
        likelihood[t] = likelihood[t - 1] - 0.5 * (np.log(total) + surprise**2 / total)
    return mean, spread, likelihood
