"""The benchmarks run and their bounds do the work they claim; how long anything takes is not asserted."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import deniable as dn
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
    kept = np.mean(np.asarray(bound.direct_perturb(values, 16)()) == values)
    assert abs(kept - float(dn.DirectResponse(dn.Categories(range(16)), 1.0).p)) < 6 * 0.5 / np.sqrt(30_000)
