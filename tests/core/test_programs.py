"""Programs as data: what is a law, what its operations do, and the vectors for interpreters in other languages."""

import json
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.operations import Type
from deniable.core.program import Program
from deniable.core.running import run
from deniable.errors import InvalidLaw
from deniable.kernels import plain as kernel_loops
from deniable.privacy.problem import Problem
from deniable.privacy.rules import proved
from tests.examples import EXAMPLES
from tests.law_fuzz import accepted, seeded_run
from tests.law_reference import chances
from tests.law_vectors import FOLDER, exact

LAWS: list[dict[str, Any]] = json.loads((FOLDER / "laws.json").read_text())
CHANCES: list[dict[str, Any]] = json.loads((FOLDER / "law_chances.json").read_text())
FUZZ: list[dict[str, Any]] = json.loads((FOLDER / "law_fuzz.json").read_text())


def law(*nodes: Any) -> Program:
    """The law whose report is the last node."""
    return Program.from_json(json.dumps({"nodes": nodes, "report": [["x", len(nodes) - 1]]}))


def values(program: Program, *codes: Any) -> Any:
    size = len(codes[0])
    return np.broadcast_to(run(program, [np.array(each) for each in codes], dn.SeededCoins(1), size)["x"], size).tolist()


def test_texts_are_laws_or_not_as_written_down_and_run_alike() -> None:
    for case in FUZZ:
        program = accepted(case["law"])
        assert (program is None) == (case["runs"] is None), case["law"]
        if program is not None:
            assert [seeded_run(program, seed) for seed in range(2)] == case["runs"], case["law"]


def test_exact_laws_are_those_of_the_programs() -> None:
    assert [each["name"] for each in CHANCES] == [each["name"] for each in LAWS]
    for vector, stored in list(zip(LAWS, CHANCES, strict=True))[::10]:
        assert exact(vector) == stored


@pytest.mark.needs("numba")
def test_programs_run_alike_with_compiled_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """The random laws above and those of all families, on batches, with the loops of NumPy and with compiled ones."""
    programs = [program for case in FUZZ if case["runs"] is not None if (program := accepted(case["law"])) is not None]
    monkeypatch.setattr(kernel_loops, "_available", False)
    plain = [(seeded_run(program, 3), *_batches(program)) for program in programs]
    reports = [_packed(mechanism) for mechanism in EXAMPLES.values()]
    monkeypatch.setattr(kernel_loops, "_available", True)
    monkeypatch.setattr(kernel_loops, "_done", kernel_loops.COMPILE_AFTER)
    assert [(seeded_run(program, 3), *_batches(program)) for program in programs] == plain
    assert [_packed(mechanism) for mechanism in EXAMPLES.values()] == reports


def random_codes(program: Program, size: int) -> list[Any]:
    """Codes that a law may be given."""
    draw, codes = np.random.default_rng(4), []
    for node, kind in zip(program.nodes, program.types, strict=True):
        if node.op == "code":
            shape = (size,) if kind.width is None else (size, kind.width)
            code = draw.integers(kind.low, kind.high, shape, endpoint=True)
            if kind.distinct:
                code = kind.low + (code[:, :1] - kind.low + np.arange(kind.width or 1)) % kind.size
            codes.append(code)
    return codes


def _batches(program: Program) -> list[bytes]:
    """The reports on 40 random codes, as bytes."""
    size = 40
    fields = run(program, random_codes(program, size), dn.SeededCoins(5), size)
    return [np.broadcast_to(field, (size, *np.shape(field)[1:])).tobytes() for field in fields.values()]


def _packed(mechanism: dn.Mechanism) -> bytes:
    answers = [mechanism.domain.answer(place % mechanism.domain.size) for place in range(60)]
    return mechanism.perturb(answers, dn.SeededCoins(6)).pack()


def test_negation_of_a_constant() -> None:
    program = law(["code", [], "x", 0, 1], ["const", [], 0], ["not", [1]], ["and", [0, 2]])
    assert program.types[2] == Type(1, 1)
    assert values(program, [0, 1]) == [0, 1]


def test_constants_where_arrays_are_usual() -> None:
    negated = law(["code", [], "x", 0, 9], ["const", [], 7], ["mod", [1], 5], ["const", [], 1], ["where", [3, 2, 0]])
    assert values(negated, [8, 9]) == [2, 2]


@pytest.mark.parametrize("op", ["where", "xor", "abs", "min", "add", "mul"])
def test_the_type_of_an_encoders_array_changes_nothing(op: str) -> None:
    """NumPy cuts off what a narrow array has no room for, and an encoder could choose its array by the answer."""
    nodes: list[Any] = [["code", [], "x", -128, 127], ["const", [], 1000], ["toss", [], "0/1"], ["abs", [0]]]
    nodes.append({"abs": ["lt", [3, 0]], "where": ["where", [2, 0, 1]], "xor": ["xor", [3, 1]]}.get(op, [op, [0, 1]]))
    program, codes = law(*nodes), [-128, 127, 3]
    wide = run(program, [np.array(codes)], dn.SeededCoins(1), 3)["x"]
    narrow = run(program, [np.array(codes, np.int8)], dn.SeededCoins(1), 3)["x"]
    assert wide.tolist() == narrow.tolist()


def test_a_number_is_compared_with_each_number_of_a_vector() -> None:
    program = law(["code", [], "v", 0, 9, 2], ["code", [], "x", 0, 9], ["min", [0, 1]], ["const", [], 1], ["at", [2, 3]])
    assert values(program, [[5, 9], [9, 9], [9, 1]], [4, 6, 8]) == [4, 6, 1]


def test_a_truth_value_is_an_index() -> None:
    program = law(
        ["code", [], "v", 0, 9, 2], ["code", [], "x", 0, 1], ["code", [], "y", 0, 1], ["eq", [1, 2]], ["at", [0, 3]]
    )
    assert values(program, [[3, 4], [5, 6]], [1, 0], [1, 1]) == [4, 5]


def test_a_coordinate_stays_when_its_vector_is_written_over() -> None:
    first = [["code", [], "v", 0, 9, 2], ["add", [0, 0]], ["const", [], 0], ["at", [1, 2]]]
    program = law(*first, ["const", [], 5], ["add", [1, 4]], ["at", [5, 2]], ["sub", [6, 3]])
    assert values(program, [[3, 4], [5, 6]]) == [5, 5]


@pytest.mark.parametrize(
    "nodes",
    [
        [["split", [], "1/2", 3, 0]],  # would give a number beyond its bounds
        [["const", [], str(2**62)], ["or", [0, 0]]],
        [["const", [], 2**53]],  # must be text, for clients whose numbers are floats
        [["toss_each", [0], 1, 1]],
        [["const", [], "٣"]],
    ],
)
def test_no_laws(nodes: list[Any]) -> None:
    with pytest.raises(InvalidLaw):
        law(*nodes)


def test_numbers_are_the_same_however_they_are_written() -> None:
    assert law(["const", [], 3.0], ["const", [], "3"]).nodes[0] == law(["const", [], 3]).nodes[0]
    assert chances(law(["split", [], "1/1", 2, 0]), []) == {"0": 0.5, "1": 0.5}


def test_no_proof_where_an_encoder_is_given_what_depends_on_the_answer() -> None:
    """The toss says the answer at its ends, and is no more known than that because an encoder sees it too."""
    leaking = law(["code", [], "x", 0, 3], ["toss_each", [0], 3], ["code", [1], "z", 0, 1], ["mod", [1], 2])
    with pytest.raises(InvalidLaw, match="Give it draws only"):
        Problem.of(leaking)


@pytest.mark.parametrize("op", ["and", "or"])
@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_proofs_simplify_logic_of_numbers_as_it_is(op: str, number: int) -> None:
    program = law(["code", [], "x", 0, 1], ["const", [], number], [op, [0, 1]])
    bound = proved(Problem.of(program))
    assert bound is not None
    assert (bound.odds == 1) == (chances(program, [0]) == chances(program, [1]))
