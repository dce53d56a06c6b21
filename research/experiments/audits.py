"""How near the audit's lower bound comes to the truth, and how often it accuses a correct client.

    python -m research.experiments.audits            writes audits.md, some minutes
    python -m research.experiments.audits --quick    prints it for a tenth of the trials and audits

All coins are seeded, so that the tables can be made again, but for the times.
"""

from collections.abc import Callable
from pathlib import Path
from time import process_time

import click

from deniable.audit import Audit, audit
from deniable.audit.bounds import loss_from_coins
from deniable.core.coins import SeededCoins
from deniable.core.domain import Domain
from deniable.core.pure import PureProtocol
from deniable.domains import Categories
from deniable.mechanisms.registry import candidates
from research.experiments.command import deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
TRIALS, AUDITS = 1_000_000, 1_000
SIZES, EPSILONS = (16, 64), (1.0, 2.0, 4.0)
SMALL = 8, 4_000  # values and trials of the many audits
CONFIDENCE, SURE = 0.9999, 0.999999


def audited(make: Callable[[Domain, float], PureProtocol], size: int, epsilon: float, trials: int, seed: int) -> Audit:
    """One audit of a correct mechanism."""
    mechanism = make(Categories(range(size)), epsilon)
    return audit(mechanism, trials=trials, confidence=CONFIDENCE, seed=seed, coins=SeededCoins(seed))


def bounds(trials: int) -> list[str]:
    """The bounds in percent of the true epsilon, and the seconds of one processor that each audit took."""
    asked = [(size, epsilon) for size in SIZES for epsilon in EPSILONS]
    lines = [f"| mechanism | {' | '.join(f'{size} values, epsilon {eps:g}' for size, eps in asked)} | seconds, at most |"]
    lines.append("|---|" + "--:|" * (len(asked) + 1))
    for name, make in ((name, candidate.make) for name, candidate in candidates().items()):
        cells, longest = [], 0.0
        for size, epsilon in asked:
            start = process_time()
            found = audited(make, size, epsilon, trials, 1)
            longest = max(longest, process_time() - start)
            cells.append(f"{100 * found.epsilon / epsilon:.1f}")
        lines.append(f"| {name} | {' | '.join(cells)} | {longest:.1f} |")
    return lines


def accusations(audits: int) -> tuple[int, int]:
    """How many of so many correct clients were accused, and how many would be if an audit erred once in a million.

    All mechanisms in turn, with epsilon 0.5, 1 and 2.
    """
    size, trials = SMALL
    makers, epsilons = [candidate.make for candidate in candidates().values()], (0.5, 1.0, 2.0)
    accused = surely = 0
    for turn in range(audits):
        make, epsilon = makers[turn % len(makers)], epsilons[turn // len(makers) % len(epsilons)]
        found = audited(make, size, epsilon, trials, 1_000 + turn)
        accused += not found.consistent
        surely += loss_from_coins(*found.seen, 1 - SURE) > epsilon
    return accused, surely


def page(trials: int, audits: int) -> str:
    """The whole result."""
    accused, surely = accusations(audits)
    return "\n".join(
        [
            f"Lower bounds in percent of the true epsilon, {trials:,} trials, {100 * CONFIDENCE:g} % confidence:",
            "",
            *bounds(trials),
            "",
            f"Correct clients accused, {SMALL[1]:,} trials each: {accused} of {audits:,} at {100 * CONFIDENCE:g} % "
            f"confidence, which allows one in 10,000; {surely} of {audits:,} at {100 * SURE:.6g} %.",
            "",
        ]
    )


@click.command()
@quick_option("A tenth of the trials and audits")
def main(quick: bool) -> None:
    """Measure how near the bounds come, and how often a correct client is accused."""
    deliver(page(TRIALS // 10, AUDITS // 10) if quick else page(TRIALS, AUDITS), None if quick else RESULT)


if __name__ == "__main__":
    main()
