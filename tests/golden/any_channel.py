"""Masks and errors for a base that is any finite channel: a row for each sensitive value, a column for each report."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from deniable.arrays import Floats
from deniable.errors import InvalidParameter


def envelope(channel: Sequence[Sequence[Fraction]], odds: Fraction) -> list[Fraction]:
    """The least mask: how likely each report must at least be under an open value."""
    return [max(column) / odds for column in zip(*channel, strict=True)]


def averaged(channel: Floats, hidden: float) -> Floats:
    """The published mask: the report on a sensitive value drawn at random, with this total probability."""
    return hidden * channel.mean(axis=0)


def inverse(channel: Floats) -> Floats:
    """What a report says about each value: a row a_x for each, with mean 1 under x and 0 under the others."""
    if np.linalg.matrix_rank(channel) < len(channel):
        raise InvalidParameter(
            "Two mixtures of values give the same reports in this channel, so nothing can be estimated without bias."
        )
    return np.asarray(np.linalg.pinv(channel).T, np.float64)


def channel_noise(channel: Floats, mask: Floats, shares: Floats, open_share: float) -> Floats:
    """n times the variance of each estimated share of a sensitive value, with these shares of people.

    The estimate adds up a_x over all protected reports, and takes off what the open values add on average, m_x, once for
    each that is told, divided by how often one is. The error of that is not independent of what it takes off: leaving the
    covariance out, as Eq. 31 of He et al. does, makes it look smaller by 2 open_share m_x^2 / n.
    """
    weight = inverse(channel)
    mean, told = weight @ mask, 1 - float(mask.sum())
    own = weight**2 @ channel.T - np.eye(len(channel))  # the variance of a_x under each sensitive value
    return own @ shares + open_share * (weight**2 @ mask + mean**2 / told)
