"""How much work a proof may be. A program from outside may be anything: its proof is given up after so many steps.

A step is about what one node of a program costs to be copied or looked at, or a few dozen worlds to be followed for one
node. The steps of a proof are counted wherever their number grows with the program, so it ends in bounded time and memory.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MOST = 1 << 23  # steps of a proof: laws of this package take at most a twentieth of that, half a minute at the very worst
WORLDS = 32  # worlds of one node that are followed in a step
LONGEST = 4096  # bits of a probability of a program

_LEFT: ContextVar[list[int] | None] = ContextVar("steps left of the proof that is running", default=None)


class GivenUp(Exception):
    """A proof takes more steps than it may."""


@contextmanager
def counted() -> Iterator[list[int]]:
    """Count the steps of what runs inside; a proof that is part of another has the steps that this one has left."""
    own = _LEFT.get()
    token = _LEFT.set([MOST]) if own is None else None
    try:
        yield _LEFT.get() or []
    finally:
        if token is not None:
            _LEFT.reset(token)


def spend(steps: int) -> None:
    """So many steps were taken, or are about to be."""
    left = _LEFT.get()
    if left is not None:
        left[0] -= steps
        if left[0] < 0:
            raise GivenUp


def spend_on_power(bits: int, times: int) -> None:
    """A number of so many bits is taken to a power."""
    long = bits * times
    spend(long // 64 + (long >> 13) ** 2 // 4)
