"""How well frequent keys are found that nobody listed, beside prefix extension as published and a known dictionary.

64-bit keys, Zipf 1.5 over 100,000, a million people, the top 20. The search and its plan were developed on the same
distribution with seeds 500 to 509, on which the baseline is tuned too; the reported seeds are others.

    python -m research.experiments.discovery              writes discovery.md; about 20 minutes of one core
    python -m research.experiments.discovery --anew       the same, without the runs that discovery.json holds

Single runs are kept in discovery.json; an interrupted experiment goes on with those that it does not hold.
"""

import itertools
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import deniable as dn
from deniable.discovery import published_discovery
from deniable.mechanisms.discovery.prefix_hashing import PrefixHashing
from research.experiments.command import deliver
from research.experiments.runs import Job, Runs
from research.rivals import prefix_extension

PEOPLE, KEYS, TOP, RUNS = 1_000_000, 100_000, 20, 10
EPSILONS = (1.0, 2.0, 4.0)
TUNED_ON = (500, 501)
FURTHER = range(11, 21)  # seeds of more runs with four rounds at epsilon 4
STEPS, KEPT, NEEDED = (6, 8, 10), (20, 80, 320, 1024), (-99.0, 2.0, 3.0, 4.0)
RESULT, KEPT_RUNS = Path(__file__).with_suffix(".md"), Path(__file__).with_suffix(".json")
Keys = NDArray[np.uint64]
Counts = NDArray[np.int64]
Scores = dict[str, Sequence[float]]


def chances() -> NDArray[np.float64]:
    """The share of each key, the most frequent first."""
    weights = np.arange(1, KEYS + 1, dtype=np.float64) ** -1.5
    return np.asarray(weights / weights.sum())


def people(seed: int) -> tuple[Keys, Counts]:
    """All keys, and how many people have each."""
    random = np.random.default_rng(seed)
    return random.integers(0, 2**64, KEYS, dtype=np.uint64), random.multinomial(PEOPLE, chances())


def equal_groups(epsilon: float, step: int) -> PrefixHashing:
    """The reports of prefix extension: equal groups, one for every so many bits."""
    like = published_discovery(epsilon)
    prefixes = list(range(step, 64, step))
    domain = dn.Strings("key", 64, prefixes, like.domain.cells)
    return PrefixHashing(domain, epsilon, like.base, [1] * (len(prefixes) + 1))


def extended(mechanism: PrefixHashing, tally: dn.Tally, kept: int) -> tuple[Keys, NDArray[np.float64]]:
    """Prefix extension as published: each group alone judges the extensions of the best of the group before.

    Returns the best keys by the last group, and how many standard errors the share of each is.
    """
    prefixes, before = np.zeros(1, np.uint64), 0
    for level, bits in enumerate((*mechanism.domain.prefixes, 64)):
        patterns = np.arange(1 << bits - before, dtype=np.uint64) << np.uint64(64 - bits)
        prefixes, before = (prefixes[:, None] | patterns[None, :]).ravel(), bits
        cells = mechanism.domain.word_cells(mechanism.domain.index(prefixes).words)[:, level]
        shares = mechanism.table(tally, level)[cells]
        best = np.argsort(-shares, kind="stable")[: kept if level < mechanism.levels - 1 else TOP]
        prefixes, shares = prefixes[best], shares[best]
    return prefixes, shares / float(np.sqrt(mechanism.noise() / mechanism.sizes(tally)[-1]))


def passing(ranked: tuple[Keys, NDArray[np.float64]], needed: float) -> list[int]:
    """The keys whose share is so many standard errors."""
    return [int(key) for key, z in zip(*ranked, strict=True) if z >= needed]


def listed(epsilon: float, keys: Keys, counts: Counts, coins: dn.Coins) -> list[int]:
    """The top of the dictionary, if it is known and all people report whole keys."""
    mechanism = dn.BlockDesign(dn.Categories(range(KEYS)), epsilon)
    shares = mechanism.estimate(mechanism.tally(mechanism.perturb(np.repeat(np.arange(KEYS), counts), coins))).values
    return [int(key) for key in keys[np.argsort(-shares, kind="stable")[:TOP]]]


def bound(epsilon: float, draws: int = 400) -> float:
    """The expected F1 of the same with the least variance of a large domain, 4 e^epsilon / (e^epsilon - 1)^2."""
    random, odds, found = np.random.default_rng(0), np.exp(epsilon), 0
    error = np.sqrt(PEOPLE * 4 * odds) / (odds - 1)
    for _ in range(draws):
        counts = random.multinomial(PEOPLE, chances())
        seen = counts[:4000] + error * random.standard_normal(4000)
        # of the rest, which have few people each, the largest
        rest = counts[4000:] + error * random.standard_normal(KEYS - 4000)
        best = np.argsort(-np.concatenate([seen, np.sort(rest)[-TOP:]]), kind="stable")[:TOP]
        found += len(set(best.tolist()) & set(np.argsort(-counts, kind="stable")[:TOP].tolist()))
    return found / draws / TOP


def unlisted(epsilon: float, draws: int = 400) -> float:
    """The expected F1 of a decoder that compares all 2^64 keys, if all people report whole keys with the least variance.

    A key is found if its support exceeds that of the luckiest key which nobody has, and all that are found are right, as
    far as with a dictionary.
    """
    random, odds, found = np.random.default_rng(0), np.exp(epsilon), list[float]()
    luckiest, error = -NormalDist().inv_cdf(2.0**-64), np.sqrt(PEOPLE * 4 * odds) / (odds - 1)
    for _ in range(draws):
        top = np.sort(random.multinomial(PEOPLE, chances()))[-TOP:]
        right = int((top / error + random.standard_normal(TOP) > luckiest).sum())
        found.append(2 * right / (TOP + right))
    return min(float(np.mean(found)), bound(epsilon, draws))


def bound_with_a_list(epsilon: float, candidates: int = 25, draws: int = 4000) -> tuple[float, float]:
    """The expected F1 if three of four rounds list the right candidates, and how much the mean of ten runs scatters.

    The first quarter of the people report whole keys with the least variance. The others say which candidate they have, or
    another, by direct response, and all reports are joined by their variances.
    """
    random, odds = np.random.default_rng(0), np.exp(epsilon)
    precisions = PEOPLE / 4 * (odds - 1) ** 2 * np.array([1 / (4 * odds), 3 / (candidates - 1 + odds)])
    error, found = PEOPLE / np.sqrt(precisions.sum()), list[float]()
    for _ in range(draws):
        counts = random.multinomial(PEOPLE, chances())[:200]
        best = np.argsort(-(counts + error * random.standard_normal(200)), kind="stable")[:TOP]
        found.append(len(set(best.tolist()) & set(np.argsort(-counts, kind="stable")[:TOP].tolist())) / TOP)
    return float(np.mean(found)), float(np.std(found) / RUNS**0.5)


def scores(found: Collection[int], truth: set[int]) -> tuple[float, float]:
    """F1 and precision."""
    right = len(truth & set(found))
    return 2 * right / (TOP + len(found)), right / max(len(found), 1)


def top_of(keys: Keys, counts: Counts) -> set[int]:
    """The keys of most people."""
    return {int(key) for key in keys[np.argsort(-counts, kind="stable")[:TOP]]}


def tuned(epsilon: float) -> Scores:
    """The step width, number kept and threshold of the baseline with the best F1 on other seeds."""
    sums = dict[tuple[int, int, float], float]()
    for step, own in itertools.product(STEPS, TUNED_ON):
        keys, counts = people(own)
        mechanism = equal_groups(epsilon, step)
        tally = mechanism.tally(mechanism.perturb(np.repeat(keys, counts), dn.SeededCoins(own)))
        for kept in KEPT:
            ranked = extended(mechanism, tally, kept)
            for needed in NEEDED:
                key = (step, kept, needed)
                sums[key] = sums.get(key, 0.0) + scores(passing(ranked, needed), top_of(keys, counts))[0]
    best = max(sums, key=lambda key: (sums[key], key))
    return {"best": best}


def baselines(epsilon: float, seed: int, best: Sequence[float]) -> Scores:
    """The scores of prefix extension as published, of the same tuned, and of a known dictionary."""
    keys, counts = people(seed)
    truth, answers = top_of(keys, counts), np.repeat(keys, counts)
    step, kept, needed = int(best[0]), int(best[1]), float(best[2])
    groups, own = equal_groups(epsilon, 8), equal_groups(epsilon, step)
    published = groups.tally(groups.perturb(answers, dn.SeededCoins(seed + 1000)))
    again = published if step == 8 else own.tally(own.perturb(answers, dn.SeededCoins(seed + 1000)))
    return {
        "published": scores(passing(extended(groups, published, TOP), -np.inf), truth),
        "tuned": scores(passing(extended(own, again, kept), needed), truth),
        "listed": scores(listed(epsilon, keys, counts, dn.SeededCoins(seed + 2000)), truth),
    }


def extension(epsilon: float, seed: int) -> Scores:
    """The scores of prefix extension with a hash function for each report."""
    keys, counts = people(seed)
    found = prefix_extension.extended(np.repeat(keys, counts), epsilon, TOP, np.random.default_rng(seed + 4000))
    return {"scores": scores(found, top_of(keys, counts))}


def one_round(epsilon: float, seed: int) -> Scores:
    """The scores of one round, and whether what is promised held."""
    keys, counts = people(seed)
    mechanism = dn.plan_discovery(epsilon, "key")
    tally = mechanism.tally(mechanism.perturb(np.repeat(keys, counts), dn.SeededCoins(seed)))
    return _judged(dn.decode(mechanism, tally, TOP), keys, counts)


def four_rounds(epsilon: float, seed: int) -> Scores:
    """The same with four rounds."""
    keys, counts = people(seed)
    shuffled = np.random.default_rng(seed + 3000).permutation(np.repeat(keys, counts))
    found = dn.discover_in_rounds(shuffled, epsilon, TOP, 4, "key", coins=dn.SeededCoins(seed + 3000))
    return _judged(found, keys, counts)


def _judged(found: dn.Found, keys: Keys, counts: Counts) -> Scores:
    shares = dict(zip(keys.tolist(), (counts / PEOPLE).tolist(), strict=True))
    named = [int(name.name) for name in found]
    missed = max(share for key, share in shares.items() if key not in named)
    held = [name.low <= shares.get(int(name.name), 0.0) <= name.high for name in found]
    real = float(np.mean([each in shares for each in named])) if named else 1.0
    return {
        "scores": scores(named, top_of(keys, counts)),
        "promises": (real, float(all(held)), found.missing, float(missed <= found.missing)),
    }


COLUMNS = (
    "epsilon", "F1, one round", "precision", "runs", "F1, four rounds", "precision", "runs", "published, F1",
    "on fixed tables, F1", "tuned, F1 (precision)", "runs", "dictionary known, F1", "expected at best",
    "the same, without the dictionary",
    "names that exist", "all intervals held", "bound on what is missing", "bound held",
)  # fmt: skip
Ways = dict[str, Callable[..., Scores]]
WAYS: Ways = {"one round": one_round, "four rounds": four_rounds, "extension": extension, "baselines": baselines}


def name_of(way: str, epsilon: float, seed: int) -> str:
    """How a run is called in the file."""
    return f"{way}, epsilon {epsilon:g}, seed {seed}"


def measured(known: dict[str, Any], way: str, epsilon: float) -> list[Scores]:
    """The runs of one way that were made."""
    names = (name_of(way, epsilon, seed) for seed in range(1, RUNS + 1))
    return [known[name] for name in names if name in known]


def further(known: dict[str, Any]) -> list[Scores]:
    """The runs with further seeds that were made."""
    names = (name_of("four rounds", 4.0, seed) for seed in FURTHER)
    return [known[name] for name in names if name in known]


def mean_and_error(found: Sequence[Scores], of: str) -> str:
    """The mean of a figure and its standard error."""
    values = np.array([each[of][0] for each in found])
    if len(values) < 2:
        return f"{values[0]:.3f}" if len(values) else "not measured"
    return f"{values.mean():.3f} ± {values.std() / (len(values) - 1) ** 0.5:.3f}"


def mean(found: Sequence[Scores], of: str, place: int) -> str:
    """The mean of the figure at this place."""
    return f"{np.mean([each[of][place] for each in found]):.3f}" if found else ""


def row_of(known: dict[str, Any], epsilon: float) -> str:
    """A line of the table."""
    one, four, plain, base = (measured(known, way, epsilon) for way in WAYS)
    both = np.array([each["promises"] for each in (*one, *four)]).reshape(-1, 4)
    row = [f"{epsilon:g}"]
    for found in (one, four):
        row += [mean_and_error(found, "scores"), mean(found, "scores", 1), str(len(found))]
    row += [mean_and_error(plain, "scores"), mean_and_error(base, "published")]
    row += [f"{mean_and_error(base, 'tuned')} ({mean(base, 'tuned', 1)})", str(len(base))]
    row += [mean_and_error(base, "listed"), f"{bound(epsilon):.3f}", f"{unlisted(epsilon):.3f}"]
    if len(both):
        real, held, missing, below = both.T
        row += [f"{real.mean():.3f}", f"{held.sum():.0f} of {len(both)}", f"{100 * missing.mean():.2f} %"]
        row += [f"{below.sum():.0f} of {len(both)}"]
    return f"| {' | '.join(row)} |"


def page(known: dict[str, Any]) -> str:
    """The whole result."""
    best = {epsilon: known.get(f"tuned, epsilon {epsilon:g}", {}).get("best") for epsilon in EPSILONS}
    settings = "; ".join(
        f"epsilon {epsilon:g}: steps of {step:g} bits, {kept:g} kept, {'no threshold' if needed < 0 else f'z >= {needed:g}'}"
        for epsilon, (step, kept, needed) in ((epsilon, each) for epsilon, each in best.items() if each)
    )
    best_of_four, scatter = bound_with_a_list(4.0)
    lines = [
        "# Frequent keys that nobody listed",
        "",
        f"64-bit keys, Zipf 1.5 over {KEYS:,}, {PEOPLE:,} people, top {TOP}; means of runs with seeds 1 to {RUNS}, with",
        "standard errors. Written by `python -m research.experiments.discovery` from the runs in `discovery.json`. The",
        "search and its plan were developed on the same distribution with other seeds (500 to 611, 700 to 703, 901, 902);",
        "only which strings count before candidates are listed was corrected after a look at seeds 2 and 7.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        f"|{'--:|' * len(COLUMNS)}",
        *(row_of(known, epsilon) for epsilon in EPSILONS),
        "",
        "*Published* is prefix extension with equal groups, steps of eight bits and a hash function for each report (Wang,",
        "Li, Jha 2018; `research/rivals/prefix_extension.py`): each group alone judges the 256 extensions of the best 20 of",
        "the group before, and the best 20 of the last are named. *On fixed tables*: the same on our frequency oracle,",
        "whose hash tables of 29,791 cells a tally can hold, and which costs it most at epsilon 4. *Tuned*: on these",
        f"tables, the step width, the number kept and a threshold were chosen on seeds {TUNED_ON[0]} and {TUNED_ON[1]}",
        f"for the best F1 ({settings}).",
        "*Dictionary known*: all people report whole keys, and the best 20 of the 100,000 keys",
        "are named. *Expected at best*: the expectation of the same with the least possible variance of a large domain,",
        "4 e^epsilon / (e^epsilon - 1)^2, from 400 simulations. *Without the dictionary*: if all people report whole keys",
        "with that variance and every one of the 2^64 keys is looked at, keys are found that stand out from the luckiest",
        "one which nobody has, at 9.1 standard errors. No collector can do that, and nobody would be left to verify.",
        "These bounds are for one round: later rounds set known strings apart, at epsilon 2 and 4, and list candidates, at",
        "epsilon 4, so that their variance is less. At epsilon 1 all rounds search as one does. If the right 25 candidates",
        "were listed from the second of four rounds on, at epsilon 4, the expected F1 would be",
        f"{best_of_four:.3f}, and the mean of ten runs would scatter by {scatter:.3f}: errors are nearly always about which",
        f"of two neighbouring keys is the twentieth. Ten further runs (seeds {FURTHER[0]} to {FURTHER[-1]}) have",
        f"{mean_and_error(further(known), 'scores')}. The last four columns are",
        "about one round and four together: the share of names that somebody has; the runs in which all intervals held; the",
        "bound above which no string is missing, with 95 % confidence; the runs in which it held.",
        "",
    ]
    return "\n".join(lines)


@click.command()
@click.option("--workers", default=1, show_default=True, help="Processes.")
@click.option("--anew", is_flag=True, help="Make the runs again that discovery.json holds.")
@click.option("--page", "only_page", is_flag=True, help="Make no runs; write the page from those that discovery.json holds.")
def main(workers: int, anew: bool, only_page: bool) -> None:
    """Measure what the file of runs does not hold yet, and write the page."""
    if anew:
        KEPT_RUNS.unlink(missing_ok=True)
    runs = Runs(KEPT_RUNS)
    if not only_page:
        runs.make([(f"tuned, epsilon {epsilon:g}", tuned, (epsilon,)) for epsilon in EPSILONS], workers)
        best, jobs = runs.known(), list[Job]()
        for (way, make), seed, epsilon in itertools.product(WAYS.items(), range(1, RUNS + 1), EPSILONS):
            more = (best[f"tuned, epsilon {epsilon:g}"]["best"],) if make is baselines else ()
            jobs.append((name_of(way, epsilon, seed), make, (epsilon, seed, *more)))
        jobs += [(name_of("four rounds", 4.0, seed), four_rounds, (4.0, seed)) for seed in FURTHER]
        runs.make(jobs, workers)
    deliver(page(runs.known()), RESULT)


if __name__ == "__main__":
    main()
