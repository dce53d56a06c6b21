"""The certificate: the exact privacy loss of the code that runs, with the worst pair of values and the worst report.

Four ways, tried in this order; an enumeration of very many slow outcomes is left out where there is another way, and the
certificate says how many it would have been:

- *enumerated*: every value, every combination of coins. Nothing is assumed but the coins themselves.
- *factored*: for reports of independent parts. One coin at a time is flipped (see wiring.py; for vectors products.py), and
  losses multiply.
- *symmetric*: for mechanisms that treat all values alike. Four representative values are followed in full at the real size;
  where public seeds are too many, some of them; where subsets of cells are, what happens at the cells of the four, and that
  the code for every value takes its subset the same way.
- *theorem*: for compressed response, which tosses as many coins as it takes. See theorem.py.

Here are the proofs that any mechanism has; families that need others register them (see proofs.py). Factored and symmetric
ones assume that the mechanism is of the kind it says (`loss().proof`); the project's tests check that on small instances,
where both must equal the enumeration.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ints
from deniable.core import EveryCoin, Flags, FollowedCoins, Mechanism, Number, Proof, PureProtocol, WatchedCoins
from deniable.errors import InvalidParameter, NotCertifiable
from deniable.privacy.certificate import Certificate, certificate
from deniable.privacy.law import LIMIT, Chances, affordable, all_seen, combinations, is_within, law, runs
from deniable.privacy.proofs import prover, proves
from deniable.privacy.ratio import Worst, worst_ratio
from deniable.privacy.wiring import check_members

LARGEST_NUMBER = 1 << 22  # reports that are counted, one counter each
COUNTED = 32  # how many times as many outcomes are followed where reports are counted: about as long


def certify(mechanism: Mechanism, proof: Proof | None = None, limit: int = LIMIT) -> Certificate:
    """The exact loss of `mechanism.perturb`; `proof` asks for one of the ways instead of the first that is quick."""
    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter(
            "Only a mechanism can be certified, such as plan(...) or DirectResponse(domain, epsilon); of a survey, each "
            "question's mechanism."
        )
    return prover(mechanism, proof)(mechanism, limit)


@proves(Mechanism, None)
def quickest(mechanism: Mechanism, limit: int) -> Certificate:
    """Enumerated if that is the mechanism's own kind of proof, or quick; else in its own way."""
    proof, size = mechanism.loss().proof, mechanism.domain.size
    possible = is_within(mechanism, [0], EveryCoin(), _limit(mechanism, limit) // size)
    total = combinations(mechanism, 0, EveryCoin()) * size if possible else 0
    if possible and (proof == "enumerated" or total <= _quick(mechanism, limit)):
        return enumerated(mechanism, limit)
    return replace(certify(mechanism, proof, limit), spared=total or None)


@proves(Mechanism, "enumerated")
def enumerated(mechanism: Mechanism, limit: int) -> Certificate:
    """Every value and every combination of coins."""
    size, limit = mechanism.domain.size, _limit(mechanism, limit)
    total = combinations(mechanism, 0, EveryCoin()) * size
    if total > limit:
        raise NotCertifiable(f"The law has {total:.3g} combinations of coins in all; the limit is {limit}.")
    if _is_number(mechanism):
        worst = _worst_number(mechanism)
    else:
        worst = worst_ratio([law(mechanism, index, limit) for index in range(size)], range(size))
    return certificate(mechanism, worst, "enumerated", total, size)


def _is_number(mechanism: Mechanism) -> bool:
    """Whether a report is one number of moderate size, which can be counted instead of sorted."""
    fields = mechanism.layout.fields
    return len(fields) == 1 and isinstance(fields[0], Number) and fields[0].below <= LARGEST_NUMBER


def _limit(mechanism: Mechanism, limit: int) -> int:
    return limit * COUNTED if _is_number(mechanism) else limit


def _quick(mechanism: Mechanism, limit: int) -> int:
    """How many outcomes are followed without being asked: answers that are mappings are placed one by one, which is slow."""
    return limit if isinstance(mechanism.domain.answer(0), Mapping) else _limit(mechanism, limit)


def _worst_number(mechanism: Mechanism) -> Worst:
    """The largest ratio between the laws of any two values, where a report is one number."""
    (field,) = mechanism.layout.fields
    assert isinstance(field, Number)
    size, chances, all_sums = field.below, Chances(), Chances()
    owner: list[NDArray[np.int32]] = []  # for every probability and report, some value that gives it
    for index in range(mechanism.domain.size):
        coins, often = EveryCoin(), dict[int, Ints]()
        combinations(mechanism, index, coins)
        for reports, code, table in runs(mechanism, index, coins):
            number, kinds = reports.columns[field.name], chances.indices(table)[code]
            for kind in np.unique(kinds).tolist():
                found = np.bincount(number[kinds == kind], minlength=size)
                often[kind] = often[kind] + found if kind in often else found
        sums, which = [Fraction(0)], np.zeros(size, np.int64)
        for kind, times in often.items():
            used, which = np.unique(which * (times.max() + 1) + times, return_inverse=True)
            olds, counts = np.divmod(used, times.max() + 1)
            sums = [sums[old] + chances.values[kind] * int(count) for old, count in zip(olds, counts, strict=True)]
        which = all_sums.indices(sums)[which]
        owner += [np.full(size, -1, np.int32) for _ in range(len(all_sums.values) - len(owner))]
        for place in np.unique(which):
            owner[place][which == place] = index
    order = sorted(range(len(owner)), key=all_sums.values.__getitem__)
    given = np.stack([owner[place] >= 0 for place in order])  # whether any value gives a report this probability
    low, high = given.argmax(axis=0), len(order) - 1 - given[::-1].argmax(axis=0)
    worst: Worst | None = None
    for bottom, top in np.unique(np.stack([low, high], axis=1), axis=0):
        small, large = all_sums.values[order[bottom]], all_sums.values[order[top]]
        odds = (large / small if small else None) if large else Fraction(1)
        if worst is None or odds is None or (worst.odds is not None and odds > worst.odds):
            report = int(np.flatnonzero((low == bottom) & (high == top))[0])
            pair = int(owner[order[top]][report]), int(owner[order[bottom]][report])
            worst = Worst(odds, pair, field.rows(np.array([report], field.dtype)).tobytes().hex())
            if odds is None:
                break
    assert worst is not None
    return worst


@proves(Mechanism, "symmetric")
def symmetric(mechanism: Mechanism, limit: int) -> Certificate:
    """A few values that stand for all of them."""
    chosen, fields = mechanism.domain.representatives(), mechanism.layout.fields
    if len(fields) == 1 and isinstance(fields[0], Flags) and fields[0].ones is not None:
        return _watched(mechanism, chosen)
    coins = affordable(mechanism, [0], limit)
    laws = [law(mechanism, index, limit, coins) for index in chosen]
    return certificate(mechanism, worst_ratio(laws, chosen), "symmetric", coins.combinations * len(chosen), len(chosen))


def _watched(mechanism: Mechanism, chosen: Sequence[int]) -> Certificate:
    """What happens at the cells of the chosen values, when every other cell is interchangeable."""
    if not isinstance(mechanism, PureProtocol):
        raise NotCertifiable("Only mechanisms whose reports support values can be certified by examining their cells.")
    check_members(mechanism)
    return by_cells(mechanism, chosen, WatchedCoins(chosen))


def by_cells(mechanism: PureProtocol, chosen: Sequence[int], coins: FollowedCoins) -> Certificate:
    """The symmetric proof from what reports on the chosen values say at the cells of these values."""
    cells = np.array(chosen)
    laws, followed = all_seen(mechanism, chosen, coins, lambda columns: mechanism.supports(columns, cells).astype(np.uint8))
    worst = worst_ratio(laws, chosen)
    supported = [str(cell) for cell, bit in zip(chosen, bytes.fromhex(worst.report), strict=True) if bit]
    report = f"of the cells {', '.join(map(str, chosen))} it supports {', '.join(supported) or 'none'}"
    return certificate(mechanism, replace(worst, report=report), "symmetric", followed, len(chosen))
