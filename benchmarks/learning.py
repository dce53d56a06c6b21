"""Private learning: whole trainings and their parts.

The bounds of `mean/unit-codes` and `sgd` are C loops that do the same work. Those of the others are the same learning
without privacy or with noise that is not secure, in NumPy, scikit-learn or Flower: such a figure shows what privacy costs.
"""

import logging
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

import deniable as dn
import deniable_learn as learning
from benchmarks.bounds.directions import codes_perturb, gradient_perturb
from benchmarks.effort import Effort
from benchmarks.figure import Figure
from deniable_learn.gradients import GradientReports
from deniable_learn.network import Network

Floats = npt.NDArray[np.float64]

LENGTH, CLASSES, CLIENTS, ROUNDS, WEIGHTS = 384, 4, 20, 2, 1000
SLOW = 100  # vectors at a time, since comparing one with 128 directions takes milliseconds
TREES = {"trees": 5, "depth": 3, "rate": 0.5}
WITH_NOISE, WITHOUT = "numpy, noise that is not secure", "numpy, without privacy"


def directions(effort: Effort) -> Floats:
    """At most 12,000 vectors of length one."""
    rows = np.random.default_rng(1).normal(size=(max(50, min(12_000, effort.n // 100)), LENGTH))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def told(kind: type[dn.UnitCodes], effort: Effort) -> float:
    """From vectors to their mean: randomized, counted, estimated."""
    mechanism, rows = kind(dn.UnitVectors(LENGTH), 4.0), directions(effort)[: SLOW if kind is dn.UnitCodes else None]
    return effort.rate(lambda: mechanism.estimate(mechanism.tally(mechanism.perturb(rows))), len(rows))


def told_bound(kind: type[dn.UnitCodes], effort: Effort) -> tuple[float, str]:
    if kind is dn.UnitCodes:
        few = directions(effort)[:SLOW]
        work = codes_perturb(kind(dn.UnitVectors(LENGTH), 4.0), few)
        if work is not None:
            return effort.rate(work, len(few)), "C loop"
    random, rows = np.random.default_rng(2), directions(effort)
    return effort.rate(lambda: (rows + random.normal(size=rows.shape)).mean(axis=0), len(rows)), WITH_NOISE


def privatized(effort: Effort) -> float:
    """Samples with four labels, features and label randomized, and read without bias."""
    rows, kinds = directions(effort), dn.Categories(range(CLASSES))
    labels = np.arange(len(rows)) % CLASSES
    work = partial(
        learning.privatize, (rows, labels), features=dn.UnitVectors(LENGTH), labels=kinds, epsilon=(6.0, 2.0), total=8.0
    )
    return effort.rate(work, len(rows))


def privatized_bound(effort: Effort) -> tuple[float, str]:
    random, rows = np.random.default_rng(2), directions(effort)
    labels = np.arange(len(rows)) % CLASSES

    def work() -> object:
        lies = random.integers(0, CLASSES, len(rows))
        return rows + random.normal(size=rows.shape), np.where(random.random(len(rows)) < 0.3, lies, labels)

    return effort.rate(work, len(rows)), WITH_NOISE


def people(effort: Effort) -> tuple[Floats, Any]:
    random = np.random.default_rng(3)
    rows = random.uniform(-1, 1, (max(200, min(8000, effort.n // 100)), 20))
    return rows, rows[:, 0] * 3 + (rows[:, 1] > 0)


def one_round(effort: Effort) -> float:
    """One round of gradient descent for ten classes: 210 numbers of each person."""
    rows, target = people(effort)
    labels = np.digitize(target, np.quantile(target, np.arange(1, 10) / 10))
    return effort.rate(lambda: learning.PrivateSGDClassifier(4.0, range(10), (-1, 1), rounds=1).fit(rows, labels), len(rows))


def one_round_bound(effort: Effort) -> tuple[float, str]:
    rows, target = people(effort)
    labels = np.digitize(target, np.quantile(target, np.arange(1, 10) / 10))
    mechanism = GradientReports(210, 4.0).mechanism
    assert isinstance(mechanism, dn.UnitAxes)
    work = gradient_perturb(mechanism, rows, labels, 10)
    if work is not None:
        return effort.rate(work, len(rows)), "C loop"
    network = Network(20, 10)
    weights = network.start(np.random.default_rng(1))
    return effort.rate(lambda: network.mean_gradient(weights, rows, labels), len(rows)), WITHOUT


def boosted(model: str, effort: Effort) -> float:
    rows, target = people(effort)
    learner = learning.PrivateGBDTRegressor(2.0, (-1, 1), (-3, 4), model, **TREES)  # type: ignore[arg-type]
    return effort.rate(lambda: learner.fit(rows, target), len(rows))


def boosted_bound(effort: Effort) -> tuple[float, str]:
    """As many trees of the same depth by scikit-learn; without it, the sums of every bin of every feature and level."""
    rows, target = people(effort)
    if find_spec("sklearn"):
        from sklearn.ensemble import GradientBoostingRegressor

        learner = GradientBoostingRegressor(n_estimators=5, max_depth=3, learning_rate=0.5)
        return effort.rate(lambda: learner.fit(rows, target), len(rows)), "scikit-learn, without privacy"
    bins = ((rows + 1) * 16).astype(np.int64).clip(0, 31)
    levels = TREES["trees"] * TREES["depth"]
    sums = lambda: [np.bincount(column, target) for _ in range(int(levels)) for column in bins.T]  # noqa: E731
    return effort.rate(sums, len(rows)), WITHOUT


def rounds(private: bool, effort: Effort) -> float:
    """Rounds a second of a run with Flower in one process, each client's update of a thousand numbers already at hand."""
    from deniable_learn.federated import PrivateFedAvg, PrivateUpdates, UpdatePlan, local_grid
    from deniable_learn.federated.flower import Array, ArrayRecord, ClientApp, FedAvg, Message, MetricRecord, RecordDict

    logging.getLogger("flwr").setLevel(logging.ERROR)
    plan = UpdatePlan(WEIGHTS, epsilon=20.0, rounds=ROUNDS, clip=1.0)
    app = ClientApp(mods=[PrivateUpdates(plan)] if private else [])

    @app.train()  # type: ignore[untyped-decorator]
    def train(message: Any, context: Any) -> Any:
        arrays = ArrayRecord({"weights": Array(message.content["arrays"]["weights"].numpy() + 0.01)})
        return Message(RecordDict({"arrays": arrays, "metrics": MetricRecord({"num-examples": 1})}), reply_to=message)

    def work() -> object:
        strategy = PrivateFedAvg(plan) if private else FedAvg(fraction_evaluate=0.0)
        with local_grid(app, [{}] * CLIENTS) as grid:
            return strategy.start(grid, ArrayRecord({"weights": Array(np.zeros(WEIGHTS))}), num_rounds=ROUNDS)

    return effort.rate(work, ROUNDS)


def rounds_bound(effort: Effort) -> tuple[float, str]:
    return rounds(False, effort), "Flower, without privacy"


PEOPLE = "people a second"
FLOWER = [
    Figure(
        f"learning/flower/{CLIENTS}",
        f"rounds of {CLIENTS} clients a second",
        partial(rounds, True),
        rounds_bound,
        has_peers=False,
    )
]
FIGURES = [
    *(
        Figure(
            f"learning/mean/{kind.wire[:-2]}/{LENGTH}",
            PEOPLE,
            partial(told, kind),
            partial(told_bound, kind),
            has_peers=False,
        )
        for kind in (dn.UnitAxes, dn.UnitCodes)
    ),
    Figure(f"learning/privatize/{LENGTH}", PEOPLE, privatized, privatized_bound, has_peers=False),
    Figure("learning/sgd/round", PEOPLE, one_round, one_round_bound, has_peers=False),
    *(
        Figure(f"learning/trees/{model}", PEOPLE, partial(boosted, model), boosted_bound, has_peers=False)
        for model in ("central", "local")
    ),
    *(FLOWER if find_spec("flwr") else []),
]
