"""One family of mechanisms per file, and the way back from plain data."""

from collections.abc import Mapping
from typing import Any

from deniable.core.mechanism import Mechanism
from deniable.domains import domain_from_spec
from deniable.errors import InvalidParameter
from deniable.mechanisms.bipartite import Bipartite
from deniable.mechanisms.bitrand import BitRand
from deniable.mechanisms.channel import EqualWeight
from deniable.mechanisms.choice import plan_release
from deniable.mechanisms.coarsened import Coarsened
from deniable.mechanisms.comparison import Comparison, compare_releases
from deniable.mechanisms.compressed import Compressed
from deniable.mechanisms.compressed_published import PublishedCompressed
from deniable.mechanisms.design import BlockDesign
from deniable.mechanisms.direct import DirectResponse
from deniable.mechanisms.duchi_vector import DuchiVector
from deniable.mechanisms.feature_vector import FeatureVector
from deniable.mechanisms.hadamard import HadamardResponse
from deniable.mechanisms.hashing import LocalHashing
from deniable.mechanisms.key_value_direct import PCKVDirect
from deniable.mechanisms.key_value_estimate import KeyValueEstimate
from deniable.mechanisms.key_value_rounds import PrivKVM
from deniable.mechanisms.key_value_sampled import KeySampling
from deniable.mechanisms.key_value_unary import PCKVUnary
from deniable.mechanisms.labels import LabelResponse
from deniable.mechanisms.matrix import FiniteChannel
from deniable.mechanisms.mean import BitSampling, Duchi, ThreeOutputs
from deniable.mechanisms.mean_channel import MeanChannel
from deniable.mechanisms.mean_piecewise import Hybrid, Piecewise
from deniable.mechanisms.privunit import PrivUnit
from deniable.mechanisms.release import Release
from deniable.mechanisms.rivals import ReleaseChannel
from deniable.mechanisms.rotation import Rotation
from deniable.mechanisms.staircase import Staircase
from deniable.mechanisms.subset import SubsetSelection
from deniable.mechanisms.three import ThreeState
from deniable.mechanisms.three_design import feasible_regions
from deniable.mechanisms.unary import Unary
from deniable.mechanisms.unit_axes import UnitAxes
from deniable.mechanisms.unit_codes import UnitCodes
from deniable.mechanisms.vector import VectorRelease
from deniable.mechanisms.wheel import Wheel

__all__ = [
    "Bipartite",
    "BitRand",
    "BitSampling",
    "BlockDesign",
    "Coarsened",
    "Comparison",
    "Compressed",
    "DirectResponse",
    "Duchi",
    "DuchiVector",
    "EqualWeight",
    "FeatureVector",
    "FiniteChannel",
    "HadamardResponse",
    "Hybrid",
    "KeySampling",
    "KeyValueEstimate",
    "LabelResponse",
    "LocalHashing",
    "MeanChannel",
    "PCKVDirect",
    "PCKVUnary",
    "Piecewise",
    "PrivKVM",
    "PrivUnit",
    "Release",
    "ReleaseChannel",
    "Rotation",
    "Staircase",
    "SubsetSelection",
    "ThreeOutputs",
    "ThreeState",
    "Unary",
    "UnitAxes",
    "UnitCodes",
    "VectorRelease",
    "Wheel",
    "compare_releases",
    "feasible_regions",
    "mechanism_from_spec",
    "plan_release",
]

FAMILIES: dict[str, type[Mechanism]] = {
    family.wire: family
    for family in (
        DirectResponse,
        Unary,
        SubsetSelection,
        LocalHashing,
        Wheel,
        HadamardResponse,
        BlockDesign,
        FiniteChannel,
        Bipartite,
        Staircase,
        Coarsened,
        ReleaseChannel,
        VectorRelease,
        LabelResponse,
        Duchi,
        ThreeOutputs,
        Piecewise,
        Hybrid,
        BitSampling,
        MeanChannel,
        FeatureVector,
        DuchiVector,
        PrivUnit,
        UnitCodes,
        UnitAxes,
        BitRand,
        EqualWeight,
        ThreeState,
        PCKVUnary,
        PCKVDirect,
        KeySampling,
        Compressed,
        PublishedCompressed,
    )
}


def mechanism_from_spec(spec: Mapping[str, Any], families: Mapping[str, type[Mechanism]] = FAMILIES) -> Mechanism:
    """The mechanism that `spec` described, refused if its law is not the one that this release would run."""
    try:
        if spec["mechanism"] not in families:
            raise InvalidParameter("This release does not know that mechanism. Update deniable.")
        domain = domain_from_spec(spec["domain"])
        mechanism = families[spec["mechanism"]].from_parameters(domain, spec["epsilon"], spec)
    except InvalidParameter:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, ZeroDivisionError, RecursionError) as error:
        raise InvalidParameter('A mechanism is JSON with "mechanism", "domain", "epsilon" and its parameters.') from error
    if mechanism.spec() != spec:
        raise InvalidParameter("The parameters do not fit together: the description was changed after it was written.")
    return mechanism
