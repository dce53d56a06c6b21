"""Every family of mechanisms by its wire name: ours, and those that other packages register.

A package registers its own with an entry point, and they then work in survey files, `compare`, `certify` and `audit`:

    [project.entry-points."deniable.mechanisms"]
    "coin-1" = "my_package.coin:Coin"
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Literal, overload

from deniable.core import Candidate, Mechanism, Spec, offered
from deniable.core.spec import part
from deniable.domains import domain_from_spec
from deniable.errors import InvalidParameter
from deniable.plugins import registered

if TYPE_CHECKING:
    from deniable.core import PureProtocol
    from deniable.mechanisms.distributions.distribution_mechanism import DistributionMechanism
    from deniable.mechanisms.key_value.key_value_protocol import KeyValueProtocol
    from deniable.mechanisms.means.mean_mechanism import MeanMechanism
    from deniable.mechanisms.releases.release import Release
    from deniable.mechanisms.vectors.duchi_vector import DuchiVector
    from deniable.mechanisms.vectors.feature_vector import FeatureVector

GROUP = "deniable.mechanisms"
OURS = {
    "direct-1": "mechanisms.shares.direct_response:DirectResponse",
    "unary-1": "mechanisms.shares.unary:Unary",
    "subset-1": "mechanisms.shares.subset_selection:SubsetSelection",
    "design-1": "mechanisms.shares.block_design:BlockDesign",
    "weighted-design-1": "mechanisms.shares.weighted_design:WeightedDesign",
    "wheel-1": "mechanisms.shares.wheel:Wheel",
    "hashing-1": "mechanisms.shares.local_hashing:LocalHashing",
    "hadamard-1": "mechanisms.shares.hadamard_response:HadamardResponse",
    "finite-1": "mechanisms.shares.finite_channel:FiniteChannel",
    "coarsened-1": "mechanisms.releases.coarsened:Coarsened",
    "bipartite-1": "mechanisms.releases.bipartite:Bipartite",
    "staircase-1": "mechanisms.releases.staircase:Staircase",
    "release-1": "mechanisms.releases.release_channel:ReleaseChannel",
    "metric-1": "mechanisms.releases.metric_release:MetricRelease",
    "vector-1": "mechanisms.releases.vector_release:VectorRelease",
    "label-1": "mechanisms.shares.label_response:LabelResponse",
    "duchi-1": "mechanisms.means.duchi:Duchi",
    "three-outputs-1": "mechanisms.means.three_outputs:ThreeOutputs",
    "piecewise-1": "mechanisms.means.piecewise:Piecewise",
    "hybrid-1": "mechanisms.means.hybrid:Hybrid",
    "bit-sampling-1": "mechanisms.means.bit_sampling:BitSampling",
    "permanent-mean-1": "mechanisms.means.permanent_mean:PermanentMean",
    "permanent-set-1": "mechanisms.key_value.permanent_set:PermanentSet",
    "optimal-mean-1": "mechanisms.means.optimal_mean:OptimalMean",
    "window-mean-1": "mechanisms.means.window_mean:WindowMean",
    "mean-channel-1": "mechanisms.means.mean_channel:MeanChannel",
    "feature-vector-1": "mechanisms.vectors.feature_vector:FeatureVector",
    "sign-word-1": "mechanisms.vectors.sign_word:SignWord",
    "duchi-vector-1": "mechanisms.vectors.duchi_vector:DuchiVector",
    "privunit-1": "mechanisms.vectors.privunit:PrivUnit",
    "unit-codes-1": "mechanisms.vectors.unit_codes:UnitCodes",
    "unit-axes-1": "mechanisms.vectors.unit_axes:UnitAxes",
    "bitrand-1": "mechanisms.vectors.bitrand:BitRand",
    "square-wave-1": "mechanisms.distributions.square_wave:SquareWave",
    "comb-wave-1": "mechanisms.distributions.comb_wave:CombWave",
    "hierarchy-1": "mechanisms.distributions.hierarchy:Hierarchy",
    "cuts-1": "mechanisms.distributions.cuts:Cuts",
    "tiles-1": "mechanisms.distributions.tiles:Tiles",
    "shifted-tiles-1": "mechanisms.distributions.shifted_tiles:ShiftedTiles",
    "workload-1": "mechanisms.distributions.workload_channel:WorkloadChannel",
    "equal-weight-1": "mechanisms.shares.equal_weight:EqualWeight",
    "three-state-1": "mechanisms.key_value.three_state:ThreeState",
    "pckv-unary-1": "mechanisms.key_value.pckv_unary:PCKVUnary",
    "pair-wheel-1": "mechanisms.key_value.pair_wheel:PairWheel",
    "pckv-direct-1": "mechanisms.key_value.pckv_direct:PCKVDirect",
    "privset-1": "mechanisms.key_value.privset:PrivSet",
    "key-sampling-1": "mechanisms.key_value.key_sampling:KeySampling",
    "compressed-1": "mechanisms.sparse.compressed:Compressed",
    "compressed-published-1": "mechanisms.sparse.published_compressed:PublishedCompressed",
    "friends-1": "graphs.friends:Friends",
    "prefix-hashing-1": "mechanisms.discovery.prefix_hashing:PrefixHashing",
    "sifted-hashing-1": "mechanisms.discovery.sifted_hashing:SiftedHashing",
    "utility-1": "wrappers.utility_optimized:UtilityOptimized",
    "utility-published-1": "wrappers.published_utility:PublishedUtility",
    "seeded-1": "wrappers.seeded:Seeded",
    "seeded-channel-1": "wrappers.seeded_channel:SeededChannel",
    "seeded-pairs-1": "wrappers.seeded_pairs:SeededPairs",
    "memoized-1": "wrappers.memoized:Memoized",
    "every-attribute-1": "wrappers.every_attribute:EveryAttribute",
    "one-attribute-1": "wrappers.one_attribute:OneAttribute",
    "whole-record-1": "wrappers.whole_record:WholeRecord",
    "one-group-1": "wrappers.one_group:OneGroup",
    "one-pair-1": "wrappers.one_pair:OnePair",
    "fake-attributes-1": "wrappers.fake_attributes:FakeAttributes",
}


@cache
def families() -> Mapping[str, EntryPoint]:
    """All registered families by wire name, not yet loaded."""
    return registered(GROUP, OURS)


@cache
def family(wire: str) -> type[Mechanism]:
    """The class with this wire name."""
    if wire not in families():
        raise InvalidParameter(
            f"No mechanism {wire!r:.60} is installed. Update deniable, or install the package that the mechanism comes from."
        )
    found: object = families()[wire].load()
    if not (isinstance(found, type) and issubclass(found, Mechanism) and found.wire == wire):
        raise InvalidParameter(f"The entry point {wire!r} of {GROUP} does not name a mechanism with that wire name.")
    return found


@overload
def candidates(
    question: Literal["shares"] = "shares", edition: int | None = None
) -> "Mapping[str, Candidate[PureProtocol]]": ...
@overload
def candidates(question: Literal["means"], edition: int | None = None) -> "Mapping[str, Candidate[MeanMechanism]]": ...
@overload
def candidates(
    question: Literal["vectors"], edition: int | None = None
) -> "Mapping[str, Candidate[FeatureVector | DuchiVector]]": ...
@overload
def candidates(question: Literal["releases"], edition: int | None = None) -> "Mapping[str, Candidate[Release]]": ...
@overload
def candidates(
    question: Literal["distributions"], edition: int | None = None
) -> "Mapping[str, Candidate[DistributionMechanism]]": ...
@overload
def candidates(
    question: Literal["key_value"], edition: int | None = None
) -> "Mapping[str, Candidate[KeyValueProtocol]]": ...


@cache
def candidates(question: str = "shares", edition: int | None = None) -> Mapping[str, Candidate]:
    """What all families suggest to the planner of a question, by name: those in our folder of it, and those of others.

    With an edition, only those that this edition of the planner of survey files considers.
    """
    named: dict[str, Candidate] = {}
    for wire, entry in families().items():
        if wire not in OURS or entry.value.startswith(f"deniable.mechanisms.{question}."):
            for candidate in offered(family(wire).candidates(), edition) if family(wire).question == question else ():
                named.setdefault(candidate.name, candidate)
    return named


def mechanism_from_spec(spec: Spec) -> Mechanism:
    """The mechanism that `spec` described, refused if its law is not the one that this release would run."""
    try:
        domain = domain_from_spec(part(spec, "domain"))
        if not isinstance(epsilon := spec["epsilon"], int | float):
            raise InvalidParameter('"epsilon" must be a number.')
        mechanism = family(str(spec["mechanism"])).from_parameters(domain, epsilon, spec)
    except InvalidParameter:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        raise InvalidParameter('A mechanism is JSON with "mechanism", "domain", "epsilon" and its parameters.') from error
    if mechanism.spec() != spec:
        raise InvalidParameter("The parameters do not fit together: the description has been changed.")
    return mechanism


def mechanism_from_json(text: str) -> Mechanism:
    """The mechanism that `to_json` described; refused if its law differs from the one that this release would run.

    >>> from deniable.domains import Categories
    >>> from deniable.mechanisms.shares.direct_response import DirectResponse
    >>> mechanism = DirectResponse(Categories(["yes", "no"]), epsilon=1.0)
    >>> mechanism_from_json(mechanism.to_json()) == mechanism
    True
    """
    try:
        spec = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidParameter("This is not JSON. Copy the whole file as deniable plan wrote it.") from error
    return mechanism_from_spec(spec)
