"""Which mechanism for keys with values: the exact error of every one that the budget allows, side by side."""

import math
from collections.abc import Callable
from functools import partial

from deniable.core.odds import checked_epsilon
from deniable.domains.key_value import KeyValue
from deniable.errors import InvalidParameter
from deniable.mechanisms.key_value.key_sampling import KeySampling
from deniable.mechanisms.key_value.key_value_protocol import KeyValueProtocol, total_error
from deniable.mechanisms.key_value.pckv_direct import PCKVDirect
from deniable.mechanisms.key_value.pckv_unary import PCKVUnary

CLOSE = 1.015  # as for categories: an error this near to the smallest counts as equally good

Makers = dict[str, Callable[[KeyValue, float], KeyValueProtocol]]

FAMILIES: Makers = {
    "pckv-unary, balanced": PCKVUnary.balanced,
    "pckv-unary, published": PCKVUnary.published,
    "pckv-direct": PCKVDirect,
    "key-sampling, kvue": KeySampling.kvue,
    "key-sampling, privkv": KeySampling.privkv_for,
}
WITHOUT_VALUES: Makers = {
    "pckv-unary, frequency": partial(PCKVUnary.balanced, target="frequency"),
    "pckv-direct, frequency": PCKVDirect.frequencies,
}


def chosen(domain: KeyValue, epsilon: float, n: int, max_bits: int | None = None, values: bool = True) -> KeyValueProtocol:
    """The mechanism with the smallest error of frequency and weight together; of those near to it the smallest report.

    The error is that of a key which one person in ten has, with values of mean zero from -1 to 1. Without `values` only
    frequencies are told, more exactly.
    """
    checked_epsilon(epsilon)
    if n < 1:
        raise InvalidParameter("A plan needs the number of people who will answer, at least 1.")
    makers, target, terms = (FAMILIES, "balanced", 2) if values else (WITHOUT_VALUES, "frequency", 1)
    made = {name: make(domain, epsilon) for name, make in makers.items()}
    errors = {name: math.sqrt(total_error(mechanism, 0.1, 0.0, target) / terms / n) for name, mechanism in made.items()}
    fitting = [name for name in made if max_bits is None or made[name].layout.bits <= max_bits]
    if not fitting:
        smallest = min(mechanism.layout.bits for mechanism in made.values())
        raise InvalidParameter(f"No mechanism can report in {max_bits} bits; the smallest report here takes {smallest}.")
    near = CLOSE * min(errors[name] ** 2 for name in fitting)
    best = min(
        (name for name in fitting if errors[name] ** 2 <= near), key=lambda name: (made[name].layout.bits, errors[name])
    )
    lines = [
        f"{best} for {len(domain.labels):,} keys, at most {domain.at_most:,} a person, epsilon {epsilon:g} for one answer, "
        f"{n:,} people" + (f", at most {max_bits} bits a report" if max_bits is not None else ""),
        f"{'':1} {'mechanism':24} {'error':>12} {'to the best':>11} {'bits':>9}",
    ]
    for name in sorted(made, key=errors.__getitem__):
        ratio = (errors[name] / min(errors.values())) ** 2
        mark = "*" if name == best else ""
        lines.append(f"{mark:1} {name:24} {errors[name]:12.3g} {ratio:10.3f}x {made[name].layout.bits:9,}")
    lines.append(
        "error: root mean square of frequency and weight, of a key that one in ten has, values from -1 to 1 of mean 0; "
        "to the best: ratio of squared errors; bits: one report"
    )
    return made[best].because("\n".join(lines))
