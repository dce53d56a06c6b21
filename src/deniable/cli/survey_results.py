"""The results of a survey on the command line: from the store, or from a running collector."""

import json
from pathlib import Path

import click

from deniable.cli import surveys
from deniable.cli.targets import write_text
from deniable.errors import InvalidParameter, Unavailable
from deniable.files.atomic import written_whole


def survey_results(
    path: Path,
    store: str | None,
    url: str | None,
    token: str | None,
    confidence: float,
    csv_file: Path | None,
    parquet_file: Path | None,
    as_json: bool,
) -> None:
    """Print or write the results."""
    if url is not None:
        _remote(url, token, confidence, csv_file, parquet_file, as_json)
        return
    from deniable.collector import results

    place, collector = surveys.existing(path, store)
    try:
        found = results(collector.survey, collector.number, place, confidence)
    finally:
        place.close()
    if csv_file is not None:
        write_text(csv_file, found.csv())
    if parquet_file is not None:
        with written_whole(parquet_file, overwrite=True) as temporary:
            temporary.write_bytes(found.parquet())
    if as_json:
        click.echo(found.json())
    elif csv_file is None and parquet_file is None:
        surveys.show(found.data())


def _remote(
    url: str, token: str | None, confidence: float, csv_file: Path | None, parquet_file: Path | None, as_json: bool
) -> None:
    if csv_file is not None:
        write_text(csv_file, fetched_results(url, token, confidence, "csv").decode())
    if parquet_file is not None:
        data = fetched_results(url, token, confidence, "parquet")
        with written_whole(parquet_file, overwrite=True) as temporary:
            temporary.write_bytes(data)
    if as_json:
        click.echo(fetched_results(url, token, confidence, "json"))
    elif csv_file is None and parquet_file is None:
        surveys.show(json.loads(fetched_results(url, token, confidence, "json")))


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
        raise Unavailable(f"Nobody answers at {url} as a collector does. Is it running? deniable serve") from error
