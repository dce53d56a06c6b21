"""Large batches on several cores: parts of the answers, each with secure coins of its own.

Coins with a seed are drawn in one thread, in the order of the answers: their bytes do not depend on the number of threads.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from deniable.core.coins import Coins, SecureCoins

LEAST, STEPS = 1 << 17, 4  # answers of a thread, or batches of long answers, below which starting it does not pay
LONG = 1 << 12  # batches up to this size are of answers so long that half as many of them pay
LIMIT = "DENIABLE_THREADS"  # the environment variable with the most threads that are used; all cores without it

Part = Callable[[int, int, Coins], None]  # from which answer on, up to which, with these coins


def cores() -> int:
    """How many threads may be used: as many as the process has cores, or fewer where the environment says so."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    given = os.environ.get(LIMIT, "")
    return max(1, min(found, int(given))) if given.isdecimal() else found


def in_parts(part: Part, answers: int, step: int, coins: Coins) -> None:
    """Work on all answers, `step` at a time: together where nobody can repeat what is drawn, and there are enough."""
    least = min(LEAST, STEPS * step if step > LONG else STEPS // 2 * step)
    threads = min(cores(), answers // least) if type(coins) is SecureCoins and answers >= 2 * least else 1
    if threads < 2:
        part(0, answers, coins)
        return
    batches = -(-answers // step)
    ends = [min(answers, batches * each // threads * step) for each in range(threads + 1)]
    with ThreadPoolExecutor(threads - 1) as others:
        waiting = [others.submit(part, ends[each], ends[each + 1], SecureCoins()) for each in range(1, threads)]
        part(ends[0], ends[1], coins)
        for each in waiting:
            each.result()
