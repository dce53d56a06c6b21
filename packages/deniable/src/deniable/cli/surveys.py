"""What the verbs about surveys share: the file, the database beside it, and results in the terminal."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click
import numpy as np
from click.core import ParameterSource

from deniable.cli.options import Command
from deniable.device.sending import Reply, asker
from deniable.errors import InvalidParameter, Unavailable
from deniable.mixing import Terms
from deniable.planning.ranking import aligned, counted, people
from deniable.survey import Survey

if TYPE_CHECKING:
    from rich.console import Console

    from deniable.collector import Collector, Store

URL = "http://127.0.0.1:8080"
MOST_BARS = 40

argument = click.argument("survey", type=click.Path(path_type=Path), metavar="SURVEY")
TOGETHER = "collector.db"  # the database of a folder of surveys
STORE = "deniable.store"  # where a context has the address that a file gave


def _read_store(ctx: click.Context, _: click.Parameter, path: Path | None) -> None:
    if path is not None:
        lines = path.read_text(encoding="utf-8").split()
        if len(lines) != 1:
            raise InvalidParameter(f"The file {path} must hold one line: the address of the database.")
        ctx.meta[STORE] = lines[0]


def store_option(command: Command) -> Command:
    """The database of a survey; its address may come from a file or the environment, which nobody else can see."""
    given = click.option(
        "--store",
        envvar="DENIABLE_STORE",
        metavar="STORE",
        help="An SQLite file or postgresql://...; by default the variable DENIABLE_STORE, or the survey's name with .db.",
    )
    file = click.option(
        "--store-file",
        type=click.Path(path_type=Path),
        metavar="FILE",
        expose_value=False,
        callback=_read_store,
        help="Read the address from FILE, so that no password appears in the list of processes.",
    )
    return given(file(command))


url_option = click.option("--url", metavar="URL", default=URL, show_default=True, help="The address of the collector.")
token_option = click.option(
    "--token", envvar="DENIABLE_TOKEN", metavar="TOKEN", help="The access token; by default the variable DENIABLE_TOKEN."
)


def store_of(survey: Path, store: str | None) -> str:
    """The address of the store: beside the survey unless another is given."""
    context = click.get_current_context()
    read: str | None = context.meta.get(STORE)
    if store is not None and _rank(context, "store") < _rank(context, "store_file"):
        read = None
    if read is None and store is not None and "://" in store and urlsplit(store).password and store in " ".join(sys.argv):
        click.echo("note: everybody on this machine can see this password. Use --store-file or DENIABLE_STORE.", err=True)
    return read or store or str(_beside(survey))


def _rank(context: click.Context, name: str) -> int:
    """How close to the person an option was given: on the command line, in the environment, in a file."""
    order = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT, ParameterSource.DEFAULT_MAP)
    source = context.get_parameter_source(name)
    return order.index(source) if source in order else len(order)


def _beside(survey: Path) -> Path:
    """The database beside a survey: its own, or that of its folder if it is served with others from there."""
    if survey.is_dir():
        return survey / TOGETHER
    own, together = survey.with_suffix(".db"), survey.parent / TOGETHER
    if own.is_file() and together.is_file() and own != together:
        raise InvalidParameter(f"Both {own} and {together} exist. Specify the one that holds the survey: --store FILE.")
    return together if together.is_file() else own


def existing(survey: Path, address: str | None) -> tuple["Store", "Collector"]:
    """The store of a survey that was served before."""
    from deniable.collector import Collector, open_store

    asked, place = Survey.load(survey), store_of(survey, address)
    if "://" not in place and not Path(place).is_file():
        raise InvalidParameter(f"There is no database {place!r} yet. Collect answers first: deniable serve {survey}")
    store = open_store(place)
    return store, Collector(asked, store)


def fetched(survey: Survey, url: str) -> Survey:
    """The survey as the collector has it; refused if it is not the one in the file."""
    import urllib.request

    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}/v1/survey", timeout=10) as answer:
            found = Survey.from_json(answer.read().decode())
    except (OSError, ValueError) as error:
        raise Unavailable(f"No response from a collector at {url}. Is it running? Start it with deniable serve.") from error
    if found.contract() != survey.contract():
        raise InvalidParameter(
            f"The collector at {url} serves another survey than this file. Ask for the file that it serves."
        )
    return found


def asked_of(survey: Survey, url: str, terms: Terms | None) -> Survey:
    """The survey that is answered: as the collector has it, or with terms of mixing as in the file.

    Then the collector is not asked for anything, so that it sees no address. Without terms, a survey that is mixed is
    refused: its collector would see the report with its sender, and not count it.
    """
    if terms is not None:
        terms.check(survey)
        return survey
    found = fetched(survey, url)
    mixed = asker(url, 10.0)("/v1/mix", None, {})
    if not isinstance(mixed, Reply) and mixed[0] == 200:
        raise InvalidParameter(
            "The reports of this survey are mixed and count only through its relay. Nothing was sent. Ask whoever runs the "
            "survey for the terms, a file that ends in .mix, and add --mix FILE."
        )
    return found


def show(data: dict[str, Any]) -> None:
    """Results, as the collector gives them: bars with intervals, a block for each question."""
    from deniable.cli import panel

    console = panel.console()
    console.print(
        f"[bold]{data['title']}[/]: {people(data['people'])}, epsilon {data['epsilon']:g} for {data['unit']}",
        highlight=False,
    )
    for each in data["questions"]:
        console.print()
        console.print(f"[bold]{each['ask']}[/] ({counted(each['reports'], 'report')})", highlight=False)
        if each["hidden"]:
            _hidden(console, data)
            continue
        for sentence in each.get("words", ()):
            console.print(sentence, highlight=False, markup=False)
        known = [line for line in each["estimates"] if line["low"] is not None and line["high"] is not None]
        shares = [line for line in known if line["measure"] == "share"]
        others = [] if each.get("words") else [line for line in known if line["measure"] != "share"]
        if each.get("glance"):
            console.print(each["glance"], highlight=False, markup=False)
        if shares and (len(shares) > 2 or not others):
            _bars(console, each.get("chart") or [line | {"label": line["answer"]} for line in shares])
        for line in others[:MOST_BARS]:
            name, ends = f"{line['answer']} {line['measure']}".strip(), f"{line['low']:.4g} to {line['high']:.4g}"
            console.print(f"{name} {line['value']:.4g}, {data['confidence']:.0%} interval {ends}", highlight=False)
    for table in data.get("tables", ()):
        _show_table(console, data, table)
    _show_fakes(console, data)


def _show_table(console: "Console", data: dict[str, Any], each: dict[str, Any]) -> None:
    """The cells of a table with their intervals, and whether its questions are independent."""
    from rich.markup import escape

    from deniable.analysis.table import grid

    console.print()
    name = each["title"] or " by ".join(each["questions"])
    console.print(f"[bold]{escape(name)}[/] ({counted(each['reports'], 'report')})", highlight=False)
    if each["hidden"]:
        _hidden(console, data)
        return
    cells = each["cells"]
    value, high, noisy = (np.array([cell[key] for cell in cells]) for key in ("value", "high", "noisy"))
    console.print(
        aligned(grid(each["questions"], each["labels"], value, high - value, noisy)),
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    stars = "; * may be zero" if noisy.any() else ""
    console.print(f"% of {people(each['reports'])}, {data['confidence']:.0%} intervals{stars}", highlight=False)
    console.print(each["test"]["text"] if each["test"] else each["trouble"], highlight=False, markup=False, soft_wrap=True)


def _hidden(console: "Console", data: dict[str, Any]) -> None:
    console.print(f"Hidden until there are {counted(data['minimum_reports'], 'report')}.", style="dim", highlight=False)


def _show_fakes(console: "Console", data: dict[str, Any]) -> None:
    """What looks like false reports, and what could be true if there were some."""
    for alarm in data.get("suspicions", ()):
        window = f", period {alarm['period']}" if "period" in alarm else ""
        console.print(
            f"warning: suspicious reports on {alarm['question']}{window}: {alarm['what']} {alarm['seen']:,.6g}; at most "
            f"{alarm['allowed']:,.6g} if all are honest (false alarm probability {alarm['false_alarm_probability']:.1g})",
            highlight=False,
        )
    asked = data.get("false_reports")
    if asked is not None:
        console.print(
            f"\nIf up to {100 * asked['share']:g} % of the reports are false, whatever they contain:", highlight=False
        )
        for line in asked["estimates"]:
            recovered = f", recovered {100 * line['recovered']:.1f}" if "recovered" in line else ""
            ends = f"{100 * line['low']:.1f} to {100 * line['high']:.1f} %"
            console.print(f"{line['question']}, {line['answer']}: {ends}{recovered}", highlight=False)
        console.print(f"Recovered: an estimate under this assumption: {asked['recovered_if']}", style="dim", highlight=False)


def _bars(console: "Console", shares: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from deniable.cli import bars

    known = [line for line in shares if line["low"] is not None and line["high"] is not None]
    width = min(30, max(len(line["label"]) for line in shares))
    lows, highs = [line["low"] for line in known], [line["high"] for line in known]
    scale = bars.axis(lows, highs, max(20, console.width - width - 24))
    grid = Table.grid(padding=(0, 2))
    for line in known:
        low, high = line["low"], line["high"]
        drawn = bars.bar(scale, line["value"], low, high, plain=console.options.ascii_only)
        if line.get("noisy"):
            drawn.stylize("dim")
        grid.add_row(Text(line["label"]), f"{100 * line['value']:.1f} %", f"± {50 * (high - low):.1f}", drawn)
    for line in shares:
        if line.get("others"):
            grid.add_row(Text(line["label"]), f"{100 * line['value']:.1f} %", "", Text("the largest of them", "dim"))
    grid.add_row("", "", "", f"[dim]{scale.ticks()}[/]")
    console.print(grid, highlight=False)
