"""Reports on several questions at once: a compound question, or pairs drawn in public, as columns of a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import Any, ClassVar

import numpy as np

from deniable.analysis.decoder import decoder
from deniable.arrays import Floats, Ints
from deniable.core import Mechanism, Reports
from deniable.domains import Product, Vectors
from deniable.errors import InvalidParameter
from deniable.wrappers.every_attribute import EveryAttribute
from deniable.wrappers.one_pair import OnePair
from deniable.wrappers.whole_record import WholeRecord

Coded = tuple[Ints, Floats]  # for each person a number, and for each number an array with an axis for every question


@dataclass(frozen=True, eq=False)
class Together:
    """The reports of one mechanism on several questions, which the data name by a tuple: ("smokes", "age").

    Each report is about all of them, as those of a compound question are.
    """

    names: tuple[str, ...]
    mechanism: Mechanism
    reports: Reports
    about_pairs: ClassVar[bool] = False  # a report is about two of the questions, and says nothing of the others

    def __post_init__(self) -> None:
        parts = self.mechanism.domain.parts if isinstance(self.mechanism.domain, Product | Vectors) else ()
        if len(parts) != len(self.names) or len(set(self.names)) != len(self.names):
            raise _not_as_many(len(parts))
        if not self.about_pairs and not isinstance(self.mechanism.domain, Product):
            raise InvalidParameter(
                "Each of these people reported one answer, so their reports say nothing about how answers are related. Ask "
                "with plan_tables(domains, epsilon, n)."
            )

    @property
    def answers(self) -> list[Sequence[Any]]:
        """The answers to each question."""
        return [part.labels for part in self.mechanism.domain.parts]  # type: ignore[attr-defined]

    @cached_property
    def codes(self) -> Ints:
        """A number for each person's report; the same for reports that say the same."""
        return decoder(self.mechanism).likelihood(self.reports)[0]

    def likelihood(self, names: Sequence[str]) -> Coded:
        """The likelihood of each report under the answers to some of the questions, up to a factor."""
        left = [name for name in self.names if name not in names]
        if left:
            raise InvalidParameter(
                f"People reported {' and '.join(map(repr, self.names))} together, and the model leaves {left[0]!r} out, "
                "whose shares the likelihood would need. Add it to the formula, or use method='moments'."
            )
        rows = decoder(self.mechanism).likelihood(self.reports)[1].reshape(-1, *map(len, self.answers))
        return self.codes, self._ordered(rows, names)

    def indicators(self, names: Sequence[str]) -> Coded:
        """The unbiased indicators of the answers to some of the questions."""
        which, rows = decoder(self.mechanism).indicators(self.reports)
        shape = [len(each) for each in self.answers]
        return which, self._ordered(np.asarray(rows).reshape(-1, *shape), names)

    def _ordered(self, rows: Floats, names: Sequence[str]) -> Floats:
        """With an axis for each of these questions, summed over the others."""
        others = tuple(place + 1 for place, name in enumerate(self.names) if name not in names)
        kept = [name for name in self.names if name in names]
        summed = rows.sum(axis=others) if others else rows
        return summed.transpose(0, *(kept.index(name) + 1 for name in names))


@dataclass(frozen=True, eq=False)
class OnPairs(Together):
    """Reports on two of the questions each, which were drawn in public."""

    mechanism: OnePair
    about_pairs = True

    @cached_property
    def codes(self) -> Ints:
        return _distinct(self.mechanism, self.reports)[1]

    def likelihood(self, names: Sequence[str]) -> Coded:
        rows = _supported(self.mechanism, self.reports, {self.names.index(name) for name in names})
        return self.codes, self._ordered(rows, names)

    def indicators(self, names: Sequence[str]) -> Coded:
        raise InvalidParameter(
            "A report on a pair drawn in public has no unbiased indicator of all answers at once. Leave the method out: "
            "the exact likelihood is used."
        )


Apart = Together | Mapping[str, tuple[Mechanism, Reports]]  # by question, where each has reports of its own


@singledispatch
def read(mechanism: Mechanism, names: tuple[str, ...], reports: Reports) -> Apart:
    """What reports on several questions are in a model; register a function for a family with a better way."""
    return Together(names, mechanism, reports)


@read.register
def _(mechanism: OnePair, names: tuple[str, ...], reports: Reports) -> Apart:
    return OnPairs(names, mechanism, reports)


@read.register
def _(mechanism: WholeRecord, names: tuple[str, ...], reports: Reports) -> Apart:
    return Together(names, *mechanism.compound(reports))


@read.register
def _(mechanism: EveryAttribute, names: tuple[str, ...], reports: Reports) -> Apart:
    if len(set(names)) != len(names) or len(names) != len(mechanism.parts):
        raise _not_as_many(len(mechanism.parts))
    alone = mechanism.reports_on(reports, range(len(names)))
    return dict(zip(names, zip(mechanism.parts, alone, strict=True), strict=True))


def _not_as_many(parts: int) -> InvalidParameter:
    return InvalidParameter(f"The mechanism is for {parts} questions. Give a tuple of as many different names.")


def _distinct(mechanism: OnePair, reports: Reports) -> tuple[Ints, Ints]:
    """The different reports, by what was drawn and what was said, and which one each person's is."""
    columns = mechanism.checked_reports(reports).columns
    draws = [columns[name] for name in ("t", "s", "b")[: len(mechanism.hashed.draws)]]
    rows = np.stack([mechanism.group_of(columns["slot"].astype(np.int64)), *draws, columns["bucket"]], axis=1).astype(
        np.int64
    )
    found, which = np.unique(rows, axis=0, return_inverse=True)
    return found, which.ravel().astype(np.int64)


def _supported(mechanism: OnePair, reports: Reports, axes: set[int]) -> Floats:
    """The likelihood of every different report; one that involves another question than these says nothing of them.

    Who reports on which pair was drawn in public, so leaving such reports out changes nothing for the others.
    """
    found, _ = _distinct(mechanism, reports)
    shape = [size if place in axes else 1 for place, size in enumerate(mechanism.sizes)]
    rows = np.ones((len(found), *shape))
    for place, group in enumerate(mechanism.groups):
        own = found[:, 0] == place
        sides = [group.first] if group.second is None else [group.first, group.second]
        if own.any() and set(sides) <= axes:
            sizes = (mechanism.sizes[group.first], 1 if group.second is None else mechanism.sizes[group.second])
            *draws, bucket = found[own, 1:].T
            supports = mechanism.hashed.supported(draws, bucket, *sizes)
            spread = [size if axis in sides else 1 for axis, size in enumerate(shape)]
            rows[own] = (1 + (float(mechanism.odds) - 1) * supports).reshape(-1, *spread) / float(mechanism.odds)
    return rows


def apart(data: Any, mechanisms: Mapping[Any, Mechanism]) -> tuple[Any, dict[str, Mechanism], tuple[Together, ...]]:
    """Columns of one question each with their mechanisms, and those of several questions."""
    several = [key for key in mechanisms if isinstance(key, tuple)]
    if not several:
        return data, dict(mechanisms), ()
    columns, own, found = dict(data), {k: m for k, m in mechanisms.items() if not isinstance(k, tuple)}, list[Together]()
    for key in several:
        if key not in columns:
            raise InvalidParameter(f"There are no reports on {key!r}. Give them under the same names as their mechanism.")
        each = read(mechanisms[key], tuple(map(str, key)), columns.pop(key))
        if isinstance(each, Together):
            found.append(each)
        else:
            columns |= {name: reports for name, (_, reports) in each.items()}
            own |= {name: mechanism for name, (mechanism, _) in each.items()}
    return columns, own, tuple(found)
