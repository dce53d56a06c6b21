"""Permanent answers, kept on the device of one person: what makes many reports on one value cost no more than one.

The file is part of the promise: without it the next report starts from a fresh permanent answer, and costs as much again.
It holds which values a person has had, so it belongs on their device and nowhere else.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deniable.arrays import Bytes, Ints
from deniable.core import Coins, Permanent, PrivacyLoss, Reports, StreamCoins, checked_coins, public_draws
from deniable.device.kept import KeptFile
from deniable.errors import InvalidCoins, InvalidParameter, SurveyMismatch

_FORMAT = "deniable memory 1"


class KeptDraws(StreamCoins):
    """The coins given, but for public draws that people made long ago: an array of each, with one number for a person."""

    def __init__(self, coins: Coins, public: Sequence[Ints]) -> None:
        if not isinstance(coins, StreamCoins):
            raise InvalidCoins("A memory needs coins that are a stream of bytes, as SecureCoins are. Leave them out.")
        self._coins, self._public, self._next = coins, list(public), 0
        self._used = [0] * len(self._public)

    def draw(self, size: int) -> Bytes:
        return self._coins.draw(size)

    def public(self, n: int, size: int) -> Ints:
        if not self._public:
            return super().public(n, size)
        which, self._next = self._next, (self._next + 1) % len(self._public)  # batch after batch, in the order of the law
        start = self._used[which]
        self._used[which] += size
        return self._public[which][start : start + size]


def remembered(mechanism: Permanent, data: dict[str, Any], value: object, coins: Coins) -> Reports:
    """A report on this value from the kept answers in `data`, to which one is added first if there is none for it yet."""
    base = mechanism.base
    if data.setdefault("mechanism", mechanism.fingerprint) != mechanism.fingerprint:
        raise SurveyMismatch("This memory belongs to another question. Use a separate file for each question.")
    answers = data.setdefault("answers", {})
    if base.keeps_public and "hash" not in data:
        data["hash"] = public_draws(base, coins)
    public = [np.array([each]) for each in data.get("hash", [])]
    key = str(int(base.kept_for([value], public)[0]))
    if key not in answers:
        drawn = base.perturb([value], KeptDraws(coins, public))
        answers[key] = base.layout.rows(drawn.columns)[0].tobytes().hex()
    row = np.frombuffer(bytes.fromhex(answers[key]), np.uint8)[None, :]
    return mechanism.report(Reports(base.fingerprint, base.layout, base.layout.columns(row)), coins)


class Memory:
    """The permanent answers of one person to one question that is asked repeatedly.

    `report` gives what is to be sent for today's value. Without a path it lasts as long as the program.

    >>> from deniable.domains import Categories
    >>> from deniable.wrappers.memoized import Memoized
    >>> memory = Memory(Memoized.direct(Categories(["well", "ill"]), epsilon=2.0, once=1.0))
    >>> first, second = memory.report("well"), memory.report("well")
    >>> memory.distinct, round(memory.loss().epsilon(), 3)
    (1, 2.0)
    """

    def __init__(self, mechanism: Permanent, path: str | os.PathLike[str] | None = None) -> None:
        if not isinstance(mechanism, Permanent):
            raise InvalidParameter(
                "Permanent answers are for Memoized, PermanentMean and PermanentSet. Other mechanisms draw fresh noise each "
                "time."
            )
        self.mechanism, self._file = mechanism, KeptFile(path, _FORMAT, "memory")

    def report(self, value: object, coins: Coins | None = None) -> Reports:
        """A report on this value: from the answer kept for it, which is drawn and stored first if there is none yet."""
        coins = checked_coins(coins)
        with self._file.changing() as data:
            return remembered(self.mechanism, data, value, coins)

    @property
    def distinct(self) -> int:
        """How many permanent answers there are: of values, or with hashing of buckets."""
        return len(self._file.read().get("answers", {}))

    def loss(self) -> PrivacyLoss:
        """The exact loss of all reports ever made from this memory, about which values there were.

        When they changed is not hidden; `Memoized.stream_loss` bounds what that adds.
        """
        kept = self.distinct
        if not kept:
            return PrivacyLoss(self.mechanism.odds / self.mechanism.odds, "proved", over="no report yet")
        own = self.mechanism.lifetime_loss(1)
        odds = None if own.odds is None else own.odds**kept
        return replace(own, odds=odds, over=f"all reports ever, {kept} kept answer{'s' * (kept > 1)}")
