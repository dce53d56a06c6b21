"""The group of verbs. What the library refuses is one line on the error stream and exit code 2, never a traceback."""

from typing import IO, Any

import click

from deniable.cli.certify import certify
from deniable.cli.demo import demo
from deniable.errors import DeniableError


class Refusal(click.ClickException):
    """An error of the library, as one line."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"error: {self.message}", err=True)


class Verbs(click.Group):
    """A group that turns errors of the library into refusals."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except DeniableError as error:
            raise Refusal(str(error)) from error


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="deniable", prog_name="deniable")
def main() -> None:
    """Local differential privacy that proves what it promises.

    Every answer is randomized on the device of the person who gives it, so that nobody, the collector included, can be sure
    of it. The shares of all answers together can still be estimated. How much one report can give away is not claimed but
    worked out, by following every outcome of the coins through the code that runs.

    \b
    deniable demo
    deniable certify subset --values 16 --epsilon 1
    """


main.add_command(certify)
main.add_command(demo)
