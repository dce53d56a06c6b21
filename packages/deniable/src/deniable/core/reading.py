"""How a report is read, as a program: the same operations as a law, with the fields of a report in place of an answer."""

from collections.abc import Callable
from typing import Any, cast

from deniable.arrays import Ints
from deniable.core.layout import Columns, Layout, Number
from deniable.core.program import Program
from deniable.core.tracing import Trace
from deniable.errors import InvalidLaw

Reader = Callable[[Columns, Ints], object]


def supporting(layout: Layout, cells: int, reader: Reader) -> dict[str, object] | None:
    """The program of `reader(columns, cell)`, which says whether a report supports an answer; None if it cannot be traced.

    Its codes are the fields of the report, rows as vectors of bits, and "cell", the number of the answer.
    """
    trace, columns = Trace(1), dict[str, Any]()
    for field in layout.fields:
        if isinstance(field, Number):
            columns[field.name] = trace.code(field.name, 0, field.below - 1, None)
        else:
            columns[field.name] = trace.add("cells", (trace.code(field.name, 0, 1, field.bits),), 0)
    try:
        found = trace.symbol(reader(columns, cast(Ints, trace.code("cell", 0, cells - 1, None))))
        return Program(tuple(trace.nodes), (("supports", found.node),)).plain()
    except (InvalidLaw, TypeError, IndexError, AttributeError, ValueError):  # code for arrays only
        return None
