"""The planner: it picks who plans by what is asked and by the domain of the answers."""

from collections.abc import Collection
from functools import singledispatch
from typing import TYPE_CHECKING, Literal, Protocol, cast, overload

from numpy.typing import ArrayLike

from deniable.core import AnyDomain, Domain, Mechanism, PureProtocol
from deniable.domains import Interval, KeyValue, Points, Product, SparseVector, Vectors
from deniable.domains.features import UnitVectors
from deniable.errors import InvalidParameter
from deniable.mechanisms.key_value.key_value_protocol import KeyValueProtocol
from deniable.planning.key_value import plan_key_value
from deniable.planning.means import plan_for_mean, plan_mean
from deniable.planning.shares import people_for, plan_shares
from deniable.wrappers.utility_optimized import OPEN_SHARE, UtilityOptimized

if TYPE_CHECKING:
    from deniable.mechanisms.distributions.distribution_mechanism import DistributionMechanism
    from deniable.mechanisms.distributions.tiles import Tiles
    from deniable.mechanisms.distributions.workload import Workload
    from deniable.wrappers.record_mechanism import RecordMechanism

Target = Literal["shares", "mean", "release", "distribution", "quantiles", "ranges"]
DISTRIBUTIONS = ("distribution", "quantiles", "ranges")


@singledispatch
def for_shares(
    domain: object, epsilon: float, n: int, max_bits: int | None = None, *, edition: int | None = None
) -> Mechanism:
    """The plan for shares, by the domain of the answers; a new domain registers its own planner here."""
    raise InvalidParameter(
        "A plan needs a domain of answers. Wrap a list of answers as Categories: "
        'plan(Categories(["yes", "no"]), epsilon=1.0, n=1000).'
    )


for_shares.register(Domain, plan_shares)
for_shares.register(KeyValue, plan_key_value)


@for_shares.register
def _(domain: Vectors, epsilon: float, n: int, max_bits: int | None = None, *, edition: int | None = None) -> Mechanism:
    from deniable.planning.records import plan_records  # which few plans need

    return plan_records(domain, epsilon, n, max_bits, edition)


@for_shares.register
def _(domain: SparseVector, epsilon: float, n: int, max_bits: int | None = None, *, edition: int | None = None) -> Mechanism:
    raise InvalidParameter("The planner compares mechanisms for single answers. For sparse vectors, use Compressed.")


@overload
def plan(
    domain: KeyValue, epsilon: float, n: int = 10_000, max_bits: int | None = None, *, edition: int | None = None
) -> KeyValueProtocol: ...
@overload
def plan(  # type: ignore[overload-overlap]
    domain: Vectors, epsilon: float, n: int = 10_000, max_bits: int | None = None, *, edition: int | None = None
) -> "RecordMechanism": ...
@overload
def plan(
    domain: Domain, epsilon: float, n: int = 10_000, max_bits: int | None = None, *, edition: int | None = None
) -> PureProtocol: ...
@overload
def plan(
    domain: AnyDomain, epsilon: float, n: int = 10_000, max_bits: int | None = None, *, edition: int | None = None
) -> Mechanism: ...
@overload
def plan(
    domain: Domain,
    epsilon: float,
    n: int = 10_000,
    max_bits: int | None = None,
    *,
    sensitive: Collection[object] | None = None,
    open_share: float = OPEN_SHARE,
    error: float | None = None,
    edition: int | None = None,
) -> PureProtocol | UtilityOptimized: ...
@overload
def plan(  # type: ignore[overload-overlap]
    domain: Points | Product,
    epsilon: float,
    n: int = 10_000,
    max_bits: int | None = None,
    *,
    target: 'Literal["distribution", "ranges"]',
    edition: int | None = None,
) -> "Tiles": ...
@overload
def plan(
    domain: UnitVectors, epsilon: float, n: int = 10_000, max_bits: int | None = None, *, target: 'Literal["mean"]'
) -> Mechanism: ...
@overload
def plan(
    domain: Domain,
    epsilon: float,
    n: int = 10_000,
    max_bits: int | None = None,
    *,
    target: 'Literal["mean"]',
    circular: bool,
) -> Mechanism: ...
@overload
def plan(
    domain: Domain,
    epsilon: float,
    n: int = 10_000,
    max_bits: int | None = None,
    *,
    target: 'Literal["distribution", "quantiles", "ranges"] | Workload',
    prior: str | ArrayLike | None = None,
    circular: bool = False,
    edition: int | None = None,
) -> "DistributionMechanism": ...
@overload
def plan(
    domain: Domain,
    epsilon: float,
    n: int = 10_000,
    max_bits: int | None = None,
    *,
    target: "Target | Workload",
    prior: str | ArrayLike | None = None,
    error: float | None = None,
    edition: int | None = None,
) -> Mechanism: ...


def plan(
    domain: AnyDomain,
    epsilon: float,
    n: int = 10_000,
    max_bits: int | None = None,
    *,
    sensitive: Collection[object] | None = None,
    open_share: float = OPEN_SHARE,
    target: "Target | Workload" = "shares",
    prior: str | ArrayLike | None = None,
    circular: bool = False,
    error: float | None = None,
    edition: int | None = None,
) -> Mechanism:
    """The best mechanism to estimate the share of each answer from n people; its `explain()` shows the alternatives.

    With `sensitive`, only those answers are protected; `open_share` is the expected share of people with one of the others.
    With `error`, the mechanism is chosen that needs the fewest people for the interval of every share to reach at most so
    far to either side, 0.01 being one percentage point, or of a mean for this standard error; `required_n` returns how many.

    With `target="mean"`, the mean of a number, or of the vectors of `Features`: the mechanism with the smallest worst-case
    variance, or with the smallest expected variance under a `prior`: the expected shares of the points of the grid, or, for
    vectors, the typical size of a coordinate. With `target="release"`, single reports that stay close to the truth, on
    average under a prior.

    With `target="distribution"`, how a number or an ordered answer is distributed; with "quantiles" or "ranges" the same,
    where only those count; a `Workload` holds any other linear questions. A prior is then the expected shares of all
    answers, or "smooth" or "spiky" for the distribution. For places, `Points` or a `Product` of two ordered domains,
    "ranges" gives a map with the shares of rectangles. With `circular`, the last answer is a neighbour of the first, as for
    hours and compass points.

    With `edition`, only the mechanisms count that a survey file with this `planner` has.

    >>> from deniable.domains import Categories
    >>> plan(Categories(["Lyon", "Paris", "Nice", "Lille"]), epsilon=1.0, n=50_000).wire
    'direct-1'
    """
    planner = for_shares.dispatch(type(domain))
    single_number = target == "mean" and isinstance(domain, Interval)
    if error is not None and not single_number and (target != "shares" or planner is not plan_shares):
        raise InvalidParameter(
            "A target error is for the shares of single answers, or for the mean of a number. Leave it out: "
            "plan(...).explain() shows the errors."
        )
    if edition is not None and (circular or target == "release" or isinstance(domain, UnitVectors)):
        raise InvalidParameter(
            "An edition of the planner applies to what survey files can ask: not to circular answers, directions or "
            "releases. Leave it out."
        )
    single = cast(Domain, domain)  # which the planners of numbers, releases and sensitive answers check
    if (not isinstance(target, str) or target in DISTRIBUTIONS) and sensitive is None:
        from deniable.planning.distributions import plan_distribution  # which few plans need
        from deniable.planning.maps import plan_map

        if isinstance(single, Points | Product) and prior is None and not circular:
            return plan_map(single, epsilon, n, target, max_bits, edition)
        return plan_distribution(single, epsilon, n, target, prior, max_bits, circular, edition)
    if circular and target == "mean" and prior is None and sensitive is None:
        from deniable.planning.circles import plan_circle

        return plan_circle(single, epsilon, n, max_bits)
    if circular:
        raise InvalidParameter('Circular answers are planned with target="distribution", "ranges", "mean" or a Workload.')
    if isinstance(prior, str):
        raise InvalidParameter(
            'A prior in words, "smooth" or "spiky", is for target="distribution". Give the expected share of each '
            "answer instead."
        )
    if target == "mean" and sensitive is None:
        if error is not None and isinstance(domain, Interval):
            return plan_mean(domain, epsilon, n, max_bits, prior, error, edition)
        return plan_for_mean(single, epsilon, n, max_bits, prior, edition=edition)
    if target == "release" and sensitive is None:
        from deniable.planning.releases import plan_release  # which other plans need not load

        return plan_release(single, epsilon, prior, max_bits=max_bits)
    if target != "shares" or prior is not None or (sensitive is not None and planner is not plan_shares):
        raise InvalidParameter(
            'A plan needs one target: "shares", which may have sensitive answers if the answers are single '
            'values, or "mean", "distribution", "quantiles", "ranges", a Workload '
            'or "release", which may have a prior.'
        )
    if sensitive is not None or error is not None:
        return plan_shares(single, epsilon, n, max_bits, sensitive, open_share, error, edition)
    return planner(domain, epsilon, n, max_bits, edition=edition)


class Detectable(Protocol):
    """An effect that a test is to find, such as `share_of`, `difference_of`, `table_of` and `coefficient_of` describe."""

    def people(self, effect: float, power: float, level: float) -> int:
        """How many people must answer, so that a test at this level finds an effect of this size so often."""


@overload
def required_n(
    domain: Domain, epsilon: float, error: float, confidence: float = 0.95, sensitive: Collection[object] | None = None
) -> int: ...
@overload
def required_n(domain: Detectable, *, effect: float, power: float = 0.8, level: float = 0.05) -> int: ...


def required_n(
    domain: Domain | Detectable,
    epsilon: float | None = None,
    error: float | None = None,
    confidence: float = 0.95,
    sensitive: Collection[object] | None = None,
    *,
    effect: float | None = None,
    power: float = 0.8,
    level: float = 0.05,
) -> int:
    """How many people must answer so that the interval of every share reaches at most `error` to either side.

    It is computed for the mechanism that needs the fewest, `plan(domain, epsilon, n, error=error)`, and the least favourable
    share. Of an effect in place of a domain, such as
    `table_of(mechanism)`: so that a test at this level finds one of this size as often as `power` says.

    >>> from deniable.domains import Categories
    >>> required_n(Categories(["yes", "no"]), epsilon=1.0, error=0.01)
    35368
    """
    if not isinstance(domain, Domain):
        if effect is None or not hasattr(domain, "people"):
            raise InvalidParameter(
                "Give a domain with an epsilon and an error, or an effect: required_n(share_of(...), effect=0.05)."
            )
        return domain.people(effect, power, level)
    if epsilon is None or error is None or effect is not None:
        raise InvalidParameter("The number of people for a domain follows from an epsilon and an error.")
    return people_for(plan(domain, epsilon, 1, sensitive=sensitive, error=error), error, confidence)
