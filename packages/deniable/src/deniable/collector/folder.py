"""A folder of survey files behind a server: new files are served, a bad one is refused and stops nobody else."""

import hashlib
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from deniable.collector.app import App
from deniable.collector.events import note
from deniable.collector.site import Site
from deniable.errors import DeniableError, InvalidParameter, Unavailable
from deniable.survey import Survey
from deniable.survey.browsers import check_browsers

POLL = 5.0  # seconds between looks at the folder
KINDS = (".toml", ".json")
MOST_BYTES = 8 << 20  # of a survey file: a question may have very many choices
Stamp = tuple[int, int]  # when a file was changed, and its size
Make = Callable[[Survey, Path], App]


class Folder:
    """Keeps a site in step with a folder. `make` is given each survey with its file, and makes its application."""

    def __init__(self, path: Path, site: Site, make: Make) -> None:
        if not path.is_dir():
            raise InvalidParameter(f"There is no folder {str(path)!r}. Give a survey file, or a folder of survey files.")
        self._path, self._site, self._make = path, site, make
        self._seen: dict[Path, Stamp] = {}
        self._served: dict[Path, str] = {}  # the id of the survey in each file
        self._gone: set[Path] = set()  # missing at the last look: an editor may be replacing the file
        self._turn = threading.Lock()
        self.refused: dict[Path, str] = {}  # files that are not served, and why

    def look(self) -> None:
        """Serve new files, refuse bad ones, and stop serving those that are gone for two looks."""
        with self._turn:
            found = {path: stamp for path in sorted(self._path.iterdir()) if (stamp := _stamp(path)) is not None}
            missing = self._seen.keys() - found.keys()
            for path in missing & self._gone:
                self._forget(path)
            self._gone = set(missing)
            for path, stamp in found.items():
                if self._seen.get(path) != stamp:
                    self._seen[path] = stamp
                    self._try(path)

    def _forget(self, path: Path) -> None:
        del self._seen[path]
        self.refused.pop(path, None)
        name = self._served.pop(path, None)
        if name is not None:
            self._site.remove(name)
            note("removed", survey=name, file=path.name)

    def _try(self, path: Path) -> None:
        try:
            self._serve(path)
            self.refused.pop(path, None)
        except Unavailable:  # the file is not to blame: look at it again
            del self._seen[path]
            raise
        except Exception as error:  # one file must not take the others down
            expected = isinstance(error, (DeniableError, OSError))
            self.refused[path] = str(error) if expected else f"{type(error).__name__}: {error}"
            note("survey-refused", logging.ERROR, trace=not expected, file=path.name, cause=self.refused[path])

    def _serve(self, path: Path) -> None:
        survey, source = self._read(path)
        other = next((file for file, name in self._served.items() if name == survey.id and file != path), None)
        if other is not None:
            raise InvalidParameter(f"The id {survey.id!r} is already used by {other.name}. Choose another id.")
        number, kept = self._site.store.register(survey)  # refuses what has changed since people answered
        before = self._served.get(path)
        running = next((app for app in self._site.apps if app.collector.survey.id == before), None)
        if running is None or running.collector.registered != kept.fingerprint:
            self._replace(path, survey, before)
        with self._site.store.change() as change:
            change.put_state(number, source=source)

    def _replace(self, path: Path, survey: Survey, before: str | None) -> None:
        app = self._make(survey, path)
        if before is not None:
            self._site.remove(before)
        self._site.add(app)
        self._served[path] = survey.id
        event = "added" if before is None else "replaced"
        note(event, survey=survey.id, fingerprint=app.collector.survey.fingerprint, stage=app.stage, file=path.name)

    def _read(self, path: Path) -> tuple[Survey, str]:
        """The survey in a file, and the hash of the file. One registered from the same bytes is not planned again."""
        if path.stat().st_size > MOST_BYTES:
            raise InvalidParameter(
                f"A survey file may have at most {MOST_BYTES:,} bytes. Remove files that are not surveys."
            )
        source = hashlib.sha256(path.read_bytes()).hexdigest()
        with self._site.store.view() as view:
            known = view.run("SELECT spec FROM surveys WHERE source = ?", source)
        if known:
            return Survey.from_json(known[0][0]), source
        survey = Survey.load(path)
        check_browsers(survey)
        return survey, source


def _stamp(path: Path) -> Stamp | None:
    if path.suffix not in KINDS or path.name.startswith("."):
        return None
    with suppress(OSError):
        about = path.stat()
        return (about.st_mtime_ns, about.st_size) if path.is_file() else None
    return None
