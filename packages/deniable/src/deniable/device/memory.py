"""Permanent answers, kept on the device of one person: what makes many reports on one value cost no more than one.

The file is part of the promise: without it the next report starts from a fresh permanent answer, and costs as much again.
It holds which values a person has had, so it belongs on their device and nowhere else.
"""

import os
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deniable.core import Coins, PrivacyLoss, Reports, checked_coins
from deniable.device.kept import KeptFile
from deniable.errors import InvalidParameter, SurveyMismatch
from deniable.mechanisms.shares.local_hashing import LocalHashing
from deniable.wrappers.memoized import Memoized, moved

_FORMAT = "deniable memory 1"


class Memory:
    """The permanent answers of one person to one question that is asked again and again.

    `report` gives what is to be sent for today's value. Without a path it lasts as long as the program.

    >>> from deniable.domains import Categories
    >>> memory = Memory(Memoized.direct(Categories(["well", "ill"]), epsilon=2.0, once=1.0))
    >>> first, second = memory.report("well"), memory.report("well")
    >>> memory.distinct, round(memory.loss().epsilon(), 3)
    (1, 2.0)
    """

    def __init__(self, mechanism: Memoized, path: str | os.PathLike[str] | None = None) -> None:
        if not isinstance(mechanism, Memoized):
            raise InvalidParameter(
                "Permanent answers are for Memoized mechanisms. Other mechanisms draw fresh noise each time."
            )
        self.mechanism, self._file = mechanism, KeptFile(path, _FORMAT, "memory")

    def report(self, value: object, coins: Coins | None = None) -> Reports:
        """A report on this value: from the answer kept for it, which is drawn and stored first if there is none yet."""
        coins = checked_coins(coins)
        mechanism, base = self.mechanism, self.mechanism.base
        truth = base.domain.place([value], coins)
        with self._file.changing() as data:
            if data.setdefault("mechanism", mechanism.fingerprint) != mechanism.fingerprint:
                raise SurveyMismatch("This memory belongs to another question. Use a separate file for each question.")
            answers = data.setdefault("answers", {})
            if isinstance(base, LocalHashing):
                a, b = data.setdefault("hash", [int(coins.public(base.prime - i, 1)[0]) for i in (1, 0)])
                own = base._bucket(np.array([a]), np.array([b]), truth)
                key = str(int(own[0]))
                if key not in answers:
                    drawn = {"a": np.array([a]), "b": np.array([b]), "bucket": moved(own, base.p, base.buckets, coins)}
                    answers[key] = self._row(drawn).hex()
            else:
                key = str(int(truth[0]))
                if key not in answers:
                    answers[key] = self._row(dict(base.randomize(truth, coins))).hex()
            row = np.frombuffer(bytes.fromhex(answers[key]), np.uint8)[None, :]
        kept = Reports(base.fingerprint, base.layout, base.layout.columns(row))
        return mechanism.report(kept, coins)

    def _row(self, columns: dict[str, NDArray[np.generic]]) -> bytes:
        layout = self.mechanism.base.layout
        whole = {field.name: columns[field.name].astype(field.empty(1).dtype) for field in layout.fields}
        return layout.rows(whole)[0].tobytes()

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
