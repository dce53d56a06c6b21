"""`deniable trend`: the questions of a survey over time."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from deniable.analysis.trend import Trend
from deniable.cli import options, surveys
from deniable.cli.targets import draw, write_table
from deniable.core import confidence_each
from deniable.errors import EmptyBatch
from deniable.survey.repeating import asked_again, name_of_period


@click.command(short_help="Show how the answers to a survey change over time.")
@surveys.argument
@click.option("--question", "wanted", metavar="ID", help="Only this question.")
@click.option(
    "--difference", nargs=2, type=int, metavar="A B", help="Compare period A with period B instead, with intervals."
)
@click.option(
    "--false-alarms",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=1e-4,
    show_default=True,
    metavar="RATE",
    help="The probability of ever reporting a change when nothing changes, for all answers to a question together.",
)
@surveys.store_option
@click.option("--url", metavar="URL", help="Ask the collector at URL instead of reading the database.")
@surveys.token_option
@options.confidence
@options.target("--csv", "csv_file", help="Write the estimates of all periods to FILE as CSV.")
@options.force
@options.picture
@options.json_flag
def trend(
    survey: Path,
    wanted: str | None,
    difference: tuple[int, int] | None,
    false_alarms: float,
    store: str | None,
    url: str | None,
    token: str | None,
    confidence: float,
    csv_file: Path | None,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Show the questions of SURVEY over time: smoothed estimates with intervals, and changes that are larger than noise.

    The survey needs a window. Periods with too few reports are left out.

    \b
    deniable trend wellbeing.toml
    deniable trend wellbeing.toml --picture trend.png --csv trend.csv
    deniable trend wellbeing.toml --question mood --difference 20700 20710
    """
    from deniable.collector.collected import collected

    confidence_each(confidence, 1)  # refuses what is no confidence level
    found = collected(survey, None if url is not None else surveys.store_of(survey, store), url=url, token=token)
    again = [each.id for each in found.survey.questions if found.survey.repeats is None or asked_again(each)]
    names = again if wanted is None else [wanted]
    known = {name: found.trend(name) for name in names if wanted is not None or len(found.periods.get(name, ())) > 1}
    if not known:
        raise EmptyBatch("There is no trend yet: no period has enough reports, or the survey has no window.")
    when = partial(name_of_period, found.survey)
    rows = [
        {"question": name, "begins": when(int(str(row["period"])))} | row
        for name, each in known.items()
        for row in each.rows(confidence)
    ]
    if csv_file is not None:
        write_table(csv_file, rows)
    if picture is not None:
        from deniable.plugins import optional

        figure = optional("matplotlib.figure", "A picture", "plot").Figure(
            figsize=(8, 3.2 * len(known)), layout="constrained"
        )
        for axes, (name, each) in zip(figure.subplots(len(known), squeeze=False).ravel(), known.items(), strict=True):
            each.plot(confidence, ax=axes)
            axes.xaxis.set_major_formatter(lambda period, _: when(int(period)))
            axes.set_xlabel("")
            axes.set_title(next(q.ask for q in found.survey.questions if q.id == name), loc="left")
        draw(figure, picture)
    if as_json:
        changes = {name: [vars(change) for change in each.changes(false_alarms)] for name, each in known.items()}
        click.echo(json.dumps({"survey": found.survey.id, "confidence": confidence, "rows": rows, "changes": changes}))
        return
    for name, each in known.items():
        click.echo("\n".join(_lines(name, each, when, difference, confidence, false_alarms)))
    for what, file in (("estimates of all periods", csv_file), ("picture", picture)):
        if file is not None:
            click.echo(f"Wrote the {what} to {file}.")


def _lines(
    name: str,
    each: Trend,
    when: Callable[[int], str],
    difference: tuple[int, int] | None,
    confidence: float,
    false_alarms: float,
) -> list[str]:
    """What is said of one question."""
    if difference is not None:
        moved = each.difference(*difference, confidence)
        low, high = moved.interval(confidence)
        head = f"{name}: {when(difference[1])} less {when(difference[0])}, {confidence:.0%} intervals"
        ends = zip(moved.labels, moved.values, low, high, strict=True)
        return [head, *(f"  {label}: {value:+.4g} ({a:+.4g} to {b:+.4g})" for label, value, a, b in ends)]
    low, high = each.interval(confidence)
    first, last = int(each.periods[0]), int(each.periods[-1])
    span = f"{when(first)} to {when(last)} (numbers {first} to {last})"
    lines = [f"{name}: {len(each.periods):,} periods, {span}; smoothed {each.measure} in the last one"]
    for place, label in enumerate(each.labels):
        value = each.level.values[-1, place]
        lines.append(f"  {label}: {value:.4g} ({low[-1, place]:.4g} to {high[-1, place]:.4g})")
    changes = each.changes(false_alarms, confidence)
    lines += [f"  {change.sentence(when)}" for change in changes] or ["  No change is larger than noise."]
    return lines
