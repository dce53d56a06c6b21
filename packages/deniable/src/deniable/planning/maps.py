"""Which mechanism for the distribution of places: by the shares of all rectangles of a map."""

import math
from collections.abc import Mapping

from deniable.core import Domain, checked_epsilon
from deniable.errors import InvalidParameter
from deniable.mechanisms.distributions.plane import plane_of
from deniable.mechanisms.distributions.tiles import Tiles
from deniable.planning.distribution_bounds import UNBIASED, question_bound, unproved
from deniable.planning.ranking import EQUAL, Column, Ranking, Row, checked_people, people, planned


def map_options(domain: Domain, epsilon: float, n: int) -> Ranking[Tiles]:
    """Every mechanism for a map, the smallest error of all rectangles first."""
    checked_people(n)
    budget, plane = checked_epsilon(epsilon), plane_of(domain)
    offered: Mapping[str, Tiles] = {
        "tiles, weighted": Tiles.weighted(domain, budget),
        "quad tree, weighted": Tiles.weighted(domain, budget, squares=True),
        "points": Tiles.of(domain, budget, [[0, 0]]),
    }
    rows = tuple(
        Row(name, each, math.sqrt(plane.rectangles.mean_square(each.even_noise) / n), each.layout.bits)
        for name, each in offered.items()
    )
    error = Column(
        "error",
        "standard error of the shares of all rectangles in percentage points, root mean square, if all answers are equally "
        "common",
        ".3g",
        100,
    )
    shape = " by ".join(f"{size:,}" for size in plane.shape)
    subject = f"a map of {plane.size:,} places, {shape}, epsilon {budget:g} for one answer, {people(n)}"
    bound = question_bound(plane.rectangles, budget, n)
    return Ranking(rows, subject, error, close=EQUAL, bound=bound, rivals=UNBIASED, unbounded=unproved(plane.size))


def plan_map(domain: Domain, epsilon: float, n: int, target: object, max_bits: int | None = None) -> Tiles:
    """The best mechanism for a map; its `explain()` shows the others.

    >>> from deniable.domains import Interval, Product
    >>> plan_map(Product([Interval(0, 1, steps=7), Interval(0, 1, steps=7)]), 1.0, 10_000, "ranges").wire
    'tiles-1'
    """
    if target not in ("ranges", "distribution"):
        raise InvalidParameter('A map is planned for the shares of all rectangles: target="ranges".')
    ranking = map_options(domain, epsilon, n).within(max_bits)
    return planned(ranking, "The error is that of the unbiased estimate, which intervals belong to.")
