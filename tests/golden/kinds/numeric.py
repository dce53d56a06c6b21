"""Mechanisms for a mean, scalar and of vectors."""

from collections.abc import Mapping
from typing import Any

import deniable as dn
from research import mean_formulas as formulas
from tests.golden.kinds.registry import kind


@kind("dm")
def dm(inputs: Mapping[str, Any]) -> object:
    return formulas.duchi(inputs["eps"], inputs["x"])


@kind("pm")
def pm(inputs: Mapping[str, Any]) -> object:
    return formulas.piecewise(inputs["eps"], inputs["x"])


@kind("hm")
def hm(inputs: Mapping[str, Any]) -> object:
    return formulas.hybrid(inputs["eps"], inputs["x"])


@kind("three_outputs")
def three_outputs(inputs: Mapping[str, Any]) -> object:
    return formulas.three_outputs(inputs["eps"], inputs["x"])


@kind("pm_sub")
def pm_sub(inputs: Mapping[str, Any]) -> object:
    return formulas.suboptimal(inputs["eps"], inputs["x"])


@kind("laplace")
def laplace(inputs: Mapping[str, Any]) -> object:
    return formulas.laplace(inputs["eps"])


@kind("worst_var")
def worst_var(inputs: Mapping[str, Any]) -> object:
    return formulas.worst_variances(inputs["eps"])


@kind("crossover")
def crossover(inputs: Mapping[str, Any]) -> object:
    return formulas.crossover(inputs["first"], inputs["second"], *inputs["between"])


@kind("sampling_k")
def sampling_k(inputs: Mapping[str, Any]) -> object:
    return formulas.sampled_coordinates(inputs["d"], inputs["eps"])


@kind("sampled_var")
def sampled_var(inputs: Mapping[str, Any]) -> object:
    return formulas.sampled_variance(inputs["mechanism"], inputs["d"], inputs["eps"], inputs["x"])


@kind("ldp_fl")
def ldp_fl(inputs: Mapping[str, Any]) -> object:
    centre, half, weight = inputs["c"], inputs["r"], inputs["w"]
    mechanism = dn.Duchi(dn.Interval(centre - half, centre + half), inputs["eps"])
    low, high = mechanism.numbers.tolist()
    return {"high": high, "low": low, "p_high": (weight - low) / (high - low), "var": mechanism.variance(weight)}


@kind("duchi_md")
def duchi_md(inputs: Mapping[str, Any]) -> object:
    domain = dn.Features(inputs["d"], -1, 1, steps=1)
    naive, fixed = dn.DuchiVector.as_published(domain, inputs["eps"]), dn.DuchiVector(domain, inputs["eps"])
    losses = [dn.certify(mechanism, "enumerated").loss.epsilon() for mechanism in (naive, fixed)]
    return {
        "B_naive": float(naive.scale),
        "epsilon_naive": losses[0],
        "B_fixed": float(fixed.scale),
        "epsilon_fixed": losses[1],
    }
