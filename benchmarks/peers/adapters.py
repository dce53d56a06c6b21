"""Each peer's frequency oracles behind one shape: perturb a value, aggregate a list of reports."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from math import exp
from typing import Any

from benchmarks.cell import EPSILON, Cell

INITIALS = {"direct": "GRR", "unary": "UE", "subset": "SS", "hashing": "LH"}


@dataclass(frozen=True)
class Adapter:
    """`aggregate` is the peer's own road from reports to what it keeps: counts, or at once an estimate."""

    perturb: Callable[[int], Any]
    aggregate: Callable[[list[Any]], object] | None = None


def pure_ldp(cell: Cell) -> Adapter | None:
    oracles = import_module("pure_ldp.frequency_oracles")
    settings: tuple[object, ...] = (EPSILON, cell.size)
    match cell.mechanism:
        case "direct":
            make_client, make_server = oracles.DEClient, oracles.DEServer
        case "unary":
            make_client, make_server = oracles.UEClient, oracles.UEServer
            settings = (*settings, cell.variant == "optimized")
        case "hashing":
            make_client, make_server = oracles.LHClient, oracles.LHServer
            settings = (*settings, 2, True)  # the optimal number of buckets takes the place of 2
        case "hadamard":
            make_client, make_server = (
                partial(oracles.HadamardResponseClient, hash_funcs=None),
                oracles.HadamardResponseServer,
            )
        case _:
            return None

    def same(index: int) -> int:
        return index

    def aggregate(reports: list[Any]) -> object:
        server = make_server(*settings, index_mapper=same)
        server.aggregate_all(reports)
        if cell.phase == "estimate" or cell.mechanism == "hadamard":  # that server only keeps a list until it estimates
            return server.estimate_all(range(cell.size), suppress_warnings=True)
        return server

    return Adapter(make_client(*settings, index_mapper=same).privatise, aggregate)


def multi_freq_ldpy(cell: Cell) -> Adapter | None:
    if cell.mechanism not in INITIALS:
        return None
    oracles = import_module("multi_freq_ldpy.pure_frequency_oracles." + INITIALS[cell.mechanism])
    size, optimal = cell.size, cell.variant == "optimized"
    match cell.mechanism:
        case "direct":
            return Adapter(
                lambda value: oracles.GRR_Client(value, size, EPSILON),
                lambda reports: oracles.GRR_Aggregator_MI(reports, size, EPSILON),
            )
        case "unary":
            return Adapter(
                lambda value: oracles.UE_Client(value, size, EPSILON, optimal),
                lambda reports: oracles.UE_Aggregator_MI(reports, EPSILON, optimal),
            )
        case "hashing":
            return Adapter(
                lambda value: oracles.LH_Client(value, size, EPSILON),
                lambda reports: oracles.LH_Aggregator_MI(reports, size, EPSILON),
            )
        case _:
            return Adapter(
                lambda value: oracles.SS_Client(value, size, EPSILON),
                lambda reports: oracles.SS_Aggregator_MI(reports, size, EPSILON),
            )


def ldp_toolbox(cell: Cell) -> Adapter | None:
    if cell.mechanism not in INITIALS:
        return None
    oracles = import_module("ldp_toolbox.protocols.frequency." + INITIALS[cell.mechanism].lower())
    match cell.mechanism:
        case "direct":
            protocol = oracles.GeneralizedRandomizedResponse(cell.size, EPSILON)
        case "unary":
            protocol = oracles.UnaryEncoding(cell.size, EPSILON, cell.variant == "optimized")
        case "hashing":
            protocol = oracles.LocalHashing(cell.size, EPSILON)
            return Adapter(protocol.obfuscate, partial(_on_one_thread, protocol.estimate))
        case _:
            protocol = oracles.SubsetSelection(cell.size, EPSILON)
    return Adapter(protocol.obfuscate, protocol.estimate)


def opendp(cell: Cell) -> Adapter | None:
    """OpenDP leaves aggregation to its user, and its bit vectors are symmetric only."""
    prelude = import_module("opendp.prelude")
    prelude.enable_features("contrib")
    match cell.mechanism, cell.variant:
        case "direct", _:
            truth = exp(EPSILON) / (exp(EPSILON) + cell.size - 1)
            return Adapter(prelude.m.make_randomized_response(list(range(cell.size)), truth))
        case "unary", "symmetric":
            measurement = prelude.m.make_randomized_response_bitvec(
                prelude.bitvector_domain(max_weight=1),
                prelude.discrete_distance(),
                f=2 / (exp(EPSILON / 2) + 1),
            )
            one_hot = [(1 << index).to_bytes(cell.size // 8, "little") for index in range(cell.size)]
            return Adapter(lambda value: measurement(one_hot[value]))
        case _:
            return None


def _on_one_thread(estimate: Callable[[list[Any]], object], reports: list[Any]) -> object:
    """As everything else is measured: without the processes that joblib would start."""
    with import_module("joblib").parallel_config(backend="sequential"):
        return estimate(reports)


PEERS: Sequence[tuple[str, Callable[[Cell], Adapter | None]]] = (
    ("pure-ldp", pure_ldp),
    ("multi-freq-ldpy", multi_freq_ldpy),
    ("ldp-toolbox", ldp_toolbox),
    ("opendp", opendp),
)
