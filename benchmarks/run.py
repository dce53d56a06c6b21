"""One run: the peers first, in their own process, then ours and the bounds, one thing at a time."""

from collections.abc import Iterator
from subprocess import CalledProcessError
from typing import Protocol

from benchmarks.effort import Effort
from benchmarks.figure import Figure, Line
from benchmarks.peers import environment, measurement
from benchmarks.peers.adapters import PEERS


class Watch(Protocol):
    """Whoever wants to know how far the run is, and what it could not do."""

    def doing(self, what: str) -> None: ...
    def done(self) -> None: ...
    def note(self, what: str) -> None: ...


def steps(figures: list[Figure]) -> int:
    return len(figures) + sum(figure.has_peers for figure in figures) * len(PEERS)


def lines(figures: list[Figure], effort: Effort, watch: Watch) -> Iterator[Line]:
    peers = _peers([figure.name for figure in figures if figure.has_peers], effort, watch)
    for figure in figures:
        watch.doing(figure.name)
        peer, peer_name = peers.get(figure.name, (None, None))
        ours = figure.ours(effort)
        bound, bound_name = figure.bound(effort)
        watch.done()
        yield Line(figure.name, ours, peer, peer_name, bound, bound_name, figure.unit)


def _peers(cells: list[str], effort: Effort, watch: Watch) -> dict[str, tuple[float, str]]:
    """The best peer of each cell. A peer that fails is noted and left out; the others still count."""
    found: list[measurement.Measurement] = []
    errors: set[tuple[str, str]] = set()
    try:
        if cells and not environment.is_ready():
            watch.doing("installing the peers")
            for requirement in environment.make():
                watch.note(f"{requirement} could not be installed for comparison.")
        for result in measurement.measure(cells, effort) if cells else ():
            watch.doing(f"{result.cell} by {result.peer}")
            watch.done()
            found.append(result)
            if result.error is not None and (result.peer, result.error) not in errors:
                errors.add((result.peer, result.error))
                watch.note(f"{result.peer} failed at {result.cell}: {result.error}")
    except (CalledProcessError, OSError) as error:
        watch.note(f"The peers were not measured to the end: {error}")
    return measurement.fastest(found)
