"""Whether a collector can take a report now: everything is loaded, and the store can be written."""

import asyncio
import time
from collections.abc import Callable

from deniable.collector.store import Store
from deniable.collector.verdicts import AWAY, STARTING, Refusal
from deniable.collector.writer import Writer
from deniable.errors import Unavailable

FRESH = 2.0  # seconds for which a commit, or a look, is believed
PATIENCE = 5.0  # seconds until a store that does not answer counts as away


class Readiness:
    """Looks at most once at a time, and not again within a moment: anybody may ask, as often as they like."""

    def __init__(self, store: Store, writer: Writer, warm: Callable[[], bool]) -> None:
        self._store, self._writer, self._warm = store, writer, warm
        self._looking: asyncio.Task[Refusal | None] | None = None
        self._looked = -FRESH
        self._found: Refusal | None = None

    async def refusal(self) -> Refusal | None:
        """Why the collector is not ready; None if it is."""
        if not self._warm():
            return STARTING
        now = time.monotonic()
        if self._writer.healthy and now - self._writer.committed < FRESH:
            return None
        if now - self._looked < FRESH:
            return self._found
        if self._looking is None or self._looking.done():
            self._looking = asyncio.ensure_future(asyncio.to_thread(self._look))
        try:
            async with asyncio.timeout(PATIENCE):
                return await asyncio.shield(self._looking)
        except TimeoutError:
            return AWAY.saying("The database does not answer. Try again in 2 s.")

    def _look(self) -> Refusal | None:
        try:
            with self._store.change() as change:
                change.probe()
            found = None
        except Unavailable:
            found = AWAY.saying("The database cannot be written. Try again in 2 s.")
        self._looked, self._found = time.monotonic(), found
        return found
