"""What a count of a private graph promises: what one edge spends in each of its numbers, and that it is within epsilon."""

import math
from dataclasses import dataclass
from fractions import Fraction

from deniable.core import checked_epsilon, log_up
from deniable.errors import InvalidParameter
from deniable.graphs import cores
from deniable.graphs.degree_counts import STARS
from deniable.graphs.plan import Plan, promise
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.noisy_count import NoisyCount

EXACT, THEOREM = "exact", "theorem"
PEOPLE = 100  # neighbours in the sentence about a whole person


@dataclass(frozen=True)
class Spent:
    """What one edge spends at most, on what; exact where it is the logarithm of a fraction, rounded up."""

    on: str
    epsilon: float
    proof: str = EXACT


@dataclass(frozen=True)
class GraphCertificate:
    """What one edge spends on a count, part by part.

    >>> print(certify_count("stars", 1.0))
    stars: at most 0.971016 of epsilon 1 for one edge (exact)
    """

    count: str
    epsilon: float
    parts: tuple[Spent, ...]

    @property
    def spent(self) -> Fraction:
        """What one edge spends on all parts together."""
        return sum((Fraction(part.epsilon) for part in self.parts), Fraction(0))

    @property
    def holds(self) -> bool:
        """Whether that is no more than epsilon."""
        return self.spent <= Fraction(self.epsilon)

    @property
    def proof(self) -> str:
        """How it is known: from exact laws alone, or also by a theorem for real numbers."""
        return THEOREM if any(part.proof == THEOREM for part in self.parts) else EXACT

    def statement(self, people: int) -> str:
        """The promise in words, among so many people: for one edge, for several, and what a whole person would cost."""
        return (
            f"{promise(self.epsilon, PEOPLE)} To promise the same for all whom a person knows, an edge could spend only "
            f"epsilon {self.epsilon / max(people - 1, 1):.3g}, and the noise would be at least {max(people - 1, 1):,} times "
            "as large."
        )

    def record(self) -> dict[str, object]:
        """What one edge spends, how that is known, and whether it is within epsilon, as plain data."""
        return {"spent": float(self.spent), "proof": self.proof, "holds": self.holds}

    def __str__(self) -> str:
        part = math.ceil(1e6 * float(self.spent)) / 1e6
        return f"{self.count}: at most {part:.6g} of epsilon {self.epsilon:g} for one edge ({self.proof})"


def certify_count(count: str, epsilon: float, plan: Plan | None = None) -> GraphCertificate:
    """The certificate of a count by its name: edges, stars, degrees, homophily, clustering, cycles, core, triangles, common.

    Triangles are certified with the plan of their rounds, if it is given.
    """
    checked_epsilon(epsilon)
    parts = _PARTS.get(count)
    if parts is None:
        raise InvalidParameter(f"This count is not known. Use one of {', '.join(_PARTS)}.")
    if plan is not None:
        return GraphCertificate(count, epsilon, (Spent("all rounds, as they were planned", plan.spent, THEOREM),))
    return GraphCertificate(count, epsilon, tuple(parts(epsilon)))


def _numbers(epsilon: float, times: int, on: str) -> Spent:
    """An edge that is in so many numbers with geometric noise, one of whose steps costs its odds."""
    return Spent(on, log_up(NoisyCount(epsilon).odds ** times))


def _edges(epsilon: float) -> list[Spent]:
    return [_numbers(epsilon, 1, "the number of the one person who answers for it")]


def _degrees(epsilon: float) -> list[Spent]:
    return [_numbers(epsilon / 2, 2, "the numbers of neighbours of both its people")]


def _clustering(epsilon: float) -> list[Spent]:
    return [*_degrees(STARS * epsilon), *_triangles((1 - STARS) * epsilon)]


def _triangles(epsilon: float) -> list[Spent]:
    return [Spent("three rounds: a number, an answer, and the one count that uses it", epsilon, THEOREM)]


def _cycles(epsilon: float) -> list[Spent]:
    return [Spent("one answer", CoordinateResponse.of(epsilon).epsilon)]


def _core(epsilon: float) -> list[Spent]:
    return [
        _numbers(cores.DEGREES * epsilon / 2, 2, "the numbers of neighbours of both its people"),
        _numbers((1 - cores.DEGREES) * epsilon / 4, 4, "when both its people leave: a threshold and one number each"),
    ]


def _common(epsilon: float) -> list[Spent]:
    return [Spent("the list of the one person, or the length and the count of the other", epsilon, THEOREM)]


_PARTS = {
    "edges": _edges,
    "stars": _degrees,
    "degrees": _degrees,
    "homophily": _edges,
    "clustering": _clustering,
    "cycles": _cycles,
    "core": _core,
    "triangles": _triangles,
    "common": _common,
}
