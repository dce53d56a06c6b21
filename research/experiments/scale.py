"""What counting costs: reports a second of one core for every family, from Parquet files to a tally, and a large run.

    python -m research.experiments.scale               writes scale.md, a minute, and then counts 200 million reports
    python -m research.experiments.scale --quick       prints a rough table, without the large run

A core does all that a worker does: it reads a file, verifies the checksums of its pages, checks every report, takes the
checksum of the manifest and counts. Times are those of the processor, best of several, so that other work on the machine
matters little. The large run is by the wall clock too, and its time is held beside what one of its files predicts.
"""

import resource
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

import click
import numpy as np

import deniable as dn
from deniable.aggregate import pieces, work
from deniable.aggregate.engine import cores
from research.experiments.command import deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
SIZE, EPSILON = 1024, 1.0
REPORTS, QUICK = 1 << 19, 1 << 14
FILES, IN_EACH = 200, 1_000_000
ASKED = dn.Categories(range(SIZE))
LINE = dn.Ordered(range(SIZE))
SMALL = dn.Ordered(range(64))
SECRET = range(100)
FEATURES = dn.Features(64, -1, 1)
KEYS = dn.KeyValue(range(SIZE), -1, 1, at_most=4)

MAKERS: dict[str, Callable[[], dn.Mechanism]] = {
    "direct": lambda: dn.DirectResponse(ASKED, EPSILON),
    "unary": lambda: dn.Unary(ASKED, EPSILON),
    "subset": lambda: dn.SubsetSelection(ASKED, EPSILON),
    "hashing": lambda: dn.LocalHashing(ASKED, EPSILON),
    "wheel": lambda: dn.Wheel(ASKED, EPSILON),
    "hadamard": lambda: dn.HadamardResponse(ASKED, EPSILON),
    "block design": lambda: dn.BlockDesign(ASKED, EPSILON),
    "utility-optimized subset, 100 sensitive": lambda: dn.UtilityOptimized(dn.SubsetSelection, ASKED, SECRET, EPSILON),
    "uUE as published, 100 sensitive": lambda: dn.PublishedUtility(dn.Unary, ASKED, SECRET, EPSILON),
    "finite channel, 64 values": lambda: dn.FiniteChannel(
        dn.Categories(range(64)), EPSILON, (1 + np.eye(64, dtype=np.int64)).tolist()
    ),
    "bipartite release": lambda: dn.Bipartite(LINE, EPSILON),
    "staircase release": lambda: dn.Staircase(LINE, EPSILON),
    "coarsened release": lambda: dn.Coarsened(LINE, EPSILON),
    "exponential release, 64 values": lambda: dn.ReleaseChannel.exponential(SMALL, EPSILON),
    "vector release, 2 x 64 values": lambda: dn.VectorRelease.of(dn.Vectors([SMALL, SMALL]), EPSILON),
    "Duchi mean": lambda: dn.Duchi(dn.Interval(0, 1), EPSILON),
    "piecewise mean": lambda: dn.Piecewise(dn.Interval(0, 1), EPSILON),
    "feature vector, 64 numbers": lambda: dn.FeatureVector(FEATURES, EPSILON),
    "feature bits, 64 x 8": lambda: dn.BitRand.as_published(features=64, bits=8, epsilon=EPSILON),
    "key-value, two bits a key": lambda: dn.PCKVUnary(KEYS, EPSILON),
    "key-value, one key": lambda: dn.PCKVDirect(KEYS, EPSILON),
    "compressed list, 20 of 10,000": lambda: dn.Compressed(dn.SparseVector(10_000), EPSILON),
}
FEW = 1 << 12  # reports of families whose devices take long
SLOW = {"feature vector, 64 numbers", "feature bits, 64 x 8", "key-value, two bits a key", "compressed list, 20 of 10,000"}


@dataclass(frozen=True)
class Cost:
    """Bytes of a report in a file, and reports a second of one core."""

    size: float
    rate: float

    def row(self, name: str, mechanism: dn.Mechanism) -> str:
        """What a billion of them cost."""
        hours = 1e9 / self.rate / 3600
        bits = round(8 * self.size) if isinstance(mechanism, dn.Compressed) else mechanism.layout.bits  # as many as it takes
        return f"| {name} | {bits} | {self.size:.2f} | {self.rate / 1e6:.1f} | {self.size:.1f} | {hours:.4f} |"


HEAD = [
    "| family | bits of a report | bytes in Parquet | M reports/s, one core | GB a billion | core-hours a billion |",
    "|---|--:|--:|--:|--:|--:|",
]


def people(mechanism: dn.Mechanism, n: int) -> object:
    """Some answers."""
    numbers, domain = np.arange(n) ** 2 % 65_521, mechanism.domain
    if isinstance(domain, dn.Interval):
        return domain.points[numbers % domain.size]
    if isinstance(domain, dn.Features | dn.SignMagnitude):
        return np.sin(numbers[:, None] + np.arange(64)) / 2
    if isinstance(domain, dn.KeyValue):
        return [{int(number) % SIZE: 1.0, int(number) * 7 % SIZE: -0.5} for number in numbers]
    if isinstance(domain, dn.SparseVector):
        return [{int(number + step * 499) % domain.size: 1 for step in range(20)} for number in numbers]
    if isinstance(mechanism.domain, dn.Vectors):
        return np.stack([numbers % part.size for part in mechanism.domain.parts], axis=1)
    return numbers % mechanism.domain.size


def cost(mechanism: dn.Mechanism, n: int) -> Cost:
    """Measured on one file of n reports."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "0.parquet"
        dn.write_reports(path, mechanism, mechanism.perturb(people(mechanism, n)))  # type: ignore[arg-type]
        files, _ = pieces.look(mechanism, [str(path)])
        jobs = pieces.jobs(mechanism, files, set(), 1)
        times = []
        for _ in range(4):  # the first also loads what is needed
            start = process_time()
            counted = sum(part.tally.n for job in jobs if (part := work.count(mechanism, job)).tally is not None)
            times.append(process_time() - start)
        assert counted == n
        return Cost(path.stat().st_size / n, n / min(times[1:]))


def table(n: int) -> list[str]:
    """A row for each family."""
    made = {name: make() for name, make in MAKERS.items()}
    sizes = {name: min(n, FEW) if name in SLOW else n for name in made}
    return [*HEAD, *(cost(mechanism, sizes[name]).row(name, mechanism) for name, mechanism in made.items())]


def large_run() -> list[str]:
    """Two hundred files, each of a million fresh reports, counted by all cores and by one."""
    mechanism = MAKERS["direct"]()
    predicted = FILES * IN_EACH / cost(mechanism, IN_EACH).rate
    answers = np.arange(IN_EACH) % SIZE
    with tempfile.TemporaryDirectory() as name:
        for number in range(FILES):
            dn.write_reports(Path(name) / f"{number:03}.parquet", mechanism, mechanism.perturb(answers))
        size = sum(path.stat().st_size for path in Path(name).iterdir())
        ticks: list[tuple[float, float]] = []
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
        tally = dn.aggregate(mechanism, name, workers=cores(), progress=lambda share: ticks.append((share, perf_counter())))
        wall = perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        after_start = tally.n * (1 - ticks[0][0]) / (ticks[-1][1] - ticks[0][1])
        alone_start = process_time()
        same = dn.aggregate(mechanism, name, workers=1) == tally
        alone = process_time() - alone_start
    assert tally.n == FILES * IN_EACH and len(tally.manifest.files) == FILES
    return [
        f"A run of {tally.n:,} fresh reports of direct response in {FILES} files, {size / 1e6:,.0f} MB:",
        "",
        "| | seconds |",
        "|---|--:|",
        f"| processor, predicted from one file of a million | {predicted:.2f} |",
        f"| processor, one process | {alone:.2f} |",
        f"| processor, {cores()} processes, their start included | {spent:.2f} |",
        f"| wall clock, {cores()} processes, their start included | {wall:.2f} |",
        "",
        f"After their start {cores()} processes counted {after_start / 1e6:.0f} million reports a second. The largest took "
        f"{after.ru_maxrss / 1024:.0f} MB of memory. The tally is {'' if same else 'NOT '}equal to that of one process.",
    ]


def page(n: int, large: bool) -> str:
    """The whole result."""
    few = f"{n:,} reports of each, or {FEW:,} if a device takes long"
    about = f"One core, {SIZE:,} values unless stated otherwise, epsilon {EPSILON:g}, {few}:"
    return "\n".join([about, "", *table(n), *(["", *large_run()] if large else []), ""])


@click.command()
@quick_option("Few reports and no large run")
def main(quick: bool) -> None:
    """Measure what counting costs for every family."""
    deliver(page(QUICK, large=False) if quick else page(REPORTS, large=True), None if quick else RESULT)


if __name__ == "__main__":
    main()
