"""Small instances of everything that perturbs. A new mechanism adds a line and gets all the laws of test_laws.py."""

import math
from fractions import Fraction

import deniable as dn
from deniable.core.mechanism import PureProtocol
from deniable.mechanisms.algebra.difference_sets import Paley, Quartic, Singer

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

# Mechanisms for means, whose reports stand for numbers; test_means.py, test_features.py and test_bitrand.py have their laws.
NUMBERS: dict[str, dn.Mechanism] = {
    "duchi": dn.Duchi(dn.Interval(0, 10, steps=4), EPSILON),
    "three-outputs": dn.ThreeOutputs(dn.Interval(-3, 5, steps=5), 2.0),
    "piecewise": dn.Piecewise(dn.Interval(0, 10, steps=4), EPSILON, 2, 1),
    "hybrid": dn.Hybrid(dn.Interval(0, 1, steps=2), 1.0),
    "bit-sampling": dn.BitSampling(dn.Interval(-1, 1, steps=7), EPSILON),
    "mean-channel": dn.MeanChannel(dn.Interval(0, 1, steps=1), EPSILON, [[3, 1], [1, 3]], [-2.0, 2.0]),
    "feature-vector": dn.FeatureVector(dn.Features(3, -1, 1, steps=2), 1.0, 2, "duchi-1"),
    "feature-vector-all": dn.FeatureVector.composed(dn.Features(2, 0, 1, steps=1), 0.5),
    "duchi-vector": dn.DuchiVector(dn.Features(4, -1, 1, steps=2), 1.0),
    "duchi-vector-odd": dn.DuchiVector(dn.Features(3, 0, 4, steps=1), 1.0),
    "bitrand": dn.BitRand.as_published(3, 4, 1.0, whole=1),
    "bitrand-latent": dn.BitRand.latent(2, 3, 1.0),
    "bitrand-offset": dn.BitRand.offset(2, -1, 1, 8.0),
}


def shares(size: int) -> list[Fraction]:
    """True shares that are all different, and one of them zero where there is room."""
    weights = [(7 * place + 3) % 11 for place in range(size)]
    weights[-1] = 0 if size > 2 else 1
    return [Fraction(weight, sum(weights)) for weight in weights]
