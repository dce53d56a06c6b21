"""Networks on perturbed vectors as the authors' program trains them: labels in the clear, budgets that sum to more.

Its Laplace noise has a budget of d epsilon for d columns together. Its "bipartite" noise is drawn evenly from a grid of 41
numbers within a tenth of the range, whatever epsilon is; values further apart than that can be distinguished with certainty.
"""

from dataclasses import dataclass

import numpy as np

from deniable import FiniteChannel
from deniable.arrays import Floats, Ints
from deniable.domains import Ordered
from deniable_learn.network import Network, trained
from research.data.folder import Data, random_for
from research.data.samples import TABLES, table

GRID, REACH = 41, 0.1
HIDDEN, BATCH, RATE, EPOCHS = 100, 100, 0.001, 10


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns from 0 to 1, one for each word but the first of a feature of words, and two classes."""

    rows: Floats
    right: Ints
    test: Floats
    test_right: Ints
    weights: Floats  # how much each column matters


def columns(data: Data, name: str, seed: int, people: int) -> Columns:
    """A table as the program has it: two thirds to learn from, and numbers and words as columns."""
    file, target, drop, one = TABLES[name]
    if data.has(file):
        head = [column for column in data.header(file) if column not in (target, *drop)]
        cells = np.array([*data.table(file, head), *data.table(file, [target])], object).T
        cells = cells[[all(cell not in ("", "NA", "?") for cell in row) for row in cells]]
        cells = cells[random_for(seed, "columns", name).permutation(len(cells))[:people]]
        made = np.concatenate([_made(cells[:, place].tolist()) for place in range(len(head))], axis=1)
        right = np.array([cell.startswith(one) for cell in cells[:, -1].tolist()], np.int64)
    else:
        held = table(data, name, seed, people)
        made = (np.concatenate([held.rows, held.test]) - held.low) / (held.high - held.low)
        right = np.concatenate([held.right, held.test_right]).astype(np.int64)
    cut = len(made) * 2 // 3
    spread = made[:cut].std(axis=0) * max(float(right[:cut].std()), 1e-12)
    both = np.abs(((made[:cut] - made[:cut].mean(axis=0)) * (right[:cut] - right[:cut].mean())[:, None]).mean(axis=0))
    strength = np.where(spread > 0, both / np.maximum(spread, 1e-12), 0) + 1e-6
    return Columns(made[:cut], right[:cut], made[cut:], right[cut:], strength / strength.sum())


def _made(cells: list[str]) -> Floats:
    try:
        numbers = np.array(cells, np.float64)[:, None]
        low, high = numbers.min(), numbers.max()
        return np.asarray((numbers - low) / max(high - low, 1e-12))
    except ValueError:
        words = np.unique(cells, return_inverse=True)[1]
        return np.eye(words.max() + 1)[words][:, 1:]


def budgets(held: Columns, epsilon: float) -> Floats:
    """The budget of each column: epsilon d w_j min(M) / sum(w M), M being the largest value of each column."""
    top = held.rows.max(axis=0)
    known = top > 0  # a word that nobody here has
    return epsilon * len(top) * held.weights * float(top[known].min()) / float((held.weights * top).sum())


def accuracy(held: Columns, way: str, epsilon: float, seed: int) -> float:
    """Of a network trained on perturbed columns and labels in the clear; `way` is "none", "laplace" or "grid"."""
    random = np.random.default_rng(seed)
    rows = held.rows
    if way == "laplace":
        rows = rows + random.laplace(0, 1 / budgets(held, epsilon), rows.shape)
    elif way == "grid":
        noise = random.integers(0, GRID, rows.shape) * (2 / (GRID - 1)) - 1
        rows = rows + REACH * (1 - held.weights) * noise
    network = Network(rows.shape[1], 2, HIDDEN)
    weights = trained(network, rows, held.right, random, EPOCHS, BATCH, RATE)
    return float((network.predict(weights, held.test).argmax(axis=1) == held.test_right).mean())


def grid_loss(width: float = 1.0) -> float:
    """The exact loss of the grid's noise on two values that are so far apart, the range being from 0 to 1."""
    places = round(width / REACH * (GRID - 1) / 2)
    rows = [[1] * GRID + [0] * places, [0] * places + [1] * GRID]
    return FiniteChannel(Ordered(range(2)), 1.0, rows).loss().epsilon()
