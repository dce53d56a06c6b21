"""The plain twins of loops that are compiled once it pays."""

import subprocess
import sys
from inspect import unwrap
from types import ModuleType, SimpleNamespace

WITHOUT = """
import sys, importlib.util
for name in {hidden}:
    sys.modules[name] = None
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in {hidden} else found(name, *rest)
"""
USED = """
print("numba" in sys.modules and sys.modules["numba"] is not None)
"""


def plain_loops(module: ModuleType) -> SimpleNamespace:
    """What a module defines, its loops as they run where numba is absent."""
    return SimpleNamespace(**{name: unwrap(each) if callable(each) else each for name, each in vars(module).items()})


def prints_the_same_without(hidden: tuple[str, ...], code: str) -> bool:
    """Whether a program prints the same in a process that cannot load these packages, with numba, as in one that can."""
    outputs = []
    for missing in (hidden, ()):
        command = [sys.executable, "-c", WITHOUT.format(hidden=missing) + code + USED]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
        outputs.append(done.stdout.splitlines())
    assert "numba" in hidden and outputs[0][-1] == "False" and len(outputs[0]) > 1
    return outputs[0][:-1] == outputs[1][:-1]
