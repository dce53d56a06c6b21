"""Three-state response and key-value protocols."""

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

import deniable as dn
from deniable.core.mechanism import Mechanism
from deniable.mechanisms.key_value.key_value_protocol import KeyValueProtocol
from deniable.mechanisms.key_value.three_design import least
from deniable.mechanisms.shares.exact_channel import ExactChannel
from tests.golden.kinds.registry import kind

Inputs = Mapping[str, Any]


def exact(number: float) -> Fraction:
    """The decimal that was written."""
    return Fraction(str(number))


def channel(inputs: Inputs) -> ExactChannel:
    """The mechanism that an entry describes."""
    given = inputs["channel"]
    match given["family"]:
        case "ew":
            return dn.EqualWeight(dn.Categories(range(given["n"])), exact(given["p"]))
        case "dagger":
            return dn.ThreeState.dagger(exact(given["p1"]), exact(given["p2"]))
        case "ddagger":
            return dn.ThreeState.ddagger(exact(given["p1"]), exact(given["p2"]))
        case "club":
            return dn.ThreeState.club(exact(given["p1"]), exact(given["p2"]), exact(given["q"]))
    raise LookupError(f"channel {given['family']}")


def three_state(inputs: Inputs) -> dn.ThreeState:
    """The same, where degree and weight are asked for."""
    given = inputs["channel"]
    if given["family"] == "ew":
        assert given["n"] == 3
        return dn.ThreeState.dagger(exact(given["p"]), exact(given["p"]))
    made = channel(inputs)
    assert isinstance(made, dn.ThreeState)
    return made


def tally(mechanism: Mechanism, counts: Any, n: int | None = None) -> dn.Tally:
    return dn.Tally(mechanism.fingerprint, sum(counts) if n is None else n, np.array(counts, np.int64))


@kind("estimate")
def estimate(inputs: Inputs) -> object:
    mechanism = channel(inputs)
    return mechanism.estimate(tally(mechanism, inputs["counts"])).values.tolist()


@kind("cov_iid")
def cov_iid(inputs: Inputs) -> object:
    return channel(inputs).predict(inputs["pi"], inputs["n"]).for_population().covariance().tolist()


@kind("cov_fixed")
def cov_fixed(inputs: Inputs) -> object:
    return channel(inputs).predict(inputs["pi"], inputs["n"]).covariance().tolist()


@kind("var_pi1_enumerated")
def var_pi1_enumerated(inputs: Inputs) -> object:
    """Over every possible count vector, with the probabilities of the enumerated law."""
    mechanism, n = channel(inputs), inputs["n"]
    chances = np.zeros(3)
    for state, share in enumerate(inputs["pi"]):
        for report, chance in dn.law(mechanism, state).items():
            chances[report[0]] += share * float(chance)
    mean, square = [], []
    for high, low in itertools.product(range(n + 1), repeat=2):
        if high + low <= n:
            counts = [n - high - low, high, low]
            often = math.factorial(n) / math.prod(map(math.factorial, counts)) * float(np.prod(chances**counts))
            value = mechanism.estimate(tally(mechanism, counts)).values[1]
            mean.append(often * value)
            square.append(often * value**2)
    return {"mean": math.fsum(mean), "var": math.fsum(square) - math.fsum(mean) ** 2}


@kind("channel_eps")
def channel_eps(inputs: Inputs) -> object:
    return dn.certify(channel(inputs)).loss.epsilon()


@kind("ew_n_var")
def ew_n_var(inputs: Inputs) -> object:
    size, share = inputs["n"], inputs["pi0"]
    mechanism = dn.EqualWeight(dn.Categories(range(size)), exact(inputs["p"]))
    truth = [share] + [(1 - share) / (size - 1)] * (size - 1)
    return float(mechanism.predict(truth, inputs["N"]).for_population().standard_error[0] ** 2)


@kind("ratio_delta")
def ratio_delta(inputs: Inputs) -> object:
    mean = three_state(inputs).predict_links(inputs["pi"], inputs["n"]).for_population().mean
    assert mean.bias is not None
    return {"var": float(mean.standard_error[0] ** 2), "bias": float(mean.bias[0])}


@kind("simplex_mle")
def simplex_mle(inputs: Inputs) -> object:
    rows = [[float(chance) for chance in row] for row in channel(inputs).channel]
    return dn.em_channel(rows, inputs["counts"], max_rounds=200_000, tolerance=1e-15).values.tolist()


def keys(size: int, at_most: int = 1) -> dn.KeyValue:
    return dn.KeyValue(range(size), -1, 1, at_most)


def unary(inputs: Inputs, size: int, at_most: int) -> dn.PCKVUnary:
    return dn.PCKVUnary.of(keys(size, at_most), exact(inputs["a"]), exact(inputs["b"]), exact(inputs["p"]))


@kind("lpp_eps")
def lpp_eps(inputs: Inputs) -> object:
    mechanism = dn.KeySampling.privkv(keys(2), inputs["eps1"], inputs["eps2"], inputs["fake_mean"])
    assert dn.certify(mechanism).loss.odds == mechanism.loss().odds
    return mechanism.loss().epsilon()


def single_pairs(mechanism: KeyValueProtocol) -> Fraction:
    """The worst ratio between sets of exactly one pair, from their enumerated laws."""
    domain, worst = mechanism.domain, Fraction(1)
    ones = [index for index in range(domain.size) if len(domain.answer(index)) == 1]
    laws = [dict(dn.law(mechanism, index).items()) for index in ones]
    for one, other in itertools.permutations(laws, 2):
        worst = max(worst, *(chance / other[report] for report, chance in one.items()))
    return worst


@kind("pckv_ue_eps")
def pckv_ue_eps(inputs: Inputs) -> object:
    mechanism = unary(inputs, inputs["keys"], 1)
    odds = single_pairs(mechanism) if inputs["keys"] <= 4 else mechanism.loss().odds
    return dn.PrivacyLoss(odds).epsilon()


@kind("pckv_ue_alloc")
def pckv_ue_alloc(inputs: Inputs) -> object:
    law = dn.PCKVUnary.published(keys(50), inputs["eps"]).chances
    a = law.kept + law.flipped
    return {"a": float(a), "b": float(2 * law.noise), "p": float(law.kept / a)}


@kind("pckv_grr_eps")
def pckv_grr_eps(inputs: Inputs) -> object:
    mechanism = dn.PCKVDirect.split(keys(inputs["d"], inputs["l"]), inputs["eps1"], inputs["eps2"])
    if inputs["d"] <= 4:
        assert dn.certify(mechanism, "enumerated").loss.odds == mechanism.loss().odds
    return mechanism.loss().epsilon()


@kind("pckv_grr_alloc")
def pckv_grr_alloc(inputs: Inputs) -> object:
    mechanism = dn.PCKVDirect(keys(inputs["d"], inputs["l"]), inputs["eps"])
    a, b, p = mechanism.a, mechanism.b, mechanism.p
    eps1, eps2 = math.log(a / b), math.log(p / (1 - p))
    return {"a": float(a), "b": float(b), "p": float(p), "eps1": eps1, "eps2": eps2}


def of_one_key(found: dn.KeyValueEstimate) -> dict[str, float]:
    """What is estimated about the first key."""
    assert found.signed is not None
    return {
        "frequency": float(found.frequency.values[0]),
        "weight": float(found.weight.values[0]),
        "mean": float(found.ratio[0]),
    }


@kind("pckv_estimate")
def pckv_estimate(inputs: Inputs) -> object:
    size = inputs["l"] + 1
    mechanism = unary(inputs, size, inputs["l"])
    counts = np.ones(2 * size, np.int64)
    counts[0], counts[size] = inputs["n_plus"], inputs["n_minus"]
    return of_one_key(mechanism.estimate(tally(mechanism, counts, inputs["n"])))


@kind("pckv_ue_var")
def pckv_ue_var(inputs: Inputs) -> object:
    mechanism = unary(inputs, inputs["l"] + 1, inputs["l"])
    found = mechanism.predict([(inputs["f"], inputs["mean"])] * (inputs["l"] + 1), inputs["n"])
    variances = (float(each.standard_error[0] ** 2) for each in (found.frequency, found.weight))
    return dict(zip(("var_frequency", "var_weight"), variances, strict=True))


@kind("lpp_estimate")
def lpp_estimate(inputs: Inputs) -> object:
    mechanism = dn.KeySampling.privkv(keys(1), inputs["eps1"], inputs["eps2"])
    counted = tally(mechanism, inputs["counts"])
    return of_one_key(mechanism.estimate(counted)) | {"privkv_mean": float(mechanism.privkv_mean(counted)[0])}


@kind("kvue_estimate")
def kvue_estimate(inputs: Inputs) -> object:
    mechanism = dn.KeySampling.kvue(keys(1), inputs["eps"])
    return of_one_key(mechanism.estimate(tally(mechanism, inputs["counts"])))


@kind("privkvm_limit")
def privkvm_limit(inputs: Inputs) -> object:
    return dn.PrivKVM(keys(1), 2 * inputs["eps1"], inputs["rounds"]).limit(inputs["f"], inputs["mean"])


@kind("optimal_variance")
def optimal_variance(inputs: Inputs) -> object:
    target = {"pi0": "degree", "pi1": "high", "delta": "weight", "trace": "balanced"}[inputs["target"]]
    return least(inputs["eps"], target, tuple(inputs["pi"]))[1]
