"""Blocks of answers, compiled by numba; each loop gives exactly what its twin in blocks.py gives."""

import numpy as np
from numba import njit

from deniable.arrays import Floats, Ints, Words
from deniable.kernels.compiled import _column_sums
from deniable.kernels.draws_compiled import LANE, ONE, draw_part
from deniable.kernels.lists import DrawnLists

TILE = 1 << 10  # rows


def fill_block(out: Words, rows: Ints, position: Ints, low: int, slot: Ints, drawn: DrawnLists) -> None:
    people, size, chunks, base, labels, keys, threshold = drawn
    if low < 0 or low + len(slot) > len(position) or len(out) != len(rows):
        raise IndexError("A column is outside the block.")
    if len(rows) and (int(rows.min()) < 0 or int(rows.max()) >= len(position)):
        raise IndexError("A row is outside the circle.")
    if len(slot) and (int(slot.min()) < 0 or int(slot.max()) >= 64 * out.shape[1]):
        raise IndexError("A slot is outside the block.")
    if len(base) and int((base + chunks).max()) > len(labels):
        raise IndexError("There are too few labels.")
    digits = np.array([0xFFFFFFFF if threshold >> (31 - place) & 1 else 0 for place in range(32)], np.uint64)
    _fill_block(out, rows, position, low, slot, people, size, chunks, base, labels, keys, digits)


@njit(cache=True, nogil=True)
def _span(first, last, size, chunks, base, labels, key, digits, less, equal, held):  # type: ignore[no-untyped-def]
    """The answers at places first..last of a list, in words of 32, the first of which has place `first`."""
    for i in range((last >> 5) - (first >> 5) + 1):
        held[i] = np.uint32(0)
    chunk = first * chunks // size
    while True:
        begin, end = max(first, -(-chunk * size // chunks)), min(last + 1, -(-(chunk + 1) * size // chunks))
        if begin < end:
            start, count = draw_part(begin, end, np.uint64(chunk), labels[base + chunk], key, digits, less, equal)
            for i in range(count):
                held[start - (first >> 5) + i] |= less[i]
        chunk += 1
        if end > last:
            break


@njit(cache=True, nogil=True)
def _fill_block(out, rows, position, low, slot, people, size, chunks, base, labels, keys, digits):  # type: ignore[no-untyped-def]
    many, columns = rows.shape[0], slot.shape[0]
    less, equal = np.empty(people // 64 + 4, np.uint32), np.empty(people // 64 + 4, np.uint32)
    held = np.empty(people // 64 + 4, np.uint32)
    others, places = position[low : low + columns], position[rows]
    for i in range(many):  # what the rows answer about the columns
        r = rows[i]
        for turn in range(0, people + 1, people):  # those further on, and those after the end of the circle
            at = position[r] - turn
            first, last = np.searchsorted(others, at + 1), np.searchsorted(others, at + size[r] + 1)
            if first >= last or chunks[r] == 0:
                continue
            begin = others[first] - at - 1
            end = others[last - 1] - at - 1
            _span(begin, end, size[r], chunks[r], base[r], labels, keys[r], digits, less, equal, held)
            for c in range(first, last):
                place = others[c] - at - 1
                bit = np.uint64(held[(place >> 5) - (begin >> 5)]) >> (np.uint64(place) & LANE) & ONE
                out[i, slot[c] >> 6] |= bit << np.uint64(slot[c] & 63)
    for tile in range(0, many, TILE):  # what the columns answer about the rows, some rows at a time that stay in the cache
        near = places[tile : tile + TILE]
        for c in range(columns):
            own = low + c
            where, shift = slot[c] >> 6, np.uint64(slot[c] & 63)
            for turn in range(0, people + 1, people):
                at = position[own] - turn
                first, last = np.searchsorted(near, at + 1), np.searchsorted(near, at + size[own] + 1)
                if first >= last or chunks[own] == 0:
                    continue
                begin = near[first] - at - 1
                end = near[last - 1] - at - 1
                _span(begin, end, size[own], chunks[own], base[own], labels, keys[own], digits, less, equal, held)
                for i in range(first, last):
                    place = near[i] - at - 1
                    bit = np.uint64(held[(place >> 5) - (begin >> 5)]) >> (np.uint64(place) & LANE) & ONE
                    out[tile + i, where] |= bit << shift


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
    people = len(offsets) - 1
    best, ones = np.zeros(people), np.zeros((people, 2), np.int64)
    if len(members) and (int(members.min()) < 0 or int(members.max()) >= len(words)):
        raise IndexError("A neighbour is outside the block.")
    if len(reach) and int(reach.max()) > 64 * words.shape[1]:
        raise IndexError("A reach is outside the block.")
    most = int(np.diff(offsets).max(initial=0))
    room = np.empty(most * words.shape[1], np.uint64)
    _block_sums(words, offsets, members, splits, reach, hubs, slot, *between, *other, room, best, ones)
    return best, ones


@njit(cache=True, nogil=True)
def _block_sums(words, offsets, members, splits, reach, hubs, slot, q0, w0, q1, w1, room, best, ones):  # type: ignore[no-untyped-def]
    lanes = 64 * words.shape[1]
    to_hubs, sums, own = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64), np.zeros(lanes, np.int64)
    for i in range(offsets.shape[0] - 1):
        start, count, many = offsets[i], offsets[i + 1] - offsets[i], reach[i]
        if count == 0 or many == 0:
            continue
        width, split = (many + 63) // 64, splits[i]
        cut = split if hubs > 0 else 0  # hubs are distinguished only where there are any
        some = room[: count * width].reshape(count, width)
        for m in range(count):
            source, target = words[members[start + m]], some[m]
            for w in range(width):
                target[w] = source[w]
        for lane in range(64 * width):
            to_hubs[lane] = 0
            sums[lane] = 0
        if cut:
            _column_sums(some[:cut], to_hubs)
        if cut < count:
            _column_sums(some[cut:], sums)
        for m in range(count):
            bit = slot[members[start + m]]
            if 0 <= bit < many:
                own[bit] = 1
                if bit < hubs:
                    ones[i, 0] += to_hubs[bit]
                    ones[i, 1] += sums[bit]
                else:
                    ones[i, 1] += to_hubs[bit] + sums[bit]
        largest = 0.0
        for lane in range(min(hubs, many)):
            among = (to_hubs[lane] - q0 * (split - own[lane])) / w0
            among += (sums[lane] - q1 * (count - split)) / w1
            largest = max(largest, abs(among))
        for lane in range(hubs, many):
            apart = (to_hubs[lane] + sums[lane] - q1 * (count - own[lane])) / w1
            largest = max(largest, abs(apart))
        best[i] = largest
        for m in range(count):
            bit = slot[members[start + m]]
            if 0 <= bit < many:
                own[bit] = 0
