"""The contest on boosted trees anew: the same trees, depths, rates and ways to split for every kind of leaf.

python -m research.experiments.fair_trees --data DIR --kept FOLDER    writes fair_trees.md
"""

from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from deniable_learn import PrivateGBDTRegressor
from deniable_learn.learner import root_mean_square
from research.data.folder import Data
from research.data.tables import Table
from research.experiments.learning_trees import tables
from research.fair_contest import Fair, FairContest, Setting, fair_command

RESULT = Path(__file__).with_suffix(".md")
BUDGETS, PEOPLE = (0.5, 1.0, 5.0), 8_000
WIDE = 10  # features of a table from which on trees take long: it has fewer settings and budgets, for all leaves alike
GRID: tuple[Setting, ...] = tuple(
    {"trees": trees, "people of a tree": people, "depth": depth, "rate": rate, "splits": splits}
    for trees, people, depth, rate, splits in product(
        ("5", "20"), ("its own", "all"), ("2", "3"), ("0.1", "0.5"), ("chosen", "drawn")
    )
)
LEAVES = {
    "noise on sums": ("sums", ""),
    "coarsened leaves": ("coarsened", ""),
    "Laplace leaves": ("laplace", "DPBoost"),
    "BRR leaves": ("bipartite", "BRR"),
}


def trained(data: Table, leaves: str, setting: Setting, epsilon: float, seed: int, choosing: bool) -> tuple[float, float]:
    """The share of the variance that is explained; below zero where the mean would be better."""
    ends = float(np.min(data.right)), float(np.max(data.right))
    own, held = data.parts(seed)
    if choosing:  # the choice sees training people only
        cut = len(own) * 3 // 4
        own, held = own[:cut], own[cut:]
    trees, depth, rate = int(setting["trees"]), int(setting["depth"]), float(setting["rate"])
    apart = trees if setting["people of a tree"] == "its own" else 1
    made = PrivateGBDTRegressor(
        epsilon,
        (data.low, data.high),
        ends,
        trees=trees,
        disjoint=apart,
        depth=depth,
        rate=rate,
        splits="drawn" if setting["splits"] == "drawn" else "exponential",
        leaves=leaves,
        seed=seed,
    )
    made.fit(data.rows[own], data.right[own])
    missed = root_mean_square(data.right[held], made.predict(data.rows[held]))
    return float(1 - (missed / data.right[held].std()) ** 2), made.privacy_loss().epsilon()


def contests(data: Data) -> Iterator[FairContest]:
    """One for each table."""
    for table in tables(data, quick=data.folder is None):
        drawn = table.sampled(PEOPLE)
        entrants = [
            Fair(f"{name} ({table.name})", partial(trained, drawn, leaves), paper)
            for name, (leaves, paper) in LEAVES.items()
        ]
        wide = table.rows.shape[1] > WIDE
        grid = [setting for setting in GRID if not wide or setting["depth"] == "3"]
        yield FairContest(table.name, "explained variance", entrants, grid, BUDGETS[1:] if wide else BUDGETS)


HEAD = f"""Fair contests on boosted trees; `python -m research.experiments.fair_trees --data DIR` writes this.

Every kind of leaf chose from the same {len(GRID)} settings: 5 or 20 trees, each on people of its own or on all, of
depth 2 or 3, rates of 0.1 and 0.5, splits chosen in private or drawn in public. The choice was made on training
people, with {{selecting}} seeds of its own for each setting; epsilon does not cover it. Tables with more than {WIDE}
features have trees of depth 3 only. Central, one person taking part or not. At most {PEOPLE:,} people of each table,
drawn once; a quarter of them test. Explained variance is 1 less the mean square of the error over the variance;
below zero, the mean of all would be better.
"""

main = fair_command(RESULT, HEAD, contests)


if __name__ == "__main__":
    main()
