"""What to ask in the next of several rounds, so that a few quantiles come out best."""

from collections.abc import Sequence

import numpy as np

from deniable.core import Domain
from deniable.errors import InvalidParameter
from deniable.mechanisms.distributions.cuts import MOST_CUTS, Cuts
from deniable.mechanisms.distributions.distribution_mechanism import DistributionMechanism
from deniable.mechanisms.distributions.rounds import Round, combined
from deniable.mechanisms.distributions.workload import Workload
from deniable.planning.distributions import plan_distribution

ROWS = 16  # places at which a quantile may lie, equally probable, that the next round cuts at


def next_round(
    domain: Domain,
    epsilon: float,
    people: int,
    quantiles: Sequence[float] = (0.5,),
    earlier: Sequence[Round] = (),
    edition: int | None = None,
) -> DistributionMechanism:
    """The mechanism for the next round, from the tallies of earlier ones; each person answers in one round only.

    `people` is how many will answer in this round. The first round asks for the whole distribution. Each later one cuts the
    line near the wanted quantiles: at one of up to 16 places where they may lie by now, drawn in public, so that all
    reports are about the shares below them. `combined` estimates from all rounds.

    >>> from deniable.domains import Ordered
    >>> next_round(Ordered(range(16)), 1.0, 10_000).wire
    'hierarchy-1'
    """
    asked = sorted(set(map(float, quantiles)))
    if not 1 <= len(asked) <= MOST_CUTS or not all(0 < share < 1 for share in asked):
        raise InvalidParameter(f"Rounds are for 1 to {MOST_CUTS} quantiles between 0 and 1, such as 0.5 for the median.")
    if sum(tally.n for _, tally in earlier) == 0:
        # Where to cut next is judged by the unbiased distribution function.
        return plan_distribution(domain, epsilon, people, Workload.prefixes(domain.size), edition=edition)
    found = combined(earlier)
    places = [found.likely_cuts(share, ROWS) for share in asked]
    rows, weights = np.unique(np.sort(np.transpose(places), axis=1), axis=0, return_counts=True)
    chosen = Cuts(domain, epsilon, rows.tolist(), weights.tolist())
    shares = ", ".join(f"{share:g}" for share in asked)
    return chosen.because(
        f"{chosen.wire} for a later round, near the places where the quantiles {shares} may lie according to earlier "
        "reports. The distance from the best possible is not known: no bound covers cuts that depend on earlier reports."
    )
