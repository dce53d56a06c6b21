"""The distribution of a number on the command line: quantiles, and a histogram with intervals."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from deniable.cli.targets import draw, write_table
from deniable.core import Mechanism
from deniable.mechanisms.distributions.distribution import Distribution

QUARTILES = (0.25, 0.5, 0.75)
BINS = 12


@dataclass(frozen=True)
class Spread:
    """What is shown of a distribution."""

    distribution: Distribution
    quantiles: Sequence[float]
    bins: int | None
    confidence: float
    mechanism: Mechanism

    def rows(self) -> list[dict[str, str | float]]:
        """The quantiles, then the bins, each with its interval."""
        rows: list[dict[str, str | float]] = []
        for share in self.quantiles:
            value = self.distribution.quantile(share)
            low, high = value.interval(self.confidence)
            rows.append({"what": f"quantile {share:g}", "estimate": float(value), "low": low, "high": high})
        shown = self.distribution.histogram(min(self.bins or BINS, self.distribution.grid.size))
        lows, highs = shown.interval(self.confidence)
        for label, value, low, high in zip(shown.labels, shown.values, lows, highs, strict=True):
            rows.append({"what": str(label), "estimate": float(value), "low": float(low), "high": float(high)})
        return rows

    def record(self) -> dict[str, object]:
        """All of it as plain data."""
        rows, many = self.rows(), len(self.quantiles)
        return {
            "people": self.distribution.n,
            "epsilon": self.mechanism.epsilon,
            "fingerprint": self.mechanism.fingerprint,
            "confidence": self.confidence,
            "quantiles": rows[:many],
            "histogram": rows[many:],
        }

    def publish(self, csv_file: Path | None, picture: Path | None, as_json: bool, written: Sequence[str]) -> None:
        """Write the files, then print the tables, or everything as JSON."""
        if picture is not None:
            draw(self.distribution.plot(confidence=self.confidence), picture)
        rows = self.rows()
        if csv_file is not None:
            write_table(csv_file, rows)
            if str(csv_file) == "-":  # for a pipe: the table and nothing else
                return
        if as_json:
            click.echo(json.dumps(self.record()))
            return
        from deniable.cli import panel  # loads rich, which --help does not need

        console, many = panel.console(), len(self.quantiles)
        if csv_file is None:
            level = f"{100 * self.confidence:g} % interval"
            table = panel.table(["quantile"], ["number", level])
            for share, row in zip(self.quantiles, rows, strict=False):
                table.add_row(f"{share:g}", f"{row['estimate']:.4g}", f"{row['low']:.4g} to {row['high']:.4g}")
            console.print(table)
            table = panel.table([f"% of {self.distribution.n:,} people"], ["estimate", level])
            for row in rows[many:]:
                estimate, low, high = (100 * float(row[name]) for name in ("estimate", "low", "high"))
                table.add_row(str(row["what"]), f"{estimate:.2f}", f"{low:.2f} to {high:.2f}")
            console.print(table)
        notes = [
            "The estimates follow a smooth curve, with spikes where the reports clearly show them. The intervals "
            "assume no shape: each "
            f"holds with {100 * self.confidence:g} % confidence for these people, and includes the privacy noise of epsilon "
            f"{self.mechanism.epsilon:g} for one answer.",
            *written,
            *([f"Wrote the picture to {picture}; the band holds everywhere at once."] if picture is not None else []),
        ]
        for line in notes:
            console.print(line, markup=False, soft_wrap=line.startswith("Wrote "))
