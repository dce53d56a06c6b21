"""What single reports say of vectors: an unbiased reading of each, and of the products of its numbers."""

import numpy as np

from deniable import BitRand, DuchiVector, FeatureVector, PrivUnit, UnitAxes, UnitCodes, VectorRelease
from deniable.arrays import Floats
from deniable.core.mechanism import Mechanism
from deniable.core.reports import Reports
from deniable.domains.codes import SignMagnitude
from deniable.errors import InvalidParameter, SurveyMismatch
from deniable.mechanisms.means.mean_mechanism import MeanMechanism
from deniable.mechanisms.vectors.privunit import WHOLE

ROWS = 1 << 11  # reports read at a time


def decode(mechanism: Mechanism, reports: Reports) -> Floats:
    """One row of numbers for each report, whose mean over the coins is the person's vector.

    Coordinates that a report does not tell are at the middle of the range. Releases (`VectorRelease`) are read as they are,
    and are not unbiased.
    """
    if reports.fingerprint != mechanism.fingerprint:
        raise SurveyMismatch("These reports were made by another mechanism. Read them with the one that made them.")
    parts = [_decoded(mechanism, reports[start : start + ROWS]) for start in range(0, len(reports), ROWS)]
    return np.concatenate(parts)


def _decoded(mechanism: Mechanism, reports: Reports) -> Floats:
    columns = reports.columns
    match mechanism:
        case FeatureVector():
            domain, (where, values) = mechanism.domain, mechanism.unpacked(columns)
            half = (domain.high - domain.low) / 2
            rows = np.full((len(reports), domain.dimensions), (domain.low + domain.high) / 2)
            told = half * domain.dimensions / mechanism.coordinates * mechanism.part._centred[values]
            rows[np.arange(len(reports))[:, None], where] += told
            return rows
        case DuchiVector():
            domain = mechanism.domain
            bits = np.unpackbits(columns["signs"].astype(np.uint8), axis=1, bitorder="little", count=domain.dimensions)
            half = (domain.high - domain.low) / 2
            return np.asarray((domain.low + domain.high) / 2 + half * float(mechanism.scale) * (2.0 * bits - 1))
        case UnitCodes():
            return _named(mechanism, reports)
        case PrivUnit():
            told = np.ascontiguousarray(columns["vector"]).view("<u2").astype(np.float64)
            return np.asarray((told * 2 / WHOLE - 1) / mechanism.length)
        case BitRand():
            return _bits(mechanism, reports)
        case VectorRelease() if not mechanism.sampled:
            return np.array(mechanism.released(reports), np.float64)
        case MeanMechanism():
            return mechanism.numbers[columns["value"].astype(np.int64)][:, None]
    raise InvalidParameter(
        f"Reports of {mechanism.wire} are not read one by one as vectors. Take FeatureVector, DuchiVector, UnitAxes, "
        "UnitCodes, PrivUnit, BitRand or VectorRelease."
    )


def _bits(mechanism: BitRand, reports: Reports) -> Floats:
    d = mechanism.domain.dimensions
    planes = [
        np.unpackbits(reports.columns[f"bit{i}"].astype(np.uint8), axis=1, bitorder="little", count=d)
        for i in range(mechanism.bits)
    ]
    known = np.where(mechanism._known == 0, np.inf, mechanism._known)
    bits = [(plane - base) / told for plane, base, told in zip(planes, mechanism._base, known, strict=True)]
    if isinstance(mechanism.domain, SignMagnitude):
        size = sum(weight * bit for weight, bit in zip(mechanism._weights[1:], bits[1:], strict=True))
        return np.asarray((2 * bits[0] - 1) * size)
    return np.asarray(mechanism.domain.low + sum(w * bit for w, bit in zip(mechanism._weights, bits, strict=True)))


def _named(mechanism: UnitCodes, reports: Reports) -> Floats:
    rows = np.zeros((len(reports), mechanism.domain.dimensions))
    for k in range(mechanism.rounds):
        seed, code = (reports.columns[f"{name}{k}"].astype(np.int64) for name in ("seed", "code"))
        rows += mechanism.told(seed, code)
    return np.asarray(rows / mechanism.rounds / mechanism.length)


def _second_moments(mechanism: UnitAxes | PrivUnit) -> tuple[float, float]:
    if isinstance(mechanism, UnitAxes):
        return mechanism.second_moments
    along = mechanism._second_moment()
    return along, (1 - along) / (mechanism.domain.dimensions - 1)


def squares(mechanism: Mechanism, rows: Floats) -> Floats | None:
    """An unbiased estimate of the mean of x x' from decoded rows, the noise taken out; None where they say nothing of it.

    The square of an unbiased number is not an unbiased square: its mean is too large by the variance. Products of different
    coordinates that are randomized independently are unbiased as they are; otherwise the mechanism's second moments,
    which are affine in x x', are solved for it.
    """
    if isinstance(mechanism, UnitAxes | PrivUnit):
        # E[v v'] = b / (k m^2) I + (1 - 1/k + (a - b) / (k m^2)) x x' for the mean v of k rounds, z / m each
        k, m = (1, mechanism.length) if isinstance(mechanism, PrivUnit) else (mechanism.rounds, mechanism.length)
        along, across = _second_moments(mechanism)
        found = rows.T @ rows / len(rows) - across / (k * m**2) * np.eye(rows.shape[1])
        return np.asarray(found / (1 - 1 / k + (along - across) / (k * m**2)))
    if isinstance(mechanism, FeatureVector) and not mechanism.sampled:
        domain, part = mechanism.domain, mechanism.part
        slope, constant = np.polyfit(part._points**2, part.second_moments, 1)
        if slope < 1e-6:  # two outcomes only: they say nothing of the square
            return None
        middle, half = (domain.low + domain.high) / 2, (domain.high - domain.low) / 2
        rows = (rows - middle) / half
        found = rows.T @ rows / len(rows)
        np.fill_diagonal(found, (np.diag(found) - constant) / slope)
        mean = rows.mean(axis=0)
        shift = middle * half * (mean[:, None] + mean[None, :]) + middle**2
        return np.asarray(found * half**2 + shift)
    return None
