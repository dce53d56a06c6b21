"""An awaitable that is begun at once, so that nothing has to be prepared for a wait that mostly does not come."""

from collections.abc import Awaitable, Generator
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class Begun(Generic[Value]):
    """`done` if the value was there at once, in `value`; otherwise await this to go on where it waits."""

    def __init__(self, awaitable: Awaitable[Value]) -> None:
        self.done, self._steps, self._first = False, awaitable.__await__(), None
        self.value: Value
        try:
            self._first = next(self._steps)
        except StopIteration as end:
            self.done, self.value = True, end.value

    def __await__(self) -> Generator[Any, Any, Value]:
        if self.done:
            return self.value
        yield self._first  # what it waits for, handed on to the task that waits
        return (yield from self._steps)
