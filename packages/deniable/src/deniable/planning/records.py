"""Several answers of one person: tell all with a share of the budget each, or one of them with all of it."""

from dataclasses import dataclass
from fractions import Fraction

from deniable.core.odds import checked_epsilon, rounded_down
from deniable.domains import Vectors
from deniable.errors import InvalidParameter
from deniable.mechanisms.shares.unary import Unary
from deniable.planning.shares import chosen, options
from deniable.wrappers.attributes import Attributes
from deniable.wrappers.every_attribute import EveryAttribute
from deniable.wrappers.fake_attributes import FakeAttributes
from deniable.wrappers.one_attribute import OneAttribute


@dataclass(frozen=True)
class Way:
    """One way to tell of several answers, and what it would cost and give."""

    name: str
    mechanism: Attributes
    error: float  # root of the mean squared error of a share, over all attributes
    bits: int


def ways(domain: Vectors, epsilon: float, n: int) -> list[Way]:
    """Every way to tell of records, the smallest error first; within each, the best mechanism for every attribute."""
    if n < 1:
        raise InvalidParameter("A plan needs the number of people who will answer, at least 1.")
    parts, budget = domain.parts, checked_epsilon(epsilon)
    share = rounded_down(Fraction(budget) / len(parts))
    every = [chosen(options(part, share, n), None).mechanism for part in parts]
    one = [chosen(options(part, budget, max(1, n // len(parts))), None).mechanism for part in parts]
    found: list[tuple[str, Attributes]] = [
        ("every answer, split budget", EveryAttribute(domain, budget, every)),  # type: ignore[arg-type]
        ("one answer, whole budget", OneAttribute(domain, budget, one)),  # type: ignore[arg-type]
        ("one answer among fakes, direct", FakeAttributes.of(domain, budget)),
        ("one answer among fakes, unary", FakeAttributes.of(domain, budget, Unary)),
    ]
    made = [Way(name, mechanism, mechanism.total_error(n), mechanism.layout.bits) for name, mechanism in found]
    return sorted(made, key=lambda way: way.error)


def plan_records(domain: Vectors, epsilon: float, n: int, max_bits: int | None = None) -> Attributes:
    """The way with the smallest error among those whose reports fit; its `explain()` shows the others."""
    ranked = ways(domain, epsilon, n)
    fitting = [way for way in ranked if max_bits is None or way.bits <= max_bits]
    if not fitting:
        least = min(way.bits for way in ranked)
        raise InvalidParameter(f"No way to tell of records fits {max_bits} bits; the smallest report here takes {least}.")
    best = fitting[0]
    parts = ", ".join(part.wire for part in best.mechanism.parts)
    lines = [
        f"{best.name} for records of {len(domain.parts)} answers, epsilon {float(epsilon):g} for one record, {n:,} people",
        f"{'':1} {'way':32} {'error of a share':>16} {'to the best':>11} {'bits':>9}",
        *(
            f"{'*' if way is best else '':1} {way.name:32} {way.error:16.3g} {(way.error / ranked[0].error) ** 2:10.3f}x "
            f"{way.bits:9,}"
            for way in ranked
        ),
        f"In words: of {len(domain.parts)} answers, {_words(best.mechanism)}; the mechanisms are {parts}.",
    ]
    return best.mechanism.because("\n".join(lines))


def _words(mechanism: Attributes) -> str:
    if isinstance(mechanism, EveryAttribute):
        return "each is told with its share of the budget, because so few answers do not make the shares too small"
    if isinstance(mechanism, OneAttribute):
        return "each person tells one, drawn in public, with the whole budget: fewer reports on each, and far less noise"
    return "each person tells one, drawn in secret, and fakes for the others: nobody learns which question was answered"
