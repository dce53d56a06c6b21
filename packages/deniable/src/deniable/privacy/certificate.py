"""Certificates: the exact loss of a mechanism, and how it is printed."""

import math
from dataclasses import dataclass

from deniable.core import Mechanism, PrivacyLoss, Proof, formatted_odds, formatted_size, written_odds
from deniable.core.frozen import Former
from deniable.core.showing import html_table
from deniable.privacy.ratio import Worst

LONGEST = 160  # letters of a worst report that are shown whole


@dataclass(frozen=True)
class Certificate:
    """The promised loss, the exact loss of the code, and the case where it occurs."""

    mechanism: Mechanism
    loss: PrivacyLoss
    worst_pair: tuple[object, object] | None  # None: the loss is at most this, and no case was found that reaches it
    worst_report: str
    followed: int
    values: int
    disclosed: float | None = None  # how often a non-sensitive answer is disclosed, where some are not sensitive
    rules: tuple[str, ...] = ()  # by which the law was proved

    open_told = Former("disclosed")

    @property
    def declared(self) -> PrivacyLoss:
        """The loss that the mechanism states."""
        return self.mechanism.loss()

    @property
    def holds(self) -> bool:
        """Whether the code stays within both the stated loss and the budget."""
        if self.loss.odds is None or self.declared.odds is None:
            return False
        return self.loss.odds <= self.declared.odds and self.loss.epsilon() <= self.mechanism.epsilon

    @property
    def slack(self) -> float:
        """The unused part of the budget; negative if it is overspent."""
        return self.mechanism.epsilon - self.loss.epsilon()

    def __str__(self) -> str:
        return "\n".join(f"{name:<13} {text}" for name, text in self.lines())

    def lines(self) -> list[tuple[str, str]]:
        """What the certificate says, as pairs of a heading and a text."""
        lines = [
            ("certificate", "holds" if self.holds else "DOES NOT HOLD"),
            ("mechanism", f"{self.mechanism.wire} {self.mechanism.fingerprint}"),
            ("budget", f"epsilon {self.mechanism.epsilon:.12g}, {self.loss.unit}, {self.loss.protects}"),
            (
                "exact loss" if self.worst_pair else "loss at most",
                f"epsilon {self.loss.epsilon():.12g} (odds {self._odds()})",
            ),
            ("slack", f"{self.slack:.3g}"),
        ]
        if self.disclosed is not None:
            lines.append(("non-sensitive", f"disclosed with probability {self.disclosed:.6g}"))
        if self.worst_pair is not None:
            first, second = map(shown_answer, self.worst_pair)
            lines.append(("worst case", f"report {self.short_report}: {first} against {second}"))
        return [*lines, *self.further(), ("proof", f"{self.loss.proof}: {self.proved()}")]

    def further(self) -> list[tuple[str, str]]:
        """What a family's certificate states beside the loss of one answer."""
        return []

    def _repr_html_(self) -> str:
        """The same as a table: what notebooks show."""
        (name, verdict), *lines = self.lines()
        return html_table(f"{name.capitalize()}: {verdict}", ["", ""], lines, 2)

    def record(self) -> dict[str, object]:
        """The certificate as plain data; fractions are text, and an unbounded loss is null."""
        loss, mechanism = self.loss, self.mechanism
        bounded, declared = loss.odds is not None, self.declared.odds
        return {
            "holds": self.holds,
            "mechanism": mechanism.spec(),
            "fingerprint": mechanism.fingerprint,
            "unit": loss.unit,
            "protects": loss.protects,
            "budget": mechanism.epsilon,
            "epsilon": loss.epsilon() if bounded else None,
            "odds": written_odds(loss.odds) if loss.odds is not None else None,
            "declared_odds": written_odds(declared) if declared is not None else None,
            "slack": self.slack if bounded else None,
            "worst_pair": None if self.worst_pair is None else list(self.worst_pair),
            "worst_report": self.worst_report,
            "proof": loss.proof,
            "rules": list(self.rules),
            "law": mechanism.law.fingerprint if mechanism.traced else None,
            "values": mechanism.domain.size if mechanism.domain.size < 1 << 53 else None,
        }

    def proved(self) -> str:
        """How, in words."""
        values = formatted_size(self.mechanism.domain.size)
        if self.loss.proof == "proved":
            rules = f", by {', '.join(self.rules)}" if self.rules else f": {self.followed:,} outcomes enumerated"
            return f"for all {values} answers{self._draws()}{rules}"
        return f"published, applied to what was proved by {', '.join(self.rules)}" if self.rules else "published"

    def _draws(self) -> str:
        """Which draws, in words; how many there are of those that everybody sees, such as hash functions."""
        public = math.prod(node.params[0] for node in self.mechanism.law.nodes if node.op == "public")
        return f", all {formatted_size(public)} public draws and all private ones" if public > 1 else " and all draws"

    @property
    def short_report(self) -> str:
        """The worst report, shortened if it is long."""
        report = self.worst_report
        return report if len(report) <= LONGEST else f"{report[:16]}... ({len(report) // 2:,} bytes)"

    def _odds(self) -> str:
        odds = self.loss.odds
        if odds is None:
            return "unbounded: the report is impossible under one of the two answers"
        written = written_odds(odds)
        exact = f" = {written}" if written is not None and len(written) <= 40 else ""
        return formatted_odds(odds, 9) + exact


def shown_answer(answer: object) -> str:
    """An answer as text; a long vector is shortened.

    >>> shown_answer("yes"), shown_answer((0.5,) * 768)
    ("'yes'", '(0.5, 0.5, 0.5, ... 768 numbers)')
    """
    if isinstance(answer, tuple) and len(answer) > 8:
        return f"({', '.join(map(repr, answer[:3]))}, ... {len(answer):,} numbers)"
    return repr(answer)


def certificate(
    mechanism: Mechanism, worst: Worst, proof: Proof, followed: int, values: int, disclosed: float | None = None
) -> Certificate:
    """The certificate of a mechanism for this worst case."""
    pair = mechanism.domain.answer(worst.pair[0]), mechanism.domain.answer(worst.pair[1])
    loss = PrivacyLoss(worst.odds, proof, mechanism.loss().protects)
    return Certificate(mechanism, loss, pair, worst.report, followed, values, disclosed)
