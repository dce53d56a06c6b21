"""Permanent answers: a report on an answer is drawn once and kept, and all reports that are sent are made from it alone."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from deniable.arrays import Floats
from deniable.core.bits import PackedBits
from deniable.core.coins import Coins, checked_coins
from deniable.core.domain import Answer, Answers, AnyDomain, Truth
from deniable.core.estimate import Estimate
from deniable.core.layout import Drawn
from deniable.core.loss import PrivacyLoss
from deniable.core.mechanism import Mechanism
from deniable.core.odds import check_probability, checked_epsilon, odds_below
from deniable.core.reports import Reports
from deniable.core.running import run_rest
from deniable.errors import InvalidLaw, InvalidParameter, SurveyMismatch


class Permanent(Mechanism[Answer, Truth]):
    """A mechanism of two rounds: what `base` reports is kept for ever, and every report sent is that, randomized again.

    `loss` is for one report alone, `lifetime_loss` for all reports ever: they are made from the kept one, so they cannot
    disclose more than it does. `epsilon` is the budget of the latter.
    """

    base: Any  # the first round, a mechanism whose report is kept

    @property
    @abstractmethod
    def twice(self) -> bool:
        """Whether there is a second round."""

    @abstractmethod
    def again(self, kept: Drawn, coins: Coins) -> Drawn:
        """One report for each kept answer, as columns: the second round alone, which is written down as part of the law."""

    @abstractmethod
    def second_odds(self) -> Fraction:
        """The odds of one report between any two kept answers."""

    @abstractmethod
    def kept_variance(self, estimate: Estimate) -> Floats:
        """The part of the variance that is the noise of the permanent answers, which later collections share."""

    def randomize(self, truth: Truth, coins: Coins) -> Drawn:  # type: ignore[misc]
        return self.again(self.base.randomize(truth, coins), coins)

    def device_law(self) -> dict[str, object]:
        """With the part of the law that is the permanent answer, which a device makes once and keeps."""
        base = self.base.law
        kept: dict[str, object] = {"nodes": len(base.nodes), "report": [list(field) for field in base.report]}
        if self.base.keeps_public:
            kept["under"] = self.base.kept_node()
        return {**super().device_law(), "kept": kept}

    def keep(self, values: Answers, coins: Coins | None = None) -> Reports:
        """The permanent answers of people whose values never change, one each: never sent, only kept on the device."""
        kept: Reports = self.base.perturb(values, coins)
        return kept

    def report(self, kept: Reports, coins: Coins | None = None) -> Reports:
        """One report for each permanent answer, with fresh coins: this is what is sent, each time."""
        if kept.fingerprint != self.base.fingerprint:
            raise SurveyMismatch("These permanent answers were made by another mechanism. Use the one that made them.")
        coins, base, law, layout = checked_coins(coins), self.base.law, self.law, self.report_layout
        if law.nodes[: len(base.nodes)] != base.nodes:
            raise InvalidLaw("The law does not begin with that of its first round, so nothing can be kept.")
        given = {
            place: PackedBits(kept.columns[name], law.types[place].width or 0)
            if law.types[place].row
            else kept.columns[name].astype(np.int64)
            for name, place in base.report
        }
        out = {field.name: field.empty(len(kept)) for field in layout.fields}
        for name, column in run_rest(law, len(base.nodes), given, coins, len(kept)).items():
            out[name][:] = column
        return Reports(self.fingerprint, layout, out)

    def lifetime_loss(self, values: int = 1) -> PrivacyLoss:
        """What all reports ever give away, of a person who has had so many different values, about which those were.

        Each new value, or with hashing each new bucket, is kept anew and costs the base's odds once more. When it changed
        is not hidden: see `stream_loss`.
        """
        if values < 1:
            raise InvalidParameter("Each person needs at least one value.")
        times, own = min(values, self.base.most_kept), self.base.loss()
        odds = None if own.odds is None else own.odds**times
        over = "all reports ever" + (f", {values} values that change at known times" if values > 1 else "")
        return PrivacyLoss(odds, own.proof, own.protects, over=over)

    def stream_loss(self, reports: int) -> PrivacyLoss:
        """A bound for this many reports on any two histories, also such as change at different times, or one not at all.

        Kept answers that differ show that a value changed, and the more reports there are, the better. Without a second
        round two unlike reports prove it, so that nothing is promised; with one, each report adds the odds of that round.
        """
        if reports < 1:
            raise InvalidParameter("A stream needs at least one report.")
        over = f"{reports} reports, values that may change at any time"
        if not self.twice:
            return PrivacyLoss(None, "theorem", "any two histories", over=over)
        return PrivacyLoss(self.second_odds() ** reports, "theorem", "any two histories", over=over)


class PermanentBits(Permanent[Answer, Truth]):
    """A permanent pair of bits: a public draw, kept for ever, turns an answer into yes or no, each with a noisy bit.

    The bit is right with probability odds / (odds + 1), drawn once; every report repeats it with probability `stay` and
    flips it otherwise. Whatever an answer does, reports are made of two kept bits, so that a person never pays more than
    twice.
    """

    stay: Fraction
    bit: ClassVar[str]  # the field of a report that has it
    keeps_public = True
    most_kept = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        check_probability(self.stay)
        if not Fraction(1, 2) < self.stay <= 1:
            raise InvalidParameter("stay, the probability that a kept bit is sent as it is, is above 1/2 and at most 1.")

    @classmethod
    def twice_randomized(cls, domain: AnyDomain, epsilon: float, once: float) -> Self:
        """With `epsilon` for all reports ever that are made from one bit, and `once` for each report alone."""
        return cls(domain, epsilon, second_stay(epsilon, once))  # type: ignore[call-arg]

    @property
    def twice(self) -> bool:
        return self.stay != 1

    @cached_property
    def base(self) -> Self:
        return self if not self.twice else replace(self, stay=Fraction(1))  # type: ignore[type-var]

    @property
    def first(self) -> Fraction:
        """The probability that a kept bit is right."""
        return self.odds / (self.odds + 1)

    @property
    def honest(self) -> Fraction:
        """The probability that the bit of a report is right."""
        return self.first * self.stay + (1 - self.first) * (1 - self.stay)

    def again(self, kept: Drawn, coins: Coins) -> Drawn:
        bits = kept[self.bit]
        return kept if not self.twice else {**kept, self.bit: bits == coins.toss(self.stay, len(bits))}

    def second_odds(self) -> Fraction:
        return self.stay / (1 - self.stay)


def public_draws(base: Mechanism, coins: Coins) -> Sequence[int]:
    """The public draws of a law, made once for a person who keeps them."""
    return [int(coins.public(node.params[0], 1)[0]) for node in base.law.nodes if node.op == "public"]


def second_stay(epsilon: float, once: float) -> Fraction:
    """How often a kept bit is sent as it is, if it costs `epsilon` and each report alone is to cost `once`."""
    first, whole = odds_below(epsilon), odds_between(once, epsilon)
    kept = first / (first + 1)
    return (whole / (whole + 1) - (1 - kept)) / (2 * kept - 1)


def odds_between(once: float, epsilon: float) -> Fraction:
    """The odds of one report, whose epsilon must be below that of all reports ever."""
    if not checked_epsilon(once) < checked_epsilon(epsilon):
        raise InvalidParameter(
            "The epsilon of one report must be below that of all reports ever. If both are equal, omit the second round: "
            "Memoized(base)."
        )
    return odds_below(once)
