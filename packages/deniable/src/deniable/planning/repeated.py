"""A question that is asked again and again: which permanent answer, and which second round."""

from collections.abc import Callable

from deniable.core.candidate import LARGEST_DENSE
from deniable.core.domain import Domain
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.tuning import total_error
from deniable.wrappers.memoized import Memoized

REPEATED: dict[str, Callable[[Domain, float, float], Memoized]] = {
    "direct twice (L-GRR)": Memoized.direct,
    "unary, symmetric twice (L-SUE)": Memoized.symmetric,
    "unary, optimized first (L-OSUE)": Memoized.optimized,
    "hashing, two buckets (BiLOLOHA)": Memoized.binary_hashing,
    "hashing, best buckets (OLOLOHA)": Memoized.hashing,
}


def plan_repeated(domain: Domain, epsilon: float, once: float, n: int = 10_000, changes: int = 1) -> Memoized:
    """The mechanism with the smallest error of one collection, `epsilon` for all reports ever and `once` for each alone.

    With `changes`, the number of different values that a person may have over time: `epsilon` is then for all of them
    together, so that it is divided by their number, or with hashing by at most the number of buckets.

    >>> from deniable.domains import Categories
    >>> plan_repeated(Categories(range(4)), epsilon=2.0, once=1.0).base.wire
    'direct-1'
    """
    if n < 1 or changes < 1:
        raise InvalidParameter("A plan needs at least one person, who has at least one value.")
    found = []
    for name, make in REPEATED.items():
        if domain.size > LARGEST_DENSE and name.startswith("unary"):
            continue
        times = min(changes, 2) if "two buckets" in name else changes
        each = epsilon / times
        if once >= each:
            continue  # one report would spend more than a kept answer may
        mechanism = make(domain, each, once)
        if mechanism.lifetime_loss(changes).epsilon() > epsilon * (1 + 1e-12):
            mechanism = make(domain, each * (1 - 1e-12), once)
        error = (float(total_error(domain.size, mechanism.p, mechanism.q)) / (n * domain.size)) ** 0.5
        found.append((error, mechanism.layout.bits, name, mechanism))
    if not found:
        raise InvalidParameter(
            "The epsilon of one report must be below what all reports on one value may cost: epsilon over the values."
        )
    ranked = sorted(found, key=lambda option: option[:3])
    smallest, (_, _, name, best) = ranked[0][0], ranked[0]
    lines = [
        f"{name} for {domain.size:,} values, epsilon {epsilon:g} for all reports ever of a person who has had {changes} "
        f"value{'s' * (changes > 1)}, {once:g} for one report, {n:,} people",
        f"{'':1} {'mechanism':32} {'error of a share':>16} {'to the best':>11} {'bits':>9} {'ever':>7}",
    ]
    for error, bits, own, mechanism in ranked:
        ever = mechanism.lifetime_loss(changes).epsilon()
        lines.append(
            f"{'*' if own == name else '':1} {own:32} {error:16.3g} {(error / smallest) ** 2:10.3f}x {bits:9,} {ever:7.3g}"
        )
    lines.append(
        "In words: the device draws a permanent answer once, keeps it, and randomizes it anew for every report. However "
        "many reports are collected, they tell no more than the permanent answer would; that a value changed may show."
    )
    return best.because("\n".join(lines))
