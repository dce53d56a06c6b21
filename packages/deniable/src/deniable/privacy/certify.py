"""The certificate: the privacy loss of the law that runs, for every answer and every draw.

*proved*: by the rules of rules.py, which read the law as a program and nothing else. Two answers and a report that reach the
bound are looked for and shown; where none are found, the certificate says "at most".

*theorem*: a published proof and nothing more, for what is no program: compressed response and PrivUnit.
"""

from deniable.core import Mechanism, PrivacyLoss
from deniable.errors import InvalidParameter, NotCertifiable
from deniable.privacy.certificate import Certificate, certificate
from deniable.privacy.law import LIMIT, law, outcomes
from deniable.privacy.proofs import Method, is_ours, prover, proves
from deniable.privacy.prove import check_own_answers, law_that_runs, prove
from deniable.privacy.ratio import worst_ratio


def certify(mechanism: Mechanism, proof: Method | None = None, limit: int = LIMIT) -> Certificate:
    """The exact loss of `mechanism.perturb`; `proof="enumerated"` follows all outcomes, however many up to the limit."""
    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter(
            "Only a mechanism can be certified, such as plan(...) or DirectResponse(domain, epsilon); for a survey, use "
            "certify_survey."
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
    """Every value and every outcome of every draw: the second way, where there are few."""
    if not mechanism.traced:
        _check_ours(mechanism)
    law_that_runs(mechanism)
    check_own_answers(mechanism)
    size = mechanism.domain.size
    total = outcomes(mechanism, 0) * size
    if total > limit:
        raise NotCertifiable(f"The law has {total:.3g} combinations of coins in all; the limit is {limit}.")
    worst = worst_ratio([law(mechanism, index, limit) for index in range(size)], range(size))
    return certificate(mechanism, worst, "proved", total, size)
