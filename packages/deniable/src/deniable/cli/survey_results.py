"""The results of a survey on the command line: from the store, or from a running collector."""

import json
from collections.abc import Callable
from pathlib import Path

import click

from deniable.cli import surveys
from deniable.cli.targets import draw, write_text
from deniable.files.atomic import written_whole

Made = Callable[[str], bytes]  # the results in one format: csv, parquet or json


def survey_results(
    path: Path, store: str | None, url: str | None, token: str | None, confidence: float, fakes: float | None = None
) -> Made:
    """The results: from the store, or from the collector at `url`; `fakes` is a share of false reports to reckon with."""
    if url is not None:
        return lambda kind: fetched_results(url, token, confidence, kind, fakes)
    from deniable.collector import results
    from deniable.collector.fakes import with_fakes

    place, collector = surveys.existing(path, store)
    try:
        with place.view() as view:
            state = view.state(collector.number)
        found = results(collector.survey, collector.number, place, confidence, None if state is None else state.title)
    finally:
        place.close()
    makers: dict[str, Callable[[], str | bytes]] = {"csv": found.csv, "parquet": found.parquet}
    makers["json"] = lambda: json.dumps(with_fakes(found, fakes))
    return lambda kind: _bytes(makers[kind]())


def _bytes(made: str | bytes) -> bytes:
    return made.encode() if isinstance(made, str) else made


def write_results(made: Made, csv_file: Path | None, parquet_file: Path | None, picture: Path | None, as_json: bool) -> None:
    """Write the results to files, print them as JSON, or else show them."""
    if csv_file is not None:
        write_text(csv_file, made("csv").decode())
    if parquet_file is not None:
        data = made("parquet")
        with written_whole(parquet_file, overwrite=True) as temporary:
            temporary.write_bytes(data)
    if picture is not None:
        from deniable.cli.survey_picture import survey_picture

        draw(survey_picture(json.loads(made("json"))), picture)
    if as_json:
        click.echo(made("json"))
    elif csv_file is None and parquet_file is None and picture is None:
        surveys.show(json.loads(made("json")))


def fetched_results(url: str, token: str | None, confidence: float, kind: str, fakes: float | None = None) -> bytes:
    """The results from a running collector."""
    from urllib.parse import urlencode

    from deniable.collector.fetching import fetched

    asked = {"format": kind, "confidence": confidence} | ({} if fakes is None else {"fakes": fakes})
    return fetched(f"{url.rstrip('/')}/v1/results?{urlencode(asked)}", token)
