"""What the verbs about surveys share: the file, the store beside it, and results on the screen."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.errors import InvalidParameter, Unavailable
from deniable.survey import Survey

if TYPE_CHECKING:
    from deniable.collector import Collector, Results, Store

URL = "http://127.0.0.1:8080"

argument = click.argument("survey", type=click.Path(path_type=Path), metavar="SURVEY")
store_option = click.option(
    "--store", metavar="STORE", help="A file of SQLite, or postgresql://...; the survey's name with .db unless given."
)
url_option = click.option("--url", metavar="URL", default=URL, show_default=True, help="Where the collector is.")
token_option = click.option(
    "--token", envvar="DENIABLE_TOKEN", metavar="TOKEN", help="The token the collector asks for; also DENIABLE_TOKEN."
)


def is_survey(path: Path) -> bool:
    """Whether a file is meant as a survey."""
    return path.suffix == ".toml"


def store_of(survey: Path, store: str | None) -> str:
    """The address of the store: beside the survey unless another is given."""
    return store if store is not None else str(survey.with_suffix(".db"))


def existing(survey: Path, address: str | None) -> tuple["Store", "Collector"]:
    """The store of a survey that was served before."""
    from deniable.collector import Collector, open_store

    place = store_of(survey, address)
    if "://" not in place and not Path(place).is_file():
        raise InvalidParameter(f"There is no store {place!r} yet. Serve the survey first: deniable serve {survey}")
    store = open_store(place)
    return store, Collector(Survey.load(survey), store)


def fetched(survey: Survey, url: str) -> Survey:
    """The survey as the collector has it; refused if it is not the one in the file."""
    import urllib.request

    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}/v1/survey", timeout=10) as answer:
            found = Survey.from_json(answer.read().decode())
    except (OSError, ValueError) as error:
        raise Unavailable(f"Nobody answers at {url} as a collector does. Is it running? deniable serve") from error
    if found.contract() != survey.contract():
        raise InvalidParameter(f"The collector at {url} has another survey than this file. Ask for the file it serves.")
    return found


def show(results: "Results", plain: bool | None = None) -> None:
    """The results as bars with intervals, a block for each question."""
    from rich.table import Table

    from deniable.cli import bars, panel

    console = panel.console()
    survey = results.survey
    console.print(
        f"[bold]{survey.title}[/]: {results.people:,} people, epsilon {survey.epsilon:g} each over the whole survey"
    )
    for each in results.answered:
        console.print()
        console.print(f"[bold]{each.question.ask}[/] ({each.reports:,} reports)")
        if each.estimate is None:
            console.print(f"[dim]Hidden until there are {survey.minimum_reports:,} reports.[/]")
            continue
        records = each.records(results.confidence)
        shares = [line for line in records if line[2] == "share"][:40]
        if shares and each.question.kind != "number":
            width = max(len(line[3]) for line in shares)
            scale = bars.axis(
                [line[6] for line in shares], [line[7] for line in shares], max(20, console.width - width - 26)
            )
            grid = Table.grid(padding=(0, 2))
            for line in shares:
                drawn = bars.bar(scale, line[4], line[6], line[7], plain=console.options.ascii_only)
                grid.add_row(line[3], f"{100 * line[4]:.1f} %", f"± {50 * (line[7] - line[6]):.1f}", drawn)
            grid.add_row("", "", "", f"[dim]{scale.ticks()}[/]")
            console.print(grid)
        for line in records:
            if line[2] != "share":
                console.print(f"{line[2]}  {line[4]:.4g}, {results.confidence:.0%} interval {line[6]:.4g} to {line[7]:.4g}")


def quiet_environment() -> dict[str, str]:
    """The environment for a collector that is started from here."""
    return {**os.environ, "PYTHONUNBUFFERED": "1"}
