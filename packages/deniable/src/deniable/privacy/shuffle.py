"""The shuffle model: the privacy loss if a trusted party mixes n reports and drops who sent which.

How a report is hidden among others, by the blanket or by clones, is in the module `hiding`. It comes down to
delta = E [ max(0, L_1 + ... + L_n) ] / n for terms L with a few values, which `positive_part` bounds from both sides.

**Sampling.** If everybody takes part with probability q, in secret, silence is one more report, which has probability 1 - q
whatever the value. So b has 1 - q of it, with L = 1 - e^epsilon, and q times all else. **Several shuffles**, each of new
reports of the same people, compose as the module `profile` says.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from numbers import Integral, Real

from deniable.core import Mechanism, checked_epsilon, log_up
from deniable.errors import InvalidParameter
from deniable.privacy.hiding import MOST_PAIRS, Clones, Common, Hidden, attained, bounds
from deniable.privacy.positive_part import Atom, mean_if_positive, mean_positive_part, power_of_test
from deniable.privacy.profile import LossLattice, Steps

ASSUMPTION = (
    "only if a trusted shuffler mixes the reports of all n people, removes who sent which and when, and nobody else sees "
    "them first; otherwise each report has the loss of its mechanism"
)
MOST = 1_000_000_000  # people: more are not counted, which errs on the safe side
NEGLIGIBLE = 1e-300
LEAST = 1e-9  # of an epsilon that is searched for
CLOSE = 1e-3  # to a part of so many an epsilon is found
FINE = 32  # odds of one shuffle up to its own epsilon at which delta is computed, if several are composed
FINEST = 256  # steps of the lattice from below for each shuffle, but no less than these
FINEST_OF = 4096, 1 << 18
UNSEEN = 1e-4  # the part of delta beyond the largest of these odds


@dataclass(frozen=True)
class ShuffledLoss:
    """A separate guarantee, in addition to that of every single report: it holds only under its `assumption`.

    For n shuffled reports of which one may be about x or about x', no event has a probability under x that is more than
    e^epsilon times the one under x', plus delta. With an epsilon below `at_least` that would be false.
    """

    epsilon: float
    delta: float
    n: int
    local: float  # epsilon of what one person reports, without shuffling
    proof: str  # "exact channel" or "odds alone"
    assumption: str = ASSUMPTION
    at_least: float = 0.0
    shuffles: int = 1  # each of new reports of the same people
    taking_part: float = 1.0

    def __str__(self) -> str:
        often = "" if self.shuffles == 1 else f" in each of {self.shuffles:,} shuffles"
        some = "" if self.taking_part == 1 else f", each there with probability {self.taking_part:.4g} in secret"
        single = "a single report" if self.shuffles == 1 else "all reports of a person"
        return (
            f"epsilon {self.epsilon:.4g} with delta {self.delta:.3g} among {self.n:,} shuffled reports{often}{some} "
            f"(from the {self.proof}; epsilon {self.local:.4g} for {single}): {self.assumption}"
        )


@dataclass(frozen=True)
class Shuffle:
    """One shuffle of the reports of n people, each of whom takes part with the same probability."""

    mechanism: Mechanism
    n: int
    taking_part: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        if not _is_count(self.n):
            raise InvalidParameter("Shuffling needs the number of people, a whole number of at least 1.")

    @cached_property
    def hidden(self) -> tuple[list[list[Hidden]], str]:
        """The ways in which each pair of values is hidden, and whether they come from the exact channel or from its odds."""
        pairs, proof = bounds(self.mechanism)
        return [[self._thinned(each) for each in pair] for pair in pairs], proof

    @cached_property
    def references(self) -> list[Sequence[Atom]]:
        """Values of one person and of all others for which delta can be worked out exactly."""
        return [self._thinned(Common(tuple(atoms))).atoms for atoms in attained(self.mechanism)]

    @cached_property
    def local(self) -> float:
        """The epsilon of one report by itself."""
        return self.mechanism.loss().epsilon()

    def _thinned(self, hidden: Hidden) -> Hidden:
        q, one = self.taking_part, Fraction(1)
        if q == 1:
            return hidden
        return Common((*((q * w, u, v) for w, u, v in hidden.atoms), (1 - q, one, one)))

    def delta_at(self, epsilon: float) -> float:
        """The delta that goes with an epsilon: an upper bound."""
        return max(min(delta_of(each, self.n, epsilon) for each in pair) for pair in self.hidden[0])

    def profile(self, near: float) -> Callable[[float], float]:
        """The same for many epsilons, with what hides each pair best near one of them."""
        rough = len(self.hidden[0]) > MOST_PAIRS
        best = [min(pair, key=lambda each: delta_of(each, self.n, near, True)) for pair in self.hidden[0]]
        return lambda epsilon: max(delta_of(each, self.n, epsilon, rough) for each in best)

    def above(self, delta: float) -> float:
        """The smallest epsilon that holds with this delta, from above."""
        worst = 0.0
        for pair in self.hidden[0]:
            best = self.local
            for each in pair:
                if best > worst and delta_of(each, self.n, best * (1 - CLOSE), True) <= delta:  # else it cannot matter
                    best = min(best, _smallest(each, self.n, delta, best))
            worst = max(worst, best)
        return worst

    def below(self, delta: float, most: float) -> tuple[float, Sequence[Atom]]:
        """The largest epsilon that does not hold with this delta, and where it does not."""
        return _largest(self.references, self.n, delta, most) if self.n <= MOST else (0.0, ())


def shuffled(
    mechanism: Mechanism | Sequence[Mechanism],
    n: int,
    delta: float,
    *,
    times: int = 1,
    taking_part: float | Fraction = 1,
) -> ShuffledLoss:
    """An upper and a lower bound on the epsilon of n shuffled reports of this mechanism, at this delta.

    Several mechanisms, or `times` above 1, stand for as many shuffles, each of one report of every person about anything.
    With `taking_part` below 1, everybody sends a report with that probability only, and nobody knows who did.

    >>> from deniable.domains import Categories
    >>> from deniable.mechanisms.shares.direct_response import DirectResponse
    >>> loss = shuffled(DirectResponse(Categories(range(16)), 1.0), n=10_000, delta=1e-6)
    >>> round(loss.at_least, 4), round(loss.epsilon, 4), round(loss.local, 9)
    (0.0186, 0.0186, 1.0)
    >>> ten = shuffled(DirectResponse(Categories(range(16)), 1.0), n=10_000, delta=1e-6, times=10)
    >>> round(ten.at_least, 3), round(ten.epsilon, 3)
    (0.064, 0.064)
    """
    if not isinstance(delta, Real) or not 0 < delta < 1:
        raise InvalidParameter("Delta must be between 0 and 1, and should be far below 1 / n: for example 1e-9.")
    mechanisms = list(mechanism) if isinstance(mechanism, Sequence) else [mechanism]
    if not mechanisms or not all(isinstance(each, Mechanism) for each in mechanisms) or not _is_count(times):
        raise InvalidParameter(
            'Give at least one mechanism, such as DirectResponse(Categories(["yes", "no"]), 1.0), and times, a whole number '
            "of at least 1."
        )
    exact = _checked_part(taking_part)
    shuffles = [Shuffle(each, n, exact) for each in mechanisms]
    local = times * sum(each.local for each in shuffles)
    total, part = times * len(mechanisms), float(exact)
    proof = "exact channel" if all(each.hidden[1] == "exact channel" for each in shuffles) else "odds alone"
    if total == 1:
        most = shuffles[0].above(delta)
        least, _ = shuffles[0].below(delta, most)
    else:
        most, least = in_a_row([(each, times) for each in shuffles], delta, local)
    return ShuffledLoss(most, delta, n, local, proof, at_least=least, shuffles=total, taking_part=part)


def shuffled_odds(odds: Fraction, n: int, delta: float) -> ShuffledLoss:
    """The same for any n messages whose laws for two values never differ by more than these odds: merged clones."""
    if odds <= 1 or not _is_count(n) or not 0 < delta < 1:
        raise InvalidParameter("Shuffling needs odds above 1, at least one person, and a delta between 0 and 1.")
    local, hidden = log_up(odds), Clones(odds, 1 / (odds + 1), 1 / (odds + 1))
    return ShuffledLoss(_smallest(hidden, n, delta, local), delta, n, local, "odds alone")


def in_a_row(shuffles: Sequence[tuple[Shuffle, int]], delta: float, local: float) -> tuple[float, float]:
    """An epsilon that all of these shuffles lose together at most, and one that they lose at least."""
    total = sum(times for _, times in shuffles)
    first = [each.above(delta) for each, _ in shuffles]
    step, spread = min(first) / FINE, math.sqrt(sum(times * one**2 for one, (_, times) in zip(first, shuffles, strict=True)))
    finest = spread / min(max(FINEST * total, FINEST_OF[0]), FINEST_OF[1])
    over, under = list[tuple[LossLattice, int]](), list[tuple[LossLattice, int]]()
    for (each, times), one in zip(shuffles, first, strict=True):
        law = LossLattice.above(each.profile(one), step, max(1, int(one / min(first))), delta * UNSEEN / total)
        over.append((law, times))
        _, atoms = each.below(delta, one)
        powers = [math.exp(place * step) for place in law.places]
        tests = [power_of_test(atoms, each.n, power) for power in powers] if atoms else []
        under.append((LossLattice.below(tests, finest), times))
    most = Steps(over).epsilon(delta, local, up=True)
    return most, Steps(under).epsilon(delta, most, up=False)


def shuffled_delta(mechanism: Mechanism, n: int, epsilon: float, *, taking_part: float | Fraction = 1) -> float:
    """The delta that goes with an epsilon after shuffling: an upper bound, rounded up."""
    checked_epsilon(epsilon)
    return Shuffle(mechanism, n, _checked_part(taking_part)).delta_at(epsilon)


def _is_count(number: object) -> bool:
    return isinstance(number, Integral) and not isinstance(number, bool) and int(number) >= 1


def _checked_part(taking_part: float | Fraction) -> Fraction:
    if not isinstance(taking_part, Real) or not 0 < taking_part <= 1:
        raise InvalidParameter("The probability of taking part must be above 0, and at most 1.")
    return taking_part if isinstance(taking_part, Fraction) else Fraction(float(taking_part))


def delta_of(hidden: Hidden, n: int, epsilon: float, rough: bool = False) -> float:
    """An upper bound of delta for n people; a rough one is found more quickly."""
    if n < 1:
        raise InvalidParameter("Shuffling needs the number of people, at least 1.")
    return min(1.0, mean_positive_part(hidden.atoms, min(n, MOST), math.exp(epsilon), rough))


def _smallest(hidden: Hidden, n: int, delta: float, local: float) -> float:
    """The smallest epsilon whose delta is small enough, from above."""

    def excess(epsilon: float, people: int, rough: bool = False) -> float:
        return math.log(max(NEGLIGIBLE, delta_of(hidden, people, epsilon, rough)) / delta)

    _, high, slope = _crossing(partial(excess, rough=True), n, local)
    return min(local, _settled(partial(excess, people=n), high, slope, 1 + CLOSE / 4))


def _largest(references: Sequence[Sequence[Atom]], n: int, delta: float, local: float) -> tuple[float, Sequence[Atom]]:
    """The largest epsilon that is too small for this delta, from below, where all others are as in one of these."""

    def excess(epsilon: float, people: int, atoms: Sequence[Atom], rough: bool = False) -> float:
        return math.log(max(NEGLIGIBLE, mean_if_positive(atoms, people, math.exp(epsilon), rough)) / delta)

    found = [(*_crossing(partial(excess, atoms=atoms, rough=True), n, local), atoms) for atoms in references]
    if not found:
        return 0.0, ()
    low, _, slope, atoms = max(found, key=lambda each: each[0])
    return _settled(partial(excess, people=n, atoms=atoms), low, slope, 1 - CLOSE / 4), atoms


def _crossing(excess: Callable[[float, int], float], n: int, most: float) -> tuple[float, float, float]:
    """Two epsilons a part in 100 from each other, with the one where the excess is 0 between them, and the slope there.

    Fewer people, who are counted quickly, show where to begin.
    """
    low, high, above, below, fall = 0.0, most, math.inf, -math.inf, 1.1
    if n > 4096:
        guess = _crossing(excess, n // 16, most)[1] / 4
        low, high = guess / 1.02, min(most, guess * 1.02)
        above = excess(low, n)
    while above <= 0:
        low, high, below, fall = (low / fall if low > LEAST else 0.0), low, above, fall**2
        above = excess(low, n) if low else math.inf
    while below == -math.inf or below > 0:
        below = excess(high, n)
        if below > 0 and high >= most:
            return most, most, -math.inf
        if below > 0:
            low, high, above, below = high, min(most, high * 1.1), below, -math.inf
    while high - low > 10 * CLOSE * high and high > LEAST:
        step = above / (above - below) if above < math.inf else 0.5
        middle = low + (high - low) * min(0.9, max(0.1, step))
        found = excess(middle, n)
        low, high, above, below = (middle, high, found, below) if found > 0 else (low, middle, above, found)
    return low, high, (below - above) / (high - low) if low else -math.inf


def _settled(excess: Callable[[float], float], start: float, slope: float, aside: float) -> float:
    """From a number on the right side of 0 to one that is about a part in 1,000 from it, on the side that `aside` says."""
    best = at = start
    for _ in range(4):
        found = excess(at)
        if (found <= 0) == (aside > 1):
            best = at
            if abs(found / slope) < CLOSE * at:
                break
        at = (at + found / -slope) * aside
    return best
