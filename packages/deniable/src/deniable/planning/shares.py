"""Which mechanism for this question: predicted error, report size, server work and what one report betrays, side by side."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, overload

from numpy.typing import ArrayLike

from deniable.core.domain import Domain
from deniable.core.estimate import confidence_each
from deniable.core.mechanism import Mechanism, PureProtocol
from deniable.core.odds import checked_epsilon
from deniable.domains import KeyValue, SparseVector, Vectors
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.tuning import total_error
from deniable.mechanisms.key_value.key_value_protocol import KeyValueProtocol
from deniable.mechanisms.registry import candidates
from deniable.planning import key_value as key_value_choice
from deniable.planning.means import plan_for_mean
from deniable.planning.releases import plan_release
from deniable.privacy.liars import worst_gain
from deniable.wrappers.attributes import Attributes
from deniable.wrappers.open_answers import OpenAnswers, checked_sensitive
from deniable.wrappers.utility_optimized import OPEN_SHARE, UtilityOptimized

Target = Literal["shares", "mean", "release"]

CLOSE = 1.015  # an error this near to the smallest counts as equally good; then small reports and little work decide


@dataclass(frozen=True)
class Option:
    """One mechanism for a question, and what it would cost and give."""

    name: str
    mechanism: PureProtocol | OpenAnswers
    error: float  # root of the mean squared error of a share, for the number of people asked about
    bits: int  # of one report
    work: int  # simple operations that the server spends on one report
    guess: float  # how often somebody who sees one report and thinks all values equally likely guesses the true one

    @property
    def liar(self) -> float | None:
        """How many honest people with a value one fake report is worth; None where only some answers are sensitive."""
        return worst_gain(self.mechanism, 1, 1).weight if isinstance(self.mechanism, PureProtocol) else None


def options(
    domain: Domain, epsilon: float, n: int, sensitive: Collection[object] | None = None, open_share: float = OPEN_SHARE
) -> list[Option]:
    """Every mechanism for this question, the smallest error first; with `sensitive`, each made to protect those only."""
    if n < 1:
        raise InvalidParameter("A plan needs the number of people who will answer, at least 1.")
    if isinstance(domain, SparseVector):
        raise InvalidParameter("The planner compares mechanisms for single answers. For sparse vectors take Compressed.")
    checked_epsilon(epsilon)
    size = domain.size if sensitive is None else len(checked_sensitive(domain, sensitive))
    fitting = [
        candidate for candidate in candidates("shares").values() if candidate.largest is None or size <= candidate.largest
    ]
    found = []
    for candidate in fitting[:1] if size == 1 else fitting:  # one sensitive answer leaves nothing to choose
        if sensitive is None:
            mechanism: PureProtocol | UtilityOptimized = candidate.make(domain, epsilon)
        else:
            mechanism = UtilityOptimized(candidate.make, domain, sensitive, epsilon, open_share)
        found.append(_option(candidate.name, mechanism, size, n))
    return sorted(found, key=lambda option: option.error)


def _option(name: str, mechanism: PureProtocol | UtilityOptimized, size: int, n: int) -> Option:
    if isinstance(mechanism, UtilityOptimized):
        total = mechanism.total_noise(mechanism.open_share)
    else:
        total = float(total_error(size, mechanism.p, mechanism.q))
    error = math.sqrt(total / (n * mechanism.domain.size))
    return Option(name, mechanism, error, mechanism.layout.bits, mechanism.work, mechanism.guess())


def chosen(ranked: list[Option], max_bits: int | None) -> Option:
    """Of the options with nearly the smallest error, the one with the smallest reports, then the least work."""
    fitting = [option for option in ranked if max_bits is None or option.bits <= max_bits]
    if not fitting:
        least = min(option.bits for option in ranked)
        raise InvalidParameter(f"No mechanism can report in {max_bits} bits; the smallest report here takes {least}.")
    near = [option for option in fitting if option.error**2 <= CLOSE * fitting[0].error ** 2]
    return min(near, key=lambda option: (option.bits, option.work, option.error))


@overload
def plan(  # type: ignore[overload-overlap]
    domain: KeyValue, epsilon: float, n: int = 10_000, max_bits: int | None = None
) -> KeyValueProtocol: ...
@overload
def plan(  # type: ignore[overload-overlap]
    domain: Vectors, epsilon: float, n: int = 10_000, max_bits: int | None = None
) -> Attributes: ...
@overload
def plan(domain: Domain, epsilon: float, n: int = 10_000, max_bits: int | None = None) -> PureProtocol: ...
@overload
def plan(
    domain: Domain,
    epsilon: float,
    n: int = 10_000,
    max_bits: int | None = None,
    *,
    sensitive: Collection[object] | None,
    open_share: float = OPEN_SHARE,
) -> PureProtocol | UtilityOptimized: ...
@overload
def plan(
    domain: Domain,
    epsilon: float,
    n: int = 10_000,
    max_bits: int | None = None,
    *,
    target: Target,
    prior: ArrayLike | None = None,
) -> Mechanism: ...


def plan(
    domain: Domain,
    epsilon: float,
    n: int = 10_000,
    max_bits: int | None = None,
    *,
    sensitive: Collection[object] | None = None,
    open_share: float = OPEN_SHARE,
    target: Target = "shares",
    prior: ArrayLike | None = None,
) -> Mechanism:
    """The best mechanism to learn the share of each answer from n people; its `explain()` shows the alternatives.

    With `sensitive`, only those answers are protected and the others may be told; `open_share` is the share of people that
    are thought to have one of the others.

    With `target="mean"` the mean of a number, or of the vectors of `Features`: with the smallest worst-case variance, or the
    smallest for a `prior`: the shares that the points of the grid are thought to have, or, for vectors, the typical size of
    a coordinate. With `target="release"` single reports that are near the truth, under a prior or for the worst answer.

    >>> from deniable.domains import Categories
    >>> plan(Categories(["Lyon", "Paris", "Nice", "Lille"]), epsilon=1.0, n=50_000).wire
    'direct-1'
    """
    if isinstance(domain, Vectors) and sensitive is None and target == "shares" and prior is None:
        from deniable.planning.records import plan_records

        return plan_records(domain, epsilon, n, max_bits)
    if isinstance(domain, KeyValue) and sensitive is None and target == "shares":
        return key_value_choice.chosen(domain, epsilon, n, max_bits)
    if target in ("mean", "release") and sensitive is None:
        if target == "release":
            return plan_release(domain, epsilon, prior)
        return plan_for_mean(domain, epsilon, n, max_bits, prior)
    if target != "shares" or prior is not None or isinstance(domain, KeyValue):
        raise InvalidParameter(
            'A plan is for target="shares", or for "mean" or "release", which may have a prior but no sensitive answers; '
            "of keys with values all are sensitive."
        )
    ranked = options(domain, epsilon, n, sensitive, open_share)
    best = chosen(ranked, max_bits)
    which = "" if sensitive is None else f", {len(sensitive):,} of them sensitive"
    lines = [
        f"{best.name} for {domain.size:,} values{which}, epsilon {float(epsilon):g} for one answer, {n:,} people"
        + (f", at most {max_bits} bits a report" if max_bits is not None else ""),
        f"{'':1} {'mechanism':20} {'error of a share':>16} {'to the best':>11} {'bits':>9} {'work':>9} {'guess':>7} "
        f"{'liar':>6}",
    ]
    for option in ranked:
        ratio = (option.error / ranked[0].error) ** 2
        lines.append(
            f"{'*' if option is best else '':1} {option.name:20} {option.error:16.3g} {ratio:10.3f}x {option.bits:9,} "
            f"{option.work:9,} {option.guess:7.2%} {'' if option.liar is None else f'{option.liar:6.2f}'}".rstrip()
        )
    lines.append(
        "error: root mean square; to the best: ratio of squared errors; bits: one report; work: operations of the server "
        "for one report; guess: how often one report gives the answer away to somebody without other knowledge; "
        "liar: how many honest people a fake report is worth"
    )
    assert isinstance(best.mechanism, PureProtocol | UtilityOptimized)
    lines.append(_words(best, ranked, n))
    return best.mechanism.because("\n".join(lines))


def _words(best: Option, ranked: list[Option], n: int) -> str:
    """The choice as a sentence."""
    more = (best.error / ranked[0].error) ** 2 - 1
    beside = "no other has a smaller error" if more < 5e-5 else f"its squared error is {100 * more:.2g} % above the smallest"
    return (
        f"In words: of {len(ranked)} mechanism{'s' * (len(ranked) > 1)}, {best.name} is taken because {beside} and its "
        f"reports are of {best.bits:,} bits. From {n:,} people a share is within {200 * best.error:.2g} points of the "
        "truth 19 times in 20; four times as many people halve that."
    )


def required_n(
    domain: Domain, epsilon: float, error: float, confidence: float = 0.95, sensitive: Collection[object] | None = None
) -> int:
    """How many people must answer so that the interval of every share reaches at most `error` to either side.

    It is computed for the planned mechanism and the least favourable share.

    >>> from deniable.domains import Categories
    >>> required_n(Categories(["yes", "no"]), epsilon=1.0, error=0.01)
    35368
    """
    if not 0 < error < 1:
        raise InvalidParameter("The error must be a share between 0 and 1, for example 0.01 for one percent.")
    if isinstance(domain, KeyValue):
        raise InvalidParameter(
            "This is for shares of answers. For keys, ask plan(domain, epsilon).predict(truth, n) for errors."
        )
    worst = plan(domain, epsilon, 1, sensitive=sensitive).worst_noise()
    reach = NormalDist().inv_cdf((1 + confidence_each(confidence, 1)) / 2)
    return math.ceil(worst * (reach / error) ** 2)
