"""Data for the experiments on learning: read from files, or made up where there are none; and what all of them write."""

import csv
import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ints
from deniable.cli.panel import progress
from research.contest import Contest, Standings


@dataclass(frozen=True)
class Table:
    """Rows of numbers in their public ranges, with a class or a target each."""

    name: str
    rows: Floats
    right: NDArray[np.generic]
    low: Floats
    high: Floats
    one_hot: Floats  # the same people with a column for each category, in [-1, 1]; as `rows` where there are none

    def parts(self, seed: int, test: float = 0.25) -> tuple[Ints, Ints]:
        """Who is learnt from and who is not, drawn anew for each training."""
        order = np.random.default_rng([seed, 1]).permutation(len(self.rows))
        held = round(test * len(order))
        return order[held:], order[:held]


def sampled(data: Table, people: int) -> Table:
    """At most so many of the people, drawn once."""
    if not 0 < people < len(data.rows):
        return data
    own = np.random.default_rng(11).permutation(len(data.rows))[:people]
    return replace(data, rows=data.rows[own], right=data.right[own], one_hot=data.one_hot[own])


def read(file: Path) -> tuple[list[str], list[list[str]]]:
    """A CSV file, packed or not: its header and its lines."""
    text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    lines = list(csv.reader(text.decode("utf-8").splitlines()))
    return lines[0], lines[1:]


def table(file: Path, target: str, drop: Sequence[str] = (), logs: Sequence[str] = (), positive: str = "") -> Table:
    """A table whose columns become numbers: categories by their place in the alphabet, `logs` by their logarithm.

    Lines with missing numbers are left out. The ranges of the columns are those of the published file: they stand for what a
    codebook says. With `positive`, the target is whether it is this word.
    """
    header, lines = read(file)
    lines = [line for line in lines if all(cell not in ("", "NA") for cell in line)]
    columns, flags = [], []
    for place, name in enumerate(header):
        if name in (target, *drop):
            continue
        cells = [line[place] for line in lines]
        try:
            numbers = np.array(cells, np.float64)
            numbers = np.log1p(numbers) if name in logs else numbers
            columns.append(numbers)
            flags.append(between(numbers)[:, None])
        except ValueError:
            kinds, codes = np.unique(cells, return_inverse=True)
            columns.append(codes.astype(np.float64))
            flags.append(np.eye(len(kinds))[codes])
    right = [line[header.index(target)] for line in lines]
    values = np.array([cell.startswith(positive) for cell in right], np.int64) if positive else np.array(right, np.float64)
    rows = np.stack(columns, axis=1)
    low, high = rows.min(axis=0), rows.max(axis=0)
    return Table(
        file.name.split(".")[0], rows, values, low, np.where(high > low, high, low + 1), np.concatenate(flags, axis=1)
    )


def between(numbers: Floats) -> Floats:
    """Numbers moved to [-1, 1]."""
    low, high = numbers.min(), numbers.max()
    return np.asarray(2 * (numbers - low) / max(high - low, 1e-12) - 1)


def made_up(name: str, people: int, features: int, classes: bool, seed: int = 5) -> Table:
    """A stand-in for a table that is not at hand."""
    random = np.random.default_rng(seed)
    rows = random.uniform(-1, 1, (people, features))
    signal = rows @ (np.arange(features) < 4) + (rows[:, 0] > 0.3) + 0.3 * random.normal(size=people)
    right = (signal > 1).astype(np.int64) if classes else 10 + 3 * signal
    ends = np.ones(features)
    return Table(f"{name}, made up", rows, right, -ends, ends, rows)


def run_all(
    contests: Sequence[Contest], repeats: int, seed: int, result: Path | None, picture: Path | None, head: str
) -> list[Standings]:
    """Run contests one after the other with a bar, and print or write their tables."""
    found = []
    for contest in contests:
        with progress(contest.title) as advance_to:
            found.append(contest.run(repeats, seed, advance_to))
    text = "\n".join([head, "", *(each.markdown() for each in found), *(each.summary() for each in found), *leads(found)])
    if result is None:
        click.echo(text)
    else:
        result.write_text(text, encoding="utf-8")
        click.echo(f"written: {result.name}")
    if picture is not None:
        for place, each in enumerate(found):
            each.plot().savefig(picture.with_stem(f"{picture.stem}-{place + 1}") if len(found) > 1 else picture, dpi=120)
    return found


def leads(found: Sequence[Standings]) -> list[str]:
    """By how much our best is better than the best of the papers, at the same certified epsilon."""
    lines = [
        "Our best less the best of the papers' learners, at the same certified epsilon (for RMSE: theirs less ours):",
        "",
    ]
    for each in found:
        scale, digits = (100, 2) if each.higher else (1, 3)
        told = ", ".join(f"{scale * lead:+.{digits}f} at {epsilon:.4g}" for epsilon, lead in each.leads().items())
        lines.append(f"- {each.title}, {each.measure}: {told}")
    return [*lines, ""]


def options(default_repeats: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The options that all of these experiments have."""

    def add(command: Callable[..., None]) -> Callable[..., None]:
        for option in (
            click.option("--quick", is_flag=True, help="One training of each on few people, printed and not written."),
            click.option("--repeats", default=default_repeats, show_default=True, help="Trainings of each learner."),
            click.option("--seed", default=0, show_default=True, help="Of the division of the data and of the coins."),
            click.option("--picture", type=click.Path(path_type=Path), help="Also draw it into this file."),
        ):
            command = option(command)
        return command

    return add
