"""Results of single runs, kept beside the page that is made from them, so that a long experiment can be taken up again."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Job = tuple[str, Callable[..., Any], Sequence[Any]]  # the name of a run, and what makes it


@dataclass(frozen=True)
class Runs:
    """What single runs found, by name, in a file."""

    file: Path

    def known(self) -> dict[str, Any]:
        """What was measured so far."""
        found: dict[str, Any] = json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else {}
        return found

    def keep(self, name: str, found: object) -> None:
        """Add a run to the file, in which one line is one run."""
        known = self.known() | {name: found}
        lines = [f"{json.dumps(key)}: {json.dumps(known[key])}" for key in sorted(known)]
        self.file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")

    def make(self, jobs: Sequence[Job], workers: int = 1) -> None:
        """Make all runs that are not known yet, and keep each as soon as it is done."""
        known = self.known()
        open_ = [job for job in jobs if job[0] not in known]
        if workers == 1:
            for name, make, arguments in open_:
                self.keep(name, make(*arguments))
            return
        with ProcessPoolExecutor(workers) as pool:
            started = {pool.submit(make, *arguments): name for name, make, arguments in open_}
            for each in as_completed(started):
                self.keep(started[each], each.result())
