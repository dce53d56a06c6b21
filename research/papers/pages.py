"""The pages of the documentation on the papers, written from results: a table of all figures, pictures, checks, errata."""

import ast
import doctest
import io
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from research.papers import style
from research.papers.catalog import FIGURES, NAMES, load, papers
from research.papers.errata import Paper
from research.papers.figure import ASPECTS, STATUSES, Check, Result, Status, result_from

PICTURES, COLOURS, DPI = "pictures", 64, 100
OVERVIEW = "papers-status"  # the picture of the front page
WIDEST = 110  # characters of a line with its output
FEW = 16  # rows of a table that is shown whole
COMMAND = "deniable reproduce --all --data DIR --resume"
PAGES = "deniable reproduce --pages docs"
MEANING: dict[Status, str] = {
    "reproduced": "every statement about the figure that can be tested holds",
    "trend and ranking": "the lines run and rank as in the paper, but some numbers differ",
    "only with the authors' fault": "a statement fails, but holds if a fault of the paper or its program is repeated",
    "not comparable": "a statement fails on other or fewer data, for a reason that could not be computed",
    "contradicted": "a statement fails, and the reason was computed",
}
SHADES = dict(zip(STATUSES, ("#009e73", "#56b4e9", "#e69f00", "#bbbbbb", "#d55e00"), strict=True))


def write(folder: Path, results: Mapping[str, Result]) -> list[Path]:
    """All pages and pictures."""
    (folder / PICTURES).mkdir(parents=True, exist_ok=True)
    written = [folder / "papers.md"]
    written[0].write_text(overview(results), encoding="utf-8")
    for paper in papers():
        page = folder / f"paper-{paper.folder}.md"
        page.write_text(whole(paper, results), encoding="utf-8")
        written.append(page)
    pictures = {name.replace("/", "-"): load(name).plot(result) for name, result in results.items()}
    pictures[OVERVIEW] = bars_of(counted(results))
    for stem, picture in pictures.items():
        written.append(folder / PICTURES / f"{stem}.png")
        save_small(picture, written[-1])
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


def of_paper(paper: Paper, results: Mapping[str, Result], own: bool = False) -> dict[str, Result]:
    """The figures of a paper, or the experiments of ours beside it, in their order."""
    names = (f"{paper.folder}/{short}" for short in NAMES[paper.folder])
    return {name: results[name] for name in names if name in results and load(name).figure.own == own}


def counted(results: Mapping[str, Result]) -> dict[str, dict[Status, int]]:
    """How many figures of each paper have each status."""
    found = {}
    for paper in papers():
        own = [result.status for result in of_paper(paper, results).values()]
        found[paper.name] = {status: own.count(status) for status in STATUSES}
    return found


def bars_of(counts: Mapping[str, Mapping[Status, int]]) -> "style.Picture":
    """One bar for each paper, in parts by status."""
    figure, (chart,) = style.blank(width=8, height=2.9)
    for place, parts in enumerate(counts.values()):
        left = 0
        for status, count in parts.items():
            chart.barh(place, count, left=left, color=SHADES[status], edgecolor="white", label=status if not place else None)
            if count:
                chart.text(left + count / 2, place, str(count), ha="center", va="center", fontsize=9)
            left += count
    chart.set_yticks(range(len(counts)), list(counts))
    chart.invert_yaxis()
    chart.set(xlabel="figures and tables", ylabel="paper")
    chart.set_xticks(range(0, 1 + max(sum(parts.values()) for parts in counts.values()), 2))
    chart.grid(visible=False)
    style.legend(figure)
    return figure


def overview(results: Mapping[str, Result]) -> str:
    """The front page: how all papers stand."""
    counts = counted(results)
    total = {status: sum(parts[status] for parts in counts.values()) for status in STATUSES}
    said = ", ".join(f"{count} {status}" for status, count in total.items())
    lines = [
        "# Reproduced papers",
        "",
        "This library builds on five papers. The code in this repository reproduces their figures and tables and compares",
        "them with the statements of the papers, one by one.",
        "",
        f"![Figures of each paper by status]({PICTURES}/{OVERVIEW}.png)",
        "",
        f"Of {sum(total.values())} figures and tables: {said}.",
        "",
        "| paper | figures and tables | " + " | ".join(STATUSES) + " | behind a guarantee that fails | numbers in the text "
        "| errata |",
        "|---|" + "--:|" * (4 + len(STATUSES)),
    ]
    for paper in papers():
        parts = counts[paper.name]
        matched = sum(not stated.erratum for stated in paper.stated)
        failing = sum(map(broken, of_paper(paper, results).values()))
        cells = " | ".join(str(parts[status]) for status in STATUSES)
        lines.append(
            f"| [{paper.name}](paper-{paper.folder}.md) | {sum(parts.values())} | {cells} | {failing} | "
            f"{matched} of {len(paper.stated)} matched | {len(paper.errata)} |"
        )
    lines += ["", "## What the words mean", ""]
    lines += [
        "Each statement of a paper about a figure belongs to one of four aspects. *Trend* is the shape of the lines.",
        "*Ranking* is which line is above which; measured numbers within two standard errors of each other are tied.",
        "*Magnitude* is a number that was measured or is called approximate: it is met within 15 % and two standard errors,",
        "and the ratio of ours to the paper's is given with an interval of two standard errors. *Printed numbers* must",
        "agree in all digits that are printed. Each aspect is *yes*, *no* or *not testable*. The set-up is the *same* as in",
        "the paper, has *other data*, or is *smaller*. One status follows:",
        "",
        *(f"- **{status}**: {meaning}." for status, meaning in MEANING.items()),
        "",
        "Theorems, optima and privacy guarantees are judged once for each paper, below its figures, and do not change the",
        "status of a figure: a line can run as printed although the guarantee behind it does not hold. Each page lists the",
        "errata, each with a counterexample that the tests run. [Claims of papers](claims.md) certifies the guarantees.",
        "",
        "## How these pages are made",
        "",
        f"    $ {COMMAND}",
        f"    $ {PAGES}",
        "",
        "`deniable reproduce --list` lists all figures, with the time each takes and where `--full` uses less than the",
        "paper. `deniable reproduce brr/fig5` reproduces one. With `--data DIR`, real data is used; otherwise generated",
        "data of the same shape, as the result states. `--resume` continues a run that was interrupted. Before you commit",
        "new pages, look at every picture that changed: legends must not hide data, type must not be too small, and lines",
        "must not look alike. This was done for all pictures here. Times in pictures are those of a machine that did other",
        "work too.",
        "",
        *runs_of(results),
    ]
    return "\n".join(lines)


def broken(result: Result) -> bool:
    """Whether a theorem, optimum or guarantee behind a figure fails."""
    return any(check.aspect == "theory" and not check.holds for check in result.checks)


def runs_of(results: Mapping[str, Result]) -> list[str]:
    """When the results were made, and how long that took."""
    made = [result.made for result in results.values() if result.made]
    if not made:
        return []
    lines = [
        "| run | figures | from | to | processor time, without interrupted parts of runs |",
        "|---|--:|---|---|--:|",
    ]
    for mode in sorted({str(each["mode"]) for each in made}, reverse=True):
        own = [each for each in made if each["mode"] == mode]
        minutes = sum(float(each["seconds"]) for each in own) / 60
        first, last = min(str(each["date"]) for each in own), max(str(each["date"]) for each in own)
        lines.append(f"| `--{mode}` | {len(own)} | {first} | {last} | {minutes:.1f} min |")
    names = [name for name, result in results.items() if result.made.get("mode") == "quick"]
    rest = f"Run with `--quick` only: {', '.join(names)}." if names else "Every figure was run with `--full`."
    return [*lines, "", rest, "", *from_nothing(), ""]


def from_nothing() -> list[str]:
    """How long all figures take together, by what `--list` says of each."""
    figures = [load(name).figure for name in FIGURES]
    alone = [figure for figure in figures if not figure.shares]
    full, quick = sum(figure.minutes for figure in alone), sum(figure.seconds for figure in alone) / 60
    took = f"about {full:.0f} min of one core and a quick one {quick:.0f}"
    return [f"A full run from scratch takes {took}, according to the times that `--list` states."]


def whole(paper: Paper, results: Mapping[str, Result]) -> str:
    """The page of one paper."""
    figures, own = of_paper(paper, results), of_paper(paper, results, own=True)
    lines = [f"# {paper.name}", "", f"{paper.title}.", "", "[All papers](papers.md)", "", *table_of(figures)]
    lines += ["## What is better here", "", *(f"- {line}" for line in paper.improved), "", "## Figures and tables", ""]
    for name, result in figures.items():
        lines += section(name, result)
    if own:
        lines += ["## Experiments of ours", "", "These are not figures of the paper.", ""]
        for name, result in own.items():
            lines += section(name, result)
    return "\n".join([*lines, *theories({**figures, **own}), *numbers(paper), *errata(paper)])


def table_of(results: Mapping[str, Result]) -> list[str]:
    """All figures of a paper at a glance."""
    lines = [
        "| figure | what it shows | " + " | ".join(ASPECTS) + " | set-up | run | status |",
        "|---|---|" + "---|" * (len(ASPECTS) + 3),
    ]
    for name, result in results.items():
        what = load(name).figure.what
        answers = " | ".join(result.answer(aspect) for aspect in ASPECTS)
        link = f"[{name.partition('/')[2]}](#{slug(f'{name}: {what}')})"
        run = result.made.get("mode", "-")
        lines.append(f"| {link} | {what} | {answers} | {result.setup} | {run} | **{result.status}** |")
    return [*lines, ""]


def slug(heading: str) -> str:
    """The anchor of a heading, as Markdown makes it.

    >>> slug("brr/fig5: expected loss, and its ratio")
    'brrfig5-expected-loss-and-its-ratio'
    """
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


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
    for check in result.about_figure:
        lines.append(f"- {check.aspect}, {'yes' if check.holds else '**no**'}: {check.line}")
    lines += [f"- better here: {line}" for line in result.improved]
    behind = codes_of(check for check in result.checks if check.aspect == "theory" and not check.holds)
    if behind:
        lines.append(f"- claims behind it that do not hold: {', '.join(behind)}")
    notes = [f"- {note}." for note in result.notes]
    lines += ["", *(["Data and set-up:", "", *notes, ""] if notes else [])]
    run = [f"Run with `--{result.made['mode']}` on {str(result.made['date'])[:10]}.", ""] if result.made else []
    return [*lines, f"**{result.status}**; set-up: {result.setup}.", "", *run]


def codes_of(checks: Iterable[Check]) -> list[str]:
    """The errata that checks name, each once; or the statement itself where there is none.

    >>> from research.papers.figure import theory
    >>> codes_of([theory("a", False, "x (errata BRR A1, A2)"), theory("b", False, "y (erratum BRR A1)")])
    ['BRR A1', 'BRR A2']
    >>> codes_of([theory("c", False, "")])
    ['c']
    """
    found: dict[str, None] = {}
    for check in checks:
        named = re.findall(r"(?:erratum|errata) (\w+) (\w\d+(?:, \w\d+)*)", check.otherwise)
        for paper, codes in named:
            found.update(dict.fromkeys(f"{paper} {code}" for code in codes.split(", ")))
        if not named:
            found[check.claim] = None
    return list(found)


def theories(results: Mapping[str, Result]) -> list[str]:
    """Theorems, optima and guarantees, each once, with the figure where it was checked."""
    rows: dict[str, tuple[str, Check]] = {}
    for name, result in results.items():
        for check in result.checks:
            if check.aspect == "theory":
                rows.setdefault(check.claim, (name.partition("/")[2], check))
    if not rows:
        return []
    lines = [
        "## Theorems and guarantees",
        "",
        "Each is checked once, from the exact law. The figure in parentheses is where the check was made.",
        "",
    ]
    for where, check in rows.values():
        lines.append(f"- {'yes' if check.holds else '**no**'} ({where}): {check.line}")
    return [*lines, ""]


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
        "import deniable as dn",
        "```",
        "",
    ]
    for each in paper.errata:
        lines += [
            f"**{each.code}.** *Claim:* {each.claim} *Truth:* {each.truth}",
            "",
            "```python",
            *_without_prompts(each.example),
            "```",
            "",
        ]
    return lines


def _without_prompts(example: str) -> list[str]:
    """An example that can be pasted: outputs become comments, beside what they belong to if there is room."""
    lines: list[str] = []
    for each in doctest.DocTestParser().get_examples(example):
        source, output = each.source.rstrip("\n").split("\n"), each.want.rstrip("\n").split("\n")
        lines += source
        block = len(source) > 1 and isinstance(ast.parse(each.source).body[-1], ast.FunctionDef | ast.For | ast.With)
        if each.want and len(source) == len(output) == 1 and "#" not in source[0] and not source[0].startswith("print("):
            beside = f"{source[0]}  # {output[0]}"
            lines[-1:] = [beside] if len(beside) <= WIDEST else [source[0], f"# {output[0]}"]
        elif each.want:
            lines += [*([""] if block else []), *(f"# {line}" for line in output)]
        elif block:
            lines.append("")
    return lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
