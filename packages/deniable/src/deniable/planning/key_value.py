"""Which mechanism for keys with values: the exact error of every one that the budget allows, side by side."""

import math
from dataclasses import replace
from fractions import Fraction

from deniable.core import Candidate, checked_epsilon
from deniable.domains.key_value import KeyValue
from deniable.mechanisms.key_value.key_value_protocol import KeyValueProtocol, total_error
from deniable.mechanisms.registry import candidates
from deniable.planning.key_value_bound import key_value_bound
from deniable.planning.ranking import NO_BOUND, UNBIASED, Column, Ranking, Row, checked_people, made, people, planned

ROUNDING = f"{UNBIASED} that rounds values to an end first"
USUAL = Fraction(1, 10)  # the share of people who have a key, unless that is more than all keys can have on average


def prior(domain: KeyValue) -> Fraction:
    """The share of people at which mechanisms are compared: one in ten, or what keys have on average at most.

    >>> prior(KeyValue(range(4), 0, 1, 2)), prior(KeyValue(range(50), 0, 1, 1))
    (Fraction(1, 10), Fraction(1, 50))
    """
    return min(USUAL, Fraction(domain.at_most, len(domain.labels)))


def error_at(share: Fraction, values: bool = True) -> Column:
    """The column of errors, with the share of people that they are for."""
    who = "one in ten has" if share == USUAL else f"{float(share):.2g} of all people have"
    what = f"standard error of the frequency of a key that {who}"
    if values:
        what = f"root mean square of frequency and weight, for a key that {who}, values from -1 to 1 with mean 0"
    return Column("error", what, ".3g")


def key_value_options(
    domain: KeyValue, epsilon: float, n: int, values: bool = True, edition: int | None = None
) -> Ranking[KeyValueProtocol]:
    """Every mechanism for keys with values, or for frequencies alone, the smallest error first."""
    checked_people(n)
    budget = checked_epsilon(epsilon)
    target, terms = ("balanced", 2) if values else ("frequency", 1)
    share = prior(domain)

    def row(candidate: Candidate[KeyValueProtocol]) -> Row[KeyValueProtocol]:
        mechanism = candidate.made(domain, budget)
        error = math.sqrt(total_error(mechanism, float(share), 0.0, target) / terms / n)
        return Row(candidate.name, mechanism, error, mechanism.layout.bits)

    compared = [each for each in candidates("key_value", edition).values() if each.target in (None, target)]
    rows, remarks = made(compared, len(domain.labels), row)
    subject = (
        f"{len(domain.labels):,} keys, at most {domain.at_most:,} a person, epsilon {budget:g} for one answer, {people(n)}"
    )
    bound = key_value_bound(len(domain.labels), domain.at_most, share, budget, n, values)
    ranking = Ranking(rows, subject, error_at(share, values), remarks=remarks, bound=bound)
    return replace(ranking, rivals=ROUNDING if values else UNBIASED, unbounded=NO_BOUND)


def plan_key_value(
    domain: KeyValue, epsilon: float, n: int, max_bits: int | None = None, values: bool = True, edition: int | None = None
) -> KeyValueProtocol:
    """The mechanism with the smallest error of frequency and weight together; its `explain()` shows the others.

    Without `values`, reports carry frequencies only, which makes those more exact.
    """
    return planned(key_value_options(domain, epsilon, n, values, edition).within(max_bits))
