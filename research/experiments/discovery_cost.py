"""What finding strings costs the collector: the size of a report, time and memory to count and decode, by people.

Each line is measured in a process of its own that reads packed reports from a file.

    python -m research.experiments.discovery_cost
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import deniable as dn

RESULT = Path(__file__).with_suffix(".md")
CASES = ((1.0, 1_000_000), (2.0, 1_000_000), (4.0, 1_000_000), (2.0, 100_000), (2.0, 2_000_000))
KEYS = 100_000


def written(epsilon: float, people: int, file: Path) -> None:
    """Packed reports of 64-bit keys, Zipf 1.5 over 100,000."""
    random, weights = np.random.default_rng(1), np.arange(1, KEYS + 1) ** -1.5
    keys = random.integers(0, 2**64, KEYS, dtype=np.uint64)
    mechanism, coins = dn.plan_discovery(epsilon, "key"), dn.SeededCoins(1)
    answers = np.repeat(keys, random.multinomial(people, weights / weights.sum()))
    file.write_bytes(mechanism.pack(mechanism.perturb(answers, coins)))


def measured(epsilon: float, file: Path) -> dict[str, float]:
    """Seconds of CPU time and the peak of memory of this process, which only reads, counts and decodes."""
    mechanism, data = dn.plan_discovery(epsilon, "key"), file.read_bytes()
    before, start = _peak(), time.process_time()
    tally = mechanism.tally(mechanism.unpack(data))
    counted = time.process_time()
    names = len(dn.decode(mechanism, tally, 20))
    done = time.process_time()
    return {"bytes": len(data) / tally.n, "n": tally.n, "count": counted - start, "decode": done - counted,
            "idle": before, "peak": _peak(), "names": names}  # fmt: skip


def _peak() -> float:
    """In MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def main() -> None:
    """Measure and write the table."""
    lines = [
        "# What finding strings costs",
        "",
        "Written by `python -m research.experiments.discovery_cost`. 64-bit keys, Zipf 1.5 over 100,000. Each line is one",
        "process that reads packed reports from a file, counts them, and searches for the top 20. Times are seconds of CPU",
        "time, of all threads. Memory is the peak of the whole process, of which Python and its modules take the first",
        "figure.",
        "",
        "| epsilon | people | bytes a report | counting | search, verification | memory before | peak of memory | names |",
        f"|{'--:|' * 8}",
    ]
    with TemporaryDirectory() as folder:
        for place, (epsilon, people) in enumerate(CASES):
            file = Path(folder) / str(place)
            _child("written", epsilon, people, file)
            run = json.loads(_child("measured", epsilon, people, file))
            cells = [f"{epsilon:g}", f"{people:,}", f"{run['bytes']:.2f}", f"{run['count']:.2f} s", f"{run['decode']:.2f} s"]
            cells += [f"{run['idle']:.0f} MB", f"{run['peak']:.0f} MB", str(run["names"])]
            lines.append(f"| {' | '.join(cells)} |")
    RESULT.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _child(what: str, epsilon: float, people: int, file: Path) -> str:
    command = [sys.executable, "-m", "research.experiments.discovery_cost", what, str(epsilon), str(people), str(file)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=600).stdout


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["written", epsilon, people, file]:
            written(float(epsilon), int(people), Path(file))
        case ["measured", epsilon, _, file]:
            sys.stdout.write(json.dumps(measured(float(epsilon), Path(file))))
        case _:
            main()
