"""`deniable law`: the programs that devices run on the answers to a survey."""

from pathlib import Path

import click

from deniable.cli import options, surveys
from deniable.survey import Survey
from deniable.survey.law_document import law_json, law_text


@click.command(short_help="Print the programs that devices run on the answers to a survey.")
@surveys.argument
@options.json_flag
def law(survey: Path, as_json: bool) -> None:
    """Print the law of every question of SURVEY: the program that turns an answer into a report.

    With --json, print the document that the collector serves at /v1/law. Devices prove the programs in it before they run
    them, and refuse to answer a survey whose programs disclose more than its epsilon allows.

    \b
    deniable law survey.toml
    deniable law survey.toml --json > law.json
    """
    asked = Survey.load(survey)
    click.echo(law_json(asked) if as_json else law_text(asked))
