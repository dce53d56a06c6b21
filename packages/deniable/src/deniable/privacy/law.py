"""The exact law of the code: how likely each report is under each value, with every coin followed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.arrays import Bytes, Ints
from deniable.core import Answers, Columns, Mechanism, PackedBits, Reports, distinct_rows
from deniable.core.every import EveryCoin, FollowedCoins
from deniable.core.operations import DRAWS
from deniable.core.running import checked_code, compiled, operation
from deniable.errors import NotCertifiable
from deniable.privacy.worlds import TOO_MANY, Worlds, draw, outcome_count, sums, tiled

LIMIT = 1 << 21  # combinations of outcomes that are followed at most
_NO_COINS: Any = None  # for operations that draw nothing
SEEDS = (64, 16, 4, 2)  # public choices that stand for all of them where there are too many: as many as can be followed


@dataclass(frozen=True, eq=False)
class Law:
    """The reports that can occur, as rows of bytes, and the exact probability of each: `chances[chance[i]]` for row i."""

    reports: Bytes
    chance: Ints
    chances: list[Fraction]

    def __len__(self) -> int:
        return len(self.reports)

    def items(self) -> Iterator[tuple[bytes, Fraction]]:
        """Every report with its probability."""
        for row, chance in zip(self.reports, self.chance, strict=True):
            yield row.tobytes(), self.chances[int(chance)]


def law(mechanism: Mechanism, index: int, limit: int = LIMIT, coins: EveryCoin | None = None) -> Law:
    """The exact law of the reports on the value with this index: its program, with every outcome of every draw followed.

    With `coins`, and for what is no program, `perturb` runs on every outcome that these coins follow.

    >>> from deniable.domains import Categories
    >>> from deniable.mechanisms.shares.direct_response import DirectResponse
    >>> import math
    >>> dict(law(DirectResponse(Categories(["yes", "no"]), math.log(3)), 0).items())
    {b'\\x00': Fraction(3, 4), b'\\x01': Fraction(1, 4)}
    """
    if coins is None and mechanism.traced:
        return _followed(mechanism, index, limit)
    coins = coins or EveryCoin()
    if combinations(mechanism, index, coins) > limit:
        raise NotCertifiable(f"The law has {coins.combinations:.3g} combinations of coins; the limit is {limit}.")
    return seen(mechanism, index, coins, mechanism.layout.rows)


def outcomes(mechanism: Mechanism, index: int) -> int:
    """How many combinations of outcomes the draws have for one value, at most."""
    if not mechanism.traced:
        return combinations(mechanism, index, EveryCoin())
    program, codes, values = mechanism.law, iter(mechanism.encoded([mechanism.domain.answer(index)])), dict[int, Any]()
    total = 1
    for place, (node, kind) in enumerate(zip(program.nodes, program.types, strict=True)):
        if node.op in DRAWS:
            heads = values.get(node.args[0]) if node.op == "toss_each" else None
            if heads is not None:  # known before anything is drawn: what is certain is not tossed
                total *= 1 << int(np.count_nonzero((np.asarray(heads) != 0) & (np.asarray(heads) != node.params[0])))
            else:
                total *= outcome_count(node, kind)
            if total > TOO_MANY:
                raise NotCertifiable("The draws of this law have too many outcomes to follow each of them.")
            continue
        code = next(codes) if node.op == "code" else None
        if all(arg in values for arg in node.args):
            given = [values[arg] for arg in node.args]
            if node.op == "code":
                values[place] = code(*given) if callable(code) else code
            else:
                run = operation(node, [program.types[arg] for arg in node.args], False)
                values[place] = run(given, _NO_COINS, 1)
    return total


def _followed(mechanism: Mechanism, index: int, limit: int) -> Law:
    """The law of the program, whose codes are those of one answer."""
    total = outcomes(mechanism, index)
    if total > limit:
        raise NotCertifiable(f"The law has {total:.3g} combinations of coins; the limit is {limit}.")
    program, answer, found = mechanism.law, mechanism.domain.answer(index), Worlds()
    single, turn = mechanism.encoded([answer]), 0
    for place, (operate, args, dead) in enumerate(compiled(program)):
        node, kind = program.nodes[place], program.types[place]
        if operate is None:
            code = single[turn]
            if callable(code):
                encode: Any = mechanism.encoded([answer] * found.size)[turn]
                code = encode(*(found.values[arg] for arg in args))
            else:
                code = tiled(code, found.size)
            found.values[place] = checked_code(code, kind, found.size)
            turn += 1
        elif node.op in DRAWS:
            draw(found, place, node, kind)
        else:
            found.values[place] = operate([found.values[arg] for arg in args], _NO_COINS, found.size)
        for arg in dead:
            del found.values[arg]
    columns = {field.name: field.empty(found.size) for field in mechanism.layout.fields}
    for name, place in program.report:
        value = found.values[place]
        columns[name][:] = value.bytes if isinstance(value, PackedBits) else value
    return gathered(mechanism.layout.rows(columns), found.chance, found.chances)


def seen(mechanism: Mechanism, index: int, coins: FollowedCoins, view: Callable[[Columns], Bytes]) -> Law:
    """The exact law of what `view` shows of the reports on a value; the coins have learned which tosses the code makes."""
    rows, codes, chances = [], [], Chances()
    for reports, code, table in runs(mechanism, index, coins):
        rows.append(view(reports.columns))
        codes.append(chances.indices(table)[code])
    return gathered(np.concatenate(rows), np.concatenate(codes), chances.values)


def all_seen(
    mechanism: Mechanism, indices: Iterable[int], coins: FollowedCoins, view: Callable[[Columns], Bytes]
) -> tuple[list[Law], int]:
    """The laws of what `view` shows, for each of these values, and how many outcomes were followed."""
    laws, followed = [], 0
    for index in indices:
        followed += combinations(mechanism, index, coins)
        laws.append(seen(mechanism, index, coins, view))
    return laws, followed


def is_within(mechanism: Mechanism, indices: Sequence[int], coins: FollowedCoins, limit: int) -> bool:
    """Whether all combinations of these coins can be followed, for each of these values."""
    try:
        return all(combinations(mechanism, index, coins) <= limit for index in indices)
    except NotCertifiable:  # a coin has too many outcomes
        return False


def affordable(mechanism: Mechanism, indices: Sequence[int], limit: int, given: Sequence[int] = ()) -> EveryCoin:
    """Coins that follow all of the code's outcomes: with every public draw, else with some of them, or the `given` ones."""
    for coins in [EveryCoin(given=given)] if given else map(EveryCoin, (None, *SEEDS)):
        if is_within(mechanism, indices, coins, limit):
            return coins
    raise NotCertifiable("The law has too many outcomes to enumerate. Leave the proof out: the rules need no enumeration.")


def combinations(mechanism: Mechanism, index: int, coins: FollowedCoins) -> int:
    """How many runs these coins need for one value; the coins learn which tosses the code makes."""
    coins.forget()
    mechanism.perturb([mechanism.domain.answer(index)], coins)
    return coins.combinations


def runs(mechanism: Mechanism, index: int, coins: FollowedCoins) -> Iterator[tuple[Reports, Ints, list[Fraction]]]:
    """All combinations, some at a time: reports, and for each an index into a list of probabilities."""
    for start in range(0, coins.combinations, mechanism.batch):
        part = np.arange(start, min(start + mechanism.batch, coins.combinations))
        coins.follow(part)
        answer = mechanism.domain.answer(index)
        answers: Answers = [answer] * len(part)
        if isinstance(answer, int):
            answers = np.full(len(part), answer)
        elif isinstance(answer, tuple) and isinstance(answer[0], float):  # a vector
            answers = np.tile(np.array(answer), (len(part), 1))
        reports = mechanism.perturb(answers, coins)
        code, chances = coins.chances()
        for turn in (1, 2) if coins.spare is not None else ():
            coins.follow(part, turn)
            again = mechanism.perturb(answers, coins).columns
            if any(not np.array_equal(column, again[name]) for name, column in reports.columns.items()):
                raise NotCertifiable("Draws that the code said do not matter for this value changed its report.")
        yield reports, code, chances


class Chances:
    """A growing list of distinct probabilities."""

    def __init__(self) -> None:
        self.values: list[Fraction] = []
        self._places: dict[Fraction, int] = {}

    def indices(self, chances: list[Fraction]) -> Ints:
        """Where each of these stands in the list; new ones are appended."""
        for chance in chances:
            if self._places.setdefault(chance, len(self.values)) == len(self.values):
                self.values.append(chance)
        return np.array([self._places[chance] for chance in chances], np.int64)


def gathered(rows: Bytes, codes: Ints, chances: list[Fraction]) -> Law:
    """The law that gives each distinct row the sum of its probabilities."""
    possible = np.array([chance > 0 for chance in chances])[codes]
    rows = rows[possible]
    example, which = distinct_rows(rows)
    reports = rows[example]
    chance, sums_of = sums(which, codes[possible], chances)
    return Law(reports, chance, sums_of)
