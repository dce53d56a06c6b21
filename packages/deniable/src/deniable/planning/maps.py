"""Which mechanism for the distribution of places: by the shares of all rectangles of a map."""

import math
from collections.abc import Sequence
from functools import partial

from deniable.core import Candidate, Domain, checked_epsilon, offered
from deniable.errors import InvalidParameter
from deniable.mechanisms.distributions.plane import plane_of
from deniable.mechanisms.distributions.shifted_tiles import MOST_PLACES, ShiftedTiles
from deniable.mechanisms.distributions.tiles import Tiles
from deniable.planning.distribution_bounds import UNBIASED, question_bound, unproved
from deniable.planning.ranking import EQUAL, Column, Ranking, Row, checked_people, made, people, planned

WORDS = "The error is that of the unbiased estimate, on which intervals are based."
MAPS: Sequence[Candidate[Tiles]] = (
    Candidate("shifted tiles", ShiftedTiles.mixed, MOST_PLACES, since=2),
    Candidate("tiles, weighted", Tiles.weighted),
    Candidate("quad tree, weighted", partial(Tiles.weighted, squares=True)),
    Candidate("points", partial(Tiles.of, levels=[[0, 0]])),
)


def map_options(domain: Domain, epsilon: float, n: int, edition: int | None = None) -> Ranking[Tiles]:
    """Every mechanism for a map, or those of an edition of the planner, the smallest error of all rectangles first."""
    checked_people(n)
    budget, plane = checked_epsilon(epsilon), plane_of(domain)

    def row(candidate: Candidate[Tiles]) -> Row[Tiles]:
        mechanism = candidate.made(domain, budget)
        error = math.sqrt(plane.rectangles.mean_square(mechanism.even_noise) / n)
        return Row(candidate.name, mechanism, error, mechanism.layout.bits)

    rows, remarks = made(offered(MAPS, edition), plane.size, row)
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
    why = unproved(plane.size)
    return Ranking(rows, subject, error, remarks=remarks, close=EQUAL, bound=bound, rivals=UNBIASED, unbounded=why)


def plan_map(
    domain: Domain, epsilon: float, n: int, target: object, max_bits: int | None = None, edition: int | None = None
) -> Tiles:
    """The best mechanism for a map; its `explain()` shows the others.

    >>> from deniable.domains import Interval, Product
    >>> plan_map(Product([Interval(0, 1, steps=7), Interval(0, 1, steps=7)]), 1.0, 10_000, "ranges").wire
    'shifted-tiles-1'
    """
    if target not in ("ranges", "distribution"):
        raise InvalidParameter('A map is planned for the shares of all rectangles: target="ranges".')
    return planned(map_options(domain, epsilon, n, edition).within(max_bits), WORDS)
