"""Answers about pairs of people in a circle, a block of columns at a time, and sums of them for everybody's neighbours.

People stand at ascending `position` in a circle, and `drawn` has what they answered, in the order of their positions. Row i,
bit slot[c] says what was answered about the pair of person rows[i] and person low + c.
"""

import numpy as np

from deniable.arrays import Floats, Ints, Words
from deniable.kernels.draws import draw_bits
from deniable.kernels.lists import DrawnLists
from deniable.kernels.plain import column_sums, compiled_in


@compiled_in("blocks_compiled", lambda out, *_: out.size * 64)
def fill_block(out: Words, rows: Ints, position: Ints, low: int, slot: Ints, drawn: DrawnLists) -> None:
    """Write the answers about persons low, low + 1, ..., one for each slot; rows begin as zeros."""
    people, size, chunks, base, labels, keys, threshold = drawn
    row = np.arange(len(rows))
    for number, bit in enumerate(slot.tolist()):
        column = low + number
        ahead = (position[column] - position[rows]) % people
        mine = (ahead > 0) & (ahead <= size[rows])
        place = np.where(mine, ahead, people - ahead) - 1
        owner = np.where(mine, rows, column)
        said = row[(rows != column) & (chunks[owner] > 0)]
        who, where = owner[said], place[said]
        chunk = where * chunks[who] // size[who]
        bits = draw_bits(where.astype(np.uint64), chunk.astype(np.uint64), labels[base[who] + chunk], keys[who], threshold)
        out[said, bit >> 6] |= bits.astype(np.uint64) << np.uint64(bit & 63)


@compiled_in("blocks_compiled", lambda words, offsets, members, *_: members.size * words.shape[1] * 8)
def block_sums(
    words: Words,
    offsets: Ints,
    members: Ints,
    splits: Ints,
    reach: Ints,
    hubs: int,
    slot: Ints,
    between: tuple[float, float],
    other: tuple[float, float],
) -> tuple[Floats, Ints]:
    """For each person the largest sum of unbiased answers that somebody has for their neighbours, and ones among these.

    Person i has the rows members[offsets[i]:offsets[i + 1]] as neighbours, of whom the first splits[i] are hubs, and looks
    at the first reach[i] bits, the first `hubs` of which are those of hubs. slot[r] is the bit of row r itself, or -1. An
    answer x stands for (x - q) / w: `between` is (q, w) of a pair of hubs, `other` that of any other pair. Ones are counted
    in the rows and bits of neighbours, so that each pair counts at both of its ends: between hubs, and of other pairs.
    """
    people = len(offsets) - 1
    best, ones = np.zeros(people), np.zeros((people, 2), np.int64)
    for i in np.flatnonzero((np.diff(offsets) > 0) & (reach > 0)).tolist():
        mine, many, split = members[offsets[i] : offsets[i + 1]], int(reach[i]), int(splits[i])
        width = (many + 63) // 64
        to_hubs = column_sums(words[mine[:split], :width])[:many]
        to_others = column_sums(words[mine[split:], :width])[:many]
        bits = slot[mine]
        own = np.zeros(many, np.int64)
        own[bits[(bits >= 0) & (bits < many)]] = 1
        is_hub = np.arange(many) < hubs
        among = (to_hubs - between[0] * (split - own)) / between[1]
        among += (to_others - other[0] * (len(mine) - split)) / other[1]
        apart = (to_hubs + to_others - other[0] * (len(mine) - own)) / other[1]
        best[i] = np.abs(np.where(is_hub, among, apart)).max()
        ones[i, 0] = int((own * is_hub * to_hubs).sum())
        ones[i, 1] = int((own * (to_hubs + to_others)).sum()) - ones[i, 0]
    return best, ones
