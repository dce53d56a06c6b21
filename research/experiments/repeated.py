"""Asked again and again: what windows, permanent answers and trends give, measured beside what can be calculated.

    python -m research.experiments.repeated [--quick]

Tallies are drawn from their law: the votes for an answer are binomial. Different answers are drawn independently of each
other, which leaves the mean squared error of each as it is.
"""

import math
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import click
import numpy as np

import deniable as dn
from deniable.analysis.changes import FALSE_ALARMS, named_by
from deniable.arrays import Floats
from deniable.collector import Collector, open_store, results
from deniable.collector.verdicts import Counted
from deniable.core import PureProtocol
from deniable.device.panel import Panel
from deniable.survey.reading import parse_toml
from research.experiments.command import deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
EPSILON, SPAN, PEOPLE = 1.0, 20, 100_000
ANSWERS = dn.Categories(range(5))
Random = np.random.Generator
TEXT = """
[survey]
id = "wellbeing"
window = "day"
lifetime_epsilon = 4.0
late = 1000

[[question]]
id = "mood"
kind = "category"
choices = ["good", "so-so", "bad"]
repeat = "permanent"
"""


def drawn(mechanism: PureProtocol, truth: Floats, n: int, random: Random) -> Floats:
    """The estimate from n people who were drawn from a population with these shares."""
    people = random.multinomial(n, truth)
    votes = random.binomial(people, float(mechanism.p)) + random.binomial(n - people, float(mechanism.q))
    return mechanism.estimate(dn.Tally(mechanism.fingerprint, n, votes)).values


def flat(periods: int, random: Random) -> Floats:
    """Shares that never change."""
    return np.tile([0.4, 0.25, 0.2, 0.1, 0.05], (periods, 1))


def wave(periods: int, random: Random) -> Floats:
    """Shares that go up and down every 40 periods."""
    move = 0.12 * np.sin(2 * np.pi * np.arange(periods) / 40)[:, None]
    return flat(periods, random) + move * np.array([1, -0.5, -0.5, 0, 0])


def walk(periods: int, random: Random) -> Floats:
    """Shares that move at random."""
    steps = np.cumsum(random.normal(0, 0.02, (periods, 5)), axis=0)
    weights = np.exp(steps) * flat(periods, random)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def jump(periods: int, random: Random) -> Floats:
    """Shares that change all at once, halfway."""
    found = flat(periods, random)
    found[periods // 2 :] = [0.25, 0.4, 0.2, 0.1, 0.05]
    return found


def restless(periods: int, random: Random) -> Floats:
    """Shares that are drawn anew in each period: nothing can be learned from earlier ones."""
    return random.dirichlet([8, 5, 4, 2, 1], periods)


def paper_adaptive(truth: Floats, random: Random) -> Floats:
    """LPA of LDP-IDS (arXiv 2204.00526): half of the people look for a change, the others publish where there is one."""
    unit, released, out = PEOPLE // (2 * SPAN), np.full(5, 0.2), []
    mechanism, saved, blocked = dn.plan(ANSWERS, EPSILON, unit), 0, 0
    noise = float(np.mean(mechanism.predict([0.2] * 5, unit).standard_error ** 2))
    for shares in truth:
        seen = drawn(mechanism, shares, unit, random)
        apart = float(np.mean((seen - released) ** 2)) - noise
        if blocked:
            blocked -= 1
        else:
            saved = min(saved + 1, SPAN)
            if apart > noise / saved:
                released, blocked, saved = drawn(mechanism, shares, saved * unit, random), saved - 1, 0
        out.append(released)
    return np.array(out)


def windows(runs: int, periods: int) -> list[str]:
    """Mean squared errors of the ways to spend epsilon on any 20 periods."""
    own = PEOPLE // SPAN
    whole, part = dn.plan(ANSWERS, EPSILON, own), dn.plan(ANSWERS, EPSILON / SPAN, PEOPLE)
    exact = [float(np.mean(m.predict([0.2] * 5, n).standard_error ** 2)) for m, n in ((part, PEOPLE), (whole, own))]
    lines = [
        "## Windows",
        "",
        f"Epsilon {EPSILON:g} for any {SPAN} periods in a row, {PEOPLE:,} people, 5 answers, {periods} periods,",
        f"{runs} runs, the planner's mechanisms. By the formulas the variance of population division is "
        f"{exact[0] / exact[1]:.1f} times below that of budget division.",
        "",
        "| series | budget division | population division | adaptive | LPA of the paper | population / budget | "
        "adaptive / population |",
        "|---|---|---|---|---|---|---|",
    ]
    for make in (flat, wave, walk, jump, restless):
        sums = np.zeros(4)
        for run in range(runs):
            random = np.random.default_rng([run, 5])
            truth = make(periods, random)
            divided = np.array([drawn(part, shares, PEOPLE, random) for shares in truth])
            grouped = np.array([drawn(whole, shares, own, random) for shares in truth])
            trend = _trend(whole, grouped, own)
            for place, found in enumerate((divided, grouped, trend.published.values, paper_adaptive(truth, random))):
                sums[place] += float(np.mean((found - truth) ** 2)) / runs
        cells = [f"{1e4 * each:.3g}" for each in sums]
        ratios = f"1 / {sums[0] / sums[1]:.1f} | {100 * sums[2] / sums[1] - 100:+.0f} %"
        lines.append(f"| {make.__name__} | {' | '.join(cells)} | {ratios} |")
    return [*lines, "", "Mean squared errors of a share in units of 1e-4, sampling of the people included.", ""]


def _trend(mechanism: PureProtocol, values: Floats, n: int) -> dn.Trend:
    from deniable.analysis.trend import trend_of

    estimates = [mechanism.predict(np.full(5, 0.2), n).cleaned(row) for row in values]
    variance = mechanism.predict(np.full(5, 0.2), n).variance
    made = [dn.Estimate(each.labels, each.values, variance, n) for each in estimates]
    return trend_of(mechanism, range(len(made)), made)


def averaging(people: int, days: int) -> list[str]:
    """What the reports of many days say about one person."""
    mechanism = parse_toml(TEXT, "wellbeing.toml").questions[0].mechanism
    assert isinstance(mechanism, dn.Memoized)
    coins = dn.SeededCoins(b"averaging")
    kept = mechanism.keep(["good"] * people, coins)
    counts = np.zeros((people, 3), np.int64)
    for _ in range(days):
        np.add.at(counts, (np.arange(people), mechanism.report(kept, coins).columns["value"].astype(np.int64)), 1)
    found, once = (counts.argmax(axis=1) == 0).mean(), (kept.columns["value"] == 0).mean()
    error = math.sqrt(float(mechanism.base.p * (1 - mechanism.base.p)) / people)
    return [
        "## One person, many days",
        "",
        f"{people:,} people with the same answer on {days:,} days, lifetime epsilon 4. The most frequent report is the true "
        f"answer for {100 * found:.2f} % of them;",
        f"one permanent report is it for {100 * once:.2f} % of them, and by its law for",
        f"{100 * float(mechanism.base.p):.2f} % (standard error {100 * error:.2f}). Certified: epsilon "
        f"{dn.certify_ever(mechanism).loss.epsilon():.6g} for all reports ever.",
        "",
    ]


def trends(runs: int, flat_runs: int) -> list[str]:
    """On which day a change is named, and how often one that is none."""
    mechanism, n = dn.DirectResponse(dn.Categories(["yes", "no"]), 2.0), 20_000
    p, q = float(mechanism.p), float(mechanism.q)

    def tallies(truth: Floats, random: Random) -> dict[int, dn.Tally]:
        yes = random.binomial(n, truth)
        votes = random.binomial(yes, p) + random.binomial(n - yes, q)
        return {day: dn.Tally(mechanism.fingerprint, n, np.array([v, n - v])) for day, v in enumerate(votes.tolist())}

    truth = np.concatenate([np.full(30, 0.10), np.linspace(0.10, 0.12, 30), np.full(10, 0.12)])
    first = dn.trend(mechanism, tallies(truth, np.random.default_rng(0)))
    weights = first.reports.astype(float)
    day = named_by(truth, weights, first.fresh[:, 0], first.kept[:, 0], 2)
    assert day is not None
    named = []
    for run in range(runs):
        changes = dn.trend(mechanism, tallies(truth, np.random.default_rng([run, 1]))).changes()
        named.append(changes[0].named if changes else len(truth))
    false = sum(
        bool(dn.trend(mechanism, tallies(np.full(60, 0.1), np.random.default_rng([run, 2]))).changes())
        for run in range(flat_runs)
    )
    by_then = np.mean(np.array(named) <= day)
    return [
        "## Changes",
        "",
        f"A share that rises from 10 % to 12 % over 30 days (days 30 to 59), {n:,} people a day, epsilon 2 a report,",
        f"false-alarm rate {FALSE_ALARMS:g}. The calculation says that it is named by day {day} with probability 90 %.",
        f"Measured: by that day in {100 * by_then:.1f} % of {runs} runs, on average on day {np.mean(named):.1f}.",
        "",
        f"{flat_runs:,} flat series of 60 days: {false} with a false alarm. At the stated rate, at most "
        f"{flat_runs * FALSE_ALARMS:.2g} are expected.",
        "",
    ]


def year(people: int, days: int) -> list[str]:
    """Simulated people through messages, collector and tallies to results."""
    survey, random = parse_toml(TEXT, "wellbeing.toml"), np.random.default_rng(3)
    now = 1_767_225_600.0  # 1 January 2026
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"{folder}/year.db")
        collector = Collector(survey, store, clock=lambda: now)
        start = time.process_time()
        panel = Panel(survey, people, dn.SeededCoins(b"year"))
        answers = random.choice(["good", "so-so", "bad"], people, p=[0.5, 0.3, 0.2])
        for _ in range(days):
            moved = random.random(people) < 0.01
            answers[moved] = random.choice(["good", "so-so", "bad"], int(moved.sum()))
            verdicts = collector.take(survey.read(panel.batch({"mood": answers}, now)))
            assert set(verdicts) == {Counted.NOW}
            now += 86_400
        spent = time.process_time() - start
        start = time.process_time()
        body = results(survey, collector.number, store).json()
        rendered = time.process_time() - start
        store.close()
    return [
        "## A year",
        "",
        f"{days} days x {people:,} people, from their kept answers through messages and the collector to tallies: "
        f"{spent:.1f} s of processor time.",
        f"Results with trends of {days} periods: {rendered:.2f} s, {len(body) / 1e3:.0f} kB.",
        "",
    ]


@click.command()
@quick_option("Fewer runs, people and days")
def main(quick: bool) -> None:
    """Measure what asking again costs and gives."""
    with ProcessPoolExecutor(2) as pool:
        found = [
            pool.submit(year, 2000 if quick else 100_000, 40 if quick else 365),
            pool.submit(windows, 3 if quick else 8, 60 if quick else 200),
            pool.submit(averaging, 500 if quick else 5000, 100 if quick else 1000),
            pool.submit(trends, 20 if quick else 100, 20 if quick else 1000),
        ]
        lines = [line for each in (*found[1:], found[0]) for line in each.result()]
    head = ["# Asked again and again", "", "Made by `python -m research.experiments.repeated`.", ""]
    deliver("\n".join([*head, *lines]), None if quick else RESULT)


if __name__ == "__main__":
    main()
