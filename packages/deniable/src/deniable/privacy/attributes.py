"""Certificates of records and released vectors: from those of their parts, and a look that a report is nothing else."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ints
from deniable.core import Coins, Domain, Mechanism, SeededCoins
from deniable.errors import NotCertifiable
from deniable.mechanisms.releases.vector_release import VectorRelease
from deniable.privacy.certificate import Certificate, certificate
from deniable.privacy.certify import certify
from deniable.privacy.proofs import proves, second_loss
from deniable.privacy.ratio import Worst
from deniable.wrappers.every_attribute import EveryAttribute
from deniable.wrappers.fake_attributes import FakeAttributes
from deniable.wrappers.one_attribute import OneAttribute

RECORDS = 256

Made = Mapping[str, NDArray[Any]]


@proves(EveryAttribute, "factored")
def every_attribute(mechanism: EveryAttribute, limit: int) -> Certificate:
    """All answers are reported, so their odds multiply."""

    def expected(truth: Ints, coins: Coins) -> Made:
        parts = (mechanism.named(k, part.randomize(truth[:, k], coins)) for k, part in enumerate(mechanism.parts))
        return {name: column for part in parts for name, column in part.items()}

    check_made(mechanism, mechanism.domain.parts, expected)
    parts = _certified(mechanism.parts, limit)
    return _joined(mechanism, mechanism.domain.parts, parts, _product(parts), _listed(parts))


@proves(FakeAttributes, "factored")
def fake_attributes(mechanism: FakeAttributes, limit: int) -> Certificate:
    """One answer is reported among fakes, which are drawn without any answer in hand: the odds are those of one answer."""

    def expected(truth: Ints, coins: Coins) -> Made:
        which, out = coins.below(len(mechanism.parts), len(truth)), dict[str, NDArray[Any]]()
        for place, part in enumerate(mechanism.parts):
            real, fake = part.randomize(truth[:, place], coins), mechanism.fake(part, len(truth), coins)
            for name, column in real.items():
                own = (which == place).reshape(-1, *[1] * (np.ndim(column) - 1))
                out[f"{place}.{name}"] = np.where(own, column, fake[name])
        return out

    check_made(mechanism, mechanism.domain.parts, expected)
    parts = _certified(mechanism.parts, limit)
    return _joined(mechanism, mechanism.domain.parts, parts, parts[_worst(parts)].loss.odds, _listed(parts))


@proves(OneAttribute, "factored")
def one_attribute(mechanism: OneAttribute, limit: int) -> Certificate:
    """One answer, drawn in public, is reported: the odds are those of the worst."""

    def expected(truth: Ints, coins: Coins) -> Made:
        which = coins.public(len(mechanism.parts), len(truth))
        report = np.zeros((len(truth), (mechanism.width + 7) // 8), np.uint8)
        for place, part in enumerate(mechanism.parts):
            made = part.randomize(truth[:, place], coins)
            whole = {field.name: made[field.name].astype(field.empty(1).dtype) for field in part.layout.fields}
            row = part.layout.rows(whole)
            report[which == place, : row.shape[1]] = row[which == place]
        return {"which": which, "report": report}

    check_made(mechanism, mechanism.domain.parts, expected)
    parts = _certified(mechanism.parts, limit)
    worst = _worst(parts)
    report = f"{worst}: {parts[worst].short_report}"
    return _joined(mechanism, mechanism.domain.parts, parts, parts[worst].loss.odds, report, worst)


@proves(VectorRelease, "factored")
def vector_release(mechanism: VectorRelease, limit: int) -> Certificate:
    """All coordinates are released, so their odds multiply; or one, drawn in public, and the odds are those of the worst."""

    def expected(truth: Ints, coins: Coins) -> Made:
        which = coins.public(len(mechanism.parts), len(truth)) if mechanism.sampled else None
        values = [part.randomize(truth[:, place], coins)["value"] for place, part in enumerate(mechanism.parts)]
        if which is None:
            return {f"value{place}": value for place, value in enumerate(values)}
        return {"coordinate": which, "value": np.stack(values)[which, np.arange(len(truth))]}

    check_made(mechanism, mechanism.domain.parts, expected)
    parts = _certified(mechanism.parts, limit)
    worst = _worst(parts) if mechanism.sampled else None
    reports = [int.from_bytes(bytes.fromhex(part.worst_report), "little") for part in parts]
    shown = {f"value{place}": report for place, report in enumerate(reports)}
    if worst is not None:
        shown = {"coordinate": worst, "value": reports[worst]}
    columns = {field.name: np.array([shown[field.name]], field.empty(1).dtype) for field in mechanism.layout.fields}
    row = mechanism.layout.rows(columns)[0].tobytes().hex()
    odds = _product(parts) if worst is None else parts[worst].loss.odds
    return _joined(mechanism, mechanism.domain.parts, parts, odds, row, worst)


def check_made(mechanism: Mechanism, domains: Sequence[Domain], expected: Callable[[Any, Coins], Made]) -> None:
    """Refuse a report that is not what the mechanisms of the parts say, and nothing else.

    It is compared coin by coin, on a seeded stream and random answers.
    """
    size = min(mechanism.batch, RECORDS)
    draws = [SeededCoins(b"records %d" % place).below(domain.size, size) for place, domain in enumerate(domains)]
    rows = [
        tuple(domain.answer(int(index)) for domain, index in zip(domains, row, strict=True))
        for row in zip(*draws, strict=True)
    ]
    columns, coins = mechanism.perturb(rows, SeededCoins(b"parts")).columns, SeededCoins(b"parts")
    made = expected(mechanism.domain.place(rows, coins), coins)
    if any(not np.array_equal(column, made[name]) for name, column in columns.items()):
        raise NotCertifiable("The report is not what the mechanisms of its parts say.")


def _certified(parts: Sequence[Mechanism], limit: int) -> list[Certificate]:
    return [certify(part, None, limit) for part in parts]


def _worst(parts: Sequence[Certificate]) -> int:
    return max(range(len(parts)), key=lambda place: parts[place].loss.epsilon())


def _product(parts: Sequence[Certificate]) -> Fraction | None:
    odds = [part.loss.odds for part in parts]
    return None if None in odds else math.prod((each for each in odds if each is not None), start=Fraction(1))


def _listed(parts: Sequence[Certificate]) -> str:
    return "; ".join(f"{place}: {part.short_report}" for place, part in enumerate(parts))


def _joined(
    mechanism: Mechanism,
    domains: Sequence[Domain],
    parts: Sequence[Certificate],
    odds: Fraction | None,
    report: str,
    only: int | None = None,
) -> Certificate:
    """The certificate of answers that differ in all parts as these do at worst, or in one part `only`."""
    pair = [0, 0]
    for place, (domain, part) in enumerate(zip(domains, parts, strict=True)):
        for side, value in enumerate(part.worst_pair):
            own = list(domain.labels).index(value) if only in (None, place) else 0
            pair[side] = pair[side] * domain.size + own
    followed, values = sum(part.followed for part in parts), sum(part.values for part in parts)
    return certificate(mechanism, Worst(odds, (pair[0], pair[1]), report), "factored", followed, values)


second_loss.register(FakeAttributes, FakeAttributes.attribute_loss)
