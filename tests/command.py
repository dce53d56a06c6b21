"""The command line, run inside the tests' own process."""

from click.testing import CliRunner, Result

from deniable.cli.main import main


def run(*arguments: object, answers: str | None = None, code: int = 0) -> Result:
    """What a command printed. It must end with this exit code."""
    result = CliRunner(env={"COLUMNS": "80"}).invoke(main, [str(argument) for argument in arguments], input=answers)
    assert result.exit_code == code, result.output
    return result
