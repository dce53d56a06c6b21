"""Triangles among friends as a survey: three rounds in which the same people report, each randomized on their own device.

Round 1 reports how many friends somebody has, round 2 a compressed list of them, round 3 how many of their pairs of friends
know each other, counted on what everybody reported in round 2. What a round publishes is part of the mechanism of the next.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Bools, Ints
from deniable.core import (
    Coins,
    Columns,
    Drawn,
    Estimate,
    Layout,
    Mechanism,
    Number,
    PrivacyLoss,
    Tally,
    checked_coins,
    odds_below,
)
from deniable.core.variable import VariableLayout
from deniable.domains.members import Friendships, Members
from deniable.errors import InvalidParameter, InvalidReport, OutsideDomain
from deniable.graphs.evidence import Evidence, looked_at
from deniable.graphs.honest import HonestCount
from deniable.graphs.hubs import Download
from deniable.graphs.ownership import Circle
from deniable.graphs.plan import DEGREES, Plan, Tier, planned
from deniable.graphs.standing import ABSENT, ALONE, Answers, Standing, gathered, plain_answers, shuffled
from deniable.graphs.triangle_survey import noisy_counts
from deniable.mechanisms.sparse.index_law import checked_alpha
from deniable.mechanisms.sparse.noisy_count import RARE, NoisyCount
from deniable.privacy.certificate import Certificate
from deniable.privacy.proofs import proves

ROUNDS = 3
WHOLE = 64  # counts are reported in whole 1/64
MIDDLE = 1 << 47  # what stands for a count of none; those beyond are cut
ROOM = 1e-9  # the share of the budget that is left for rounding


@dataclass(frozen=True)
class Friends(Mechanism[Mapping[str, object], Friendships]):
    """One round of the survey. The first has neither `degrees` nor `lists`, the second no `lists`.

    `degrees` are the noisy numbers of friends that round 1 reported, `shares` how the rest of the budget is divided, and
    `lists` everybody's answers in round 2: packed, as text. The loss is that of all rounds together, for one friendship. It
    is spent where it is used: on the number and the list of the one of the two people who answers for the pair, and on the
    count of the one who comes later in the order.
    """

    domain: Members
    epsilon: float
    alpha: float = 1.5
    degrees: str = ""
    shares: tuple[float, ...] = ()
    lists: str = ""
    wire = "friends-1"
    question = "graphs"
    batch = 1 << 20

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.domain, Members):
            raise InvalidParameter("A survey about friends needs Members, for example Members(1000).")
        self._fix(alpha=checked_alpha(self.alpha))
        _ = self.noisy_count  # refuses budgets that do not suffice
        if bool(self.degrees) != bool(self.shares) or (self.lists and not self.degrees):
            raise InvalidParameter("Each round needs what earlier rounds published: degrees and shares, then lists.")
        if self.shares:
            self._fix(shares=tuple(float(each) for each in self.shares))
            if _spent(self.plan) > Fraction(self.epsilon):
                raise InvalidParameter("The rounds together would spend more than epsilon on a friendship.")

    @property
    def round(self) -> int:
        """Which round this is, from 1."""
        return 1 + bool(self.degrees) + bool(self.lists)

    @property
    def rounds_fingerprint(self) -> str:
        """What later rounds must have in common with this one, so that their costs add up as they say."""
        return f"{self.degrees} {self.shares}"

    @cached_property
    def noisy_count(self) -> NoisyCount:
        """The noise on the number of friends."""
        return NoisyCount(DEGREES * self.epsilon)

    @cached_property
    def position(self) -> Ints:
        """The place of each member in the circle."""
        return shuffled(self.domain.size, f"{self.domain.size} {' '.join(self.domain.names)}")

    @property
    def circle(self) -> Circle:
        """Who answers for which pair."""
        return Circle(self.domain.size)

    @cached_property
    def standing(self) -> Standing:
        """What round 1 published."""
        return Standing.of(self.degrees, self.domain.size)

    @cached_property
    def plan(self) -> Plan:
        """How the budget is divided."""
        if len(self.shares) != 7 or not all(math.isfinite(each) and each >= 0 for each in self.shares):
            raise InvalidParameter("The shares of a round are seven numbers: hubs, and three for each kind of pair.")
        hubs, tiers = int(self.shares[0]), (Tier(*self.shares[1:4]), Tier(*self.shares[4:]))
        if hubs != self.shares[0] or hubs > self.standing.present:
            raise InvalidParameter("There are at most as many hubs as members who reported.")
        return Plan(self.epsilon, self.noisy_count.epsilon, self.alpha, hubs, *tiers)

    @cached_property
    def _answers(self) -> Answers:
        return Answers(self.standing, self.plan)

    @cached_property
    def _kept(self) -> dict[bool, Download]:
        return {}

    def download(self, people: int) -> Download:
        """Everybody's answers, for so many people who count with them."""
        few = people <= ALONE
        if few not in self._kept:
            self._kept[few] = self._answers.download(self.lists, people)
        return self._kept[few]

    def code_terms(self) -> Mapping[str, object]:
        """The chunks and the code of lists, which are worked out in floating-point numbers: a browser receives them.

        ceil((noisy + margin) / load) chunks, at least `least`; `weights` are those of the arithmetic code.
        """
        if self.round == 1:
            return {}
        lists, noise = self.plan.lists, self.noisy_count
        least = math.ceil(lists.coordinate.epsilon / noise.epsilon)
        return {"least": least, "load": lists.load, "margin": round(2 / noise.epsilon), "weights": list(lists.weights)}

    # Reports

    @cached_property
    def _margin(self) -> int:
        """Noise beyond it has probability e^-45, and is cut."""
        return math.ceil(RARE / math.log(self.noisy_count.odds))

    @cached_property
    def layout(self) -> Layout:
        size = self.domain.size
        if self.round == 2:
            return VariableLayout.of(64 + (self.plan.hubs + 7) // 8 + 16 * int(self._answers.lists.chunks.max()))
        below = size + 2 * self._margin if self.round == 1 else 2 * MIDDLE
        return Layout((Number("member", size), Number("number", below)))

    @property
    def traced(self) -> bool:
        """No: how long the encoder takes depends on what comes up, so that its outcomes cannot be listed."""
        return False

    def randomize(self, truth: Friendships, coins: Coins) -> Drawn:
        me, owner = self.position[truth.me], np.repeat(np.arange(len(truth)), np.diff(truth.offsets))
        other = self.position[truth.others]
        if self.round > 1:
            if self.standing.absent[me].any():
                raise OutsideDomain("This member did not report in the first round and cannot take part in later ones.")
            known = ~self.standing.absent[other]
            owner, other = owner[known], other[known]
        if self.round == 3:
            return {"member": truth.me, "number": self._counts(me, owner, other, coins)}
        owned = self.circle.owners(me[owner], other) == me[owner]
        if self.round == 1:
            noisy = np.bincount(owner[owned], minlength=len(me)) + self.noisy_count.noise(len(me), coins)
            return {"member": truth.me, "number": np.clip(noisy + self._margin, 0, self.layout.fields[1].below - 1)}  # type: ignore[union-attr]
        return {"key": truth.me.astype(np.uint64), "message": self._messages(me, owner, other, owned, coins)}

    def _messages(self, me: Ints, owner: Ints, other: Ints, owned: Bools, coins: Coins) -> Any:
        rank, hubs, lists = self.standing.rank, self.plan.hubs, self._answers.lists
        between = (rank[me[owner]] < hubs) & (rank[other] < hubs)
        place = self.circle.places(me[owner], other)
        listed = np.flatnonzero(owned & ~between)
        listed = listed[np.lexsort((place[listed], owner[listed]))]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(owner[listed], minlength=len(me)))])
        labels = lists.labels(me, offsets, place[listed], coins)
        edges, out = np.concatenate([[0], np.cumsum(lists.chunks[me])]), np.full(len(me), b"", object)
        for number, person in enumerate(me.tolist()):
            above = rank[other[between & (owner == number)]] if rank[person] < hubs else np.empty(0, np.int64)
            plain = plain_answers(self.plan, int(rank[person]), above[above < rank[person]], coins)
            out[number] = self._answers.write(person, plain, labels[edges[number] : edges[number + 1]])
        return out

    def _counts(self, me: Ints, owner: Ints, other: Ints, coins: Coins) -> Ints:
        places, at = self.standing.rank[me], self.standing.rank[other]
        order = np.lexsort((at, owner))
        lists = np.split(at[order], np.cumsum(np.bincount(owner, minlength=len(me)))[:-1])
        above = [each[each < place] for each, place in zip(lists, places.tolist(), strict=True)]
        counts = noisy_counts(places, above, self.download(len(me)), self.plan, coins)
        return np.clip(np.rint(counts * WHOLE), 1 - MIDDLE, MIDDLE - 1).astype(np.int64) + MIDDLE

    @property
    def cells(self) -> int:
        """How often each member reported; then their numbers, or in round 2 all labels and the plain answers of hubs."""
        if self.round != 2:
            return 2 * self.domain.size
        return self.domain.size + int(self._answers.lists.base[-1] + self._answers.hub_bases()[-1])

    def votes(self, columns: Columns) -> Ints:
        self.layout.check(columns)
        member = columns["key" if self.round == 2 else "member"]
        if len(member) and int(member.max()) >= self.domain.size:
            raise InvalidReport("A report is refused: its sender is not a member of the list.")
        out, size = np.zeros(self.cells, np.int64), self.domain.size
        np.add.at(out, member.astype(np.int64), 1)
        if self.round != 2:
            np.add.at(out, size + member.astype(np.int64), columns["number"].astype(np.int64))
            return out
        lists, bases, rank = self._answers.lists, self._answers.hub_bases(), self.standing.rank
        for who, message in zip(member.tolist(), columns["message"].tolist(), strict=True):
            person = int(self.position[int(who)])
            plain, labels = self._answers.read(person, message)
            out[size + lists.base[person] : size + lists.base[person + 1]] += labels
            if len(plain):
                start = size + int(lists.base[-1] + bases[rank[person]])
                out[start : start + len(plain)] += plain
        return out

    def check_tally(self, tally: Tally) -> None:
        """Refuse a tally of another round, of nobody, or of another shape; numbers in it may be large."""
        self.check_owner(tally)
        if tally.counts.shape != (self.cells,) or tally.counts.min() < 0:
            raise InvalidReport(f"A tally of this round has {self.cells} counts, none of them below 0.")

    # From one round to the next

    def _once(self, tally: Tally) -> Bools:
        """Who reported exactly once, by place in the circle; what was sent twice in a name is left out."""
        self.check_tally(tally)
        out = np.empty(self.domain.size, np.bool_)
        out[self.position] = tally.counts[: self.domain.size] == 1
        return out

    def _numbers(self, tally: Tally) -> Ints:
        out = np.empty(self.domain.size, np.int64)
        out[self.position] = tally.counts[self.domain.size :]
        return out

    def next(self, tally: Tally, coins: Coins | None = None) -> "Friends":
        """The round after this one, from its tally."""
        once, coins = self._once(tally), checked_coins(coins)
        if self.round == 1:
            if once.sum() < 2:
                raise InvalidParameter("The next round needs the numbers of at least two members.")
            noisy = np.where(once, self._numbers(tally) - self._margin, ABSENT)
            text = Standing.text(noisy)
            outlook = Standing.of(text, self.domain.size).outlook(self.noisy_count)
            plan = planned(outlook, (1 - ROOM) * self.epsilon, self.alpha, self.noisy_count.epsilon)
            tiers = ((each.response, each.count, each.tail) for each in (plan.between, plan.other))
            return replace(self, degrees=text, shares=(float(plan.hubs), *next(tiers), *next(tiers)))
        if self.round == 2:
            return replace(self, lists=gathered(self._answers, tally.counts[self.domain.size :], once, coins))
        raise InvalidParameter("There is no round after the third.")

    # Results

    def edges(self, tally: Tally) -> HonestCount:
        """The number of friendships among those who reported in round 1, from its tally."""
        once = self._once(tally)
        people = int(once.sum())
        raw = float((self._numbers(tally) - self._margin)[once].sum())
        return HonestCount(raw, self.noisy_count.deviation * math.sqrt(people), math.comb(people, 2), "friendships")

    def triangles(self, tally: Tally) -> HonestCount:
        """The number of triangles whose last person reported in round 3, from its tally."""
        once = self._once(tally)
        present = self.standing.present
        counts = np.where(once, (self._numbers(tally) - MIDDLE) / WHOLE, np.nan)[np.argsort(self.standing.rank)][:present]
        rows = self.download(1).rows(np.arange(looked_at(present))).view(np.uint8)
        answers = np.unpackbits(rows, axis=1, count=present, bitorder="little").astype(np.bool_)
        return Evidence(counts, answers).triangles(self.plan, self.standing.outlook(self.noisy_count))

    def estimate(self, tally: Tally) -> Estimate:
        """What this round alone says: the number of friendships, or of triangles; lists are for the round after."""
        if self.round == 2:
            raise InvalidParameter("Lists are counted in the next round: mechanism.next(tally).")
        found = self.edges(tally) if self.round == 1 else self.triangles(tally)
        return Estimate([found.what], np.array([found.raw]), np.array([found.standard_error**2]), tally.n, measure="count")

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        """The number of friendships among n people: its error depends on nothing else."""
        count = np.asarray(truth, np.float64)
        if count.shape != (1,) or n < 1:
            raise InvalidParameter("A prediction needs the number of friendships, and at least one person.")
        return Estimate(["friendships"], count, np.array([self.noisy_count.deviation**2 * n]), n, measure="count")

    def loss(self) -> PrivacyLoss:
        protects = "whether you know any one person, all rounds together; k people, k times epsilon"
        return PrivacyLoss(odds_below(self.epsilon), "theorem", protects)


def _spent(plan: Plan) -> Fraction:
    """What all rounds cost one friendship, in exact numbers."""
    tiers = (Fraction(tier.response) + Fraction(tier.count) for tier in (plan.between, plan.other))
    return Fraction(plan.degrees) + max(tiers)


@proves(Friends, "theorem")
def composed(mechanism: Friends, limit: int) -> Certificate:
    """That the rounds add up to the budget, for a friendship between hubs and for any other.

    That each round costs its share is a theorem each: geometric noise (round 1), plain and compressed response (round 2),
    and noise of smooth sensitivity (round 3), the latter two for exact arithmetic.
    """
    if mechanism.round > 1 and _spent(mechanism.plan) > Fraction(mechanism.epsilon):
        raise InvalidParameter("The rounds together would spend more than epsilon on a friendship.")
    first, second = ({"me": 0, "knows": known} for known in ([], [1]))
    return Certificate(mechanism, mechanism.loss(), (first, second), "all reports of all rounds together", 0, 2)
