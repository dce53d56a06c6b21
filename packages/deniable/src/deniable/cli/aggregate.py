"""`deniable aggregate`: from many files of reports to one tally, on all cores or on a cluster."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from deniable.aggregate import Aggregate
from deniable.aggregate import aggregate as tally_of
from deniable.cli import options
from deniable.cli.mechanisms import read_mechanism
from deniable.cli.modes import names_survey
from deniable.cli.targets import write_text
from deniable.core import Mechanism
from deniable.errors import InvalidParameter
from deniable.planning.ranking import counted
from deniable.survey import Survey

if TYPE_CHECKING:
    from rich.console import Console


@click.command(short_help="Count many files of reports into one tally.")
@click.argument("contract", type=click.Path(path_type=Path), metavar="MECHANISM")
@click.option("--question", metavar="ID", help="For a survey with several questions: the one whose reports to count.")
@click.argument("files", nargs=-1, required=True, metavar="REPORTS...")
@options.target("--out", help="Write the tally to FILE, as JSON.", required=True)
@options.at_scale
@click.option(
    "--damaged",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="What to do with a damaged or foreign file: stop, or skip it and list it.",
)
@options.file_option("--manifest", help="Record in FILE what has been counted. If FILE exists, the run continues from it.")
@options.force
@options.json_flag
def aggregate(
    contract: Path,
    files: tuple[str, ...],
    question: str | None,
    out: Path,
    engine: str | None,
    workers: int | None,
    damaged: Literal["stop", "skip"],
    manifest: Path | None,
    as_json: bool,
) -> None:
    """Count all REPORTS of MECHANISM into one tally.

    MECHANISM is a JSON file that deniable plan wrote, or a survey whose collector keeps reports. REPORTS are files, folders,
    quoted patterns, or addresses such as 's3://bucket/day/*.parquet'. The tally is exactly the same wherever it is counted.
    Pass it to deniable estimate.

    \b
    deniable aggregate mechanism.json reports/ --out tally.json
    deniable aggregate mechanism.json 'reports/*.parquet' --out tally.json --engine dask://host:8786
    deniable aggregate mechanism.json reports/ --out tally.json --manifest manifest.json --damaged skip
    deniable aggregate survey.toml survey.reports/ --question mode --out tally.json --engine dask://host:8786
    deniable estimate tally.json --mechanism mechanism.json

    Every row group counts once, even if a worker fails and its work is repeated. With --manifest, an interrupted run
    continues where it stopped, and a later run adds only new files.
    """
    mechanism, files = agreed(contract, question, files)

    from deniable.cli import panel  # loads rich, which --help does not need

    with panel.progress("counting") as advance_to:
        tally = tally_of(mechanism, files, engine, damaged=damaged, manifest=manifest, workers=workers, progress=advance_to)
    write_text(out, tally.to_json() + "\n")
    if as_json:
        click.echo(json.dumps(_record(tally)))
    else:
        _print(panel.console(), tally, out)


def agreed(contract: Path, question: str | None, files: tuple[str, ...]) -> tuple[Mechanism, tuple[str, ...]]:
    """The mechanism that made the reports, out of the file that collector and devices share, and the files of reports."""
    if not names_survey([contract.name]):
        if question is not None:
            raise InvalidParameter("Only a survey has questions to choose from. Leave --question out.")
        return read_mechanism(contract), files
    questions = {each.id: each.mechanism for each in Survey.load(contract).questions}
    if question is None and len(questions) == 1:
        (question,) = questions
    if question not in questions:
        raise InvalidParameter(f"Name the question whose reports to count: --question with one of {', '.join(questions)}.")
    return questions[question], tuple(f"{name}/{question}-*.parquet" if Path(name).is_dir() else name for name in files)


def _record(tally: Aggregate) -> dict[str, object]:
    manifest = tally.manifest
    return {
        "fingerprint": tally.fingerprint,
        "reports": tally.n,
        "files": len(manifest.files),
        "row_groups": len(manifest.groups),
        "left_out": [vars(each) for each in manifest.left_out],
        "repeated": manifest.repeated(),
    }


def _print(console: "Console", tally: Aggregate, out: Path) -> None:
    manifest = tally.manifest
    sizes = f"from {counted(len(manifest.files), 'file')} in {counted(len(manifest.groups), 'row group')}"
    lines = [f"Wrote the tally of {counted(tally.n, 'report')} to {out}, {sizes}."]
    lines += [f"left out: {each.why}" for each in manifest.left_out]
    lines += [f"counted, although they hold the same reports: {', '.join(names)}" for names in manifest.repeated()]
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)
