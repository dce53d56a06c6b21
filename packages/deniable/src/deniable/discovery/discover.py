"""Find the most frequent strings among reports: search, verify, and say what may be missing."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.core import Coins, Tally
from deniable.discovery.candidates import candidates_of
from deniable.discovery.found import Found
from deniable.discovery.planning import VERIFIED_EACH, plan_discovery
from deniable.discovery.verifying import Wanted, too_few, verified
from deniable.domains.strings import NORMAL
from deniable.mechanisms.discovery.prefix_hashing import PrefixHashing


def discover(
    strings: Sequence[str | int | Sequence[str]] | NDArray[np.generic],
    epsilon: float,
    find: int = 20,
    form: str = "text",
    normal: Sequence[str] = NORMAL,
    at_most: int = 1,
    coins: Coins | None = None,
    mechanism: PrefixHashing | None = None,
    confidence: float = 0.95,
    false_discoveries: float = 0.03,
) -> Found:
    """The most frequent strings of these people, each of whom reports with privacy loss epsilon; a simulation of devices.

    >>> from deniable.core import SeededCoins
    >>> words = ["yes"] * 6000 + ["perhaps"] * 3000 + [f"word {number}" for number in range(1000)]
    >>> found = discover(words, epsilon=4.0, find=3, coins=SeededCoins(1))
    >>> [name.name for name in found]
    ['yes', 'perhaps']
    """
    chosen = plan_discovery(epsilon, form, normal=normal, at_most=at_most) if mechanism is None else mechanism
    return decode(chosen, chosen.tally(chosen.perturb(strings, coins)), find, confidence, false_discoveries)


def decode(
    mechanism: PrefixHashing,
    tally: Tally,
    find: int = 20,
    confidence: float = 0.95,
    false_discoveries: float = 0.03,
    blocklist: Collection[str] = (),
) -> Found:
    """The most frequent strings behind a tally. Strings of the blocklist are verified like others, but not named."""
    wanted = Wanted(find, confidence, false_discoveries, frozenset(blocklist))
    wanted.check()
    if too_few(mechanism.sizes(tally)):
        return Found((), tally.n, find, confidence, false_discoveries, 0, 0, 1.0)
    return verified(candidates_of([(mechanism, tally)], VERIFIED_EACH * find), tally.n, wanted)
