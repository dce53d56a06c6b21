"""Packages named like their main function: `dn.audit(...)` runs an audit, `import deniable.audit` gives the package."""

import sys
from collections.abc import Callable
from types import ModuleType


def callable_package(name: str, verb: Callable[..., object]) -> None:
    """Let the package of this name be called, as its main function."""

    class Package(ModuleType):
        __doc__ = verb.__doc__

        def __call__(self, *given: object, **named: object) -> object:
            return verb(*given, **named)

    sys.modules[name].__class__ = Package
