"""The group of verbs. What the library refuses is one line on the error stream and exit code 2, never a traceback."""

import errno
from typing import IO, Any

import click

from deniable.cli.aggregate import aggregate
from deniable.cli.answer import answer, simulate
from deniable.cli.audit import audit
from deniable.cli.certify import certify
from deniable.cli.compare import compare
from deniable.cli.demo import demo
from deniable.cli.estimate import estimate
from deniable.cli.graph import graph
from deniable.cli.perturb import perturb
from deniable.cli.plan import plan
from deniable.cli.release import release
from deniable.cli.reproduce import reproduce
from deniable.cli.serve import backup, restore, serve, token
from deniable.errors import DeniableError


class Refusal(click.ClickException):
    """An error of the library, as one line."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"error: {self.message}", err=True)


class Verbs(click.Group):
    """A group that turns errors of the library, and files that cannot be read or written, into refusals."""

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
        return list(self.commands)  # in the order in which they are used


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


for verb in (
    demo,
    plan,
    certify,
    audit,
    perturb,
    aggregate,
    estimate,
    compare,
    release,
    graph,
    reproduce,
    serve,
    answer,
    simulate,
    token,
    backup,
    restore,
):
    main.add_command(verb)
