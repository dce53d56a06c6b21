"""Local differential privacy that proves what it promises: randomize, count, estimate, certify.

Nothing is loaded until it is used: `__init__.pyi` lists the public names and where each lives, for type checkers and for
`__getattr__` below (PEP 562).
"""

import re
from importlib import import_module
from pathlib import Path

_LISTED = re.findall(
    r"^from (\S+) import (?:\(([^)]*)\)|(.*))$", Path(__file__).with_suffix(".pyi").read_text(), re.MULTILINE
)
_HOME = {name: module for module, *names in _LISTED for name in re.findall(r"(\w+) as \1", "".join(names))}

_GONE = {"EveryCoin": " any more. dn.law(mechanism, index) follows every outcome of every draw of the law."}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name in _HOME:
        found = getattr(import_module(_HOME[name]), name)
        return globals().setdefault(name, found)  # a package of that name is there already, and can be called
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_GONE.get(name, '')}")


def __dir__() -> list[str]:
    return __all__
