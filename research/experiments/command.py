"""What the commands of all experiments share: where the data are, few or all repetitions, and print or write the result."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from deniable.cli.panel import progress
from research.contest import Contest, Standings
from research.data.folder import Data

Command = Callable[..., None]


def data_option(command: Command) -> Command:
    """`--data DIR`, as a folder of checked files."""

    def read(context: click.Context, option: click.Parameter, folder: Path | None) -> Data:
        return Data(folder)

    note = "The folder with the real data; without it, made-up data stand in where there are any."
    return click.option("--data", type=click.Path(path_type=Path), callback=read, metavar="DIR", help=note)(command)


def quick_option(fewer: str) -> Callable[[Command], Command]:
    """`--quick`, which prints the result of a shorter run and writes nothing."""
    return click.option("--quick", is_flag=True, help=f"{fewer}; prints the result instead of writing it.")


def deliver(text: str, result: Path | None) -> None:
    """Print a result, or write it to its file."""
    if result is None:
        click.echo(text)
    else:
        result.write_text(text, encoding="utf-8")
        click.echo(f"Wrote {result.name}.")


def run_all(
    contests: Sequence[Contest], repeats: int, seed: int, result: Path | None, picture: Path | None, head: str
) -> list[Standings]:
    """Run contests one after the other with a bar, and print or write their tables."""
    found = []
    for contest in contests:
        with progress(contest.title) as advance_to:
            found.append(contest.run(repeats, seed, advance_to))
    text = "\n".join([head, "", *(each.markdown() for each in found), *(each.summary() for each in found), *leads(found)])
    deliver(text, result)
    if picture is not None:
        for place, each in enumerate(found):
            each.plot().savefig(picture.with_stem(f"{picture.stem}-{place + 1}") if len(found) > 1 else picture, dpi=120)
    return found


def leads(found: Sequence[Standings]) -> list[str]:
    """By how much our best is better than the best of the papers, at the same certified epsilon."""
    lines = [
        "Lead of our best learner over the best of the papers' learners, at the same certified epsilon (for RMSE: theirs "
        "less ours):",
        "",
    ]
    for each in found:
        scale, digits = (100, 2) if each.higher else (1, 3)
        ahead = ", ".join(f"{scale * lead:+.{digits}f} at {epsilon:.4g}" for epsilon, lead in each.leads().items())
        lines.append(f"- {each.title}, {each.measure}: {ahead}")
    return [*lines, ""]


def contest_options(default_repeats: int) -> Callable[[Command], Command]:
    """The options that all contests of learners have."""

    def add(command: Command) -> Command:
        options: tuple[Any, ...] = (
            data_option,
            quick_option("One training of each learner on few people"),
            click.option("--repeats", default=default_repeats, show_default=True, help="Trainings of each learner."),
            click.option("--seed", default=0, show_default=True, help="Seed of the split of the data and of the coins."),
            click.option("--picture", type=click.Path(path_type=Path), help="Also draw the result into this file."),
        )
        for option in options:
            command = option(command)
        return command

    return add
