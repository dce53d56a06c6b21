"""The benchmarks run and their bounds do the work they claim; how long anything takes is not asserted."""

import json
import math
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import deniable as dn
from benchmarks import key_value, numbers, one_answer, utility
from benchmarks.bounds import programs
from benchmarks.bounds.bound import Bound
from benchmarks.bounds.compiled import Compiled
from benchmarks.bounds.plain import Plain
from benchmarks.bounds.utility import utility_perturb
from benchmarks.cli import FIGURES, main
from deniable.core import PackedBits
from deniable.core.running import run
from tests.families import INSTANCES, answers

NAMES = [figure.name for figure in FIGURES]
KEYS = {"name", "ours", "peer", "peer_name", "bound", "bound_name", "unit", "ratio"}
BOUNDS = [pytest.param(Plain, id="plain"), pytest.param(Compiled.build, id="compiled", marks=pytest.mark.needs("cc"))]


def test_figures_are_listed_by_name() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert CliRunner().invoke(main, ["--list"]).output.split() == NAMES
    assert CliRunner().invoke(main, ["--list", "unary/count"]).output.split() == [
        n for n in NAMES if n.startswith("unary/count")
    ]


def test_counting_takes_no_memory_beyond_the_batch() -> None:
    result = CliRunner().invoke(main, ["memory", "--json", "--n", "20000"])
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["name"] for line in lines] == [name for name in NAMES if name.startswith("memory/")]
    for line in lines:
        assert set(line) == KEYS
        # a small constant for the counts of 1,024 cells, whatever the size of the batch
        assert line["ours"] < 200_000


def test_learning_is_measured_beside_learning_without_privacy() -> None:
    result = CliRunner().invoke(
        main, ["learning/privatize", "learning/sgd", "learning/trees", "--json", "--quick", "--n", "1000"]
    )
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["name"] for line in lines] == [
        "learning/privatize/384",
        "learning/sgd/round",
        "learning/trees/central",
        "learning/trees/local",
    ]
    for line in lines:
        assert set(line) == KEYS and line["ours"] > 0 and line["bound"] > 0 and line["bound_name"]


def test_loading_is_measured_beside_numpy() -> None:
    result = CliRunner().invoke(main, ["loading/import", "--json", "--quick"])
    assert result.exit_code == 0, result.output
    line = json.loads(result.stdout)
    assert line["bound_name"] == "import numpy" and line["unit"] == "seconds of CPU" and 0 < line["ours"] < 10


def test_unknown_names_are_refused() -> None:
    result = CliRunner().invoke(main, ["no-such-figure"])
    assert result.exit_code == 2
    assert "--list" in result.output


@pytest.mark.parametrize("make", BOUNDS)
def test_bounds_do_the_work(make: type[Plain]) -> None:
    bound: Bound = make()
    random = np.random.default_rng(1)
    values = random.integers(0, 16, 30_000)
    assert np.array_equal(np.asarray(bound.direct_count(values.astype(np.uint16), 16)()), np.bincount(values, minlength=16))
    bits = random.integers(0, 256, 30_000 * 2, np.uint8)
    sums = np.unpackbits(bits.reshape(-1, 2), axis=1, bitorder="little").sum(axis=0)
    assert np.array_equal(np.asarray(bound.column_sums(bits, 16)()), sums)
    # The mean number of set bits, six standard deviations wide: a false alarm once in 5e8.
    unary = np.unpackbits(np.asarray(bound.unary_perturb(values, 16, "optimized")(), np.uint8)).mean()
    q = float(dn.Unary(dn.Categories(range(16)), 1.0).q)
    assert abs(unary - (15 * q + 0.5) / 16) < 6 * 0.5 / np.sqrt(30_000 * 16)
    subsets = np.asarray(bound.subset_perturb(values, 16)(), np.uint8).reshape(-1, 2)
    assert (np.bitwise_count(subsets).sum(axis=1) == 4).all()
    offsets = np.array([1, 2, 4, 0, 3, 5, 6], np.uint16)  # the Fano plane
    moved = (np.asarray(bound.design_perturb(values % 7, offsets, 3)(), np.int64) - values % 7) % 7
    assert abs(np.isin(moved, [1, 2, 4]).mean() - 3 * math.e / (3 * math.e + 4)) < 6 * 0.5 / np.sqrt(30_000)
    columns = np.asarray(bound.hadamard_perturb(values, 32)(), np.int64)
    even = np.bitwise_count(columns & (values + 1)) % 2 == 0
    assert abs(even.mean() - math.e / (math.e + 1)) < 6 * 0.5 / np.sqrt(30_000)
    kept = np.mean(np.asarray(bound.direct_perturb(values, 16)()) == values)
    assert abs(kept - float(dn.DirectResponse(dn.Categories(range(16)), 1.0).p)) < 6 * 0.5 / np.sqrt(30_000)


@pytest.mark.parametrize("make", BOUNDS)
def test_bounds_of_hashing_do_the_work(make: type[Plain]) -> None:
    bound: Bound = make()
    values = np.random.default_rng(2).integers(0, 16, 30_000)
    a, b, bucket = np.asarray(bound.hashing_perturb(values, 17, 4)(), np.int64)
    kept = ((a + 1) * values + b) % 17 * 4 // 17 == bucket
    assert abs(kept.mean() - math.e / (math.e + 3)) < 6 * 0.5 / np.sqrt(30_000)
    a, place = np.asarray(bound.wheel_perturb(values, 17, 5)(), np.int64)
    assert abs(((place - (a + 1) * values) % 17 < 5).mean() - 5 * math.e / (5 * math.e + 12)) < 6 * 0.5 / np.sqrt(30_000)
    step, start, width = (a + 1).astype(np.uint16), place.astype(np.uint16), np.full(30_000, 5, np.uint16)
    counts = [int(((place + (a + 1) * x) % 17 < 5).sum()) for x in range(16)]
    assert np.asarray(bound.interval_count(step, start, width, 17, 16)()).tolist() == counts


@pytest.mark.parametrize("name", ["direct", "keys-unary", "signs-three", "unit-codes", "open-hashing"])
def test_one_answer_is_timed_beside_its_own_law(name: str) -> None:
    """What is timed as the law alone gives the reports of the law."""
    mechanism = INSTANCES[name]
    answer = answers(mechanism, 5)[2]
    codes = [code() if callable(code) and not node.args else code for code, node in coded(mechanism, answer)]
    alone: Any = one_answer.straight(mechanism.law)(codes, dn.SeededCoins(3))
    drawn = run(mechanism.law, mechanism.encoded(mechanism.prepared([answer])), dn.SeededCoins(3), 1)
    plain = [each.bytes if isinstance(each, PackedBits) else each for each in alone]
    assert [np.asarray(each).tolist() for each in plain] == [np.asarray(each).tolist() for each in drawn.values()]
    cost = one_answer.measured(mechanism, answer)
    assert cost.whole > 0 and cost.wire in one_answer.page([cost])


def coded(mechanism: dn.Mechanism, answer: Any) -> Any:
    nodes = [node for node in mechanism.law.nodes if node.op == "code"]
    return zip(mechanism.encoded(mechanism.prepared([answer])), nodes, strict=True)


@pytest.mark.needs("cc")
@pytest.mark.parametrize(
    "name", ["duchi", "three-outputs", "piecewise", "hybrid", "bipartite", "exponential", "direct", "kvue"]
)
def test_bounds_of_our_programs_follow_their_laws(name: str) -> None:
    """Their reports are as often low as ours: two shares of 40,000 are 6 standard errors apart once in 10^8 runs."""
    n, values = 40_000, np.full(40_000, 3)
    mechanism: dn.Mechanism
    given: Any
    if name in numbers.MEANS:
        mechanism, given = numbers.MEANS[name](dn.Interval(-1, 1)), np.full(n, 0.3)
        work = programs.numbers_perturb(name, mechanism, given)
    elif name in ("bipartite", "exponential"):
        line = dn.Ordered(range(40))
        mechanism, given = (dn.Bipartite if name == "bipartite" else dn.ReleaseChannel.exponential)(line, 1.0), values
        work = programs.release_perturb(mechanism, values)
    else:
        mechanism, given = key_value.mechanism(name), key_value.people(n)
        work = programs.pairs_perturb(name, mechanism, given)
    assert work is not None
    column = list(mechanism.report_layout.fields)[-1]
    found = work()[0 if name != "kvue" else 1]  # type: ignore[index]
    ours = mechanism.perturb(given, dn.SeededCoins(1)).columns[column.name].astype(np.int64)
    assert found.max() < column.below  # type: ignore[union-attr]
    for below in np.unique(np.quantile(ours, [0.1, 0.3, 0.5, 0.7, 0.9])):
        shares = (found < below).mean(), (ours < below).mean()
        assert abs(shares[0] - shares[1]) < 6 * np.sqrt(0.5 / n)


@pytest.mark.needs("cc")
@pytest.mark.parametrize("kind", ["unary", "unary-published"])
def test_bounds_of_bits_for_pairs_follow_their_laws(kind: str) -> None:
    """Both rows have as many bits as ours, for keys at both ends of the range and together: 6 standard errors, as above."""
    n, mechanism = 4_000, key_value.mechanism(kind)
    sets = dn.Pairs(np.arange(0, 2 * n + 1, 2), np.tile([3, 998], n), np.tile([1.0, -1.0], n))
    work: Any = programs.pairs_perturb(kind, mechanism, sets)
    ours = mechanism.perturb(sets, dn.SeededCoins(1)).columns
    found = [np.unpackbits(rows, axis=1, bitorder="little") for rows in (*work(), ours["high"], ours["low"])]
    for key in (3, 998):
        for bound, own in ((0, 2), (1, 3)):
            assert abs(found[bound][:, key].mean() - found[own][:, key].mean()) < 6 * np.sqrt(0.5 / n)
    for bound, own in ((0, 2), (1, 3)):
        assert abs(found[bound].mean() - found[own].mean()) < 6 * np.sqrt(0.5 / (1000 * n))
    both = (found[0] & found[1]).mean(), (found[2] & found[3]).mean()
    assert abs(both[0] - both[1]) < 6 * np.sqrt(0.5 / (1000 * n))


@pytest.mark.needs("cc")
@pytest.mark.parametrize("name", ["bitrand", "duchi-vector"])
def test_bounds_of_vectors_follow_their_laws(name: str) -> None:
    """Bits are as often one as ours, number by number."""
    n, mechanism = 2_000, numbers.VECTORS[name]()
    rows = np.tile(np.linspace(-1, 1, numbers.FEATURES), (n, 1))
    make: Any = programs.bitrand_perturb if name == "bitrand" else programs.duchi_vector_perturb
    work = make(mechanism, rows)
    ours = list(mechanism.perturb(rows, dn.SeededCoins(1)).columns.values())
    planes = work()
    assert len(planes) == len(ours)
    for bound, own in zip(planes, ours, strict=True):
        found = [np.unpackbits(each.reshape(n, -1), axis=1, bitorder="little").mean(axis=0) for each in (bound, own)]
        assert np.abs(found[0] - found[1]).max() < 7 * np.sqrt(0.5 / n)  # the largest of 768: a false alarm once in 10^8
        slopes = [np.polyfit(rows[0], each, 1)[0] for each in found]
        assert abs(slopes[0] - slopes[1]) < 6 * np.sqrt(0.5 / n / numbers.FEATURES) * np.sqrt(3)


@pytest.mark.needs("cc")
def test_the_bound_of_sampled_coordinates_follows_its_law() -> None:
    n, mechanism = 40_000, dn.FeatureVector(dn.Features(4, -1, 1), 4.0, 2, dn.Duchi.wire)
    rows = np.tile([-1, -0.3, 0.2, 0.9], (n, 1))
    work: Any = programs.feature_vector_perturb(mechanism, rows)
    starts, values, _ = work()
    bound = dn.Reports(mechanism.fingerprint, mechanism.layout, {"start": starts.astype(np.uint8), "values": values})
    mechanism.layout.check(bound.columns)
    counts = [mechanism.tally(each).counts / n for each in (bound, mechanism.perturb(rows, dn.SeededCoins(1)))]
    assert np.abs(counts[0] - counts[1]).max() < 6 * np.sqrt(0.5 / n)


@pytest.mark.needs("cc")
@pytest.mark.parametrize("family", list(utility.FAMILIES))
def test_bounds_of_open_answers_follow_their_laws(family: str) -> None:
    """How often an open answer is disclosed, and how often a sensitive one is supported: 6 standard errors, as above."""
    n, mechanism = 40_000, utility.mechanism(family)
    for answer in (5, utility.VALUES - 1):
        values = np.full(n, answer)
        work: Any = utility_perturb(mechanism, values)
        layout, ours = mechanism.report_layout, mechanism.perturb(values, dn.SeededCoins(1))
        columns = {field.name: column for field, column in zip(layout.fields, work(), strict=False)}
        bound = dn.Reports(ours.fingerprint, layout, columns)
        layout.check(columns)
        counts = [mechanism.tally(each).counts / n for each in (bound, ours)]
        assert np.abs(counts[0] - counts[1]).max() < 7 * np.sqrt(0.5 / n)  # the largest of 1,200
        assert abs(counts[0][answer] - counts[1][answer]) < 6 * np.sqrt(0.5 / n)
        assert (counts[0][utility.SENSITIVE :].sum() > 0.3) == (answer >= utility.SENSITIVE)
