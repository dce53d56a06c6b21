"""Table 1: bits of a report and the order of the error, measured instead of in O-notation."""

import math

from deniable.mechanisms.algebra.utility_formulas import published_optimum
from research.data.folder import Data
from research.papers import style
from research.papers.figure import ALL, Figure, Pace, Result, Row, listed, near, ranking
from research.papers.uldp.mechanisms import OURS, PUBLISHED, sized, stated_error, total

FIGURE = Figure(
    "uldp/table1", "ULDP", "bits of a report, and how the error grows with s and epsilon", seconds=1, minutes=0.1
)
COLUMNS = (
    "mechanism",
    "bits by the formula",
    "bits of a report",
    "growth with s, small epsilon",
    "growth with s, medium epsilon",
    "order-optimal (paper)",
    "error times (E - 1)^2 / (s E)",
)
ANSWERS, SIZE, HIGH, MEDIUM = 1000, 400, 0.5, 3.0
MANY, FAR = 10**6, (6.0, 10.0)  # sensitive answers, and budgets between 1 and their logarithm
TERMS = "terms of lower order count here"
OPTIMAL = {"uRR": "no", "uRAP": "high privacy only", "uSS": "yes", "uUE": "yes", "uLH": "yes"}


def formula_bits(name: str) -> float:
    """log2 of the number of reports as the table counts them, hash functions left out."""
    odds, rest = math.exp(MEDIUM), ANSWERS - SIZE
    match name:
        case "uRR":
            return math.log2(ANSWERS)
        case "uRAP" | "uUE":
            return float(SIZE)
        case "uSS":
            return math.log2(math.comb(SIZE, max(1, round(SIZE / (odds + 1)))) + rest)
        case "uLH":
            return math.log2(odds + rest)
    return math.nan


def over_bound(name: str, epsilon: float) -> float:
    """The error over s e^eps / (e^eps - 1)^2, for many sensitive answers: order-optimal is what does not grow."""
    odds = math.exp(epsilon)
    return stated_error(name, MANY, epsilon, 0.5) * (odds - 1) ** 2 / (MANY * odds)


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """For 1,000 answers of which 400 are sensitive; the growth is the power of s between 200 and 400."""
    rows = list[Row]()
    for name in pace.over((*PUBLISHED, *OURS)):
        made = sized(name, SIZE, MEDIUM, 0.5, ANSWERS - SIZE)
        growth = []
        for epsilon in (HIGH, MEDIUM):
            errors = [
                stated_error(name, size, epsilon, 0.5) if name in PUBLISHED else total(sized(name, size, epsilon, 0.5), 0.5)
                for size in (SIZE // 2, SIZE)
            ]
            growth.append(math.log2(errors[1] / errors[0]))
        odds = math.exp(MEDIUM)
        scaled = errors[1] * (odds - 1) ** 2 / (SIZE * odds)
        rows.append((name, formula_bits(name), made.layout.bits, *growth, OPTIMAL.get(name, ""), scaled))
    found = {str(row[0]): row for row in rows}
    bits = {name: float(row[2]) for name, row in found.items()}
    checks = (
        *(
            near(f"power of s in the error of {name}, {regime} epsilon", stated, float(found[name][place]), TERMS)
            for name, stated in (("uRR", "2"), ("uRAP", "1"), ("uSS", "1"), ("uUE", "1"), ("uLH", "1"))
            for regime, place in (("small", 3), ("medium", 4))
        ),
        *(
            near(
                f"error of {name} over the bound, epsilon {FAR[1]:g} over {FAR[0]:g}",
                f"{math.exp((FAR[1] - FAR[0]) / 2):.3f}" if name == "uRAP" else "1",
                over_bound(name, FAR[1]) / over_bound(name, FAR[0]),
                TERMS,
            )
            for name in ("uRAP", "uSS", "uUE", "uLH")
        ),
        near(
            "best g of uLH over e^epsilon + 1",
            "1",
            published_optimum(SIZE, math.exp(MEDIUM), 0.5)["g"] / (math.exp(MEDIUM) + 1),
            "s is not large enough",
        ),
        ranking(
            "uLH has the shortest reports",
            bits["uLH"] == min(bits[name] for name in PUBLISHED),
            f"{listed([name for name in PUBLISHED if bits[name] < bits['uLH']])} have shorter ones: a report of uLH must "
            f"name its hash function, {bits['uLH']:g} bits and not {float(found['uLH'][1]):.1f} (erratum ULDP E7)",
            faulty=float(found["uLH"][1]) <= min(bits[name] for name in PUBLISHED if name != "uLH"),
        ),
    )
    note = (
        f"{ANSWERS} answers, {SIZE} sensitive, open share 0.5, epsilon {HIGH:g} and "
        f"{MEDIUM:g}; ours names no hash function: {bits['block design']:g} bits"
    )
    return Result(COLUMNS, rows, checks, (note,))


def plot(result: Result) -> "style.Picture":
    """The bits of a report."""
    figure, (chart,) = style.blank(width=8.5)
    names = [str(name) for name in result.column("mechanism")]
    chart.bar(names, result.numbers("bits of a report"), color=style.COLOURS[0])
    chart.set(ylabel="bits of a report", yscale="log")
    return figure
