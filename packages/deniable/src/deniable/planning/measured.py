"""Measured beside predicted errors: whole collections are simulated for every mechanism of a question."""

import math
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from textwrap import fill
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Progress
from deniable.core import AnyDomain, Coins, Domain, Mechanism, Tally, checked_coins
from deniable.core.showing import axes_for, html_table
from deniable.errors import InvalidParameter
from deniable.mechanisms.registry import candidates
from deniable.mechanisms.shares.subset_selection import SubsetSelection
from deniable.mechanisms.shares.unary import Unary
from deniable.metrics import mae, top_f1, top_ndcg
from deniable.planning.aims import Aim, Single, Truth, aim_of, held_by
from deniable.planning.planner import for_shares
from deniable.planning.ranking import ERROR, Column, Row, aligned, counted, people, percent, short_name
from deniable.planning.shares import ShareMechanism, options, plan_shares
from deniable.wrappers.open_answers import checked_sensitive
from deniable.wrappers.utility_optimized import OPEN_SHARE, UtilityOptimized

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from deniable.mechanisms.distributions.workload import Workload

MOST_REPORTS, MOST_BITS = 1 << 17, 1 << 28  # randomized together, so that they fit into any memory
LEGEND = {
    "ratio": "measured squared error divided by the predicted one, with its standard error",
    "absolute": "mean absolute error of a share in percentage points",
    "F1, NDCG": "how well the largest shares are found and ranked; 1 is perfect",
    "perturb, count": "seconds for a million reports on this machine",
    "bits": "size of one report",
}


@dataclass(frozen=True)
class MeasuredError:
    """What was predicted and what was measured for one mechanism."""

    name: str
    predicted: float  # root mean square
    measured: float
    ratio: float  # of squared errors
    ratio_error: float  # standard error of that
    perturb_seconds: float  # for a million reports
    count_seconds: float
    bits: int
    mean_absolute: float | None = None  # of shares
    top_f1: float | None = None
    top_ndcg: float | None = None
    above_bound: float | None = None  # how far a plan's error is above the best possible, at most

    def record(self) -> dict[str, object]:
        """All of it as plain data."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class MeasuredErrors:
    """Measured and predicted errors of mechanisms for one question; print it to see the table."""

    rows: tuple[MeasuredError, ...]
    subject: str
    people: int
    repeats: int
    remarks: tuple[str, ...] = ()
    error: Column = ERROR
    proof: Column | None = None  # what the column of distances from the best possible is, or why there is none

    def __str__(self) -> str:
        return "\n".join([f"{self.subject}:", self.table(), self.legend()])

    def table(self) -> str:
        """All rows, aligned."""
        return aligned(self._lines())

    def legend(self) -> str:
        """What the columns mean, and what was left out."""
        return "\n".join([*self._legend(self._lines()[0]), *self.remarks])

    def _repr_html_(self) -> str:
        """The table with its legend: what notebooks show."""
        heading, *lines = self._lines()
        return html_table(self.subject, heading, lines, 1, "; ".join([*self._legend(heading), *self.remarks]))

    def _legend(self, heading: list[str]) -> list[str]:
        """What these columns mean, one a line."""
        meanings = {"predicted, measured": self.error.meaning, **LEGEND}
        found = [f"{name}: {words}" for name, words in meanings.items() if {*name.split(", ")} & {*heading}]
        return found if self.proof is None else [*found, f"{self.proof.name}: {self.proof.meaning}"]

    def _lines(self) -> list[list[str]]:
        """The heading and all rows, as cells."""
        ranked = self.rows[0].top_f1 is not None
        head = ["measured", "ratio", *(["absolute", "F1", "NDCG"] if ranked else ["perturb", "count"])]
        head = head if ranked else ["predicted", *head]
        bounded = ["above"] if any(row.above_bound is not None for row in self.rows) else []
        lines = [["mechanism", *head, *bounded, "bits"]]
        for row in self.rows:
            cells = {
                "predicted": self.error.shown(row.predicted),
                "measured": self.error.shown(row.measured),
                "ratio": f"{row.ratio:.3f} +- {row.ratio_error:.3f}",
                "absolute": f"{100 * (row.mean_absolute or 0):.3g}",
                "F1": f"{row.top_f1 or 0:.3f}",
                "NDCG": f"{row.top_ndcg or 0:.3f}",
                "perturb": f"{row.perturb_seconds:.2g}",
                "count": f"{row.count_seconds:.2g}",
                "above": percent(row.above_bound),
            }
            lines.append([row.name, *(cells[name] for name in (*head, *bounded)), f"{row.bits:,}"])
        return lines

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """A row for each mechanism: the measured error with two standard errors, and a mark where it was predicted."""
        ax = axes_for(ax, 7, 1.4 + 0.35 * len(self.rows))
        places = range(len(self.rows), 0, -1)
        scale = self.error.scale
        # For a root, d sqrt(x) = dx / (2 sqrt(x)); twice that is drawn.
        spread = [scale * row.predicted * row.ratio_error / math.sqrt(row.ratio) for row in self.rows]
        predicted, measured = [scale * row.predicted for row in self.rows], [scale * row.measured for row in self.rows]
        ax.plot(predicted, places, "|", color="#cc3311", markersize=18, markeredgewidth=2, label="predicted")
        ax.errorbar(measured, places, xerr=spread, fmt="o", color="#4477aa", ecolor="#222222", capsize=3, label="measured")
        ax.set_yticks(places, [row.name for row in self.rows])
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter("{x:g}")
        ax.set_xlabel(fill(f"{self.error.meaning}, with two standard errors", 90))
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False)
        return ax


def compare(
    domain: AnyDomain,
    epsilon: float,
    n: int | ArrayLike = 10_000,
    *,
    target: "str | Workload" = "shares",
    truth: Truth = "zipf",
    sensitive: Collection[object] | None = None,
    open_share: float | None = None,
    mechanisms: Collection[str] | None = None,
    repeats: int = 20,
    top: int | None = None,
    coins: Coins | None = None,
    progress: Progress | None = None,
) -> MeasuredErrors:
    """Simulate whole collections with every mechanism for a question and compare their errors with the predicted ones.

    `n` is a number of people, whose answers follow `truth`, or how many people gave each answer. `target` is as for `plan`:
    "shares" (of single answers, of the records of `Vectors`, or of the keys of a `KeyValue`, which also has "frequencies"
    without the values), "mean", "distribution", "quantiles", "ranges" or a `Workload`. With `sensitive`, the mechanisms
    protect only those answers, and the published ones (uSS, uUE) are compared as well. `mechanisms` names the ones to
    compare, as in `plan(...).explain()`. With `top`, it is also measured how well the largest shares are found. Mechanisms
    registered by other packages take part; one that cannot do this question is left out with a remark.

    >>> from deniable.core.coins import SeededCoins
    >>> from deniable.domains import Categories, Interval
    >>> found = compare(Categories(["yes", "no"]), 1.0, 500, mechanisms=["direct"], repeats=50, coins=SeededCoins(1))
    >>> abs(found.rows[0].ratio - 1) < 5 * found.rows[0].ratio_error
    True
    >>> sorted(row.name for row in compare(Interval(0, 120, steps=12), 4.0, 500, target="mean", repeats=2).rows)
    ['Duchi', 'hybrid', 'optimal', 'piecewise, original', 'piecewise, suboptimal', 'three outputs', 'window']
    """
    if repeats < 2:
        raise InvalidParameter("A comparison needs at least two collections of each mechanism: repeats=2.")
    source, single = checked_coins(coins), for_shares.dispatch(type(domain)) is plan_shares
    if not isinstance(domain, Domain):
        raise InvalidParameter("A comparison needs a domain of answers, such as Categories or Interval.")
    aim: Aim
    if target == "shares" and single:
        aim, rows, some = _shares(cast(Domain, domain), epsilon, n, truth, sensitive, open_share)
    elif sensitive is not None or top is not None:
        raise InvalidParameter("Sensitive answers and the largest shares are compared for the shares of single answers.")
    else:
        aim, some = aim_of(domain, epsilon, n, target, truth, source), ""
        rows = list(aim.ranking)
    rows = _wanted(rows, mechanisms, [row.name for row in aim.ranking])
    found = []
    for place, row in enumerate(rows):

        def advance(share: float, place: int = place) -> None:
            if progress is not None:
                progress((place + share) / len(rows))

        found.append(_measured(row, aim, repeats, source, top, advance))
    each = f"{counted(repeats, 'collection')} each"
    subject = f"{aim.ranking.subject}, {each}"
    if target == "shares" and single:
        subject = f"{domain.size:,} answers{some}, epsilon {epsilon:g} for one answer, {people(aim.people)}, {each}"
    proof = replace(aim.ranking.proof, meaning=f"in a plan, {aim.ranking.proof.meaning}")
    return MeasuredErrors(tuple(found), subject, aim.people, repeats, aim.ranking.remarks, aim.error, proof)


def _shares(
    domain: Domain,
    epsilon: float,
    n: int | ArrayLike,
    truth: Truth,
    sensitive: Collection[object] | None,
    open_share: float | None,
) -> tuple[Single, list[Row[Any]], str]:
    """The shares of single answers, of which some may be sensitive: the aim, its mechanisms, and that in words."""
    held, some = held_by(domain, n, truth), ""
    total = int(held.sum())
    if sensitive is not None:
        secret = list(checked_sensitive(domain, sensitive))
        if open_share is None:
            open_share = float(1 - held[domain.index(secret)].sum() / total)
        some = f", {len(secret):,} of them sensitive, {open_share:.1%} of people have another"
    ranking = options(domain, epsilon, total, sensitive, OPEN_SHARE if open_share is None else open_share)
    rows: list[Row[Any]] = list(ranking)
    if sensitive is not None and open_share is not None:
        rows = sorted(rows + _published(domain, sensitive, epsilon, total, open_share), key=lambda row: row.error)
    return Single(domain, held, ranking), rows, some


def _wanted(rows: list[Row[Any]], names: Collection[str] | None, ranked: Collection[str]) -> list[Row[Any]]:
    if names is None:
        return rows
    wanted, known = {short_name(name) for name in names}, {short_name(name) for name in (*candidates(), *ranked)}
    for name in wanted:
        if name.removesuffix("-published") not in known:
            listed = ", ".join(dict.fromkeys(short_name(row.name) for row in rows))
            raise InvalidParameter(f"There is no mechanism {name!r}. Use some of {listed}, separated by commas.")
    kept = [row for row in rows if short_name(row.name) in wanted]
    if len(kept) != len(wanted):
        raise InvalidParameter("Some of these mechanisms do not support this question or this epsilon. Leave them out.")
    return kept


def _published(
    domain: Domain, sensitive: Collection[object], epsilon: float, n: int, open_share: float
) -> list[Row[ShareMechanism]]:
    """The published mechanisms that keep their promise."""
    found: list[Row[ShareMechanism]] = []
    if len(set(sensitive)) > 1:
        for name, family in (("subset, published", SubsetSelection), ("unary, published", Unary)):
            mechanism = UtilityOptimized.as_published(family, domain, sensitive, epsilon, open_share)
            shares = np.where(mechanism.secret, (1 - open_share) / len(set(sensitive)), 0.0)
            shares[~mechanism.secret] = open_share / (~mechanism.secret).sum()
            error = math.sqrt(float(np.mean(mechanism.predict(shares, n).standard_error ** 2)))
            found.append(Row(name, mechanism, error, mechanism.layout.bits))
    return found


def _measured(row: Row[Any], aim: Aim, repeats: int, coins: Coins, top: int | None, advance: Progress) -> MeasuredError:
    mechanism, fastest = row.mechanism, np.full(2, np.inf)
    squares, others, predicted = [], [], aim.predicted(row)
    for turn in range(repeats):
        seconds = np.zeros(2)
        tally = _collected(mechanism, aim, coins, seconds)
        fastest = np.minimum(fastest, seconds)  # the first collections load the compiled loops
        squares.append(aim.square(mechanism, tally))
        if type(aim) is Single:
            shares, values = aim.truth, mechanism.estimate(tally).values
            ranked = (top_f1(shares, values, top), top_ndcg(shares, values, top)) if top else ()
            others.append([mae(shares, values), *ranked])
        advance((turn + 1) / repeats)
    mean, spread = float(np.mean(squares)), float(np.std(squares, ddof=1))
    perturb, count = 1e6 * fastest / aim.people
    ratio, ratio_error = mean / predicted**2, spread / math.sqrt(repeats) / predicted**2
    means = np.mean(others, axis=0).tolist() if others else []
    found = MeasuredError(
        row.name, predicted, math.sqrt(mean), ratio, ratio_error, float(perturb), float(count), row.bits, *means
    )
    return replace(found, above_bound=aim.ranking.above(row))


def _collected(mechanism: Mechanism, aim: Aim, coins: Coins, seconds: Floats) -> Tally:
    """One collection; the seconds that perturbing and counting took are added up."""
    tally = Tally(mechanism.fingerprint, 0, np.zeros(mechanism.cells, np.int64))
    size = max(1, min(MOST_REPORTS, MOST_BITS // mechanism.layout.bits))
    for first in range(0, aim.people, size):
        answers = aim.answers(slice(first, min(first + size, aim.people)))
        start = time.perf_counter()
        reports = mechanism.perturb(answers, coins)
        middle = time.perf_counter()
        tally += mechanism.tally(reports)
        seconds += (middle - start, time.perf_counter() - middle)
    return tally
