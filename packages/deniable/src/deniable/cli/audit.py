"""`deniable audit`: what a client loses at least, found from its reports alone."""

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


@click.command(short_help="Look for privacy loss in the reports of any client.")
@click.argument("client", metavar="CLIENT")
@click.option("--value", "values", multiple=True, metavar="V", help="A value to ask about; give at least two. N-M: numbers.")
@click.option("--claimed", type=float, metavar="E", help="The epsilon that the client promises.")
@click.option(
    "--mechanism",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The mechanism that it says it is, as deniable plan wrote it; its epsilon is the claim.",
)
@click.option("--command", "as_command", is_flag=True, help="CLIENT is a command, even if it looks like something else.")
@click.option("--trials", type=int, default=TRIALS, show_default=True, metavar="N", help="How many people to ask.")
@click.option("--confidence", type=float, default=CONFIDENCE, show_default=True, metavar="C", help="Of the lower bound.")
@click.option(
    "--repeats", type=int, default=1, metavar="T", help="Ask each person T times; the claim is for all reports of a person."
)
@click.option("--delta", type=float, default=0.0, metavar="D", help="What the claim leaves open beside epsilon.")
@click.option("--timing", is_flag=True, help="For a function: look also at how long each report takes.")
@options.seed
@options.json_flag
@click.pass_context
def audit(
    ctx: click.Context,
    client: str,
    values: tuple[str, ...],
    claimed: float | None,
    mechanism: Path | None,
    as_command: bool,
    trials: int,
    confidence: float,
    repeats: int,
    delta: float,
    timing: bool,
    seed: int | None,
    as_json: bool,
) -> None:
    """Find out what CLIENT loses at least, from its reports alone.

    CLIENT is one of

    \b
    module:function      a Python function that gives a report for a value
    a command            reads values, writes reports, both one a line; a report may be JSON
    http://...           takes a JSON list of values by POST, answers with a JSON list of reports
    pairs.csv, .parquet  a file with the columns value and report
    mechanism.json       a mechanism of this package, as deniable plan wrote it

    A certificate follows the code; an audit only watches. On one part of the trials it looks for two values and an event
    that distinguishes them: a bit, two bits, a place in a list, the length or type of a report, a repeated seed, a learned
    score. On the other part, which the search has not seen, it counts the event. From the counts follows a lower bound of
    epsilon, which is wrong with probability at most 1 - confidence. It never proves that a client keeps its promise.

    \b
    deniable audit mechanism.json
    deniable audit my_client:report --value yes --value no --claimed 1
    deniable audit "node client.js" --value 0-5 --claimed 1 --trials 1000000
    deniable audit https://device.example/report --value 0-3 --claimed 2
    deniable audit pairs.csv --claimed 1
    deniable audit my_client:remembering --value 0-3 --claimed 2 --repeats 100

    With --repeats a function gets the number of a person and a value, a command reads "PERSON<tab>VALUE", an address gets
    {"person": ..., "value": ...}, and a file has a column person. Exit code 1: the client breaks its claim.
    """
    said = read_mechanism(mechanism) if mechanism is not None else None
    subject: Any = client
    if not as_command:
        subject = _subject(client)
    asked: list[object] | None = _values(values) or None
    if isinstance(subject, Path) and asked is not None:
        asked = [str(value) for value in asked]
    if claimed is None and said is None and not hasattr(subject, "epsilon"):
        raise InvalidParameter("An audit needs what the client promises: --claimed EPSILON, or --mechanism FILE.")
    if claimed is not None and said is not None:
        raise InvalidParameter("Give --claimed or --mechanism, not both: a mechanism holds its own epsilon.")

    from deniable.cli import panel  # loads rich, which --help does not need

    with panel.progress("asking the client") as progress:
        found = audited(
            subject,
            asked,
            claimed=said if said is not None else claimed,
            trials=trials,
            confidence=confidence,
            repeats=repeats,
            delta=delta,
            timing=timing,
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
