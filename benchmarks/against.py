"""Our figures beside those of an earlier commit, in turns, in one run.

    python -m benchmarks.against 52a762a               all rates that both have
    python -m benchmarks.against 52a762a unary one     what stands under these names
    python -m benchmarks.against 52a762a --check       exits with 1 if a figure is more than 10 % slower
    python -m benchmarks.against 52a762a --perturb     those that randomize, beside their bounds, into perturb.md

The commit is unpacked into .venv-against and gets an environment of its own, with the releases that it pinned. Each of the
two measures with its own benchmarks, in a process of its own, and they take turns. A ratio compares two turns in a row; the
table has the median and the middle half of them. Time is that of the processor, which other work on the machine blurs less.
The figures `one/...` are batches of one answer, as a device makes them: microseconds, without numba, for all mechanisms of
the test vectors that both have.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

import click

ROOT = Path(__file__).parents[1]
KEPT = ROOT / ".venv-against"
TURNS = 7
ALLOWED = 0.9  # of the earlier rate

# It runs in the folder of either commit and imports what stands there, so it uses only what both have.
WORKER = """
import json, sys
if sys.argv[1:] == ["plain"]:
    sys.modules["numba"] = None
from functools import partial
from time import process_time
from benchmarks import cli, effort
from tests.vectors import EVERYTHING

effort.perf_counter = process_time
ELSEWHERE = ("aggregate", "collector", "client", "memory", "loading", "proofs")  # no rates, or of several processes
FIGURES = {f.name: f.ours for f in cli.FIGURES if f.name.split("/")[0] not in ELSEWHERE}

def one(mechanism, answers, effort):
    def work():
        for answer in answers:
            mechanism.perturb([answer])
    return effort.rate(work, len(answers))

for each in json.load(open("vectors/good.json")):
    FIGURES["one/" + each["name"]] = partial(one, EVERYTHING[each["name"]], each["answers"])
print(json.dumps(list(FIGURES)), flush=True)
for line in sys.stdin:
    name, n, seconds = json.loads(line)
    print(FIGURES[name](effort.Effort(n, seconds)), flush=True)
"""
# After it, beside ours: the bounds of this folder.
BOUNDS = """
FIGURES |= {f"bound {f.name}": (lambda bound: lambda effort: bound(effort)[0])(f.bound) for f in cli.FIGURES}
"""
PERTURB = (
    *("release/bipartite", "release/staircase", "release/coarsened", "release/exponential"),
    *("compressed/encode", "learning/mean", "learning/privatize", "learning/sgd"),
)


PAGE = """# Randomizing, beside an earlier commit and the bound

Written by `python -m benchmarks.against {commit} --perturb --n {n}`: on one thread, with secure coins, by the clock of the
processor. The three rates of a row were measured in turns; the share is the median of its turns, the rates are the best.
What a bound does is said in README.md.

"""


@dataclass(frozen=True)
class Pair:
    """The rates of both in each turn."""

    name: str
    before: list[float]
    now: list[float]
    bound: list[float]

    @property
    def ratios(self) -> list[float]:
        """How many times as fast as before, in each turn."""
        return sorted(now / before for before, now in zip(self.before, self.now, strict=True))

    @property
    def ratio(self) -> float:
        return median(self.ratios)

    @property
    def extra(self) -> float:
        """Microseconds more for one answer."""
        return 1e6 * median(1 / now - 1 / before for before, now in zip(self.before, self.now, strict=True))

    def row(self) -> str:
        low, _, high = quantiles(self.ratios, n=4)
        if self.name.startswith("one/"):
            shown = [f"{1e6 / max(rates):.0f} µs" for rates in (self.before, self.now)]
        else:
            shown = [f"{max(rates):,.0f}" for rates in (self.before, self.now)]
        beside = ""
        if self.bound:
            share = median(now / bound for now, bound in zip(self.now, self.bound, strict=True))
            beside = f" {max(self.bound):,.0f} | {share:.2f} |"
        return f"| {self.name} | {shown[0]} | {shown[1]} | {self.ratio:.2f} | {low:.2f} to {high:.2f} |{beside}"


class Worker:
    """One of the two, in a process of its own."""

    def __init__(self, folder: Path, *given: str) -> None:
        text = WORKER.replace("print(json.dumps(list", BOUNDS + "print(json.dumps(list") if folder == ROOT else WORKER
        command, pipe = [str(folder / ".venv" / "bin" / "python"), "-c", text, *given], subprocess.PIPE
        alone = {**os.environ, "DENIABLE_THREADS": "1"}
        self._process = subprocess.Popen(command, cwd=folder, env=alone, stdin=pipe, stdout=pipe, text=True)
        self.names: list[str] = json.loads(self._read())

    def rate(self, name: str, n: int, seconds: float) -> float:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([name, n, seconds]) + "\n")
        self._process.stdin.flush()
        return float(self._read())

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise click.ClickException(f"The measurement ended with exit code {self._process.wait()}.")
        return line

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def unpacked(commit: str) -> Path:
    """The folder with this commit and its environment, made when it is first needed."""
    command = ["git", "rev-parse", "--verify", f"{commit}^{{commit}}"]
    name = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    folder = KEPT / name[:12]
    if not (folder / ".venv" / ".installed").exists():
        folder.mkdir(parents=True, exist_ok=True)
        tree = subprocess.run(["git", "archive", name], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=tree, check=True)
        subprocess.run(["make", "--silent", "env", "EXTRAS=all", f"PYTHON={sys.executable}"], cwd=folder, check=True)
    return folder


def is_perturb(name: str) -> bool:
    return ("/perturb/" in f"{name}/" and not name.startswith("threads/")) or name.startswith(PERTURB)


def measured(commit: str, names: tuple[str, ...], n: int, seconds: float, perturb: bool) -> Iterator[Pair]:
    folders = unpacked(commit), ROOT
    for given, one in (((), False), (("plain",), True)):  # a device makes one answer without loading numba
        workers = [Worker(folder, *given) for folder in folders]
        try:
            for name in workers[0].names:
                is_chosen = not names or any(f"{name}/".startswith(f"{each.rstrip('/')}/") for each in names)
                is_chosen = is_chosen and (not perturb or is_perturb(name))
                if is_chosen and name in workers[1].names and name.startswith("one/") == one:
                    asked = [(workers[0], name), (workers[1], name), *([(workers[1], f"bound {name}")] if perturb else [])]
                    turns = [[worker.rate(what, n, seconds) for worker, what in asked] for _ in range(TURNS)]
                    before, now, *bound = (list(rates) for rates in zip(*turns, strict=True))
                    yield Pair(name, before, now, *(bound or [[]]))
        finally:
            for worker in workers:
                worker.close()


@click.command()
@click.argument("commit")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--n", type=click.IntRange(min=1), default=200_000, help="Reports in a batch.", show_default=True)
@click.option("--seconds", type=float, default=0.05, help="Least time of a turn.", show_default=True)
@click.option("--check", is_flag=True, help="Exit with 1 if a figure is more than 10 % slower.")
@click.option("--perturb", is_flag=True, help="Those that randomize, beside their bounds, written to benchmarks/perturb.md.")
def main(commit: str, names: tuple[str, ...], n: int, seconds: float, check: bool, perturb: bool) -> None:
    """Our figures beside those of COMMIT."""
    more = (" bound | share of it |", "--:|--:|") if perturb else ("", "")
    lines = [
        f"| reports a second | {commit} | now | times as fast | middle half of {TURNS} turns |{more[0]}",
        f"|---|--:|--:|--:|--:|{more[1]}",
    ]
    click.echo("\n".join(lines))
    pairs: list[Pair] = []
    for pair in measured(commit, names, n, seconds, perturb):
        pairs.append(pair)
        lines.append(pair.row())
        click.echo(lines[-1])
    if perturb and not names:
        (ROOT / "benchmarks" / "perturb.md").write_text(PAGE.format(commit=commit, n=n) + "\n".join(lines) + "\n")
    slower = [pair.name for pair in pairs if pair.ratio < ALLOWED and not pair.name.startswith("one/")]
    click.echo(f"\n{len(pairs)} figures; below {ALLOWED}: {', '.join(slower) or 'none'}.")
    alone = {pair.name: pair.extra for pair in pairs if pair.name.startswith("one/")}
    if alone:
        worst = max(alone, key=lambda name: alone[name])
        click.echo(
            f"One answer takes {median(alone.values()):+.0f} µs in the median, and at most {alone[worst]:+.0f} µs ({worst})."
        )
    sys.exit(check and bool(slower))


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.against")
