"""Loading: the seconds of CPU that `import deniable` and `deniable --help` take, beside bare `import numpy`."""

import resource
import subprocess
import sys
from functools import partial

from benchmarks.effort import Effort
from benchmarks.figure import Figure

PROGRAMS = {
    "loading/import": ("-c", "import deniable"),
    "loading/help": ("-m", "deniable", "--help"),
    "loading/first-answer": (
        "-c",
        "import deniable as dn; dn.DirectResponse(dn.Categories(['yes', 'no']), 1.0).perturb(['yes'])",
    ),
}


def seconds(arguments: tuple[str, ...], effort: Effort) -> float:
    """The least that a fresh process takes, of several; the first run, which may write bytecode, is left out."""
    runs: list[float] = []
    for _ in range(4 if effort.seconds < 0.5 else 8):
        before = _spent()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        runs.append(_spent() - before)
    return min(runs[1:])


def _spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def numpy(effort: Effort) -> tuple[float, str]:
    return seconds(("-c", "import numpy"), effort), "import numpy"


FIGURES = [
    Figure(name, "seconds of CPU", partial(seconds, arguments), numpy, has_peers=False)
    for name, arguments in PROGRAMS.items()
]
