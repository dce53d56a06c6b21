"""Which mechanism for the distribution of a number: by its distribution function, or by any linear questions."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats
from deniable.core import Candidate, Domain, checked_epsilon, offered
from deniable.domains import Interval, Ordered, domain_from_spec
from deniable.errors import InvalidParameter
from deniable.mechanisms.distributions.distribution_mechanism import DistributionMechanism, check_points
from deniable.mechanisms.distributions.fitting import differences, fitted
from deniable.mechanisms.distributions.grid import grid_of
from deniable.mechanisms.distributions.hierarchy import MOST_MIXED, Hierarchy
from deniable.mechanisms.distributions.workload import Workload
from deniable.mechanisms.distributions.workload_channel import WorkloadChannel
from deniable.mechanisms.registry import candidates
from deniable.planning.distribution_bounds import UNBIASED, fitted_bound, question_bound, unproved
from deniable.planning.ranking import EQUAL, Column, Ranking, Row, checked_people, made, people, planned

SMOOTH, SPIKY = "smooth", "spiky"
QUANTILES = "quantiles"
FITTED = ("distribution", QUANTILES)  # targets whose error is that of the fitted estimate
CURVE = 10.0**-2.8  # one over the variance of the second derivative of a smooth density
ROUGH_CURVE = 10.0**-3.5  # the same beneath spikes
SPIKES = 0.009  # the typical share of a spike where there are 256 answers
BAND = 0.5  # how much the width of bands counts beside the error of the fit for smooth, and for spiky numbers
MODELLED = "any channel with an estimate that knows how such shares are distributed"
JOINT = "any three channels, one for each of the last three columns,"
SIMULATED = "the error is that of one estimate, and another that knew the expected shares would have none"
TRIES, SEED = 3, 0  # simulated collections with a prior that is given as shares
MIXED = Candidate[DistributionMechanism]("comb and levels, mixed", Hierarchy.mixed, MOST_MIXED, prior="workload", since=2)
MERGED = Candidate[DistributionMechanism](
    "channel for these questions, 5 % points", WorkloadChannel.merged, prior="workload"
)


def distribution_options(
    domain: Domain,
    epsilon: float,
    n: int,
    target: str | Workload = "distribution",
    prior: str | ArrayLike | None = None,
    circular: bool = False,
    edition: int | None = None,
) -> Ranking[DistributionMechanism]:
    """Every mechanism for the distribution of a number, or those of an edition of the planner.

    The smallest error for the target comes first.
    """
    checked_people(n)
    budget, grid = checked_epsilon(epsilon), grid_of(domain)
    check_points(grid.size)
    if circular and (not grid.atoms or target == QUANTILES):
        raise InvalidParameter(
            "Circular answers must be Ordered, such as Ordered(range(24)) for hours, because the ends of an Interval would "
            "be the same number; and they have no quantiles without an origin. Plan them with "
            'target="distribution" or "ranges".'
        )
    compared = [*(Hierarchy.round() if circular else candidates("distributions").values())]
    kind = "circular answers" if circular else "ordered answers"
    subject = f"the distribution of {grid.size:,} {kind}, epsilon {budget:g} for one answer, {people(n)}"
    if target in FITTED:
        judge = Shapes.of(grid.size, prior, target == QUANTILES)

        def fit_row(candidate: Candidate[DistributionMechanism]) -> Row[DistributionMechanism]:
            mechanism: DistributionMechanism = candidate.made(domain, budget, Workload.prefixes(grid.size))
            return Row(candidate.name, mechanism, *judge.errors(mechanism, n))

        rows, remarks = made(offered(compared, edition), grid.size, fit_row)
        error = Column("error", f"{judge.what} in percentage points: {judge.words}", ".3g", 100)
        bound = judge.bound(budget, n, circular)
        ranking = Ranking(rows, subject, error, judge.columns, remarks=remarks, power=1, close=1.0)
        rivals = JOINT if len(judge.kinds) > 1 else MODELLED
        return replace(
            ranking, bound=bound, rivals=rivals, unbounded=unproved(grid.size) if judge.shares is None else SIMULATED
        )
    asked = workload_of(target, grid.size, circular)
    truth = _shares(prior, grid.size)

    def row(candidate: Candidate[DistributionMechanism]) -> Row[DistributionMechanism]:
        mechanism: DistributionMechanism = candidate.made(domain, budget, asked)
        noise = mechanism.even_noise if prior is None else mechanism.joint_noise(truth)
        error = math.sqrt(asked.mean_square(noise) / n)
        return Row(candidate.name, mechanism, error, mechanism.layout.bits)

    if not circular:
        compared += [MIXED, MERGED] if isinstance(target, Workload) else [MIXED]
    rows, remarks = made(offered(compared, edition), grid.size, row)
    what = "if all answers are equally common" if prior is None else "under the prior"
    error = Column("error", f"standard error of {asked.name} in percentage points, root mean square, {what}", ".3g", 100)
    bound = question_bound(asked, budget, n, None if prior is None else truth)
    ranking = Ranking(rows, subject, error, remarks=remarks, close=EQUAL, bound=bound, rivals=UNBIASED)
    return replace(ranking, unbounded=unproved(grid.size))


def plan_distribution(
    domain: Domain,
    epsilon: float,
    n: int,
    target: str | Workload = "distribution",
    prior: str | ArrayLike | None = None,
    max_bits: int | None = None,
    circular: bool = False,
    edition: int | None = None,
) -> DistributionMechanism:
    """The best mechanism for the distribution of a number; its `explain()` shows the others.

    >>> from deniable.domains import Ordered
    >>> plan_distribution(Ordered(range(16)), 1.0, 10_000, "ranges").wire
    'workload-1'
    """
    if isinstance(target, str) and (prior is None or isinstance(prior, str)) and isinstance(domain, Interval | Ordered):
        budget, many = checked_epsilon(epsilon), checked_people(n)
        return _remembered(json.dumps(domain.spec()), budget, many, target, prior, max_bits, circular, edition)
    return _planned(domain, epsilon, n, target, prior, max_bits, circular, edition)


@lru_cache(maxsize=64)
def _remembered(
    domain: str,
    epsilon: float,
    n: int,
    target: str,
    prior: str | None,
    max_bits: int | None,
    circular: bool,
    edition: int | None,
) -> DistributionMechanism:
    single = domain_from_spec(json.loads(domain))
    return _planned(single, epsilon, n, target, prior, max_bits, circular, edition)  # type: ignore[arg-type]


def _planned(
    domain: Domain,
    epsilon: float,
    n: int,
    target: str | Workload,
    prior: str | ArrayLike | None,
    max_bits: int | None,
    circular: bool,
    edition: int | None,
) -> DistributionMechanism:
    ranking = distribution_options(domain, epsilon, n, target, prior, circular, edition).within(max_bits)
    if target not in FITTED:
        words = "The error is that of the unbiased estimate, on which intervals and bands are based."
        if isinstance(target, str):
            words += ' This plan serves them; target="distribution" serves the fitted shares.'
        return planned(ranking, words)
    words = "The error is that of the fitted shares, which are biased towards smooth curves."
    if target == QUANTILES:
        words = (
            "The error is that of quantiles of the fitted shares, wherever they lie. If only a few quantiles matter, later "
            "rounds that ask near them give smaller errors: dn.next_round, or rounds in a survey."
        )
    if prior is None:
        smooth, spiky = (min(ranking, key=lambda row: row.costs.get(shape) or 0).name for shape in (SMOOTH, SPIKY))
        known = 'if you know more, pass prior="smooth" or prior="spiky", or the expected shares.'
        if smooth != spiky:
            words += (
                f" It depends on the data: {smooth} is best for smooth numbers and {spiky} for numbers with spikes, such "
                f"as rounded ones. This plan serves both; {known}"
            )
        elif smooth != ranking.best.name:
            words += (
                f" For the fit alone, {smooth} would be best, whether numbers are smooth or have spikes; but its bands are "
                f"wider. This plan serves both; {known}"
            )
    return planned(ranking, words)


def workload_of(target: str | Workload, size: int, circular: bool = False) -> Workload:
    """The questions behind the name of a target."""
    if isinstance(target, Workload):
        if target.size != size:
            raise InvalidParameter(f"The workload has weights for {target.size} answers, but there are {size}.")
        return target
    named = {QUANTILES: Workload.prefixes, "ranges": Workload.arcs if circular else Workload.ranges}
    if target not in named:
        raise InvalidParameter(
            'The target of a distribution is "distribution", "quantiles", "ranges" or a Workload. Give one of them.'
        )
    return named[target](size)


def _shares(prior: str | ArrayLike | None, size: int) -> Floats:
    """The expected shares of all answers."""
    shares = np.full(size, 1 / size) if prior is None else np.asarray(prior)
    good = shares.shape == (size,) and shares.dtype.kind in "iuf" and (shares >= 0).all()
    if not good or abs(shares.sum() - 1) > 1e-9:
        raise InvalidParameter(
            f'A prior is {size} expected shares that sum to 1, or for the targets "distribution" and "quantiles" one of '
            '"smooth" and "spiky".'
        )
    return shares.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Shapes:
    """What is known about the shape of a distribution before it is estimated, and the error of the fit to expect then."""

    size: int
    kinds: tuple[str, ...]
    shares: Floats | None = None
    ranks: bool = False  # whether it is the rank of quantiles that counts: then errors count where people are expected

    @classmethod
    def of(cls, size: int, prior: str | ArrayLike | None, ranks: bool = False) -> "Shapes":
        if prior is None or (isinstance(prior, str) and prior in (SMOOTH, SPIKY)):
            return cls(size, (SMOOTH, SPIKY) if prior is None else (str(prior),), None, ranks)
        return cls(size, (), _shares(prior, size), ranks)

    @property
    def what(self) -> str:
        """Of what the error is."""
        return "rank error of quantiles" if self.ranks else "error of the distribution function"

    @property
    def words(self) -> str:
        """For which shapes."""
        if self.shares is not None:
            return f"in {TRIES} simulated collections under the prior"
        return (
            "geometric mean of the last three columns, of which the band counts half"
            if len(self.kinds) > 1
            else f"expected mean after the fit, for {self.kinds[0]} numbers"
        )

    @property
    def columns(self) -> tuple[Column, ...]:
        """The errors for each shape, where there are two."""
        if len(self.kinds) < 2:
            return ()
        band = Column(
            "band", "standard error of its unbiased estimate, on which bands are based, root mean square", ".3g", 100
        )
        words = {
            SMOOTH: "its expected mean error after the fit, if the density is smooth",
            SPIKY: "the same, if some answers are far more common than others",
        }
        return *(Column(kind, words[kind], ".3g", 100) for kind in self.kinds), band

    def errors(self, mechanism: DistributionMechanism, n: int) -> tuple[float, int, dict[str, float | None]]:
        """The expected mean error of the distribution function, the bits of a report, and the error for each shape."""
        bits = mechanism.layout.bits
        if self.shares is not None:
            return self._simulated(mechanism, n, self.shares), bits, {}
        each: dict[str, float | None] = {kind: self._expected(mechanism, n, kind) for kind in self.kinds}
        if len(each) > 1:
            asked = workload_of("ranges" if mechanism.circular else QUANTILES, self.size, mechanism.circular)
            each["band"] = math.sqrt(asked.mean_square(mechanism.even_noise) / n)
        return _together(each) or 0.0, bits, each if len(each) > 1 else {}

    def bound(self, epsilon: float, n: int, circular: bool) -> float | None:
        """An error that is proved to be out of reach, where one is known."""
        if self.shares is not None:
            return None
        each = {kind: fitted_bound(precision(self.size, kind, circular), epsilon, n, circular) for kind in self.kinds}
        if len(each) > 1:
            each["band"] = question_bound(workload_of("ranges" if circular else QUANTILES, self.size, circular), epsilon, n)
        return _together(each)

    def _expected(self, mechanism: DistributionMechanism, n: int, kind: str) -> float:
        """For normal shares with the covariance of such densities: exact for an estimate that knows it."""
        known = n * mechanism.information + 10 * n
        spread = np.linalg.inv(known + precision(self.size, kind, mechanism.circular))
        sums = np.cumsum(np.cumsum(spread, axis=0), axis=1).diagonal()
        return float(np.sqrt(2 / np.pi * np.maximum(sums, 0)).mean())

    def _simulated(self, mechanism: DistributionMechanism, n: int, shares: Floats) -> float:
        draws, chances = np.random.default_rng(SEED), shares @ mechanism.matrix
        found = []
        for _ in range(TRIES):
            values, _ = fitted(mechanism.matrix, draws.multinomial(n, chances / chances.sum()), mechanism.circular)
            found.append(float(np.average(np.abs(np.cumsum(values - shares)), weights=shares if self.ranks else None)))
        return float(np.mean(found))


def _together(each: Mapping[str, float | None]) -> float | None:
    """The geometric mean of errors for several shapes and of the band, which counts half; None where one is missing."""
    weights = [BAND if name == "band" else 1 for name in each]
    errors = [error for error in each.values() if error is not None]
    if len(errors) < len(each):
        return None
    return float(math.prod(error**weight for error, weight in zip(errors, weights, strict=True)) ** (1 / sum(weights)))


@lru_cache(maxsize=16)
def precision(size: int, kind: str, circular: bool) -> Floats:
    """One over the covariance of the shares of smooth or spiky densities."""
    curve, flat = differences(size, 2, circular) * float(size) ** 5, 1e-2 * np.eye(size)
    if kind == SMOOTH:
        return CURVE * curve + flat
    return np.asarray(np.linalg.inv(np.linalg.inv(ROUGH_CURVE * curve + flat) + SPIKES**2 * 256 / size * np.eye(size)))
