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

Factored and symmetric ones assume that the mechanism is of the kind it says (`loss().proof`); the project's tests check that
on small instances, where both must equal the enumeration.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ints
from deniable.core.every import EveryCoin, WatchedCoins
from deniable.core.layout import Flags, Number
from deniable.core.loss import PrivacyLoss, Proof
from deniable.core.mechanism import Mechanism, PureProtocol
from deniable.domains import KeyValue
from deniable.errors import NotCertifiable
from deniable.mechanisms.key_value.pckv_unary import PCKVUnary
from deniable.mechanisms.releases.vector_release import VectorRelease
from deniable.mechanisms.sparse.compressed import Compressed
from deniable.mechanisms.vectors.bitrand import BitRand
from deniable.mechanisms.vectors.duchi_vector import DuchiVector
from deniable.mechanisms.vectors.feature_vector import FeatureVector
from deniable.mechanisms.vectors.unit_codes import UnitCodes
from deniable.privacy.attributes import by_attributes
from deniable.privacy.certificate import Certificate, certificate
from deniable.privacy.law import LIMIT, Chances, combinations, gathered, law, runs
from deniable.privacy.memoized import certify_bits, certify_lifetime, has_bits
from deniable.privacy.open import certify_open
from deniable.privacy.products import by_agreement, by_coordinates, by_parts, by_rounds, separate
from deniable.privacy.ratio import Worst, worst_ratio
from deniable.privacy.theorem import compressed_worst
from deniable.privacy.told import in_words, told_laws
from deniable.privacy.wiring import check_members, factored
from deniable.wrappers.attributes import Attributes
from deniable.wrappers.memoized import Memoized
from deniable.wrappers.open_answers import OpenAnswers

LARGEST_NUMBER = 1 << 22  # reports that are counted, one counter each
COUNTED = 32  # how many times as many outcomes are followed where reports are counted: about as long
SEEDS = (64, 16, 4, 2)  # public choices that stand for all of them where there are too many: as many as can be followed


def certify(mechanism: Mechanism, proof: Proof | None = None, limit: int = LIMIT) -> Certificate:
    """The exact loss of `mechanism.perturb`; `proof` asks for one of the ways instead of the first that is quick."""
    if isinstance(mechanism, OpenAnswers):
        return certify_open(mechanism, proof, limit, certify)
    if proof is None:
        proof, size = mechanism.loss().proof, mechanism.domain.size
        possible = _within(mechanism, EveryCoin(), _limit(mechanism, limit) // size)
        total = combinations(mechanism, 0, EveryCoin()) * size if possible else 0
        if possible and (proof == "enumerated" or total <= _quick(mechanism, limit)):
            return _enumerated(mechanism, limit)
        return replace(certify(mechanism, proof, limit), spared=total or None)
    match proof:
        case "enumerated":
            return _enumerated(mechanism, limit)
        case "factored":
            if isinstance(mechanism, UnitCodes):
                return certificate(mechanism, *by_rounds(mechanism, certify(mechanism.part, "symmetric")))
            if isinstance(mechanism, VectorRelease):
                return certificate(
                    mechanism, *by_coordinates(mechanism, [certify(part, None, limit) for part in mechanism.parts])
                )
            if isinstance(mechanism, Attributes):
                return certificate(
                    mechanism, *by_attributes(mechanism, [certify(part, None, limit) for part in mechanism.parts])
                )
            if isinstance(mechanism, FeatureVector):
                return certificate(mechanism, *by_parts(mechanism, _enumerated(mechanism.part, limit)))
            return certificate(mechanism, *(separate if isinstance(mechanism, BitRand) else factored)(mechanism))
        case "symmetric":
            if isinstance(mechanism, UnitCodes):  # a few seeds: with any, the nearest directions are a permutation of all
                return _symmetric(mechanism, 2 * mechanism.codes)
            if isinstance(mechanism, DuchiVector):
                return certificate(mechanism, *by_agreement(mechanism))
            return _symmetric(mechanism, limit)
        case "theorem" if isinstance(mechanism, Compressed):
            worst, followed = compressed_worst(mechanism)
            loss = PrivacyLoss(worst.odds, "theorem", mechanism.loss().protects)
            return Certificate(mechanism, loss, ({}, {0: 1}), worst.report, followed, 2)
    raise NotCertifiable("This mechanism rests on a theorem; it is too large for its law to be followed.")


def certify_ever(mechanism: Memoized, limit: int = LIMIT) -> Certificate:
    """The exact loss of all reports ever on one value that does not change; `certify` tells that of one report alone."""
    return certify_lifetime(mechanism, certify(mechanism.base, None, limit))


def _enumerated(mechanism: Mechanism, limit: int) -> Certificate:
    size, limit = mechanism.domain.size, _limit(mechanism, limit)
    total = combinations(mechanism, 0, EveryCoin()) * size
    if total > limit:
        raise NotCertifiable(f"This has {total:.3g} combinations of coins in all; at most {limit} are followed.")
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


def _symmetric(mechanism: Mechanism, limit: int) -> Certificate:
    if isinstance(mechanism, PCKVUnary):
        told, sets, followed = told_laws(mechanism)
        worst = worst_ratio(told, sets)
        worst = Worst(worst.odds, worst.pair, in_words(mechanism, worst.report))
        return certificate(mechanism, worst, "symmetric", followed, len(sets))
    if isinstance(mechanism, Memoized) and has_bits(mechanism):
        return certify_bits(mechanism)
    size, fields = mechanism.domain.size, mechanism.layout.fields
    chosen = sorted({0, 1, size // 2, size - 1})
    if isinstance(mechanism.domain, KeyValue):  # also both ends of the first key and of the last
        keys = len(mechanism.domain.labels)
        chosen = sorted({*chosen, keys, keys + 1, 2 * keys})
    if len(fields) == 1 and isinstance(fields[0], Flags) and fields[0].ones is not None:
        return _watched(mechanism, chosen)
    for coins in map(EveryCoin, (None, *SEEDS)):
        if _within(mechanism, coins, limit):
            laws = [law(mechanism, index, limit, coins) for index in chosen]
            followed = coins.combinations * len(chosen)
            return certificate(mechanism, worst_ratio(laws, chosen), "symmetric", followed, len(chosen))
    raise NotCertifiable("This has too many outcomes, or it tosses coins that are certified in another way.")


def _watched(mechanism: Mechanism, chosen: list[int]) -> Certificate:
    """What happens at the cells of the chosen values, when every other cell is interchangeable."""
    if not isinstance(mechanism, PureProtocol):
        raise NotCertifiable("Only mechanisms whose reports support values can be certified by watching their cells.")
    check_members(mechanism)
    cells, laws, followed = np.array(chosen), [], 0
    for index in chosen:
        coins = WatchedCoins(chosen)
        followed += combinations(mechanism, index, coins)
        rows, codes, chances = [], [], Chances()
        for reports, code, table in runs(mechanism, index, coins):
            rows.append(mechanism.supports(reports.columns, cells).astype(np.uint8))
            codes.append(chances.indices(table)[code])
        laws.append(gathered(np.concatenate(rows), np.concatenate(codes), chances.values))
    worst = worst_ratio(laws, chosen)
    supported = [str(chosen[place]) for place, bit in enumerate(bytes.fromhex(worst.report)) if bit]
    among = ", ".join(str(cell) for cell in chosen)
    report = f"of the cells {among} it supports " + (", ".join(supported) or "none")
    worst = Worst(worst.odds, worst.pair, report)
    return certificate(mechanism, worst, "symmetric", followed, len(chosen))


def _within(mechanism: Mechanism, coins: EveryCoin, limit: int) -> bool:
    """Whether the combinations of these coins can be followed for one value."""
    try:
        return combinations(mechanism, 0, coins) <= limit
    except NotCertifiable:
        return False
