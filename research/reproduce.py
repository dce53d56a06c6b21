"""`deniable reproduce`: reproduce a figure or table of a paper and compare it with the statements of the paper."""

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
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
@click.option("--list", "listed", is_flag=True, help="List all figures and exit. The same without any argument.")
@click.option(
    "--quick/--full",
    default=True,
    help="Few repetitions (the default), or as in the paper. --list says where --full uses less than the paper.",
)
@click.option("--resume", is_flag=True, help="Skip figures whose result in --out has the same mode, seed and data.")
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
    listed: bool,
    quick: bool,
    resume: bool,
    data: Path | None,
    out: Path,
    seed: int,
    pages: Path | None,
    as_json: bool,
) -> None:
    """Reproduce FIGURE, such as brr/fig5, and compare it with the statements of the paper.

    Without FIGURE, list them all: what each shows, what it needs and how long it takes. For each FIGURE, print a table and
    write a picture and a CSV file. Below the table, each statement of the paper is marked yes or no, from the numbers alone.
    The status follows from the statements: reproduced, trend and ranking, only with the authors' fault, not comparable, or
    contradicted. The pages on the papers list all errata, each with a counterexample.

    \b
    deniable reproduce --list
    deniable reproduce brr/fig5
    deniable reproduce uldp/table2 --data ../data --full
    deniable reproduce --all --quick --resume

    The same seed gives the same CSV. Measured times are written to a separate file.
    """
    from research.papers import FIGURES, Data, load, missing

    if listed or (not names and not everything):
        if pages is None or listed:
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
    how: dict[str, str | int | float] = {"mode": "quick" if quick else "full", "seed": seed, "data": str(data or "made up")}
    for number, each in enumerate(wanted, 1):
        absent, place = missing(each.figure), f"[{number}/{len(wanted)}] {each.figure.name}"
        if absent:
            click.echo(f"{place}: skipped; it needs pip install 'deniable[{','.join(absent)}]'\n", err=True)
            continue
        if resume and _is_kept(each, out, how):
            click.echo(f"{place}: kept from an earlier run", err=True)
            continue
        if len(wanted) > 1:
            click.echo(place, err=True)
        result = _run(each, quick, given, out, how)
        written = _write(each, result, out)
        _show(each, result, written, as_json)
    if pages is not None:
        _pages(out, pages)


def _is_kept(each: "Loaded", out: Path, how: Mapping[str, str | int | float]) -> bool:
    """Whether a result that was made in the same way is there."""
    path = out / f"{each.figure.name.replace('/', '-')}.json"
    if not path.is_file():
        return False
    made = json.loads(path.read_text(encoding="utf-8")).get("made", {})
    return all(made.get(key) == value for key, value in how.items())


def _pages(out: Path, pages: Path) -> None:
    """From what was kept, so that figures need not be made again."""
    from research.papers.pages import kept_results, write

    results = kept_results(out)
    if not results:
        raise InvalidParameter(f"There are no results in {out}. Run this first: deniable reproduce --all.")
    click.echo(f"{len(write(pages, results))} pages and pictures of {len(results)} figures written to {pages}.")


def _run(each: "Loaded", quick: bool, data: object, out: Path, how: Mapping[str, str | int | float]) -> "Result":
    from deniable.cli import panel
    from research.papers import Data, Pace

    assert isinstance(data, Data)
    start = time.process_time()
    with panel.progress(each.figure.name) as report:
        result = each.run(quick, int(how["seed"]), data, Pace(progress=report, kept=out))
    limit = (f"--full uses less than the paper here: {each.figure.limit}",) if each.figure.limit and not quick else ()
    spent: dict[str, str | float] = {
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
        "seconds": round(time.process_time() - start, 1),
    }
    return replace(result, notes=(*result.notes, *limit), made={**how, **spent})


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
    from research.papers.figure import ASPECTS

    if as_json:
        record = {
            "figure": each.figure.name,
            "status": result.status,
            "setup": result.setup,
            "aspects": {aspect: result.answer(aspect) for aspect in ASPECTS},
            "checks": [{"aspect": each.aspect, "claim": each.line, "holds": each.holds} for each in result.checks],
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
        mark = f"[{'green' if check.holds else 'red'}]{'yes' if check.holds else 'no '}[/]"
        console.print(f"{mark} {check.aspect}: {escape(check.line)}")
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
            record: dict[str, object] = {"figure": figure.name, "paper": figure.paper, "what": figure.what}
            record |= {"needs": list(figure.needs)}
            record |= {"own": figure.own, "full_limit": figure.limit}
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
        what = f"{figure.what} (an experiment of ours)" if figure.own else figure.what
        table.add_row(figure.paper, figure.name, what, needs, f"{figure.seconds:g} s", f"{figure.minutes:g} min")
    console = panel.console()
    console.print(table)
    limits: dict[str, list[str]] = {}
    for figure in figures:
        limits.setdefault(figure.limit, []).append(figure.name)
    for limit, names in limits.items():
        if limit:
            console.print(f"--full uses less than the paper in {', '.join(names)}: {limit}.", markup=False, highlight=False)
    console.print(
        "Times are for one core. Use --data DIR for real data; otherwise made-up data are used, which the result states."
    )
