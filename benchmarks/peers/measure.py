"""The measuring of the peers, run by their own interpreter: prints one JSON object for each peer and cell."""

import json
import sys
from collections import deque
from collections.abc import Callable
from itertools import cycle, islice
from random import Random
from time import perf_counter
from typing import Any

from benchmarks.cell import Cell
from benchmarks.effort import Effort
from benchmarks.peers.adapters import PEERS, Adapter

LARGEST_BATCH = 2**24  # numbers kept at once: the peers spend eight bytes on every bit of a report


def main() -> None:
    settings = json.load(sys.stdin)
    effort = Effort(settings["n"], settings["seconds"])
    for cell in map(Cell.parse, settings["cells"]):
        for peer, adapt in PEERS:
            row: dict[str, object] = {"cell": cell.name, "peer": peer}
            try:
                adapter = adapt(cell)
                row["rate"] = None if adapter is None else measured(adapter, cell, effort)
            except Exception as error:  # whatever a peer raises is a finding about it, not the end
                row["error"] = f"{type(error).__name__}: {error}"
            print(json.dumps(row), flush=True)


def measured(adapter: Adapter, cell: Cell, effort: Effort) -> float | None:
    """Reports a second, over as many values as a third of the effort allows: no peer has a batch call."""
    draw = Random(cell.size)
    pool = [draw.randrange(cell.size) for _ in range(4096)]
    count = _affordable(lambda values: deque(map(adapter.perturb, values), maxlen=0), pool, effort.seconds / 3, effort)
    if cell.phase == "perturb":
        values = list(islice(cycle(pool), count))
        return effort.rate(lambda: deque(map(adapter.perturb, values), maxlen=0), count)
    if adapter.aggregate is None:
        return None
    aggregate = adapter.aggregate
    count = min(count, LARGEST_BATCH // cell.size)
    reports = [adapter.perturb(value) for value in islice(cycle(pool), count)]
    reports = reports[: _affordable(aggregate, reports, effort.seconds, effort)]  # some hash every value for every report
    return effort.rate(lambda: aggregate(reports), len(reports))


def _affordable(work: Callable[[list[Any]], object], items: list[Any], seconds: float, effort: Effort) -> int:
    """How many of these the work can do in that time, judged by 64 of them."""
    work(items[:1])  # some compile at their first call
    start = perf_counter()
    work(items[:64])
    rate = 64 / (perf_counter() - start)
    return max(64, min(effort.n, int(rate * seconds)))


if __name__ == "__main__":
    main()
