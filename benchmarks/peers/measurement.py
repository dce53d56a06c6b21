"""The peers' figures as this process sees them: a stream of measurements, and the fastest of each cell."""

import json
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

from benchmarks.effort import Effort
from benchmarks.peers.environment import PYTHON, ROOT


@dataclass(frozen=True)
class Measurement:
    """A rate of None means that the peer lacks the mechanism, or failed as `error` says."""

    cell: str
    peer: str
    rate: float | None = None
    error: str | None = None


def measure(cells: list[str], effort: Effort) -> Iterator[Measurement]:
    command = [str(PYTHON), "-m", "benchmarks.peers.measure"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps({"cells": cells, **asdict(effort)}))
        process.stdin.close()
        for line in process.stdout:
            yield Measurement(**json.loads(line))
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)


def fastest(measurements: Iterable[Measurement]) -> dict[str, tuple[float, str]]:
    """Rate and name of the best peer, by cell."""
    best: dict[str, tuple[float, str]] = {}
    for measurement in measurements:
        if measurement.rate is not None:
            found = (measurement.rate, measurement.peer)
            best[measurement.cell] = max(found, best.get(measurement.cell, found))
    return best
