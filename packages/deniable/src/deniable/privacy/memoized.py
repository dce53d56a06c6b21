"""Other losses than that of one report: of all reports ever that a kept answer can give, and of one answer of a record."""

from dataclasses import replace

from deniable.core import Permanent, PrivacyLoss, SeededCoins
from deniable.errors import InvalidLaw, NotCertifiable
from deniable.privacy.certificate import Certificate
from deniable.privacy.certify import certify
from deniable.privacy.law import LIMIT
from deniable.privacy.proofs import second_loss
from deniable.privacy.prove import check_own_code, law_that_runs
from deniable.wrappers.fake_attributes import FakeAttributes

KEPT = ("keep", "report")  # what makes a permanent answer, and reports from it
KEPT_FOR = ("kept_for", "keeps_public", "most_kept")  # what decides for which values there is one


def check_rounds(mechanism: Permanent) -> None:
    """That reports are made of the kept answer and fresh coins alone: by the rest of the law, which needs nothing else."""
    law_that_runs(mechanism)
    check_own_code(mechanism, KEPT)
    check_own_code(mechanism.base, KEPT_FOR)
    answers, coins = [mechanism.domain.answer(0)], SeededCoins(b"rounds")
    try:
        mechanism.report(mechanism.keep(answers, coins), coins)
    except InvalidLaw as why:
        raise NotCertifiable(f"A report is not the second-round output for the permanent answer: {why}") from why


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
