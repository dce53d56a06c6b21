"""Features and label as one: each person reports the vector, or its opposite if the label says so, with all the budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deniable import FeatureVector, UnitAxes
from deniable.arrays import Floats
from deniable.core.coins import Coins, checked_coins
from deniable.core.domain import AnyDomain, Domain
from deniable.core.mechanism import Mechanism
from deniable.core.odds import checked_epsilon
from deniable.domains.features import Features, UnitVectors
from deniable.errors import InvalidParameter
from deniable_learn.decoding import decode, squares
from deniable_learn.guarantee import Guarantee
from deniable_learn.private_data import arrays, most_samples


@dataclass(frozen=True, eq=False)
class SignedData:
    """Signed samples: public signs of all classes, and s(y) x as reported, without bias. For linear models.

    With s uniform over the rows of C signs of which C // 2 are plus, and r = E[s(a) s(b)] for two classes,

        E[s(c) s(y) x] = (1 - r) E[x 1{y = c}] + r E[x]

    so that differences between classes are unbiased. A label costs nothing of its own: what is reported is one vector, and
    any two samples (x, y) lead to two vectors of the same domain. For two classes this is the known trick of y x.
    """

    vectors: Floats
    signs: Floats
    guarantee: Guarantee

    @property
    def noisy(self) -> bool:
        """Whether the features were randomized, as they always are here."""
        return True

    def __len__(self) -> int:
        return len(self.vectors)

    def __getitem__(self, part: slice) -> "SignedData":
        return SignedData(self.vectors[part], self.signs[part], self.guarantee)

    @property
    def classes(self) -> int:
        """How many labels there are."""
        return self.signs.shape[1]

    def cross(self) -> Floats:
        """The mean of x (1{y = c} - 1/C) for each class c, without bias."""
        means = self.vectors.T @ self.signs / len(self)
        return np.asarray((means - means.mean(axis=1, keepdims=True)) / (1 - sign_product(self.classes)))

    def squares(self) -> Floats | None:
        """The mean of x x' without the noise; None where the reports do not determine it. The signs cancel."""
        return squares(self.guarantee.mechanisms[0], self.vectors)


def sign_product(classes: int) -> float:
    """The mean product of the signs of two different classes.

    >>> sign_product(2), sign_product(4) == -1 / 3
    (-1.0, True)
    """
    more = classes - 2 * (classes // 2)
    return (more**2 - classes) / (classes * (classes - 1))


def privatize_together(
    dataset: Any,
    *,
    features: Mechanism | AnyDomain,
    labels: Domain,
    epsilon: float,
    people: ArrayLike | None = None,
    coins: Coins | None = None,
) -> SignedData:
    """Randomize every sample once, features and label as one vector: epsilon is for both.

    Each person draws public signs for the classes, half of them plus, and reports x if the sign of its label is plus, else
    -x. `features` is UnitVectors, or Features from -a to a, or a mechanism for either; `labels` the classes.
    """
    mechanism = _symmetric(features, checked_epsilon(epsilon))
    if (
        not isinstance(labels, Domain)
        or isinstance(labels, Features | UnitVectors)
        or not isinstance(labels.labels, Sequence)
    ):
        raise InvalidParameter("Labels need their classes: Categories(range(10)).")
    coins = checked_coins(coins)
    x, y = arrays(dataset)
    samples, index = most_samples(people, len(x)), labels.index(y)
    plus = coins.subset(labels.size, labels.size // 2, np.zeros(len(x), np.bool_)).unpack()
    signs = np.where(plus, 1.0, -1.0)
    reports = mechanism.perturb(np.asarray(x, np.float64) * signs[np.arange(len(x)), index][:, None], coins)
    guarantee = Guarantee((mechanism,), "features and label of a sample", samples=samples)
    return SignedData(decode(mechanism, reports), signs, guarantee)


def _symmetric(features: object, epsilon: float) -> Mechanism:
    domain = features.domain if isinstance(features, Mechanism) else features
    if not isinstance(domain, UnitVectors) and not (isinstance(domain, Features) and domain.low == -domain.high):
        raise InvalidParameter(
            "Signed samples need a public range that holds every vector and its opposite: UnitVectors(dimensions), or "
            "Features(dimensions, -a, a)."
        )
    if isinstance(features, Mechanism):
        if features.epsilon != epsilon:
            raise InvalidParameter(
                f"The mechanism has a budget of epsilon {features.epsilon:g}, but {epsilon:g} was given. They must be equal."
            )
        return features
    return UnitAxes(domain, epsilon) if isinstance(domain, UnitVectors) else FeatureVector(domain, epsilon)
