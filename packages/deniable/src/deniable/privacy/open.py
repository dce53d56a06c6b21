"""The certificate of a question with open answers, from the definition of utility-optimized local differential privacy.

Every report that tells an open answer must be impossible under all others, and every other report is compared under all
answers, sensitive or open. Where there are too many outcomes, the base mechanism is certified on its own, and a few
sensitive and a few open answers are followed through the whole code: with all coins, or at the cells of the few.
"""

import math
from collections.abc import Callable

import numpy as np

from deniable.arrays import Bytes, Ints
from deniable.core.every import EveryCoin, FollowedCoins, WatchedCoins
from deniable.core.layout import Columns, Flags
from deniable.core.loss import Proof
from deniable.core.mechanism import Mechanism, PureProtocol
from deniable.errors import NotCertifiable
from deniable.privacy.certificate import Certificate, certificate
from deniable.privacy.law import Chances, combinations, gathered, law, runs
from deniable.privacy.ratio import Worst, worst_ratio
from deniable.wrappers.open_answers import OpenAnswers
from deniable.wrappers.published_utility import PublishedUtility

Certify = Callable[[Mechanism, Proof], Certificate]

SEEDS = (64, 16, 4, 2)  # public choices that stand for all of them where there are too many: as many as can be followed


def certify_open(mechanism: OpenAnswers, proof: Proof | None, limit: int, certify: Certify) -> Certificate:
    """The exact loss of a question with open answers; `certify` is for its base."""
    secret, told = np.flatnonzero(mechanism.secret), np.flatnonzero(~mechanism.secret)
    total = sum(_combinations(mechanism, int(some[0]), limit) * len(some) for some in (secret, told))
    if proof is None:
        proof = "enumerated" if total <= limit else mechanism.loss().proof
    if proof == "enumerated" and total <= limit:
        laws = [law(mechanism, index, limit) for index in range(mechanism.domain.size)]

        def tells(rows: Bytes) -> Ints:
            return mechanism.told_index(mechanism.told(mechanism.layout.columns(rows)))

        worst = worst_ratio(laws, range(mechanism.domain.size), tells)
        return certificate(mechanism, worst, "enumerated", total, mechanism.domain.size)
    if proof == "symmetric":
        return _symmetric(mechanism, _few(secret, 4) + _few(told, 3), limit, certify)
    raise NotCertifiable(
        "This question has too many answers for that proof, and perhaps for any. Fewer sensitive answers can be enumerated."
    )


def _combinations(mechanism: Mechanism, index: int, limit: int) -> int:
    try:
        return combinations(mechanism, index, EveryCoin())
    except NotCertifiable:  # a coin with too many outcomes
        return limit + 1


def _few(indices: Ints, most: int) -> list[int]:
    """The first, the last and some between."""
    return sorted({int(indices[place * (len(indices) - 1) // (most - 1)]) for place in range(most)})


def _symmetric(mechanism: OpenAnswers, chosen: list[int], limit: int, certify: Certify) -> Certificate:
    """The worse of the base on its own, and of the whole code on a few answers."""
    base, given = mechanism.base, tuple[int, ...]()
    if isinstance(mechanism, PublishedUtility):  # which hash function is the worst is known, and who is found by it
        given = mechanism.worst.public
        chosen = sorted({*chosen, int(np.flatnonzero(mechanism.secret)[mechanism.worst.place])})
    watch = any(isinstance(field, Flags) for field in base.layout.fields)
    coins = WatchedCoins(mechanism.places(chosen)) if watch else _every(mechanism, chosen, limit, given)
    laws, followed = [], 0
    for index in chosen:
        followed += combinations(mechanism, index, coins)
        rows, codes, chances = [], [], Chances()
        for reports, code, table in runs(mechanism, index, coins):
            rows.append(_view(mechanism, reports.columns, coins))
            codes.append(chances.indices(table)[code])
        laws.append(gathered(np.concatenate(rows), np.concatenate(codes), chances.values))
    found = [worst_ratio(laws, chosen, lambda view: mechanism.told_index(view[:, :4].copy().view("<u4")[:, 0]))]
    if base.domain.size > 1:
        own, secret = certify(base, base.loss().proof), np.flatnonzero(mechanism.secret)
        first, second = (int(secret[base.domain.index([value])[0]]) for value in own.worst_pair)
        found.append(Worst(own.loss.odds, (first, second), own.worst_report))
        followed += own.followed
    worst = max(found, key=lambda each: math.inf if each.odds is None else each.odds)
    return certificate(mechanism, worst, "symmetric", followed, len(chosen))


def _every(mechanism: OpenAnswers, chosen: list[int], limit: int, given: tuple[int, ...]) -> EveryCoin:
    for coins in [EveryCoin(given=given)] if given else map(EveryCoin, (None, *SEEDS)):
        try:
            if max(combinations(mechanism, index, coins) for index in chosen) <= (limit if given else limit // len(chosen)):
                return coins
        except NotCertifiable:
            continue
    raise NotCertifiable("This has too many outcomes, or it tosses coins that are certified in another way.")


def _view(mechanism: OpenAnswers, columns: Columns, coins: FollowedCoins) -> Bytes:
    """What is looked at: the answer that a report tells, then the whole report, or its cells that are watched."""
    told = mechanism.told(columns)
    if isinstance(coins, WatchedCoins):
        base, cells = mechanism.base, mechanism.layout.protected(columns, np.ones(len(told), np.bool_))
        assert isinstance(base, PureProtocol)
        rest = base.supports(cells, np.array(coins.watched)).astype(np.uint8)
        rest = np.concatenate([rest, base.is_idle(cells)[:, None]], axis=1)
    else:
        rest = mechanism.layout.rows(columns)
    return np.concatenate([told.astype("<u4").view(np.uint8).reshape(-1, 4), rest], axis=1)
