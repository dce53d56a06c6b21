"""Three states: no link, a link with a high weight, a link with a low one; one family of channels for all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.arrays import Bools, Floats, Ints
from deniable.core import Coins, Estimate, Label, PrivacyLoss, Tally, check_probability, checked_epsilon, odds_below
from deniable.core.frozen import Former
from deniable.domains.key_value import KeyValue
from deniable.domains.link import HIGH, LOW, NONE, Link
from deniable.errors import InvalidParameter
from deniable.mechanisms.key_value.key_value_estimate import KeyValueEstimate, Named, Spread, squares
from deniable.mechanisms.shares.exact_channel import ExactChannel, Matrix, check_cost, own_cost

Target = Literal["degree", "weight", "balanced", "mean"]
Prior = tuple[float, float, float]

SINGULAR = (
    "These parameters lose {what}: reports do not depend on it, so it cannot be estimated. Choose others, or take those of "
    "ThreeState.design."
)


@dataclass(frozen=True)
class ThreeState(ExactChannel):
    """A missing link is kept with p1, else becomes a link of either end; a link is kept with p2, and then its end with q.

        report           none      high          low
        no link          p1        (1-p1)/2      (1-p1)/2
        link, high       1-p2      p2 q          p2 (1-q)
        link, low        1-p2      p2 (1-q)      p2 q

    This is RR3-club of Ma, Wang 2021, which contains their other families: `ewrr`, `dagger`, `ddagger`. Degrees can be
    estimated where p1 + p2 is not 1, weights where p2 (2q - 1) is not 0. `design` gives the best parameters for a budget.

    >>> three = ThreeState.ewrr(1.0)
    >>> three.links(three.tally(three.perturb([None, 0.5, 1, -0.25, 1] * 10_000))).frequency.values.round(1)
    array([0.8])
    """

    p1: Fraction
    p2: Fraction
    q: Fraction
    epsilon: float = None  # type: ignore[assignment]
    domain: Link = field(default_factory=Link)
    claimed: bool = False  # whether epsilon is only what a paper says
    wire = "three-state-1"
    question = "key_value"

    def __post_init__(self) -> None:
        for probability in (self.p1, self.p2, self.q):
            check_probability(probability)
        if not self.estimates_degree and not self.estimates_weight:
            raise InvalidParameter(SINGULAR.format(what="both degree and weight"))
        self._fix(epsilon=own_cost(self.epsilon, self.worst()))
        super().__post_init__()
        if not self.claimed:
            check_cost(self)

    @classmethod
    def club(cls, p1: Fraction, p2: Fraction, q: Fraction, epsilon: float | None = None) -> "ThreeState":
        """These parameters; refused if degree or weight could not be estimated."""
        made = cls(p1, p2, q, epsilon)  # type: ignore[arg-type]
        made.check_invertible()
        return made

    @classmethod
    def ewrr(cls, epsilon: float) -> "ThreeState":
        """The truth with probability E / (E + 2), each other state with 1 / (E + 2), E = e^epsilon: EWRR3."""
        odds = odds_below(epsilon)
        return cls(odds / (odds + 2), (odds + 1) / (odds + 2), odds / (odds + 1), epsilon)

    @classmethod
    def dagger(cls, p1: Fraction, p2: Fraction, epsilon: float | None = None) -> "ThreeState":
        """No link is kept with p1, a link with p2, and what is not kept is either of the others: RR3-dagger."""
        return cls.club(p1, (1 + p2) / 2, 2 * p2 / (1 + p2), epsilon)

    @classmethod
    def ddagger(cls, p1: Fraction, p2: Fraction, epsilon: float | None = None) -> "ThreeState":
        """Whether there is a link is kept with p1, and its end with p2: RR3-ddagger."""
        return cls.club(p1, p1, p2, epsilon)

    @classmethod
    def dagger_as_published(cls, p1: Fraction, p2: Fraction, epsilon: float) -> "ThreeState":
        """RR3-dagger for the budget that the paper's region gives it: 2 p1 <= e^epsilon (1 - p2), without 2 p2 <= the same.

        `loss` gives its true cost: at epsilon 1 the point (0.4, 0.7) of that region costs 1.54.
        """
        if 2 * p1 > odds_below(epsilon) * (1 - p2):
            raise InvalidParameter("The published region has 2 p1 <= e^epsilon (1 - p2); this point lies outside.")
        return cls(p1, (1 + p2) / 2, 2 * p2 / (1 + p2), epsilon, claimed=True)

    @classmethod
    def design(cls, epsilon: float, target: Target = "balanced", prior: Prior | None = None) -> "ThreeState":
        """The channel with the smallest variance for a target, among all of this family that the budget allows.

        Targets: "degree", how many have a link; "weight", the sum of weights from -1 to 1; "balanced", all three shares
        (the trace of their covariance); "mean", weight over degree. `prior` are the shares of no link, high and low that
        are thought likely, a sparse (0.9, 0.05, 0.05) unless given. `explain()` says why.
        """
        from deniable.mechanisms.key_value.three_design import designed

        return designed(checked_epsilon(epsilon), target, prior)

    @property
    def channel(self) -> Matrix:
        p1, p2, q = self.p1, self.p2, self.q
        fake = (1 - p1) / 2
        return (p1, fake, fake), (1 - p2, p2 * q, p2 * (1 - q)), (1 - p2, p2 * (1 - q), p2 * q)

    @property
    def estimates_degree(self) -> bool:
        """Whether the share of links can be estimated."""
        return self.p1 + self.p2 != 1

    @property
    def estimates_weight(self) -> bool:
        """Whether the sum of weights can be estimated."""
        return self.p2 != 0 and self.q != Fraction(1, 2)

    tells_degree, tells_weight = Former("estimates_degree"), Former("estimates_weight")

    def check_invertible(self) -> None:
        """Refuse parameters from which not all three shares can be estimated."""
        if not self.estimates_degree or not self.estimates_weight:
            raise InvalidParameter(SINGULAR.format(what="the weight" if self.estimates_degree else "the degree"))

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        return {"value": self.respond(truth, coins, coins.toss(Fraction(1, 2), len(truth)))}

    def respond(self, truth: Ints, coins: Coins, fake: Bools) -> Ints:
        """The state to report for each true one; `fake` says for whom a link that is not there would be high."""
        n = len(truth)
        kept_none, kept_link, kept_end = coins.toss(self.p1, n), coins.toss(self.p2, n), coins.toss(self.q, n)
        high = np.where(truth == NONE, fake, (truth == HIGH) == kept_end)
        silent = np.where(truth == NONE, kept_none, ~kept_link)
        return np.where(silent, NONE, np.where(high, HIGH, LOW))

    def estimate(self, tally: Tally) -> Estimate:
        self.check_invertible()
        return super().estimate(tally)

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        self.check_invertible()
        return super().predict(truth, n)

    def links(self, tally: Tally) -> KeyValueEstimate:
        """Degree, weight and mean weight of the link; what the parameters lose is refused where it is asked for."""
        self.check_tally(tally)
        none, high, low = (np.array([count / tally.n]) for count in tally.counts)
        return estimate_by_states(self, 1 - none, high - low, np.array([tally.n]), tally.n, self.domain, ("link",))

    def predict_links(self, truth: Prior, n: int) -> KeyValueEstimate:
        """What `links` gives for n people with these shares of no link, high and low: the truth, with its exact variance."""
        none, high, low = (np.array([float(share)]) for share in np.asarray(truth, np.float64) @ self.matrix)
        second = np.array([1.0 - truth[0]])  # states have weights of -1 and 1 only
        return estimate_by_states(self, 1 - none, high - low, np.array([n]), n, self.domain, ("link",), second=second)

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self._worst)

    @cached_property
    def _worst(self) -> Fraction | None:
        return self.worst()

    def parameters(self) -> Mapping[str, object]:
        chances: dict[str, object] = {"p1": str(self.p1), "p2": str(self.p2), "q": str(self.q)}
        return chances | ({"claimed": True} if self.claimed else {})


def estimate_by_states(
    three: ThreeState,
    answered: Floats,
    signed: Floats,
    asked: NDArray[Any],
    n: int,
    domain: Link | KeyValue,
    labels: Sequence[Label],
    lean: Floats | float = 0.0,
    second: Floats | None = None,
) -> KeyValueEstimate:
    """Frequency f and signed weight d of each key, from its shares of reports that say "link" and "high" minus "low".

    Of the n people, `asked` were asked about a key, drawn without replacement; `lean` is the mean of its fake ends, and
    `second` the mean of the squared weights over all people, if it is known. With x and s the expected shares, a report
    varies by x (1 - x), s by x - s^2 and both together by s (1 - x) for people drawn at random. Of that the people
    themselves are f (1 - f), E[w^2] - d^2 and d (1 - f), which does not count where all of them were asked.
    """
    fake, slope, turn = float(1 - three.p1), float(three.p1 + three.p2 - 1), float(three.p2 * (2 * three.q - 1))
    pull = fake * np.broadcast_to(lean, answered.shape)  # what missing links add to high minus low
    per_slope, per_turn = 1 / slope if slope else 0.0, 1 / turn if turn else 0.0
    f, k = (answered - fake) * per_slope, pull * per_slope
    d = (signed - pull * (1 - f)) * per_turn
    estimates_weight = three.estimates_weight and (three.estimates_degree or not pull.any())
    xx, ss, xs = answered * (1 - answered), answered - signed**2, signed * (1 - answered)
    once = Spread(xx * per_slope**2, (ss + k**2 * xx + 2 * k * xs) * per_turn**2, (xs + k * xx) * per_slope * per_turn)
    people, known = np.maximum(asked, 1), np.asarray(asked) > 0
    drawn = Spread(*(np.where(known, each / people, far) for each, far in zip(once, (np.inf, np.inf, 0.0), strict=True)))
    # Of a sample without replacement the share (asked - 1) / (n - 1) of the people's own variance falls away.
    less = (people - 1) / max(n - 1, 1) / people
    if three.estimates_degree:
        second = squares(f, d, drawn.frequency) if second is None else second
        own = Spread(f * (1 - f), second - d**2, d * (1 - f))
    else:
        own = Spread(np.zeros_like(f), np.zeros_like(f), np.zeros_like(f))
    fixed = Spread(*(all_of - less * part for all_of, part in zip(drawn, own, strict=True)))
    ends = (np.maximum(answered + signed, 0) / 2, np.maximum(answered - signed, 0) / 2, 0.0)
    adds = ((per_slope, per_slope, 0.0), ((1 + k) * per_turn, (k - 1) * per_turn, 0.0))
    named = Named(*adds, ends, people, 1 / people - less)
    return KeyValueEstimate(
        labels,
        n,
        domain.low,
        domain.high,
        np.where(known, f, 0.0) if three.estimates_degree else None,
        np.where(known, d, 0.0) if estimates_weight else None,
        fixed,
        drawn,
        named,
    )
