"""Other losses than that of one report: of all reports ever that a kept answer can give, and of one answer of a record."""

from dataclasses import replace

import numpy as np

from deniable.core import Permanent, PrivacyLoss, SeededCoins
from deniable.errors import NotCertifiable
from deniable.privacy.certificate import Certificate
from deniable.privacy.certify import certify
from deniable.privacy.law import LIMIT
from deniable.privacy.proofs import second_loss
from deniable.wrappers.fake_attributes import FakeAttributes

TRIALS = 64  # reports whose two rounds are compared coin by coin


def check_rounds(mechanism: Permanent) -> None:
    """That reports are made of the kept answer and fresh coins alone: compared coin by coin, on a seeded stream.

    Where the law can be enumerated, it is also the product of the laws of the two rounds.
    """
    size = min(mechanism.batch, TRIALS)
    answers = [mechanism.domain.answer(place % mechanism.domain.size) for place in range(size)]
    whole, coins = mechanism.perturb(answers, SeededCoins(b"rounds")).columns, SeededCoins(b"rounds")
    parts = mechanism.report(mechanism.keep(answers, coins), coins).columns
    if any(not np.array_equal(column, parts[name]) for name, column in whole.items()):
        raise NotCertifiable("A report is not the second-round output for the permanent answer.")


def certify_ever(mechanism: Permanent, limit: int = LIMIT) -> Certificate:
    """The exact loss of all reports ever on one value that does not change; `certify` has that of one report alone.

    Reports are made from the kept answer with fresh coins, so whatever is done with any number of them could be done with
    it: they reveal no more. They come to reveal as much, as the second round averages out.
    """
    base = certify(mechanism.base, None, limit)
    check_rounds(mechanism)
    return replace(base, loss=replace(base.loss, over="all reports ever on one value"))


@second_loss.register
def loss_ever(mechanism: Permanent) -> PrivacyLoss:
    """The loss of all reports ever, beside that of one report."""
    return certify_ever(mechanism).loss


second_loss.register(FakeAttributes, FakeAttributes.attribute_loss)
