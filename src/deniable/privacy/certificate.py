"""What a certificate says, and how it reads."""

from dataclasses import dataclass

from deniable.core.loss import PrivacyLoss, Proof
from deniable.core.mechanism import Mechanism
from deniable.privacy.ratio import Worst
from deniable.wrappers.utility import OpenAnswers


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
                f"worst case    report {self.worst_report}: {first!r} against {second!r}",
                f"proof         {self.loss.proof}: {self.followed:,} outcomes followed, "
                f"{self.values:,} of {self.mechanism.domain.size:,} values",
            ]
        )

    def _odds(self) -> str:
        odds = self.loss.odds
        if odds is None:
            return "unbounded: the report rules one of them out"
        exact = f" = {odds}" if len(str(odds)) <= 40 else ""
        return f"{float(odds):.9g}{exact}"


def certificate(mechanism: Mechanism, worst: Worst, proof: Proof, followed: int, values: int) -> Certificate:
    """The certificate for what was found."""
    pair = mechanism.domain.answer(worst.pair[0]), mechanism.domain.answer(worst.pair[1])
    loss = PrivacyLoss(worst.odds, proof, mechanism.loss().protects)
    told = mechanism.told_share if isinstance(mechanism, OpenAnswers) else None
    return Certificate(mechanism, loss, pair, worst.report, followed, values, told)
