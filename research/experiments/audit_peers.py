"""The clients of other packages, audited from outside.

    python -m research.experiments.audit_peers            writes audit_peers.md, about ten minutes
    python -m research.experiments.audit_peers --quick    prints it for a tenth of the trials

The packages live in an environment of their own (benchmarks/peers.txt), and are asked as a command would be: values in,
reports out. What is compared with the claim is a lower bound at 99.99 % confidence. The last column is what the event's
frequencies say themselves: the logarithm of their ratio.
"""

import math
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from benchmarks.peers import environment
from deniable.audit import Audit, audit

RESULT = Path(__file__).with_suffix(".md")


@dataclass(frozen=True)
class Subject:
    """A client of a peer, and how much it is asked."""

    peer: str
    mechanism: str
    size: int = 16
    epsilon: float = 1.0
    trials: int = 40_000
    repeats: int = 1


SUBJECTS = [
    Subject("pure-ldp", "direct"),
    Subject("pure-ldp", "unary"),
    Subject("pure-ldp", "unary-symmetric"),
    Subject("pure-ldp", "hashing", trials=20_000),
    Subject("pure-ldp", "hadamard"),
    Subject("pure-ldp", "hadamard-mechanism"),
    Subject("pure-ldp", "rappor"),
    Subject("multi-freq-ldpy", "direct"),
    Subject("multi-freq-ldpy", "unary"),
    Subject("multi-freq-ldpy", "unary-symmetric"),
    Subject("multi-freq-ldpy", "hashing", trials=20_000),
    Subject("multi-freq-ldpy", "subset"),
    Subject("multi-freq-ldpy", "subset", size=128),
    Subject("multi-freq-ldpy", "subset", size=1024),
    Subject("multi-freq-ldpy", "subset, first element"),
    Subject("multi-freq-ldpy", "subset, first element", size=128),
    Subject("multi-freq-ldpy", "subset, first element", size=1024, trials=200_000),
    Subject("multi-freq-ldpy", "memoized-direct", epsilon=2.0, trials=3_000, repeats=200),
    Subject("ldp-toolbox", "direct"),
    Subject("ldp-toolbox", "unary"),
    Subject("ldp-toolbox", "unary-symmetric"),
    Subject("ldp-toolbox", "hashing", trials=20_000),
    Subject("ldp-toolbox", "subset"),
    Subject("opendp", "direct"),
    Subject("opendp", "unary-symmetric"),
]
VALUES = [0, 1, 2, 8, 14, 15]


def audited(subject: Subject, share: float = 1.0) -> Audit:
    """The audit of one client."""
    program = f"import sys; sys.path.insert(0, {str(environment.ROOT)!r}); from benchmarks.peers.client import main; main()"
    words = [
        str(environment.PYTHON),
        "-c",
        program,
        subject.peer,
        subject.mechanism,
        str(subject.size),
        str(subject.epsilon),
    ]
    return audit(
        shlex.join(words),
        VALUES,
        claimed=subject.epsilon,
        trials=max(1000, round(subject.trials * share)),
        repeats=subject.repeats,
        seed=1,
    )


def row(subject: Subject, found: Audit) -> str:
    """One line of the table."""
    first, second = found.shares
    ratio = "unlimited" if found.unlimited else f"{math.log(first / second):.2f}" if first and second else ""
    verdict = "consistent" if found.consistent else "**breaks its claim**"
    cells = [
        subject.peer,
        subject.mechanism,
        f"{subject.size:,}",
        found.unit,
        f"{subject.epsilon:g}",
        f"{found.epsilon:.2f}",
        ratio,
        verdict,
        f"{found.event}; {found.pair[0]} against {found.pair[1]}",
    ]
    return f"| {' | '.join(cells)} |"


HEAD = [
    "| package | mechanism | values | for | claimed | loses at least | event's ratio | verdict | event |",
    "|---|---|--:|---|--:|--:|--:|---|---|",
]


def lines(share: float, subjects: Iterable[Subject] = SUBJECTS) -> Iterator[str]:
    """The table, line by line."""
    yield from HEAD
    for subject in subjects:
        yield row(subject, audited(subject, share))


@click.command()
@click.option("--quick", is_flag=True, help="A tenth of the trials, printed and not written.")
@click.option("--only", default="", metavar="TEXT", help="Only mechanisms with this in their name, printed and not written.")
def main(quick: bool, only: str) -> None:
    """Audit the clients of other packages."""
    if not environment.is_ready() and environment.make():
        raise click.ClickException("Some of the packages cannot be installed; see benchmarks/peers.txt.")
    found = []
    for line in lines(0.1 if quick else 1.0, [each for each in SUBJECTS if only in each.mechanism]):
        click.echo(line)
        found.append(line)
    if not quick and not only:
        packages = [each for each in environment.WANTED.read_text().splitlines()[1:5] if each]
        about = f"Clients of {', '.join(packages)}, at 99.99 % confidence:"
        RESULT.write_text("\n".join([about, "", *found, ""]), encoding="utf-8")
        click.echo(f"written: {RESULT.name}")


if __name__ == "__main__":
    main()
