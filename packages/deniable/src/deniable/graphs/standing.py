"""What everybody knows after each round of a survey about friends: an order of the members, then their answers."""

import base64
import binascii
import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.arrays import Bools, Bytes, Ints, Words
from deniable.core import Coins, PackedBits
from deniable.errors import InvalidParameter, InvalidReport
from deniable.graphs.hubs import Download, put_in_order, put_into
from deniable.graphs.lists import CircleLists
from deniable.graphs.outlook import Outlook
from deniable.graphs.ownership import Circle
from deniable.graphs.plan import Plan
from deniable.graphs.response import MOST_VERTICES, NoisyGraph
from deniable.graphs.triangle_survey import ranks
from deniable.mechanisms.sparse import codes
from deniable.mechanisms.sparse.label_code import LabelCode
from deniable.mechanisms.sparse.noisy_count import NoisyCount

ABSENT = -(1 << 31)  # in place of the noisy number of somebody who did not report one
ALONE = 64  # people at a time for whom single rows of the download are worked out; for more, the whole matrix is


def shuffled(size: int, seed: str) -> Ints:
    """A public random order of so many members: the place of each."""
    return np.argsort(np.argsort(public_words(size, f"order {seed}"), kind="stable"), kind="stable")


def public_words(size: int, seed: str) -> Words:
    """So many numbers of 62 bits that everybody can work out from a text."""
    drawn = hashlib.shake_256(f"deniable friends {seed}".encode()).digest(8 * size)
    return np.frombuffer(drawn, "<u8") >> np.uint64(2)


@dataclass(frozen=True, eq=False)
class Standing:
    """The noisy number of neighbours of every member, by place in the circle; `ABSENT` for who did not report one."""

    noisy: Ints
    seed: str  # what public keys follow from

    @classmethod
    def of(cls, text: str, size: int) -> "Standing":
        """What `text` wrote."""
        data = unpacked(text, 4 * size)
        if len(data) != 4 * size:
            raise InvalidParameter("The published numbers of friends are not one for each member.")
        return cls(np.frombuffer(data, "<i4").astype(np.int64), hashlib.sha256(data).hexdigest())

    @staticmethod
    def text(noisy: Ints) -> str:
        """Noisy numbers as text: compressed, in base 64."""
        return packed(noisy.astype("<i4").tobytes())

    @cached_property
    def absent(self) -> Bools:
        """Who did not report."""
        return self.noisy == ABSENT

    @property
    def present(self) -> int:
        """How many did."""
        return int((~self.absent).sum())

    @cached_property
    def rank(self) -> Ints:
        """The place of each in the order, the largest noisy number first and those who are absent last."""
        return ranks(self.noisy)

    def outlook(self, noisy_count: NoisyCount) -> Outlook:
        """What the noisy numbers say about the graph."""
        return Outlook(np.sort(self.noisy[~self.absent])[::-1], noisy_count)

    def lists(self, plan: Plan) -> CircleLists:
        """How lists are reported."""
        size = len(self.noisy)
        noisy, keys = np.where(self.absent, 0, self.noisy), public_words(size, f"keys {self.seed}")
        silent = self.absent | (plan.hubs >= self.present)  # if all are hubs, all pairs are answered in plain
        return CircleLists(Circle(size), plan.lists, noisy, keys, silent)


@dataclass(frozen=True, eq=False)
class Answers:
    """How the answers of the second round are written: each member's labels, and of a hub those about hubs in plain."""

    standing: Standing
    plan: Plan

    @cached_property
    def lists(self) -> CircleLists:
        """How lists are reported."""
        return self.standing.lists(self.plan)

    def plain_bytes(self, person: int) -> int:
        """How many bytes the plain answers of a person take: a bit for each hub before them, if they are a hub."""
        rank = int(self.standing.rank[person])
        return (rank + 7) // 8 if rank < self.plan.hubs else 0

    def _code(self, chunks: int) -> LabelCode:
        weights = self.plan.lists.weights
        return LabelCode(chunks, weights, codes.value_weights(self.plan.lists.coordinate), chunks + 1, chunks)

    def write(self, person: int, plain: bytes, labels: Ints) -> bytes:
        """The message of one person."""
        return plain + (self._code(len(labels)).write(labels, np.array([len(labels)]))[0] if len(labels) else b"")

    def read(self, person: int, message: bytes) -> tuple[Bytes, Ints]:
        """The plain answers and the labels in a message; refuses one that no device writes."""
        length, chunks = self.plain_bytes(person), int(self.lists.chunks[person])
        plain = np.frombuffer(message[:length], np.uint8)
        rank = int(self.standing.rank[person])
        if self.standing.absent[person] or len(plain) < length or (length and rank % 8 and plain[-1] >> rank % 8):
            raise InvalidReport("A report is refused: no device in this round sends it, so it is damaged or made up.")
        if not chunks:
            return plain, np.empty(0, np.int64)
        return plain, self._code(chunks).read([message[length:]])[1]

    def hub_bases(self) -> Ints:
        """Where the plain answers of each hub, in order, begin among those of all; last, how many bytes there are."""
        return np.concatenate([[0], np.cumsum((np.arange(self.plan.hubs) + 7) // 8)])

    def text(self, labels: Ints, plain: Bytes) -> str:
        """Everybody's answers as text: what the devices of the last round download."""
        return packed(plain.tobytes() + self.write(-1, b"", labels))

    def download(self, text: str, people: int) -> Download:
        """The answers that `text` wrote, for so many people who count with them."""
        bases, total = self.hub_bases(), int(self.lists.base[-1])
        data = unpacked(text, int(bases[-1]) + self._code(max(total, 1)).most_bytes)
        if len(data) < bases[-1]:
            raise InvalidParameter("The published answers are incomplete.")
        labels = self._code(total).read([data[bases[-1] :]])[1] if total else np.empty(0, np.int64)
        hubs = self.plan.hubs
        rows = np.zeros((hubs, (hubs + 63) // 64 * 8), np.uint8)
        for rank in range(hubs):
            mine = np.frombuffer(data[bases[rank] : bases[rank + 1]], np.uint8)
            rows[rank, : len(mine)] = mine
        plain = NoisyGraph(self.plan.plain, PackedBits(rows, hubs), 0).both_ways.view(np.uint8)
        if people <= ALONE or len(self.standing.noisy) > MOST_VERTICES:
            return FewRows(np.empty((0, 0), np.uint64), hubs, self.plan.plain, self.plan.lists.coordinate,
                           8 * len(data), self, labels, plain)  # fmt: skip
        size = len(self.standing.noisy)
        matrix = np.zeros((size, (size + 63) // 64 * 8), np.uint8)
        everybody = np.flatnonzero(self.lists.chunks)
        put_in_order(matrix, self.lists.rows(everybody, labels), self.lists.circle, self.standing.rank)
        put_into(matrix, plain, hubs)
        return Download(matrix.view(np.uint64), hubs, self.plan.plain, self.plan.lists.coordinate, 8 * len(data))


@dataclass(frozen=True, eq=False)
class FewRows(Download):
    """The same for one person, who needs the rows of their own neighbours only: they are drawn when they are asked for."""

    answers: Answers
    labels: Ints
    plain: Bytes

    def rows(self, places: Ints) -> Words:
        """The answers about the people at these places."""
        standing, lists = self.answers.standing, self.answers.lists
        size = len(standing.noisy)
        out, person = np.zeros((len(places), (size + 63) // 64 * 8), np.uint8), np.argsort(standing.rank)
        for number, place in enumerate(places.tolist()):
            line, own = np.zeros(size, np.uint8), int(person[place])
            reach = int(lists.sizes[own])
            ahead = (own + 1 + np.arange(reach)) % size
            line[ahead] = np.unpackbits(lists.row(own, self.labels), count=reach, bitorder="little")
            owners, said = lists.about(own, self.labels)
            line[owners] = said
            ordered = line[person]
            if place < self.hubs:
                ordered[: self.hubs] = np.unpackbits(self.plain[place], count=self.hubs, bitorder="little")
            filled = np.packbits(ordered, bitorder="little")
            out[number, : len(filled)] = filled
        return out.view(np.uint64)


def gathered(answers: Answers, tally: Ints, present: Bools, coins: Coins) -> str:
    """Everybody's answers from the tally of the second round; whose are missing get those of somebody with no friends.

    Label 1 is such an answer of a chunk, since draws are responses to an empty list.
    """
    lists, bases, plan = answers.lists, answers.hub_bases(), answers.plan
    total = int(lists.base[-1])
    labels, plain = tally[:total].copy(), tally[total:].astype(np.uint8)
    labels[np.repeat(~present, lists.chunks)] = 1
    person = np.argsort(answers.standing.rank)[: plan.hubs]
    for rank in np.flatnonzero(~present[person]).tolist():
        made = coins.toss_packed(plan.plain.q, 1, max(rank, 1)).bytes[0]
        plain[bases[rank] : bases[rank + 1]] = made[: (rank + 7) // 8]
    return answers.text(labels, plain)


def plain_answers(plan: Plan, rank: int, hubs_above: Sequence[int] | Ints, coins: Coins) -> bytes:
    """What a hub answers about the hubs before them in the order, of whom they know these."""
    if rank == 0 or rank >= plan.hubs:
        return b""
    truth = np.zeros(rank, np.uint8)
    truth[np.asarray(hubs_above, np.int64)] = 1
    lies = coins.toss_packed(plan.plain.q, 1, rank).bytes[0]
    return (np.packbits(truth, bitorder="little") ^ lies[: (rank + 7) // 8]).tobytes()


def packed(data: bytes) -> str:
    """Bytes as text: compressed, in base 64."""
    return base64.b64encode(zlib.compress(data, 9)).decode()


def unpacked(text: str, most: int) -> bytes:
    """The bytes that `packed` wrote, at most so many."""
    try:
        reader = zlib.decompressobj()
        data = reader.decompress(base64.b64decode(text, validate=True), most + 1)
        if len(data) > most or not reader.eof or reader.unused_data:
            raise ValueError
    except (ValueError, binascii.Error, zlib.error):
        raise InvalidParameter("The published data of this round is damaged. Download it again.") from None
    return data
