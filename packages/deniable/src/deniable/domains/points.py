"""Points: places, vectors and sets, with the distance between them as the loss."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.domains.metric import BLOCK, Metric, checked_labels
from deniable.domains.quadkey import LEVELS, quadkey
from deniable.errors import InvalidParameter, OutsideDomain

EARTH = 6371.0088  # the mean radius, in kilometres


@dataclass(frozen=True, eq=False)
class Points(Metric):
    """Points with a distance between any two; an answer is the label of a point, its number unless labels are given.

    - `euclidean`: rows of numbers; the straight distance.
    - `haversine`: rows of latitude and longitude in degrees; kilometres along the great circle.
    - `quadkey`: the same rows; how many of the 23 last levels of their map tiles differ.
    - `tanimoto`: rows of numbers from 0; 1 - xy / (xx + yy - xy).
    - `jaccard`: sets of words or whole numbers; 1 - common / all elements of both.

    >>> places = Points([[48.86, 2.35], [45.76, 4.84], [43.70, 7.27]], metric="haversine", labels=["Paris", "Lyon", "Nice"])
    >>> places.losses(np.array([0])).round()
    array([[  0., 392., 687.]])
    """

    points: Any
    metric: str = "euclidean"
    labels: Sequence[Any] = ()

    def __init__(self, points: Any, metric: str = "euclidean", labels: Sequence[Any] | None = None) -> None:
        if metric not in _ROWS:
            raise InvalidParameter(f"The metric is one of {', '.join(_ROWS)}; for other losses use LossMatrix.")
        kept = _sets(points) if metric == "jaccard" else _rows(points, metric)
        if len(kept) != len({row.tobytes() for row in kept} if isinstance(kept, np.ndarray) else set(kept)):
            raise InvalidParameter("Two points are the same. List every point once.")
        self._fix(points=kept, metric=metric, labels=checked_labels(labels, len(kept)))

    @cached_property
    def _ready(self) -> Floats:
        return _prepared(self.points, self.metric)

    def losses(self, truth: Ints) -> Floats:
        return _ROWS[self.metric](self._ready[truth], self._ready)

    @property
    def unit(self) -> str:
        return "km" if self.metric == "haversine" else ""

    def nearest(self, points: ArrayLike) -> Ints:
        """The number of the point nearest to each of these, of which there may be others than the domain's."""
        if self.metric == "jaccard":
            raise InvalidParameter("A set outside the domain has no nearest point. Answer with labels.")
        given = _rows(points, self.metric)
        if given.shape[1] != self.points.shape[1]:
            raise OutsideDomain(f"An answer must have {self.points.shape[1]} coordinates, as the points have.")
        ready = _prepared(given, self.metric)
        step = max(1, BLOCK // self.size)
        parts = [_ROWS[self.metric](ready[i : i + step], self._ready).argmin(axis=1) for i in range(0, len(given), step)]
        return np.concatenate(parts).astype(np.int64)

    def spec(self) -> Mapping[str, object]:
        rows = self.points.tolist() if isinstance(self.points, np.ndarray) else [sorted(s, key=repr) for s in self.points]
        named = {} if isinstance(self.labels, range) else {"labels": list(self.labels)}
        return {"kind": "points", "metric": self.metric, "points": rows, **named}


def _prepared(points: Any, metric: str) -> Floats:
    """The points in the form that distances are worked out from."""
    match metric:
        case "haversine":
            return _on_sphere(points)
        case "quadkey":
            return quadkey(points).astype(np.float64)
        case "jaccard":
            items = {item: place for place, item in enumerate(sorted(set().union(*points), key=repr))}
            member = np.zeros((len(points), len(items)))
            for row, items_of in enumerate(points):
                member[row, [items[item] for item in items_of]] = 1
            return member
    return np.asarray(points, np.float64)


def _rows(points: Any, metric: str) -> Floats:
    """Points as rows of finite numbers, refused where the metric cannot take them."""
    try:
        rows = np.array(points, np.float64)
    except (TypeError, ValueError):
        rows = np.empty((0, 0, 0))
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
        raise InvalidParameter("Points are rows of finite numbers, all equally long, at least one.")
    if metric in ("haversine", "quadkey") and (rows.shape[1] != 2 or (np.abs(rows) > [90, 180]).any()):
        raise InvalidParameter("Places are rows of latitude, from -90 to 90, and longitude, from -180 to 180 degrees.")
    if metric == "tanimoto" and rows.min() < 0:
        raise InvalidParameter("The Tanimoto distance is for numbers that are not negative.")
    return rows + 0.0  # no negative zeros, so that equal points have equal bytes


def _sets(points: Any) -> tuple[frozenset[Any], ...]:
    try:
        sets = tuple(frozenset(items) for items in points if not isinstance(items, str | bytes))
        good = len(sets) == len(points) and all(isinstance(item, str | int) for items in sets for item in items)
    except TypeError:
        good = False
    if not good:
        raise InvalidParameter("Sets are lists of words or whole numbers, one list for each answer.")
    return sets


def _on_sphere(places: Floats) -> Floats:
    latitude, longitude = np.radians(places).T
    return np.stack([np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)], axis=1)


def _euclidean(some: Floats, every: Floats) -> Floats:
    square = np.zeros((len(some), len(every)))
    for axis in range(every.shape[1]):
        apart = some[:, axis, None] - every[None, :, axis]
        apart *= apart
        square += apart
    return np.sqrt(square, out=square)


def _haversine(some: Floats, every: Floats) -> Floats:
    half = _euclidean(some, every)  # the chord; half of it is the sine of half the angle
    half *= 0.5
    return np.asarray(2 * EARTH * np.arcsin(np.minimum(half, 1, out=half), out=half))


def _tile_levels(some: Floats, every: Floats) -> Floats:
    differ = some.astype(np.int64)[:, None] ^ every.astype(np.int64)[None, :]
    bits = np.frexp(differ.astype(np.float64))[1]  # how long the part is in which the keys differ, two bits a level
    return np.asarray((bits + 1) // 2, np.float64)


def _tanimoto(some: Floats, every: Floats) -> Floats:
    dot = some @ every.T
    rest = (some**2).sum(axis=1)[:, None] + (every**2).sum(axis=1)[None, :] - dot
    return _one_less(dot, rest)


def _jaccard(some: Floats, every: Floats) -> Floats:
    common = some @ every.T
    return _one_less(common, some.sum(axis=1)[:, None] + every.sum(axis=1)[None, :] - common)


def _one_less(part: Floats, whole: Floats) -> Floats:
    """1 - part / whole, without what is only rounding; two empty ones are alike."""
    loss = 1 - np.divide(part, whole, out=np.ones_like(part), where=whole > 0)
    return np.where(loss < 1e-14, 0.0, loss)


_ROWS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "euclidean": _euclidean,
    "haversine": _haversine,
    "quadkey": _tile_levels,
    "tanimoto": _tanimoto,
    "jaccard": _jaccard,
}
assert 2 * LEVELS <= 53, "keys are exact as floats"
