"""What workers do in the tests of engines: count for many mechanisms at once, or die by the kernel's own kill."""

import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

import deniable as dn
from deniable.aggregate import pieces, work
from deniable.core.layout import Columns

Pair = tuple[dn.Mechanism, pieces.Job]
Partials = dict[str, work.Partial]

SPARED = 4  # batches counted before the first death


@dataclass(frozen=True)
class Fatal(dn.DirectResponse):
    """Direct response, the same on the wire. Counting it kills a worker, this many times in all workers together."""

    folder: str = field(default="", compare=False)
    deaths: int = field(default=1, compare=False)
    driver: int = field(default=0, compare=False)  # never this process

    def votes(self, columns: Columns) -> NDArray[np.int64]:
        folder = Path(self.folder)
        (folder / f"batch-{uuid4().hex}").touch()
        if os.getpid() != self.driver and len(list(folder.glob("batch-*"))) > SPARED:
            for death in range(self.deaths):
                try:
                    (folder / f"death-{death}").touch(exist_ok=False)
                except FileExistsError:
                    continue
                os.kill(os.getpid(), signal.SIGKILL)
        return super().votes(columns)

    @property
    def died(self) -> int:
        return len(list(Path(self.folder).glob("death-*")))

    @property
    def counted(self) -> int:
        return len(list(Path(self.folder).glob("batch-*")))


def fatal(folder: Path, deaths: int = 1) -> Fatal:
    folder.mkdir()
    return Fatal(dn.Categories(range(5)), 1.0, folder=str(folder), deaths=deaths, driver=os.getpid())


def count_of(_: None, pair: Pair) -> Partials:
    """A job of any family, so that one run can count them all."""
    return {pair[0].wire: work.count(*pair)}


def both(first: Partials, second: Partials) -> Partials:
    return {wire: first.get(wire, work.NOTHING) + second.get(wire, work.NOTHING) for wire in first | second}
