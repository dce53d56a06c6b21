"""`deniable reproduce`: reproduce a figure or table of a paper and compare it with the statements of the paper."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli import options
from deniable.errors import InvalidParameter, MissingExtra

if TYPE_CHECKING:
    from research.papers import Loaded, Result

SHOWN = 40  # rows of a table on the screen; all of them are in the CSV


@click.command(short_help="Reproduce the figures and tables of five papers.")
@click.argument("names", nargs=-1, metavar="[FIGURE]...")
@click.option("--all", "everything", is_flag=True, help="Reproduce all figures whose extras are installed.")
@click.option("--quick/--full", default=True, help="Few repetitions (the default) or many.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The folder of real data. Default: made-up data of the same shape.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    metavar="DIR",
    help="Where to write the results.",
)
@click.option("--seed", type=int, default=1, show_default=True, metavar="N", help="Seed of all coins and of made-up data.")
@click.option(
    "--pages",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write pages and pictures from all results in --out to DIR.",
)
@options.json_flag
def reproduce(
    names: tuple[str, ...],
    everything: bool,
    quick: bool,
    data: Path | None,
    out: Path,
    seed: int,
    pages: Path | None,
    as_json: bool,
) -> None:
    """Reproduce FIGURE, such as brr/fig5, and compare it with the statements of the paper.

    Without FIGURE, list them all: what each shows, what it needs and how long it takes. For each FIGURE, print a table and
    write a picture and a CSV file. Below the table, each statement of the paper is marked yes or no, from the numbers alone.
    If the paper is wrong, the erratum is named; the pages on the papers list all errata, each with a counterexample.

    \b
    deniable reproduce
    deniable reproduce brr/fig5
    deniable reproduce uldp/table2 --data ../data --full
    deniable reproduce --all --quick

    The same seed gives the same CSV. Measured times are written to a separate file.
    """
    from research.papers import FIGURES, Data, load, missing

    if not names and not everything:
        if pages is None:
            _list(as_json)
        else:
            _pages(out, pages)
        return
    if names and everything:
        raise InvalidParameter("Name some figures or give --all, not both.")
    given, wanted = Data(data), [load(name) for name in (FIGURES if everything else names)]
    for each in wanted if not everything else []:
        for extra in missing(each.figure):
            raise MissingExtra(f"The figure {each.figure.name}", extra)
    out.mkdir(parents=True, exist_ok=True)
    for each in wanted:
        absent = missing(each.figure)
        if absent:
            click.echo(f"{each.figure.name}: skipped; it needs pip install 'deniable[{','.join(absent)}]'\n", err=True)
            continue
        result = _run(each, quick, seed, given)
        written = _write(each, result, out)
        _show(each, result, written, as_json)
    if pages is not None:
        _pages(out, pages)


def _pages(out: Path, pages: Path) -> None:
    """From what was kept, so that figures need not be made again."""
    from research.papers.pages import kept_results, write

    results = kept_results(out)
    if not results:
        raise InvalidParameter(f"There are no results in {out}. Run this first: deniable reproduce --all.")
    click.echo(f"{len(write(pages, results))} pages and pictures of {len(results)} figures written to {pages}.")


def _run(each: "Loaded", quick: bool, seed: int, data: object) -> "Result":
    from deniable.cli import panel
    from research.papers import Data, Pace

    assert isinstance(data, Data)
    with panel.progress(each.figure.name) as report:
        return each.run(quick, seed, data, Pace(progress=report))


def _write(each: "Loaded", result: "Result", out: Path) -> list[Path]:
    """The CSV, all of the result as JSON, the times if there are any, and the picture if it can be drawn."""
    from deniable.cli.targets import draw, write_text

    stem = each.figure.name.replace("/", "-")
    written = [out / f"{stem}.csv", out / f"{stem}.json"]
    write_text(written[0], result.csv())
    write_text(written[1], result.json())
    if result.measured:
        written.append(out / f"{stem}-times.csv")
        write_text(written[-1], result.csv(measured=True))
    try:
        picture = each.plot(result)
    except MissingExtra as error:
        click.echo(f"{each.figure.name}: no picture. {error}", err=True)
        return written
    written.append(out / f"{stem}.png")
    draw(picture, written[-1])
    return written


def _show(each: "Loaded", result: "Result", written: list[Path], as_json: bool) -> None:
    if as_json:
        record = {
            "figure": each.figure.name,
            "reproduced": result.reproduced,
            "verdict": result.verdict,
            "checks": [{"claim": check.line, "holds": check.holds} for check in result.checks],
            "improved": list(result.improved),
            "notes": list(result.notes),
            "files": [str(path) for path in written],
        }
        click.echo(json.dumps(record))
        return
    from rich.markup import escape

    from deniable.cli import panel

    console = panel.console()
    console.print(f"[bold]{each.figure.name}[/bold]  {escape(each.figure.what)} ({each.figure.paper})")
    console.print(_table(result))
    if len(result.rows) > SHOWN:
        console.print(f"... and {len(result.rows) - SHOWN:,} more rows, in {escape(str(written[0]))}")
    for note in result.notes:
        console.print(f"data: {note}", markup=False)
    for check in result.checks:
        console.print(f"[{'green' if check.holds else 'red'}]{'yes' if check.holds else 'no '}[/] {escape(check.line)}")
    for line in result.improved:
        console.print(f"improved: {line}", markup=False)
    console.print(result.verdict, style="bold green" if result.reproduced else "bold yellow", markup=False)
    console.print("written: " + ", ".join(str(path) for path in written) + "\n", markup=False)


def _table(result: "Result") -> object:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False)
    for place, name in enumerate(result.columns):
        table.add_column(name, justify="left" if isinstance(result.rows[0][place], str) else "right")
    for row in result.rows[:SHOWN]:
        table.add_row(*(f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row))
    return table


def _list(as_json: bool) -> None:
    """Every figure: what it shows, what it needs and how long it takes."""
    from research.papers import FIGURES, load, missing

    figures = [load(name).figure for name in FIGURES]
    if as_json:
        for figure in figures:
            record = {"figure": figure.name, "paper": figure.paper, "what": figure.what, "needs": list(figure.needs)}
            click.echo(json.dumps(record | {"quick_seconds": figure.seconds, "full_minutes": figure.minutes}))
        return
    from rich import box
    from rich.table import Table

    from deniable.cli import panel

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False)
    for name in ("paper", "figure", "what it shows", "needs", "quick", "full"):
        table.add_column(
            name, justify="right" if name in ("quick", "full") else "left", no_wrap=name in ("figure", "quick", "full")
        )
    for figure in figures:
        absent = missing(figure)
        needs = ", ".join(f"{extra} (missing)" if extra in absent else extra for extra in figure.needs) or "-"
        table.add_row(figure.paper, figure.name, figure.what, needs, f"{figure.seconds:g} s", f"{figure.minutes:g} min")
    console = panel.console()
    console.print(table)
    console.print(
        "Times are for one core. Use --data DIR for real data; otherwise made-up data are used, which the result states."
    )
