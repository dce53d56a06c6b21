"""The certificate of a question with non-sensitive answers, from the definition of utility-optimized privacy.

Every report that discloses an answer must be impossible under all others, and every other report is compared under all
answers, sensitive or not. Where there are too many outcomes, the base mechanism is certified on its own, and a few sensitive
and a few other answers are followed through the whole code: with all coins, or at the cells of the few.
"""

import math
from dataclasses import replace

import numpy as np

from deniable.arrays import Bytes, Ints
from deniable.core import Columns, Flags, Mechanism, PrivacyLoss, PureProtocol
from deniable.core.every import FollowedCoins, WatchedCoins
from deniable.errors import NotCertifiable
from deniable.privacy.cases import open_bound
from deniable.privacy.certificate import Certificate, certificate
from deniable.privacy.certify import certify
from deniable.privacy.law import affordable, all_seen, law, outcomes
from deniable.privacy.proofs import is_ours, proves
from deniable.privacy.prove import law_that_runs
from deniable.privacy.ratio import Worst, worst_ratio
from deniable.wrappers.open_answers import OpenAnswers

QUICK = 1 << 14  # outcomes that are followed to show the worst of them, where the rule of cases has proved the law


@proves(OpenAnswers, None)
def quickest(mechanism: OpenAnswers, limit: int) -> Certificate:
    """By the rule of cases; where that does not reach, as for published mechanisms, by following every outcome."""
    program, secret = law_that_runs(mechanism), np.flatnonzero(mechanism.secret).tolist()
    found = open_bound(program, *mechanism.layout.opens, frozenset(secret))
    few = _total(mechanism, limit) <= (limit if found is None else QUICK)
    if found is None and not few and not is_ours(type(mechanism)):
        raise NotCertifiable(
            "Not proved at this size: no rule of proof reaches this law, and a few answers stand for all only in classes of "
            "this package."
        )
    if found is None or few:
        exact = certify(mechanism, "enumerated" if few else "open", limit)
        return exact if found is None else replace(exact, rules=found.rules)
    loss = PrivacyLoss(found.odds, "proved", mechanism.loss().protects)
    share = mechanism.disclosed_share
    return Certificate(mechanism, loss, None, "", 0, mechanism.domain.size, share, rules=found.rules)


@proves(OpenAnswers, "theorem")
def refused(mechanism: OpenAnswers, limit: int) -> Certificate:
    """There is no such proof."""
    raise NotCertifiable(
        "This question has too many answers for this proof. Use fewer sensitive answers, so that they can be enumerated."
    )


@proves(OpenAnswers, "enumerated")
def enumerated(mechanism: OpenAnswers, limit: int) -> Certificate:
    """Every answer and every combination of coins."""
    total, every = _total(mechanism, limit), range(mechanism.domain.size)
    if total > limit:
        return refused(mechanism, limit)

    def disclosed(rows: Bytes) -> Ints:
        return mechanism.disclosed_index(mechanism.disclosed(mechanism.layout.columns(rows)))

    worst = worst_ratio([law(mechanism, index, limit) for index in every], every, disclosed)
    return certificate(mechanism, worst, "proved", total, len(every), mechanism.disclosed_share)


def _total(mechanism: OpenAnswers, limit: int) -> int:
    """How many outcomes there are, if all sensitive answers have equally many, and all others too."""
    groups = np.flatnonzero(mechanism.secret), np.flatnonzero(~mechanism.secret)
    return sum(_combinations(mechanism, int(some[0]), limit) * len(some) for some in groups)


def _combinations(mechanism: Mechanism, index: int, limit: int) -> int:
    try:
        return outcomes(mechanism, index)
    except NotCertifiable:  # a draw with too many outcomes
        return limit + 1


def _few(indices: Ints, most: int) -> list[int]:
    """The first, the last and some between."""
    return sorted({int(indices[place * (len(indices) - 1) // (most - 1)]) for place in range(most)})


@proves(OpenAnswers, "open")
def by_answers(mechanism: OpenAnswers, limit: int) -> Certificate:
    """The worse of the base on its own, and of the whole code on a few answers."""
    base, secret = mechanism.base, np.flatnonzero(mechanism.secret)
    draws, worst_answers = mechanism.worst_draws
    chosen = _few(secret, 4) + _few(np.flatnonzero(~mechanism.secret), 3)
    chosen = sorted({*chosen, *worst_answers}) if worst_answers else chosen
    coins: FollowedCoins
    if any(isinstance(field, Flags) for field in base.layout.fields):
        coins = WatchedCoins(mechanism.places(chosen))
    else:
        coins = affordable(mechanism, chosen, limit if draws else limit // len(chosen), draws)
    laws, followed = all_seen(mechanism, chosen, coins, lambda columns: _view(mechanism, columns, coins))
    found = [worst_ratio(laws, chosen, lambda view: mechanism.disclosed_index(view[:, :4].copy().view("<u4")[:, 0]))]
    if base.domain.size > 1:
        own = certify(base)
        pair = own.worst_pair or (base.domain.answer(0), base.domain.answer(1))
        first, second = (int(secret[base.domain.index([value])[0]]) for value in pair)
        found.append(Worst(own.loss.odds, (first, second), own.worst_report))
        followed += own.followed
    worst = max(found, key=lambda each: math.inf if each.odds is None else each.odds)
    return certificate(mechanism, worst, "theorem", followed, len(chosen), mechanism.disclosed_share)


def _view(mechanism: OpenAnswers, columns: Columns, coins: FollowedCoins) -> Bytes:
    """What is looked at: the answer that a report discloses, then the whole report, or its cells that are watched."""
    disclosed = mechanism.disclosed(columns)
    if isinstance(coins, WatchedCoins):
        base, cells = mechanism.base, mechanism.layout.protected(columns, np.ones(len(disclosed), np.bool_))
        assert isinstance(base, PureProtocol)
        rest = base.supports(cells, np.array(coins.watched)).astype(np.uint8)
        rest = np.concatenate([rest, base.is_idle(cells)[:, None]], axis=1)
    else:
        rest = mechanism.layout.rows(columns)
    return np.concatenate([disclosed.astype("<u4").view(np.uint8).reshape(-1, 4), rest], axis=1)
