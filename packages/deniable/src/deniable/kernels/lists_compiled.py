"""Pairs within lists of neighbours, compiled by numba; each loop gives exactly what its twin in lists.py gives."""

import numpy as np
from numba import njit

from deniable.arrays import Bytes, Ints
from deniable.kernels.draws_compiled import _draw_bits
from deniable.kernels.lists import DrawnLists

SOME = 1 << 12  # pairs whose answers are drawn side by side


def _checked(offsets: Ints, members: Ints, below: int) -> None:
    if len(members) and (int(members.min()) < 0 or int(members.max()) >= below):
        raise IndexError("A member is outside the lists.")
    if int(offsets[0]) < 0 or int(offsets[-1]) > len(members) or (np.diff(offsets) < 0).any():
        raise IndexError("A list is outside the members.")


def closed_pairs(offsets: Ints, members: Ints) -> int:
    _checked(offsets, members, len(offsets) - 1)
    return int(_closed_pairs(offsets, members))


@njit(cache=True, nogil=True)
def _closed_pairs(offsets, members):  # type: ignore[no-untyped-def]
    size = offsets.shape[0] - 1
    mark = np.full(size, -1, np.int64)
    found = np.int64(0)
    for i in range(size):
        for m in range(offsets[i], offsets[i + 1]):
            mark[members[m]] = i
        for m in range(offsets[i], offsets[i + 1]):
            j = members[m]
            for n in range(offsets[j], offsets[j + 1]):
                found += np.int64(mark[members[n]] == i)
    return found


def pair_ones(offsets: Ints, members: Ints, hubs: int, plain: Bytes, position: Ints, drawn: DrawnLists) -> Ints:
    _checked(offsets, members, len(position))
    people, size, chunks, base, labels, keys, threshold = drawn
    if len(position) and (int(position.min()) < 0 or int(position.max()) >= min(len(size), len(chunks), len(keys))):
        raise IndexError("A position is outside the circle.")
    if len(chunks) and int((base[: len(chunks)] + chunks).max()) > len(labels) and int(chunks.max()) > 0:
        raise IndexError("There are too few labels.")
    if hubs > len(plain) or (hubs and (hubs + 7) // 8 > plain.shape[1]):
        raise IndexError("There are too few plain answers.")
    ones = np.zeros((len(offsets) - 1, 2), np.int64)
    _pair_ones(offsets, members, hubs, plain, position, people, size, chunks, base, labels, keys, np.uint64(threshold), ones)
    return ones


@njit(cache=True, nogil=True)
def _pair_ones(offsets, members, hubs, plain, position, people, size, chunks, base, labels, keys, threshold, ones):  # type: ignore[no-untyped-def]
    places, parts = np.empty(SOME, np.uint64), np.empty(SOME, np.uint64)
    label, key = np.empty(SOME, np.uint64), np.empty(SOME, np.uint64)
    number, drawn, held = np.empty(SOME, np.int64), np.empty(SOME, np.uint8), 0
    for i in range(offsets.shape[0] - 1):
        for n in range(offsets[i], offsets[i + 1]):
            high = members[n]
            if high < hubs:
                for m in range(offsets[i], n):
                    low = members[m]
                    ones[i, 0] += plain[high, low >> 3] >> np.uint8(low & 7) & np.uint8(1)
                continue
            b = position[high]
            for m in range(offsets[i], n):
                a = position[members[m]]
                ahead = b - a if b >= a else b - a + people
                first = 2 * ahead < people or (2 * ahead == people and a < b)
                owner = a if first else b
                if chunks[owner] == 0:
                    continue
                place = (ahead if first else people - ahead) - 1
                chunk = place * chunks[owner] // size[owner]
                places[held], parts[held] = np.uint64(place), np.uint64(chunk)
                label[held], key[held], number[held] = labels[base[owner] + chunk], keys[owner], i
                held += 1
                if held == SOME:
                    _draw_bits(places, parts, label, key, threshold, drawn)
                    for each in range(held):
                        ones[number[each], 1] += drawn[each]
                    held = 0
    _draw_bits(places[:held], parts[:held], label[:held], key[:held], threshold, drawn[:held])
    for each in range(held):
        ones[number[each], 1] += drawn[each]
