"""Compressed randomized response, and the k-ary response that it compresses."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import deniable as dn
from tests.golden.kinds.registry import kind


@kind("rr_probs")
def rr_probs(inputs: Mapping[str, Any]) -> object:
    """k-ary randomized response."""
    mechanism = _response(inputs)
    return {"p": float(mechanism.p), "q": float(mechanism.q)}


def _response(inputs: Mapping[str, Any]) -> dn.DirectResponse:
    return dn.DirectResponse(dn.Categories(range(inputs["values"])), inputs["eps_rr"])


@kind("rr_unbias")
def rr_unbias(inputs: Mapping[str, Any]) -> object:
    """What one report of value 0 says of values 0 and 1, and the variance of that where nobody or everybody has it."""
    mechanism = _response(inputs)
    named, other = mechanism.estimate(mechanism.tally(mechanism.perturb([0], Honest()))).values[:2].tolist()
    shares = [1.0] + [0.0] * (inputs["values"] - 1)
    variance = (mechanism.predict(shares, 1).standard_error ** 2).tolist()
    return {"A": named - other, "B": -other, "var_x_ne_a": variance[1], "var_x_eq_a": variance[0]}


@kind("rr_kl_bits")
def rr_kl_bits(inputs: Mapping[str, Any]) -> object:
    """How far apart the exact laws of two values are."""
    first, second = (dict(dn.law(_response(inputs), index).items()) for index in (0, 1))
    return math.fsum(float(chance) * math.log2(chance / second[report]) for report, chance in first.items())


class Honest(dn.SeededCoins):
    """Coins that always tell the truth."""

    def __init__(self) -> None:
        super().__init__(0)

    def split(self, heads: Fraction, first: int, second: int, size: int) -> NDArray[np.int64]:
        return np.zeros(size, np.int64)
