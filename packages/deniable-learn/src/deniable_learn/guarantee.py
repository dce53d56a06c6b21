"""What training on randomized data costs the people behind it: once for the data, and nothing for the training."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from deniable.core.frozen import Former
from deniable.core.loss import PrivacyLoss, Proof
from deniable.core.mechanism import Mechanism
from deniable.errors import InvalidParameter
from deniable.privacy.certificate import Certificate
from deniable.privacy.certify import certify


def together(losses: Sequence[PrivacyLoss], protects: str, answers: int = 1) -> PrivacyLoss:
    """The loss of all these reports on one sample, `answers` times over: odds multiply, the weakest proof is kept."""
    odds: Fraction | None = Fraction(1)
    for loss in losses:
        odds = None if odds is None or loss.odds is None else odds * loss.odds
    proof: Proof = "theorem" if any(loss.proof == "theorem" for loss in losses) else "proved"
    return PrivacyLoss(None if odds is None else odds**answers, proof, protects, answers)


@dataclass(frozen=True)
class Guarantee:
    """What is promised about one sample, and about the person or client who gave the most of them.

    Data are randomized once. Whatever is computed from them afterwards, for any number of rounds and models, comes from the
    randomized data alone and costs nothing more. What does cost is giving another sample: a client whose k samples are
    about one person pays k times. Samples of different people each pay once.
    """

    mechanisms: tuple[Mechanism, ...]
    protects: str
    published: str = ""  # without noise, as it is
    samples: int = 1  # of the person who gave the most

    told = Former("published")

    @property
    def sample(self) -> PrivacyLoss:
        """The exact loss of one sample."""
        return together([each.loss() for each in self.mechanisms], self.protects)

    @property
    def client(self) -> PrivacyLoss:
        """The exact loss of the person with the most samples, all of them together."""
        return self.of(self.samples)

    def of(self, samples: int) -> PrivacyLoss:
        """The exact loss of somebody with so many samples."""
        if isinstance(samples, bool) or not isinstance(samples, int) or samples < 1:
            raise InvalidParameter("The number of samples of a person must be a whole number, at least one.")
        return together([each.loss() for each in self.mechanisms], self.protects, samples)

    def after(self, rounds: int) -> PrivacyLoss:
        """The loss of a client after so many rounds of training: the same as before them."""
        if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 0:
            raise InvalidParameter("The number of rounds must be a whole number.")
        return self.client

    def certify(self) -> list[Certificate]:
        """The certificates of the mechanisms that were used, from the code that ran; those on a theorem have none."""
        return [certify(each) for each in self.mechanisms if each.loss().proof != "theorem"]

    def ledger(self) -> list[tuple[str, float]]:
        """What was spent on what: the epsilon of each part, once for each sample of the client, and 0 for training."""
        lines = [(f"{each.wire}, {self.samples} x, randomized once", self.samples) for each in self.mechanisms]
        spent = [
            (line, together([each.loss()], self.protects, times).epsilon())
            for (line, times), each in zip(lines, self.mechanisms, strict=True)
        ]
        return [*spent, ("training on the randomized data, any number of rounds", 0.0)]

    def __str__(self) -> str:
        many = "one sample" if self.samples == 1 else f"{self.samples} samples"
        lines = [
            f"one sample    epsilon {self.sample.epsilon():.6g}: {self.protects} ({self.sample.proof})",
            f"one client    epsilon {self.client.epsilon():.6g}: the person with the most samples has {many}",
            "training      epsilon 0: any number of rounds and models on the same randomized data",
        ]
        return "\n".join([*lines, f"as it is      {self.published}"] if self.published else lines)
