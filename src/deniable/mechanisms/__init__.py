"""One family of mechanisms per file, and the way back from JSON."""

import json

from deniable.core.mechanism import Mechanism
from deniable.domains import domain_from_spec
from deniable.errors import InvalidParameter
from deniable.mechanisms.compressed import Compressed
from deniable.mechanisms.compressed_published import PublishedCompressed
from deniable.mechanisms.design import BlockDesign
from deniable.mechanisms.direct import DirectResponse
from deniable.mechanisms.hadamard import HadamardResponse
from deniable.mechanisms.hashing import LocalHashing
from deniable.mechanisms.subset import SubsetSelection
from deniable.mechanisms.unary import Unary
from deniable.mechanisms.wheel import Wheel

__all__ = [
    "BlockDesign",
    "Compressed",
    "DirectResponse",
    "HadamardResponse",
    "LocalHashing",
    "SubsetSelection",
    "Unary",
    "Wheel",
    "mechanism_from_json",
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
        Compressed,
        PublishedCompressed,
    )
}


def mechanism_from_json(text: str) -> Mechanism:
    """The mechanism that `to_json` described, refused if its law is not the one that this release would run.

    >>> from deniable.domains import Categories
    >>> mechanism = DirectResponse(Categories(["yes", "no"]), epsilon=1.0)
    >>> mechanism_from_json(mechanism.to_json()) == mechanism
    True
    """
    try:
        spec = json.loads(text)
        if spec["mechanism"] not in FAMILIES:
            raise InvalidParameter("This release does not know that mechanism. Update deniable.")
        domain = domain_from_spec(spec["domain"])
        mechanism = FAMILIES[spec["mechanism"]].from_parameters(domain, spec["epsilon"], spec)
    except InvalidParameter:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, ZeroDivisionError, RecursionError) as error:
        raise InvalidParameter('A mechanism is JSON with "mechanism", "domain", "epsilon" and its parameters.') from error
    if mechanism.spec() != spec:
        raise InvalidParameter("The parameters do not fit together: the description was changed after it was written.")
    return mechanism
