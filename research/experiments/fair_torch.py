"""The contest on released vectors with networks in PyTorch, of the size that the authors of BRR train.

    python -m research.experiments.fair_torch --data DIR --kept FOLDER    writes fair_torch.md

The devices' reports are those of `PrivateVectorClassifier`; only who learns from them is another: a network with two hidden
layers and a loss that knows the channel of the labels, for ours and for the rivals alike.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core.coins import SeededCoins
from deniable_learn.noisy_labels import forward_loss, transition
from research.data.folder import Data
from research.data.tables import Table
from research.experiments.fair_vectors import GRID, Learner, columns_of, judged, means, releasing, signed
from research.experiments.learning_vectors import tables
from research.fair_contest import Fair, FairContest, Setting, fair_command

RESULT = Path(__file__).with_suffix(".md")
BUDGETS, PEOPLE = (1.0, 3.5), 6_000
HIDDEN, BATCH, RATE, EPOCHS = 100, 100, 0.001, 5
WAYS = {"network, coarsened": ("coarsened", ""), "DNN-BRR": ("bipartite", "BRR"), "DNN-DP": ("laplace", "DNN-DP")}


def fitted(rows: Floats, labels: Ints, channel: Floats, seed: int) -> Any:
    """A network with two hidden layers of rectified units, by Adam, on reports alone."""
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(rows.shape[1], HIDDEN),
        torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, HIDDEN),
        torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, 2),
    )
    given, reported = torch.tensor(rows, dtype=torch.float32), torch.tensor(labels)
    steps = torch.optim.Adam(model.parameters(), lr=RATE)
    for _ in range(EPOCHS):
        for own in torch.randperm(len(given)).split(BATCH):
            steps.zero_grad()
            forward_loss(model(given[own]), reported[own], channel).backward()
            steps.step()
    return model


def network(data: Table, way: str) -> Learner:
    """A network in PyTorch on vectors that people released column by column."""

    def train(setting: Setting, own: Ints, held: Ints, epsilon: float, seed: int) -> tuple[Floats, float]:
        import torch

        rows, weights, private = columns_of(data, setting, own)
        made = releasing(setting, weights, way, epsilon, seed)
        made.classes_, made.n_features_in_ = np.array((0, 1)), rows.shape[1]
        released, unbiased = made._release(rows[private], data.right[private].astype(np.int64), SeededCoins(seed))
        channel = transition(made._mechanisms(rows.shape[1])[2])
        model = fitted(released, unbiased.argmax(axis=1), channel, seed)
        with torch.no_grad():
            shown = model(torch.tensor(rows[held], dtype=torch.float32))
        return (shown[:, 1] - shown[:, 0]).double().numpy(), made.privacy_loss().epsilon()

    return train


def learners(data: Table) -> list[Fair]:
    """Our two learners from one report of each person, and networks from released columns."""
    ours = [judged(data, "class means", means(data)), judged(data, "signed vectors, moments", signed(data))]
    named = ((f"{name}, PyTorch", way, paper) for name, (way, paper) in WAYS.items())
    return [*ours, *(judged(data, name, network(data, way), paper) for name, way, paper in named)]


def contests(data: Data) -> Iterator[FairContest]:
    """One for each table."""
    for table in tables(data, quick=data.folder is None):
        yield FairContest(table.name, "AUC", learners(table.sampled(PEOPLE)), GRID, BUDGETS)


HEAD = f"""Fair contests on vectors, networks in PyTorch; `python -m research.experiments.fair_torch --data DIR` writes this.

Every learner chose from the same {len(GRID)} settings: columns as ranks or one-hot, all features or the 4 most
important ones (known from one public person in twenty), and the budget in equal parts or by importance (for class
means and signed vectors, which send one report, the columns are scaled by it). Networks have two hidden layers of
{HIDDEN} units, as in the authors' program, and a loss that knows the channel of the labels. The choice was made on
training people, with {{selecting}} seeds of its own for each setting; epsilon does not cover it. {PEOPLE:,} people
of each table, drawn once; a quarter of them test.
"""

main = fair_command(RESULT, HEAD, contests)


if __name__ == "__main__":
    main()
