"""Verbs with several modes: each mode is a command with its own options, and the arguments say which one is meant."""

from collections.abc import Callable, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem


class Modes(click.Group):
    """A verb whose mode may be left out: `pick` then finds it from the arguments."""

    def __init__(self, *given: Any, pick: Callable[[Sequence[str]], str], **named: Any) -> None:
        super().__init__(*given, **named)
        self.pick = pick

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [self.pick(args), *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The modes, and the options of all of them, since the mode may be left out."""
        found = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("-"):
            for command in self.commands.values():
                found += command.shell_complete(click.Context(command, parent=ctx), incomplete)
        return list({item.value: item for item in found}.values())

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Modes"):
            formatter.write_dl([(name, command.get_short_help_str(100)) for name, command in self.commands.items()])


def has(args: Sequence[str], *options: str) -> bool:
    """Whether one of these options is given."""
    return any(arg.partition("=")[0] in options for arg in args)


def names_survey(args: Sequence[str]) -> bool:
    """Whether a file of a survey is given."""
    return any(arg.endswith(".toml") for arg in args)
