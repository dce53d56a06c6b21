"""Which mechanism for this question: predicted error, report size, server work and what one report betrays, side by side."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

from deniable.core.domain import Domain
from deniable.core.estimate import confidence_each
from deniable.core.mechanism import PureProtocol
from deniable.core.odds import checked_epsilon
from deniable.domains.sparse_vector import SparseVector
from deniable.errors import InvalidParameter
from deniable.mechanisms.design import BlockDesign
from deniable.mechanisms.difference_sets import LARGEST as LARGEST_DESIGN
from deniable.mechanisms.direct import DirectResponse
from deniable.mechanisms.hadamard import HadamardResponse
from deniable.mechanisms.hashing import LocalHashing
from deniable.mechanisms.subset import SubsetSelection
from deniable.mechanisms.tuning import total_error
from deniable.mechanisms.unary import Unary
from deniable.mechanisms.wheel import Wheel

CLOSE = 1.015  # an error this near to the smallest counts as equally good; then small reports and little work decide
LARGEST_DENSE = 1 << 20  # values above which reports with a bit for each value are not considered

FAMILIES: dict[str, Callable[[Domain, float], PureProtocol]] = {
    "direct": DirectResponse,
    "unary, symmetric": Unary.symmetric,
    "unary, optimized": Unary,
    "subset": SubsetSelection,
    "design": BlockDesign,
    "wheel": Wheel,
    "hashing, binary": LocalHashing.binary,
    "hashing, optimized": LocalHashing,
    "hadamard": HadamardResponse,
}


@dataclass(frozen=True)
class Option:
    """One mechanism for a question, and what it would cost and give."""

    name: str
    mechanism: PureProtocol
    error: float  # root of the mean squared error of a share, for the number of people asked about
    bits: int  # of one report
    work: int  # simple operations that the server spends on one report
    guess: float  # how often somebody who sees one report and thinks all values equally likely guesses the true one


def options(domain: Domain, epsilon: float, n: int) -> list[Option]:
    """Every mechanism for this question, the smallest error first."""
    if n < 1:
        raise InvalidParameter("A plan needs the number of people who will answer, at least 1.")
    if isinstance(domain, SparseVector):
        raise InvalidParameter("The planner compares mechanisms for single answers. For sparse vectors take Compressed.")
    checked_epsilon(epsilon)
    names = list(FAMILIES)
    if domain.size > LARGEST_DENSE:
        names = [name for name in names if not name.startswith(("unary", "subset"))]
    if domain.size > LARGEST_DESIGN:
        names.remove("design")
    return sorted((_option(name, FAMILIES[name](domain, epsilon), n) for name in names), key=lambda option: option.error)


def _option(name: str, mechanism: PureProtocol, n: int) -> Option:
    size, p, q = mechanism.domain.size, mechanism.p, mechanism.q
    error = math.sqrt(total_error(size, p, q) / (n * size))
    bits = mechanism.layout.bits
    if name.startswith(("unary", "subset")):
        work = (size + 63) // 64
    else:
        work = size if name.startswith(("hashing", "wheel")) else 1
    return Option(name, mechanism, error, bits, work, mechanism.guess())


def chosen(ranked: list[Option], max_bits: int | None) -> Option:
    """Of the options with nearly the smallest error, the one with the smallest reports, then the least work."""
    fitting = [option for option in ranked if max_bits is None or option.bits <= max_bits]
    if not fitting:
        least = min(option.bits for option in ranked)
        raise InvalidParameter(f"No mechanism can report in {max_bits} bits; the smallest report here takes {least}.")
    near = [option for option in fitting if option.error**2 <= CLOSE * fitting[0].error ** 2]
    return min(near, key=lambda option: (option.bits, option.work, option.error))


def plan(domain: Domain, epsilon: float, n: int, max_bits: int | None = None) -> PureProtocol:
    """The best mechanism to learn the share of each answer from n people; its `explain()` shows the alternatives.

    >>> from deniable.domains import Categories
    >>> plan(Categories(["Lyon", "Paris", "Nice", "Lille"]), epsilon=1.0, n=50_000).wire
    'direct-1'
    """
    ranked = options(domain, epsilon, n)
    best = chosen(ranked, max_bits)
    lines = [
        f"{best.name} for {domain.size:,} values, epsilon {float(epsilon):g} for one answer, {n:,} people"
        + (f", at most {max_bits} bits a report" if max_bits is not None else ""),
        f"{'':1} {'mechanism':20} {'error of a share':>16} {'to the best':>11} {'bits':>9} {'work':>9} {'guess':>7}",
    ]
    for option in ranked:
        ratio = (option.error / ranked[0].error) ** 2
        lines.append(
            f"{'*' if option is best else '':1} {option.name:20} {option.error:16.3g} {ratio:10.3f}x {option.bits:9,} "
            f"{option.work:9,} {option.guess:7.2%}"
        )
    lines.append(
        "error: root mean square; to the best: ratio of squared errors; bits: one report; work: operations of the server "
        "for one report; guess: how often one report gives the answer away to somebody without other knowledge"
    )
    object.__setattr__(best.mechanism, "_explanation", "\n".join(lines))
    return best.mechanism


def required_n(domain: Domain, epsilon: float, error: float, confidence: float = 0.95) -> int:
    """How many people must answer so that the interval of every share reaches at most `error` to either side.

    It is computed for the planned mechanism and the least favourable share.

    >>> from deniable.domains import Categories
    >>> required_n(Categories(["yes", "no"]), epsilon=1.0, error=0.01)
    35368
    """
    if not 0 < error < 1:
        raise InvalidParameter("The error must be a share between 0 and 1, for example 0.01 for one percent.")
    mechanism = plan(domain, epsilon, 1)
    p, q = mechanism.p, mechanism.q
    worst = float(max(q * (1 - q), p * (1 - p)) / (p - q) ** 2)
    reach = NormalDist().inv_cdf((1 + confidence_each(confidence, 1)) / 2)
    return math.ceil(worst * (reach / error) ** 2)
