"""One instance of every family, with answers for it: what engines must count alike. A new family adds a line."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import deniable as dn
from deniable.files import write_batches
from tests.examples import ALL, NUMBERS
from tests.mechanisms.test_matrix import WIDE
from tests.mechanisms.test_releases import LINE, RELEASES
from tests.open_examples import LEAN, PUBLISHED

VECTORS = dn.Vectors([LINE, LINE])
KEYS = dn.KeyValue(["a", "b", "c"], -1, 1, at_most=2)
ITEMS, DIRECTIONS = dn.SparseVector(1000), dn.UnitVectors(4)

MECHANISMS: list[dn.Mechanism] = [
    *ALL.values(),
    *LEAN.values(),
    *PUBLISHED.values(),
    *RELEASES.values(),
    WIDE,
    dn.VectorRelease.of(VECTORS, 1.0),
    dn.VectorRelease.one_coordinate(VECTORS, 1.0),
    *NUMBERS.values(),
    dn.PrivUnit(DIRECTIONS, 2.0),
    dn.UnitCodes(DIRECTIONS, 2.0),
    dn.UnitAxes(DIRECTIONS, 2.0),
    dn.EqualWeight(dn.Categories(range(3)), Fraction(1, 2)),
    dn.ThreeState.ewrr(1.0),
    dn.PCKVUnary(KEYS, 1.0),
    dn.PCKVDirect(KEYS, 1.0),
    dn.KeySampling.kvue(KEYS, 1.0),
    dn.Compressed(ITEMS, 1.0),
    dn.Compressed.as_published(ITEMS, 1.0),
    dn.EveryAttribute.of(VECTORS, 1.0),
    dn.OneAttribute.of(VECTORS, 1.0, dn.Unary),
    dn.FakeAttributes.of(VECTORS, 1.0),
]
FAMILIES: dict[str, dn.Mechanism] = {mechanism.wire: mechanism for mechanism in reversed(MECHANISMS)}


def answers(mechanism: dn.Mechanism, people: int) -> Sequence[Any]:
    domain = mechanism.domain
    if isinstance(domain, dn.Vectors):
        columns = [[part.labels[person * person % part.size] for person in range(people)] for part in domain.parts]
        return list(zip(*columns, strict=True))
    if isinstance(domain, dn.UnitVectors):
        vectors = np.array([[person % 3 + 1, person % 5, -1, 1] for person in range(people)], np.float64)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return [domain.answer(person * person % min(domain.size, 1000)) for person in range(people)]


def written(mechanism: dn.Mechanism, folder: Path, files: int = 3, groups: int = 3, each: int = 40) -> dn.Tally:
    """Files of several row groups, the last one packed instead; their tally as one process counts it."""
    tallies: list[dn.Tally] = []
    for file in range(files):
        reports = mechanism.perturb(answers(mechanism, groups * each), dn.SeededCoins(file))
        tallies.append(mechanism.tally(reports))
        name = f"{file}.reports" if file == files - 1 else f"{file}.parquet"
        write_batches(folder / name, mechanism, (reports[start : start + each] for start in range(0, len(reports), each)))
    return sum(tallies[1:], tallies[0])
