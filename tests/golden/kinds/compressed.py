"""Compressed randomized response, and the k-ary response that it compresses."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import deniable as dn
from deniable.graphs import noise
from deniable.graphs.graph import Graph
from deniable.graphs.response import NoisyGraph
from deniable.graphs.triangles import laplace_scale, second_round
from deniable.kernels import draws
from deniable.mechanisms.sparse.budget import response_epsilon
from deniable.mechanisms.sparse.common import common_between, common_with
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.index_law import IndexLaw, expected_candidates, index_law, mixed_index_law
from research.compressed_formulas import elias_delta, elias_gamma, published_bound, published_chunks
from research.rivals.asymmetric import Asymmetric, chernoff_cut, triangles_of
from research.rivals.grouped import Grouped
from research.rivals.vector_costs import Costs
from tests.golden.kinds.registry import kind
from tests.golden.ratings import ratings_of


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


def _coordinate(inputs: Mapping[str, Any]) -> CoordinateResponse:
    return CoordinateResponse.of(inputs.get("eps_rr", 1.0), inputs.get("values", 2))


@kind("rr_quantised")
def rr_quantised(inputs: Mapping[str, Any]) -> object:
    """Thresholds in whole 2^-32, rounded toward privacy."""
    coordinate = CoordinateResponse.quantised(inputs["eps_rr"], inputs["values"])
    return {"s": coordinate.threshold, "eps_hat": coordinate.epsilon}


@kind("ratio")
def ratio(inputs: Mapping[str, Any]) -> object:
    """How much more likely a draw is under the truth than under the reference."""
    return CoordinateResponse.of(inputs["eps_rr"], 256).ratio(inputs["v"], inputs["c"], inputs["z"])


@kind("budget")
def budget(inputs: Mapping[str, Any]) -> object:
    """What is left for one coordinate."""
    return response_epsilon(inputs["total"], inputs["alpha"], inputs["eps0"])


@kind("index_pmf")
def index_pmf(inputs: Mapping[str, Any]) -> object:
    """The exact law of the index that is told."""
    return float(index_law(_coordinate(inputs), inputs["alpha"], inputs["d"]).pmf(inputs["k"]))


@kind("index_tail")
def index_tail(inputs: Mapping[str, Any]) -> object:
    """Its tail."""
    return float(index_law(_coordinate(inputs), inputs["alpha"], inputs["d"]).tail(inputs["m"]))


@kind("bits_per_chunk")
def bits_per_chunk(inputs: Mapping[str, Any]) -> object:
    """Entropy and lengths of codes."""
    law = mixed_index_law(_coordinate(inputs), inputs["alpha"], inputs["lam"])
    return {**_bits(law), "elias_gamma": elias_gamma(law), "elias_delta": elias_delta(law)}


@kind("bits_empty_chunk")
def bits_empty_chunk(inputs: Mapping[str, Any]) -> object:
    """The same for a chunk in which nothing differs."""
    return _bits(index_law(_coordinate(inputs), inputs["alpha"], 0))


def _bits(law: IndexLaw) -> dict[str, float]:
    return {"entropy": law.entropy(), "mean_log2_K": law.mean_log()}


@kind("log2K_bound")
def log_bound(inputs: Mapping[str, Any]) -> object:
    """The published bound."""
    return published_bound(_coordinate(inputs), inputs["alpha"], inputs["d"])


@kind("baselines")
def baselines(inputs: Mapping[str, Any]) -> object:
    """Bits by other means."""
    costs = Costs(_coordinate(inputs), inputs["n"], inputs["d"])
    return {
        "rr_entropy": costs.plain_response,
        "log2_binom": costs.subset,
        "d_log2_n": costs.listed,
        "kl": costs.divergence,
    }


@kind("expected_rstar")
def expected_rstar(inputs: Mapping[str, Any]) -> object:
    """Draws that the encoder looks at."""
    return expected_candidates(_coordinate(inputs), inputs["lam"])


@kind("philox4x32_10")
def philox(inputs: Mapping[str, Any]) -> object:
    """Known answers of the shared draws' generator."""
    a, b, c, d = (np.array([int(word, 16)], np.uint64) for word in inputs["counter"])
    low, high = (int(word, 16) for word in inputs["key"])
    return [f"{int(word[0]):08x}" for word in draws.philox(a, b, c, d, np.array([high << 32 | low], np.uint64))]


@kind("chunk_count")
def chunk_count(inputs: Mapping[str, Any]) -> object:
    """The published rule for chunks."""
    places, used = published_chunks(inputs["n"], inputs["m"])
    return {"s": places, "nonempty": used}


@kind("common_one_sided")
def common_one_sided(inputs: Mapping[str, Any]) -> object:
    """Common items of a list and a response."""
    estimate, variance = common_with(inputs["u"], inputs["z"], _coordinate(inputs))
    return {"estimate": estimate, "variance": variance}


@kind("common_two_sided")
def common_two_sided(inputs: Mapping[str, Any]) -> object:
    """Common items of two responses."""
    estimate, variance = common_between(inputs["x"], inputs["z"], _coordinate(inputs), inputs["d1"], inputs["d2"])
    return {"estimate": estimate, "variance": variance}


@kind("ratings")
def ratings(inputs: Mapping[str, Any]) -> object:
    """Raters and stars of one item."""
    raters, stars = ratings_of(inputs["reports"], CoordinateResponse.of(inputs["eps_rr"], 11))
    return {"raters": raters, "sum_stars": stars}


def _graphs(inputs: Mapping[str, Any], coordinate: CoordinateResponse) -> tuple[Graph, NoisyGraph]:
    return Graph.of(inputs["edges"], inputs["n"]), NoisyGraph.of(Graph.of(inputs["noisy_edges"], inputs["n"]), coordinate)


@kind("triangle_two_round")
def triangle_two_round(inputs: Mapping[str, Any]) -> object:
    """What each vertex finds on a noisy graph, before the noise of the second round."""
    coordinate = _coordinate(inputs)
    graph, noisy = _graphs(inputs, coordinate)
    seen = second_round(graph, noisy)
    less = seen.noisy - float(coordinate.q) * seen.pairs
    rows = zip(seen.pairs.tolist(), seen.noisy.tolist(), less.tolist(), strict=True)
    return {
        "per_user": [list(row) for row in rows],
        "estimate": float(seen.counts(coordinate).sum()),
        "true": graph.triangles(),
    }


@kind("triangle_variance")
def triangle_variance(inputs: Mapping[str, Any]) -> object:
    """The variance that the noisy graph gives it."""
    shared = Graph.of(inputs["edges"], inputs["n"]).shared_pairs()
    return {"sum_c_squared": shared, "variance": _coordinate(inputs).noise * shared}


@kind("triangle_arr_one")
def triangle_arr_one(inputs: Mapping[str, Any]) -> object:
    """The same for asymmetric response with one noisy edge to download."""
    graph, noisy = _graphs(inputs, CoordinateResponse.of(inputs["eps"]))
    told, estimate = triangles_of(graph, noisy, Asymmetric(inputs["eps"], inputs["mu"]), inputs["kappa"])
    return {"per_user": told.tolist(), "estimate": estimate}


@kind("laplace_scale")
def laplace(inputs: Mapping[str, Any]) -> object:
    """The noise of the second round for lists that are cut."""
    return float(laplace_scale(np.array([inputs["D"]]), _coordinate(inputs), inputs["eps2"])[0])


@kind("chernoff_kappa")
def chernoff_kappa(inputs: Mapping[str, Any]) -> object:
    """Where counts of triangles are cut."""
    return chernoff_cut(inputs["noisy_degree"], inputs["mu_star"], inputs["beta"])


@kind("smooth")
def smooth(inputs: Mapping[str, Any]) -> object:
    """Smooth sensitivity."""
    return float(noise.smooth_sensitivity(np.array([inputs["LS0"]]), inputs["M"], inputs["beta"])[0])


@kind("group_rr")
def group_rr(inputs: Mapping[str, Any]) -> object:
    """Grouped response."""
    response = Grouped(inputs["eps"], inputs["bin_size"], inputs["bins"])
    (edge, none), (a, b) = response.answers(inputs["ones"]), response.unbiased(inputs["ones"])
    return {"eps_boosted": response.boosted, "P1": float(edge), "P0": float(none), "a": float(a), "b": float(b)}


@kind("arr_one_download")
def arr_one_download(inputs: Mapping[str, Any]) -> object:
    """What asymmetric response has to download."""
    return Asymmetric(inputs["eps"], inputs["mu"]).download_edges(inputs["n"])
