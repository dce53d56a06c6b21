"""`deniable claims`: the privacy loss that papers claim, compared with the exact loss, with a counterexample.

A claim is one entry in `CLAIMS`. The true epsilon is never typed in: `certify` works it out from the mechanism as it was
published, at a size of the paper's and for the smallest counterexample.
"""

import json
import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import click
import numpy as np

from deniable.cli import options
from deniable.core import Mechanism
from deniable.domains import Categories, Features, KeyValue, LossMatrix, Vectors
from deniable.errors import NotCertifiable
from deniable.mechanisms.key_value.key_sampling import KeySampling
from deniable.mechanisms.key_value.three_state import ThreeState
from deniable.mechanisms.releases.release_channel import ReleaseChannel
from deniable.mechanisms.shares.label_response import LabelResponse
from deniable.mechanisms.shares.unary import Unary
from deniable.mechanisms.shares.wheel import Wheel
from deniable.mechanisms.vectors.bitrand import BitRand
from deniable.mechanisms.vectors.duchi_vector import DuchiVector
from deniable.privacy.certificate import shown_answer
from deniable.privacy.certify import certify
from deniable.wrappers.fake_attributes import FakeAttributes
from deniable.wrappers.memoized import Memoized
from deniable.wrappers.published_utility import PublishedUtility
from deniable.wrappers.utility_optimized import UtilityOptimized
from research.bit_formulas import latent_published_epsilon, ome_published_epsilon
from research.papers.uldp.mechanisms import hashed_epsilon, random_hashing, worst_report

Verdict = Literal["false", "loose", "holds"]

LOOSE = 0.99  # a true epsilon below this share of the claimed one makes a claim loose


@dataclass(frozen=True)
class Evaluated:
    """What holds: a true epsilon, and the two answers and the report at which it occurs.

    For a mechanism it comes from its certificate. A law that is not a mechanism here may be worked out exactly in another
    way; then a claim's `make` returns this itself.
    """

    epsilon: float
    worst_pair: tuple[object, object] | None
    worst_report: str
    proof: str
    mechanism: Mechanism | None = None

    @classmethod
    def of(cls, made: "Mechanism | Evaluated") -> "Evaluated":
        """The certificate of a mechanism in these words."""
        if isinstance(made, Evaluated):
            return made
        found = certify(made)
        if found.worst_pair is None:
            with suppress(NotCertifiable):  # where there are too many outcomes to show the worst of all
                found = certify(made, "enumerated")
        return cls(found.loss.epsilon(), found.worst_pair, found.short_report, found.loss.proof, made)


@dataclass(frozen=True)
class Claim:
    """One claim of a paper: which mechanism at which size, what epsilon it is said to have, and how to make it as published.

    `smallest` makes the smallest instance that shows what is wrong with the claim, and `smallest_claimed` is what the paper
    says of that one; without them the claim is its own smallest.
    """

    name: str
    paper: str
    size: str
    claimed: float
    make: Callable[[], Mechanism | Evaluated]
    smallest: Callable[[], Mechanism | Evaluated] | None = None
    smallest_size: str = ""
    smallest_claimed: float = math.nan

    def check(self) -> "Checked":
        """The claim beside what holds."""
        found = Evaluated.of(self.make())
        if self.smallest is None:
            return Checked(self, found, found, self.size, self.claimed)
        return Checked(self, found, Evaluated.of(self.smallest()), self.smallest_size, self.smallest_claimed)


@dataclass(frozen=True)
class Checked:
    """A claim and what the mechanism truly does; the smallest counterexample, its size and what is claimed of that."""

    claim: Claim
    found: Evaluated
    counterexample: Evaluated
    smallest_size: str
    smallest_claimed: float

    @property
    def true(self) -> float:
        """The epsilon that holds; infinite if a report can rule an answer out."""
        return self.found.epsilon

    @property
    def verdict(self) -> Verdict:
        """Whether the claim is false (more is lost), loose (less is lost) or right."""
        if self.true > self.claim.claimed * (1 + 1e-9):
            return "false"
        return "loose" if self.true < LOOSE * self.claim.claimed else "holds"

    @property
    def example(self) -> str:
        """The smallest counterexample in words: which two answers a report distinguishes, and by how much."""
        shown = self.counterexample
        found = f"{self.smallest_size}: claimed {self.smallest_claimed:.4g}, true {shown.epsilon:.4g}"
        if shown.worst_pair is None:
            return found
        first, second = map(shown_answer, shown.worst_pair)
        return f"{found}; report {shown.worst_report}, {first} against {second}"


def _random_hashing() -> Evaluated:
    """uLH with the paper's own random functions, two sensitive answers and two buckets, from every function."""
    odds, report, answers = worst_report(random_hashing(2, math.log(3), 2))
    return Evaluated(math.log(odds), answers, report, "enumerated")


CLAIMS: list[Claim] = [
    Claim(
        "BitRand, f-RR",
        "BitRand 2022, Theorem 2",
        "768 numbers of 10 bits",
        1.0,
        lambda: BitRand.as_published(768, 10, 1.0),
        lambda: BitRand.as_published(1, 1, 0.1),
        "one bit",
        0.1,
    ),
    Claim(
        "BitRand, label-RR",
        "BitRand 2022, Theorem 3",
        "10 labels, beta -5",
        1.0,
        lambda: LabelResponse.as_published(Categories(range(10)), 1.0, -5.0),
        lambda: LabelResponse.as_published(Categories(range(2)), 1.0, -1.5),
        "2 labels, beta -1.5",
        1.0,
    ),
    Claim(
        "LATENT",
        "BitRand 2022, Theorem 5",
        "100 numbers of 10 bits, alpha 7",
        latent_published_epsilon(100, 10, 1.0, 7.0),
        lambda: BitRand.latent(100, 10, 1.0, 7.0),
        lambda: BitRand.latent(1, 1, 1.0, 7.0),
        "one bit",
        latent_published_epsilon(1, 1, 1.0, 7.0),
    ),
    Claim(
        "OME",
        "BitRand 2022, Theorem 6",
        "100 numbers of 10 bits, alpha 100",
        ome_published_epsilon(100, 10, 1.0, 100.0),
        lambda: BitRand.ome(100, 10, 1.0, 100.0),
        lambda: BitRand.ome(1, 2, 1.0, 2.0),
        "two bits, alpha 2",
        ome_published_epsilon(1, 2, 1.0, 2.0),
    ),
    Claim(
        "Duchi, even dimensions",
        "Duchi et al. 2013; Wang et al. 2019",
        "4 dimensions",
        1.0,
        lambda: DuchiVector.as_published(Features(4, -1, 1, steps=1), 1.0),
        lambda: DuchiVector.as_published(Features(2, -1, 1, steps=1), 1.0),
        "2 dimensions",
        1.0,
    ),
    Claim(
        "uLH",
        "He et al., Eq. 45",
        "13 sensitive answers, open share 0.95",
        2.0,
        lambda: Evaluated(hashed_epsilon(13, 2.0, 0.95), None, "", "theorem"),
        _random_hashing,
        "2 sensitive answers, 2 buckets",
        math.log(3),
    ),
    Claim(
        "uWheel",
        "He et al., Eq. 59",
        "13 sensitive answers, open share 0.95",
        2.0,
        lambda: UtilityOptimized.as_published(Wheel, Categories(range(20)), range(13), 2.0, 0.95),
        lambda: PublishedUtility(Wheel, Categories(range(3)), range(2), math.log(3)),
        "2 sensitive answers, an arc of a third",
        math.log(3),
    ),
    Claim(
        "L-SRR",
        "Wang, Hong, Xiong et al. 2022",
        "40 places, 30 in one cell and 10 alone, 2 rings",
        1.0,
        lambda: ReleaseChannel.staircase_as_published(_cells([30] + [1] * 10), 1.0, [1]),
        lambda: ReleaseChannel.staircase_as_published(_cells([3, 1]), 1.0, [0, 1]),
        "4 places in cells of 3 and 1, 3 rings",
        1.0,
    ),
    Claim(
        "RS+FD, direct response",
        "Arcolezi et al. 2021, Section 3",
        "4 attributes of 2, 3, 5 and 20 values",
        1.0,
        lambda: FakeAttributes.as_published(_records(2, 3, 5, 20), 1.0),
        lambda: FakeAttributes.as_published(_records(2, 2), 1.0),
        "2 attributes of 2 values",
        1.0,
    ),
    Claim(
        "RS+FD, UE-z",
        "Arcolezi et al. 2021, Section 3",
        "4 attributes of 2, 3, 5 and 20 values",
        1.0,
        lambda: FakeAttributes.as_published(_records(2, 3, 5, 20), 1.0, Unary),
        lambda: FakeAttributes.as_published(_records(2, 2), 1.0, Unary),
        "2 attributes of 2 values",
        1.0,
    ),
    Claim(
        "RS+FD, UE-r",
        "Arcolezi et al. 2021, Section 3",
        "4 attributes of 2, 3, 5 and 20 values",
        1.0,
        lambda: FakeAttributes.as_published(_records(2, 3, 5, 20), 1.0, Unary, random_fakes=True),
        lambda: FakeAttributes.as_published(_records(2, 2), 1.0, Unary, random_fakes=True),
        "2 attributes of 2 values",
        1.0,
    ),
    Claim(
        "L-GRR, one report",
        "Arcolezi et al. 2022; LOLOHA 2023",
        "20 values, epsilon 2 for all reports ever",
        1.0,
        lambda: Memoized.direct_as_published(Categories(range(20)), 2.0, 1.0),
        lambda: Memoized.direct_as_published(Categories(range(3)), 2.0, 1.0),
        "3 values",
        1.0,
    ),
    Claim(
        "LPP-ddagger",
        "Ma, Wang 2021, Lemma 2",
        "one key, budgets 0.1 and 2 for it and its value",
        KeySampling.as_published(KeyValue(["key"], -1, 1, 1), 0.1, 2.0).epsilon,
        lambda: KeySampling.as_published(KeyValue(["key"], -1, 1, 1), 0.1, 2.0),
    ),
    Claim(
        "RR3-dagger, feasible region",
        "Ma, Wang 2021",
        "p1 = 2/5, p2 = 7/10",
        1.0,
        lambda: ThreeState.dagger_as_published(Fraction(2, 5), Fraction(7, 10), 1.0),
    ),
]


def _records(*sizes: int) -> Vectors:
    return Vectors([Categories(range(size)) for size in sizes])


def _cells(sizes: list[int]) -> LossMatrix:
    """Places in cells of these sizes: at distance 0 from themselves, 1 from others of their cell, and 2 from all others."""
    cell = np.repeat(np.arange(len(sizes)), sizes)
    return LossMatrix(np.where(np.eye(len(cell)), 0.0, np.where(cell[:, None] == cell[None, :], 1.0, 2.0)))


def checked_claims(claims: Iterable[Claim] | None = None) -> list[Checked]:
    """All claims of this system, checked."""
    return [claim.check() for claim in (CLAIMS if claims is None else claims)]


def claims_table(checked: Iterable[Checked]) -> list[str]:
    """The claims as a table of the documentation, one line each."""
    lines = ["| mechanism | claim | size | claimed | true | | smallest counterexample |", "|---|---|---|--:|--:|---|---|"]
    for each in checked:
        claim = each.claim
        cells = (claim.name, claim.paper, claim.size, f"{claim.claimed:.4g}", f"{each.true:.4g}", each.verdict, each.example)
        lines.append("| " + " | ".join(cells) + " |")
    return lines


@click.command("claims", short_help="What papers claim, compared with the exact loss.")
@options.json_flag
def claims(as_json: bool) -> None:
    """Compare the privacy loss that papers claim with the exact loss.

    Mechanisms are certified as they were published. The exact epsilon is shown beside the one that the paper states, with
    the smallest case in which they differ.

    \b
    deniable claims
    """
    from deniable.cli import panel  # loads rich, which --help does not need

    with panel.waiting("certifying mechanisms as published"):
        checked = checked_claims()
    if as_json:
        for each in checked:
            click.echo(json.dumps(_record(each)))
        return
    table = panel.table(["mechanism", "claim"], ["claimed", "true"], [""])
    styles = {"false": "bold red", "loose": "yellow", "holds": "green"}
    for each in checked:
        claim = each.claim
        table.add_row(
            claim.name,
            f"{claim.paper}, {claim.size}",
            f"{claim.claimed:.4g}",
            f"{each.true:.4g}",
            each.verdict,
            style=styles[each.verdict],
        )
    console = panel.console()
    console.print(table)
    console.print("Smallest counterexamples, epsilon for one answer:", markup=False)
    for each in checked:
        console.print(f"  {each.claim.name}: {each.example}", markup=False)


def _record(each: Checked) -> dict[str, object]:
    """The claim as plain data; an unbounded epsilon is null."""
    claim, shown = each.claim, each.counterexample
    return {
        "name": claim.name,
        "paper": claim.paper,
        "size": claim.size,
        "claimed": claim.claimed,
        "true": _finite(each.true),
        "verdict": each.verdict,
        "proof": each.found.proof,
        "counterexample": {
            "size": each.smallest_size,
            "claimed": each.smallest_claimed,
            "true": _finite(shown.epsilon),
            "worst_pair": None if shown.worst_pair is None else list(shown.worst_pair),
            "worst_report": shown.worst_report,
            "mechanism": None if shown.mechanism is None else shown.mechanism.spec(),
        },
    }


def _finite(epsilon: float) -> float | None:
    return epsilon if math.isfinite(epsilon) else None
