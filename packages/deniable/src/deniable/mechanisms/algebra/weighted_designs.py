"""Sets of residues and weights for them, under whose shifts every two residues are together equally often.

For a set B modulo d let n(f) be how many ordered pairs of it differ by f. Its d shifts contain two residues x and y together
n(x - y) times. So if weights w make the sum of w_B n_B(f) the same for all f but 0, the shifts of all the sets, drawn with
these weights, contain every two residues equally often: a design with weights. Of the numbers n(f) = n(-f), which sum to
k (k - 1), no more than d / 2 - 1 are free. Since all sets of k residues together have the same sum for all f, at most d / 2
of them and weights do too (Caratheodory), with d^2 / 2 shifts in all.

Where d is large, `units` multiply every set: by all units of the residues up to their sign, differences are moved about
within classes of residues, those with the same common divisor with d, so that few sets and small weights suffice.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from deniable.arrays import Ints
from deniable.errors import InvalidParameter

Block = tuple[int, ...]
TRIALS = 60  # sets that are drawn, and improved
STEPS = 60  # exchanges that are tried to improve one
FEW = 48  # residues up to which sets are not multiplied
MOST = 1 << 53  # what weights may sum to


def multipliers(d: int) -> tuple[int, ...]:
    """The units modulo d up to their sign, by which sets are multiplied; 1 where d is small.

    >>> multipliers(12), multipliers(60)
    ((1,), (1, 7, 11, 13, 17, 19, 23, 29))
    """
    return (1,) if d <= FEW else tuple(unit for unit in range(1, d // 2 + 1) if math.gcd(unit, d) == 1)


def together(blocks: Sequence[Block], weights: Sequence[int], units: Sequence[int], d: int) -> list[int]:
    """How often pairs of elements of multiples of the blocks differ by each residue, counted with the weights.

    >>> together([(0, 1, 3)], [1], [1], 7)
    [3, 1, 1, 1, 1, 1, 1]
    """
    counts = [0] * d
    for block, weight in zip(blocks, weights, strict=True):
        pairs = [(f, weight * count) for f, count in enumerate(_differences(block, d).tolist()) if count]
        for unit in units:
            for f, weighted in pairs:
                counts[f * unit % d] += weighted
    return counts


def _differences(block: Block, d: int) -> Ints:
    """How many ordered pairs of elements differ by each residue.

    These are products of Fourier transforms, and rounding is far below 1/2: they are whole numbers of at most d.
    """
    member = np.zeros(d)
    member[list(block)] = 1
    found: Ints = np.rint(np.fft.irfft(np.abs(np.fft.rfft(member)) ** 2, d)).astype(np.int64)
    return found


def is_balanced(d: int, blocks: Sequence[Block], weights: Sequence[int], units: Sequence[int]) -> bool:
    """Whether these are sets of residues modulo d, of one size below d, which the weights and the units balance."""
    if not blocks or not units or len(blocks) != len(weights) or len({len(block) for block in blocks}) != 1:
        return False
    whole = all(isinstance(each, int) and not isinstance(each, bool) for row in (*blocks, weights, units) for each in row)
    if not whole or min(weights) < 1 or sum(weights) > MOST or not 1 <= len(blocks[0]) < d:
        return False
    if any(len(set(block)) != len(block) or min(block) < 0 or max(block) >= d for block in blocks):
        return False
    unlike = all(math.gcd(unit, d) == 1 for unit in units)
    return unlike and len(set(together(blocks, weights, units, d)[1:])) == 1


@lru_cache(maxsize=64)
def balanced_blocks(d: int, k: int) -> tuple[tuple[Block, ...], tuple[int, ...]]:
    """Few sets of k residues modulo d, and weights with which they and their multiples are balanced.

    >>> balanced_blocks(7, 3)
    (((0, 1, 5),), (1,))
    """
    draws, classes = np.random.default_rng(0), _classes(d)
    nearly = [(*range(k - 1), last) for last in range(k - 1, d)]  # an arc and one residue apart from it
    found = {_excess(block, d, classes): block for block in nearly}
    for _ in range(TRIALS):
        start: Block = tuple(sorted(draws.choice(d, k, replace=False).tolist()))
        for block in (start, _improved(start, d, classes, draws)):
            moved = tuple(sorted((each - block[0]) % d for each in block))
            found.setdefault(_excess(moved, d, classes), moved)
    vectors = sorted(found, key=_square)
    weights = _weights(vectors)
    if weights is None or sum(weights) > MOST:
        raise InvalidParameter(f"No balanced sets of {k} of {d} values were found. Use subset selection.")
    used = [place for place, weight in enumerate(weights) if weight]
    return tuple(found[vectors[place]] for place in used), tuple(weights[place] for place in used)


def _classes(d: int) -> Ints:
    """The number of the class of every residue but 0: of its multiples, and their negatives."""
    products = np.outer(np.arange(1, d), multipliers(d)) % d
    found: Ints = np.unique(np.minimum(products, d - products).min(axis=1), return_inverse=True)[1]
    return found


def _excess(block: Block, d: int, classes: Ints) -> tuple[int, ...]:
    """By how much the block has too many differences of each class, d - 1 times; they sum to 0."""
    sizes, differences = np.bincount(classes), _differences(block, d)[1:]
    counts = np.bincount(classes, differences).astype(np.int64)
    pairs = len(block) * (len(block) - 1)
    return tuple(((d - 1) * counts - pairs * sizes).tolist())


def _square(vector: Sequence[int]) -> int:
    return sum(part * part for part in vector)


def _improved(block: Block, d: int, classes: Ints, draws: np.random.Generator) -> Block:
    """The block after exchanges of single residues that bring its differences nearer to balance."""
    best = _square(_excess(block, d, classes))
    for _ in range(STEPS):
        outside = sorted(set(range(d)) - set(block))
        place, come = int(draws.integers(len(block))), outside[int(draws.integers(len(outside)))]
        other = (*block[:place], *block[place + 1 :], come)
        if (level := _square(_excess(other, d, classes))) <= best:
            block, best = other, level
        if not best:
            break
    return block


def _weights(vectors: Sequence[tuple[int, ...]]) -> list[int] | None:
    """Whole weights, few of them above 0, with which these vectors sum to 0: the simplex algorithm in exact fractions.

    Bland's rule takes the first vector that helps, so those that stand first, the short ones, get weights.
    """
    columns = [[*map(Fraction, vector), Fraction(1)] for vector in vectors]
    rows = len(columns[0])
    # A tableau of columns and right sides, with artificial variables -1 - row in the basis; their sum is to become 0.
    table = [[column[row] for column in columns] + [Fraction(row == rows - 1)] for row in range(rows)]
    basis = [-1 - row for row in range(rows)]
    while any(basis[row] < 0 and table[row][-1] for row in range(rows)):
        artificial = [row for row in range(rows) if basis[row] < 0]
        helps = (place for place in range(len(columns)) if sum(table[row][place] for row in artificial) > 0)
        enter = next(helps, None)
        if enter is None:
            return None
        ratios = [(table[row][-1] / table[row][enter], basis[row], row) for row in range(rows) if table[row][enter] > 0]
        leave = min(ratios)[2]
        pivot = table[leave][enter]
        table[leave] = [number / pivot for number in table[leave]]
        for row in range(rows):
            if row != leave and (factor := table[row][enter]):
                table[row] = [number - factor * other for number, other in zip(table[row], table[leave], strict=True)]
        basis[leave] = enter
    shares = [Fraction(0)] * len(columns)
    for row, place in enumerate(basis):
        if place >= 0:
            shares[place] = table[row][-1]
    whole = math.lcm(*(share.denominator for share in shares))
    return [int(share * whole) for share in shares]
