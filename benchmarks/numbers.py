"""Numbers and vectors: how many a second are randomized, beside NumPy with a generator that is not secure."""

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

import deniable as dn
from benchmarks.bounds.programs import bitrand_perturb, duchi_vector_perturb, feature_vector_perturb, numbers_perturb
from benchmarks.effort import Effort, Work
from benchmarks.figure import Figure

Floats = npt.NDArray[np.float64]

FEATURES, BITS = 768, 10
MEANS: dict[str, Callable[[dn.Interval], dn.Mechanism]] = {
    "duchi": lambda interval: dn.Duchi(interval, 1.0),
    "three-outputs": lambda interval: dn.ThreeOutputs(interval, 1.0),
    "piecewise": lambda interval: dn.Piecewise(interval, 1.0),
    "hybrid": lambda interval: dn.Hybrid(interval, 1.0),
}


def mean(name: str, effort: Effort) -> float:
    mechanism, numbers = MEANS[name](dn.Interval(-1, 1)), np.random.default_rng(1).uniform(-1, 1, effort.n)
    return effort.rate(lambda: mechanism.perturb(numbers), effort.n)


def mean_bound(name: str, effort: Effort) -> tuple[float, str]:
    """The same mechanism in C; without a compiler Duchi's in floating point, the shortest of all."""
    random, numbers = np.random.default_rng(1), np.random.default_rng(1).uniform(-1, 1, effort.n)
    if work := numbers_perturb(name, MEANS[name](dn.Interval(-1, 1)), numbers):
        return effort.rate(work, effort.n), "C loop"
    scale = 1 / np.tanh(0.5)
    return effort.rate(lambda: random.random(len(numbers)) < 0.5 + numbers / (2 * scale), effort.n), "numpy, not secure"


def vectors(effort: Effort) -> Floats:
    """As many whole vectors as there are reports in a batch of others, divided by a hundred."""
    return np.random.default_rng(1).uniform(-1, 1, (max(1, effort.n // 100), FEATURES))


def vector(make: Callable[[], dn.Mechanism], effort: Effort) -> float:
    mechanism, rows = make(), vectors(effort)
    return effort.rate(lambda: mechanism.perturb(rows), len(rows))


def vector_bound(name: str, effort: Effort) -> tuple[float, str]:
    """The same mechanism in C; without a compiler one byte for each bit of each number, compared and packed."""
    rows, mechanism = vectors(effort), VECTORS[name]()
    work: Work | None = None
    if isinstance(mechanism, dn.BitRand):
        work = bitrand_perturb(mechanism, rows)
    elif isinstance(mechanism, dn.DuchiVector):
        work = duchi_vector_perturb(mechanism, rows)
    elif isinstance(mechanism, dn.FeatureVector):
        work = feature_vector_perturb(mechanism, rows)
    if work:
        return effort.rate(work, len(rows)), "C loop"
    random, bits = np.random.default_rng(1), FEATURES * BITS
    return effort.rate(partial(_noise, random, len(rows), bits), len(rows)), "numpy, not secure"


def _noise(random: np.random.Generator, rows: int, bits: int) -> object:
    return [np.packbits(random.integers(0, 256, (part, bits), np.uint8) < 77, axis=1) for part in [256] * (rows // 256 + 1)]


VECTORS: dict[str, Callable[[], dn.Mechanism]] = {
    "bitrand": lambda: dn.BitRand.as_published(FEATURES, BITS, 1.0),
    "feature-vector": lambda: dn.FeatureVector(dn.Features(FEATURES, -1, 1), 4.0),
    "duchi-vector": lambda: dn.DuchiVector(dn.Features(FEATURES, -1, 1), 4.0),
}

FIGURES = [
    Figure(f"numbers/perturb/{name}", "reports/second", partial(mean, name), partial(mean_bound, name), has_peers=False)
    for name in MEANS
] + [
    Figure(
        f"vectors/perturb/{name}/{FEATURES}",
        "reports/second",
        partial(vector, make),
        partial(vector_bound, name),
        has_peers=False,
    )
    for name, make in VECTORS.items()
]
