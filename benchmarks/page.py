"""Results of measurements that take long: pages in this folder, or on the terminal."""

from pathlib import Path

import click


def publish(text: str, page: Path, shown: bool) -> None:
    """Print the result if it is to be shown, otherwise write its page."""
    if shown:
        click.echo(text)
    else:
        page.write_text(text, encoding="utf-8")
