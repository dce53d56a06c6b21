"""Certificates of records: from those of their attributes, and a look that a report is made of nothing else."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.core.coins import SeededCoins
from deniable.core.loss import Proof
from deniable.errors import NotCertifiable
from deniable.privacy.certificate import Certificate
from deniable.privacy.ratio import Worst
from deniable.wrappers.attributes import Attributes
from deniable.wrappers.every_attribute import EveryAttribute
from deniable.wrappers.fake_attributes import FakeAttributes
from deniable.wrappers.one_attribute import OneAttribute

RECORDS = 256


def by_attributes(mechanism: Attributes, parts: Sequence[Certificate]) -> tuple[Worst, Proof, int, int]:
    """The loss of a record from the certificates of its attributes: their product, or the worst of them.

    That a report is what the mechanisms of the attributes say, and nothing else, is compared coin by coin on a seeded
    stream and random records. Fakes are drawn without any answer in hand.
    """
    size = min(mechanism.batch, RECORDS)
    draws = [SeededCoins(b"records %d" % place).below(part.size, size) for place, part in enumerate(mechanism.domain.parts)]
    rows = [
        tuple(part.answer(int(index)) for part, index in zip(mechanism.domain.parts, row, strict=True))
        for row in zip(*draws, strict=True)
    ]
    columns, coins = mechanism.perturb(rows, SeededCoins(b"attributes")).columns, SeededCoins(b"attributes")
    expected = _expected(mechanism, mechanism.domain.index(rows), coins)
    if any(not np.array_equal(column, expected[name]) for name, column in columns.items()):
        raise NotCertifiable("The report on a record is not what the mechanisms of its attributes say.")
    odds = [part.loss.odds for part in parts]
    worst = max(range(len(parts)), key=lambda place: parts[place].loss.epsilon())
    if isinstance(mechanism, EveryAttribute):
        bounded = [each for each in odds if each is not None]
        total = None if len(bounded) < len(odds) else math.prod(bounded, start=Fraction(1))
    else:
        total = odds[worst]
    pair = [0, 0]
    for place, part in enumerate(parts):
        own = mechanism.domain.parts[place]
        both = [list(own.labels).index(value) for value in part.worst_pair]
        differs = not isinstance(mechanism, OneAttribute) or place == worst
        for side in (0, 1):
            pair[side] = pair[side] * own.size + (both[side] if differs else 0)
    told = "; ".join(f"{place}: {part.short_report}" for place, part in enumerate(parts))
    report = f"{worst}: {parts[worst].short_report}" if isinstance(mechanism, OneAttribute) else told
    return Worst(total, (pair[0], pair[1]), report), "factored", sum(p.followed for p in parts), sum(p.values for p in parts)


def _expected(mechanism: Attributes, truth: NDArray[np.int64], coins: SeededCoins) -> Mapping[str, NDArray[Any]]:
    size, out = len(truth), dict[str, NDArray[Any]]()
    if isinstance(mechanism, EveryAttribute):
        for place, part in enumerate(mechanism.parts):
            out |= mechanism.named(place, part.randomize(truth[:, place], coins))
        return out
    if isinstance(mechanism, FakeAttributes):
        which = coins.below(len(mechanism.parts), size)
        for place, part in enumerate(mechanism.parts):
            real, fake = part.randomize(truth[:, place], coins), mechanism.fake(part, size, coins)
            for name, column in real.items():
                told = (which == place).reshape(-1, *[1] * (np.ndim(column) - 1))
                out[f"{place}.{name}"] = np.where(told, column, fake[name])
        return out
    assert isinstance(mechanism, OneAttribute)
    which = coins.public(len(mechanism.parts), size)
    report = np.zeros((size, (mechanism.width + 7) // 8), np.uint8)
    for place, part in enumerate(mechanism.parts):
        made = part.randomize(truth[:, place], coins)
        whole = {field.name: made[field.name].astype(field.empty(1).dtype) for field in part.layout.fields}
        row = part.layout.rows(whole)
        report[which == place, : row.shape[1]] = row[which == place]
    return {"which": which, "report": report}
