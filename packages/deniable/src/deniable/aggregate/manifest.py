"""What was counted, row group by row group, beside the tally: the proof that nothing counted twice, and the way to go on."""

import json
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from deniable.aggregate.pieces import File, LeftOut
from deniable.aggregate.work import Group, Partial
from deniable.core import Tally
from deniable.errors import EngineFailure, InvalidParameter, InvalidReport, SurveyMismatch
from deniable.files.atomic import written_whole

FORMAT = "deniable manifest 1"
SAVE_EACH = 1.0  # seconds at least, and so many times as long as saving takes:
SAVE_SHARE = 20


@dataclass(frozen=True)
class Manifest:
    """The files and row groups behind a tally, each with its checksum, and what was left out with the reason."""

    files: tuple[File, ...]
    groups: tuple[Group, ...]
    left_out: tuple[LeftOut, ...]

    def repeated(self) -> list[tuple[str, ...]]:
        """Files that hold the same reports under several names: most likely a copy that was counted again.

        It is only a hint, and they are counted: short files can be alike by chance.
        """
        contents: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for group in self.groups:
            contents[group.file].append((group.group, group.checksum))
        alike: dict[tuple[tuple[int, str], ...], list[str]] = defaultdict(list)
        for file, content in contents.items():
            alike[tuple(sorted(content))].append(file)
        return [tuple(sorted(names)) for names in alike.values() if len(names) > 1]


@dataclass(frozen=True, eq=False)
class Aggregate(Tally):
    """A tally that lists what it counted. Added to another it becomes a plain tally."""

    manifest: Manifest = field(repr=False)


class Book:
    """The tally and the manifest while they grow. Every row group enters once, however often it is handed in."""

    def __init__(self, fingerprint: str, path: str | PathLike[str] | None) -> None:
        self._fingerprint = fingerprint
        self._path = None if path is None else Path(path)
        self._tally: Tally | None = None
        self._files: dict[str, File] = {}
        self._groups: dict[tuple[str, int], Group] = {}
        self._left_out: list[LeftOut] = []
        self._next_save = 0.0
        if self._path is not None and self._path.exists():
            self._load(self._path)

    @property
    def done(self) -> set[tuple[str, int]]:
        """The row groups that are counted."""
        return set(self._groups)

    def has(self, file: File) -> bool:
        """Whether all of a file is counted."""
        rows = (1,) if file.groups is None else file.groups
        return all((file.name, group) in self._groups for group, reports in enumerate(rows) if reports)

    def expect(self, files: Iterable[File]) -> None:
        """Files that are to be counted; one that was counted before must not have changed."""
        for file in files:
            known = self._files.get(file.name, file)
            if known != file:  # only counted files are in a manifest
                raise SurveyMismatch(
                    f"The file {file.name} has changed since it was counted. Remove the manifest to count everything again."
                )
            self._files[file.name] = file

    def add(self, part: Partial) -> int:
        """Enter what a worker counted, once; the number of reports that are new."""
        keys = [(group.file, group.group) for group in part.groups]
        known = [key in self._groups for key in keys]
        if part.groups and all(known):
            return 0
        if any(known) or len(set(keys)) != len(keys):
            raise EngineFailure("The engine returned a row group twice, mixed with others. None of this was counted.")
        self._groups.update(zip(keys, part.groups, strict=True))
        if part.tally is not None:
            self._tally = part.tally if self._tally is None else self._tally + part.tally
        self.leave_out(part.left_out)
        if time.monotonic() > self._next_save:
            self.save()
        return sum(group.n for group in part.groups)

    def leave_out(self, refused: Iterable[LeftOut]) -> None:
        """Enter what was not counted."""
        self._left_out += [each for each in refused if each not in self._left_out]

    @property
    def left_out(self) -> list[LeftOut]:
        """What was not counted, by name."""
        return sorted(self._left_out, key=lambda each: (each.file, -1 if each.group is None else each.group))

    def close(self) -> Aggregate | None:
        """The tally with its manifest; None if nothing was counted."""
        groups = tuple(self._groups[key] for key in sorted(self._groups))
        counted = {group.file for group in groups}
        files = tuple(self._files[name] for name in sorted(counted))
        tally, manifest = self._tally, Manifest(files, groups, tuple(self.left_out))
        return None if tally is None else Aggregate(tally.fingerprint, tally.n, tally.counts, manifest)

    def save(self) -> None:
        """Write the manifest, if it has a file: tally and list together, whole or not at all."""
        if self._path is None:
            return
        start = time.monotonic()
        groups: dict[str, list[list[object]]] = defaultdict(list)
        for (name, index), group in sorted(self._groups.items()):
            groups[name].append([index, group.n, group.checksum])
        files = [self._files[name] for name in sorted(groups)]
        record = {
            "format": FORMAT,
            "fingerprint": self._fingerprint,
            "tally": None if self._tally is None else json.loads(self._tally.to_json()),
            "files": [
                {"file": each.name, "bytes": each.size, "tail": each.tail, "rows": each.groups, "groups": groups[each.name]}
                for each in files
            ],
            "left_out": [vars(each) for each in self.left_out],
        }
        with written_whole(self._path, overwrite=True) as temporary:
            temporary.write_text(json.dumps(record, indent=1), encoding="utf-8")
        stop = time.monotonic()
        self._next_save = stop + max(SAVE_EACH, SAVE_SHARE * (stop - start))

    def _load(self, path: Path) -> None:
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            if record["format"] != FORMAT:
                raise ValueError
            fingerprint = record["fingerprint"]
            tally = None if record["tally"] is None else Tally.from_json(json.dumps(record["tally"]))
            for each in record["files"]:
                rows = None if each["rows"] is None else tuple(each["rows"])
                self._files[each["file"]] = File(each["file"], each["bytes"], each["tail"], rows)
                for index, n, checksum in each["groups"]:
                    self._groups[each["file"], index] = Group(each["file"], index, n, checksum)
            if sum(group.n for group in self._groups.values()) != (tally.n if tally else 0):
                raise ValueError
        except (OSError, ValueError, TypeError, KeyError, RecursionError, InvalidReport) as error:
            raise InvalidParameter(
                f"The file {path} is not a manifest that can be resumed. Name another file, or remove it to start over."
            ) from error
        if fingerprint != self._fingerprint or (tally is not None and tally.fingerprint != fingerprint):
            raise SurveyMismatch(
                f"The manifest {path} counts reports of mechanism {str(fingerprint)[:8]}, not of {self._fingerprint[:8]}."
            )
        self._tally = tally
