"""What Google's dp-accounting says about compositions, for the tests to compare with.

It needs versions of other packages that the tests do not take, so it has an environment of its own:

    uv run --no-project --with dp-accounting==0.6.0 python tests/privacy/accounting.py > tests/privacy/accounting.json

Each case has the odds and what is composed, and for several epsilons the delta that dp-accounting proves from below and from
above. Its grid of losses is rounded down for the one and up for the other, so the truth lies between.
"""

import json
import math
import sys
from fractions import Fraction
from typing import Any

GRID = 1e-4
CASES = [
    *(("response", odds, values, times) for odds in ("3/2", "3") for values in (2, 16) for times in (1, 10, 50)),
    *(("shuffle", "3", people, times) for people in (5, 50) for times in (1, 10)),
]


def laws(kind: str, odds: Fraction, size: int) -> tuple[list[Fraction], list[Fraction]]:
    """The chances of all reports under two answers.

    Direct response of `size` values; or the number of ones among so many people who each report a bit, of whom one has the
    one or the other and nobody else does.
    """
    if kind == "response":
        whole = odds + size - 1
        first = [odds / whole, *[1 / whole] * (size - 1)]
        return first, [first[1], first[0], *first[2:]]
    one, ones = 1 / (odds + 1), size - 1
    others = [math.comb(ones, k) * one**k * (1 - one) ** (ones - k) for k in range(size)]
    low, high = [*others, Fraction(0)], [Fraction(0), *others]
    mixed = [[(1 - p) * a + p * b for a, b in zip(low, high, strict=True)] for p in (1 - one, one)]
    return mixed[0], mixed[1]


def epsilons(kind: str, odds: Fraction, size: int, times: int) -> list[float]:
    """Where delta is neither one nor very small: parts of the usual growth with the square root."""
    width = math.log(odds) if kind == "response" else math.log(odds) / math.sqrt(size)
    return [part * width * math.sqrt(times) for part in (0.25, 0.5, 1.0, 2.0)]


def found(case: tuple[str, str, int, int]) -> dict[str, Any]:
    """The case with its deltas from below and from above."""
    from dp_accounting.pld import privacy_loss_distribution  # type: ignore[import-not-found]

    kind, odds, size, times = case
    first, second = (
        {place: math.log(chance) for place, chance in enumerate(law)} for law in laws(kind, Fraction(odds), size)
    )
    asked = epsilons(kind, Fraction(odds), size, times)
    deltas = []
    for above in (False, True):
        one = privacy_loss_distribution.from_two_probability_mass_functions(
            second, first, pessimistic_estimate=above, value_discretization_interval=GRID
        )
        composed = one.self_compose(times)
        deltas.append([float(composed.get_delta_for_epsilon(epsilon)) for epsilon in asked])
    return {"case": list(case), "epsilons": asked, "least": deltas[0], "most": deltas[1]}


if __name__ == "__main__":
    json.dump([found(case) for case in CASES], sys.stdout, indent=1)
    sys.stdout.write("\n")
