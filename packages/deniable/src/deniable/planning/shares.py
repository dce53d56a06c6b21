"""Which mechanism for the shares of answers: predicted error, report size, server work and what one report gives away."""

import math
from collections.abc import Collection, Iterable, Mapping

import numpy as np

from deniable.core import Additive, Candidate, Domain, Mechanism, PureProtocol, checked_epsilon
from deniable.mechanisms.algebra.tuning import total_error
from deniable.mechanisms.registry import candidates
from deniable.planning.bounds import share_bound
from deniable.planning.ranking import Column, Ranking, Row, checked_people, made, people, planned
from deniable.planning.sensitive_bound import sensitive_share_bound
from deniable.privacy.liars import worst_gain
from deniable.wrappers.open_answers import OpenAnswers, checked_sensitive
from deniable.wrappers.utility_optimized import OPEN_SHARE, UtilityOptimized

ShareMechanism = PureProtocol | OpenAnswers

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
    offered: Iterable[Candidate[PureProtocol]] | None = None,
) -> Ranking[ShareMechanism]:
    """Every mechanism for this question, or those offered, the smallest error first.

    With `sensitive`, each is made to protect those only.
    """
    checked_people(n)
    budget, which = checked_epsilon(epsilon), ""
    compared, size = list(candidates("shares").values() if offered is None else offered), domain.size
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
    return Ranking(rows, subject, columns=COSTS, remarks=remarks, bound=bound or None)


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
) -> Mechanism:
    """The best mechanism for shares; its `explain()` shows the others."""
    return best_for_shares(options(domain, epsilon, n, sensitive, open_share).within(max_bits), n)


def brief_candidates() -> Mapping[str, Candidate[PureProtocol]]:
    """The candidates for shares that the answers and epsilon fix, without a list of sets and weights."""
    return {name: candidate for name, candidate in candidates("shares").items() if name != "design, weighted"}


def plan_brief_shares(
    domain: Domain, epsilon: float, n: int, max_bits: int | None = None, sensitive: Collection[object] | None = None
) -> ShareMechanism:
    """The best mechanism for shares among those that are described briefly: what survey files have.

    A survey that is not registered yet is planned whenever it is read. Its mechanisms, and so its fingerprint, which people
    may have seen, must not depend on the release that reads it; so a later candidate, such as weighted designs, is left out.

    >>> from deniable.domains import Categories
    >>> [plan(Categories(range(10)), 1.0, 1000).wire for plan in (plan_shares, plan_brief_shares)]
    ['weighted-design-1', 'subset-1']
    """
    ranking = options(domain, epsilon, n, sensitive, offered=brief_candidates().values())
    return best_for_shares(ranking.within(max_bits), n)


def best_for_shares(ranking: Ranking[ShareMechanism], n: int) -> ShareMechanism:
    """The best mechanism of a ranking, with the ranking and what it means for n people as its reason."""
    words = (
        f"From {people(n)}, an estimated share is within {200 * ranking.best.error:.2g} percentage points of the truth 19 "
        "times in 20; four times as many people halve that."
    )
    return planned(ranking, words)
