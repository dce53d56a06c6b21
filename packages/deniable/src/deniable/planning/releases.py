"""Which release for this question: the smallest expected loss, or the smallest loss of the answer that fares worst."""

import contextlib

from numpy.typing import ArrayLike

from deniable.core.domain import Domain
from deniable.domains.metric import checked_prior, metric_of
from deniable.errors import MissingExtra
from deniable.mechanisms.algebra import optimal
from deniable.mechanisms.releases.bipartite import Bipartite
from deniable.mechanisms.releases.coarsened import Coarsened
from deniable.mechanisms.releases.comparison import compare_releases
from deniable.mechanisms.releases.release import Release
from deniable.mechanisms.releases.release_channel import ReleaseChannel
from deniable.mechanisms.releases.staircase import Staircase

CLOSE = 1 + 1e-9  # a loss this near to the smallest counts as equally good; then the simpler release is taken


def plan_release(domain: Domain, epsilon: float, prior: ArrayLike | None = None, worst: bool = False) -> Release:
    """The release with the smallest expected loss under the prior; its `explain()` shows the others.

    On a line that is `Coarsened`, provably. Elsewhere it is compared with the other releases, and for few answers with the
    best channel there is. With `worst` it is the loss of the answer that fares worst that counts, whatever the prior.

    >>> from deniable.domains import Ordered
    >>> plan_release(Ordered(range(18, 100)), epsilon=1.0).wire
    'coarsened-1'
    """
    metric = metric_of(domain)
    shares = checked_prior(prior, metric.size)
    options: list[Release] = [Coarsened(domain, epsilon, prior=shares), Bipartite(domain, epsilon)]
    options += [Bipartite(domain, epsilon, "mean", prior=shares), Staircase(domain, epsilon, prior=shares)]
    if metric.size <= optimal.LARGEST and (worst or metric.line is None):
        with contextlib.suppress(MissingExtra):  # then the best of the others
            options.append(ReleaseChannel.optimal(domain, epsilon, shares, worst))
    costs = [option.worst_loss() if worst else option.expected_loss(shares) for option in options]
    best = next(option for option, cost in zip(options, costs, strict=True) if cost <= min(costs) * CLOSE)
    what = "the worst answer" if worst else "the prior"
    head = f"{best.wire} has the smallest loss for {what}"
    return best.because(f"{head}\n{compare_releases(domain, epsilon, shares, also=best)}")
