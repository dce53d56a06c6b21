"""How often each profile of a report was seen: counted in memory, never stored, and about no single person."""

from collections import OrderedDict
from collections.abc import Mapping

from deniable.arrays import Ints

WINDOWS = 16  # of which profiles are remembered


class Profiles:
    """How often each profile was seen, by period and question, in the last windows."""

    def __init__(self) -> None:
        self._seen: OrderedDict[tuple[int, str], Ints] = OrderedDict()

    def add(self, more: Mapping[tuple[int, str], Ints]) -> None:
        """Count these, which were committed."""
        for key, counts in more.items():
            self._seen[key] = self._seen[key] + counts if key in self._seen else counts
        periods = sorted({period for period, _ in self._seen})
        for key in [key for key in self._seen if key[0] in periods[:-WINDOWS]]:
            del self._seen[key]

    def of(self, period: int, question: str) -> Ints | None:
        """How often each profile was seen; None if nothing was."""
        return self._seen.get((period, question))
