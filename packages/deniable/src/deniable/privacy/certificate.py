"""What a certificate says, and how it reads."""

from dataclasses import dataclass

from deniable.core.domain import formatted_size
from deniable.core.loss import PrivacyLoss, Proof, told_odds, written_odds
from deniable.core.mechanism import Mechanism
from deniable.privacy.ratio import Worst

LONGEST = 160  # letters of a worst report that are shown whole


@dataclass(frozen=True)
class Certificate:
    """What was promised, what the code does, and where it is worst."""

    mechanism: Mechanism
    loss: PrivacyLoss
    worst_pair: tuple[object, object]
    worst_report: str
    followed: int
    values: int
    open_told: float | None = None  # how often open answers are told, where some are open
    spared: int | None = None  # outcomes that an enumeration would have followed, where a quicker way was taken for that

    @property
    def declared(self) -> PrivacyLoss:
        """What the mechanism says of itself."""
        return self.mechanism.loss()

    @property
    def holds(self) -> bool:
        """Whether the code keeps both the mechanism's own word and the budget that was asked for."""
        if self.loss.odds is None or self.declared.odds is None:
            return False
        return self.loss.odds <= self.declared.odds and self.loss.epsilon() <= self.mechanism.epsilon

    @property
    def slack(self) -> float:
        """How much of the budget is left unused; negative if it is overspent."""
        return self.mechanism.epsilon - self.loss.epsilon()

    def __str__(self) -> str:
        first, second = self.worst_pair
        verdict = "holds" if self.holds else "DOES NOT HOLD"
        open_answers = [] if self.open_told is None else [f"open answers  told with probability {self.open_told:.6g}"]
        return "\n".join(
            [
                f"certificate   {verdict}",
                f"mechanism     {self.mechanism.wire} {self.mechanism.fingerprint}",
                f"budget        epsilon {self.mechanism.epsilon:.12g}, {self.loss.unit}, {self.loss.protects}",
                f"exact loss    epsilon {self.loss.epsilon():.12g} (odds {self._odds()})",
                f"slack         {self.slack:.3g}",
                *open_answers,
                f"worst case    report {self.short_report}: {told_answer(first)} against {told_answer(second)}",
                f"proof         {self.loss.proof}: {self._proof()}",
            ]
        )

    def _proof(self) -> str:
        if self.loss.proof == "theorem":
            return f"a published one, from {self.followed:,} outcomes that were followed exactly"
        spared = "" if self.spared is None else f"; enumerating all would follow {self.spared:,}"
        values = formatted_size(self.mechanism.domain.size)
        return f"{self.followed:,} outcomes followed, {self.values:,} of {values} values{spared}"

    @property
    def short_report(self) -> str:
        """The worst report, or how it begins if it is long."""
        report = self.worst_report
        return report if len(report) <= LONGEST else f"{report[:16]}... ({len(report) // 2:,} bytes)"

    def _odds(self) -> str:
        odds = self.loss.odds
        if odds is None:
            return "unbounded: the report rules one of them out"
        written = written_odds(odds)
        exact = f" = {written}" if written is not None and len(written) <= 40 else ""
        return told_odds(odds, 9) + exact


def told_answer(answer: object) -> str:
    """An answer for people to read; of a long vector only how it begins.

    >>> told_answer("yes"), told_answer((0.5,) * 768)
    ("'yes'", '(0.5, 0.5, 0.5, ... 768 numbers)')
    """
    if isinstance(answer, tuple) and len(answer) > 8:
        return f"({', '.join(map(repr, answer[:3]))}, ... {len(answer):,} numbers)"
    return repr(answer)


def certificate(
    mechanism: Mechanism, worst: Worst, proof: Proof, followed: int, values: int, disclosed: float | None = None
) -> Certificate:
    """The certificate for what was found."""
    pair = mechanism.domain.answer(worst.pair[0]), mechanism.domain.answer(worst.pair[1])
    loss = PrivacyLoss(worst.odds, proof, mechanism.loss().protects)
    return Certificate(mechanism, loss, pair, worst.report, followed, values, disclosed)
