"""The measuring of the peers, run by their own interpreter: prints one JSON object for each peer and cell."""

import json
import sys
from collections import deque
from itertools import cycle, islice
from random import Random
from time import perf_counter

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
    count = _affordable(adapter, pool, effort)
    if cell.phase == "perturb":
        values = list(islice(cycle(pool), count))
        return effort.rate(lambda: deque(map(adapter.perturb, values), maxlen=0), count)
    if adapter.aggregate is None:
        return None
    aggregate = adapter.aggregate
    count = min(count, LARGEST_BATCH // cell.size)
    reports = [adapter.perturb(value) for value in islice(cycle(pool), count)]
    return effort.rate(lambda: aggregate(reports), count)


def _affordable(adapter: Adapter, pool: list[int], effort: Effort) -> int:
    adapter.perturb(pool[0])  # some compile at their first call
    start = perf_counter()
    for value in pool[:64]:
        adapter.perturb(value)
    rate = 64 / (perf_counter() - start)
    return max(64, min(effort.n, int(rate * effort.seconds / 3)))


if __name__ == "__main__":
    main()
