"""Files that a verb writes: refused before any work is done if they could not be written, and then written whole."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from deniable.errors import InvalidParameter
from deniable.files.arrow import pyarrow_package
from deniable.files.atomic import written_whole
from deniable.files.compression import compression, written
from deniable.files.tables import is_json_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PICTURES = (".pdf", ".png", ".svg")


def check_target(path: Path | None, force: bool) -> None:
    """Refuse a file that is there already or has no folder."""
    if path is None or str(path) == "-":
        return
    if not path.parent.is_dir() or path.is_dir():
        raise InvalidParameter(f"The file {str(path)!r} cannot be written. Name a file in a folder that exists.")
    if path.exists() and not force:
        raise InvalidParameter(f"The file {str(path)!r} exists already. Choose another name, or add --force to replace it.")


def check_picture(path: Path | None) -> None:
    """Refuse a picture that could not be written; an older one is replaced."""
    if path is None:
        return
    if path.suffix.lower() not in PICTURES:
        raise InvalidParameter(f"A picture must end in {', '.join(PICTURES)}. Choose such a name, for example shares.png.")
    if not path.parent.is_dir() or path.is_dir():
        raise InvalidParameter(f"The picture cannot be written to {str(path)!r}. Name a file in a folder that exists.")


def write_text(path: Path, text: str) -> None:
    """A text file, after `check_target`; compressed if its name ends in .gz or .zst, and printed if it is "-"."""
    if str(path) == "-":
        click.echo(text, nl=False)
        return
    with written_whole(path, overwrite=True) as temporary, written(temporary, compression(path)) as file:
        file.write(text.encode())


def write_table(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Rows as Parquet, JSON Lines or CSV, whichever the name says."""
    if path.suffix == ".parquet":
        pa = pyarrow_package()
        with written_whole(path, overwrite=True) as temporary:
            pa.parquet.write_table(pa.Table.from_pylist([dict(row) for row in rows]), temporary)
    elif is_json_lines(path):
        write_text(path, "".join(json.dumps(row) + "\n" for row in rows))
    else:
        write_text(path, csv_text(rows))


def csv_text(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows as comma-separated text, with the keys as a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def draw(picture: "Figure | Axes", path: Path) -> None:
    """A picture, after `check_picture`."""
    figure = cast("Figure", getattr(picture, "figure", picture))  # of axes
    with written_whole(path, overwrite=True) as temporary:
        figure.savefig(temporary, format=path.suffix.lower()[1:], dpi=150)
