"""Releases that draw a place in the order of all answers around the true one."""

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.mechanisms.releases.release import Release

if TYPE_CHECKING:
    from deniable.mechanisms.algebra.rings import Rings

MOST_NUMBERS = 1 << 26  # of orders that are found for a batch


class Ringed(Release):
    """A release of the answer at a place that is drawn without a look at the answer: the law of that draw is the loss.

    Where answers are few or on a line, the orders are part of the law. Else an encoder gives the order around an answer, in
    which every answer must be once.
    """

    @property
    @abstractmethod
    def _rings(self) -> "Rings":
        """The rings around every answer."""

    @property
    def encodes(self) -> bool:
        return self._rings.encodes

    @property
    def traced(self) -> bool:
        """Up to some size; beyond, the order of all answers is too long for a law."""
        return self._rings.fits

    @cached_property
    def batch(self) -> int:
        return super().batch if self._rings.kept or not self.encodes else max(1, MOST_NUMBERS // self.domain.size)
