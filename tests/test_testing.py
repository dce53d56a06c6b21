"""The public check of mechanisms: it passes what is right, and finds each planted bug by the law that it breaks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.arrays import Bools, Floats, Ints
from deniable.core import Columns, Layout, Number, PureProtocol
from deniable.testing import CHECKS, CheckFailed, check_mechanism, checks
from deniable.testing.exact import Exact

FIVE = dn.Categories(range(5))


@dataclass(frozen=True)
class HalfHonest(PureProtocol):
    """Report the true answer with probability `honest`, otherwise any answer: a mechanism that is not ours."""

    domain: dn.Categories
    epsilon: float
    honest: Fraction = Fraction(1, 2)
    wire = "half-honest-1"

    @property
    def p(self) -> Fraction:
        return self.honest + self.q

    @property
    def q(self) -> Fraction:
        return (1 - self.honest) / self.domain.size

    @property
    def pairs(self) -> tuple[Fraction, Fraction]:
        return Fraction(0), Fraction(0)

    @property
    def layout(self) -> Layout:
        return Layout((Number("value", self.domain.size),))

    def randomize(self, truth: Ints, coins: dn.Coins) -> Mapping[str, Any]:
        honest = coins.toss(self.honest, len(truth))
        return {"value": np.where(honest, truth, coins.below(self.domain.size, len(truth)))}

    def votes(self, columns: Columns) -> Ints:
        return np.bincount(columns["value"], minlength=self.domain.size)

    def supports(self, columns: Columns, cells: Ints) -> Bools:
        return columns["value"][:, None] == cells[None, :]

    def loss(self) -> dn.PrivacyLoss:
        return dn.PrivacyLoss(self.p / self.q)

    def parameters(self) -> Mapping[str, object]:
        return {"honest": str(self.honest)}

    @classmethod
    def from_parameters(cls, domain: Any, epsilon: float, parameters: Mapping[str, Any]) -> "HalfHonest":
        return cls(domain, epsilon, Fraction(parameters["honest"]))


class TooCheap(HalfHonest):
    """Declares a smaller loss than the code has."""

    def loss(self) -> dn.PrivacyLoss:
        return dn.PrivacyLoss(Fraction(2))


class Betrayed(HalfHonest):
    """Reports one answer as it is."""

    def randomize(self, truth: Ints, coins: dn.Coins) -> Mapping[str, Any]:
        value = super().randomize(truth, coins)["value"]
        return {"value": np.where(truth == 3, 3, value)}


class Biased(HalfHonest):
    """Debiases with a wrong probability."""

    def debias(self, counts: Ints, reports: int) -> Floats:
        return super().debias(counts, reports) * 1.001


class WrongNoise(HalfHonest):
    """Predicts too small a variance."""

    def noise(self, shares: Floats, people: float = 1.0) -> Floats:
        return super().noise(shares, people) * 0.999


class WrongPairs(HalfHonest):
    """Says that two answers can be supported at once."""

    @property
    def pairs(self) -> tuple[Fraction, Fraction]:
        return Fraction(1, 9), Fraction(0)


class WrongGuess(HalfHonest):
    """Says that nobody can guess."""

    def guess(self) -> float:
        return 0.0


class LooseBits(HalfHonest):
    """Reads batches that are too long."""

    def unpack(self, data: bytes) -> dn.Reports:
        return super().unpack(data.rstrip(b"\0") if data.endswith(b"\0") else data)


class CountsTwice(HalfHonest):
    """Counts the first report of a batch twice."""

    def votes(self, columns: Columns) -> Ints:
        counts = super().votes(columns)
        counts[columns["value"][0]] += 1
        return counts


class TakesAnyTally(HalfHonest):
    """Does not look whose tally it is."""

    def check_tally(self, tally: dn.Tally) -> None:
        return None


class Forgetful(HalfHonest):
    """Leaves a parameter out of its description."""

    def parameters(self) -> Mapping[str, object]:
        return {"honest": "1/3"}


class Hasty(HalfHonest):
    """Tosses one coin fewer for the first answer."""

    def randomize(self, truth: Ints, coins: dn.Coins) -> Mapping[str, Any]:
        if (truth == 0).all():
            return {"value": np.where(coins.toss(self.p, len(truth)), 0, 1)}
        return super().randomize(truth, coins)


class HastyClient(HalfHonest):
    """Does the same in a `perturb` of its own, which no law is read off."""

    def perturb(self, values: Any, coins: dn.Coins | None = None) -> dn.Reports:
        if any(value != 0 for value in values):
            return super().perturb(values, coins)
        assert coins is not None
        drawn = np.where(coins.toss(self.p, len(values)), 0, 1).astype(np.uint8)
        return dn.Reports.of(self.fingerprint, self.layout, {"value": drawn})


class Cheapened(dn.Bipartite):
    """Says that a release costs nothing."""

    def row_losses(self) -> Floats:
        return np.zeros(self.domain.size)


PLANTED: list[tuple[str, Callable[[], dn.Mechanism], str]] = [
    ("worst_ratio", lambda: TooCheap(FIVE, 3.0), "declares odds of 2, but the worst odds of the code are 6"),
    ("worst_ratio", lambda: Betrayed(FIVE, 3.0), "declares odds of 6, but the worst odds of the code are None"),
    ("unbiased", lambda: Biased(FIVE, 3.0), "the mean estimate is off"),
    ("variance", lambda: WrongNoise(FIVE, 3.0), "the predicted variance"),
    ("variance", lambda: WrongPairs(FIVE, 3.0), "the predicted covariance"),
    ("support", lambda: WrongPairs(FIVE, 3.0), "`pairs`"),
    ("likelihood", lambda: TooCheap(FIVE, 3.0), "times as likely"),
    ("guess", lambda: WrongGuess(FIVE, 3.0), "the best observer"),
    ("losses", lambda: Cheapened(dn.Ordered(range(5)), 1.0), "expected loss"),
    ("packing", lambda: LooseBits(FIVE, 3.0), "damaged batch"),
    ("counting", lambda: CountsTwice(FIVE, 3.0), "sum of the votes"),
    ("tallies", lambda: TakesAnyTally(FIVE, 3.0), "impossible tally"),
    ("json", lambda: Forgetful(FIVE, 3.0), "does not come back"),
    ("coins", lambda: Hasty(FIVE, 3.0), "A value of a law has no .all"),
    ("coins", lambda: HastyClient(FIVE, 3.0), "draw all branches"),
]


def test_a_mechanism_of_somebody_else_passes_and_hears_what_is_left_to_do() -> None:
    for honest in (Fraction(1, 2), Fraction(1, 5)):
        left = check_mechanism(HalfHonest(FIVE, 3.0, honest))
        assert set(left) == {"losses", "json"}
        assert "'deniable.mechanisms'" in left["json"] and "'half-honest-1' is not registered" in left["json"]


@pytest.mark.parametrize(("name", "make", "says"), PLANTED, ids=lambda value: value if isinstance(value, str) else "")
def test_planted_bugs_break_their_law(name: str, make: Callable[[], dn.Mechanism], says: str) -> None:
    (check,) = [each for each in checks(make()) if each.name == name]
    with pytest.raises(CheckFailed, match=says) as failed:
        check()
    assert str(failed.value).startswith(f"{type(make()).__name__}, {name}: ")
    with pytest.raises(CheckFailed):
        check_mechanism(make())


def test_every_law_has_a_planted_bug() -> None:
    assert {name for name, *_ in PLANTED} == set(CHECKS) - {"sums_to_one"}  # coins of ours cannot be made to break this one


def test_a_law_that_does_not_sum_to_one_is_seen() -> None:
    exact = Exact(HalfHonest(FIVE, 3.0))
    exact.chances[2][b"\0"] += Fraction(1, 10**9)
    with pytest.raises(CheckFailed, match="answer 2"):
        CHECKS["sums_to_one"](exact)


def test_a_byte_that_is_damaged_is_another_one() -> None:
    honest = dn.DirectResponse(FIVE, 80.0)
    assert honest.pack(honest.perturb([0]))[8] == 1
    check_mechanism(honest)


def test_what_cannot_be_enumerated_says_so() -> None:
    left = check_mechanism(dn.Unary(dn.Categories(range(30)), 1.0))
    assert set(left) == {"sums_to_one", "unbiased", "variance", "support", "likelihood", "guess", "losses"}
    assert "combinations" in left["variance"] or "too many outcomes" in left["variance"]
    left = check_mechanism(dn.DirectResponse(FIVE, 1.0), limit=7)
    assert "the limit is 7" in left["unbiased"]
