"""A file of one person's that is changed as a whole or not at all, by one program at a time."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from deniable.errors import InvalidParameter
from deniable.files.atomic import lock, written_whole


class KeptFile:
    """Plain data in a file that only its owner reads; without a path it lasts as long as the program."""

    def __init__(self, path: str | os.PathLike[str] | None, form: str, what: str) -> None:
        self._path, self._form, self._what = None if path is None else Path(path), form, what
        self._held: dict[str, Any] = {}

    def read(self) -> dict[str, Any]:
        """What the file holds; nothing if there is none yet. A damaged one is refused."""
        if self._path is None:
            return self._held
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
            if data.pop("format") != self._form:
                raise ValueError
            return dict(data)
        except FileNotFoundError:
            return {}
        except (ValueError, KeyError, TypeError, AttributeError):
            self.refuse()

    def refuse(self) -> NoReturn:
        """Say that the file cannot be used."""
        raise InvalidParameter(
            f"The {self._what} {str(self._path)!r} cannot be read. It records the privacy loss, so no survey can be "
            "answered without it. Restore it from a backup."
        ) from None

    @contextmanager
    def changing(self) -> Iterator[dict[str, Any]]:
        """What the file holds, to be changed: written whole when all went well, and left as it was otherwise."""
        if self._path is None:
            held = json.loads(json.dumps(self._held))
            yield held
            self._held = held
            return
        with self._path.with_name(self._path.name + ".lock").open("a") as held:
            lock(held)
            data = self.read()
            yield data
            with written_whole(self._path, overwrite=True, private=True) as temporary:
                temporary.write_text(json.dumps({"format": self._form, **data}, indent=1), encoding="utf-8")
