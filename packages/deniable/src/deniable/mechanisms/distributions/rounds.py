"""Several collections about the same number, each from other people, as one distribution."""

from collections.abc import Sequence

import numpy as np

from deniable.arrays import Floats
from deniable.core import Tally
from deniable.errors import InvalidParameter
from deniable.mechanisms.distributions.distribution import Distribution
from deniable.mechanisms.distributions.distribution_mechanism import DistributionMechanism, least_squares_inverse
from deniable.mechanisms.distributions.fitting import fitted

Round = tuple[DistributionMechanism, Tally]


def combined(rounds: Sequence[Round]) -> Distribution:
    """The distribution behind the tallies of several mechanisms, to which different people of one population reported.

    All reports are estimated together by generalised least squares. People are assigned to rounds at random, so that with
    B the estimate's matrix, P and n a round's matrix and people, and f the shares, the covariance of the error is the sum
    over rounds of n B (diag(f P) - (f P)' f P) B', less (diag(f) - f' f) / N: what drawing all N people would add. A later
    round may depend on earlier ones, since its reports are unbiased whatever those were.
    """
    rounds = [(mechanism, tally) for mechanism, tally in rounds if tally.n]
    _check(rounds)
    mechanisms, people = [mechanism for mechanism, _ in rounds], np.array([tally.n for _, tally in rounds], np.float64)
    total, first = people.sum(), mechanisms[0]
    matrix = np.concatenate([n / total * each.matrix for n, each in zip(people, mechanisms, strict=True)], axis=1)
    counts = np.concatenate([tally.counts for _, tally in rounds])
    inverse = least_squares_inverse(matrix)
    values, heaps = fitted(matrix, counts, first.circular)

    def covary() -> Floats:
        """For fitted shares."""
        spread = np.outer(values, values) - np.diag(values)
        ends = np.cumsum([0, *(each.matrix.shape[1] for each in mechanisms)])
        for n, each, start, end in zip(people, mechanisms, ends[:-1], ends[1:], strict=True):
            part, reports = inverse[:, start:end], values @ each.matrix
            mean = part @ reports
            spread += n / total * ((part * reports) @ part.T - np.outer(mean, mean))
        return spread / total

    return Distribution(first.grid, int(total), values, inverse @ counts / total, covary, tuple(heaps))


def _check(rounds: Sequence[Round]) -> None:
    if not rounds:
        raise InvalidParameter("There are no reports in any round. Wait for the first ones.")
    for mechanism, tally in rounds:
        if not isinstance(mechanism, DistributionMechanism) or mechanism.domain.spec() != rounds[0][0].domain.spec():
            raise InvalidParameter("All rounds ask for the distribution of the same number: with the same domain.")
        mechanism.check_tally(tally)
