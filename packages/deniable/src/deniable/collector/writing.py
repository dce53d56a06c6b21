"""What every store does while it writes: one writer at a time, whose connection is given up if anything goes wrong."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from deniable.errors import Unavailable


@contextmanager
def writing(
    lock: AbstractContextManager[object],
    trouble: tuple[type[Exception], ...],
    abandon: Callable[[], None],
    cause: Callable[[Exception], str] = str,
) -> Iterator[None]:
    """Hold the lock; after an error, `abandon` the connection. `trouble`: what a database that cannot be written raises."""
    with lock:
        try:
            yield
        except trouble as error:
            abandon()
            raise Unavailable(f"The database cannot be written: {cause(error)}.") from error
        except BaseException:
            abandon()
            raise
