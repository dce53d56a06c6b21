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
    "demo": ("demo:demo", "Run the whole process on a real question."),
    "init": ("init:init", "Write a first survey, with a sample and a short guide."),
    "plan": ("plan:plan", "Choose the mechanism for a question or a survey."),
    "law": ("law:law", "Print the programs that devices run on the answers to a survey."),
    "certify": ("certify:certify", "Prove the exact privacy loss of a mechanism or a survey."),
    "verify": ("verify:verify", "Check the certificate of a survey again."),
    "audit": ("audit:audit", "Measure the privacy loss of any client from its reports."),
    "perturb": ("perturb:perturb", "Randomize a column of answers into reports."),
    "aggregate": ("aggregate:aggregate", "Count many files of reports into one tally."),
    "estimate": ("estimate:estimate", "Estimate shares from reports, or show the results of a survey."),
    "discover": ("discover:discover", "Find the most frequent words, addresses or versions."),
    "trend": ("trend:trend", "Show how the answers to a survey change over time."),
    "crosstab": ("crosstab:crosstab", "Tabulate how the answers to several questions are related."),
    "compare": ("compare:compare", "Measure the errors of mechanisms and compare them with the predictions."),
    "release": ("release:release", "Release noisy places or numbers that stay close to the truth."),
    "graph": ("graph:graph", "Estimate statistics of a graph whose links are private."),
    "serve": ("serve:serve", "Collect the answers to one or several surveys."),
    "answer": ("answer:answer", "Answer a survey in the terminal."),
    "simulate": ("answer:simulate", "Answer a survey with made-up people."),
    "token": ("token:token", "Create, list, rotate and revoke access tokens of a survey."),
    "mix": ("mix:mix", "Mix the reports of a survey before they are counted."),
    "invite": ("invite:invite", "Invite people to a survey, once each."),
    "manage": ("manage:manage", "Open, close, list, limit, correct, archive or delete a survey."),
    "backup": ("moving:backup", "Write a backup of a collector's data."),
    "restore": ("moving:restore", "Restore a backup into a database."),
    "move": ("moving:move", "Move surveys to another database."),
    "doctor": ("doctor:doctor", "Show what is installed, what is missing and how fast this machine is."),
}
# Verbs of our other packages: which package has each, and its line in the list.
RESEARCH = "deniable-research, from the folder research/ of a checkout (make env)"
ELSEWHERE = {
    "learn": ("deniable-learn", "Train a classifier on randomized reports."),
    "claims": (RESEARCH, "Compare the privacy loss that papers claim with the exact loss."),
    "reproduce": (RESEARCH, "Reproduce the figures and tables of five papers."),
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
            if error.errno == errno.EPIPE:  # the reader of our output has gone: click ends quietly
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
            raise Refusal(str(MissingPackage(f"deniable {name}", ELSEWHERE[name][0])))
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, line) for name, (_, line) in VERBS.items()]
        rows += [(name, added_line(entry)) for name, entry in sorted(installed().items())]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def installed() -> dict[str, EntryPoint]:
    """Verbs that other packages add."""
    return {entry.name: entry for entry in entry_points(group="deniable.commands") if entry.name not in VERBS}


def added_line(entry: EntryPoint) -> str:
    """The line of a verb of another package: ours, or what its distribution says of itself. The verb is not loaded."""
    if entry.name in ELSEWHERE:
        return ELSEWHERE[entry.name][1]
    return (entry.dist and entry.dist.metadata["Summary"]) or f"Defined in {entry.module}."


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="deniable", prog_name="deniable")
def main() -> None:
    """Local differential privacy that proves what it promises.

    Every answer is randomized on the person's own device, so nobody, not even the collector, can be sure what it was.
    The shares of all answers can still be estimated. How much one report can disclose is proved, not just claimed, for
    the very program that runs on the device.

    See how it works:

    \b
    deniable demo

    From a table of answers to estimated shares:

    \b
    deniable plan --category yes --category no --epsilon 1 --people 5000 --out mechanism.json
    deniable certify mechanism.json
    deniable perturb answers.csv --column smokes --mechanism mechanism.json --out answers.reports
    deniable estimate answers.reports --mechanism mechanism.json

    Or run a survey, described in one file:

    \b
    deniable init
    deniable serve survey.toml
    deniable answer survey.toml
    deniable estimate survey.toml
    """
