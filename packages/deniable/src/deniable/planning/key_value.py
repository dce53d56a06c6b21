"""Which mechanism for keys with values: the exact error of every one that the budget allows, side by side."""

import math

from deniable.core import Candidate, checked_epsilon
from deniable.domains.key_value import KeyValue
from deniable.mechanisms.key_value.key_value_protocol import KeyValueProtocol, total_error
from deniable.mechanisms.registry import candidates
from deniable.planning.ranking import Column, Ranking, Row, checked_people, made, people, planned

ERROR = Column(
    "error",
    "root mean square of frequency and weight, for a key that one in ten has, values from -1 to 1 with mean 0",
    ".3g",
)


def key_value_options(domain: KeyValue, epsilon: float, n: int, values: bool = True) -> Ranking[KeyValueProtocol]:
    """Every mechanism for keys with values, or for frequencies alone, the smallest error first."""
    checked_people(n)
    budget = checked_epsilon(epsilon)
    target, terms = ("balanced", 2) if values else ("frequency", 1)

    def row(candidate: Candidate[KeyValueProtocol]) -> Row[KeyValueProtocol]:
        mechanism = candidate.made(domain, budget)
        error = math.sqrt(total_error(mechanism, 0.1, 0.0, target) / terms / n)
        return Row(candidate.name, mechanism, error, mechanism.layout.bits)

    offered = [each for each in candidates("key_value").values() if each.target in (None, target)]
    rows, remarks = made(offered, len(domain.labels), row)
    subject = (
        f"{len(domain.labels):,} keys, at most {domain.at_most:,} a person, epsilon {budget:g} for one answer, {people(n)}"
    )
    return Ranking(rows, subject, ERROR, remarks=remarks)


def plan_key_value(
    domain: KeyValue, epsilon: float, n: int, max_bits: int | None = None, values: bool = True
) -> KeyValueProtocol:
    """The mechanism with the smallest error of frequency and weight together; its `explain()` shows the others.

    Without `values`, reports carry frequencies only, which makes those more exact.
    """
    return planned(key_value_options(domain, epsilon, n, values).within(max_bits))
