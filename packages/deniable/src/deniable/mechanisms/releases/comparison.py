"""What a release costs under every mechanism for it, beside the constant answer and the bound that no mechanism beats."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Progress
from deniable.core import Domain, checked_epsilon, odds_below
from deniable.core.odds import LARGEST_EPSILON
from deniable.domains.metric import Metric, checked_prior, metric_of
from deniable.errors import InvalidParameter, MissingExtra
from deniable.mechanisms.algebra import optimal
from deniable.mechanisms.algebra.distances import distances_of
from deniable.mechanisms.algebra.metric_program import EXACT
from deniable.mechanisms.algebra.release_bound import LARGEST, release_bound
from deniable.mechanisms.releases import release_channel as rivals
from deniable.mechanisms.releases.bipartite import Bipartite
from deniable.mechanisms.releases.coarsened import Coarsened
from deniable.mechanisms.releases.metric_release import MetricRelease, best_known, checked_rate
from deniable.mechanisms.releases.release import Release
from deniable.mechanisms.releases.release_channel import exponential_channel
from deniable.mechanisms.releases.staircase import Staircase


@dataclass(frozen=True)
class Row:
    """One way to release an answer: its expected loss under the prior, that of the worst answer, and a remark."""

    name: str
    expected: float
    worst: float | None
    remark: str = ""


@dataclass(frozen=True)
class Comparison:
    """Releases side by side at one epsilon; `bound` is the smallest expected loss that any mechanism can have, if known."""

    epsilon: float
    size: int
    lines: tuple[Row, ...]
    bound: float | None
    remarks: tuple[str, ...] = ()  # what could not be compared, and why
    unit: str = "for one answer"  # what epsilon is counted for

    def __getitem__(self, name: str) -> Row:
        return {line.name: line for line in self.lines}[name]

    def __str__(self) -> str:
        head = f"{'release':22} {'expected loss':>13} {'to the bound':>12} {'worst answer':>12}"
        rows = [f"{self.size:,} answers, epsilon {self.epsilon:g} {self.unit}", head]
        for line in self.lines:
            ratio = f"{line.expected / self.bound:.3f}x" if self.bound else ""
            worst = f"{line.worst:.6g}" if line.worst is not None else ""
            rows.append(f"{line.name:22} {line.expected:13.6g} {ratio:>12} {worst:>12} {line.remark}".rstrip())
        return "\n".join([*rows, *self._legend(), *self.remarks])

    def _legend(self) -> list[str]:
        """What the bound is, and how far the best release is above it at most."""
        if not self.bound:
            return ["to the bound: not shown, because no bound above 0 is known for these answers at this epsilon"]
        best = min((line for line in self.lines if line.worst is not None), key=lambda line: line.expected)
        above = max(0.0, best.expected / self.bound - 1)
        return [
            f"to the bound: expected loss over {self.bound:.6g}, a lower bound for every release with this promise; "
            f"{best.name} is at most {above:.1%} above it"
        ]


def compare_releases(
    domain: Domain, epsilon: float, prior: ArrayLike | None = None, also: Release | None = None
) -> Comparison:
    """All releases for a domain, compared with the smallest expected loss that any can have.

    On a line `Coarsened` reaches it. Elsewhere it is that of a linear program for few answers, and for up to 4,096 what a
    solution of its dual proves, checked in whole numbers.
    """
    metric, shares = metric_of(domain), checked_prior(prior, metric_of(domain).size)
    lines = list(_lines(domain, metric, epsilon, shares))
    bound: float | None = None
    remarks: tuple[str, ...] = ()
    if metric.line is not None:
        bound = next(line.expected for line in lines if line.name == "coarsened")
    if metric.size <= optimal.LARGEST:
        try:
            bound, channel = optimal.optimal_channel(metric, odds_below(epsilon), shares)
            paid = (channel * metric.losses(np.arange(metric.size))).sum(axis=1)
            lines.append(Row("optimal", bound, float(paid.max()), "linear program"))
        except (MissingExtra, InvalidParameter) as error:
            remarks = (f"Left out: the optimum. {error}",)
    if bound is None:
        bound = release_bound(metric, checked_epsilon(epsilon), shares)
        if bound is None and metric.size > LARGEST:
            remarks = (*remarks, f"No bound: it is computed for at most {LARGEST:,} answers.")
    if also is not None and not any(also.expected_loss(shares) == line.expected for line in lines):
        lines.append(Row(also.wire, also.expected_loss(shares), also.worst_loss(), "this one"))
    return Comparison(float(epsilon), metric.size, tuple(lines), bound, remarks)


def _lines(domain: Domain, metric: Metric, epsilon: float, shares: Floats) -> Iterator[Row]:
    def line(name: str, release: Release, remark: str = "") -> Row:
        return Row(name, release.expected_loss(shares), release.worst_loss(), remark)

    yield _constant(metric, shares)
    yield line("direct", Bipartite(domain, epsilon, "given", 1))
    if metric.size <= rivals.LARGEST:
        losses = metric.losses(np.arange(metric.size))
        for name, tight in (("exponential", False), ("exponential, tight", True)):
            rows = (exponential_channel(metric, epsilon, tight) * losses).sum(axis=1)
            yield Row(name, float(shares @ rows), float(rows.max()))
    with suppress(InvalidParameter):  # its weights do not fit in 63 bits at the largest budgets
        staircase = Staircase(domain, epsilon, prior=shares)
        yield line("staircase", staircase, f"rings of {', '.join(str(size) for size in staircase.sizes)}")
    makers: dict[str, Callable[[], Bipartite]] = {
        "bipartite, min": lambda: Bipartite(domain, epsilon),
        "bipartite, mean": lambda: Bipartite(domain, epsilon, "mean", prior=shares),
    }
    for name, make in makers.items():
        bipartite = make()
        yield line(name, bipartite, f"{bipartite.near} near")
    coarsened = Coarsened(domain, epsilon, prior=shares)
    yield line("coarsened", coarsened, f"{coarsened.cells} representatives")


def _constant(metric: Metric, shares: Floats) -> Row:
    always = np.concatenate([losses @ shares for _, losses in metric.blocks(released=True)])
    constant = int(always.argmin())
    worst = float(metric.losses_of(np.array([constant])).max())
    return Row("constant answer", float(always[constant]), worst, "no report is needed")


def compare_metric_releases(
    domain: Domain, per_unit: float, prior: ArrayLike | None = None, progress: Progress | None = None
) -> Comparison:
    """The losses of all releases with the same epsilon per unit of distance; the bound is proved in whole numbers.

    Rings keep it if their whole epsilon is what the two nearest answers allow. The exponential mechanism with half of
    epsilon keeps it by the triangle inequality. `progress` is called with the share of the linear program that is done.
    """
    metric = metric_of(domain)
    shares, apart = checked_prior(prior, metric.size), distances_of(metric)
    nearest = min(checked_rate(per_unit) * float(apart[apart > 0].min()), LARGEST_EPSILON)
    lines, remarks, bound = [_constant(metric, shares)], list[str](), None
    with suppress(InvalidParameter):  # an epsilon that is too small or too large for whole weights
        for name, rings in (("staircase", Staircase), ("bipartite, mean", partial(Bipartite, rule="mean"))):
            release: Release = rings(domain, nearest, prior=shares)
            remark = f"epsilon {nearest:.3g}, that of the nearest two"
            lines.append(Row(name, release.expected_loss(shares), release.worst_loss(), remark))
    half = np.exp(-per_unit / 2 * apart)
    rows = (half * apart).sum(axis=1) / half.sum(axis=1)
    lines.append(Row("exponential", float(shares @ rows), float(rows.max())))
    laplace = MetricRelease.laplace(domain, per_unit)
    lines.append(Row("laplace", laplace.expected_loss(shares), laplace.worst_loss()))
    try:
        known, channel = best_known(apart, per_unit, shares, progress)
        rows = (channel * apart).sum(axis=1)
        bound = known or None
        how = "linear program" if metric.size <= EXACT else "linear program over columns"
        lines.append(Row("optimal", float(shares @ rows), float(rows.max()), how))
    except (MissingExtra, InvalidParameter) as error:
        remarks.append(f"Left out: the optimum. {error}")
    return Comparison(float(per_unit), metric.size, tuple(lines), bound, tuple(remarks), f"per {metric.unit or 'unit'}")
