"""What can be seen in a report: its kind, length, numbers and bits, whom it supports, how it goes with the one before."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ints
from deniable.audit.batch import EMPTY, Batch, cell_names
from deniable.audit.feature import Context, Feature
from deniable.audit.floats import rounding
from deniable.audit.hashes import by_hashes
from deniable.core import CellProtocol, Mechanism, PureProtocol
from deniable.errors import DeniableError, InvalidParameter
from deniable.privacy.law import law

FEW_LEVELS = 64
BINS = 16
LAW_LIMIT = 1 << 16
MOST_NEIGHBOURS = 64  # cells that are held against those of the report before
MOST_NUMBERS = 8  # whole numbers in a report whose bits are looked at, or floats whose digits are
MOST_BYTES = 32  # the same for bytes


def features_of(batch: Batch, values: Ints, context: Context) -> list[Feature]:
    """All that varies in these reports and is worth a look; `values` are the places of the values behind them."""
    found = [*_cells(batch, context), *_shape(batch), *_claimed(batch, context), *_counted(context)]
    if context.repeats == 1 and batch.columns is None:
        found += by_hashes(batch, values, context)
    if context.timing and batch.seconds is not None:
        edges = np.quantile(batch.seconds, np.arange(1, BINS) / BINS)
        found.append(
            Feature(
                f"the time the report took, in {BINS} classes",
                lambda given: np.searchsorted(edges, _seconds(given)).astype(np.int64),
                ordered=True,
            )
        )
    if context.repeats > 1:
        return _repeated(batch, found, context.repeats)
    if context.sequence and batch.before is not None:
        found += _after(batch, context)
    return found


def _seconds(batch: Batch) -> Floats:
    assert batch.seconds is not None
    return batch.seconds


def _column(place: int) -> Callable[[Batch], Ints]:
    def read(batch: Batch) -> Ints:
        if place >= batch.cells.shape[1]:
            return np.full(len(batch), EMPTY)
        column = batch.cells[:, place]
        return column.view(np.int64) if column.dtype == np.float64 else column.astype(np.int64)

    return read


def _number(place: int) -> Callable[[Batch], NDArray[Any]]:
    return lambda batch: (
        batch.cells[:, place] if place < batch.cells.shape[1] else np.full(len(batch), EMPTY, batch.cells.dtype)
    )


def _cells(batch: Batch, context: Context) -> list[Feature]:
    layout = context.mechanism.layout if context.mechanism is not None and batch.columns is not None else None
    width, found = batch.cells.shape[1], list[Feature]()
    names = cell_names(layout, width)
    binary = bool(np.isin(batch.cells[:1000], (0, 1)).all() and np.isin(batch.cells, (0, 1)).all())
    floats = batch.cells.dtype == np.float64
    if binary and not floats:
        if width > 1 and layout is None:
            names = [f"bit {place}" for place in range(width)]
        for place, name in enumerate(names):
            found.append(Feature(name, _column(place), f"{name} is 1", f"{name} is 0"))
        if width > 1:
            found.append(Feature("the number of ones", lambda given: given.cells.sum(axis=1, dtype=np.int64), ordered=True))
        return found
    for place, name in enumerate(names):
        column = batch.cells[:, place]
        distinct = np.unique(column)
        if len(distinct) < 2:
            continue
        if len(distinct) == 2 and not floats:
            high, low = int(distinct[1]), int(distinct[0])
            read = _is_level(_column(place), high)
            found.append(Feature(name, read, f"{name} is {high}", f"{name} is {low}"))
        else:
            shown = _float if floats else _whole
            found.append(Feature(name, _column(place), shown=shown))
        if len(distinct) > FEW_LEVELS:
            edges = np.unique(np.quantile(column, np.arange(1, BINS) / BINS))
            found.append(Feature(f"{name}, in {BINS} classes", _binned(_number(place), edges), ordered=True))
        if floats and width <= MOST_NUMBERS:
            found += rounding(name, _number(place))
        few = width <= (MOST_BYTES if _bytes(batch) else MOST_NUMBERS)
        if not floats and few and distinct[0] >= 0 and len(distinct) > 2:
            for bit in range(min(62, int(distinct[-1]).bit_length())):
                found.append(
                    Feature(
                        f"bit {bit} of {name}",
                        _bit(place, bit),
                        f"bit {bit} of {name} is 1",
                        f"bit {bit} of {name} is 0",
                    )
                )
    if width > 1 and not floats and batch.columns is None:
        found += _places(context)
    return found


def _bytes(batch: Batch) -> bool:
    return set(batch.names.values()) <= {"bytes", "bytearray"}


def _whole(code: int) -> str:
    return "missing" if code == EMPTY else str(code)


def _float(code: int) -> str:
    return f"{np.int64(code).view(np.float64):.17g}"


def _is_level(read: Callable[[Batch], Ints], level: int) -> Callable[[Batch], Ints]:
    return lambda batch: (read(batch) == level).astype(np.int64)


def _binned(read: Callable[[Batch], NDArray[Any]], edges: NDArray[Any]) -> Callable[[Batch], Ints]:
    return lambda batch: np.searchsorted(edges, read(batch), side="right").astype(np.int64)


def _bit(place: int, bit: int) -> Callable[[Batch], Ints]:
    return lambda batch: _column(place)(batch) >> bit & 1


def _places(context: Context) -> list[Feature]:
    """Where in a list each of the values stands, if values are whole numbers or have one."""
    found = []
    for value, label in zip(context.values, context.labels, strict=True):
        number = value
        if context.mechanism is not None and not isinstance(value, int | np.integer):
            try:
                number = int(np.asarray(context.mechanism.domain.index([value])).ravel()[0])
            except (DeniableError, ValueError, TypeError, IndexError):
                continue
        if isinstance(number, str) and number.isdigit() and len(number) < 19:
            number = int(number)
        if isinstance(number, int | np.integer) and not isinstance(number, bool):
            found.append(Feature(f"the place of {label} in the list", _place_of(int(number))))
            found.append(
                Feature(
                    f"whether the list contains {label}",
                    _has(int(number)),
                    f"the list contains {label}",
                    f"the list does not contain {label}",
                )
            )
    return found


def _place_of(number: int) -> Callable[[Batch], Ints]:
    def read(batch: Batch) -> Ints:
        same = batch.cells == number
        return np.where(same.any(axis=1), same.argmax(axis=1), -1).astype(np.int64)

    return read


def _has(number: int) -> Callable[[Batch], Ints]:
    return lambda batch: (batch.cells == number).any(axis=1).astype(np.int64)


def _shape(batch: Batch) -> list[Feature]:
    found = []
    if len(np.unique(batch.kind)) > 1:
        shown = dict(batch.names)
        found.append(
            Feature("the type of the report", lambda given: given.kind, shown=lambda code: shown.get(code, "another"))
        )
    if len(np.unique(batch.length)) > 1:
        found.append(Feature("the length of the report", lambda given: given.length, ordered=True))
    if batch.cells.shape[1] > 1:
        found.append(
            Feature("the whole report", lambda given: given.whole(), shown=lambda code: f"the one with hash {code:x}")
        )
    return found


def _counted(context: Context) -> list[Feature]:
    """What the collector of these reports makes of them, where the auditor was given that function."""
    supports = context.supports
    if supports is None:
        return []
    return [
        Feature(f"the support of {label} by the report", _number_of(supports, value))
        for value, label in zip(context.values, context.labels, strict=True)
    ]


def _number_of(supports: Callable[[Any, Any], Any], value: object) -> Callable[[Batch], Ints]:
    def read(batch: Batch) -> Ints:
        assert batch.raw is not None
        try:
            return np.fromiter((int(supports(report, value)) for report in batch.raw), np.int64, len(batch))
        except Exception as error:  # its message may hold a report
            raise InvalidParameter(
                f"`supports` failed with {type(error).__name__}. It gets a report and a value, and returns true, false or a "
                "whole number."
            ) from None

    return read


def _claimed(batch: Batch, context: Context) -> list[Feature]:
    """What the claimed mechanism says of its reports: which values they support, or how likely they are."""
    mechanism = context.mechanism
    if mechanism is None or batch.columns is None:
        return []
    try:
        indices = np.asarray(mechanism.domain.index(list(context.values)))
    except (DeniableError, ValueError, TypeError):
        return []
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        return []
    if isinstance(mechanism, CellProtocol):
        return []  # its bits say whom it supports
    if isinstance(mechanism, PureProtocol):
        return [
            Feature(
                f"support of {label}",
                _supports(mechanism, int(index)),
                f"the report supports {label}",
                f"the report does not support {label}",
            )
            for index, label in zip(indices, context.labels, strict=True)
        ]
    return _likelihood(mechanism, indices, context.labels)


def _supports(mechanism: PureProtocol, index: int) -> Callable[[Batch], Ints]:
    def read(batch: Batch) -> Ints:
        assert batch.columns is not None
        return mechanism.supports(batch.columns, np.array([index]))[:, 0].astype(np.int64)

    return read


def _likelihood(mechanism: Mechanism, indices: Ints, labels: Sequence[str]) -> list[Feature]:
    """The claimed odds of the first value against each other, where the claimed law can be listed."""
    try:
        laws = [dict(law(mechanism, int(index), LAW_LIMIT).items()) for index in indices]
    except DeniableError:
        return []
    found = []
    for first in range(len(laws)):
        for second in range(first + 1, len(laws)):
            ratios = {
                row: float(laws[first].get(row, 0) / laws[second][row]) if laws[second].get(row) else np.inf
                for row in laws[first].keys() | laws[second].keys()
            }
            levels = sorted(set(ratios.values()))
            place = {row: levels.index(ratio) for row, ratio in ratios.items()}
            found.append(
                Feature(
                    f"the class of claimed odds of {labels[first]} against {labels[second]}",
                    _looked_up(mechanism, place),
                    ordered=True,
                )
            )
    return found


def _looked_up(mechanism: Mechanism, place: dict[bytes, int]) -> Callable[[Batch], Ints]:
    def read(batch: Batch) -> Ints:
        assert batch.columns is not None
        rows = mechanism.layout.rows(batch.columns)
        return np.fromiter((place.get(row.tobytes(), -1) for row in rows), np.int64, len(rows))

    return read


def _after(batch: Batch, context: Context) -> list[Feature]:
    """How a report goes with the one before, of somebody else whose value is known."""
    count = len(context.values)
    shown = [f" after a report on {label}" for label in context.labels]

    def known(read: Callable[[Batch], Ints]) -> Callable[[Batch], Ints]:
        def joint(given: Batch) -> Ints:
            assert given.value_before is not None
            return read(given) * count + given.value_before

        return joint

    def same(given: Batch) -> Ints:
        assert given.before is not None
        return (given.whole() == given.before.whole()).astype(np.int64)

    def shown_after(code: int) -> str:
        return f"{code // count}{shown[code % count]}"

    found = [Feature("equality with the previous report (1: equal)", known(same), shown=shown_after, alone=False)]
    assert batch.before is not None
    width = min(batch.cells.shape[1], batch.before.cells.shape[1])
    if batch.cells.dtype != np.float64 and width <= MOST_NEIGHBOURS:
        for place in range(width):
            found.append(
                Feature(
                    f"the difference at place {place} to the previous report",
                    known(_difference(place)),
                    shown=shown_after,
                    alone=False,
                )
            )
    return found


def _difference(place: int) -> Callable[[Batch], Ints]:
    def read(given: Batch) -> Ints:
        assert given.before is not None
        return _column(place)(given) - _column(place)(given.before)

    return read


def _repeated(batch: Batch, single: list[Feature], times: int) -> list[Feature]:
    """For several reports of one person: how often each thing happened among them."""

    def counted(read: Callable[[Batch], Ints], level: int) -> Callable[[Batch], Ints]:
        return lambda given: (read(given) == level).reshape(-1, times).sum(axis=1)

    found = [
        Feature(
            f"the number of different reports among {times}",
            lambda given: (np.diff(np.sort(given.whole().reshape(-1, times), axis=1), axis=1) != 0).sum(axis=1) + 1,
            ordered=True,
        )
    ]
    for feature in single:
        if feature.binary:
            found.append(Feature(f"how many of {times} times {feature.yes}", counted(feature.read, 1), ordered=True))
            continue
        levels = np.unique(feature.read(batch))
        for level in levels if len(levels) <= FEW_LEVELS else ():
            says = feature.says(np.array([level]))
            found.append(Feature(f"how many of {times} times {says}", counted(feature.read, int(level)), ordered=True))
    return found
