"""`deniable perturb`: randomize a column of answers into a file of reports."""

from collections.abc import Iterator
from pathlib import Path

import click

from deniable.cli import options
from deniable.core import Mechanism, Reports
from deniable.errors import InvalidParameter
from deniable.files import write_batches
from deniable.files.answers import randomized, read_answers
from deniable.files.reports import batch_size
from deniable.planning.ranking import counted


@click.command(short_help="Randomize a column of answers into reports.")
@click.argument("data", type=click.Path(path_type=Path), metavar="DATA")
@options.mechanism
@click.option("--column", required=True, metavar="NAME", help="The column that holds the answers.")
@options.target("--out", help="Where the reports go: Parquet if it ends in .parquet, else packed to the bit.", required=True)
@options.force
@options.seed
def perturb(data: Path, mechanism: Mechanism, column: str, out: Path, seed: int | None) -> None:
    """Randomize each answer in a column of DATA and write one report per row.

    DATA is a CSV file in UTF-8 with a line of column names, plain or ending in .gz, or a Parquet file (.parquet); - is the
    standard input, in CSV. It is read and written in batches, so it may be larger than memory. FILE appears when all rows
    are done, or not at all.

    An answer that the question does not allow stops the command. The message names its row and does not repeat it.

    \b
    deniable perturb answers.csv --column smokes --mechanism mechanism.json --out answers.reports
    zstdcat answers.csv.zst | deniable perturb - --column smokes --mechanism mechanism.json --out answers.reports
    deniable perturb answers.parquet --column town --mechanism mechanism.json --out reports.parquet

    Use it where answers have already been gathered, in place of the devices. The promise is about the reports: whoever holds
    DATA holds the answers.
    """
    batches = read_answers(data, column, mechanism.domain, batch_size(mechanism))
    if out.exists() and data.exists() and out.samefile(data):
        raise InvalidParameter("The reports would overwrite the answers. Choose another name for them.")
    if seed is not None:
        click.echo(
            "warning: seeded coins are for experiments only: whoever knows the seed can undo the randomness.", err=True
        )

    from deniable.cli import panel  # loads rich, which --help does not need

    with panel.progress("randomizing") as advance_to:

        def reports() -> Iterator[Reports]:
            coins = options.coins_of(seed)
            for batch in batches:
                yield randomized(batch, data, column, mechanism, coins)
                advance_to(batch.share_read)

        written = write_batches(out, mechanism, reports(), overwrite=True)
    panel.console().print(
        f"Wrote {counted(written, 'report')} of {counted(mechanism.layout.bits, 'bit')} to {out}; epsilon "
        f"{mechanism.epsilon:g} for one answer.",
        soft_wrap=True,
        markup=False,
    )
