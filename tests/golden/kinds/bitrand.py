"""BitRand: codes, published bit and label mechanisms, and the certified allocations."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import deniable as dn
from deniable.mechanisms.algebra import bit_budgets as budgets
from research.bit_formulas import (
    best_possible_epsilon,
    latent_published_epsilon,
    ome_published_epsilon,
    published_error_bound,
    sign_magnitude_errors,
)
from tests.golden.kinds.registry import kind

ENUMERATED = 8  # bits in all up to which the whole channel is enumerated, not only the formula asked


def true_epsilon(mechanism: dn.Mechanism, bits: int) -> float:
    """From the code where it is small, else from the declared loss, which must be the same."""
    declared = mechanism.loss()
    if bits <= ENUMERATED:
        certificate = dn.certify(mechanism, "enumerated", limit=1 << 24)
        assert certificate.loss.odds == declared.odds
    return declared.epsilon()


@kind("alpha")
def alpha(inputs: Mapping[str, Any]) -> object:
    return budgets.published_alpha(inputs["r"], inputs["l"], inputs["eps"])


@kind("frr_flip")
def frr_flip(inputs: Mapping[str, Any]) -> object:
    return [float(zero) for zero in dn.BitRand.as_published(inputs["r"], inputs["l"], inputs["eps"]).zeros]


@kind("frr_true_epsilon")
def frr_true_epsilon(inputs: Mapping[str, Any]) -> object:
    r, bits = inputs["r"], inputs["l"]
    return true_epsilon(dn.BitRand.as_published(r, bits, inputs["eps"]), r * bits)


@kind("frr_best_possible_epsilon")
def frr_best_possible_epsilon(inputs: Mapping[str, Any]) -> object:
    return best_possible_epsilon(inputs["r"], inputs["l"], inputs["eps"])


@kind("latent")
def latent(inputs: Mapping[str, Any]) -> object:
    r, bits, epsilon, a = (inputs[name] for name in ("r", "l", "eps", "alpha"))
    true = true_epsilon(dn.BitRand.latent(r, bits, epsilon, a), 2 * r * bits)
    return {"true": true, "paper_corrected": latent_published_epsilon(r, bits, epsilon, a)}


@kind("ome")
def ome(inputs: Mapping[str, Any]) -> object:
    r, bits, epsilon, a = (inputs[name] for name in ("r", "l", "eps", "alpha"))
    true = true_epsilon(dn.BitRand.ome(r, bits, epsilon, a), 2 * r * bits)
    return {"true": true, "paper_corrected": ome_published_epsilon(r, bits, epsilon, a)}


@kind("label_rr")
def label_rr(inputs: Mapping[str, Any]) -> object:
    mechanism = dn.LabelResponse(dn.Categories(range(inputs["C"])), inputs["eps"])
    return {"p": float(mechanism.p), "q": float(mechanism.q)}


@kind("label_rr_epsilon")
def label_rr_epsilon(inputs: Mapping[str, Any]) -> object:
    mechanism = dn.LabelResponse.as_published(dn.Categories(range(inputs["C"])), 1.0, inputs["beta"])
    return dn.certify(mechanism, "enumerated").loss.epsilon()


def code(inputs: Mapping[str, Any]) -> dn.SignMagnitude:
    return dn.SignMagnitude(1, inputs["l"], inputs["m"])


@kind("encode")
def encode(inputs: Mapping[str, Any]) -> object:
    domain, rows = code(inputs), [[inputs["x"]]]
    return {"bits": domain.bits_of(rows)[0, 0].tolist(), "decoded": float(domain.decode(domain.index(rows))[0, 0])}


@kind("encode_wrap")
def encode_wrap(inputs: Mapping[str, Any]) -> object:
    domain = code(inputs)
    return float(domain.decode(domain.wrapped([[inputs["x"]]]))[0, 0])


@kind("sensitivity")
def sensitivity(inputs: Mapping[str, Any]) -> object:
    return budgets.sensitivities(inputs["l"], inputs["m"])


@kind("error_bound")
def error_bound(inputs: Mapping[str, Any]) -> object:
    return published_error_bound(inputs["r"], inputs["l"], inputs["m"], inputs["eps"])


@kind("plain_decode_error")
def plain_decode_error(inputs: Mapping[str, Any]) -> object:
    mechanism = dn.BitRand.as_published(inputs["r"], inputs["l"], inputs["eps"], inputs["m"])
    errors = sign_magnitude_errors(mechanism, inputs["x"])
    return {name: errors[name] for name in ("bias", "mae", "mse")}


@kind("alloc_abs")
def alloc_abs(inputs: Mapping[str, Any]) -> object:
    found = budgets.water_filled(inputs["delta"], inputs["budget"])
    return {"eps": found.epsilons.tolist(), "objective": found.error}


@kind("alloc_var")
def alloc_var(inputs: Mapping[str, Any]) -> object:
    found = budgets.least_variance(inputs["weights"], inputs["budget"])
    return {"eps": found.epsilons.tolist(), "objective": found.error}


@kind("offset_variance")
def offset_variance(inputs: Mapping[str, Any]) -> object:
    return budgets.offset_variance(inputs["b"], inputs["eps"])


@kind("signmag_unbiased")
def signmag_unbiased(inputs: Mapping[str, Any]) -> object:
    flips = [1 / (1 + Fraction(math.exp(each))) for each in inputs["eps_bits"]]
    total = math.fsum(inputs["eps_bits"])
    mechanism = dn.BitRand(code(inputs), total, tuple(1 - flip for flip in flips), tuple(flips))
    errors = sign_magnitude_errors(mechanism, inputs["x"])
    return {name: errors[name] for name in ("mean", "variance")}


@kind("bit_sampling")
def bit_sampling(inputs: Mapping[str, Any]) -> object:
    mechanism = dn.BitSampling(dn.Interval(-1, 1, steps=2 ** inputs["b"] - 1), inputs["eps"])
    return {"second_moment": float(mechanism.second_moments[0])}
