"""What secure coins leave out: the law of the reports stays the same, and how much is drawn tells nothing of the answers."""

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.arrays import Bools, Bytes
from deniable.core import PackedBits
from deniable.core.batches import FusedRun
from deniable.core.coins import WHOLE, StreamCoins
from deniable.core.fusing import plan
from deniable.core.program import Program
from deniable.core.running import compiled, followed, run
from deniable.core.sharing import shared
from deniable.core.sparing import spared, spared_run
from tests.core.test_batches import LAWS_OF_NUMBERS, columns
from tests.core.test_programs import random_codes
from tests.families import INSTANCES
from tests.law_reference import TooMany, chances, key


def steps(found: tuple[list[object], Sequence[tuple[Any, ...]]]) -> list[Any]:
    return [(place, operate) for place, operate, *_ in found[1]]


PROGRAMS = {name: each.law for name, each in INSTANCES.items() if each.traced}
SHARED = [name for name, program in PROGRAMS.items() if shared(program) is not program]
SPARED = [name for name, program in PROGRAMS.items() if steps(spared(program)) != steps(compiled(program))]
MANY = 40_000


def one_code(program: Program) -> list[Any]:
    return [code[0].tolist() for code in random_codes(program, 1)]


def test_families_are_among_those_that_are_shared_and_spared() -> None:
    assert {"open-hashing", "open-wheel", "keys-unary", "mean-three-zeroless"} <= set(SHARED)
    assert {"open-subset", "open-weaker-base", "signs-one", "signs-two", "signs-four"} <= set(SPARED)
    assert not {"direct", "unary"} & {*SHARED, *SPARED}


def test_a_shared_draw_leaves_every_law_as_it_is() -> None:
    """The exact chances of all reports, of all families and of random laws."""
    compared = 0
    for program in [*(PROGRAMS[name] for name in SHARED), *LAWS_OF_NUMBERS]:
        other = shared(program)
        if other is program:
            continue
        assert len(other.nodes) < len(program.nodes)
        codes = one_code(program)
        try:
            law = chances(program, codes, 1 << 14)
        except TooMany:
            continue
        assert chances(other, codes, 1 << 14) == law
        compared += 1
    assert compared >= 15


@pytest.mark.parametrize(
    ("nodes", "report"),
    [
        # both are looked at: one of them in the report itself
        ('["code",[],"a",0,1],["below",[],3],["below",[],3],["where",[0,1,2]]', '[["x",3],["y",2]]'),
        # in the same branch
        ('["code",[],"a",0,1],["below",[],3],["below",[],3],["add",[1,2]],["const",[],0],["where",[0,3,4]]', '[["x",5]]'),
        # the condition is made of one of them
        ('["below",[],3],["below",[],3],["const",[],1],["lt",[0,2]],["where",[3,0,1]]', '[["x",4]]'),
        # they differ
        ('["code",[],"a",0,1],["below",[],3],["below",[],4],["where",[0,1,2]]', '[["x",3]]'),
    ],
)
def test_draws_that_are_not_alike_or_not_apart_stay_two(nodes: str, report: str) -> None:
    program = Program.from_json(f'{{"nodes":[{nodes}],"report":{report}}}')
    assert shared(program) is program


class Same(dn.SeededCoins):
    """Coins whose subsets are the same for every answer, so that it does not matter for which they are drawn."""

    def subset(self, n: int, k: int, one_less: Bools) -> PackedBits:
        members = np.zeros((len(one_less), n), np.bool_)
        members[:, 1:k] = True
        members[:, 0] = ~one_less
        return PackedBits.pack(members)


@pytest.mark.parametrize("name", ["open-subset", "open-subset-six", "open-weaker-base"])
def test_rows_that_are_drawn_for_some_answers_stand_where_they_belong(name: str) -> None:
    program = PROGRAMS[name]
    codes = random_codes(program, 500)
    ours = followed(program, spared(program), codes, Same(3), 500)
    expected = run(program, codes, Same(3), 500)
    for field, column in expected.items():
        np.testing.assert_array_equal(ours[field], column)


def observed(program: Program, fields: Any, size: int) -> Counter[str]:
    """How often each report comes, written as the reference writes it."""
    written = []
    for name, node in program.report:
        field, kind = fields[name], program.types[node]
        if kind.row:
            bits = PackedBits(field, kind.width or 0).unpack()
            written.append([tuple(map(bool, row)) for row in bits.tolist()])
        else:
            written.append(np.broadcast_to(field, size).tolist())
    return Counter(key(report) for report in zip(*written, strict=True))


def check_law(program: Program, codes: list[Any], counts: Counter[str], size: int) -> None:
    """Chi-squared: six and a half standard deviations of its normal approximation, and some more for its longer tail."""
    law = chances(program, codes)
    assert set(counts) <= set(law)
    likely = {report: chance for report, chance in law.items() if chance * size > 20}
    rare = size - sum(counts[report] for report in likely), float(1 - sum(likely.values(), Fraction(0))) * size
    pairs = [(counts[report], float(chance * size)) for report, chance in likely.items()]
    pairs += [rare] if rare[1] > 1e-9 else []
    statistic = sum((seen - expected) ** 2 / max(expected, 1.0) for seen, expected in pairs)
    freedom = len(pairs) - 1
    assert statistic < freedom + 6.5 * math.sqrt(2 * freedom) + 42


@pytest.mark.parametrize("name", SPARED)
def test_reports_of_spared_laws_have_their_exact_chances(name: str) -> None:
    program = PROGRAMS[name]
    codes = one_code(program)
    batch = [np.repeat(np.asarray(code)[None], MANY, axis=0) for code in codes]
    fields = followed(program, spared(program), batch, dn.SeededCoins(11), MANY)
    check_law(program, codes, observed(program, fields, MANY), MANY)


@pytest.mark.parametrize("name", [name for name in SHARED if name.startswith(("open", "states", "mean"))])
def test_reports_of_shared_laws_from_short_words_have_their_exact_chances(name: str) -> None:
    program = PROGRAMS[name]
    runs = shared(program)
    made = plan(runs, columns(runs), short=True)
    assert made is not None and (made.shorts > 0) == (not name.startswith("states"))
    codes = one_code(program)
    batch = [np.repeat(np.asarray(code)[None], MANY, axis=0) for code in codes]
    fields = FusedRun(runs, made, MANY).run(batch, dn.SeededCoins(12), MANY)
    check_law(program, codes, observed(program, fields, MANY), MANY)


class Listed(StreamCoins):
    """A stream of these bytes, then zeros, that remembers how many were drawn."""

    def __init__(self, first: bytes = b"") -> None:
        self._left, self.drawn = first, 0

    def draw(self, size: int) -> Bytes:
        given, self._left = self._left[:size], self._left[size:]
        self.drawn += size
        return np.frombuffer(given.ljust(size, b"\0"), np.uint8).copy()


ROUNDED = Program.from_json(
    '{"nodes":[["code",[],"below",0,15,1],["code",[],"up",0,"9007199254740992",1],["toss_each",[1],"9007199254740992"],'
    '["add",[0,2]],["const",[],0],["at",[3,4]],["toss_each",[5],16],["pack",[6],1]],"report":[["end",7]]}'
)


@pytest.mark.parametrize("below", [0, 1, 7, 15])
def test_a_number_is_rounded_with_exactly_its_chance(below: int) -> None:
    """Every one of the 2^16 words once: `below` of 16 parts decide for the upper end, one leaves it to a coin of 2^53."""
    words, coin = np.arange(1 << 16, dtype="<u2"), np.full(1 << 12, 3 << 11, "<u8")  # which is 3 of 2^53
    for up, wins in ((0, False), (3, False), (4, True), (WHOLE, True)):
        coins = Listed(words.tobytes() + coin.tobytes())
        codes = [np.full((1 << 16, 1), each) for each in (below, up)]
        ends = followed(ROUNDED, spared(ROUNDED), codes, coins, 1 << 16)["end"]
        assert int(np.asarray(ends).sum()) == (below + wins) << 12
        assert coins.drawn == (1 << 17) + (8 << 12)  # two bytes each, and a coin for one of 16


def test_numbers_that_two_bytes_do_not_decide_run_as_ever() -> None:
    text = ROUNDED.to_json()
    for whole, runs_as_ever in ((16, False), (1 << 16, False), (24, True), (1 << 17, True)):
        other = Program.from_json(text.replace('["toss_each",[5],16]', f'["toss_each",[5],{whole}]'))
        assert (dict(steps(spared(other)))[7] is dict(steps(compiled(other)))[7]) == runs_as_ever
    used_twice = Program.from_json(text.replace('[["end",7]]', '[["end",7],["toss",6]]'))
    assert dict(steps(spared(used_twice)))[7] is dict(steps(compiled(used_twice)))[7]


def test_places_that_are_the_same_have_the_same_coin() -> None:
    """Of two numbers, halfway between two points, one that is drawn and one that is drawn again, with the first of them."""
    program = Program.from_json(
        '{"nodes":[["code",[],"below",0,15,2],["code",[],"up",0,"9007199254740992",2],["toss_each",[1],"9007199254740992"],'
        '["add",[0,2]],["below",[],2],["below",[],2],["const",[],0],["at",[3,4]],["at",[3,5]],["at",[3,6]]],'
        '"report":[["i",4],["j",5],["one",7],["two",8],["first",9]]}'
    )
    assert steps(spared(program)) != steps(compiled(program))
    codes = [[3, 9], [WHOLE // 2, WHOLE // 4]]
    batch = [np.repeat(np.array([code]), MANY, axis=0) for code in codes]
    fields = followed(program, spared(program), batch, dn.SeededCoins(7), MANY)
    i, j, one, two, first = (np.asarray(fields[name]) for name in ("i", "j", "one", "two", "first"))
    assert (one == two)[i == j].all() and (one == first)[i == 0].all() and (two == first)[j == 0].all()
    check_law(program, codes, observed(program, fields, MANY), MANY)


@pytest.mark.parametrize("name", ["open-subset", "open-subset-six", "open-weaker-base"])
def test_as_many_coins_are_tossed_whatever_the_answers_are(name: str) -> None:
    program, mechanism, seen = PROGRAMS[name], INSTANCES[name], set()
    for index in range(mechanism.domain.size):
        coins = Listed(np.random.default_rng(1).bytes(1 << 14))
        codes = mechanism.encoded(mechanism.prepared([mechanism.domain.answer(index)] * 50))
        followed(program, spared(program), codes, coins, 50)
        seen.add(coins.drawn)
    assert len(seen) == 1


def test_one_answer_and_coins_that_can_be_repeated_run_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    from deniable.core import sparing

    mechanism, asked = INSTANCES["open-subset"], list[int]()

    def noted(program: Program, codes: Any, coins: dn.Coins, size: int) -> Any:
        asked.append(size)
        return spared_run(program, codes, coins, size)

    monkeypatch.setattr(sparing, "spared_run", noted)
    answer = mechanism.domain.answer(0)
    for coins, size, seen in ((dn.SecureCoins(), 1, []), (dn.SeededCoins(1), 50, []), (dn.SecureCoins(), 50, [50])):
        mechanism.perturb([answer] * size, coins)
        assert asked == seen
