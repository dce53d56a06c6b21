"""One instance of every family, with answers for it: what engines must count alike. A new family adds a line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import deniable as dn
from deniable.files import write_batches
from tests.examples import EXAMPLES
from tests.open_examples import LEAN, PUBLISHED
from tests.test_matrix import WIDE
from tests.test_releases import LINE, RELEASES

VECTORS = dn.Vectors([LINE, LINE])

MECHANISMS: list[dn.Mechanism] = [
    *EXAMPLES.values(),
    *LEAN.values(),
    *PUBLISHED.values(),
    *RELEASES.values(),
    WIDE,
    dn.VectorRelease.of(VECTORS, 1.0),
    dn.VectorRelease.one_coordinate(VECTORS, 1.0),
]
FAMILIES: dict[str, dn.Mechanism] = {mechanism.wire: mechanism for mechanism in reversed(MECHANISMS)}


def answers(mechanism: dn.Mechanism, people: int) -> Sequence[Any]:
    domain = mechanism.domain
    if isinstance(domain, dn.Vectors):
        columns = [[part.labels[person * person % part.size] for person in range(people)] for part in domain.parts]
        return list(zip(*columns, strict=True))
    return [domain.labels[person * person % domain.size] for person in range(people)]


def written(mechanism: dn.Mechanism, folder: Path, files: int = 3, groups: int = 3, each: int = 40) -> dn.Tally:
    """Files of several row groups, the last one packed instead; their tally as one process counts it."""
    tallies: list[dn.Tally] = []
    for file in range(files):
        reports = mechanism.perturb(answers(mechanism, groups * each), dn.SeededCoins(file))
        tallies.append(mechanism.tally(reports))
        name = f"{file}.reports" if file == files - 1 else f"{file}.parquet"
        write_batches(folder / name, mechanism, (reports[start : start + each] for start in range(0, len(reports), each)))
    return sum(tallies[1:], tallies[0])
