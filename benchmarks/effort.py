"""How much work one measurement does, and the clock that times it."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import clock_gettime, perf_counter

Work = Callable[[], object]


@dataclass(frozen=True)
class Effort:
    """Reports in a batch, and the seconds of repeats to take the best of."""

    n: int
    seconds: float

    def rate(self, work: Work, n: int) -> float:
        """Reports a second, by the shortest run of `work`, which handles `n` of them."""
        work()  # warm up: compiling and first touches of memory are not what is measured
        runs: list[float] = []
        while len(runs) < 3 or sum(runs) < self.seconds:
            start = perf_counter()
            work()
            runs.append(perf_counter() - start)
        return n / min(runs)


def processor_seconds(pid: int) -> float:
    """What a process has taken of the processor so far, as Linux counts it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def used(pid: int) -> float:
    """The same to the nanosecond: the clock of a process, as Linux numbers it."""
    return clock_gettime((~pid << 3) | 2)


def family_seconds(first: int) -> float:
    """What a process and all its children that there are have taken of the processor so far."""
    mine = [first]
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(path.read_text().rpartition(")")[2].split()[1]) == first:
                mine.append(int(path.parent.name))
        except OSError:  # it has ended
            continue
    return sum(processor_seconds(pid) for pid in mine)
