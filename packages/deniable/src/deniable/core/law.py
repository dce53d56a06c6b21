"""The law of a mechanism: what is written down of its `randomize`, several times and each time the same."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, cast

from deniable.arrays import Ints
from deniable.core.layout import Flags, Layout, Number
from deniable.core.program import Program
from deniable.core.tracing import Answer, Symbol, Trace, TracedCoins
from deniable.errors import InvalidLaw

SIZES = (1, 3, 1, 2)  # of the batches that are traced: one answer is what a device has


class Law:
    """The program of a mechanism, the functions that encode answers for it, and the layout of its reports."""

    def __init__(self, program: Program, encoders: Sequence[Callable[..., object] | None], layout: Layout) -> None:
        self.program, self.encoders, self.layout = program, tuple(encoders), layout


def traced(mechanism: object) -> Law:
    """The law of a mechanism, written down several times, each time the same."""
    found: Law | None = None  # the first one alone is kept: its tables may be large
    for size in SIZES:
        law = _once(copy(mechanism), size)
        found = found or law
        if law.program != found.program or law.layout != found.layout:
            raise InvalidLaw(
                "The mechanism does not do the same thing each time: its law depends on the size of a batch, on what "
                "happened before, on the clock, or on randomness that is not an argument. Use "
                "nothing but the answer and the coins."
            )
    assert found is not None
    return found


def node_of(mechanism: object, function: Callable[[Ints, Sequence[Ints]], object]) -> int:
    """The node of a law that is this function of the truth and of the public draws."""
    trace = Trace(1)
    truth, _ = _drawn(mechanism, trace)
    public = [Symbol(trace, place) for place, node in enumerate(trace.nodes) if node.op == "public"]
    found = trace.symbol(function(truth, cast(Sequence[Ints], public))).node
    if found >= len(_once(mechanism, 1).program.nodes):
        raise InvalidLaw("The law does not use the permanent answer.")
    return found


def _once(mechanism: Any, size: int) -> Law:
    trace = Trace(size)
    _, drawn = _drawn(mechanism, trace)
    layout = mechanism.layout
    report = _fields(trace, layout, drawn)
    return Law(Program(tuple(trace.nodes), report), trace.encoders, layout)


def _drawn(mechanism: Any, trace: Trace) -> tuple[Any, Mapping[str, Any]]:
    """The truth as symbols, and what `randomize` makes of it."""
    coins, domain = TracedCoins(trace), mechanism.domain
    if mechanism.encodes:
        truth: Any = Answer(trace)
    else:
        truth = mechanism.placed([trace.code(*each) for each in domain.inputs], coins)
    return truth, mechanism.randomize(truth, coins)


def _fields(trace: Trace, layout: Layout, drawn: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    if set(drawn) != {field.name for field in layout.fields}:
        raise InvalidLaw("`randomize` must return the fields of the layout, all of them and no others.")
    report = []
    for field in layout.fields:
        if type(field) not in (Number, Flags):
            raise InvalidLaw("A report has fields of the classes Number and Flags, not of their subclasses.")
        value = trace.symbol(drawn[field.name])
        if isinstance(field, Flags) and not (value.type.row and value.width == field.bits):
            raise InvalidLaw(f"The field {field.name!r} of the report must be a row of {field.bits} bits.")
        if isinstance(field, Number) and (value.type.row or value.type.low < 0 or value.type.high >= field.below):
            raise InvalidLaw(
                f"The field {field.name!r} of the report must be a number from 0 to {field.below - 1}; the law only shows "
                f"that it is {value.type}. To wrap around, write (a + b) % n."
            )
        report.append((field.name, value.node))
    return tuple(report)
