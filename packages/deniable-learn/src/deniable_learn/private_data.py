"""Training data that each client randomizes once: features and labels, each with a budget of its own, or both as one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from deniable import FeatureVector, LabelResponse, UnitAxes
from deniable.arrays import Floats, Ints
from deniable.core.coins import Coins, checked_coins
from deniable.core.domain import AnyDomain, Domain
from deniable.core.mechanism import Mechanism
from deniable.core.odds import checked_epsilon
from deniable.core.pure import PureProtocol
from deniable.domains.categories import Categories
from deniable.domains.features import Features, UnitVectors
from deniable.domains.ordered import Ordered
from deniable.errors import EmptyBatch, InvalidParameter, MissingExtra, OutsideDomain
from deniable_learn.decoding import decode, squares
from deniable_learn.guarantee import Guarantee
from deniable_learn.noisy_labels import transition, unbiased_labels

if TYPE_CHECKING:
    from torch.utils.data import TensorDataset

Public = Literal["public"]

_RANGE = (
    "Features need a public range: Features(dimensions, low, high), or UnitVectors(dimensions) for "
    'vectors of length one, or a mechanism for them. If they are not private, use features="public".'
)


@dataclass(frozen=True, eq=False)
class PrivateData(Sequence[tuple[Floats, int]]):
    """Randomized samples: features without bias, labels as reported, the labels' channel, and what is promised.

    It is a sequence of pairs, as PyTorch's loaders take it. It may be used for any number of trainings.
    """

    features: Floats
    labels: Ints
    channel: Floats  # of the labels: channel[y, z] = P(z is reported of y)
    guarantee: Guarantee

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return PrivateData(self.features[place], self.labels[place], self.channel, self.guarantee)
        return self.features[place], int(self.labels[place])

    @property
    def classes(self) -> int:
        """How many labels there are."""
        return len(self.channel)

    @property
    def noisy(self) -> bool:
        """Whether the features were randomized."""
        return self.guarantee.published != "the features"

    def targets(self) -> Floats:
        """A row for each sample that is right on average: one for its true label, zero for the others."""
        return unbiased_labels(self.labels, self.channel)

    def cross(self) -> Floats:
        """The mean of x (1{y = c} - 1/C) for each class c, without bias: x and y are randomized independently."""
        return np.asarray(self.features.T @ (self.targets() - 1 / self.classes) / len(self))

    def squares(self) -> Floats | None:
        """The mean of x x' without the noise; None where the reports do not determine it."""
        if not self.noisy:
            return np.asarray(self.features.T @ self.features / len(self))
        return squares(self.guarantee.mechanisms[0], self.features)

    def torch(self) -> "TensorDataset":
        """The same as a data set of PyTorch, in single precision."""
        try:
            import torch
            from torch.utils.data import TensorDataset
        except ImportError:
            raise MissingExtra("A data set of PyTorch", "learn") from None
        return TensorDataset(torch.as_tensor(self.features, dtype=torch.float32), torch.as_tensor(self.labels))


def privatize(
    dataset: Any,
    *,
    features: Mechanism | AnyDomain | Public,
    labels: Mechanism | Domain | Public,
    epsilon: tuple[float | None, float | None],
    total: float | None = None,
    people: ArrayLike | None = None,
    coins: Coins | None = None,
) -> PrivateData:
    """Randomize every sample once, features and label independently; losses of both add up.

    `dataset` is a pair of arrays, or anything with a length whose items are pairs (x, y). `features` is a domain with a
    public range, or a mechanism, or "public"; `labels` likewise. `epsilon` is for the features and for the label; None for
    what is public. `total` is what both may cost together, if that is to be checked. `people` names the person of each
    sample, so that the guarantee counts all samples of a person; without it every sample is another person's.

    Everything is checked before the data are looked at.
    """
    x_part, y_part = _split(epsilon, total, features, labels)
    x_mechanism, y_mechanism = _features(features, x_part), _labels(labels, y_part)
    if x_mechanism is None and y_mechanism is None:
        raise InvalidParameter("Features and labels cannot both be public: then there is nothing to protect.")
    coins = checked_coins(coins)
    x, y = arrays(dataset)
    samples = most_samples(people, len(x))
    protects = {
        (True, True): "features and label of a sample",
        (False, True): "the label of a sample, not its features",
        (True, False): "the features of a sample, not its label",
    }[x_mechanism is not None, y_mechanism is not None]
    published = "the features" if x_mechanism is None else "the labels" if y_mechanism is None else ""
    used = tuple(each for each in (x_mechanism, y_mechanism) if each is not None)
    if y_mechanism is None:
        named = _plain_labels(y)
        channel = np.eye(int(named.max()) + 1)
    else:
        named = y_mechanism.perturb(y, coins).columns["value"].astype(np.int64)
        channel = transition(y_mechanism)
    rows = _finite(x) if x_mechanism is None else decode(x_mechanism, x_mechanism.perturb(x, coins))
    return PrivateData(rows, named, channel, Guarantee(used, protects, published, samples))


def _split(
    epsilon: tuple[float | None, float | None], total: float | None, features: object, labels: object
) -> tuple[float | None, float | None]:
    try:
        x_part, y_part = epsilon
    except (TypeError, ValueError):
        raise InvalidParameter(
            "Epsilon is split between features and label: epsilon=(2.0, 1.0). To report both together, use "
            "privatize_together."
        ) from None
    for part, what, name in ((x_part, features, "features"), (y_part, labels, "labels")):
        if (part is None) != (isinstance(what, str) and what == "public"):
            raise InvalidParameter(f"The {name} need an epsilon, or None if they are public.")
        if part is not None:
            checked_epsilon(part)
    sum_of_parts = sum(part for part in (x_part, y_part) if part is not None)
    if total is not None and not math.isclose(sum_of_parts, checked_epsilon(total), rel_tol=1e-12):
        raise InvalidParameter(
            f"The epsilons of features and label sum to {sum_of_parts:g}, not to the total of {total:g}. They must be equal."
        )
    return x_part, y_part


def _features(what: object, epsilon: float | None) -> Mechanism | None:
    if epsilon is None:
        return None
    if isinstance(what, Mechanism):
        return _of_budget(what, epsilon)
    if isinstance(what, UnitVectors):
        return UnitAxes(what, epsilon)
    if isinstance(what, Features):
        return FeatureVector(what, epsilon)
    raise InvalidParameter(_RANGE)


def _labels(what: object, epsilon: float | None) -> PureProtocol | None:
    if epsilon is None:
        return None
    if isinstance(what, Mechanism):
        if not isinstance(what, PureProtocol) or [field.name for field in what.layout.fields] != ["value"]:
            raise InvalidParameter("Labels are randomized by LabelResponse or DirectResponse, which report a label.")
        _of_budget(what, epsilon)
        return what
    if isinstance(what, Categories | Ordered):
        return LabelResponse(what, epsilon)
    raise InvalidParameter("Labels need their classes: Categories(range(10)), or a LabelResponse for them.")


def _of_budget(mechanism: Mechanism, epsilon: float) -> Mechanism:
    if mechanism.epsilon != epsilon:
        raise InvalidParameter(
            f"The mechanism has a budget of epsilon {mechanism.epsilon:g}, but {epsilon:g} was given for it. They "
            "must be equal."
        )
    return mechanism


def most_samples(people: ArrayLike | None, size: int) -> int:
    """How many samples the person has who has the most."""
    if people is None:
        return 1
    names = np.asarray(people)
    if names.shape != (size,):
        raise InvalidParameter("people must have one name or number for each sample.")
    return int(np.unique(names, return_counts=True)[1].max())


def arrays(dataset: Any) -> tuple[Any, Any]:
    """Features and labels as two arrays, one row for each sample."""
    if isinstance(dataset, tuple | list) and len(dataset) == 2 and hasattr(dataset[0], "shape"):
        x, y = (np.asarray(each) for each in dataset)
    else:
        pairs = [dataset[place] for place in range(len(dataset))]
        if not pairs:
            raise EmptyBatch("This data set has no samples. Give at least one.")
        x, y = np.stack([np.asarray(each[0]) for each in pairs]), np.array([np.asarray(each[1]) for each in pairs])
    if len(x) == 0:
        raise EmptyBatch("This data set has no samples. Give at least one.")
    if len(x) != len(y):
        raise OutsideDomain("The numbers of labels and samples differ. Give one label for each sample.")
    return x, y


def _finite(x: Any) -> Floats:
    rows = np.asarray(x, np.float64)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise OutsideDomain("Features must be rows of finite numbers, one row for each sample.")
    return rows


def _plain_labels(y: Any) -> Ints:
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or labels.min() < 0:
        raise OutsideDomain("Public labels must be non-negative whole numbers, one for each sample.")
    return labels.astype(np.int64)
