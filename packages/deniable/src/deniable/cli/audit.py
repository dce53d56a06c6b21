"""`deniable audit`: a lower bound on the privacy loss of a client, from its reports alone."""

import json
from pathlib import Path
from typing import Any

import click

from deniable.audit.clients import named_function
from deniable.audit.run import CONFIDENCE, TRIALS
from deniable.audit.run import audit as audited
from deniable.cli import options
from deniable.cli.mechanisms import read_mechanism
from deniable.errors import InvalidParameter


@click.command(short_help="Measure the privacy loss of any client from its reports.")
@click.argument("client", metavar="CLIENT")
@click.option(
    "--value", "values", multiple=True, metavar="V", help="A value to test; give at least two. Numbers also as 0-5."
)
@click.option("--claimed", type=float, metavar="E", help="The epsilon that the client claims.")
@options.file_option(
    "--mechanism",
    help="The mechanism that the client claims to run: the JSON file that deniable plan wrote. Replaces --claimed.",
)
@click.option(
    "--supports",
    metavar="M:F",
    help="A Python function of a report and a value that returns whether the collector counts the report for the value.",
)
@click.option("--command", "as_command", is_flag=True, help="Run CLIENT as a command, whatever it looks like.")
@click.option("--trials", type=int, default=TRIALS, show_default=True, metavar="N", help="How many people to simulate.")
@click.option(
    "--confidence",
    type=float,
    default=CONFIDENCE,
    show_default=True,
    metavar="C",
    help="Confidence level of the lower bound.",
)
@click.option(
    "--repeats",
    type=int,
    default=1,
    metavar="T",
    help="Collect T reports from each person; the claim then covers all of them.",
)
@click.option("--delta", type=float, default=0.0, metavar="D", help="The delta of the claim.")
@click.option("--timing", is_flag=True, help="For a function: also use the time that each report takes.")
@options.seed
@options.json_flag
@click.pass_context
def audit(
    ctx: click.Context,
    client: str,
    values: tuple[str, ...],
    claimed: float | None,
    mechanism: Path | None,
    supports: str | None,
    as_command: bool,
    trials: int,
    confidence: float,
    repeats: int,
    delta: float,
    timing: bool,
    seed: int | None,
    as_json: bool,
) -> None:
    """Compute a lower bound on the privacy loss of CLIENT from its reports alone.

    CLIENT is one of

    \b
    module:function      a Python function that returns a report for a value
    a command            reads one value per line and writes one report per line, which may be JSON
    http://...           takes a JSON list of values by POST and returns a JSON list of reports
    pairs.csv, .parquet  a file with the columns value and report
    mechanism.json       a mechanism of this package, written by deniable plan

    A certificate examines the code; an audit sees only the reports. One part of the reports is used to search for two values
    and an event that distinguishes them: a bit, two bits, a position in a list, the length or type of a report, a repeated
    seed, the last digits of a number, the bucket of a common hash function, a learned score. The other part is used to count
    that event. The counts give a lower bound on epsilon that is wrong with probability at most 1 - confidence. An audit can
    refute a claim but never proves it.

    \b
    deniable audit mechanism.json
    deniable audit my_client:report --value yes --value no --claimed 1
    deniable audit "node client.js" --value 0-5 --claimed 1 --trials 1000000
    deniable audit https://device.example/report --value 0-3 --claimed 2
    deniable audit pairs.csv --claimed 1
    deniable audit my_client:remembering --value 0-3 --claimed 2 --repeats 100

    With --repeats, a function gets the number of a person and a value, a command reads "PERSON<tab>VALUE", an address gets
    {"person": ..., "value": ...}, and a file has a column person.

    Exit code: 0 if the reports are consistent with the claim, 1 if they refute it, 2 if the audit cannot run.
    """
    said = read_mechanism(mechanism) if mechanism is not None else None
    subject: Any = client
    if not as_command:
        subject = _subject(client)
    asked: list[object] | None = _values(values) or None
    if isinstance(subject, Path) and asked is not None:
        asked = [str(value) for value in asked]
    if claimed is None and said is None and not hasattr(subject, "epsilon"):
        raise InvalidParameter("An audit needs the claim of the client: --claimed EPSILON, or --mechanism FILE.")
    if claimed is not None and said is not None:
        raise InvalidParameter("Give --claimed or --mechanism, not both: a mechanism has its own epsilon.")

    from deniable.cli import panel  # loads rich, which --help does not need

    with panel.progress("collecting reports from the client") as progress:
        found = audited(
            subject,
            asked,
            claimed=said if said is not None else claimed,
            trials=trials,
            confidence=confidence,
            repeats=repeats,
            delta=delta,
            timing=timing,
            supports=None if supports is None else named_function(supports),
            seed=seed,
            coins=None if seed is None else options.coins_of(seed),
            progress=progress,
        )
    click.echo(json.dumps(found.to_dict()) if as_json else str(found))
    if not found.consistent:
        ctx.exit(1)


def _subject(client: str) -> Any:
    """A mechanism, a function, the path of a table, or else the text itself: an address or a command."""
    path = Path(client)
    if path.suffix == ".json":
        return read_mechanism(path)
    if path.suffix in (".csv", ".parquet"):
        return path
    module, _, name = client.partition(":")
    if name and module.replace(".", "").isidentifier() and name.replace(".", "").isidentifier():
        return named_function(client)
    return client


def _values(words: tuple[str, ...]) -> list[object]:
    """Words as they are; numbers, and N-M as all numbers from N to M."""
    found: list[object] = []
    for word in words:
        first, dash, last = word.partition("-")
        if dash and first.isdigit() and last.isdigit() and len(word) < 20:
            found += range(int(first), min(int(last), int(first) + 10_000) + 1)
        else:
            found.append(int(word) if word.isdigit() and len(word) < 19 else word)
    return found
