"""The bounds of long answers in C do the same work as ours: ours reads what they report, and counts the same."""

from typing import Any

import numpy as np
import pytest

import deniable as dn
from benchmarks import sparse
from benchmarks.bounds.bound import fastest_available
from benchmarks.bounds.chunks import ChunksPerturb
from benchmarks.bounds.directions import CodesPerturb, GradientPerturb, inside
from deniable.core.reports import Reports
from deniable.kernels.directions import nearness
from deniable_learn.gradients import GradientReports
from deniable_learn.network import Network

pytestmark = pytest.mark.needs("cc")


def library() -> Any:
    return fastest_available().library  # type: ignore[attr-defined]


def is_near(share: float, chance: float, trials: int) -> bool:
    """Within seven standard deviations: outside once in 10^11 runs, for secure coins have no seed."""
    return abs(share - chance) < 7 * np.sqrt(chance * (1 - chance) / trials)


def test_messages_of_chunks_are_responses() -> None:
    """Our decoder takes them, and refuses what no device writes; each coordinate is one as often as it ought to be."""
    mechanism, sets = sparse.mechanism(87_585, 2.0), sparse.vectors(87_585, 400, 8)
    bound = ChunksPerturb(mechanism, sets, library())
    bound.work()
    reported = bound.reports()
    messages = np.full(len(sets), b"", object)
    messages[:] = [message for _, message in reported]
    keys = np.array([key for key, _ in reported], np.uint64)
    found = mechanism.vector(Reports(mechanism.fingerprint, mechanism.layout, {"key": keys, "message": messages}))
    true = np.concatenate([row[each] for row, each in zip(found, sets, strict=True)])
    assert is_near(float(true.mean()), float(mechanism.coordinate.p), true.size)
    assert is_near((found.sum() - true.sum()) / (found.size - true.size), float(mechanism.coordinate.q), found.size)


def test_codes_are_near_as_often_as_ours() -> None:
    random, mechanism = np.random.default_rng(1), dn.UnitCodes(dn.UnitVectors(32), 4.0)
    layout: Any = mechanism.layout
    rows = random.normal(size=(2000, 32))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    bound = CodesPerturb(mechanism, rows, library())
    mean = bound.work()
    order = np.argsort(-nearness(rows, bound.seeds.astype(np.int64), mechanism.codes), axis=1)
    place = (order == bound.codes[:, None]).argmax(axis=1)
    assert is_near(float((place < mechanism.near).mean()), inside(mechanism) / 2**32, len(rows))
    sums = mechanism.votes({"seed0": bound.seeds, "code0": bound.codes.astype(layout.fields[1].dtype)})
    np.testing.assert_allclose(mean, (sums / len(rows) / (1 << 24) - 1) / mechanism.length, atol=1e-6)


def test_a_round_of_learning_reports_on_the_same_gradients() -> None:
    random = np.random.default_rng(1)
    rows, labels = random.uniform(-1, 1, (2000, 20)), random.integers(0, 10, 2000)
    reports = GradientReports(210, 4.0)
    mechanism: Any = reports.mechanism
    bound = GradientPerturb(mechanism, rows, labels, 10, library())
    mean = bound.work()
    unit = reports._in_domain(Network(20, 10).gradients(np.zeros(210), rows, labels))
    order = np.asarray(mechanism.order(unit, bound.seeds.astype(np.int64)))
    place = (order == bound.codes[:, None]).argmax(axis=1)
    assert is_near(float((place < mechanism.near).mean()), inside(mechanism) / 2**32, len(rows))
    sums = mechanism.votes({"seed0": bound.seeds, "code0": bound.codes.astype(mechanism.layout.fields[1].dtype)})
    np.testing.assert_allclose(mean, ((sums / len(rows) / (1 << 24) - 1) / mechanism.length)[:210], atol=1e-9)
