"""Tallies of combinations: how many people voted for a cell of one question and for a cell of another."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.analysis.decoder import Decoder, same_people
from deniable.arrays import Floats, Ints
from deniable.errors import InvalidParameter, InvalidReport, SurveyMismatch

MOST_COUNTS = 1 << 22
_STEP = 1 << 22  # votes multiplied at a time


@dataclass(frozen=True, eq=False)
class JointTally:
    """Whole counts that add, in any order and grouping: for the same people's reports on two or three questions.

    An axis has the cells of its question and then one for all reports, so the counts of each question alone are here too.
    """

    fingerprints: tuple[str, ...]
    n: int
    counts: Ints

    @classmethod
    def of(cls, decoders: Sequence[Decoder], reports: Sequence[Any], names: Sequence[str] = ()) -> "JointTally":
        """The tally of these people's reports, question by question in the same order of people."""
        shape = tuple(each.cells + 1 for each in decoders)
        if np.prod(shape, dtype=np.float64) > MOST_COUNTS:
            raise InvalidParameter(
                f"A table of these questions needs {np.prod(shape, dtype=np.float64):,.0f} counts; at most {MOST_COUNTS:,} "
                "are kept. Combine rare answers, or take fewer questions."
            )
        named = names or [str(place) for place in range(len(decoders))]
        people = same_people([(name, d.length(r)) for name, d, r in zip(named, decoders, reports, strict=True)])
        total, step = np.zeros(shape), max(1, _STEP // int(np.prod(shape[:-1])))
        for start in range(0, people, step):
            part = slice(start, start + step)
            votes = [_with_one(each.votes(own[part])) for each, own in zip(decoders, reports, strict=True)]
            rows = votes[0]
            for column in votes[1:-1]:
                rows = (rows[:, :, None] * column[:, None, :]).reshape(len(rows), -1)
            total += (rows.T @ votes[-1]).reshape(shape)  # whole numbers below 2^53: exact
        return cls(tuple(each.fingerprint for each in decoders), people, np.rint(total).astype(np.int64))

    def __add__(self, other: "JointTally") -> "JointTally":
        if not isinstance(other, JointTally):
            return NotImplemented
        if self.fingerprints != other.fingerprints:
            raise SurveyMismatch("Tallies of other questions or privacy parameters cannot be added. Tabulate each.")
        return JointTally(self.fingerprints, self.n + other.n, self.counts + other.counts)

    def __radd__(self, other: object) -> "JointTally":
        return self if other == 0 else NotImplemented  # so that sum(tallies) works

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JointTally):
            return NotImplemented
        same = (self.fingerprints, self.n) == (other.fingerprints, other.n)
        return same and np.array_equal(self.counts, other.counts)

    def to_json(self) -> str:
        """The tally as JSON text."""
        return json.dumps({"fingerprints": self.fingerprints, "n": self.n, "counts": self.counts.tolist()})

    @classmethod
    def from_json(cls, text: str) -> "JointTally":
        """The tally that `to_json` wrote."""
        try:
            data = json.loads(text)
            counts, n = np.array(data["counts"]), data["n"]
            fingerprints = tuple(data["fingerprints"])
            good = counts.dtype.kind == "i" and counts.ndim == len(fingerprints) and counts.size > 0 and counts.min() >= 0
            good = good and type(n) is int and counts.max() <= n and all(isinstance(each, str) for each in fingerprints)
        except (ValueError, TypeError, KeyError, RecursionError):
            good = False
        if not good:
            raise InvalidReport(
                'A joint tally is a JSON object with "fingerprints", "n" and rows of whole numbers in "counts". Export it '
                "again."
            )
        return cls(fingerprints, n, counts.astype(np.int64))

    def shares(self, decoders: Sequence[Decoder]) -> Floats:
        """The unbiased share of each combination of answers: the product of what each question needs."""
        if tuple(each.fingerprint for each in decoders) != self.fingerprints:
            raise SurveyMismatch("This tally belongs to other questions or mechanisms. Tabulate it with those that made it.")
        found = self.counts.astype(np.float64)
        if found.shape != tuple(each.cells + 1 for each in decoders):
            raise InvalidReport("A tally of these questions has another shape. Export it again.")
        for axis, each in enumerate(decoders):
            found = np.moveaxis(np.tensordot(each.debias, found, (1, axis)), 0, axis)
        return found / self.n


def _with_one(votes: Floats) -> Floats:
    return np.hstack([votes, np.ones((len(votes), 1))])


def product_covariance(decoders: Sequence[Decoder], shares: Floats) -> Floats:
    """The covariance of one report's estimate of all combinations, for people drawn with these shares.

    Given the answers the reports are independent, so the mean of z z' is the sum of f_xy M(x) (x) M(y), and the mean of z
    is f itself. It is linear in the shares but for the square of f, so unbiased shares give a nearly unbiased covariance.
    """
    sizes, found = [each.size for each in decoders], shares
    for each in decoders:  # contract the first axis that is left, and append its two
        found = np.tensordot(found, each.squares, (0, 0))
    axes = [2 * place for place in range(len(sizes))] + [2 * place + 1 for place in range(len(sizes))]
    square = found.transpose(axes).reshape((int(np.prod(sizes)),) * 2)
    return np.asarray(square - np.outer(shares, shares))
