"""Certificates that rest on a theorem: what can be enumerated is, and the theorem says what follows from it."""

from fractions import Fraction

from deniable.core import PrivacyLoss
from deniable.errors import NotCertifiable
from deniable.mechanisms.sparse.budget import represented_odds
from deniable.mechanisms.sparse.compressed import Compressed
from deniable.mechanisms.sparse.noisy_count import NoisyCount
from deniable.privacy.certificate import Certificate
from deniable.privacy.proofs import proves


@proves(Compressed, "theorem")
def represented(mechanism: Compressed, limit: int) -> Certificate:
    """The odds that Poisson private representation promises for this coordinate.

    The response of one coordinate is enumerated from its threshold, and the noise on the sparsity from the probabilities of
    its digits, in exact fractions. That an index costs 2 alpha times what the coordinate costs is a theorem, for exact
    arithmetic; the encoder computes with floating-point numbers of 53 bits.
    """
    if mechanism.loss().odds is None:
        return _certificate(mechanism, None, "the number of indices, which follows from the exact sparsity", 0)
    coordinate, followed = mechanism.coordinate, mechanism.domain.values**2
    law = [
        [Fraction((1 << 32) - (coordinate.values - 1) * coordinate.threshold if z == v else coordinate.threshold, 1 << 32)
         for z in range(coordinate.values)]
        for v in range(coordinate.values)
    ]  # fmt: skip
    if any(sum(row) != 1 for row in law):
        raise NotCertifiable("The responses of a coordinate do not sum to one.")
    odds = max(a / b for column in zip(*law, strict=True) for a in column for b in column)
    whole = represented_odds(odds, mechanism.alpha)
    if mechanism.noisy_count is not None:
        whole *= _count_odds(mechanism.noisy_count)
        followed += 2 * len(mechanism.noisy_count.digits)
    return _certificate(
        mechanism, whole, "the first draw that has the differing value, sent although many before it have not", followed
    )


def _certificate(mechanism: Compressed, odds: Fraction | None, report: str, followed: int) -> Certificate:
    loss = PrivacyLoss(odds, "theorem", mechanism.loss().protects)
    return Certificate(mechanism, loss, ({}, {0: 1}), report, followed, 2)


def _count_odds(noise: NoisyCount) -> Fraction:
    """The odds between neighbouring numbers of the noise: its digits must be those of a geometric number, exactly."""
    *digits, more = noise.digits
    ratio = digits[0] / (1 - digits[0])
    power = ratio
    for digit in digits:
        if digit / (1 - digit) != power:
            raise NotCertifiable("The digits of the noise are not those of a geometric number.")
        power *= power
    if more != power:
        raise NotCertifiable("The digits of the noise are not those of a geometric number.")
    return 1 / ratio
