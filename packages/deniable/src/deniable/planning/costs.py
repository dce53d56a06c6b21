"""What a mechanism costs to run: bits per report, and the time of the device and of the server, measured on this machine."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from deniable.core import Mechanism, SeededCoins
from deniable.errors import InvalidParameter
from deniable.planning.ranking import counted


@dataclass(frozen=True)
class Cost:
    """One report: its size, and microseconds of processor time to make and to count it, on this machine."""

    bits: int
    device: float
    server: float

    def __str__(self) -> str:
        return f"{counted(self.bits, 'bit')}, {self.device:.3g} us to make, {self.server:.3g} us to count"


def measured_cost(mechanism: Mechanism, reports: int = 4096, seconds: float = 0.05) -> Cost:
    """The cost of one report in a batch of so many, from runs of at least this many seconds of processor time each.

    A device makes one report at a time and pays for the start of a program besides; this is the work itself.
    """
    if reports < 1 or seconds <= 0:
        raise InvalidParameter("A measurement needs at least one report and a positive number of seconds.")
    domain = mechanism.domain
    size = min(domain.size, 1000)
    values = [domain.answer(place * 7919 % size) for place in range(reports)]
    made = mechanism.perturb(values, SeededCoins(0))
    mechanism.count(made)  # compilation and lookups, which happen once, are not measured
    return Cost(
        mechanism.layout.bits,
        _each(lambda: mechanism.perturb(values), seconds) / reports,
        _each(lambda: mechanism.count(made), seconds) / reports,
    )


def _each(run: Callable[[], object], seconds: float) -> float:
    """The fastest of several runs, in microseconds: others were held up by something else."""
    best, spent = float("inf"), 0.0
    while spent < seconds:
        start = time.process_time()
        run()
        own = time.process_time() - start
        best, spent = min(best, own), spent + max(own, 1e-6)
    return 1e6 * best
