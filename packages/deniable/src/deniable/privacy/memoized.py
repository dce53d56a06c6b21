"""Certificates of longitudinal collection: of one report alone, and of all reports ever that a kept answer can give."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from deniable.core.coins import SeededCoins
from deniable.core.every import EveryCoin
from deniable.core.mechanism import CellProtocol
from deniable.errors import NotCertifiable
from deniable.privacy.certificate import Certificate, certificate
from deniable.privacy.law import Chances, combinations, gathered, runs
from deniable.privacy.ratio import Worst, worst_ratio
from deniable.privacy.told import FirstDraw
from deniable.wrappers.memoized import Memoized

TRIALS = 64  # reports with the same coins on different values, whose other bits must agree


def certify_bits(mechanism: Memoized) -> Certificate:
    """One report of a row of bits, at real size: everything at the cells of four values is followed.

    All other bits must not depend on the value, which is compared on seeded coins.
    """
    size = mechanism.domain.size
    chosen = sorted({0, 1, size // 2, size - 1})
    _check_elsewhere(mechanism, chosen)
    laws, followed = [], 0
    for index in chosen:
        coins = FirstDraw(chosen)
        followed += combinations(mechanism, index, coins)
        rows, codes, chances = [], [], Chances()
        for reports, code, table in runs(mechanism, index, coins):
            rows.append(mechanism.supports(reports.columns, np.array(chosen)).astype(np.uint8))
            codes.append(chances.indices(table)[code])
        laws.append(gathered(np.concatenate(rows), np.concatenate(codes), chances.values))
    worst = worst_ratio(laws, chosen)
    ones = [str(chosen[place]) for place, bit in enumerate(bytes.fromhex(worst.report)) if bit]
    among = ", ".join(map(str, chosen))
    told = Worst(worst.odds, worst.pair, f"of the cells {among} it supports " + (", ".join(ones) or "none"))
    return certificate(mechanism, told, "symmetric", followed, len(chosen))


def _check_elsewhere(mechanism: Memoized, chosen: list[int]) -> None:
    cells, first = np.arange(mechanism.domain.size), None
    for index in chosen:
        answers = [mechanism.domain.answer(index)] * TRIALS
        bits = mechanism.supports(mechanism.perturb(answers, SeededCoins(b"elsewhere")).columns, cells)
        first = bits if first is None else first
        differ = np.flatnonzero((bits != first).any(axis=0))
        if not set(differ.tolist()) <= {chosen[0], index}:
            raise NotCertifiable("Bits of other values depend on the value, so that cells cannot be followed alone.")


def has_bits(mechanism: object) -> bool:
    """Whether this is a mechanism whose reports are certified bit by bit."""
    return isinstance(mechanism, Memoized) and isinstance(mechanism.base, CellProtocol) and mechanism.twice


def check_rounds(mechanism: Memoized) -> None:
    """That reports are made of the kept answer and fresh coins alone: compared coin by coin, on a seeded stream.

    Where the law can be enumerated, it is also the product of the laws of the two rounds.
    """
    size = min(mechanism.batch, TRIALS)
    answers = [mechanism.domain.answer(place % mechanism.domain.size) for place in range(size)]
    whole, coins = mechanism.perturb(answers, SeededCoins(b"rounds")).columns, SeededCoins(b"rounds")
    parts = mechanism.report(mechanism.keep(answers, coins), coins).columns
    if any(not np.array_equal(column, parts[name]) for name, column in whole.items()):
        raise NotCertifiable("A report is not what the second round makes of the kept answer.")


def certify_lifetime(mechanism: Memoized, base: Certificate) -> Certificate:
    """The loss of all reports ever on one value, from the certificate of the kept answer.

    Reports are made from the kept answer with fresh coins, so whatever is done with any number of them could be done with
    it: they tell no more. They come to tell as much, as the second round averages out.
    """
    check_rounds(mechanism)
    return replace(base, loss=replace(base.loss, over="all reports ever on one value"))


def kept_law(mechanism: Memoized, kept: bytes) -> dict[bytes, Fraction]:
    """The exact law of what is sent, given the kept answer as a row of bytes: the second round with every coin."""
    columns = mechanism.layout.columns(np.frombuffer(kept, np.uint8)[None, :])
    coins = EveryCoin()
    mechanism.again(columns, coins)
    rows = np.arange(coins.combinations)
    coins.follow(rows)
    told = mechanism.again({name: np.repeat(column, len(rows), axis=0) for name, column in columns.items()}, coins)
    code, chances = coins.chances()
    dtypes = {field.name: field.empty(1).dtype for field in mechanism.layout.fields}
    packed = mechanism.layout.rows({name: column.astype(dtypes[name]) for name, column in told.items()})
    return dict(gathered(packed, code, chances).items())
