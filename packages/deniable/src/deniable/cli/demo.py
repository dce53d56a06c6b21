"""`deniable demo`: the whole job on a real question, from answers to a published estimate and its certificate."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli import options
from deniable.cli.mechanisms import MAKERS, made
from deniable.cli.question import SampleQuestion, marital_status
from deniable.cli.targets import draw
from deniable.core import Estimate, PureProtocol, Reports, Tally
from deniable.domains import Categories
from deniable.planning import options as planned
from deniable.planning.ranking import short_name
from deniable.postprocess import norm_sub
from deniable.privacy.certify import certify
from deniable.privacy.law import law

if TYPE_CHECKING:
    from rich.console import Console


@click.command(short_help="Run the whole process on a real question.")
@click.option("--epsilon", type=float, default=1.0, show_default=True, metavar="E", help=options.EPSILON)
@click.option(
    "--mechanism",
    "name",
    type=click.Choice(list(MAKERS)),
    help="The mechanism to use. Default: the choice of deniable plan.",
)
@options.seed
@options.picture
@click.option("--survey", "with_survey", is_flag=True, help="Also run a whole survey over HTTP. Needs the extra collector.")
@click.pass_context
def demo(
    ctx: click.Context, epsilon: float, name: str | None, seed: int | None, picture: Path | None, with_survey: bool
) -> None:
    """Estimate the marital status of 228,421 people without learning that of any of them.

    The answers are real: they are from the US Current Population Surveys of 1994 and 1995. Each answer is randomized and
    packed. Two collectors unpack and count the reports, and their tallies are added. The demo compares the estimate with the
    truth, shows what an observer can conclude from one report, and certifies the mechanism. It writes no files unless you
    ask for a picture.

    \b
    deniable demo
    deniable demo --epsilon 0.2 --mechanism unary
    deniable demo --seed 7 --picture demo.png
    deniable demo --survey
    """
    question = marital_status()
    domain = Categories(question.answers)
    if name is None:
        best = planned(domain, epsilon, question.total).best
        title, name = f"the {short_name(best.name)} mechanism, the planner's choice", short_name(best.name)
    else:
        title = f"the {name} mechanism"
    mechanism = made(name, domain, epsilon)

    from deniable.cli import panel  # loads rich, which --help does not need

    console, coins = panel.console(), options.coins_of(seed)
    _introduce(console, question, title, mechanism)
    with panel.waiting(f"randomizing {question.total:,} answers"):
        reports = mechanism.perturb(question.everyone(), coins)
    _show_randomizing(console, mechanism, seed)
    tally = _collect(console, mechanism, reports)
    estimate = mechanism.estimate(tally)
    _show_estimate(console, question, estimate)
    _show_one_report(console, question, mechanism, reports)
    with panel.waiting("certifying"):
        certificate = certify(mechanism)
    _rule(console, "5", "The proof, from the code that produced the reports")
    console.print(panel.certificate(certificate))
    if picture is not None:
        with panel.waiting("drawing the picture"):
            draw(estimate.plot(), picture)
        console.print(f"Wrote the picture to {picture}.", soft_wrap=True, markup=False)
    if with_survey:
        from deniable.cli.demo_survey import run_survey

        _rule(console, "6", "A whole survey: a collector, 20,000 devices, its results")
        run_survey(console, seed)
    if not certificate.holds:
        ctx.exit(1)


def _rule(console: "Console", number: str, title: str) -> None:
    console.print()
    console.rule(f"[bold]{number}  {title}[/]", align="left", style="dim")


def _introduce(console: "Console", question: SampleQuestion, title: str, mechanism: PureProtocol) -> None:
    from deniable.cli.panel import at_most

    console.print(f"[bold]{question.ask}[/]")
    console.print(
        f"{question.total:,} {question.source} answer it through {title}. The promise: epsilon {mechanism.epsilon:g} for "
        f"one answer, so no report is more than {at_most(_odds(mechanism))} times as likely under one answer as under "
        "another."
    )


def _show_randomizing(console: "Console", mechanism: PureProtocol, seed: int | None) -> None:
    _rule(console, "1", "On each person's device: randomize")
    console.print(
        f"A report supports the true answer with probability {float(mechanism.p):.3f} and any other answer with "
        f"probability {float(mechanism.q):.3f}, exactly: {mechanism.p} and {mechanism.q}."
    )
    if seed is None:
        console.print("The coins are secure: AES-256 keyed by the operating system. Every run differs.")
    else:
        console.print(
            f"[bold yellow]The coins are seeded with {seed}: for experiments only.[/] Whoever knows the seed can undo the "
            "randomness. Leave --seed out for secure coins."
        )


def _collect(console: "Console", mechanism: PureProtocol, reports: Reports) -> Tally:
    """Send every second report to each of two collectors, as bytes; each counts its own, and the tallies are added."""
    from rich.table import Table

    _rule(console, "2", "At two collectors: unpack, count, add")
    console.print(f"A report takes {mechanism.layout.bits} bits on the wire. No collector ever sees an answer.")
    lines = Table.grid(padding=(0, 2))
    lines.add_column(style="bold")
    lines.add_column(justify="right")
    lines.add_column(justify="right")
    tallies = []
    for collector, half in (("collector A", reports[::2]), ("collector B", reports[1::2])):
        message = mechanism.pack(half)
        tallies.append(mechanism.tally(mechanism.unpack(message)))
        lines.add_row(collector, f"{tallies[-1].n:,} reports", f"{len(message):,} bytes")
    tally_a, tally_b = tallies
    together = tally_a + tally_b
    same = "the same as counting all at once" if together == mechanism.tally(reports) else "NOT the same as all at once"
    lines.add_row("A + B", f"{together.n:,} reports", same)
    console.print(lines)
    return together


def _show_estimate(console: "Console", question: SampleQuestion, estimate: Estimate) -> None:
    from rich import box
    from rich.table import Table

    from deniable.cli import bars

    _rule(console, "3", "What the analyst learns: the shares, with 95 % intervals")
    low, high = estimate.interval(0.95)
    width = max(len(answer) for answer in question.answers)
    scale = bars.axis(low.tolist(), high.tolist(), console.width - width - 3)
    picture = Table.grid(padding=(0, 2))
    for answer, value, start, stop in zip(question.answers, estimate.values, low, high, strict=True):
        picture.add_row(answer, bars.bar(scale, value, start, stop, plain=console.options.ascii_only))
    picture.add_row("", f"[dim]{scale.ticks()}[/]")
    console.print(picture)

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("% of people", no_wrap=True)
    for heading in ("estimate", "95 % interval", "truth", "inside", "cleaned"):
        table.add_column(heading, justify="right", no_wrap=True)
    cleaned, inside = norm_sub(estimate).values, 0
    for place, answer in enumerate(question.answers):
        truth = question.people[place] / question.total
        covered = bool(low[place] <= truth <= high[place])
        inside += covered
        table.add_row(
            answer,
            f"{100 * estimate.values[place]:.2f}",
            f"{100 * low[place]:.2f} to {100 * high[place]:.2f}",
            f"{100 * truth:.2f}",
            "[green]yes[/]" if covered else "[yellow]no[/]",
            f"{100 * cleaned[place]:.2f}",
        )
    console.print(table)
    console.print(
        f"{inside} of {len(cleaned)} intervals contain the true share; over many runs, 19 of 20 do. The error comes from "
        f"privacy alone: the true shares are those of these {question.total:,} people. Cleaned means shifted and clipped "
        "so that shares are not negative and sum to 100 %."
    )


def _show_one_report(console: "Console", question: SampleQuestion, mechanism: PureProtocol, reports: Reports) -> None:
    """What an observer can conclude from the report of the first widowed person."""
    from deniable.cli.panel import at_most, named

    _rule(console, "4", "What one report discloses")
    answer = "widowed"
    index = question.answers.index(answer)
    row = mechanism.layout.rows(reports[sum(question.people[:index]) :][:1].columns)[0]
    bits = "".join(str(byte >> bit & 1) for byte in row.tolist() for bit in range(8))[: mechanism.layout.bits]
    names = ", ".join(repr(label) for label in named(mechanism, row) or ["nothing"])
    # Bayes: belief after = share * likelihood / sum of the same over all answers; the likelihoods are exact.
    likelihoods = [
        dict(law(mechanism, place).items()).get(row.tobytes(), Fraction(0)) for place in range(len(question.answers))
    ]
    before = Fraction(question.people[index], question.total)
    after = question.people[index] * likelihoods[index] / _dot(question.people, likelihoods)
    console.print(
        f"A person who is {answer!r} sent {mechanism.layout.bits} bits, {bits}. They support {names}.", markup=False
    )
    console.print(
        f"An observer who knows all the shares above believed {answer!r} with {100 * float(before):.1f} % before seeing "
        f"the report, and {100 * float(after):.1f} % after.",
        markup=False,
    )
    console.print(
        f"Whatever the report had been, nobody's belief that this person is {answer!r} rather than "
        f"{question.answers[0]!r} can change by more than a factor {at_most(_odds(mechanism))} (epsilon "
        f"{mechanism.epsilon:g}, one answer).",
        markup=False,
    )


def _odds(mechanism: PureProtocol) -> Fraction:
    odds = mechanism.loss().odds
    assert odds is not None  # mechanisms made from a budget always promise something
    return odds


def _dot(people: tuple[int, ...], chances: list[Fraction]) -> Fraction:
    return sum((number * chance for number, chance in zip(people, chances, strict=True)), Fraction(0))
