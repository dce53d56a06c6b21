"""How to evaluate each kind of golden entry through the public API: one file per paper, all found by their place here."""

import importlib
import pkgutil

from tests.golden.kinds.registry import KINDS

for found in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{found.name}")

__all__ = ["KINDS"]
