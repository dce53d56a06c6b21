"""One instance of every family, with answers for it: what engines must count alike. A new family adds a line."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import deniable as dn
from deniable.domains.members import Members
from deniable.files import write_batches
from deniable.graphs.friends import Friends
from tests import examples
from tests.examples import ALL, CHANNELS, LINE, NUMBERS, RELEASES
from tests.open_examples import LEAN, PUBLISHED

VECTORS = dn.Vectors([LINE, LINE])
KEYS = dn.KeyValue(["a", "b", "c"], -1, 1, at_most=2)
ITEMS, DIRECTIONS = dn.SparseVector(1000), dn.UnitVectors(4)

MECHANISMS: list[dn.Mechanism] = [
    *ALL.values(),
    *LEAN.values(),
    *PUBLISHED.values(),
    *RELEASES.values(),
    CHANNELS["wide"],
    dn.VectorRelease.of(VECTORS, 1.0),
    dn.VectorRelease.one_coordinate(VECTORS, 1.0),
    *NUMBERS.values(),
    *examples.DISTRIBUTIONS.values(),
    *examples.DISCOVERY.values(),
    *examples.MAPS.values(),
    dn.PrivUnit(DIRECTIONS, 2.0),
    dn.UnitCodes(DIRECTIONS, 2.0),
    dn.UnitAxes(DIRECTIONS, 2.0),
    dn.EqualWeight(dn.Categories(range(3)), Fraction(1, 2)),
    dn.ThreeState.ewrr(1.0),
    dn.PCKVUnary(KEYS, 1.0),
    dn.PairWheel(KEYS, 1.0),
    dn.Seeded(dn.Unary(dn.Categories(range(3)), 1.0), 4),
    dn.SeededChannel(CHANNELS["wide"], 4),
    dn.SeededPairs(dn.PCKVUnary(KEYS, 1.0), 4),
    dn.PCKVDirect(KEYS, 1.0),
    dn.PrivSet(KEYS, 1.0, 2),
    dn.KeySampling.kvue(KEYS, 1.0),
    dn.PermanentSet.twice_randomized(KEYS, 2.0, 1.0),
    dn.PermanentMean.twice_randomized(dn.Interval(0, 10, steps=4), 2.0, 1.0),
    dn.Compressed(ITEMS, 1.0),
    dn.Compressed.as_published(ITEMS, 1.0),
    Friends(Members(40), 1.0),
    dn.EveryAttribute.of(VECTORS, 1.0),
    dn.OneAttribute.of(VECTORS, 1.0, dn.Unary),
    dn.FakeAttributes.of(VECTORS, 1.0),
    dn.WholeRecord(VECTORS, 1.0),
    dn.OneGroup.of(VECTORS, 1.0, [[0], [1]]),
    dn.OnePair(VECTORS, 1.0),
]
# Every instance that the laws run over, by name.
INSTANCES: dict[str, dn.Mechanism] = {
    **ALL,
    **{f"open-{name}": each for name, each in LEAN.items()},
    **{f"open-published-{name}": each for name, each in PUBLISHED.items()},
    **{f"matrix-{name}": each for name, each in CHANNELS.items()},
    **{f"mean-{name}": each for name, each in examples.MEANS.items()},
    **{f"distribution-{name}": each for name, each in examples.DISTRIBUTIONS.items()},
    **{f"discovery-{name}": each for name, each in examples.DISCOVERY.items()},
    **{f"map-{name}": each for name, each in examples.MAPS.items()},
    **{f"vector-{name}": each for name, each in examples.SAMPLED.items()},
    **{f"signs-{name}": each for name, each in examples.SIGNS.items()},
    **{f"bits-{name}": each for name, each in examples.BITS.items()},
    **{f"states-{name}": each for name, each in examples.STATES.items()},
    **{f"keys-{name}": each for name, each in examples.protocols(examples.keys(3, 2)).items()},
    **{f"keys-{name}-1": each for name, each in examples.protocols(examples.keys(2)).items()},
    **{f"release-{name}": each for name, each in RELEASES.items()},
    **{f"release-{name}": each for name, each in examples.VECTOR_RELEASES.items()},
    **{f"records-{name}": each for name, each in {**examples.RECORDS, **examples.TOGETHER, **examples.FAKES}.items()},
    "records-pair": dn.OnePair(dn.Vectors([dn.Categories(range(2)), dn.Categories(range(3))]), 1.0),
    "words-signs": examples.NUMBERS["sign-word"],
    "words-signs-all": examples.NUMBERS["sign-word-all"],
    "seeded": dn.Seeded(dn.SubsetSelection(dn.Categories(range(4)), 1.0), 3),
    "seeded-channel": dn.SeededChannel(CHANNELS["wide"], 4),
    "permanent-set": dn.PermanentSet(KEYS, 1.0),
    "permanent-set-twice": dn.PermanentSet.twice_randomized(KEYS, 2.0, 1.0),
    "privunit": dn.PrivUnit(DIRECTIONS, 2.0),
    "unit-codes": dn.UnitCodes(DIRECTIONS, 2.0),
    "unit-axes": dn.UnitAxes(DIRECTIONS, 2.0),
    "compressed": dn.Compressed(dn.SparseVector(40), 1.0),
    "friends": Friends(Members(40), 1.0),
    "compressed-published": dn.Compressed.as_published(dn.SparseVector(40), 1.0),
    "seeded-pairs": dn.SeededPairs(dn.PCKVUnary.published(KEYS, 1.0), 3),
}
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
