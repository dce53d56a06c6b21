"""Small instances of everything that perturbs. A new mechanism adds a line, and `deniable.testing` checks it."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

import deniable as dn
from deniable.core.pure import PureProtocol
from deniable.mechanisms.algebra.difference_sets import Paley, Quartic, Singer
from deniable.mechanisms.distributions.distribution_mechanism import DistributionMechanism
from deniable.mechanisms.key_value.key_value_protocol import KeyValueProtocol
from deniable.mechanisms.key_value.padded_protocol import Chances
from deniable.mechanisms.means.mean_mechanism import MeanMechanism
from deniable.mechanisms.releases.release import Release
from deniable.mechanisms.shares.exact_channel import ExactChannel
from deniable.wrappers.attributes import Attributes
from deniable.wrappers.record_mechanism import RecordMechanism

EPSILON = math.log(3)  # odds of exactly 3: probabilities with small denominators

TWO = dn.Categories(["yes", "no"])
THREE = dn.Categories(["a", "b", "c"])
FIVE = dn.Categories(range(5))

EXAMPLES: dict[str, PureProtocol] = {
    "warner": dn.DirectResponse(TWO, EPSILON),
    "direct": dn.DirectResponse(FIVE, EPSILON),
    "direct-words": dn.DirectResponse(THREE, 1.0),
    "unary": dn.Unary(THREE, EPSILON),
    "unary-two": dn.Unary(TWO, 2.0),
    "unary-symmetric": dn.Unary.symmetric(dn.Categories(range(4)), 2 * EPSILON),
    "unary-free": dn.Unary(THREE, 3.0, Fraction(3, 4), Fraction(1, 4)),
    "unary-nine": dn.Unary(dn.Categories(range(9)), 1.0),
    "subset-two": dn.SubsetSelection(TWO, EPSILON),
    "subset": dn.SubsetSelection(FIVE, EPSILON, 2),
    "subset-wide": dn.SubsetSelection(FIVE, EPSILON, 4),
    "subset-nine": dn.SubsetSelection(dn.Categories(range(9)), 0.5),
    "hashing": dn.LocalHashing(FIVE, EPSILON, 3),
    "hashing-words": dn.LocalHashing(THREE, 1.0),
    "hashing-full": dn.LocalHashing(FIVE, 1.0, 5),
    "hashing-binary": dn.LocalHashing.binary(dn.Categories(range(6)), EPSILON),
    "wheel": dn.Wheel(FIVE, EPSILON, 2),
    "wheel-two": dn.Wheel(TWO, EPSILON),
    "wheel-words": dn.Wheel(THREE, 1.0),
    "wheel-wide": dn.Wheel(dn.Categories(range(6)), EPSILON, 5),
    "hadamard": dn.HadamardResponse(FIVE, EPSILON),
    "hadamard-two": dn.HadamardResponse(TWO, EPSILON),
    "hadamard-words": dn.HadamardResponse(THREE, 1.0),
    "design": dn.BlockDesign(dn.Categories(range(4)), EPSILON, Singer(2, 3)),
    "design-words": dn.BlockDesign(THREE, 1.0, Singer(2, 3)),
    "design-paley": dn.BlockDesign(FIVE, EPSILON, Paley(11)),
    "design-trivial": dn.BlockDesign(FIVE, 1.0),
    "design-quartic": dn.BlockDesign(dn.Categories(range(9)), EPSILON, Quartic(13)),
    "weighted": dn.WeightedDesign(dn.Categories(range(6)), EPSILON, [[0, 1], [0, 2], [0, 3]], [2, 2, 1], [1]),
    "weighted-units": dn.WeightedDesign(dn.Categories(range(9)), EPSILON, [[0, 1], [0, 3]], [3, 1], [1, 2, 4]),
    "label": dn.LabelResponse(FIVE, EPSILON),
    "label-beta": dn.LabelResponse.with_beta(THREE, 1.0, -0.25),
    "label-laplace": dn.LabelResponse.laplace(FIVE, 2.0),
    "design-field": dn.BlockDesign(dn.Categories(range(16)), 1.0),
}

# Questions asked again and again: they have the same laws, but no vectors for other clients, which keep no answers yet.
REPEATED: dict[str, PureProtocol] = {
    "memoized-direct": dn.Memoized.direct(THREE, math.log(9), EPSILON),
    "memoized-rappor": dn.Memoized.rappor(THREE, Fraction(1, 2), Fraction(1, 2), Fraction(3, 4)),
    "memoized-optimized": dn.Memoized.optimized(THREE, math.log(9), EPSILON),
    "memoized-hashing": dn.Memoized.hashing(FIVE, math.log(9), EPSILON, 3),
    "memoized-kept": dn.Memoized(dn.SubsetSelection(FIVE, EPSILON, 2)),
}
ALL: dict[str, PureProtocol] = EXAMPLES | REPEATED

# Mechanisms for means, whose reports stand for numbers; those with vectors for other clients.
NUMBERS: dict[str, dn.Mechanism] = {
    "duchi": dn.Duchi(dn.Interval(0, 10, steps=4), EPSILON),
    "three-outputs": dn.ThreeOutputs(dn.Interval(-3, 5, steps=5), 2.0),
    "piecewise": dn.Piecewise(dn.Interval(0, 10, steps=4), EPSILON, 2, 1),
    "hybrid": dn.Hybrid(dn.Interval(0, 1, steps=2), 1.0),
    "bit-sampling": dn.BitSampling(dn.Interval(-1, 1, steps=7), EPSILON),
    "mean-channel": dn.MeanChannel(dn.Interval(0, 1, steps=1), EPSILON, [[3, 1], [1, 3]], [-2.0, 2.0]),
    "window-mean": dn.WindowMean(dn.Interval(-3, 5, steps=5), 1.0, 2, [1, 3, 4], [2048, 2944, 4096]),
    "optimal-mean": dn.OptimalMean(dn.Interval(-3, 5, steps=5), 1.0, Fraction(3), [-1, 0, 1], [[5, 2, 2], [3, 3, 3]]),
    "feature-vector": dn.FeatureVector(dn.Features(3, -1, 1, steps=2), 1.0, 2, "duchi-1"),
    "feature-vector-all": dn.FeatureVector.composed(dn.Features(2, 0, 1, steps=1), 0.5),
    "sign-word": dn.SignWord(dn.Features(3, -1, 1, steps=2), 2.0, 2),
    "sign-word-all": dn.SignWord(dn.Features(3, 0, 1, steps=1), 3.0, 3),
    "duchi-vector": dn.DuchiVector(dn.Features(4, -1, 1, steps=2), 1.0),
    "duchi-vector-odd": dn.DuchiVector(dn.Features(3, 0, 4, steps=1), 1.0),
    "bitrand": dn.BitRand.as_published(3, 4, 1.0, whole=1),
    "bitrand-latent": dn.BitRand.latent(2, 3, 1.0),
    "bitrand-offset": dn.BitRand.offset(2, -1, 1, 8.0),
}


SMALL = dn.Interval(0, 10, steps=4)
ODD = dn.Interval(-3, 5, steps=5)
MEANS: dict[str, MeanMechanism] = {
    "duchi": dn.Duchi(SMALL, EPSILON),
    "duchi-ends": dn.Duchi(dn.Interval(0, 1, steps=1), 1.0),
    "three": dn.ThreeOutputs(SMALL, 1.0),
    "three-odd": dn.ThreeOutputs(ODD, 2.0),
    "three-zeroless": dn.ThreeOutputs(SMALL, 0.5),
    "piecewise": dn.Piecewise(SMALL, EPSILON, 2, 1),
    "piecewise-wide": dn.Piecewise(ODD, EPSILON, 7, 3),
    "piecewise-best": dn.Piecewise(SMALL, 3.0),
    "piecewise-original": dn.Piecewise.original(ODD, 1.0),
    "hybrid": dn.Hybrid(dn.Interval(0, 1, steps=2), 1.0),
    "hybrid-pure": dn.Hybrid(SMALL, 0.5),
    "bits": dn.BitSampling(dn.Interval(-1, 1, steps=7), EPSILON),
    "channel": dn.MeanChannel(dn.Interval(0, 1, steps=1), EPSILON, [[3, 1], [1, 3]], [-2.0, 2.0]),
    "laplace": dn.MeanChannel.laplace(SMALL, 1.0),
    "window": dn.WindowMean.best(SMALL, 2.0),
    "window-odd": dn.WindowMean(ODD, 1.0, 2, [1, 3, 4], [2048, 2944, 4096]),
    "optimal": dn.OptimalMean(SMALL, 1.0, Fraction(3), [-1, 0, 1], [[5, 2, 2], [3, 3, 3]]),
    "optimal-odd": dn.OptimalMean(ODD, 1.0, Fraction(3), [-1, 0, 1], [[5, 2, 2], [3, 3, 3]]),
    "permanent": dn.PermanentMean(SMALL, 1.0),
    "permanent-twice": dn.PermanentMean.twice_randomized(SMALL, math.log(9), EPSILON),
}

# Mechanisms for maps.
MAPS: dict[str, dn.Tiles] = {
    "tiles": dn.Tiles(dn.Product([dn.Ordered(range(2)), dn.Ordered(range(4))]), EPSILON, [[1, 2], [0, 0]], [1, 3]),
    "tiles-weighted": dn.Tiles.weighted(dn.Product([dn.Ordered(range(3)), dn.Ordered(range(3))]), 1.0),
    "tiles-shifted": dn.ShiftedTiles(
        dn.Product([dn.Ordered(range(2)), dn.Ordered(range(3))]), EPSILON, [[2, 1, 2, 1], [1, 0, 1, 0]], [1, 2]
    ),
    "tiles-shifted-one": dn.ShiftedTiles(
        dn.Points([[0, 0], [0, 1], [1, 0], [1, 1], [3, 0], [3, 1]]),
        1.0,
        [[1, 0, 2, 0], [2, 0, 1, 0], [1, 0, 1, 0]],
        [3, 1, 2],
    ),
    "tiles-places": dn.Tiles.weighted(dn.Points([[0, 0], [0, 1], [2, 3], [5, 1], [4, 4]]), EPSILON),
}

# Mechanisms for the distribution of a number or of ordered answers.
DISTRIBUTIONS: dict[str, DistributionMechanism] = {
    "square-wave": dn.SquareWave(SMALL, EPSILON, 2),
    "square-wave-best": dn.SquareWave(dn.Ordered(range(7)), 1.0),
    "square-wave-circular": dn.SquareWave(dn.Ordered(range(8)), EPSILON, 3, circular=True),
    "square-wave-words": dn.SquareWave(dn.Ordered(["low", "middle", "high"]), 2.0),
    "comb-wave": dn.CombWave(dn.Ordered(range(6)), EPSILON, [0, 2, 4, 5], 9),
    "comb-wave-best": dn.CombWave(ODD, 1.0),
    "hierarchy": dn.Hierarchy.of(dn.Ordered(range(8)), EPSILON, [2, 4, 8]),
    "hierarchy-uneven": dn.Hierarchy.of(dn.Ordered(range(7)), 1.0, [3, 7], [2, 5]),
    "hierarchy-weighted": dn.Hierarchy.weighted(SMALL, EPSILON),
    "cuts": dn.Cuts(dn.Ordered(range(7)), EPSILON, [[2], [3]], [1, 2]),
    "cuts-everywhere": dn.Cuts(SMALL, 1.0, [list(range(1, SMALL.size))], [1]),
    "cuts-three": dn.Cuts(dn.Ordered(range(6)), 1.0, [[1, 3, 3], [2, 3, 5]], [3, 1]),
    "workload": dn.WorkloadChannel(dn.Ordered(range(3)), 1.5, [[6, 3, 2], [2, 5, 4], [2, 3, 6]]),
    "hierarchy-wave": dn.Hierarchy.square(dn.Ordered(range(6)), 1.0),
}

DISCOVERY: dict[str, dn.PrefixHashing] = {
    "prefix": dn.PrefixHashing(dn.Strings("key", 3, [1, 2], 9), EPSILON, 3, [1, 2, 1]),
    "prefix-two": dn.PrefixHashing(dn.Strings("key", 2, [1], 4), 1.0, 2, [1, 1]),
    "prefix-alone": dn.PrefixHashing(dn.Strings("key", 2, [], 5), 1.0, 5, [2]),
    "sifted": dn.SiftedHashing(dn.SiftedStrings("key", 3, [1, 2], 9, known=[5, 2]), EPSILON, 3, [1, 2, 1]),
    "sifted-two": dn.SiftedHashing(dn.SiftedStrings("key", 2, [1], 4, known=[0]), 1.0, 2, [1, 1]),
}

PLANE = dn.Features(2, -1, 1, steps=2)
SAMPLED: dict[str, dn.FeatureVector] = {
    "one-of-two": dn.FeatureVector(PLANE, 1.0, 1, "duchi-1"),
    "one-of-three": dn.FeatureVector(dn.Features(3, 0, 10, steps=1), 2.0, 1, "three-outputs-1"),
    "two-of-three": dn.FeatureVector(dn.Features(3, -1, 1, steps=2), 1.0, 2, "duchi-1"),
    "composed": dn.FeatureVector.composed(dn.Features(2, 0, 1, steps=1), 0.5),
}
SIGNS: dict[str, dn.DuchiVector] = {
    "one": dn.DuchiVector(dn.Features(1, -1, 1, steps=4), 1.0),
    "two": dn.DuchiVector(PLANE, 1.0),
    "three": dn.DuchiVector(dn.Features(3, 0, 4, steps=1), 1.0),
    "four": dn.DuchiVector(dn.Features(4, -1, 1, steps=1), 0.5),
    "published-two": dn.DuchiVector.as_published(dn.Features(2, -1, 1, steps=1), 1.0),
    "published-four": dn.DuchiVector.as_published(dn.Features(4, -1, 1, steps=1), 1.0),
    "published-odd": dn.DuchiVector.as_published(dn.Features(3, -1, 1, steps=1), 1.0),
}
PUBLISHED_BITS: dict[str, Callable[[int, int, float], dn.BitRand]] = {
    "f-RR": dn.BitRand.as_published,
    "LATENT": dn.BitRand.latent,
    "OME": dn.BitRand.ome,
    "3a": dn.BitRand.water_filled,
}
BITS: dict[str, dn.BitRand] = {
    **{
        f"{name}-{r}x{bits}": make(r, bits, 1.0)
        for name, make in PUBLISHED_BITS.items()
        for r, bits in ((1, 1), (1, 4), (2, 2), (3, 2))
    },
    "offset": dn.BitRand.offset(1, -1, 1, 3.0, 2),
    "offset-plane": dn.BitRand.offset(2, -1, 1, 8.0, 2),
}

STATES: dict[str, ExactChannel] = {
    "ewrr": dn.ThreeState.ewrr(EPSILON),
    "dagger": dn.ThreeState.dagger(Fraction(7, 10), Fraction(1, 2)),
    "ddagger": dn.ThreeState.ddagger(Fraction(7, 10), Fraction(4, 5)),
    "club": dn.ThreeState.club(Fraction(4, 5), Fraction(3, 5), Fraction(3, 4)),
    "complement": dn.ThreeState.club(Fraction(1, 7), Fraction(4, 7), Fraction(1, 4)),
    "weighted": dn.ThreeState(Fraction(1, 2), Fraction(3, 4), Fraction(2, 3), domain=dn.Link(0.5, 5)),
    "equal-5": dn.EqualWeight(dn.Categories(range(5)), Fraction(1, 2)),
    "equal-below": dn.EqualWeight(dn.Categories(["a", "b", "c"]), Fraction(1, 5)),
}


def keys(size: int, at_most: int = 1, low: float = -1, high: float = 1) -> dn.KeyValue:
    return dn.KeyValue(range(size), low, high, at_most)


def protocols(domain: dn.KeyValue) -> dict[str, KeyValueProtocol]:
    """Every protocol for keys with values, in every form."""
    F = Fraction
    return {
        "unary": dn.PCKVUnary(domain, EPSILON),
        "unary-published": dn.PCKVUnary.published(domain, EPSILON),
        "unary-free": dn.PCKVUnary.of(domain, F(3, 5), F(1, 5), F(3, 5)),
        "unary-loose": dn.PCKVUnary.of(domain, F(1, 2), F(3, 10), F(7, 10)),
        "unary-both": dn.PCKVUnary(domain, 3.0, Chances(F(1, 3), F(1, 10), F(1, 5), F(1, 10), F(1, 20))),
        "unary-frequency": dn.PCKVUnary(domain, None, Chances(F(0), F(0), F(1, 2), F(0), F(1, 4))),  # type: ignore[arg-type]
        "wheel": dn.PairWheel(domain, EPSILON, 3),
        "wheel-both": dn.PairWheel(domain, EPSILON, 5, 2, 1),
        "wheel-frequency": dn.PairWheel.frequencies(domain, EPSILON, 3),
        "direct": dn.PCKVDirect(domain, EPSILON),
        "direct-split": dn.PCKVDirect.split(domain, 0.2, 2.0),
        "direct-frequency": dn.PCKVDirect.frequencies(domain, EPSILON),
        "privset-frequency": dn.PrivSet(domain, EPSILON),
        "privset-frequency-two": dn.PrivSet(domain, EPSILON, min(2, len(domain.labels))),
        "kvue": dn.KeySampling.kvue(domain, EPSILON),
        "harmony": dn.KeySampling.harmony(domain, EPSILON),
        "privkv": dn.KeySampling.privkv(domain, 0.5, 0.5),
        "privkv-fake": dn.KeySampling.privkv(domain, 0.5, 1.0, 0.25),
        "privkv-exact": dn.KeySampling.privkv_for(domain, EPSILON),
    }


CHANNELS: dict[str, dn.FiniteChannel] = {
    "square": dn.FiniteChannel(THREE, 1.5, [[6, 3, 1], [2, 5, 3], [2, 4, 4]]),
    "wide": dn.FiniteChannel(THREE, 1.5, [[4, 2, 1, 3], [1, 4, 2, 3], [2, 1, 4, 3]]),
    "singular": dn.FiniteChannel(THREE, 1.0, [[2, 1, 1], [1, 2, 1], [2, 1, 1]]),
}

RANDOM = np.random.default_rng(11)
LINE = dn.Ordered(range(1, 11))
UNEVEN = dn.Ordered([0, 1, 3, 4, 9, 11, 20])
POINTS = dn.Points(RANDOM.random((9, 2)))
TIES = dn.LossMatrix(RANDOM.integers(1, 4, (8, 8)) * (1 - np.eye(8)))
SETS = dn.Points([{"a"}, {"a", "b"}, {"b", "c"}, {"c"}, {"a", "c", "d"}], "jaccard")
INTERVAL = dn.Interval(-1, 1, steps=6)
# The truncated geometric law on ten points, with the ratio 7/10.
GEOMETRIC = [[Fraction(7, 10) ** abs(x - z) * Fraction(10 if z in (0, 9) else 3, 17) for z in range(10)] for x in range(10)]
RELEASES: dict[str, Release] = {
    "bipartite": dn.Bipartite(LINE, 1.5),
    "bipartite one": dn.Bipartite(LINE, 1.5, near=1),
    "bipartite even": dn.Bipartite(LINE, 1.5, near=4),
    "bipartite wide": dn.Bipartite(LINE, 1.5, near=9),
    "bipartite mean": dn.Bipartite(UNEVEN, 1.5, "mean"),
    "bipartite plane": dn.Bipartite(POINTS, 1.5, near=3),
    "bipartite ties": dn.Bipartite(TIES, 1.5, near=3),
    "bipartite sets": dn.Bipartite(SETS, 1.5, near=2),
    "bipartite interval": dn.Bipartite(INTERVAL, 1.5, near=3),
    "bipartite words": dn.Bipartite(dn.Ordered(["low", "middle", "high"]), 0.3),
    "staircase": dn.Staircase(LINE, 1.5),
    "staircase four": dn.Staircase(LINE, 1.5, [1, 2, 3, 4]),
    "staircase plane": dn.Staircase(POINTS, 1.5, [2, 3, 1, 3]),
    "staircase ties": dn.Staircase(TIES, 1.5, [2, 6]),
    "staircase interval": dn.Staircase(INTERVAL, 1.5, [1, 3, 3]),
    "coarsened": dn.Coarsened(LINE, 1.5),
    "coarsened uneven": dn.Coarsened(UNEVEN, 1.5),
    "coarsened plane": dn.Coarsened(POINTS, 1.5),
    "coarsened ties": dn.Coarsened(TIES, 1.5, [1, 4, 6]),
    "coarsened interval": dn.Coarsened(INTERVAL, 1.5),
    "coarsened one": dn.Coarsened(LINE, 1.5, [5]),
    "exponential": dn.ReleaseChannel.exponential(LINE, 1.5),
    "exponential tight": dn.ReleaseChannel.exponential(TIES, 1.5, tight=True),
    "laplace": dn.ReleaseChannel.laplace(INTERVAL, 1.5),
    "metric": dn.MetricRelease.from_rows(LINE, 3.5, GEOMETRIC),
}
SHORT = dn.Vectors([dn.Ordered(range(4)), dn.Interval(0, 1, steps=2)])
VECTOR_RELEASES: dict[str, dn.Mechanism] = {
    "vectors": dn.VectorRelease.of(SHORT, 1.0),
    "one-coordinate": dn.VectorRelease.one_coordinate(SHORT, 1.0),
}

PAIR = dn.Vectors([dn.Categories(["yes", "no"]), dn.Categories(["a", "b", "c"])])
RECORDS: dict[str, Attributes] = {
    "every": dn.EveryAttribute.of(PAIR, EPSILON),
    "every-unary": dn.EveryAttribute.of(PAIR, 1.0, dn.Unary),
    "one": dn.OneAttribute.of(PAIR, EPSILON),
    "one-unary": dn.OneAttribute.of(PAIR, EPSILON, dn.Unary),
    "fake": dn.FakeAttributes.of(PAIR, EPSILON),
    "fake-zero": dn.FakeAttributes.of(PAIR, EPSILON, dn.Unary),
    "fake-random": dn.FakeAttributes.of(PAIR, EPSILON, dn.Unary, random_fakes=True),
    "published": dn.FakeAttributes.as_published(PAIR, EPSILON),
    "published-zero": dn.FakeAttributes.as_published(PAIR, EPSILON, dn.Unary),
    "published-random": dn.FakeAttributes.as_published(PAIR, EPSILON, dn.Unary, random_fakes=True),
}

# Answers that are reported together. With "similar", a record that differs in one answer is as likely as the true one.
BITS_OF_THREE = dn.Vectors([dn.Categories(range(2))] * 3)
TOGETHER: dict[str, RecordMechanism] = {
    "whole": dn.WholeRecord(PAIR, EPSILON),
    "whole-similar": dn.WholeRecord(dn.Vectors([dn.Categories(range(2)), dn.Categories(range(4))]), EPSILON, agreeing=1),
    "whole-three": dn.WholeRecord(BITS_OF_THREE, EPSILON, agreeing=2),
    "groups": dn.OneGroup.of(dn.Vectors([*PAIR.parts, dn.Categories(range(2))]), EPSILON, [[1], [2, 0]]),
    "groups-similar": dn.OneGroup(
        BITS_OF_THREE,
        EPSILON,
        [dn.DirectResponse(dn.Categories(range(2)), EPSILON), dn.WholeRecord(BITS_OF_THREE, EPSILON, agreeing=2)],
        [[1], [0, 1, 2]],
        [1, 2],
    ),
    "groups-overlapping": dn.OneGroup.of(BITS_OF_THREE, EPSILON, [[0, 1], [1, 2], [2, 0]]),
}

# The same with records of two and two answers, where every combination of coins is followed quickly.
SQUARE = dn.Vectors([dn.Categories(range(2)), dn.Categories(range(2))])
FAKES: dict[str, Attributes] = {
    "fake-random": dn.FakeAttributes.of(SQUARE, EPSILON, dn.Unary, random_fakes=True),
    "published-random": dn.FakeAttributes.as_published(SQUARE, EPSILON, dn.Unary, random_fakes=True),
}


def shares(size: int) -> list[Fraction]:
    """True shares that are all different, and one of them zero where there is room."""
    weights = [(7 * place + 3) % 11 for place in range(size)]
    weights[-1] = 0 if size > 2 else 1
    return [Fraction(weight, sum(weights)) for weight in weights]
