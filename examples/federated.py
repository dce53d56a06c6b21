"""Twenty clients learn together with Flower; each sends one randomized report per round, and nothing else."""

import logging

import numpy as np

from deniable_learn.federated import PrivateFedAvg, PrivateUpdates, UpdatePlan, local_grid
from deniable_learn.federated.flower import Array, ArrayRecord, ClientApp, Message, MetricRecord, RecordDict

logging.getLogger("flwr").setLevel(logging.ERROR)
RANDOM = np.random.default_rng(1)
TRUTH = np.array([2.0, -1.0, 0.5])

# On both sides: the plan. Four rounds of a model with three weights cost epsilon 32 in all, and clip is public knowledge.
plan = UpdatePlan(dimensions=3, epsilon=32.0, rounds=4, clip=2.0, method="piecewise")

# On the clients: the app as it was, with one more line. Its loss and its number of examples no longer leave the client.
app = ClientApp(mods=[PrivateUpdates(plan)])


@app.train()
def train(message: Message, context: object) -> Message:
    weights = message.content["arrays"]["weights"].numpy()
    x = RANDOM.normal(size=(50, 3))
    y = x @ TRUTH + RANDOM.normal(0, 0.1, 50)
    better = weights - 0.5 * x.T @ (x @ weights - y) / 50
    reply = {
        "arrays": ArrayRecord({"weights": Array(better)}),
        "metrics": MetricRecord({"num-examples": 50, "loss": float(((x @ weights - y) ** 2).mean())}),
    }
    return Message(RecordDict(reply), reply_to=message)


# On the server: a strategy that knows the plan.
strategy = PrivateFedAvg(plan)
with local_grid(app, [{"partition-id": client} for client in range(20)]) as grid:
    result = strategy.start(grid, ArrayRecord({"weights": Array(np.zeros(3))}), num_rounds=4)

sent = grid.sent[0].content
print(f"a reply holds {list(sent)}: {len(sent['deniable']['report'])} bytes with their header")
print(f"a client that took part in all rounds: {strategy.privacy_loss()}")
off = np.abs(result.arrays["weights"].numpy() - TRUTH).max()
print(f"the weights are {'near' if off < 1 else 'far from'} the truth after 4 rounds")
try:
    strategy.start(grid, result.arrays, num_rounds=1)
except ValueError as error:
    print(f"a fifth round: {error}")
