"""Measured beside predicted errors: whole collections are simulated for every mechanism of a question."""

import math
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.arrays import Ints
from deniable.core import Coins, Domain, Mechanism, Tally, checked_coins
from deniable.core.showing import axes_for
from deniable.errors import InvalidParameter
from deniable.mechanisms.registry import candidates
from deniable.mechanisms.shares.subset_selection import SubsetSelection
from deniable.mechanisms.shares.unary import Unary
from deniable.metrics import mae, mse, top_f1, top_ndcg
from deniable.planning.planner import for_shares
from deniable.planning.ranking import Row, aligned, counted, people, short_name
from deniable.planning.shares import ShareMechanism, options, plan_shares
from deniable.wrappers.open_answers import checked_sensitive
from deniable.wrappers.utility_optimized import OPEN_SHARE, UtilityOptimized

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Truth = Literal["zipf", "uniform"]

MOST_REPORTS, MOST_BITS = 1 << 17, 1 << 28  # randomized together, so that they fit into any memory
LEGEND = {
    "predicted, measured": "standard error of a share in percentage points, root mean square over all answers",
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
    predicted: float  # root mean square, as a share
    measured: float
    ratio: float  # of squared errors
    ratio_error: float  # standard error of that
    perturb_seconds: float  # for a million reports
    count_seconds: float
    bits: int
    mean_absolute: float
    top_f1: float | None = None
    top_ndcg: float | None = None

    def record(self) -> dict[str, object]:
        """All of it as plain data."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class MeasuredErrors:
    """Measured beside predicted errors of mechanisms for one question; print it to see the table."""

    rows: tuple[MeasuredError, ...]
    subject: str
    people: int
    repeats: int
    remarks: tuple[str, ...] = ()

    def __str__(self) -> str:
        ranked = self.rows[0].top_f1 is not None
        head = ["measured", "ratio", *(["absolute", "F1", "NDCG"] if ranked else ["perturb", "count"])]
        head = head if ranked else ["predicted", *head]
        lines = [["mechanism", *head, "bits"]]
        for row in self.rows:
            cells = {
                "predicted": f"{100 * row.predicted:.3g}",
                "measured": f"{100 * row.measured:.3g}",
                "ratio": f"{row.ratio:.3f} +- {row.ratio_error:.3f}",
                "absolute": f"{100 * row.mean_absolute:.3g}",
                "F1": f"{row.top_f1 or 0:.3f}",
                "NDCG": f"{row.top_ndcg or 0:.3f}",
                "perturb": f"{row.perturb_seconds:.2g}",
                "count": f"{row.count_seconds:.2g}",
            }
            lines.append([row.name, *(cells[name] for name in head), f"{row.bits:,}"])
        legend = [f"{name}: {words}" for name, words in LEGEND.items() if {*name.split(", ")} & {*lines[0]}]
        return "\n".join([f"{self.subject}:", aligned(lines), *legend, *self.remarks])

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """A row for each mechanism: the measured error with two standard errors, and a mark where it was predicted."""
        ax = axes_for(ax, 7, 1.4 + 0.35 * len(self.rows))
        places = range(len(self.rows), 0, -1)
        # For a root, d sqrt(x) = dx / (2 sqrt(x)); twice that is drawn.
        spread = [100 * row.predicted * row.ratio_error / math.sqrt(row.ratio) for row in self.rows]
        predicted, measured = [100 * row.predicted for row in self.rows], [100 * row.measured for row in self.rows]
        ax.plot(predicted, places, "|", color="#cc3311", markersize=18, markeredgewidth=2, label="predicted")
        ax.errorbar(measured, places, xerr=spread, fmt="o", color="#4477aa", ecolor="#222222", capsize=3, label="measured")
        ax.set_yticks(places, [row.name for row in self.rows])
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter("{x:g}")
        ax.set_xlabel("error of a share in percentage points, with two standard errors")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False)
        return ax


def compare(
    domain: Domain,
    epsilon: float,
    n: int | ArrayLike = 10_000,
    *,
    truth: Truth = "zipf",
    sensitive: Collection[object] | None = None,
    open_share: float | None = None,
    mechanisms: Collection[str] | None = None,
    repeats: int = 20,
    top: int | None = None,
    coins: Coins | None = None,
    progress: Callable[[float], None] | None = None,
) -> MeasuredErrors:
    """Simulate whole collections with every mechanism for a question and measure their errors beside the predicted ones.

    `n` is a number of people, whose answers follow `truth`, or how many people gave each answer. With `sensitive`, the
    mechanisms protect only those answers, and the published ones (uSS, uUE) are compared as well. `mechanisms` names the
    ones to compare, as in `plan(...).explain()`. With `top`, it is also measured how well the largest shares are found.
    Mechanisms registered by other packages take part; one that cannot do this question is left out with a remark.

    >>> from deniable.core.coins import SeededCoins
    >>> from deniable.domains import Categories
    >>> found = compare(Categories(["yes", "no"]), 1.0, 500, mechanisms=["direct"], repeats=50, coins=SeededCoins(1))
    >>> abs(found.rows[0].ratio - 1) < 5 * found.rows[0].ratio_error
    True
    """
    if for_shares.dispatch(type(domain)) is not plan_shares:
        raise InvalidParameter("A comparison is for the shares of single answers: give a domain such as Categories.")
    if repeats < 2:
        raise InvalidParameter("A comparison needs at least two collections of each mechanism: repeats=2.")
    held = people_by_answer(domain, n, truth) if isinstance(n, int) else np.asarray(n, np.int64)
    if held.shape != (domain.size,) or held.min() < 0 or not held.any():
        raise InvalidParameter(f"Say how many people answer, or how many gave each of the {domain.size:,} answers.")
    total, some = int(held.sum()), ""
    if sensitive is not None:
        secret = list(checked_sensitive(domain, sensitive))
        if open_share is None:
            open_share = float(1 - held[domain.index(secret)].sum() / total)
        some = f", {len(secret):,} of them sensitive, {open_share:.1%} of people have another"
    ranking = options(domain, epsilon, total, sensitive, OPEN_SHARE if open_share is None else open_share)
    rows = list(ranking)
    if sensitive is not None and open_share is not None:
        rows = sorted(rows + _published(domain, sensitive, epsilon, total, open_share), key=lambda row: row.error)
    rows = _wanted(rows, mechanisms)
    source = checked_coins(coins)
    found = []
    for place, row in enumerate(rows):

        def advance(share: float, place: int = place) -> None:
            if progress is not None:
                progress((place + share) / len(rows))

        found.append(_measured(row, held, repeats, source, top, advance))
    subject = (
        f"{domain.size:,} answers{some}, epsilon {epsilon:g} for one answer, {people(total)}, "
        f"{counted(repeats, 'collection')} each"
    )
    return MeasuredErrors(tuple(found), subject, total, repeats, ranking.remarks)


def people_by_answer(domain: Domain, people: int, truth: Truth) -> Ints:
    """How many people hold each value: as close to the wanted shares as whole people allow."""
    ranks = np.arange(1, domain.size + 1)
    return scaled(1 / ranks if truth == "zipf" else np.ones(domain.size), people)


def scaled(weights: ArrayLike, people: int) -> Ints:
    """So many people, in proportion to these weights."""
    edges = np.cumsum(np.asarray(weights, np.float64))
    if not edges[-1] > 0:
        raise InvalidParameter("This histogram counts nobody.")
    return np.diff(np.rint(edges / edges[-1] * people).astype(np.int64), prepend=0)


def _wanted(rows: list[Row[ShareMechanism]], names: Collection[str] | None) -> list[Row[ShareMechanism]]:
    if names is None:
        return rows
    wanted, known = {short_name(name) for name in names}, {short_name(name) for name in candidates()}
    for name in wanted:
        if name.removesuffix("-published") not in known:
            raise InvalidParameter(f"There is no mechanism {name!r}. Use some of {', '.join(known)}, separated by commas.")
    kept = [row for row in rows if short_name(row.name) in wanted]
    if len(kept) != len(wanted):
        raise InvalidParameter("Some of these mechanisms do not support this many answers or this epsilon. Leave them out.")
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


def _measured(
    row: Row[ShareMechanism], held: Ints, repeats: int, coins: Coins, top: int | None, advance: Callable[[float], None]
) -> MeasuredError:
    mechanism, total, fastest = row.mechanism, int(held.sum()), np.full(2, np.inf)
    answers = np.repeat(np.arange(len(held)), held)
    squares, others, truth = [], [], held / total
    for turn in range(repeats):
        seconds = np.zeros(2)
        tally = _collected(mechanism, answers, coins, seconds)
        fastest = np.minimum(fastest, seconds)  # the first collections load the compiled loops
        values = mechanism.estimate(tally).values
        squares.append(mse(truth, values))
        others.append([mae(truth, values), *((top_f1(truth, values, top), top_ndcg(truth, values, top)) if top else ())])
        advance((turn + 1) / repeats)
    mean, spread = float(np.mean(squares)), float(np.std(squares, ddof=1))
    perturb, count = 1e6 * fastest / total
    ratio, ratio_error = mean / row.error**2, spread / math.sqrt(repeats) / row.error**2
    means = np.mean(others, axis=0).tolist()
    return MeasuredError(
        row.name, row.error, math.sqrt(mean), ratio, ratio_error, float(perturb), float(count), row.bits, *means
    )


def _collected(mechanism: Mechanism, indices: Ints, coins: Coins, seconds: NDArray[np.float64]) -> Tally:
    """One collection; the seconds that perturbing and counting took are added up."""
    tally = Tally(mechanism.fingerprint, 0, np.zeros(mechanism.cells, np.int64))
    for answers in _parts(mechanism, indices):
        start = time.perf_counter()
        reports = mechanism.perturb(answers, coins)
        middle = time.perf_counter()
        tally += mechanism.tally(reports)
        seconds += (middle - start, time.perf_counter() - middle)
    return tally


def _parts(mechanism: Mechanism, indices: Ints) -> Iterator[list[object] | Ints]:
    labels, size = mechanism.domain.labels, max(1, min(MOST_REPORTS, MOST_BITS // mechanism.layout.bits))
    for start in range(0, len(indices), size):
        part = indices[start : start + size]
        yield part if isinstance(labels, range) else [labels[index] for index in part.tolist()]
