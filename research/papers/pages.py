"""The pages of the documentation on the papers, written from results: pictures, verdicts, numbers, errata, improvements."""

import io
from collections.abc import Mapping
from pathlib import Path

from research.papers import style
from research.papers.catalog import FIGURES, NAMES, load, papers
from research.papers.errata import Paper
from research.papers.figure import Result, result_from

PICTURES, COLOURS, DPI = "pictures", 64, 100
FEW = 16  # rows of a table that is shown whole
COMMAND = "deniable reproduce --all --data DIR"
PAGES = "deniable reproduce --pages docs"


def write(folder: Path, results: Mapping[str, Result]) -> list[Path]:
    """All pages and pictures."""
    (folder / PICTURES).mkdir(parents=True, exist_ok=True)
    written = [folder / "papers.md"]
    written[0].write_text(overview(results), encoding="utf-8")
    for paper in papers():
        page = folder / f"paper-{paper.folder}.md"
        page.write_text(whole(paper, results), encoding="utf-8")
        written.append(page)
    for name, result in results.items():
        written.append(folder / PICTURES / f"{name.replace('/', '-')}.png")
        save_small(load(name).plot(result), written[-1])
    return written


def kept_results(folder: Path) -> dict[str, Result]:
    """The results that `deniable reproduce` kept in a folder."""
    found = {name: folder / f"{name.replace('/', '-')}.json" for name in FIGURES}
    return {name: result_from(path.read_text(encoding="utf-8")) for name, path in found.items() if path.is_file()}


def save_small(picture: "style.Picture", path: Path) -> None:
    """A picture with few colours: a few kilobytes, and the same for the same result."""
    from PIL import Image

    full = io.BytesIO()
    picture.savefig(full, format="png", dpi=DPI)
    full.seek(0)
    with Image.open(full) as drawn:
        drawn.convert("RGB").quantize(COLOURS).save(path, format="PNG", optimize=True)


def overview(results: Mapping[str, Result]) -> str:
    """What there is, and how it stands."""
    lines = [
        "# Reproduced papers",
        "",
        "This library builds on five papers. The code in this repository reproduces their figures and tables "
        "and compares them with the statements of",
        "the papers, one by one. Each verdict is computed: *yes* if a statement holds, otherwise *no* with "
        "the reason, which names the erratum, the",
        "missing data or the unfair baseline.",
        "",
        "    $ deniable reproduce --all",
        "",
        "This takes some minutes and writes pictures and CSV files to `results/`. `deniable reproduce "
        "brr/fig5` reproduces one figure, and",
        "`deniable reproduce` lists them all. With `--data DIR`, real data are used; otherwise generated "
        "data of the same shape, which the result",
        "states. These pages were written by",
        "",
        f"    $ {COMMAND}",
        f"    $ {PAGES}",
        "",
        "| paper | figures and tables | reproduced | statements that hold | numbers in the text | errata |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for paper in papers():
        own = [result for name, result in results.items() if name.startswith(f"{paper.folder}/")]
        checks = [check for result in own for check in result.checks]
        matched = sum(not stated.erratum for stated in paper.stated)
        lines.append(
            f"| [{paper.name}](paper-{paper.folder}.md) | {len(own)} | {sum(result.reproduced for result in own)} | "
            f"{sum(check.holds for check in checks)} of {len(checks)} | {matched} of {len(paper.stated)} matched | "
            f"{len(paper.errata)} |"
        )
    lines += [
        "",
        "A figure counts as reproduced only if every statement about it holds: those of the text, and each "
        "number of a table. A statement fails if a",
        "privacy guarantee does not hold, if a better mechanism than the claimed optimum exists, or if a "
        "number differs. A reason after *Contradicted*",
        "was computed, by a counterexample or by putting the error of the paper back in. A reason after "
        "*perhaps because* was not.",
        "[Claims of papers](claims.md) certifies the privacy guarantees that do not hold.",
        "",
    ]
    return "\n".join(lines)


def whole(paper: Paper, results: Mapping[str, Result]) -> str:
    """The page of one paper."""
    lines = [f"# {paper.name}", "", f"{paper.title}.", "", "[All papers](papers.md)", ""]
    lines += ["## What is better here", "", *(f"- {line}" for line in paper.improved), "", "## Figures and tables", ""]
    for short in NAMES[paper.folder]:
        name = f"{paper.folder}/{short}"
        if name in results:
            lines += section(name, results[name])
    return "\n".join([*lines, *numbers(paper), *errata(paper)])


def section(name: str, result: Result) -> list[str]:
    """One figure."""
    figure = load(name).figure
    lines = [f"### {figure.name}: {figure.what}", "", f"![{figure.what}]({PICTURES}/{name.replace('/', '-')}.png)", ""]
    if len(result.rows) <= FEW:
        kept = [place for place, column in enumerate(result.columns) if column not in result.measured]
        lines += ["| " + " | ".join(result.columns[place] for place in kept) + " |", "|" + "---|" * len(kept)]
        for row in result.rows:
            cells = (f"{row[place]:.4g}" if isinstance(row[place], float) else str(row[place]) for place in kept)
            lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    for check in result.checks:
        lines.append(f"- {'yes' if check.holds else '**no**'}: {check.line}")
    lines += [f"- better here: {line}" for line in result.improved]
    lines += ["", *(f"*Data.* {note}." for note in result.notes), ""]
    verdict, colon, counts = result.verdict.partition(":")
    return [*lines, f"**{verdict}**{colon}{counts}.", ""]


def numbers(paper: Paper) -> list[str]:
    """The numbers that the text states, beside ours."""
    lines = ["## Numbers in the text", "", "| where | what | printed | here | |", "|---|---|--:|--:|---|"]
    for stated in paper.stated:
        status = f"erratum {stated.erratum}" if stated.erratum else "matched"
        lines.append(f"| {stated.place} | {stated.what} | {stated.printed} | {stated.ours():.5g} | {status} |")
    return [*lines, ""]


def errata(paper: Paper) -> list[str]:
    """The errata: all in one table, then each with its counterexample."""
    lines = ["## Errata", "", "| | claim | truth |", "|---|---|---|"]
    lines += [f"| {each.code} | {_cell(each.claim)} | {_cell(each.truth)} |" for each in paper.errata]
    lines += [
        "",
        "Each erratum has a counterexample, which the tests run.",
        "",
        "```python",
        ">>> import deniable as dn",
        "",
        "```",
        "",
    ]
    for each in paper.errata:
        lines += [
            f"**{each.code}.** {each.claim} {each.truth}",
            "",
            "```python",
            *each.example.strip().split("\n"),
            "",
            "```",
            "",
        ]
    return lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
