"""Utility-optimized mechanisms, and the base mechanisms that they are made of.

Entries about hashing and the wheel are about functions that are perfectly random, so q is 1 / g or l; ours have a family of
functions with an exact q of its own. For them the library's formulas are evaluated at that q, for all others its mechanisms.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import deniable as dn
from deniable.core.odds import odds_below
from deniable.core.pure import PureProtocol
from deniable.mechanisms.algebra.difference_sets import Singer
from deniable.mechanisms.algebra.tuning import hidden_share, open_error
from deniable.mechanisms.algebra.utility_formulas import (
    disclosed_beside,
    disguise,
    published_error,
    published_optimum,
    true_odds,
)
from deniable.mechanisms.shares import local_hashing as hashing
from deniable.mechanisms.shares.subset_selection import chance
from tests.golden.any_channel import averaged, channel_noise, envelope
from tests.golden.kinds.registry import kind

Inputs = Mapping[str, Any]


def odds_of(inputs: Inputs) -> Fraction:
    return odds_below(inputs["eps"])


def base_of(inputs: Inputs) -> PureProtocol:
    """The base mechanism with the entry's parameter."""
    domain, epsilon = dn.Categories(range(inputs["s"])), inputs["eps"]
    name = inputs["mechanism"].removeprefix("u")
    match name.split("_")[0]:
        case "SS":
            return dn.SubsetSelection(domain, epsilon, inputs["k"])
        case "RR":
            return dn.DirectResponse(domain, epsilon)
        case "UE":
            return dn.Unary(domain, epsilon, Fraction(inputs["p"]))
        case "RAP":
            return dn.Unary(domain, epsilon, Fraction(inputs["p"])) if "p" in inputs else dn.Unary.symmetric(domain, epsilon)
        case "HR":
            return dn.HadamardResponse(domain, epsilon)
        case "PGR":
            return dn.BlockDesign(domain, epsilon, geometry(inputs))
    raise LookupError(f"the base of {inputs['mechanism']}")


def geometry(inputs: Inputs) -> Singer:
    """The smallest projective geometry over the field with a point for each value."""
    field, t = inputs["field"], 2
    while (field**t - 1) // (field - 1) < inputs["s"]:
        t += 1
    return Singer(field, t)


def utility(inputs: Inputs, flat: bool = False) -> tuple[PureProtocol, dn.UtilityOptimized]:
    """The base mechanism, and the one for s sensitive values and two open ones."""
    size, base = inputs["s"], base_of(inputs)
    question = dn.Categories(range(size + 2))
    return base, dn.UtilityOptimized(base, question, list(range(size)), inputs["eps"], flat=flat)


def largest_z(channel: Sequence[Sequence[Fraction]], f: Fraction, odds: Fraction) -> Fraction:
    """Theorem 1, read for every single report: the largest z that keeps the odds, for any finite channel and any f."""
    columns = list(zip(*channel, strict=True))
    worst = max(max(column) * len(channel) / sum(column) for column in columns if max(column) > 0)
    return 1 - worst / (f * odds)


@kind("base_pq")
def base_pq(inputs: Inputs) -> object:
    """The probabilities that a report supports the true value and another one."""
    base = base_of(inputs)
    return {"p": float(base.p), "q": float(base.q)}


def ideal(inputs: Inputs) -> tuple[Fraction, Fraction, Fraction]:
    """p, q and the support of a blank report, for hash functions and wheels that are perfectly random."""
    odds = odds_of(inputs)
    share = Fraction(1, inputs["g"]) if "g" in inputs else Fraction(inputs["l"])
    return share * odds / (share * odds + 1 - share), share, share


@kind("flat")
def flat(inputs: Inputs) -> object:
    """The mask that hides behind all reports alike."""
    p, _, share = ideal(inputs)
    return _mask(hidden_share(p, odds_of(inputs), share), p / odds_of(inputs))


@kind("envelope")
def optimal(inputs: Inputs) -> object:
    """The mask that hides least often."""
    if inputs["mechanism"] == "UE":
        base, mechanism = utility(inputs)
        return _mask(mechanism.mask.hidden, base.p / mechanism.odds)
    if inputs["mechanism"] != "LH(all functions)":
        raise LookupError(f"envelope of {inputs['mechanism']}")
    p, _, share = ideal(inputs)
    empty = (1 - share) ** inputs["s"]
    return _mask(hidden_share(p, odds_of(inputs), share, empty), p / odds_of(inputs))


def _mask(hidden: Fraction, support: Fraction) -> object:
    return {"F": float(hidden), "z_star": float(1 - hidden), "u": float(support)}


@kind("ulh_balanced")
def ulh_balanced(inputs: Inputs) -> object:
    """Buckets as even as they can be; the function moves any two values to any two places equally often."""
    odds, buckets = odds_of(inputs), Fraction(inputs["g"])
    p, q = hashing.chance(inputs["s"], buckets, odds)
    hidden = hidden_share(p, odds, 1 / buckets)
    return {"p": float(p), "q": float(q), "F": float(hidden), "z_star": float(1 - hidden), "u": float(p / odds)}


@kind("upgr")
def upgr(inputs: Inputs) -> object:
    """Projective geometry response: a block design from Singer's difference set."""
    base, mechanism = utility({**inputs, "mechanism": "PGR"}, flat=True)
    design = geometry(inputs)
    return {
        "t": design.t,
        "K": design.v,
        "k": design.k,
        "lambda": design.k * (design.k - 1) // (design.v - 1),
        "p": float(base.p),
        "q": float(base.q),
        "z_star": mechanism.disclosed_share,
        "u": float(base.p / mechanism.odds),
    }


@kind("prior")
def prior(inputs: Inputs) -> object:
    """The older mechanisms."""
    base, mechanism = utility(inputs, flat=True)
    p, q, disclosed = float(base.p), float(base.q), mechanism.disclosed_share
    match inputs["mechanism"]:
        case "uHR":
            return {"p": p, "q": q, "z_star": disclosed, "u": float(base.p / mechanism.odds)}
        case "uRR":
            return {"c1": p, "c2": q, "c3": disclosed}
        case "uRAP":
            return {"p": p, "q": q, "d2": 1 - disclosed, "z_star": disclosed}
    raise LookupError(f"prior of {inputs['mechanism']}")


@kind("paper_params")
def paper_params(inputs: Inputs) -> object:
    """f, z and z* as published."""
    name, size = inputs["mechanism"], inputs["s"]
    if name in ("uSS", "uUE"):
        base = base_of(inputs)
        published = dn.PublishedUtility(base, dn.Categories(range(size + 1)), list(range(size)), inputs["eps"])
        found = {"f": float(published.f), "z": float(published.z), "z_star": published.disclosed_share}
        return found | ({"q": float(base.q)} if name == "uUE" else {})
    f, z = printed(inputs)
    return {"f": float(f), "z": float(z), "z_star": float(1 - f * (1 - z))}


def printed(inputs: Inputs) -> tuple[Fraction, Fraction]:
    """f and z of uLH and uWheel for perfectly random functions."""
    p, q, _ = ideal(inputs)
    parameter = Fraction(inputs["g"] if "g" in inputs else inputs["l"])
    name = "uLH" if "g" in inputs else "uWheel"
    return disguise(inputs["s"], p, q), disclosed_beside(name, inputs["s"], parameter, odds_of(inputs))


@kind("true_epsilon")
def true_epsilon(inputs: Inputs) -> object:
    """What uLH and uWheel as published really cost."""
    f, z = printed(inputs)
    odds = odds_of(inputs)
    return dn.PrivacyLoss(max(odds, true_odds(inputs["s"], odds, f * (1 - z), inputs["L"])), "theorem").epsilon()


@kind("glutf_valid_z")
def glutf_valid_z(inputs: Inputs) -> object:
    """The z that would have kept the promise: at it the true odds are those asked for."""
    f, _ = printed(inputs)
    odds = odds_of(inputs)
    hidden = true_odds(inputs["s"], odds, Fraction(1), inputs["L"]) / odds
    return {"z": float(1 - hidden / f), "z_star": float(1 - hidden)}


def exact(matrix: list[list[float]]) -> list[list[Fraction]]:
    return [[Fraction(repr(entry)) for entry in row] for row in matrix]


@kind("channel_zmax")
def channel_zmax(inputs: Inputs) -> object:
    """Theorem 1 for an explicit channel."""
    return float(largest_z(exact(inputs["W"]), Fraction(inputs["f"]), odds_of(inputs)))


@kind("channel_envelope_F")
def channel_envelope(inputs: Inputs) -> object:
    """The least mask of an explicit channel."""
    return float(sum(envelope(exact(inputs["W"]), odds_of(inputs))))


@kind("channel_epsilon")
def channel_epsilon(inputs: Inputs) -> object:
    """The definition itself, for an explicit channel."""
    discloses = [letter == "I" for letter in inputs["kinds"]]
    odds = channel_odds(exact(inputs["P"]), inputs["s"], discloses)
    assert odds is not None
    return math.log(odds)


def channel_odds(channel: Sequence[Sequence[Fraction]], sensitive: int, discloses: Sequence[bool]) -> Fraction | None:
    """The worst odds of a channel whose first rows are the sensitive values; some reports disclose another value.

    None where a report rules a value out: one that discloses nothing, or one that discloses and comes from a sensitive value
    or from several.
    """
    worst = Fraction(1)
    for column, disclosing in zip(zip(*channel, strict=True), discloses, strict=True):
        possible = [row for row, chance in enumerate(column) if chance > 0]
        if not possible or (disclosing and len(possible) == 1 and possible[0] >= sensitive):
            continue
        if min(column) == 0:
            return None
        worst = max(worst, max(column) / min(column))
    return worst


@kind("nonpure_variance")
def nonpure_variance(inputs: Inputs) -> object:
    """The estimate from any channel, and what the paper left out."""
    channel, size = np.array(inputs["W"]), len(inputs["W"])
    shares = np.array(inputs["c"])
    hidden = inputs["f"] * (1 - inputs["z"])
    noise = channel_noise(channel, averaged(channel, hidden), shares[:size], float(shares[size:].sum()))
    missing = 2 * shares[size:].sum() * (hidden / size) ** 2
    return {"exact": noise.tolist(), "paper_eq31": (noise - missing).tolist()}


@kind("n_mse_paper")
def n_mse_paper(inputs: Inputs) -> object:
    """Eq. 28."""
    name, size, share, odds = inputs["mechanism"], inputs["s"], Fraction(inputs["theta"]), odds_of(inputs)
    if name.startswith("uLH"):
        p, q, _ = ideal(inputs)
        f, z = printed(inputs)
        disclosed = 1 - (true_odds(size, odds, Fraction(1), 1) / odds if name == "uLH_valid_L1" else f * (1 - z))
    elif name == "uRAP":
        base, mechanism = utility(inputs, flat=True)
        p, q, disclosed = base.p, base.q, 1 - mechanism.mask.hidden
    else:
        base = base_of(inputs)
        published = dn.PublishedUtility(base, dn.Categories(range(size + 1)), list(range(size)), inputs["eps"])
        p, q, disclosed = base.p, base.q, 1 - published.f * (1 - published.z)
    return float(published_error(size, p, q, disclosed, share))


@kind("n_mse_lean")
def n_mse_lean(inputs: Inputs) -> object:
    """The total error, from the mechanism's own prediction; for hash functions that are not ours from the formula."""
    name, share = inputs["mechanism"], inputs["theta"]
    if name in ("uLH_flat", "uLH_balanced"):
        odds, buckets = odds_of(inputs), Fraction(inputs["g"])
        p, q = hashing.chance(inputs["s"], buckets, odds) if name == "uLH_balanced" else ideal(inputs)[:2]
        return float(open_error(inputs["s"], p, q, odds, hidden_share(p, odds, 1 / buckets), Fraction(share)))
    return predicted(utility(inputs, flat=name in ("uRAP", "uHR", "uPGR"))[1], share)


def predicted(mechanism: dn.UtilityOptimized, share: float) -> float:
    """The sum of all predicted variances; it depends only on the open share."""
    size = len(mechanism.sensitive)
    truth = [(1 - share) / size] * size + [share / 2] * 2
    return float((mechanism.predict(truth, 1).standard_error ** 2).sum())


@kind("opt_paper")
def opt_paper(inputs: Inputs) -> object:
    """The best k for the published estimator."""
    size, odds, share = inputs["s"], odds_of(inputs), Fraction(inputs["theta"])

    def error(k: int) -> Fraction:
        p, q = chance(size, k, odds)
        f, z = disguise(size, p, q), disclosed_beside("uSS", size, Fraction(k), odds)
        return published_error(size, p, q, 1 - f * (1 - z), share)

    best = min(range(1, size), key=error)
    return {"k": best, "n_mse": float(error(best))}


@kind("opt_lean")
def opt_lean(inputs: Inputs) -> object:
    """What the wrapper chooses by itself."""
    size, share = inputs["s"], inputs["theta"]
    if inputs["mechanism"] == "uLH_flat":
        errors = {g: n_mse_lean({**inputs, "g": g}) for g in range(2, 4 * math.ceil(math.exp(inputs["eps"])) + 20)}
        best = min(errors, key=errors.__getitem__)  # type: ignore[arg-type]
        return {"g": best, "n_mse": errors[best]}
    maker = {"uSS": dn.SubsetSelection, "uUE_envelope": dn.Unary}[inputs["mechanism"]]
    mechanism = dn.UtilityOptimized(maker, dn.Categories(range(size + 2)), list(range(size)), inputs["eps"], share)
    found = {"n_mse": predicted(mechanism, share)}
    return {"k": mechanism.base.size, **found} if isinstance(mechanism.base, dn.SubsetSelection) else found


@kind("closed_form")
def closed_form(inputs: Inputs) -> object:
    """The optima that the paper recommends."""
    found = published_optimum(inputs["s"], math.exp(inputs["eps"]), inputs["theta"])
    return {"k_eq37": found["k"], "p_eq43": found["p"], "g_eq49": found["g"], "l_eq63": found["l"]}


@kind("leading")
def leading(inputs: Inputs) -> object:
    """The leading term that all mechanisms have in common at their best."""
    odds, share = math.exp(inputs["eps"]), inputs["theta"]
    open_odds = (1 - share) * odds + share
    return inputs["s"] * (math.sqrt(odds) + math.sqrt(open_odds)) ** 2 / (odds - 1) ** 2
