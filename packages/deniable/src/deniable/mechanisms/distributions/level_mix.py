"""How often to use each of several channels, so that many linear questions are answered best."""

from collections.abc import Sequence

import numpy as np

from deniable.arrays import Floats
from deniable.mechanisms.distributions.workload import Workload

ROUNDS = (40, 30, 10)  # with all channels, with the commonest of them, and with those that are left; all alike at first
FEWER_ROUNDS = (10, 6, 4)  # the same from a good start, for more answers than FEW
FEW = 64
MOST = 48  # channels that are left after the first rounds
RARE = 0.01  # channels that would be used less often after the second are left out


def mixed_shares(workload: Workload, informations: Sequence[Floats], start: Sequence[float] = ()) -> Floats:
    """The share of each channel, for a small mean variance of the questions if all answers are equally common.

    `informations` are what one report of each says about the shares. The last channel distinguishes all answers, and is
    always kept. Every round multiplies a share by the root of how much the variance falls with it, which lowers it. For
    many answers it takes fewer rounds from shares that are nearly right, if such a `start` is known.

    >>> fine, coarse = np.eye(4) + 1, np.kron(np.eye(2), np.ones((2, 2))) + 1
    >>> mixed_shares(Workload([[1, 1, 0, 0], [1, 0, 0, 0]]), [coarse, fine]).round(2)
    array([0.23, 0.77])
    """
    each, gram = np.array(informations), workload.centred
    many, some, few = FEWER_ROUNDS if start and workload.size > FEW else ROUNDS
    shares = _improved(np.array(start or [1 / len(each)] * len(each)), each, gram, many)
    shares = _improved(_without_rare(shares, np.sort(shares)[-min(MOST, len(shares))]), each, gram, some)
    shares = _improved(_without_rare(shares, RARE), each, gram, few)
    shares[-1] = max(shares[-1], RARE)
    return np.asarray(shares / shares.sum())


def _without_rare(shares: Floats, least: float) -> Floats:
    """The shares without those below the least, except for the last."""
    kept = shares >= least
    kept[-1] = True
    return np.asarray(np.where(kept, shares, 0) / shares[kept].sum())


def _improved(shares: Floats, each: Floats, gram: Floats, rounds: int) -> Floats:
    used = shares > 0
    own, each = shares[used], each[used]
    for _ in range(rounds):
        spread = np.linalg.inv(np.tensordot(own, each, 1))
        falls = np.maximum(np.tensordot(each, spread @ gram @ spread, 2), 0)
        if not falls.any():
            break  # the questions ask for nothing but the known sum
        own = own * np.sqrt(falls)
        own = own / own.sum()
    out = np.zeros(len(shares))
    out[used] = own
    return out
