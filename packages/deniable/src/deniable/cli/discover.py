"""`deniable discover`: the most frequent strings of a file, as randomized reports of its lines show them."""

import json
from pathlib import Path

import click

from deniable.cli import options
from deniable.cli.targets import draw
from deniable.errors import EmptyBatch, InvalidParameter
from deniable.planning.ranking import people

_BATCH = 1 << 15  # lines that are randomized at a time


@click.command(short_help="Find the most frequent words, addresses or versions.")
@click.argument("data", type=click.Path(path_type=Path), metavar="DATA")
@click.option("--epsilon", type=float, required=True, help="The privacy loss of each line.")
@click.option("--find", default=20, show_default=True, metavar="N", help="How many strings to name at most.")
@click.option(
    "--form",
    default="text",
    show_default=True,
    type=click.Choice(["text", "address", "version", "bytes"]),
    help="What the strings look like; common characters of the form take fewer bits.",
)
@click.option(
    "--false-discoveries",
    default=0.03,
    show_default=True,
    metavar="SHARE",
    help="The largest expected share of found strings that nobody has.",
)
@click.option("--block", multiple=True, metavar="STRING", help="A string that is never named; repeat the option for each.")
@options.confidence
@options.seed
@options.picture
@options.json_flag
def discover(
    data: Path,
    epsilon: float,
    find: int,
    form: str,
    false_discoveries: float,
    block: tuple[str, ...],
    confidence: float,
    seed: int | None,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Find the most frequent strings in DATA, a text file with the answer of one person on each line.

    Each line is randomized as that person's device would, and only the reports are searched. Nobody lists the possible
    answers beforehand. Most people report a part of their string, which suggests candidates; the others report the
    whole of it, which verifies them. Case and the amount of white space are ignored.

    Only strings that pass the verification are named, so the list may be short: with more people or a larger epsilon, rarer
    strings are found. Texts of up to about 20 letters can be found, and addresses of up to about 30 characters; longer
    ones count only in the bound on what may be missing.

    \b
    deniable discover words.txt --epsilon 2
    deniable discover sites.txt --epsilon 4 --form address --find 10 --json

    Empty lines are skipped; a line of more than 64 bytes stops the command.
    """
    from deniable.cli import panel
    from deniable.discovery import decode, plan_discovery

    mechanism = plan_discovery(epsilon, form)
    lines = _lines(data)
    coins, tally = options.coins_of(seed), None
    with panel.progress("randomizing") as advance_to:
        for start in range(0, len(lines), _BATCH):
            own = mechanism.tally(mechanism.perturb(lines[start : start + _BATCH], coins))
            tally = own if tally is None else tally + own
            advance_to(min(1.0, (start + _BATCH) / len(lines)))
    if tally is None:
        raise EmptyBatch(f"{data} has no lines. Write the answer of one person on each line.")
    blocked = {mechanism.domain.normalised(each) for each in block}
    found = decode(mechanism, tally, find, confidence, false_discoveries, blocked)
    if picture is not None:
        draw(found.plot(), picture)
    if as_json:
        names = [{"name": str(each.name), "share": each.share, "low": each.low, "high": each.high} for each in found]
        record = {"people": found.n, "epsilon": mechanism.epsilon, "confidence": confidence, "names": names}
        click.echo(json.dumps({**record, "false_discoveries": false_discoveries, "missing": found.missing}))
    else:
        click.echo(str(found))
        click.echo(
            f"{people(found.n)}, {mechanism.layout.bits} bits each; epsilon {mechanism.epsilon:g}. All intervals "
            f"hold together with {100 * confidence:g} % confidence; at most {100 * false_discoveries:g} % of the names are "
            "expected to be false."
        )


def _lines(data: Path) -> list[str]:
    try:
        return [line for line in data.read_text(encoding="utf-8").splitlines() if line.strip()]
    except UnicodeDecodeError:
        raise InvalidParameter(f"{data} is not text in UTF-8. Convert it first.") from None
