"""Several answers of one person, with a mechanism for each of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from deniable.core import Column, Columns, Domain, Drawn, Layout, PureProtocol
from deniable.errors import InvalidParameter
from deniable.wrappers.record_mechanism import Margin, RecordMechanism

Maker = Callable[[Domain, float], PureProtocol]


class Attributes(RecordMechanism):
    """A mechanism for records that is made of one mechanism for each attribute."""

    parts: Sequence[PureProtocol]

    def __post_init__(self) -> None:
        super().__post_init__()
        parts = tuple(self.parts)
        if not all(isinstance(part, PureProtocol) for part in parts):
            raise InvalidParameter("Records need one mechanism for shares per part of their domain.")
        if [part.domain for part in parts] != list(self.domain.parts):
            raise InvalidParameter("The mechanisms must be for the parts of the domain, in their order.")
        self._fix(parts=parts)

    def margin(self, place: int) -> Margin:
        return self.parts[place]

    @property
    def in_words(self) -> str:
        return f"The mechanisms of the answers are {', '.join(part.wire for part in self.parts)}."

    def named(self, place: int, columns: Drawn) -> dict[str, NDArray[Any]]:
        """Columns of one attribute's mechanism under the names they have in a report."""
        return {f"{place}.{name}": column for name, column in columns.items()}

    def own(self, place: int, columns: Columns) -> dict[str, Column]:
        """The columns of one attribute under the names that its mechanism knows."""
        return {field.name: columns[f"{place}.{field.name}"] for field in self.parts[place].layout.fields}

    def side_by_side(self) -> Layout:
        """The fields of all attributes, one after the other."""
        fields = (replace(f, name=f"{place}.{f.name}") for place, part in enumerate(self.parts) for f in part.layout.fields)
        return Layout(tuple(fields))
