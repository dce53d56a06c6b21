"""Laws on many answers at once: fused steps give what the interpreter gives, from the same bytes."""

from collections.abc import Sequence

import numpy as np
import pytest

import deniable as dn
from deniable.core import batches
from deniable.core.batches import FusedRun
from deniable.core.fusing import OUTPUTS, Pass, Plan, plan
from deniable.core.program import Program
from deniable.core.running import run
from deniable.kernels import fused
from deniable.kernels import plain as kernel_loops
from tests.core.test_programs import FUZZ, LAWS, random_codes
from tests.examples import EXAMPLES
from tests.families import INSTANCES
from tests.law_fuzz import accepted
from tests.twins import plain_loops

SIZE = 1000
LAWS_OF_NUMBERS = [
    program
    for text in [*(case["law"] for case in FUZZ if case["runs"] is not None), *(case["law"] for case in LAWS)]
    if (program := accepted(text)) is not None and program.entries < 1 << 16
]


def columns(program: Program) -> list[str]:
    """The smallest columns that hold the fields of a report."""
    names = [np.min_scalar_type(max(0, program.types[node].high)).name for _, node in program.report]
    return [name if name in OUTPUTS else "int64" for name in names]


def fused_programs() -> list[tuple[Program, FusedRun, list[Pass]]]:
    found = []
    for program in LAWS_OF_NUMBERS:
        steps = plan(program, columns(program))
        if steps is not None:
            found.append(
                (program, FusedRun(program, steps, SIZE), [each for each in steps.actions if isinstance(each, Pass)])
            )
    return found


@pytest.mark.needs("numba")
@pytest.mark.parametrize("compiled", [False, True])
def test_fused_steps_report_what_the_interpreter_reports(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random laws and those of all families, with both kinds of loops; batches that are not full too."""
    monkeypatch.setattr(kernel_loops, "_available", compiled)
    monkeypatch.setattr(kernel_loops, "_done", kernel_loops.COMPILE_AFTER)
    programs = fused_programs()
    for program, many, _ in programs:
        coins, twins = dn.SeededCoins(5), dn.SeededCoins(5)
        for size in (SIZE, SIZE - 3, 17):
            given = random_codes(program, size)
            ours, expected = many.run(given, coins, size), run(program, given, twins, size)
            for name, column in ours.items():
                np.testing.assert_array_equal(column, np.broadcast_to(expected[name], size), str(program))
        assert coins.draw(8).tobytes() == twins.draw(8).tobytes()
    assert len(programs) > 100


@pytest.mark.parametrize("size", [50, batches.FEWEST])
def test_secure_coins_report_what_the_interpreter_reports(size: int) -> None:
    """With every family, on the bytes of a seed in place of a fresh key: no draw is left out, nor made in another way."""
    seen = 0
    for name, mechanism in INSTANCES.items():
        if not mechanism.traced or size > min(mechanism.batch, mechanism.secure_batch):
            continue
        answers = [mechanism.domain.answer(place % mechanism.domain.size) for place in range(size)]
        coins, twins = dn.SecureCoins(), dn.SeededCoins(3)
        coins.__dict__["_stream"] = dn.SeededCoins(3)
        ours = mechanism.perturb(answers, coins).columns
        expected = run(mechanism.law, mechanism.encoded(mechanism.prepared(answers)), twins, size)
        for field, column in ours.items():
            np.testing.assert_array_equal(column, np.broadcast_to(expected[field], column.shape), name)
        assert coins.draw(8).tobytes() == twins.draw(8).tobytes(), name
        seen += 1
    assert seen > 50


@pytest.mark.needs("numba")
def test_refused_words_are_found_alike() -> None:
    from deniable.kernels import fused_compiled

    plain, random = plain_loops(fused), np.random.default_rng(1)
    for bound in (3, 431, 3 << 20, (1 << 24) - 1):
        for size in (0, 1, 63, 64, 5000):
            words = random.integers(0, 1 << 32, size, np.uint32)
            words[::7] = 0  # which is refused unless the bound divides all words
            found = plain.refused_places(words, bound)
            np.testing.assert_array_equal(fused_compiled.refused_places(words, bound), found)
            assert len(found) >= len(words[::7])


def test_every_step_is_used_by_some_law() -> None:
    passes = [each for _, _, found in fused_programs() for each in found]
    assert {int(step[0]) for each in passes for step in each.steps} == set(range(fused.STORE_64 + 1))
    assert {each.wide for each in passes} == {False, True}


def test_refused_words_are_drawn_again_as_by_the_interpreter() -> None:
    """16,711,936 refuses one word of 257."""
    program = Program.from_json(
        '{"nodes":[["below",[],16711936],["split",[],"1/3",9999999,16777213]],"report":[["a",0],["b",1]]}'
    )
    many = FusedRun(program, _planned(program), 1 << 15)
    coins, twins = dn.SeededCoins(1), dn.SeededCoins(1)
    ours, expected = many.run([], coins, 1 << 15), run(program, [], twins, 1 << 15)
    assert all(np.array_equal(ours[name], expected[name]) for name in "ab")
    assert coins.draw(8).tobytes() == twins.draw(8).tobytes()


def _planned(program: Program) -> Plan:
    found = plan(program, columns(program))
    assert found is not None
    return found


class Shy(dn.SeededCoins):
    """Coins of a class of their own, which might draw in other ways."""


FEWER: Sequence[str] = [name for name, each in EXAMPLES.items() if isinstance(each.domain, dn.Categories) and each.traced]


@pytest.mark.parametrize("name", FEWER)
def test_reports_of_many_answers_do_not_depend_on_how_they_are_made(name: str) -> None:
    mechanism = EXAMPLES[name]
    values = np.random.default_rng(1).integers(0, mechanism.domain.size, batches.FEWEST)
    answers = [mechanism.domain.answer(int(index)) for index in values]
    ours, others = mechanism.perturb(answers, dn.SeededCoins(2)), mechanism.perturb(answers, Shy(2))
    assert mechanism.pack(ours) == mechanism.pack(others)


def test_an_answer_outside_is_refused_among_many() -> None:
    values = np.zeros(batches.FEWEST, np.int64)
    values[77] = 3
    with pytest.raises(dn.errors.OutsideDomain):
        dn.DirectResponse(dn.Categories(range(3)), 1.0).perturb(values)


def test_what_runs_is_not_kept_where_a_mechanism_could_change_it() -> None:
    mechanism = dn.DirectResponse(dn.Categories(range(16)), 1.0)
    mechanism.perturb(np.zeros(batches.FEWEST, np.int64))
    assert set(vars(mechanism.law)) <= {"nodes", "report", "types", "fingerprint"}
