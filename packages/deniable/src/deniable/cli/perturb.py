"""`deniable perturb`: randomize a column of answers into a file of reports."""

from collections.abc import Iterator
from pathlib import Path

import click

from deniable.cli import options, pipes
from deniable.core import Mechanism, Reports
from deniable.errors import InvalidParameter
from deniable.files import write_batches
from deniable.files.answers import randomized, read_answers
from deniable.files.reports import batch_size
from deniable.planning.ranking import counted


@click.command(short_help="Randomize a column of answers into reports.")
@click.argument("data", type=click.Path(path_type=Path), metavar="DATA")
@options.mechanism
@click.option(
    "--column",
    "columns",
    required=True,
    multiple=True,
    metavar="NAME",
    help="The column that holds the answers; for records, repeat the option for each column, in order.",
)
@click.option(
    "--silence", metavar="ANSWER", help="The answer of people whose field is empty; without it, empty fields are refused."
)
@options.target(
    "--out",
    help="Where the reports go: Parquet if it ends in .parquet, else packed to the bit, and compressed if it ends in .gz or "
    ".zst; - is the standard output.",
    required=True,
)
@options.force
@options.seed
def perturb(
    data: Path, mechanism: Mechanism, columns: tuple[str, ...], silence: str | None, out: Path, seed: int | None
) -> None:
    """Randomize each answer in a column of DATA and write one report per row.

    DATA is a CSV file in UTF-8 with a line of column names, JSON Lines (.jsonl) or a Parquet file (.parquet). CSV and JSON
    Lines may be compressed (.gz, .zst); - is the standard input, in CSV or JSON Lines. It is read and written in batches, so
    it may be larger than memory. FILE appears when all rows are done, or not at all.

    A set is a text such as "Git, Jira", or "Alien = 4, Brazil = 2.5" with scores, or a list or an object in JSON Lines and
    Parquet.

    An answer that the question does not allow stops the command. The message names its row and does not repeat it.

    \b
    deniable perturb answers.csv --column smokes --mechanism mechanism.json --out answers.reports
    xzcat answers.csv.xz | deniable perturb - --column smokes --mechanism mechanism.json --out answers.reports
    deniable perturb answers.parquet --column town --mechanism mechanism.json --out reports.parquet
    deniable perturb people.csv --column smokes --column travel --mechanism commute.json --out people.reports

    Use it where answers have already been gathered, in place of the devices. The promise is about the reports: whoever holds
    DATA holds the answers.
    """
    column = columns[0] if len(columns) == 1 else columns
    batches = read_answers(data, column, mechanism.domain, batch_size(mechanism), silence)
    if out.exists() and data.exists() and out.samefile(data):
        raise InvalidParameter("The reports would overwrite the answers. Choose another name for them.")
    if seed is not None:
        click.echo(
            "warning: seeded coins are for experiments only: whoever knows the seed can undo the randomness.", err=True
        )

    from deniable.cli import panel  # loads rich, which --help does not need

    with panel.progress("randomizing") as advance_to, pipes.outgoing(out) as target:

        def reports() -> Iterator[Reports]:
            coins = options.coins_of(seed)
            for batch in batches:
                yield randomized(batch, data, column, mechanism, coins)
                advance_to(batch.share_read)

        written = write_batches(target, mechanism, reports(), overwrite=True)
    where = "the standard output" if out == pipes.PIPE else out
    panel.console(errors=out == pipes.PIPE).print(
        f"Wrote {counted(written, 'report')} of {counted(mechanism.layout.bits, 'bit')} to {where}; epsilon "
        f"{mechanism.epsilon:g} for one answer.",
        soft_wrap=True,
        markup=False,
    )
