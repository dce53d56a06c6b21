"""The pictures of the documentation, from the library itself.

    python -m research.experiments.pictures    writes docs/pictures/*.svg

They are plain SVG, so that they can be compared letter by letter: a test makes them again.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import deniable as dn

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 60, 48, 24, 130
COLOURS = ("#4477aa", "#ee6677", "#228833", "#aa3377", "#ccbb44")

Line = tuple[str, Sequence[tuple[float, float]]]


def _text(x: float, y: float, words: str, anchor: str = "middle", size: int = 13) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{words}</text>'


def _page(title: str, body: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" fill="#222">\n'
        f"<title>{title}</title>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>\n'
    )
    return head + "\n".join(body) + "\n</svg>\n"


def chart(title: str, across: str, up: str, lines: Sequence[Line], most: tuple[float, float], ticks: tuple[int, int]) -> str:
    """Lines with their names at the right end, from the origin to `most`."""
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    body = []
    for step in range(ticks[0] + 1):
        x, value = LEFT + wide * step / ticks[0], most[0] * step / ticks[0]
        body.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{TOP + high}" stroke="#ddd"/>')
        body.append(_text(x, TOP + high + 18, f"{value:g}"))
    for step in range(ticks[1] + 1):
        y, value = TOP + high * (1 - step / ticks[1]), most[1] * step / ticks[1]
        body.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + wide}" y2="{y:.1f}" stroke="#ddd"/>')
        body.append(_text(LEFT - 8, y + 4, f"{value:g}", "end"))
    for place, (name, points) in enumerate(lines):
        colour = COLOURS[place % len(COLOURS)]
        path = " ".join(f"{LEFT + wide * x / most[0]:.1f},{TOP + high * (1 - y / most[1]):.1f}" for x, y in points)
        body.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        named = _text(LEFT + wide + 8, TOP + 16 + 18 * place, name, "start", 12)
        body.append(named.replace("<text", f'<text fill="{colour}"'))
    body += [_text(LEFT + wide / 2, HEIGHT - 10, across), _text(LEFT, TOP - 8, up, "start")]
    return _page(title, body)


def belief() -> str:
    """The largest probability after a report, by the probability before it."""
    lines = []
    for epsilon in (4.0, 2.0, 1.0, 0.5, 0.1):
        odds = float(dn.odds_below(epsilon))
        points = [(100 * p / 50, 100 * odds * p / (odds * p + 50 - p)) for p in range(51)]
        lines.append((f"epsilon {epsilon:g}", [(x, y) for x, y in points if x <= 98]))
    return chart(
        "What a report can do to a belief",
        "probability of the answer before the report, %",
        "largest probability after it, %",
        lines,
        (100, 100),
        (5, 5),
    )


def law() -> str:
    """The exact law of a report under two answers."""
    mechanism = dn.DirectResponse(dn.Categories(["walk", "bicycle", "bus", "car"]), 1.0)
    laws = [dict(dn.law(mechanism, index).items()) for index in (0, 2)]
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    body = [_text(LEFT, TOP - 8, "probability of a report, %", "start")]
    for step in range(6):
        y = TOP + high * (1 - step / 5)
        body.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + wide}" y2="{y:.1f}" stroke="#ddd"/>')
        body.append(_text(LEFT - 8, y + 4, f"{10 * step}", "end"))
    for place, label in enumerate(mechanism.domain.labels):
        centre = LEFT + wide * (place + 0.5) / 4
        for side, own in enumerate(laws):
            tall = high * float(own[bytes([place])]) / 0.5
            x = centre - 34 + 36 * side
            body.append(
                f'<rect x="{x:.1f}" y="{TOP + high - tall:.1f}" width="32" height="{tall:.1f}" fill="{COLOURS[side]}"/>'
            )
        body.append(_text(centre, TOP + high + 18, f"report {label}"))
    for side, label in enumerate(("answer walk", "answer bus")):
        body.append(
            _text(LEFT + wide + 6, TOP + 20 + 18 * side, label, "start", 12).replace(
                "<text", f'<text fill="{COLOURS[side]}"'
            )
        )
    body.append(
        _text(LEFT + wide / 2, HEIGHT - 10, "the two bars of a report never differ by more than a factor of e^1 = 2.72")
    )
    return _page("Two answers, the same reports", body)


def error() -> str:
    """The standard error of a share, by epsilon."""
    lines = []
    for people in (1_000, 10_000, 100_000):
        points = []
        for step in range(4, 41):
            mechanism = dn.plan(dn.Categories(range(16)), step / 10, people)
            points.append((step / 10, 100 * float(mechanism.predict([1 / 16] * 16, people).standard_error[0])))
        lines.append((f"{people:,} people", [(x, min(y, 15.0)) for x, y in points]))
    return chart(
        "Epsilon and accuracy",
        "epsilon for one answer",
        "standard error of a share (16 answers), percentage points",
        lines,
        (4, 15),
        (4, 5),
    )


def many() -> str:
    """The cost of many reports on the same answer."""
    once = dn.LossLaw.worst(dn.odds_below(0.1))
    kept = dn.Memoized.direct(dn.Categories(["yes", "no"]), 1.0, 0.1)
    counts = range(4, 101, 4)
    lines = [
        ("fresh, delta 0", [(k, 0.1 * k) for k in counts]),
        ("fresh, delta 1e-6", [(k, (once**k).epsilon(1e-6)) for k in counts]),
        ("permanent answer", [(k, kept.lifetime_loss().epsilon()) for k in counts]),
    ]
    title, across = "The cost of repeated reports", "reports on one answer, epsilon 0.1 each"
    return chart(title, across, "epsilon of all reports together", lines, (100, 10), (5, 5))


def distribution() -> str:
    """The standard error of the distribution function, by epsilon."""
    domain, workload, even = dn.Ordered(range(64)), dn.Workload.prefixes(64), [1 / 64] * 64
    makers: dict[str, Callable[[float], dn.Hierarchy | dn.SquareWave]] = {
        "comb, 40 % points": lambda epsilon: dn.Hierarchy.comb(domain, epsilon, 40),
        "levels, weighted": lambda epsilon: dn.Hierarchy.weighted(domain, epsilon),
        "levels of four": lambda epsilon: dn.Hierarchy.fours(domain, epsilon),
        "square wave": lambda epsilon: dn.SquareWave(domain, epsilon),
    }
    budgets = [step / 2 for step in range(1, 9)]
    lines = []
    for name, make in makers.items():
        errors = [workload.mean_square(make(epsilon).predict(even, 10_000).covariance()) ** 0.5 for epsilon in budgets]
        lines.append((name, [(x, min(100 * y, 12.0)) for x, y in zip(budgets, errors, strict=True)]))
    return chart(
        "Epsilon and the distribution of a number",
        "epsilon for one answer",
        "standard error of the distribution function (64 answers, 10,000 people), percentage points",
        lines,
        (4, 12),
        (4, 4),
    )


PICTURES = {"belief": belief, "law": law, "error": error, "many": many, "distribution": distribution}


def main() -> None:
    """Write them all."""
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
