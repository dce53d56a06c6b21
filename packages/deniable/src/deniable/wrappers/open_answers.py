"""Questions of which some answers are sensitive: what all mechanisms for them share."""

from abc import abstractmethod
from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np

from deniable.arrays import Bools, Ints
from deniable.core import Additive, Columns, Domain, Mechanism, Number, PureProtocol, lookup
from deniable.core.frozen import Former
from deniable.core.reading import supporting
from deniable.errors import InvalidParameter
from deniable.wrappers.either import Either


class OpenAnswers(Mechanism[object, Ints]):
    """A question of which some answers are sensitive; the others may be disclosed. `base` randomizes the sensitive ones."""

    derived = ("odds",)
    base: Additive
    sensitive: Sequence[object]

    @property
    def protected(self) -> Sequence[object]:
        return self.sensitive

    @cached_property
    def secret(self) -> Bools:
        """Which answers of the domain are sensitive."""
        chosen = np.zeros(self.domain.size, np.bool_)
        chosen[self.domain.index(list(self.sensitive))] = True
        return chosen

    @cached_property
    def _place(self) -> Ints:
        """The place of each answer among the sensitive ones, and 0 for an open one."""
        return (np.cumsum(self.secret) - 1) * self.secret

    @cached_property
    def _open_number(self) -> Ints:
        """The number of each open answer, from 1 on, and 0 for a sensitive one."""
        return np.cumsum(~self.secret) * (1 - self.secret)

    @cached_property
    def _order(self) -> Ints:
        """Where each answer stands in the counts: first the cells of the base, then the open answers."""
        return np.where(self.secret, self._place, self.base.cells + self._open_number - 1)

    def reading(self) -> dict[str, object]:
        """Of reports that disclose no answer."""
        if not isinstance(self.base, PureProtocol):
            return {}
        base = self.base

        def supports(columns: Columns, cell: Ints) -> Bools:
            return base.supports(columns, lookup(self._place, cell)) & lookup(self.secret, cell)

        def clipped(columns: Columns, cell: Ints) -> Bools:
            """For tables of the base: a field may have larger numbers, of reports that disclose an answer."""
            ends = {field.name: field.below - 1 for field in base.layout.fields if isinstance(field, Number)}
            own = {name: np.minimum(column, ends[name]) if name in ends else column for name, column in columns.items()}
            return supports(own, cell)

        found = [supporting(self.layout, self.domain.size, reader) for reader in (supports, clipped)]
        return {"supports": [found[0] or found[1]]} if any(found) else {}

    @property
    def cells(self) -> int:
        return self.base.cells + self.domain.size - int(self.secret.sum())

    @property
    @abstractmethod
    def layout(self) -> Either:
        """The fields of a report."""

    @property
    @abstractmethod
    def disclosed_share(self) -> float:
        """The probability that an open answer is disclosed."""

    def disclosed(self, columns: Columns) -> Ints:
        """The number of the open answer that each report discloses, 0 where it discloses none."""
        return self.layout.disclosed(columns)

    def disclosed_index(self, numbers: Ints) -> Ints:
        """The index of the open answer with each number, and -1 for 0."""
        return np.concatenate([[-1], np.flatnonzero(~self.secret)])[numbers]

    told_share, told, told_index = Former("disclosed_share"), Former("disclosed"), Former("disclosed_index")


def checked_sensitive(domain: Domain, sensitive: Collection[object]) -> tuple[object, ...]:
    """The sensitive answers in the order of the domain; refuses others, and all or none of them."""
    if isinstance(sensitive, str | bytes) or not isinstance(sensitive, Collection):
        raise InvalidParameter('The sensitive answers must be a list, for example sensitive=["AIDS", "cancer"].')
    labels = list(domain.labels)
    listed = [label.item() if isinstance(label, np.generic) else label for label in sensitive]
    known = frozenset(labels)
    for label in listed:
        if not _is_among(label, known):
            raise InvalidParameter(
                f"The sensitive answer {label!r} is not one of the question's answers. Check its spelling."
            )
    if not listed:
        raise InvalidParameter("No answer is sensitive, so there is nothing to protect. Name at least one.")
    wanted = frozenset(listed)
    chosen = tuple(label for label in labels if label in wanted)
    if len(chosen) == len(labels):
        raise InvalidParameter("Every answer is sensitive. Use the base mechanism, which protects all of them.")
    return chosen


def _is_among(label: object, known: frozenset[object]) -> bool:
    """Whether it is one of these; what cannot be hashed is none."""
    try:
        return label in known
    except TypeError:
        return False
