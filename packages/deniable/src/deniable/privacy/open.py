"""The certificate of a question with non-sensitive answers, from the definition of utility-optimized privacy.

Every report that discloses an answer must be impossible under all others, and every other report is compared under all
answers, sensitive or not: by the rule of cases, or by following every outcome where there are few.
"""

from dataclasses import replace

import numpy as np

from deniable.arrays import Bytes, Ints
from deniable.core import Mechanism, PrivacyLoss
from deniable.errors import InvalidReport, NotCertifiable
from deniable.privacy.cases import open_bound
from deniable.privacy.certificate import Certificate, certificate
from deniable.privacy.certify import certify
from deniable.privacy.law import law, outcomes
from deniable.privacy.proofs import proves
from deniable.privacy.prove import check_own_answers, check_own_code, law_that_runs
from deniable.privacy.ratio import worst_ratio
from deniable.wrappers.open_answers import OpenAnswers

QUICK = 1 << 14  # outcomes that are followed to show the worst of them, where the rule of cases has proved the law
DISCLOSE = ("secret", "protected", "disclosed", "disclosed_index", "disclosed_share")  # which answers are sensitive


@proves(OpenAnswers, None)
def quickest(mechanism: OpenAnswers, limit: int) -> Certificate:
    """By the rule of cases; by following every outcome where that does not reach, or gives more than is declared."""
    check_own_code(mechanism, DISCLOSE)
    check_own_answers(mechanism)
    program, secret = law_that_runs(mechanism), np.flatnonzero(mechanism.secret).tolist()
    found = open_bound(program, *mechanism.layout.opens, frozenset(secret))
    declared = mechanism.loss().odds
    tight = found is not None and found.odds is not None and declared is not None and found.odds <= declared
    few = _total(mechanism, limit) <= (QUICK if tight else limit)
    if few:
        exact = certify(mechanism, "enumerated", limit)
        return exact if found is None or not tight else replace(exact, rules=found.rules)
    if found is None:
        raise NotCertifiable(
            "Not proved at this size: no rule of proof covers this law. Use a smaller question or another mechanism."
        )
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
    law_that_runs(mechanism)
    check_own_code(mechanism, DISCLOSE)
    check_own_answers(mechanism)
    total, every = _total(mechanism, limit), range(mechanism.domain.size)
    if total > limit:
        return refused(mechanism, limit)

    def disclosed(rows: Bytes) -> Ints:
        try:
            return mechanism.disclosed_index(mechanism.disclosed(mechanism.layout.columns(rows)))
        except InvalidReport as why:
            raise NotCertifiable(f"The law gives a report that this mechanism cannot send: {why}") from why

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
