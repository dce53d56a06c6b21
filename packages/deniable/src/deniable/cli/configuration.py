"""Options of a command from a file and from the environment: the command line comes first, then variables, then the file."""

import tomllib
from pathlib import Path
from typing import Any

import click

from deniable.errors import InvalidParameter

PREFIX = "DENIABLE"
# For `context_settings` of a command: DENIABLE_PORT is --port.
FROM_ENVIRONMENT = {"auto_envvar_prefix": PREFIX}
_NOT_IN_A_FILE = {"config", "help", "check"}


def settings(command: click.Command) -> dict[str, click.Parameter]:
    """What a file may say, by name: the long name of each option, and the argument."""
    found = {(parameter.opts[0].lstrip("-")): parameter for parameter in command.params}
    return {name: parameter for name, parameter in found.items() if name not in _NOT_IN_A_FILE}


def _read(ctx: click.Context, _: click.Parameter, path: Path | None) -> None:
    if path is None:
        return
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidParameter(f"{path} is not a TOML file: {error}.") from error
    known = settings(ctx.command)
    unknown = sorted(given.keys() - known.keys())
    if unknown:
        raise InvalidParameter(f"{path} has settings that do not exist: {', '.join(unknown)}. Allowed: {', '.join(known)}.")
    ctx.default_map = {known[name].name: _checked(path, name, known[name], value) for name, value in given.items()}


def _checked(path: Path, name: str, parameter: click.Parameter, value: Any) -> Any:
    """The value, if it has the kind that the option takes."""
    several = parameter.multiple if isinstance(parameter, click.Option) else False
    flag = isinstance(parameter, click.Option) and parameter.is_flag
    if several and not (isinstance(value, list) and all(isinstance(each, str) for each in value)):
        raise InvalidParameter(f"{path}: {name} must be a list of strings.")
    if flag and not isinstance(value, bool):
        raise InvalidParameter(f"{path}: {name} must be true or false.")
    if not several and not flag and (isinstance(value, bool) or not isinstance(value, str | int | float)):
        raise InvalidParameter(f"{path}: {name} must be a string or a number.")
    return value


option = click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=_read,
    help="Read options from FILE, in TOML: port = 8080. The command line and variables such as DENIABLE_PORT take "
    "precedence.",
)
