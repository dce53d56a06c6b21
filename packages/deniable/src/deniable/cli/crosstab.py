"""`deniable crosstab`: from files of the same people's reports to a table of two or three questions."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli import options, surveys
from deniable.cli.modes import Modes, names_survey
from deniable.cli.targets import draw, write_table
from deniable.core import confidence_each
from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from deniable.analysis.table import Table


def _mode(args: Sequence[str]) -> str:
    return "survey" if names_survey(args) else "reports"


@click.group(cls=Modes, pick=_mode, short_help="Tabulate how the answers to several questions are related.")
def crosstab() -> None:
    """Tabulate how the answers to two or three questions are related.

    The shares are unbiased; a star marks cells that cannot be distinguished from zero. The test of independence takes the
    privacy noise into account.

    \b
    deniable crosstab survey.toml smokes age
    deniable crosstab smokes.reports age.reports --mechanism smokes.json --mechanism age.json

    You can leave the mode out, as above: a file that ends in .toml means survey, and anything else means reports.
    """


def how_to_show(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say how a table is shown."""
    for option in (
        *(options.json_flag, options.picture, options.force),
        options.target("--csv", "csv_file", help="Write the cells to FILE as CSV."),
        options.confidence,
        click.option("--population", is_flag=True, help="Intervals for the population that the people were drawn from."),
    ):
        command = option(command)
    return command


@crosstab.command("survey", short_help="Questions of a survey that asks for their table.")
@surveys.argument
@click.argument("questions", nargs=-1, required=True, metavar="A B")
@surveys.store_option
@click.option("--url", metavar="URL", help="Ask the collector at URL instead of reading the database.")
@surveys.token_option
@how_to_show
def survey_mode(
    survey: Path, questions: tuple[str, ...], store: str | None, url: str | None, token: str | None, **shown: Any
) -> None:
    """Tabulate the questions A and B of SURVEY, given by their ids; there may be three.

    The survey must ask for the table: [[table]] questions = ["smokes", "age"].

    \b
    deniable crosstab survey.toml smokes age
    deniable crosstab survey.toml smokes age --url https://survey.example
    """
    from deniable.collector.collected import collected

    confidence_each(shown["confidence"], 1)  # refuses what is no confidence level
    place = None if url is not None else surveys.store_of(survey, store)
    _show(collected(survey, place, url=url, token=token).table(*questions), **shown)


@crosstab.command("reports", short_help="Files of the same people's reports.")
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="REPORTS...")
@options.file_option(
    "--mechanism",
    "mechanism_files",
    multiple=True,
    required=True,
    help="The mechanism of each file of reports, in the same order, as deniable plan wrote it; or one for several.",
)
@click.option("--name", "names", multiple=True, metavar="WORD", help="The name of a question; repeat the option for each.")
@click.option(
    "--questions",
    nargs=2,
    metavar="A B",
    help="The two questions to tabulate, by name or number, if the mechanism is for several.",
)
@click.option(
    "--engine",
    metavar="ADDRESS",
    help="Count on a cluster: dask://HOST:8786, spark://HOST:7077, or spark under spark-submit.",
)
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Count in N processes on this machine.")
@how_to_show
def reports_mode(
    files: tuple[Path, ...],
    mechanism_files: tuple[Path, ...],
    names: tuple[str, ...],
    questions: tuple[str, str] | None,
    engine: str | None,
    workers: int | None,
    **shown: Any,
) -> None:
    """Tabulate the questions behind REPORTS.

    REPORTS are files written by deniable perturb, one for each question, with the reports of the same people in the same
    order. With a single mechanism for several questions, such as one-pair-1, they are files of its reports.

    With --engine or --workers, REPORTS may be folders, quoted patterns and addresses, as for deniable aggregate: one for
    each question, whose files hold the same people in the order of their names.

    \b
    deniable crosstab smokes.reports age.reports --mechanism smokes.json --mechanism age.json
    deniable crosstab pairs.parquet --mechanism pairs.json --questions 0 3
    deniable crosstab 'smokes-*.parquet' 'age-*.parquet' --mechanism smokes.json --mechanism age.json --engine dask://host:8786
    """
    confidence_each(shown["confidence"], 1)
    at_scale = None if engine is None and workers is None else (engine, workers)
    _show(_table(files, mechanism_files, names, questions, at_scale), **shown)


def _show(
    table: "Table", population: bool, confidence: float, csv_file: Path | None, picture: Path | None, as_json: bool
) -> None:
    table = table.for_population() if population else table
    rows, test = table.rows(confidence), table.test(silence=True)
    if picture is not None:
        draw(table.plot(confidence), picture)
    if csv_file is not None:
        write_table(csv_file, rows)
    if as_json:
        found = {"statistic": test.statistic, "degrees": test.degrees, "p_value": test.p_value, "cramers_v": test.effect}
        record = {"questions": table.questions, "people": table.n, "confidence": confidence, "population": population}
        click.echo(json.dumps({**record, "cells": rows, "independence": found}))
    else:
        click.echo(table.text(confidence))
        click.echo(str(test))


def _table(files: Any, mechanism_files: Any, names: Any, questions: Any, at_scale: Any) -> Any:
    from deniable.analysis.crosstab import crosstab
    from deniable.cli.mechanisms import read_mechanism
    from deniable.core import concatenate
    from deniable.files import read_reports

    mechanisms = [read_mechanism(file) for file in mechanism_files]
    if len(mechanisms) == 1 and at_scale is not None:
        return _counted_elsewhere(mechanisms[0], files, names or None, questions or (), at_scale)
    if len(mechanisms) == 1:
        reports = concatenate(read_reports(file, mechanisms[0]) for file in files)
        return crosstab(reports, mechanisms[0], *(questions or ()), names=names or None)
    if len(mechanisms) != len(files) or questions:
        raise InvalidParameter(
            f"There are {len(files)} files of reports and {len(mechanisms)} mechanisms. Give one mechanism for each file, "
            "in the same order, or a single one for several questions."
        )
    named = list(names) or [file.stem.rstrip("-*") for file in files]
    if len(named) != len(files) or len(set(named)) != len(named):
        raise InvalidParameter("Give each question a different name: --name smokes --name age.")
    if at_scale is not None:
        from deniable.aggregate.joint import aggregate_joint

        own = dict(zip(named, mechanisms, strict=True))
        where = dict(zip(named, map(str, files), strict=True))
        return crosstab(aggregate_joint(own, where, engine=at_scale[0], workers=at_scale[1]), own)
    return crosstab(
        {name: read_reports(file, own) for name, file, own in zip(named, files, mechanisms, strict=True)},
        dict(zip(named, mechanisms, strict=True)),
    )


def _counted_elsewhere(mechanism: Any, files: Any, names: Any, questions: Any, at_scale: Any) -> Any:
    """The table of one mechanism's reports, counted by an engine."""
    from deniable.aggregate import aggregate
    from deniable.aggregate.joint import aggregate_joint
    from deniable.analysis.crosstab import crosstab
    from deniable.wrappers.every_attribute import EveryAttribute

    (engine, workers), where = at_scale, [str(file) for file in files]
    if isinstance(mechanism, EveryAttribute):
        tally: Any = aggregate_joint(mechanism, where, *questions, names=names, engine=engine, workers=workers)
    else:
        tally = aggregate(mechanism, where, engine, workers=workers)
    return crosstab(tally, mechanism, *questions, names=names)
