"""The promise: how much more likely a report may be under one value than under another."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from deniable.core.odds import log_up

Proof = Literal["proved", "theorem"]


@dataclass(frozen=True)
class PrivacyLoss:
    """The exact worst odds, whom they protect, for which unit, and how they were proved.

    No report is more than `odds` times as likely under one protected value as under another; `odds` is None when a report
    can occur under one and not under the other, so that nothing is promised.

    *proved*: for every answer and every draw of the law that runs, as `certify` shows; *theorem*: a published proof and
    nothing more.

    >>> answer = PrivacyLoss(Fraction(3))
    >>> twice = answer + answer
    >>> twice.odds, twice.unit
    (Fraction(9, 1), '2 answers together')
    """

    odds: Fraction | None
    proof: Proof = "proved"
    protects: str = "any two values"
    answers: int = 1
    over: str = ""  # what it is counted for, where that is not a number of answers

    @property
    def unit(self) -> str:
        """What the loss is counted for; a person who answers again pays again."""
        return self.over or ("one answer" if self.answers == 1 else f"{self.answers} answers together")

    def epsilon(self) -> float:
        """The natural logarithm of the odds, rounded up to a float."""
        return float("inf") if self.odds is None else log_up(self.odds)

    def __add__(self, other: "PrivacyLoss") -> "PrivacyLoss":
        """The loss of giving both reports about one person: odds multiply. The weaker kind of proof is kept."""
        odds = None if self.odds is None or other.odds is None else self.odds * other.odds
        proof: Proof = "proved" if self.proof == other.proof == "proved" else "theorem"
        protects = self.protects if self.protects == other.protects else f"{self.protects}; {other.protects}"
        over = f"{self.unit} and {other.unit}" if self.over or other.over else ""
        return PrivacyLoss(odds, proof, protects, self.answers + other.answers, over)

    def __str__(self) -> str:
        if self.odds is None:
            return f"no promise: some report rules out a value ({self.protects}, {self.unit}, {self.proof})"
        about = f"{self.protects}, {self.unit}, {self.proof}"
        return f"odds at most {formatted_odds(self.odds, 6)}, epsilon {self.epsilon():.6g} ({about})"


def formatted_odds(odds: Fraction, digits: int) -> str:
    """Odds to so many digits, as a power of e where no float is large enough.

    >>> formatted_odds(Fraction(3, 2), 6), formatted_odds(Fraction(3) ** 3000, 6)
    ('1.5', 'e^3295.84')
    """
    epsilon = log_up(odds)
    return f"{float(odds):.{digits}g}" if epsilon < 700 else f"e^{epsilon:.6g}"


def written_odds(odds: Fraction, longest: int = 4000) -> str | None:
    """The exact fraction as text; None if it has more digits than anybody reads, or than Python writes."""
    return str(odds) if log_up(odds) < 700 and odds.denominator.bit_length() < 3 * longest else None
