"""Flower's rounds with as many clients as the paper BitRand has on AG News, each with a network in PyTorch.

    python -m research.experiments.flower_scale --data DIR            writes flower_scale.md
    python -m research.experiments.flower_scale --data DIR --quick    prints it for 30 clients

120,000 texts in clients of 43 are 2,791 clients. There are 12,000 texts here, so each client draws 43 of them, and a text is
with ten clients on average. In every round every client takes one step on all its texts, and Flower's messages, mods and
strategies carry the updates: as they are, or randomized within a budget for all rounds.
"""

import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import numpy as np

from deniable.core.coins import SeededCoins
from research.data.folder import Data
from research.data.samples import Samples, texts
from research.experiments.command import data_option, deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
CLIENTS, SAMPLES, TEXTS, HIDDEN, CLASSES = 2_791, 43, 12_000, 64, 4
ROUNDS, RATE, CLIP = 4, 2.0, 1.0
LINES = (("", 0.0), ("unit-axes", 10.0))


@dataclass(frozen=True)
class Rounds:
    """What came of the rounds of one line."""

    accuracy: float
    epsilon: float
    needed: int  # clients from which on the plan foresees more update than noise; 0 without noise
    refused: int
    seconds: float  # of one core, for a round

    def cells(self) -> list[str]:
        """For a row of the table."""
        spent = f"{self.epsilon:.4g}" if np.isfinite(self.epsilon) else "-"
        needed = f"{self.needed:,}" if self.needed else "-"
        return [spent, needed, f"{100 * self.accuracy:.1f}", f"{self.seconds:.1f}"]


def network(inputs: int) -> Any:
    """Two hidden layers of rectified units, as in the paper; the same first weights for all lines."""
    import torch

    torch.manual_seed(1)
    torch.set_num_threads(1)
    sizes = (inputs, HIDDEN, HIDDEN)
    layers = [each for a, b in pairwise(sizes) for each in (torch.nn.Linear(a, b), torch.nn.ReLU())]
    return torch.nn.Sequential(*layers, torch.nn.Linear(HIDDEN, CLASSES))


def trained(held: Samples, clients: int, method: str, epsilon: float, rounds: int) -> Rounds:
    """All rounds of one line, in one process."""
    import torch

    from deniable_learn.federated import PrivateFedAvg, PrivateUpdates, UpdatePlan, local_grid
    from deniable_learn.federated.flower import (
        Array,
        ArrayRecord,
        ClientApp,
        FedAvg,
        Message,
        MetricRecord,
        RecordDict,
    )

    rows, labels = torch.tensor(held.rows, dtype=torch.float32), torch.tensor(held.right, dtype=torch.int64)
    model, random = network(held.rows.shape[1]), np.random.default_rng(1)
    drawn = [torch.tensor(random.choice(len(rows), SAMPLES, replace=False)) for _ in range(clients)]
    size = sum(part.numel() for part in model.parameters())
    plan = UpdatePlan(size, epsilon, rounds, CLIP, method) if method else None
    app = ClientApp(mods=[PrivateUpdates(plan, coins=SeededCoins(f"{method} {epsilon}".encode()))] if plan else [])

    @app.train()  # type: ignore[untyped-decorator]
    def train(message: Any, context: Any) -> Any:
        model.load_state_dict(message.content["arrays"].to_torch_state_dict())
        own = drawn[context.node_config["client"]]
        model.zero_grad()
        torch.nn.functional.cross_entropy(model(rows[own]), labels[own]).backward()
        with torch.no_grad():
            for part in model.parameters():
                part -= RATE * part.grad
        content = {"arrays": ArrayRecord(model.state_dict()), "metrics": MetricRecord({"num-examples": SAMPLES})}
        return Message(RecordDict(content), reply_to=message)

    strategy = PrivateFedAvg(plan) if plan else FedAvg(fraction_evaluate=0.0)
    start, arrays = time.process_time(), {name: Array(part.numpy()) for name, part in model.state_dict().items()}
    with local_grid(app, [{"client": number} for number in range(clients)]) as grid:
        found = strategy.start(grid, ArrayRecord(arrays), num_rounds=rounds)
    spent = (time.process_time() - start) / rounds
    model.load_state_dict(found.arrays.to_torch_state_dict())
    with torch.no_grad():
        said = model(torch.tensor(held.test, dtype=torch.float32)).argmax(dim=1).numpy()
    accuracy = float(np.mean(said == held.test_right))
    if plan is None:
        return Rounds(accuracy, float("inf"), 0, 0, spent)
    return Rounds(accuracy, strategy.privacy_loss().epsilon(), plan.foresee(clients).needed, strategy.refused, spent)


def page(data: Data, clients: int, rounds: int) -> str:
    """The whole result."""
    held = texts(data, 1, TEXTS)
    lines = [
        f"{held.note}. {clients:,} clients of {SAMPLES} texts each, drawn from these; a network in PyTorch with two hidden "
        f"layers of {HIDDEN} units; {rounds} rounds of Flower in which all clients take part, at a rate of {RATE:g}; "
        f"randomized updates are cut to a length of {CLIP:g} first. Epsilon is certified for all rounds of a client; "
        "guessing is right in 25 %:",
        "",
        "| updates | epsilon | clients needed, as foreseen | accuracy % | seconds of one core for a round |",
        "|---|--:|--:|--:|--:|",
    ]
    for method, epsilon in LINES:
        found = trained(held, clients, method, epsilon, rounds)
        lines.append(f"| {method or 'as they are'} | {' | '.join(found.cells())} |")
    return "\n".join([*lines, ""])


@click.command()
@data_option
@quick_option("30 clients and 2 rounds")
def main(data: Data, quick: bool) -> None:
    """Train with Flower at the paper's number of clients."""
    import logging

    logging.getLogger("flwr").setLevel(logging.ERROR)
    deliver(page(data, 30, 2) if quick else page(data, CLIENTS, ROUNDS), None if quick else RESULT)


if __name__ == "__main__":
    main()
