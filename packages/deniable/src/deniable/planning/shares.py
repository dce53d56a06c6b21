"""Which mechanism for the shares of answers: predicted error, report size, server work and what one report gives away."""

import math
import warnings
from collections.abc import Collection
from dataclasses import replace
from numbers import Real
from statistics import NormalDist

import numpy as np

from deniable.core import Additive, Candidate, Domain, Mechanism, PureProtocol, checked_epsilon, confidence_each
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.tuning import total_error
from deniable.mechanisms.registry import candidates
from deniable.planning.bounds import share_bound
from deniable.planning.ranking import UNBIASED, Column, Ranking, Row, checked_people, made, people, planned
from deniable.planning.sensitive_bound import MOST as MOST_CHECKED
from deniable.planning.sensitive_bound import sensitive_share_bound
from deniable.privacy.liars import worst_gain
from deniable.wrappers.open_answers import OpenAnswers, checked_sensitive
from deniable.wrappers.utility_optimized import OPEN_SHARE, UtilityOptimized

ShareMechanism = PureProtocol | OpenAnswers
USEFUL = 0.05  # a margin of error, for which a plan that is too noisy says how many people it takes

COSTS = (
    Column("work", "operations of the server for one report"),
    Column("guess", "how often an observer who knows nothing else guesses the answer from one report", ".2%"),
    Column("liar", "how many honest people one false report can outweigh", ".2f"),
)


def options(
    domain: Domain,
    epsilon: float,
    n: int,
    sensitive: Collection[object] | None = None,
    open_share: float = OPEN_SHARE,
    edition: int | None = None,
) -> Ranking[ShareMechanism]:
    """Every mechanism for this question, or those of an edition of the planner, the smallest error first.

    With `sensitive`, each is made to protect those only.
    """
    checked_people(n)
    budget, which = checked_epsilon(epsilon), ""
    compared, size = list(candidates("shares", edition).values()), domain.size
    if sensitive is not None:
        size, which = len(checked_sensitive(domain, sensitive)), f", {len(sensitive):,} of them sensitive"
        compared = compared[:1] if size == 1 else compared  # one sensitive answer leaves nothing to choose

    def row(candidate: Candidate[PureProtocol]) -> Row[ShareMechanism]:
        if sensitive is None:
            return share_row(candidate.name, candidate.made(domain, budget), n)
        mechanism = UtilityOptimized(candidate.make, domain, sensitive, budget, open_share)
        error = math.sqrt(mechanism.total_noise(open_share) / (n * domain.size))
        return Row(
            candidate.name, mechanism, error, mechanism.layout.bits, {"work": mechanism.work, "guess": mechanism.guess()}
        )

    rows, remarks = made(compared, size, row)
    subject = f"{domain.size:,} values{which}, epsilon {budget:g} for one answer, {people(n)}"
    others = domain.size - size
    bound = sensitive_share_bound(size, others, budget, n, open_share) if others else share_bound(size, budget, n)
    ranking = Ranking(rows, subject, columns=COSTS, remarks=remarks, bound=bound or None, rivals=UNBIASED)
    return ranking if bound else replace(ranking, unbounded=_unproved(size, others, open_share))


def _unproved(sensitive: int, others: int, open_share: float) -> str:
    """Why nothing is proved where some answers are sensitive."""
    if open_share <= 0:
        return "nobody is expected to have an answer that is not sensitive"
    if min(sensitive, others) > MOST_CHECKED:
        return f"{sensitive:,} sensitive and {others:,} other answers are too many for a proof"
    return "the search for a proof found none at this epsilon"


def share_row(name: str, mechanism: Mechanism, n: int) -> Row[ShareMechanism]:
    """The row of a mechanism: a pure protocol has its error in closed form, any other predicts it for equal shares."""
    costs: dict[str, float | None] = {}
    size = mechanism.domain.size
    if isinstance(mechanism, PureProtocol):
        costs = {"work": mechanism.work, "guess": mechanism.guess(), "liar": worst_gain(mechanism, 1, 1).weight}
        error = math.sqrt(float(total_error(size, mechanism.p, mechanism.q)) / (n * size))
    else:
        if isinstance(mechanism, Additive):
            costs = {"guess": mechanism.guess()}
        error = math.sqrt(float(np.mean(mechanism.predict(np.full(size, 1 / size), n).standard_error ** 2)))
    return Row(name, mechanism, error, mechanism.layout.bits, costs)  # type: ignore[arg-type]


def plan_shares(
    domain: Domain,
    epsilon: float,
    n: int,
    max_bits: int | None = None,
    sensitive: Collection[object] | None = None,
    open_share: float = OPEN_SHARE,
    error: float | None = None,
    edition: int | None = None,
) -> Mechanism:
    """The best mechanism for shares; its `explain()` shows the others. With an `error`, the one that needs fewest people.

    >>> from deniable.domains import Categories
    >>> [plan_shares(Categories(range(10)), 1.0, 1000, edition=edition).wire for edition in (1, 2)]
    ['subset-1', 'weighted-design-1']
    """
    ranking = options(domain, epsilon, n, sensitive, open_share, edition).within(max_bits)
    return best_for_shares(ranking if error is None else aimed_at(ranking, error), n)


def aimed_at(ranking: Ranking[ShareMechanism], error: float, confidence: float = 0.95) -> Ranking[ShareMechanism]:
    """The same candidates, of which the best needs the fewest people for this margin of error, whatever the shares are.

    The errors of a ranking are those of all shares together. Of two mechanisms with the same one, a single large share may
    be less certain with one than with the other.
    """
    margin = f"{percentage_points(_checked_margin(error))} at {100 * confidence:g} % confidence"
    column = Column("people", f"how many must answer for each share to be within {margin}")

    def needed(mechanism: ShareMechanism) -> int | None:
        return people_for(mechanism, error, confidence) if isinstance(mechanism, Additive | UtilityOptimized) else None

    return ranking.aimed(column, needed)


def people_for(mechanism: Mechanism, error: float, confidence: float = 0.95) -> int:
    """How many people must answer with this mechanism so that the interval of every share reaches at most so far."""
    _checked_margin(error)
    if not isinstance(mechanism, Additive | UtilityOptimized):
        raise InvalidParameter(
            "The number of people is known for shares of single answers. For other domains, plan(domain, epsilon).predict("
            "truth, n) gives the errors for n people."
        )
    reach = NormalDist().inv_cdf((1 + confidence_each(confidence, 1)) / 2)
    return math.ceil(mechanism.worst_noise() * (reach / error) ** 2)


def _checked_margin(error: float) -> float:
    if not isinstance(error, Real) or not 0 < error < 1:
        raise InvalidParameter("The error must be a share between 0 and 1, for example 0.01 for one percentage point.")
    return float(error)


def plan_brief_shares(
    domain: Domain, epsilon: float, n: int, max_bits: int | None = None, sensitive: Collection[object] | None = None
) -> Mechanism:
    """Deprecated: use `plan(..., edition=1)`."""
    warnings.warn("plan_brief_shares is deprecated. Use plan(..., edition=1).", DeprecationWarning, stacklevel=2)
    return plan_shares(domain, epsilon, n, max_bits, sensitive, edition=1)


def best_for_shares(ranking: Ranking[ShareMechanism], n: int) -> ShareMechanism:
    """The best mechanism of a ranking, with the ranking and what it means for n people as its reason."""
    margin = 2 * ranking.best.error
    if margin < 1:
        close = f"an estimated share is within {percentage_points(float(f'{margin:.2g}'))} of the truth 19 times in 20"
        return planned(ranking, f"From {people(n)}, {close}; four times as many people halve that.")
    enough = _rounded_up(n * (margin / USEFUL) ** 2)
    words = (
        f"TOO NOISY: from {people(n)}, an estimated share can be off by more than 100 percentage points. At this epsilon, "
        f"about {people(enough)} bring it within {percentage_points(USEFUL)} of the truth 19 times in 20."
    )
    return planned(ranking, words)


def percentage_points(share: float) -> str:
    """A difference of shares in words.

    >>> percentage_points(0.01), percentage_points(0.036)
    ('1 percentage point', '3.6 percentage points')
    """
    shown = f"{100 * share:g}"
    return f"{shown} percentage point{'' if shown == '1' else 's'}"


def _rounded_up(people: float) -> int:
    """The next number of two digits, as a number of people that is only roughly known."""
    unit = 10 ** max(0, math.floor(math.log10(people)) - 1)
    return math.ceil(people / unit) * unit
