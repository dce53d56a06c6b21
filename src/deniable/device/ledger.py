"""What a person has spent, in a file: the report of every survey answered, so that none is ever randomized twice.

The file is part of the promise. Whoever deletes it may answer again, with fresh randomness, and pays again.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

from deniable.errors import BudgetSpent, InvalidParameter
from deniable.files.atomic import written_whole

try:
    import fcntl

    def _lock(file: IO[Any]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)

except ImportError:  # where there is no such lock, one program uses a ledger at a time

    def _lock(file: IO[Any]) -> None:
        """Nothing to hold."""


_FORMAT = "deniable ledger 1"


@dataclass(frozen=True)
class Entry:
    """One survey that was answered: its fingerprint, what it cost, and the report, as it was and will be sent."""

    fingerprint: str
    epsilon: float
    message: str
    state: str = "kept"  # then "sent" or "refused"


class Ledger:
    """All surveys that one person answered, by their ids. Without a path it lasts as long as the program."""

    def __init__(self, path: str | os.PathLike[str] | None = None, lifetime: float | None = None) -> None:
        self._path, self._entries = None if path is None else Path(path), dict[str, Entry]()
        self.lifetime = lifetime

    def entry(self, survey: str) -> Entry | None:
        """What was sent, or is to be sent, for this survey."""
        return self._read().get(survey)

    def spent(self) -> float:
        """The sum of the budgets of all surveys that were answered."""
        return sum(entry.epsilon for entry in self._read().values())

    def add(self, survey: str, entry: Entry) -> None:
        """Remember a report before it is sent; refuses a survey that was answered, and what exceeds the lifetime limit."""
        with self._changing() as entries:
            if survey in entries:
                raise BudgetSpent("This survey was answered already. The same report can be sent again, but not a new one.")
            total = entry.epsilon + sum(each.epsilon for each in entries.values())
            if self.lifetime is not None and total > self.lifetime:
                raise BudgetSpent(
                    f"This survey costs epsilon {entry.epsilon:g}; with what was answered before that exceeds the limit of "
                    f"{self.lifetime:g} for a lifetime. It is not answered."
                )
            entries[survey] = entry

    def mark(self, survey: str, state: str) -> None:
        """Remember what became of a report."""
        with self._changing() as entries:
            entries[survey] = replace(entries[survey], state=state)

    def _read(self) -> dict[str, Entry]:
        if self._path is None:
            return self._entries
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
            if data["format"] != _FORMAT:
                raise ValueError
            return {survey: Entry(**entry) for survey, entry in data["surveys"].items()}
        except FileNotFoundError:
            return {}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InvalidParameter(
                f"The ledger {str(self._path)!r} cannot be read. It says what was spent, so nothing is answered without it."
            ) from None

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Entry]]:
        if self._path is None:
            yield self._entries
            return
        with self._path.with_name(self._path.name + ".lock").open("a") as lock:
            _lock(lock)
            entries = self._read()
            yield entries
            data = {"format": _FORMAT, "surveys": {survey: asdict(entry) for survey, entry in entries.items()}}
            with written_whole(self._path, overwrite=True) as temporary:
                temporary.write_text(json.dumps(data, indent=1), encoding="utf-8")
            self._path.chmod(0o600)
