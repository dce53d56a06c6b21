"""The certificate: the privacy loss of the law that runs, for every answer and every draw.

*proved*: by the rules of rules.py, which read the law as a program and nothing else. Two answers and a report that reach the
bound are looked for and shown; where none are found, the certificate says "at most".

*theorem*: a published proof and nothing more, for what is no program: compressed response, PrivUnit, and vectors that are
ranked by code; and for sets of which one pair is sampled, whose loss follows from the proved one of a single pair.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ints
from deniable.core import Mechanism, Number, PrivacyLoss, Program
from deniable.core.every import EveryCoin
from deniable.errors import InvalidParameter, NotCertifiable
from deniable.privacy.certificate import Certificate, certificate
from deniable.privacy.law import LIMIT, Chances, combinations, law, outcomes, runs
from deniable.privacy.proofs import Method, is_ours, prover, proves
from deniable.privacy.prove import law_that_runs, prove
from deniable.privacy.ratio import Worst, worst_ratio

LARGEST_NUMBER = 1 << 22  # reports that are counted, one counter each
COUNTED = 32  # how many times as many outcomes are followed where reports are counted: about as long


def certify(mechanism: Mechanism, proof: Method | None = None, limit: int = LIMIT) -> Certificate:
    """The exact loss of `mechanism.perturb`; `proof="enumerated"` follows all outcomes, however many up to the limit."""
    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter(
            "Only a mechanism can be certified, such as plan(...) or DirectResponse(domain, epsilon); of a survey, each "
            "question's mechanism."
        )
    return prover(mechanism, proof)(mechanism, limit)


@proves(Mechanism, None)
def by_rules(mechanism: Mechanism, limit: int) -> Certificate:
    """By the rules, with a case that reaches the bound if one is found."""
    if not mechanism.traced:
        _check_ours(mechanism)
        return certify(mechanism, "theorem", limit)
    proof = prove(mechanism)
    bound, size = proof.bound, mechanism.domain.size
    loss = PrivacyLoss(bound.odds, "proved", mechanism.loss().protects)
    if proof.case is None:
        return Certificate(mechanism, loss, None, "", 0, size, rules=bound.rules)
    first, second = (mechanism.domain.answer(index) for index in proof.case.pair)
    return Certificate(mechanism, loss, (first, second), proof.case.report, 0, size, rules=bound.rules)


def _check_ours(mechanism: Mechanism) -> None:
    if not is_ours(type(mechanism)):
        raise NotCertifiable(
            "The theorem is about the code of deniable, and this class changes it. Only a law that is a program can be "
            "proved for code from elsewhere."
        )


@proves(Mechanism, "enumerated")
def enumerated(mechanism: Mechanism, limit: int) -> Certificate:
    """Every value and every combination of coins."""
    if mechanism.traced:
        law_that_runs(mechanism)
    else:
        _check_ours(mechanism)
    size, limit = mechanism.domain.size, _limit(mechanism, limit)
    total = outcomes(mechanism, 0) * size
    if total > limit:
        raise NotCertifiable(f"The law has {total:.3g} combinations of coins in all; the limit is {limit}.")
    if _is_number(mechanism):
        worst = _worst_number(mechanism)
    else:
        worst = worst_ratio([law(mechanism, index, limit) for index in range(size)], range(size))
    return certificate(mechanism, worst, "proved", total, size)


def _is_number(mechanism: Mechanism) -> bool:
    """Whether a report is one number of moderate size, which can be counted instead of sorted, and no draw is a vector."""
    fields = mechanism.layout.fields
    small = len(fields) == 1 and isinstance(fields[0], Number) and fields[0].below <= LARGEST_NUMBER
    return small and not (mechanism.traced and _tosses_vectors(mechanism.law))


def _tosses_vectors(program: Program) -> bool:
    return any(node.op == "toss_each" and kind.width for node, kind in zip(program.nodes, program.types, strict=True))


def _limit(mechanism: Mechanism, limit: int) -> int:
    return limit * COUNTED if _is_number(mechanism) else limit


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
