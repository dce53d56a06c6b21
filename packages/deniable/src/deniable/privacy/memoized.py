"""Certificates of longitudinal collection: of one report alone, and of all reports ever that a kept answer can give."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from deniable.core import EveryCoin, PrivacyLoss, SeededCoins
from deniable.errors import NotCertifiable
from deniable.privacy.certificate import Certificate
from deniable.privacy.certify import by_cells, certify
from deniable.privacy.certify import symmetric as by_whole_reports
from deniable.privacy.law import LIMIT, gathered
from deniable.privacy.padded import TRIALS, FirstDraw, check_elsewhere
from deniable.privacy.proofs import proves, second_loss
from deniable.wrappers.memoized import Memoized


@proves(Memoized, "symmetric")
def symmetric(mechanism: Memoized, limit: int) -> Certificate:
    """One report of two rounds of bits, at real size: everything at the cells of four values is followed.

    All other bits must not depend on the value, which is compared on seeded coins.
    """
    if not (mechanism.twice and mechanism.base.independent_bits):
        return by_whole_reports(mechanism, limit)
    chosen, cells = mechanism.domain.representatives(), np.arange(mechanism.domain.size)
    check_elsewhere(mechanism, lambda columns: mechanism.supports(columns, cells), {index: {index} for index in chosen})
    return by_cells(mechanism, chosen, FirstDraw(chosen))


def check_rounds(mechanism: Memoized) -> None:
    """That reports are made of the kept answer and fresh coins alone: compared coin by coin, on a seeded stream.

    Where the law can be enumerated, it is also the product of the laws of the two rounds.
    """
    size = min(mechanism.batch, TRIALS)
    answers = [mechanism.domain.answer(place % mechanism.domain.size) for place in range(size)]
    whole, coins = mechanism.perturb(answers, SeededCoins(b"rounds")).columns, SeededCoins(b"rounds")
    parts = mechanism.report(mechanism.keep(answers, coins), coins).columns
    if any(not np.array_equal(column, parts[name]) for name, column in whole.items()):
        raise NotCertifiable("A report is not the second-round output for the permanent answer.")


def certify_ever(mechanism: Memoized, limit: int = LIMIT) -> Certificate:
    """The exact loss of all reports ever on one value that does not change; `certify` has that of one report alone.

    Reports are made from the kept answer with fresh coins, so whatever is done with any number of them could be done with
    it: they reveal no more. They come to reveal as much, as the second round averages out.
    """
    base = certify(mechanism.base, None, limit)
    check_rounds(mechanism)
    return replace(base, loss=replace(base.loss, over="all reports ever on one value"))


@second_loss.register
def loss_ever(mechanism: Memoized) -> PrivacyLoss:
    """The loss of all reports ever, beside that of one report."""
    return certify_ever(mechanism).loss


def kept_law(mechanism: Memoized, kept: bytes) -> dict[bytes, Fraction]:
    """The exact law of what is sent, given the kept answer as a row of bytes: the second round with every coin."""
    columns = mechanism.layout.columns(np.frombuffer(kept, np.uint8)[None, :])
    coins = EveryCoin()
    mechanism.again(columns, coins)
    rows = np.arange(coins.combinations)
    coins.follow(rows)
    sent = mechanism.again({name: np.repeat(column, len(rows), axis=0) for name, column in columns.items()}, coins)
    code, chances = coins.chances()
    dtypes = {field.name: field.empty(1).dtype for field in mechanism.layout.fields}
    packed = mechanism.layout.rows({name: column.astype(dtypes[name]) for name, column in sent.items()})
    return dict(gathered(packed, code, chances).items())
