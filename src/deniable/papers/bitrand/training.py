"""Training on what people sent: features, labels or gradients, each randomized as the paper says, at claimed budgets."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.domains import Categories, Features, SignMagnitude
from deniable.learning import LinearModel, PrivateSGDClassifier, decode, fit_softmax
from deniable.learning.learner import area_under_curve
from deniable.mechanisms import BitRand, FeatureVector, LabelResponse
from deniable.papers.bitrand.theory import LATENT, OME, true_epsilon
from deniable.papers.data import Data
from deniable.papers.figure import Check, Pace, Result, Row, claimed, coins_for, random_for
from deniable.papers.samples import Samples, images, texts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

COLUMNS = ("data", "epsilon", "mechanism", "accuracy", "AUC", "true epsilon")
EPSILONS, FEW, LABELS = (1.0, 2.0, 3.0, 5.0, 7.0, 10.0), (1.0, 5.0, 10.0), (1.0, 2.5, 5.0, 10.0)
BITS, REACH, BLOCK = 10, 0.5, 7  # bits of a code below one; reach of a coordinate; coordinates told at a time
SCALARS = {"DM": "duchi-1", "HM": "hybrid-1", "Three-outputs": "three-outputs-1", "PM-SUB": "piecewise-1"}
NOTE = "SEC and CelebA are missing, and digits stand for FEMNIST; a linear model is trained instead of two hidden layers"


def sets(data: Data, seed: int, quick: bool, pace: Pace) -> list[Samples]:
    """The two sets that are at hand."""
    people = max(200, pace.times(quick, 800, 12_000))
    return [texts(data, seed, people), images(data, seed, 2 * people)]


def scores(held: Samples, model: LinearModel) -> tuple[float, float]:
    """Accuracy, and the mean area under the curve of each class against the others."""
    told, right = model.scores(held.test), held.test_right.astype(np.int64)
    areas = [area_under_curve(right == c, told[:, c]) for c in range(told.shape[1]) if (right == c).any()]
    return float((told.argmax(axis=1) == right).mean()), float(np.mean(areas))


def fitted(rows: Floats, labels: Ints, classes: int, channel: Floats | None = None, correction: str = "none") -> LinearModel:
    """Softmax regression, features brought to a mean length of one."""
    size = max(float(np.sqrt((rows**2).sum(axis=1).mean())), 1e-9)
    matrix = np.eye(classes) if channel is None else channel
    found = fit_softmax(rows / size, labels, matrix, correction, 1e-3, rounds=40)  # type: ignore[arg-type]
    return LinearModel(found.weights / size, found.bias)


def bounds(held: Samples) -> list[tuple[str, tuple[float, float]]]:
    """What learning without noise reaches, and what guessing does."""
    classes = int(held.right.astype(np.int64).max()) + 1
    ceiling = scores(held, fitted(held.rows, held.right.astype(np.int64), classes))
    return [("noiseless", ceiling), ("random", (1 / classes, 0.5))]


def read_bits(made: BitRand, rows: Floats, seed: int) -> Floats:
    """Codes as they arrive, read as if no bit had been flipped."""
    domain = made.domain
    assert isinstance(domain, SignMagnitude)
    reports = made.perturb(rows, coins_for(seed, made.wire, made.epsilon, domain.dimensions))
    codes = np.zeros(rows.shape, np.int64)
    for i in range(made.bits):
        bits = np.unpackbits(reports.columns[f"bit{i}"], axis=1, bitorder="little", count=domain.dimensions)
        codes = 2 * codes + bits
    return np.asarray(domain.decode(codes))


def noisy_features(held: Samples, name: str, epsilon: float, seed: int) -> tuple[Floats, float]:
    """What is learnt from, and the true epsilon of it."""
    size, rows = held.rows.shape[1], np.clip(held.rows, -0.99, 0.99)
    if name in ("BitRand", "LATENT", "OME"):
        made = {
            "BitRand": lambda: BitRand.as_published(size, BITS, epsilon),
            "LATENT": lambda: BitRand.latent(size, BITS, epsilon, LATENT),
            "OME": lambda: BitRand.ome(size, BITS, epsilon, OME),
        }[name]()
        return read_bits(made, rows, seed), true_epsilon("f-RR" if name == "BitRand" else name, size, BITS, epsilon)
    vector = FeatureVector(Features(size, -REACH, REACH, clip=True), epsilon, scalar=SCALARS[name])
    reports = vector.perturb(held.rows, coins_for(seed, name, epsilon, size))
    return decode(vector, reports), vector.loss().epsilon()


@lru_cache(maxsize=4)
def features(quick: bool, seed: int, data: Data, pace: Pace) -> tuple[list[Row], list[str]]:
    """Figs. 15 and 19: features are randomized once, labels are public."""
    rows, notes = list[Row](), [NOTE]
    for held in pace.over(sets(data, seed, quick, pace)):
        notes.append(held.note)
        labels = held.right.astype(np.int64)
        classes = int(labels.max()) + 1
        for epsilon in FEW if quick else EPSILONS:
            for name in ("BitRand", "LATENT", "OME", *SCALARS):
                noisy, true = noisy_features(held, name, epsilon, seed)
                rows.append((held.name, epsilon, name, *scores(held, fitted(noisy, labels, classes)), true))
            rows += [(held.name, epsilon, name, *both, 0.0) for name, both in bounds(held)]
    return rows, notes


@lru_cache(maxsize=4)
def labels_only(quick: bool, seed: int, data: Data, pace: Pace) -> tuple[list[Row], list[str]]:
    """Figs. 18 and 21: BitRand's features at claimed epsilon 5, and labels by label-RR or by noise on one-hot vectors."""
    rows, notes = list[Row](), [NOTE, "features by f-RR at a claimed epsilon of 5"]
    for held in pace.over(sets(data, seed, quick, pace)):
        notes.append(held.note)
        right = held.right.astype(np.int64)
        classes = int(right.max()) + 1
        domain, noisy = Categories(range(classes)), noisy_features(held, "BitRand", 5.0, seed)[0]
        for epsilon in LABELS:
            for name, made in (
                ("label-RR", LabelResponse(domain, epsilon)),
                ("Label-Laplace", LabelResponse.laplace(domain, epsilon)),
            ):
                told = (
                    made.perturb(right.tolist(), coins_for(seed, held.name, name, epsilon)).columns["value"].astype(np.int64)
                )
                channel = np.full((classes, classes), float(made.q)) + np.eye(classes) * float(made.p - made.q)
                rows.append((held.name, epsilon, name, *scores(held, fitted(noisy, told, classes)), made.loss().epsilon()))
                if name == "label-RR":
                    better = fitted(noisy, told, classes, channel, "forward")
                    rows.append(
                        (held.name, epsilon, "label-RR, loss corrected", *scores(held, better), made.loss().epsilon())
                    )
            rows += [(held.name, epsilon, name, *both, 0.0) for name, both in bounds(held)]
    return rows, notes


def anonymous(held: Samples, epsilon: float, seed: int, rounds: int = 4) -> LinearModel:
    """LDP-FL as it is counted: every coordinate of every gradient has the whole epsilon, by Duchi's mechanism."""
    right = held.right.astype(np.int64)
    classes, size = int(right.max()) + 1, held.rows.shape[1]
    box = FeatureVector(Features(BLOCK, -1, 1, clip=True), min(epsilon * BLOCK, 99.0), BLOCK, "duchi-1")
    weights, coins = np.zeros((size, classes)), coins_for(seed, "anonymous", held.name, epsilon)
    for own in np.array_split(random_for(seed, "rounds").permutation(len(right)), rounds):
        told = held.rows[own] @ weights
        p = np.exp(told - told.max(axis=1, keepdims=True))
        p = p / p.sum(axis=1, keepdims=True) - np.eye(classes)[right[own]]
        gradients = (held.rows[own][:, :, None] * p[:, None, :]).reshape(len(own), -1)
        scale = float(np.quantile(np.abs(gradients), 0.99)) or 1.0  # as if it were public
        flat = np.clip(gradients / scale, -1, 1).ravel()
        flat = np.append(flat, np.zeros(-len(flat) % BLOCK)).reshape(-1, BLOCK)
        noisy = decode(box, box.perturb(flat, coins)).ravel()[: gradients.size].reshape(gradients.shape)
        weights = weights - 20.0 * scale * noisy.mean(axis=0).reshape(size, classes)
    return LinearModel(weights, np.zeros(classes))


@lru_cache(maxsize=4)
def gradients(quick: bool, seed: int, data: Data, pace: Pace, shuffled: bool) -> tuple[list[Row], list[str]]:
    """Figs. 8, 16, 17 and 20: gradients are randomized, with or without an anonymizer that is trusted to unlink them."""
    rows, notes = list[Row](), [NOTE]
    if shuffled:
        notes.append(
            "the anonymizer: every coordinate has the whole epsilon, since nobody can link them; without that it adds up"
        )
    for held in pace.over(sets(data, seed, quick, pace)):
        notes.append(held.note)
        right = held.right.astype(np.int64)
        classes = tuple(range(int(right.max()) + 1))
        for epsilon in FEW if quick else EPSILONS:
            noisy, true = noisy_features(held, "BitRand", epsilon, seed)
            rows.append((held.name, epsilon, "BitRand (features)", *scores(held, fitted(noisy, right, len(classes))), true))
            if shuffled:
                cost = epsilon * held.rows.shape[1] * len(classes)
                rows.append((held.name, epsilon, "LDP-FL, anonymizer", *scores(held, anonymous(held, epsilon, seed)), cost))
            else:
                for way in ("duchi", "hybrid", "three-outputs", "best"):
                    made = PrivateSGDClassifier(epsilon, classes, (-1, 1), way, rounds=4, rate=10.0, seed=seed)
                    made.fit(held.rows, right)
                    model = LinearModel(*_linear(made, held.rows.shape[1], len(classes)))
                    rows.append(
                        (held.name, epsilon, f"gradients, {way}", *scores(held, model), made.privacy_loss().epsilon())
                    )
            rows += [(held.name, epsilon, name, *both, 0.0) for name, both in bounds(held)]
    return rows, notes


def _linear(made: PrivateSGDClassifier, size: int, classes: int) -> tuple[Floats, Floats]:
    """The weights of a network without hidden units, from what it tells of the unit vectors."""
    zero = np.log(np.maximum(made.predict_proba(np.zeros((1, size))), 1e-12))
    ones = np.log(np.maximum(made.predict_proba(np.eye(size)), 1e-12))
    weights = ones - zero
    return weights - weights.mean(axis=1, keepdims=True), (zero - zero.mean()).ravel()


def judged(rows: list[Row], notes: list[str], measure: str, ours: str, rivals: str) -> Result:
    """The result, with what the paper says: BitRand is best everywhere, at its claimed epsilon."""
    table = Result(COLUMNS, rows, (claimed("", True, ""),))
    names = [str(name) for name in dict.fromkeys(table.column("mechanism"))]
    mine = table.numbers(measure, mechanism=ours)
    others = [
        table.numbers(measure, mechanism=name)
        for name in names
        if name not in (ours, "noiseless", "random", "label-RR, loss corrected")
    ]
    checks: list[Check] = [
        claimed(
            f"{ours} is better than {rivals} at every budget, on average over the sets",
            all(mine.mean() > each.mean() for each in others),
            "its rivals are better at the same claimed budget on these data",
        ),
    ]
    if ours.startswith("BitRand"):
        true, stated = table.numbers("true epsilon", mechanism=ours), table.numbers("epsilon", mechanism=ours)
        checks.append(
            claimed(
                "BitRand keeps epsilon",
                bool((true <= stated).all()),
                f"at a claimed {stated[0]:g} it costs {true[0]:.0f} (erratum BitRand B1)",
            )
        )
    improved = []
    if "label-RR, loss corrected" in names:
        gain = float((table.numbers(measure, mechanism="label-RR, loss corrected") - mine).max())
        improved = [f"a loss that is corrected for the known noise of labels gains up to {100 * gain:.1f} points"]
    return Result(COLUMNS, rows, tuple(checks), tuple(notes), improved=tuple(improved))
