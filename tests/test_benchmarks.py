"""The benchmarks run and their bounds do the work they claim; how long anything takes is not asserted."""

import json
import math
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import deniable as dn
from benchmarks import key_value, numbers
from benchmarks.bounds import programs
from benchmarks.bounds.bound import Bound
from benchmarks.bounds.compiled import Compiled
from benchmarks.bounds.plain import Plain
from benchmarks.cli import FIGURES, main

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


@pytest.mark.parametrize(
    "name", ["duchi", "three-outputs", "piecewise", "hybrid", "bipartite", "exponential", "direct", "kvue"]
)
def test_bounds_of_our_programs_follow_their_laws(name: str) -> None:
    """Their reports are as often low as ours: two shares of 40,000 are 6 standard errors apart once in 10^8 runs."""
    n, values = 40_000, np.full(40_000, 3)
    mechanism: dn.Mechanism
    answers: Any
    if name in numbers.MEANS:
        mechanism, answers = numbers.MEANS[name](dn.Interval(-1, 1)), np.full(n, 0.3)
        work = programs.numbers_perturb(name, mechanism, answers)
    elif name in ("bipartite", "exponential"):
        line = dn.Ordered(range(40))
        mechanism, answers = (dn.Bipartite if name == "bipartite" else dn.ReleaseChannel.exponential)(line, 1.0), values
        work = programs.release_perturb(mechanism, values)
    else:
        mechanism, answers = key_value.mechanism(name), key_value.people(n)
        work = programs.pairs_perturb(name, mechanism, answers)
    if work is None:
        pytest.skip("There is no compiler.")
    column = list(mechanism.report_layout.fields)[-1]
    found = work()[0 if name != "kvue" else 1]  # type: ignore[index]
    ours = mechanism.perturb(answers, dn.SeededCoins(1)).columns[column.name].astype(np.int64)
    assert found.max() < column.below  # type: ignore[union-attr]
    for below in np.unique(np.quantile(ours, [0.1, 0.3, 0.5, 0.7, 0.9])):
        shares = (found < below).mean(), (ours < below).mean()
        assert abs(shares[0] - shares[1]) < 6 * np.sqrt(0.5 / n)
