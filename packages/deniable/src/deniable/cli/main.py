"""The group of verbs. What the library refuses is one line on the error stream and exit code 2, never a traceback.

A verb is loaded when it is used, so that the help is quick. Other packages add verbs by entry points in `deniable.commands`.
"""

import errno
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import IO, Any

import click

from deniable.errors import DeniableError, MissingPackage

# In the order in which they are used: where each is, and its line in the list.
VERBS = {
    "demo": ("demo:demo", "Do the whole job on a real question."),
    "plan": ("plan:plan", "Choose the mechanism for a question."),
    "certify": ("certify:certify", "Prove the exact privacy loss of a mechanism."),
    "audit": ("audit:audit", "Look for a loss in the reports of any client."),
    "perturb": ("perturb:perturb", "Randomize a column of answers."),
    "aggregate": ("aggregate:aggregate", "Count many files of reports."),
    "estimate": ("estimate:estimate", "Estimate the shares from reports."),
    "compare": ("compare:compare", "Measure mechanisms beside their prediction."),
    "release": ("release:release", "Release places or numbers near the truth."),
    "graph": ("graph:graph", "Learn about a graph whose links are private."),
    "serve": ("serve:serve", "Collect the answers to a survey."),
    "answer": ("answer:answer", "Answer a survey in the terminal."),
    "simulate": ("answer:simulate", "Let made-up people answer a survey."),
    "token": ("serve:token", "Make a token for a collector."),
    "backup": ("serve:backup", "Write what a collector holds to a file."),
    "restore": ("serve:restore", "Put a backup into an empty store."),
}
# Verbs of our other packages: what to say where they are not installed.
ELSEWHERE = {
    "learn": "deniable-learn",
    "reproduce": "deniable-research, from the folder research/ of a checkout (make env)",
}


class Refusal(click.ClickException):
    """An error of the library, as one line."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"error: {self.message}", err=True)


class Verbs(click.Group):
    """A group that loads its verbs when they are used, and turns errors of the library into refusals."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except DeniableError as error:
            raise Refusal(str(error)) from error
        except OSError as error:
            if error.errno == errno.EPIPE:  # whoever read our output has left: click ends quietly
                raise
            what = error.filename or "A file"
            raise Refusal(f"{what} cannot be read or written: {error.strerror or type(error).__name__}.") from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*VERBS, *sorted(installed())]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in VERBS:
            module, _, attribute = VERBS[name][0].partition(":")
            found: click.Command = getattr(import_module(f"deniable.cli.{module}"), attribute)
            return found
        if name in installed():
            command: click.Command = installed()[name].load()
            return command
        if name in ELSEWHERE:
            raise Refusal(str(MissingPackage(f"deniable {name}", ELSEWHERE[name])))
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, line) for name, (_, line) in VERBS.items()]
        rows += [
            (name, f"From {entry.dist.name if entry.dist else entry.module}.") for name, entry in sorted(installed().items())
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def installed() -> dict[str, EntryPoint]:
    """Verbs that other packages add."""
    return {entry.name: entry for entry in entry_points(group="deniable.commands") if entry.name not in VERBS}


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="deniable", prog_name="deniable")
def main() -> None:
    """Local differential privacy that proves what it promises.

    Every answer is randomized on the device of the person who gives it, so that nobody, the collector included, can be sure
    of it. The shares of all answers together can still be estimated. How much one report can give away is not claimed but
    worked out, by following every outcome of the coins through the code that runs.

    See it happen:

    \b
    deniable demo

    Do it, from a table of answers to published shares:

    \b
    deniable plan --category yes --category no --epsilon 1 --people 5000 --out mechanism.json
    deniable certify mechanism.json
    deniable perturb answers.csv --column smokes --mechanism mechanism.json --out answers.reports
    deniable estimate answers.reports --mechanism mechanism.json

    Or ask people, with one file for the whole survey:

    \b
    deniable serve survey.toml
    deniable answer survey.toml
    deniable estimate survey.toml
    """
