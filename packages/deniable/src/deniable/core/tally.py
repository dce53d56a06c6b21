"""All that a collector keeps: how many reports arrived and how often each cell was voted for."""

import json
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Ints
from deniable.core.showing import MOST_LINES, html_table
from deniable.errors import InvalidReport, SurveyMismatch


@dataclass(frozen=True, eq=False)
class Tally:
    """Integer counts that add exactly, in any order and grouping. It says nothing about any one person's report."""

    fingerprint: str
    n: int
    counts: Ints

    def __add__(self, other: "Tally") -> "Tally":
        if not isinstance(other, Tally):
            return NotImplemented
        if self.fingerprint != other.fingerprint:
            raise SurveyMismatch(
                f"Tallies of mechanisms {self.fingerprint[:8]} and {other.fingerprint[:8]} cannot be added: their "
                "questions or privacy parameters differ. Estimate each and compare."
            )
        return Tally(self.fingerprint, self.n + other.n, self.counts + other.counts)

    def __radd__(self, other: object) -> "Tally":
        return self if other == 0 else NotImplemented  # so that sum(tallies) works

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        same = (self.fingerprint, self.n) == (other.fingerprint, other.n)
        return same and np.array_equal(self.counts, other.counts)

    def _repr_html_(self) -> str:
        """How many reports there are, and the first counts: what notebooks show."""
        lines = [[f"{cell:,}", f"{count:,}"] for cell, count in enumerate(self.counts[:MOST_LINES].tolist())]
        others = len(self.counts) - len(lines)
        note = f"{others:,} further cells are not shown. " if others > 0 else ""
        caption = f"Tally of {self.n:,} reports, mechanism {self.fingerprint[:8]}"
        return html_table(caption, ["cell", "votes"], lines, 0, note + "Votes are noisy: estimate(tally) corrects them.")

    def to_json(self) -> str:
        """The tally as JSON text."""
        return json.dumps({"fingerprint": self.fingerprint, "n": self.n, "counts": self.counts.tolist()})

    @classmethod
    def from_json(cls, text: str) -> "Tally":
        """The tally that `to_json` wrote."""
        try:
            data = json.loads(text)
            fingerprint, n, counts = data["fingerprint"], data["n"], data["counts"]
            whole = all(type(count) is int and 0 <= count < 1 << 62 for count in (n, *counts))
        except (ValueError, TypeError, KeyError, RecursionError):
            whole = False
        if not whole or not isinstance(fingerprint, str):
            raise InvalidReport(
                'A tally is a JSON object with "fingerprint", "n" and whole numbers in "counts". Export it again.'
            )
        return cls(fingerprint, n, np.array(counts, np.int64))
