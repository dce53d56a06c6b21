"""Whether tests and intervals about relations between answers are right: their size, their coverage and their power.

    python -m research.experiments.relations                      writes relations.md, about a quarter of an hour
    python -m research.experiments.relations --part "groups"      only settings whose name has this in it, and the page anew
    python -m research.experiments.relations --quick              prints it for few collections

In each collection people are drawn from a population, answer, and their reports are tabulated, compared or modelled. In
the first settings the hypothesis that is tested is true: the test should reject it in 5 % of all collections, and the
95 % intervals should hold what is true of the population. In the others it is false, and the power is that of the plan.
In the last, only intervals are judged. The seeds are fixed, so that the table can be made again.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

import deniable as dn
from deniable.cli.panel import progress
from research.experiments.command import deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
PARTS = Path(__file__).with_suffix(".json")  # what was measured in each setting
COLLECTIONS, QUICK = 4_000, 40

Random = np.random.Generator
THREE, FOUR = dn.Categories(["a", "b", "c"]), dn.Categories(range(4))
YES = dn.Categories(["no", "yes"])
ROWS, COLUMNS = np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.3, 0.2, 0.1])
FORCED = dn.FiniteChannel.forced(YES, Fraction(2, 3), [Fraction(1, 6)] * 2)


class Found(NamedTuple):
    """Whether the test rejected, and which intervals held the truth."""

    p_value: float
    held: Any


@dataclass(frozen=True)
class Setting:
    """One kind of collection: its name, how many people, and what is found in one of them."""

    name: str
    people: int
    collect: Callable[[int, Random, dn.SeededCoins], Found]
    target: tuple[dn.PowerTarget, float] | None = None  # what was planned: the effect that there is


def pairs(random: Random, people: int, shares: Any) -> tuple[Any, Any]:
    """Two answers of each person, drawn with these shares."""
    drawn = random.choice(shares.size, people, p=shares.ravel())
    return np.divmod(drawn, shares.shape[1])


def words(mechanism: dn.Mechanism, indices: Any) -> Any:
    """Answers by their numbers."""
    labels = mechanism.domain.labels
    return indices if isinstance(labels, range) else [labels[place] for place in indices.tolist()]


def judged(table: dn.Table, shares: Any) -> Found:
    """The test of a table, and whether its intervals hold these shares."""
    low, high = table.for_population().interval()
    return Found(table.test().p_value, (low <= shares) & (shares <= high))


def of_two(first: dn.Mechanism, second: dn.Mechanism, shares: Any) -> Callable[[int, Random, dn.SeededCoins], Found]:
    """Tables of two questions that are randomized each for itself."""

    def collect(people: int, random: Random, coins: dn.SeededCoins) -> Found:
        x, y = pairs(random, people, shares)
        reports = {"x": first.perturb(words(first, x), coins), "y": second.perturb(words(second, y), coins)}
        return judged(dn.crosstab(reports, {"x": first, "y": second}), shares)

    return collect


def of_one(mechanism: dn.Mechanism, shares: Any) -> Callable[[int, Random, dn.SeededCoins], Found]:
    """Tables of one mechanism for several questions: the first two have these shares, and all others those of the second."""
    parts = mechanism.domain.parts  # type: ignore[attr-defined]

    def collect(people: int, random: Random, coins: dn.SeededCoins) -> Found:
        x, y = pairs(random, people, shares)
        others = [random.choice(len(shares[0]), people, p=shares.sum(axis=0)) for _ in parts[2:]]
        columns = [[part.labels[i] for i in own.tolist()] for part, own in zip(parts, (x, y, *others), strict=True)]
        reports = mechanism.perturb(list(zip(*columns, strict=True)), coins)
        return judged(dn.crosstab(reports, mechanism, 0, 1), shares)

    return collect


def groups(mechanism: dn.Mechanism, share: float, difference: float) -> Callable[[int, Random, dn.SeededCoins], Found]:
    """Two open groups, of whose randomized answers the shares differ by so much."""

    def collect(people: int, random: Random, coins: dn.SeededCoins) -> Found:
        group = random.integers(0, 2, people)
        answers = (random.random(people) < share + difference * group).astype(int)
        data = {"says": mechanism.perturb(words(mechanism, answers), coins), "group": group}
        found = dn.compare_groups(data, "says[yes]", "group", {"says": mechanism}).difference()
        low, high = found.interval
        return Found(found.p_value, np.array([low <= difference <= high]))

    return collect


def hidden_groups(people: int, random: Random, coins: dn.SeededCoins) -> Found:
    """Means of an open number in groups that are randomized."""
    mechanism = dn.DirectResponse(YES, 2.0)
    group = (random.random(people) < 0.3).astype(int)
    data = {"number": random.normal(10, 3, people), "group": mechanism.perturb(words(mechanism, group), coins)}
    found = dn.compare_groups(data, "number", "group", {"group": mechanism}).difference()
    return Found(found.p_value, np.array([found.interval[0] <= 0 <= found.interval[1]]))


def logistic(mechanism: dn.Mechanism, level: float, slope: float) -> Callable[[int, Random, dn.SeededCoins], Found]:
    """A randomized outcome, and two covariates, of which the first has this coefficient and the second 0.5."""

    def collect(people: int, random: Random, coins: dn.SeededCoins) -> Found:
        x, z = random.normal(size=(2, people))
        says = (random.random(people) < 1 / (1 + np.exp(-(level + slope * x + 0.5 * z)))).astype(int)
        data = {"says": mechanism.perturb(words(mechanism, says), coins), "x": x, "z": z}
        return coefficient(dn.regress("says ~ x + z", data, {"says": mechanism}), [level, slope, 0.5])

    return collect


def plain_logistic(mechanism: dn.Mechanism, share: float, slope: float) -> Callable[[int, Random, dn.SeededCoins], Found]:
    """A randomized outcome of this share and a covariate, as the plan has it."""
    points, weights = np.polynomial.hermite_e.hermegauss(41)
    low, high = -20.0, 20.0
    for _ in range(80):
        level = (low + high) / 2
        mean = float(weights @ (1 / (1 + np.exp(-(level + slope * points)))) / weights.sum())
        low, high = (level, high) if mean < share else (low, level)

    def collect(people: int, random: Random, coins: dn.SeededCoins) -> Found:
        x = random.normal(size=people)
        says = (random.random(people) < 1 / (1 + np.exp(-(low + slope * x)))).astype(int)
        data = {"says": mechanism.perturb(words(mechanism, says), coins), "x": x}
        return coefficient(dn.regress("says ~ x", data, {"says": mechanism}), [low, slope])

    return collect


def hidden_covariate(people: int, random: Random, coins: dn.SeededCoins) -> Found:
    """An open number explained by an open covariate that does not matter and a randomized one that goes with it."""
    mechanism = dn.DirectResponse(YES, 2.0)
    z = random.normal(size=people)
    smokes = (random.random(people) < 1 / (1 + np.exp(-z))).astype(int)
    data: dict[str, Any] = {"y": 1 + 0.8 * smokes + random.normal(size=people), "z": z}
    data["smokes"] = mechanism.perturb(words(mechanism, smokes), coins)
    return coefficient(dn.regress("y ~ z + smokes", data, {"smokes": mechanism}), [1.0, 0.0, 0.8])


def coefficient(found: dn.Regression, truth: list[float]) -> Found:
    """The test of the first covariate, and whether the intervals hold the true coefficients."""
    low, high = found.interval()
    return Found(float(found.p_values[1]), (low <= truth) & (truth <= high))


def numbers(people: int, random: Random, coins: dn.SeededCoins) -> Found:
    """The correlation of two numbers, both randomized, that do not depend on each other."""
    mechanism = dn.DirectResponse(dn.Ordered(range(5)), 2.0)
    x, y = random.binomial(4, 0.4, (2, people))
    data = {"x": mechanism.perturb(x, coins), "y": mechanism.perturb(y, coins)}
    found = dn.correlate(data, "x", "y", {"x": mechanism, "y": mechanism})
    return Found(found.p_value, np.array([found.interval[0] <= 0 <= found.interval[1]]))


def correlated(ranks: bool) -> Callable[[int, Random, dn.SeededCoins], Found]:
    """Two numbers that go together, both randomized: shared coins make the correlation of numbers 0.5."""
    mechanism = dn.DirectResponse(dn.Ordered(range(5)), 2.0)
    both = [[0.0] * 5 for _ in range(5)]
    for heads in np.ndindex((2,) * 6):  # two shared coins, and two of each
        both[sum(heads[:4])][sum(heads[:2]) + sum(heads[4:])] += 0.4 ** sum(heads) * 0.6 ** (6 - sum(heads))
    truth = dn.Table(("x", "y"), (range(5), range(5)), np.array(both), 1, lambda shares: np.zeros((25, 25)))
    value = truth.correlation(ranks).value

    def collect(people: int, random: Random, coins: dn.SeededCoins) -> Found:
        shared, x, y = random.binomial(2, 0.4, (3, people))
        data = {"x": mechanism.perturb(shared + x, coins), "y": mechanism.perturb(shared + y, coins)}
        found = dn.correlate(data, "x", "y", {"x": mechanism, "y": mechanism}, ranks=ranks)
        return Found(found.p_value, np.array([found.interval[0] <= value <= found.interval[1]]))

    return collect


def dependent(effect: float, size: int = 3) -> Any:
    """A table of equally common answers with this Cramer's V, which depend on each other by their order."""
    score = (np.arange(size) - (size - 1) / 2) / np.sqrt((size * size - 1) / 12)
    return (1 + effect * np.sqrt(size - 1) * np.outer(score, score)) / size**2


NULL = np.outer(ROWS, COLUMNS)
DIRECT, PAIRED = dn.DirectResponse(YES, 1.0), dn.OnePair(dn.Vectors([THREE, FOUR, FOUR]), 1.0)
BOTH = dn.SubsetSelection(dn.Product([THREE, THREE]), 1.0)
NULLS = [
    Setting("table, direct response", 4_000, of_two(dn.DirectResponse(THREE, 1.0), dn.DirectResponse(FOUR, 1.0), NULL)),
    Setting("table, unary and subset", 4_000, of_two(dn.Unary(THREE, 2.0), dn.SubsetSelection(FOUR, 2.0), NULL)),
    Setting("table, hashing and Hadamard", 4_000, of_two(dn.LocalHashing(THREE, 2.0), dn.HadamardResponse(FOUR, 2.0), NULL)),
    Setting(
        "table, sensitive answers",
        4_000,
        of_two(dn.UtilityOptimized(dn.DirectResponse, THREE, ["a", "b"], 1.5), dn.DirectResponse(FOUR, 2.0), NULL),
    ),
    Setting("table, compound question", 4_000, of_one(dn.SubsetSelection(dn.Product([THREE, FOUR]), 1.0), NULL)),
    Setting("table, pairs drawn in public", 8_000, of_one(PAIRED, NULL)),
    Setting("two open groups", 3_000, groups(DIRECT, 0.3, 0.0)),
    Setting("randomized groups", 3_000, hidden_groups),
    Setting("logistic regression, forced response", 3_000, logistic(FORCED, -1.0, 0.0)),
    Setting("linear regression, randomized covariate", 3_000, hidden_covariate),
    Setting("correlation of numbers", 4_000, numbers),
]
POWERS = [
    Setting("a difference of 0.08", 3_000, groups(DIRECT, 0.3, 0.08), (dn.difference_of(DIRECT, 0.3), 0.08)),
    Setting(
        "Cramer's V of 0.12, direct response",
        4_000,
        of_two(dn.DirectResponse(THREE, 1.5), dn.DirectResponse(THREE, 1.5), dependent(0.12)),
        (dn.table_of(dn.DirectResponse(THREE, 1.5), dn.DirectResponse(THREE, 1.5)), 0.12),
    ),
    Setting("Cramer's V of 0.2, compound question", 4_000, of_one(BOTH, dependent(0.2)), (dn.table_of(BOTH), 0.2)),
    Setting(
        "a coefficient of 0.2, direct response",
        3_000,
        plain_logistic(DIRECT, 0.3, 0.2),
        (dn.coefficient_of(DIRECT, 0.3), 0.2),
    ),
    Setting(
        "a coefficient of 0.2, forced response",
        3_000,
        plain_logistic(FORCED, 0.3, 0.2),
        (dn.coefficient_of(FORCED, 0.3), 0.2),
    ),
]

INTERVALS = [
    Setting("correlation of numbers that go together", 4_000, correlated(ranks=False)),
    Setting("correlation of ranks that go together", 4_000, correlated(ranks=True)),
]


Measured = tuple[int, float, float]  # collections; how often the test rejected and how often intervals held, in percent


def measure(setting: Setting, collections: int, advance: Callable[[float], None] = lambda share: None) -> Measured:
    """Many collections of one setting."""
    random, coins = np.random.default_rng(len(setting.name)), dn.SeededCoins(setting.name.encode())
    rejected, held = 0, 0.0
    for turn in range(collections):
        found = setting.collect(setting.people, random, coins)
        rejected += found.p_value < 0.05
        held += float(np.mean(found.held))
        advance((turn + 1) / collections)
    return collections, 100 * rejected / collections, 100 * held / collections


def planned(setting: Setting) -> float:
    """The power that the plan predicts, in percent."""
    assert setting.target is not None
    target, effect = setting.target
    return 100 * target.power(effect, setting.people)


def page(known: dict[str, Measured]) -> str:
    """The whole result, of the settings that were measured."""
    fewest = min(collections for collections, _, _ in known.values())
    lines = [
        f"Percentages of {fewest:,} collections each. The standard error of a size and of the coverage of one interval is "
        f"{100 * np.sqrt(0.0475 / fewest):.2f}.",
        "",
        "| true hypothesis | people | size of the test at 5 % | coverage of 95 % intervals |",
        "|---|--:|--:|--:|",
    ]
    nulls = [(setting, *known[setting.name]) for setting in NULLS if setting.name in known]
    lines += [f"| {each.name} | {each.people:,} | {size:.2f} | {held:.2f} |" for each, _, size, held in nulls]
    lines += [f"| all together | | {np.mean([size for _, _, size, _ in nulls] or [0]):.2f} | |", ""]
    lines += ["| effect | people | planned power | measured power |", "|---|--:|--:|--:|"]
    for setting in POWERS:
        if setting.name in known:
            found = known[setting.name][1]
            lines.append(f"| {setting.name} | {setting.people:,} | {planned(setting):.1f} | {found:.1f} |")
    lines += ["", "| intervals of | people | coverage of 95 % intervals |", "|---|--:|--:|"]
    for setting in INTERVALS:
        if setting.name in known:
            lines.append(f"| {setting.name} | {setting.people:,} | {known[setting.name][2]:.2f} |")
    return "\n".join([*lines, ""])


@click.command()
@quick_option("Few collections")
@click.option("--part", default="", help="Only settings with this in their name; what others found is kept.")
def main(quick: bool, part: str) -> None:
    """Measure the size, coverage and power of everything about relations between answers."""
    known: dict[str, Measured] = json.loads(PARTS.read_text()) if PARTS.exists() and not quick else {}
    for setting in (*NULLS, *POWERS, *INTERVALS):
        if part in setting.name:
            with progress(setting.name) as advance:
                found = measure(setting, QUICK if quick else COLLECTIONS, advance)
            if not quick and PARTS.exists():  # another part may have been measured meanwhile
                known = json.loads(PARTS.read_text())
            known[setting.name] = found
            if not quick:
                PARTS.write_text(json.dumps(known, indent=1) + "\n")
    deliver(page(known), None if quick else RESULT)


if __name__ == "__main__":
    main()
