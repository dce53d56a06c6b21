"""Degrees and weights of items, on real bipartite graphs: who rated what and how, who visited what."""

from functools import partial

import numpy as np

from deniable import KeySampling, PCKVUnary
from deniable.domains import KeyValue, Pairs
from deniable.mechanisms.key_value.key_value_protocol import KeyValueProtocol
from deniable.planning import plan
from research.data.folder import Data
from research.data.lists import Weighted, weighted
from research.papers import style
from research.papers.figure import ABOUT, ALL, Check, Figure, Pace, Result, coins_for, ranking, theory, trend

FIGURE = Figure(
    "rr3/graphs", "RR3", "degrees and weights of the items of two bipartite graphs", seconds=7, minutes=0.2, own=True
)
COLUMNS = (
    "data",
    "epsilon",
    "mechanism",
    "degree RMSE",
    "standard error",
    "exact degree RMSE",
    "weight RMSE",
    "true epsilon",
)
EPSILONS, FEW, ITEMS = (0.5, 1.0, 2.0, 4.0), (1.0, 4.0), 50
HALVES = "LPP, half and half"


def mechanisms(domain: KeyValue, epsilon: float, people: int) -> dict[str, KeyValueProtocol]:
    """The paper's protocols and ours, for one item asked of each person or for all of them."""
    return {
        HALVES: KeySampling.privkv(domain, epsilon / 2, epsilon / 2),
        "KVUE (EWRR3)": KeySampling.kvue(domain, epsilon),
        "PCKV-UE": PCKVUnary.balanced(domain, epsilon),
        "ours: planned": plan(domain, epsilon, people),
    }


def asked(held: Weighted) -> tuple[KeyValue, Pairs]:
    """The question, and everybody's links."""
    people = int(held.users.max()) + 1
    order = np.argsort(held.users, kind="stable")
    sizes = np.bincount(held.users, minlength=people)
    pairs = Pairs(np.concatenate([[0], np.cumsum(sizes)]), held.items[order], held.weights[order])
    return KeyValue(range(int(held.items.max()) + 1), held.low, held.high, int(sizes.max())), pairs


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Repeated collections from the same people: errors of the shares of people linked, and of the mean weights."""
    rows, notes, repeats = [], [], pace.times(quick, 3, 20)
    for name in pace.over(("ratings", "visits")):
        held = weighted(data, name, seed, ITEMS)
        notes.append(held.note)
        domain, pairs = asked(held)
        size, people = len(domain.labels), len(pairs)
        degree = np.bincount(pairs.keys, minlength=size) / people
        weight = np.bincount(pairs.keys, pairs.values, minlength=size) / people
        value = np.where(degree > 0, weight / np.maximum(degree, 1e-12), domain.low)
        for epsilon in FEW if quick else EPSILONS:
            for each, made in mechanisms(domain, epsilon, people).items():
                coins, squares, others = coins_for(seed, name, epsilon, each), [], []
                for _ in range(repeats):
                    found = made.estimate(made.tally(made.perturb(pairs, coins)))
                    squares.append(float(((found.frequency.values - degree) ** 2).mean()))
                    others.append(float(((found.weight.values - weight) ** 2).mean()))
                exact = made.predict(np.stack([degree, value], axis=1), people).frequency.standard_error
                error = float(np.sqrt(np.mean(squares)))
                spread = float(np.std(np.sqrt(squares), ddof=1) / np.sqrt(repeats) if repeats > 1 else 0.0)
                rows.append(
                    (
                        name,
                        epsilon,
                        each,
                        error,
                        spread,
                        float(np.sqrt((exact**2).mean())),
                        float(np.sqrt(np.mean(others))),
                        made.loss().epsilon(),
                    )
                )
    table = Result(COLUMNS, rows)
    by = {
        str(each): table.numbers("exact degree RMSE", mechanism=each) for each in style.distinct(table.column("mechanism"))
    }
    spent, budget = table.numbers("true epsilon", mechanism=HALVES), table.numbers("epsilon", mechanism=HALVES)
    lemma = KeySampling.as_published(KeyValue(["key"], -1, 1, 1), 0.1, 2.0)
    checks = (
        predicted(table),
        theory(
            "the budgets of LPP add up exactly (Lemma 1)",
            bool((spent > 0.999 * budget).all()),
            f"half and half costs {spent[0]:.3g} of {budget[0]:g}, since fake weights are fresh (erratum RR3 R8)",
        ),
        theory(
            "LPP-ddagger keeps what Lemma 2 says",
            lemma.loss().epsilon() <= lemma.epsilon * (1 + 1e-9),
            f"budgets 0.1 and 2 are said to cost {lemma.epsilon:.3g} and cost {lemma.loss().epsilon():.3g} (erratum RR3 R9)",
        ),
        ranking(
            "EWRR3 (KVUE) is better than LPP at the same budget", bool((by["KVUE (EWRR3)"] < by[HALVES]).all()), "it is not"
        ),
    )
    gain = float((by["ours: planned"] / by["KVUE (EWRR3)"]).min())
    better = (
        f"what the planner chooses, here also answers for all items at once, has down to {gain:.2f} of the error of EWRR3"
    )
    return Result(
        COLUMNS,
        rows,
        checks,
        (*notes, f"errors of shares of people, over {ITEMS} items, {repeats} collections"),
        improved=(better,),
    )


def predicted(table: Result) -> Check:
    """Whether the errors are those that the mechanisms predict."""
    exact = table.numbers("exact degree RMSE")
    apart = np.abs(table.numbers("degree RMSE") - exact)
    allowed = ABOUT * exact + 3 * table.numbers("standard error")
    return trend(
        "errors are as predicted, within 15 % and three standard errors",
        bool((apart <= allowed).all()),
        f"one of {len(exact)} is {(apart / exact).max():.0%} away",
    )


plot = partial(
    style.panels,
    x="epsilon",
    y="degree RMSE",
    by="mechanism",
    panel="data",
    error="standard error",
    log="xy",
    units=("", "RMSE, share of people"),
)
