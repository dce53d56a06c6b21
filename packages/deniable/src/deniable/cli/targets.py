"""Files that a verb writes: refused before any work is done if they could not be written, and then written whole."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from deniable.errors import InvalidParameter
from deniable.files.atomic import written_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PICTURES = (".pdf", ".png", ".svg")


def check_target(path: Path | None, force: bool) -> None:
    """Refuse a file that is there already or has no folder."""
    if path is None:
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
    """A text file, after `check_target`."""
    with written_whole(path, overwrite=True) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


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
