"""One client of a peer as a command, run by the peers' interpreter: values in, reports out, one a line, as JSON.

    python -m benchmarks.peers.client pure-ldp rappor 16 1.0

A report is written with the name of its Python type, since whoever gets the object sees that too. Where a report names a
hash function, what it maps the first values to is written out beside it: anybody can work that out.
"""

import json
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from math import exp
from typing import Any

SHOWN = 16  # values whose buckets are written out


def made(peer: str, mechanism: str, size: int, epsilon: float) -> Callable[[int], Any]:
    """The function that makes a report."""
    return {"pure-ldp": _pure, "multi-freq-ldpy": _multi, "ldp-toolbox": _toolbox, "opendp": _opendp}[peer](
        mechanism, size, epsilon
    )


def _pure(mechanism: str, size: int, epsilon: float) -> Callable[[int], Any]:
    oracles = import_module("pure_ldp.frequency_oracles")

    def same(index: int) -> int:
        return index

    match mechanism:
        case "direct":
            return oracles.DEClient(epsilon, size, index_mapper=same).privatise
        case "unary" | "unary-symmetric":
            return oracles.UEClient(epsilon, size, mechanism == "unary", index_mapper=same).privatise
        case "hashing":
            return _with_buckets(oracles.LHClient(epsilon, size, 2, True, index_mapper=same).privatise, epsilon)
        case "hadamard":
            return oracles.HadamardResponseClient(epsilon, size, index_mapper=same, hash_funcs=None).privatise
        case "hadamard-mechanism":
            return oracles.HadamardMechClient(epsilon, size, 1, True, index_mapper=same).privatise
        case "rappor":
            f = 2 / (exp(epsilon / 2) + 1)
            digest = import_module("xxhash").xxh32
            one_hash = [[lambda text: digest(text, seed=5).intdigest() % 64]]  # the same in every run
            client = oracles.RAPPORClient(f, 64, one_hash, num_of_cohorts=1, index_mapper=same)
            assert abs(client.convert_f_to_eps(f, 1) - epsilon) < 1e-9  # what it claims is what was asked for
            return client.privatise
    raise KeyError(mechanism)


def _multi(mechanism: str, size: int, epsilon: float) -> Callable[[int], Any]:
    oracles = "multi_freq_ldpy.pure_frequency_oracles."
    match mechanism:
        case "direct":
            direct = import_module(oracles + "GRR").GRR_Client
            return lambda value: direct(value, size, epsilon)
        case "unary" | "unary-symmetric":
            unary = import_module(oracles + "UE").UE_Client
            return lambda value: unary(value, size, epsilon, mechanism == "unary")
        case "subset":
            subset = import_module(oracles + "SS").SS_Client
            return lambda value: subset(value, size, epsilon)
        case "subset, first element":
            ordered = import_module(oracles + "SS").SS_Client
            return lambda value: ordered(value, size, epsilon)[:1]
        case "hashing":
            hashing = import_module(oracles + "LH").LH_Client
            return _with_buckets(lambda value: hashing(value, size, epsilon), epsilon)
        case "memoized-direct":
            memoized = import_module("multi_freq_ldpy.long_freq_est.L_GRR").L_GRR_Client
            return lambda value: memoized(value, size, epsilon, epsilon / 2)
    raise KeyError(mechanism)


def _toolbox(mechanism: str, size: int, epsilon: float) -> Callable[[int], Any]:
    names = {"direct": "GRR", "unary": "UE", "unary-symmetric": "UE", "subset": "SS", "hashing": "LH"}
    oracles = import_module("ldp_toolbox.protocols.frequency." + names[mechanism].lower())
    match mechanism:
        case "direct":
            return oracles.GeneralizedRandomizedResponse(size, epsilon).obfuscate
        case "hashing":
            return _with_buckets(oracles.LocalHashing(size, epsilon).obfuscate, epsilon)
        case "subset":
            return oracles.SubsetSelection(size, epsilon).obfuscate
    return oracles.UnaryEncoding(size, epsilon, mechanism == "unary").obfuscate


def _opendp(mechanism: str, size: int, epsilon: float) -> Callable[[int], Any]:
    prelude = import_module("opendp.prelude")
    prelude.enable_features("contrib")
    if mechanism == "direct":
        return prelude.m.make_randomized_response(list(range(size)), exp(epsilon) / (exp(epsilon) + size - 1))
    bits = prelude.m.make_randomized_response_bitvec(
        prelude.bitvector_domain(max_weight=1), prelude.discrete_distance(), f=2 / (exp(epsilon / 2) + 1)
    )
    one_hot = [(1 << index).to_bytes(size // 8, "little") for index in range(size)]
    return lambda value: [byte >> bit & 1 for byte in bits(one_hot[value]) for bit in range(8)]


def _with_buckets(perturb: Callable[[int], Any], epsilon: float) -> Callable[[int], Any]:
    """The bucket, and for the first values whether the hash function of the report puts them there."""
    digest, buckets = import_module("xxhash").xxh32, round(exp(epsilon)) + 1

    def report(value: int) -> Any:
        bucket, seed = perturb(value)
        there = [int(digest(str(each), seed=int(seed)).intdigest() % buckets == bucket) for each in range(SHOWN)]
        return type(bucket).__name__, [int(bucket), *there]

    return report


def _plain(report: Any) -> Any:
    """As JSON, with the type of what is not an array."""
    if hasattr(report, "tolist"):
        return report.tolist()
    if isinstance(report, tuple) and len(report) == 2 and isinstance(report[0], str):
        return {report[0]: report[1]}
    if isinstance(report, Iterable) and not isinstance(report, list | str | bytes):
        return {type(report).__name__: [_inner(each) for each in report]}
    return _inner(report)


def _inner(report: Any) -> Any:
    if hasattr(report, "tolist"):
        return report.tolist()
    return [_inner(each) for each in report] if isinstance(report, list | tuple) else report


def main() -> None:
    peer, mechanism, size, epsilon = sys.argv[1:]
    perturb = made(peer, mechanism, int(size), float(epsilon))
    out = []
    for line in sys.stdin:
        out.append(json.dumps(_plain(perturb(int(line.split()[-1])))))
    sys.stdout.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
