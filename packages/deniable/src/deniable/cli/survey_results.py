"""The results of a survey on the command line: from the store, or from a running collector."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from deniable.cli import surveys
from deniable.cli.targets import draw, write_text
from deniable.errors import InvalidParameter, Unavailable
from deniable.files.atomic import written_whole


@dataclass(frozen=True)
class Targets:
    """Where results go: into files, as JSON, or else to the screen."""

    csv_file: Path | None
    parquet_file: Path | None
    picture: Path | None
    as_json: bool


def survey_results(
    path: Path, store: str | None, url: str | None, token: str | None, confidence: float, targets: Targets
) -> None:
    """Print or write the results: from the store, or from the collector at `url`."""
    if url is not None:
        _write(targets, lambda kind: fetched_results(url, token, confidence, kind))
        return
    from deniable.collector import results

    place, collector = surveys.existing(path, store)
    try:
        found = results(collector.survey, collector.number, place, confidence)
    finally:
        place.close()
    makers: dict[str, Callable[[], str | bytes]] = {"csv": found.csv, "parquet": found.parquet, "json": found.json}
    _write(targets, lambda kind: _bytes(makers[kind]()))


def _bytes(made: str | bytes) -> bytes:
    return made.encode() if isinstance(made, str) else made


def _write(targets: Targets, made: Callable[[str], bytes]) -> None:
    if targets.csv_file is not None:
        write_text(targets.csv_file, made("csv").decode())
    if targets.parquet_file is not None:
        data = made("parquet")
        with written_whole(targets.parquet_file, overwrite=True) as temporary:
            temporary.write_bytes(data)
    if targets.picture is not None:
        from deniable.cli.survey_picture import survey_picture

        draw(survey_picture(json.loads(made("json"))), targets.picture)
    if targets.as_json:
        click.echo(made("json"))
    elif targets.csv_file is None and targets.parquet_file is None and targets.picture is None:
        surveys.show(json.loads(made("json")))


def fetched_results(url: str, token: str | None, confidence: float, kind: str) -> bytes:
    """The results from a running collector."""
    import urllib.error
    import urllib.request

    query = urllib.parse.urlencode({"format": kind, "confidence": confidence})
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    if not url.startswith(("http://", "https://")):
        raise InvalidParameter("The address of a collector begins with http:// or https://.")
    try:
        with urllib.request.urlopen(
            urllib.request.Request(f"{url.rstrip('/')}/v1/results?{query}", headers=headers)
        ) as answer:
            found: bytes = answer.read()
            return found
    except urllib.error.HTTPError as error:
        with error:
            detail = json.loads(error.read() or b"{}").get("detail", "")
        raise InvalidParameter(f"The collector refuses: {detail}") from None
    except OSError as error:
        raise Unavailable(f"No collector answers at {url}. Is it running? Start it with deniable serve.") from error
