"""The exact law of the client in C, draw by draw: it is the one that Python enumerates, and the one that is proved."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable.arrays import Bools, Ints
from deniable.core.coins import WHOLE
from deniable.core.program import Program
from deniable.core.running import run
from deniable.errors import NotCertifiable
from deniable.privacy.problem import Problem
from deniable.privacy.rules import proved
from tests.clients import c_library
from tests.clients.c_laws import VECTORS, batch, flat, some_codes, text_of
from tests.clients.c_library import Library, Report
from tests.every import LARGEST_COIN, EveryCoin

pytestmark = pytest.mark.needs("cc")

MOST_OUTCOMES = 100_000  # combinations of draws that are gone through for an answer
ENOUGH = 10_000  # after so many, two answers suffice


class EveryToss(EveryCoin):
    """Also for vectors of numbers that are tossed each."""

    def toss_each(self, heads: Ints, whole: int = WHOLE) -> Bools:
        toss, rows = super().toss_each, 1 if self._rows is None else len(self._rows)
        return np.stack([toss(column, whole) for column in heads.reshape(rows, -1).T], axis=1).ravel()


def outcomes(program: Program, codes: Sequence[int]) -> tuple[EveryToss, int] | None:
    """Coins that know how many combinations there are; nothing if they are too many."""
    coins = EveryToss()
    try:
        run(program, batch(program, codes, 1), coins, 1)
    except NotCertifiable:
        return None
    return coins, coins.combinations


def enumerated(program: Program, codes: Sequence[int], coins: EveryToss) -> dict[Report, Fraction]:
    """The exact law of the program in Python."""
    size = coins.combinations
    coins.follow(np.arange(size))
    fields = run(program, batch(program, codes, size), coins, size)
    which, chances = coins.chances()
    columns = [
        [bytes(row) for row in each] if np.ndim(each) == 2 else np.broadcast_to(each, size).tolist()
        for each in fields.values()
    ]
    times: dict[tuple[Report, int], int] = {}
    for key in zip(zip(*columns, strict=True), which.tolist(), strict=True):
        times[key] = times.get(key, 0) + 1
    found: dict[Report, Fraction] = {}
    for (report, chance), count in times.items():
        found[report] = found.get(report, Fraction(0)) + chances[chance] * count
    return {report: chance for report, chance in found.items() if chance}


def enumerable() -> Iterator[Any]:
    for case in VECTORS:
        program = Program.from_json(text_of(case))
        counted = outcomes(program, flat(case["cases"][0]["codes"]))
        if counted is not None and counted[1] <= MOST_OUTCOMES:
            yield pytest.param(case, id=case["name"])


ENUMERABLE = list(enumerable())


@pytest.mark.parametrize("case", ENUMERABLE)
def test_its_exact_law_is_that_of_python(library: Library, case: dict[str, Any]) -> None:
    """Every combination of draws is gone through in C, Python giving the coins."""
    program, law = Program.from_json(text_of(case)), library.load(text_of(case))
    done = 0
    for place, codes in enumerate(some_codes(program, 12)):
        if place > 1 and done > ENOUGH:
            break
        counted = outcomes(program, codes)
        assert counted is not None
        found = c_library.enumerated(law, codes)
        assert sum(found.values()) == 1
        assert found == enumerated(program, codes, counted[0])
        done += counted[1]


def all_codes(program: Program) -> int:
    return math.prod(kind.size ** (kind.width or 1) for kind in (program.types[place] for place, _ in program.codes))


def worst_ratio(laws: Sequence[dict[Report, Fraction]]) -> Fraction | None:
    """The largest ratio of the probabilities of one report under two codes; None if one of them is 0."""
    found = Fraction(1)
    for report in set[Report]().union(*laws):
        chances = [law.get(report, Fraction(0)) for law in laws]
        if not min(chances):
            return None
        found = max(found, max(chances) / min(chances))
    return found


def test_what_is_proved_is_the_loss_of_the_client_in_c(library: Library) -> None:
    """For every law that is small enough to follow all codes and draws, the bound of the proof is the exact loss of C."""
    certified = 0
    for case in (each.values[0] for each in ENUMERABLE):
        program = Program.from_json(text_of(case))
        counted = outcomes(program, flat(case["cases"][0]["codes"]))
        assert counted is not None
        if all_codes(program) * counted[1] <= ENOUGH // 2:
            law, bound = library.load(text_of(case)), proved(Problem.of(program))
            found = worst_ratio([c_library.enumerated(law, codes) for codes in some_codes(program, all_codes(program))])
            assert bound is not None and bound.odds == found, case["name"]
            certified += 1
    assert certified > 80


def test_nearly_all_vectors_are_enumerated() -> None:
    """And every operation that a law may use stands in one of them."""
    assert len(ENUMERABLE) >= len(VECTORS) - 9 and MOST_OUTCOMES < LARGEST_COIN
