"""False reports on the command line: what looks like some, and what holds if there are some."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.arrays import Floats
from deniable.core import Mechanism, PureProtocol, Tally
from deniable.errors import InvalidParameter
from deniable.postprocess import recover
from deniable.privacy.liars import Suspicion, interval_with_liars, suspicions_of_tally

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, eq=False)
class FalseReports:
    """Suspicious patterns, and with a share of false reports the intervals that hold in spite of them."""

    suspicions: Sequence[Suspicion]
    fakes: float | None
    labels: Sequence[str] = ()
    low: Floats | None = None
    high: Floats | None = None
    recovered: Floats | None = None
    assumption: str = ""

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        tally: Tally,
        fakes: float | None,
        target: str | None,
        confidence: float,
        order: Sequence[int],
    ) -> "FalseReports":
        """What the options ask for; only mechanisms whose reports support answers can be tested for patterns."""
        pure = isinstance(mechanism, PureProtocol)
        found = suspicions_of_tally(mechanism, tally) if isinstance(mechanism, PureProtocol) else []
        if target is not None and (fakes is None or not pure):
            raise InvalidParameter("--target needs --fakes, and a mechanism whose reports support answers.")
        if fakes is None:
            return cls(found, None)
        low, high = interval_with_liars(mechanism, tally, int(fakes * tally.n), confidence)
        labels = [str(mechanism.domain.labels[place]) for place in order]
        if not isinstance(mechanism, PureProtocol):
            return cls(found, fakes, labels, low[order], high[order])
        back = recover(mechanism, tally, fakes, target)
        return cls(found, fakes, labels, low[order], high[order], back.values[order], back.assumption)

    def rows(self) -> list[dict[str, object]]:
        """One for each answer."""
        if self.low is None or self.high is None:
            return []
        return [
            {"value": label, "low": float(self.low[place]), "high": float(self.high[place])}
            | ({} if self.recovered is None else {"recovered": float(self.recovered[place])})
            for place, label in enumerate(self.labels)
        ]

    def record(self) -> dict[str, object]:
        """All of it as plain data."""
        found: dict[str, object] = {}
        if self.suspicions:
            found["suspicions"] = [vars(each) for each in self.suspicions]
        if self.fakes is not None:
            found["false_reports"] = {"share": self.fakes, "recovered_if": self.assumption, "shares": self.rows()}
        return found

    def tables(self) -> list["Table"]:
        """The rows in percent, if somebody asked for them."""
        if self.fakes is None:
            return []
        from deniable.cli import panel

        table = panel.table([f"up to {100 * self.fakes:g} % false"], ["interval", "recovered"])
        for row in self.rows():
            recovered = f"{100 * float(str(row['recovered'])):.2f}" if "recovered" in row else "-"
            ends = f"{100 * float(str(row['low'])):.2f} to {100 * float(str(row['high'])):.2f}"
            table.add_row(str(row["value"]), ends, recovered)
        return [table]

    def notes(self) -> list[str]:
        """Warnings, and what the numbers mean."""
        lines = [f"warning: suspicious reports: {each}" for each in self.suspicions]
        if self.fakes is not None:
            lines.append("The intervals hold whatever the false reports contain.")
        if self.assumption:
            lines.append(f"Recovered: an estimate that assumes that {self.assumption}. It may be worse than the raw one.")
        return lines
