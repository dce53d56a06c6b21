"""One of several places: the share of each, or with a target a map with the shares of its parts."""

from itertools import product
from typing import Any

import numpy as np

from deniable.core import Mechanism, Tally
from deniable.domains import Points
from deniable.errors import InvalidParameter
from deniable.survey.kinds.choice import Choice
from deniable.survey.kinds.distributed import Distributed
from deniable.survey.kinds.kind import Details, WrongDetail
from deniable.survey.kinds.map_summary import edges_of, is_map, ranges
from deniable.survey.kinds.summary import summary

AREA = (
    "area is two corners, [[south, west], [north, east]] in degrees, such as [[48.80, 2.25], [48.92, 2.42]], and grid the "
    "number of its cells from south to north and from west to east, such as [8, 8]."
)


class Places(Choice[Points]):
    """Named places with their latitudes and longitudes, or the cells of an area."""

    keys = frozenset({"places", "points", "area", "grid"})

    def domain(self, details: Details) -> Points:
        if "area" in details or "grid" in details:
            return self._cells(details)
        names, points = details.get("places"), details.get("points")
        if not isinstance(names, list) or not isinstance(points, list) or len(names) != len(points):
            raise WrongDetail(
                "points",
                'A question of kind "place" needs places, a list of names, and points, one [latitude, longitude] for each; '
                "or an area and a grid.",
            )
        try:
            return Points(np.array(points, np.float64), "haversine", labels=names)
        except (InvalidParameter, TypeError, ValueError) as error:
            raise WrongDetail("points", str(error)) from None

    def _cells(self, details: Details) -> Points:
        """The centres of the cells of an area, named by their edges."""
        if {"places", "points"} & set(details):
            raise WrongDetail("area", "A question has either places and points, or an area and a grid.")
        grid = details.get("grid")
        whole = isinstance(grid, list) and len(grid) == 2 and all(type(each) is int and 2 <= each <= 64 for each in grid)
        try:
            corners = np.array(details.get("area"), np.float64)
        except (TypeError, ValueError):
            corners = np.zeros(0)
        if not isinstance(grid, list) or not whole:
            raise WrongDetail("grid", AREA + " Each is from 2 to 64.")
        if corners.shape != (2, 2) or not np.isfinite(corners).all() or not (corners[0] < corners[1]).all():
            raise WrongDetail("area", AREA)
        ends = [np.linspace(low, high, many + 1) for low, high, many in zip(*corners, grid, strict=True)]
        centres = [np.round((own[1:] + own[:-1]) / 2, 9) for own in ends]
        names = [f"{first}, {second}" for first, second in product(*(ranges(edges_of(own)) for own in centres))]
        try:
            return Points(np.array(list(product(*centres))), "haversine", labels=names)
        except InvalidParameter as error:
            raise WrongDetail("area", str(error)) from None


class Place(Distributed[Points], Places):
    """Places; with `target = "ranges"` a map, for which the shares of all rectangles count."""

    keys = Places.keys | {"target"}
    targets = ("ranges",)

    def error(self, domain: Points, mechanism: Mechanism, people: int) -> float:
        """Of the share of a rectangle, root mean square, if all places are equally common."""
        if not is_map(mechanism):
            return super().error(domain, mechanism, people)
        from deniable.mechanisms.distributions.plane import plane_of  # which few surveys need

        noise = mechanism.joint_noise(np.full(domain.size, 1 / domain.size))  # type: ignore[attr-defined]
        return float(np.sqrt(plane_of(domain).rectangles.mean_square(noise) / people))

    def estimate(self, mechanism: Mechanism, tally: Tally) -> Any:
        if not is_map(mechanism):
            return super().estimate(mechanism, tally)
        return summary((mechanism, tally))  # type: ignore[arg-type]

    def moves(self, details: Details) -> bool:
        return False
