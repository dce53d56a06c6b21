"""Which function proves the loss of which family: a registry, as torch keeps divergences with `register_kl`.

A proof is found by the class of a mechanism, or the nearest class above it that has one. The generic one, by the rules, is
registered for `Mechanism`, so that a new family has it without registering anything. Only what is no program needs another:

    @proves(MyMechanism, "theorem")
    def by_theorem(mechanism: MyMechanism, limit: int) -> Certificate: ...
"""

import sys
from collections.abc import Callable
from functools import singledispatch
from importlib import import_module
from typing import Any, Literal, TypeVar

from deniable.core import Mechanism, PrivacyLoss
from deniable.errors import NotCertifiable
from deniable.privacy.certificate import Certificate

Prover = Callable[[Any, int], Certificate]  # of a mechanism and how many outcomes may be followed
P = TypeVar("P", bound=Prover)

OURS = ("certify", "open", "memoized", "theorem", "metric")  # loaded at the first use
Method = Literal["enumerated", "theorem"]
_PROVERS: dict[tuple[type, Method | None], Prover] = {}


def proves(family: type, *kinds: Method | None) -> Callable[[P], P]:
    """Register a function that proves the loss of a family in these ways; None: in the way that suits the instance best."""

    def register(prover: P) -> P:
        _PROVERS.update({(family, kind): prover for kind in kinds})
        return prover

    return register


def is_ours(family: type) -> bool:
    """Whether this class is part of the package, so that its code is what our theorems are about.

    The name of a module alone does not say so, since any class may bear it: the module must have this very class.
    """
    if family.__module__.partition(".")[0] != "deniable":
        return False
    found: object = sys.modules.get(family.__module__)
    for name in family.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is family


@singledispatch
def second_loss(mechanism: Mechanism) -> PrivacyLoss | None:
    """Another loss of a certified mechanism, for another unit or other pairs of answers; a family registers its own."""
    return None


def prover(mechanism: Mechanism, kind: Method | None) -> Prover:
    """The function that proves the loss of this mechanism in this way.

    A theorem is about the code that it was registered for. A class elsewhere that changes that code needs one of its own.
    """
    for module in OURS:
        import_module(f"deniable.privacy.{module}")
    for family in type(mechanism).__mro__:
        if (family, kind) in _PROVERS and (kind == "theorem" or is_ours(family)):
            return _PROVERS[family, kind]
        if kind == "theorem" and issubclass(family, Mechanism) and not is_ours(family):
            raise NotCertifiable(
                f"No theorem is registered for the class {family.__name__}, and a theorem about its base class does not "
                'hold for it. Register a function with @proves(..., "theorem"), or write the law as a program.'
            )
    raise NotCertifiable(
        "Not proved at this size: the law of this mechanism cannot be recorded as a program, and no theorem covers it. "
        "Use a smaller question or another mechanism."
    )
