"""Which release for this question: the smallest expected loss, or the smallest loss for the worst answer."""

from dataclasses import replace
from functools import partial

from numpy.typing import ArrayLike

from deniable.core import Candidate, Domain, checked_epsilon
from deniable.domains.metric import checked_prior, metric_of
from deniable.mechanisms.algebra import optimal
from deniable.mechanisms.algebra.release_bound import LARGEST, release_bound
from deniable.mechanisms.registry import candidates
from deniable.mechanisms.releases.release import Release
from deniable.mechanisms.releases.release_channel import ReleaseChannel
from deniable.planning.ranking import EQUAL, Column, Ranking, Row, made, planned


def release_options(domain: Domain, epsilon: float, prior: ArrayLike | None = None, worst: bool = False) -> Ranking[Release]:
    """Every release for a domain, the smallest loss first, beside the constant answer and other published ones."""
    from deniable.mechanisms.releases.comparison import compare_releases

    metric, budget = metric_of(domain), checked_epsilon(epsilon)
    shares = checked_prior(prior, metric.size)
    offered = list(candidates("releases").values())
    if worst or metric.line is None:  # on a line, Coarsened is optimal
        offered.append(Candidate("optimal", partial(ReleaseChannel.optimal, worst=worst), optimal.LARGEST, prior="prior"))

    def row(candidate: Candidate[Release]) -> Row[Release]:
        release = candidate.made(domain, budget, shares)
        both = (release.worst_loss(), release.expected_loss(shares))
        error, other = both if worst else both[::-1]
        return Row(candidate.name, release, error, release.layout.bits, {column.name: other})

    error = Column("worst loss", "for the worst answer", ".6g")
    column = Column("expected loss", "mean loss under the prior", ".6g")
    error, column = (error, column) if worst else (column, error)
    rows, remarks = made(offered, metric.size, row)
    compared = compare_releases(domain, budget, shares)
    beside: list[Row[None]] = []
    for line in compared.lines:
        if line.name not in {row.name for row in rows}:
            loss, other = (line.worst, line.expected) if worst else (line.expected, line.worst)
            beside += [] if loss is None else [Row(line.name, None, loss, 0, {column.name: other})]
    subject = f"{metric.size:,} answers, epsilon {budget:g} for one answer"
    # With many answers the comparison has worked out the same bound already.
    again = worst or metric.line is not None or metric.size <= optimal.LARGEST
    bound = release_bound(metric, budget, shares, worst) if again else compared.bound
    if bound is None and metric.line is not None and not worst:
        bound = compared.bound  # that of Coarsened, which is optimal on a line
    ranking = Ranking(rows, subject, error, (column,), tuple(beside), remarks or compared.remarks, EQUAL, power=1)
    many = f"the bound is computed for at most {LARGEST:,} answers, and there are {metric.size:,}"
    unbounded = many if metric.size > LARGEST else "no bound above 0 was proved at this epsilon"
    return replace(ranking, bound=bound, unbounded=unbounded)


def plan_release(
    domain: Domain,
    epsilon: float,
    prior: ArrayLike | None = None,
    worst: bool = False,
    max_bits: int | None = None,
) -> Release:
    """The release with the smallest expected loss under the prior; its `explain()` shows the others.

    On a line that is `Coarsened`, provably. Elsewhere it is compared with the other releases, and for few answers with the
    best channel there is. With `worst`, what counts is the loss for the worst answer, whatever the prior.

    >>> from deniable.domains import Ordered
    >>> plan_release(Ordered(range(18, 100)), epsilon=1.0).wire
    'coarsened-1'
    """
    return planned(release_options(domain, epsilon, prior, worst).within(max_bits))
