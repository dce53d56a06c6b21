"""Labels to bits and back, in whole numbers below 2^63, so that the same text runs as Python and compiled.

An arithmetic coder of 32 bits (Witten, Neal, Cleary 1987) with weights out of 2^16. A label below 16 is a symbol of its own;
a larger rank is the symbol of its highest bit and the bits under it; a label past 2^42 is a last symbol, 10 bits of exponent
and 32 of mantissa. Bits fill bytes from the lowest; past the end of a message all bits are zero, and trailing zeros are not
sent.
"""

import numpy as np

HALF, QUARTER, WHOLE = 1 << 31, 1 << 30, 1 << 32
SINGLE, LARGEST = 16, 42  # labels below it are symbols; ranks have fewer bits than this
BUCKETS = LARGEST - 4
ESCAPE = SINGLE - 1 + BUCKETS  # the last symbol
SYMBOLS = ESCAPE + 1
EXPONENT = (1023 + 40) << 32  # of the first label that is not a rank
TOTAL = 16  # bits of the sum of all weights


def bit_length(number):  # type: ignore[no-untyped-def]
    """How many binary digits a number below 2^53 has; of zero, none."""
    return int(number).bit_length()


def backwards(bits):  # type: ignore[no-untyped-def]
    """The 32 lowest bits in the opposite order."""
    bits = ((bits >> 1) & 0x55555555) | ((bits & 0x55555555) << 1)
    bits = ((bits >> 2) & 0x33333333) | ((bits & 0x33333333) << 2)
    bits = ((bits >> 4) & 0x0F0F0F0F) | ((bits & 0x0F0F0F0F) << 4)
    bits = ((bits >> 8) & 0x00FF00FF) | ((bits & 0x00FF00FF) << 8)
    return ((bits >> 16) & 0xFFFF) | ((bits & 0xFFFF) << 16)


def put_bits(out, at, kept, held, bits, count):  # type: ignore[no-untyped-def]
    """Append up to 32 bits, the lowest first.

    `held` bits `kept` do not fill four bytes yet; those are written at byte `at`. All three are returned as they are then.
    """
    kept |= bits << held
    held += count
    if held >= 32:
        for place in range(4):
            out[at + place] = np.uint8((kept >> (8 * place)) & 255)
        return at + 4, kept >> 32, held - 32
    return at, kept, held


def put_number(out, at, kept, held, number, count):  # type: ignore[no-untyped-def]
    """Append a number of `count` bits, the highest first."""
    while count > 0:
        part = min(count, 32)
        count -= part
        bits = backwards((number >> count) & (WHOLE - 1)) >> (32 - part)
        at, kept, held = put_bits(out, at, kept, held, bits, part)
    return at, kept, held


def put_delta(out, at, kept, held, number):  # type: ignore[no-untyped-def]
    """Append Elias's delta code of a number from 1."""
    size = bit_length(number) - 1
    at, kept, held = put_gamma(out, at, kept, held, size + 1)
    return put_number(out, at, kept, held, number, size)


def put_gamma(out, at, kept, held, number):  # type: ignore[no-untyped-def]
    """Append Elias's gamma code of a number from 1."""
    size = 0
    while number >> (size + 1):
        size += 1
    at, kept, held = put_number(out, at, kept, held, 0, size)
    return put_number(out, at, kept, held, number, size + 1)


def put_symbol(out, at, kept, held, low, high, waiting, below, width, total):  # type: ignore[no-untyped-def]
    """Narrow the coder's interval to the part from `below` of `width` out of 2^total.

    The first bits that both ends have in common are appended, the first of them followed by its opposite as often as
    `waiting` says. Then come those that are one in the low end and zero in the high one: they are counted and left out.
    """
    span = high - low + 1
    high = low + ((span * (below + width)) >> total) - 1
    low = low + ((span * below) >> total)
    same = 32 - bit_length(low ^ high)
    if same > 0:
        first = low >> 31
        others = ((1 << min(waiting, 31)) - 1) & (first - 1)
        rest = (backwards(low) & ((1 << same) - 1)) >> 1
        if waiting + same <= 32:
            bits = first | (others << 1) | (rest << (waiting + 1))
            at, kept, held = put_bits(out, at, kept, held, bits, waiting + same)
        else:
            at, kept, held = put_bits(out, at, kept, held, first, 1)
            while waiting > 0:
                some = min(waiting, 31)
                at, kept, held = put_bits(out, at, kept, held, others & ((1 << some) - 1), some)
                waiting -= some
            at, kept, held = put_bits(out, at, kept, held, rest, same - 1)
        waiting = 0
        low = (low << same) & (WHOLE - 1)
        high = ((high << same) & (WHOLE - 1)) | ((1 << same) - 1)
    inside = ((low & ~high) << 1) & (WHOLE - 1)
    run = 32 - bit_length(inside ^ (WHOLE - 1))
    low = (low << run) & (HALF - 1)
    high = ((high << run) & (HALF - 1)) | HALF | ((1 << run) - 1)
    return at, kept, held, low, high, waiting + run


def put_raw(out, at, kept, held, low, high, waiting, number, bits):  # type: ignore[no-untyped-def]
    """Append a number as it is, at most 16 bits at a time."""
    while bits > 0:
        part = min(bits, 16)
        bits -= part
        below = (number >> bits) & ((1 << part) - 1)
        at, kept, held, low, high, waiting = put_symbol(out, at, kept, held, low, high, waiting, below, 1, part)
    return at, kept, held, low, high, waiting


def symbol_of(label):  # type: ignore[no-untyped-def]
    """The symbol of a label, and how many of its bits follow as they are."""
    if label < SINGLE:
        return label - 1, 0
    if label >= EXPONENT:
        return ESCAPE, 32
    size = bit_length(label) - 1
    return SINGLE - 5 + size, size


def finish(out, at, kept, held, low, waiting):  # type: ignore[no-untyped-def]
    """Append the fewest bits that, followed by zeros, lie in the interval, and write what does not fill four bytes."""
    if low > 0 or waiting > 0:
        at, kept, held = put_bits(out, at, kept, held, 1, 1)
    for place in range((held + 7) // 8):
        out[at + place] = np.uint8((kept >> (8 * place)) & 255)
    return 8 * at + held


def code_labels(labels, offsets, header, sums, out, begins, sizes):  # type: ignore[no-untyped-def]
    """The messages of labels[offsets[i]:offsets[i + 1]], from byte begins[i] of `out` on; sizes[i] is their bits.

    With `header` the number of labels plus one comes first. Without weights (an empty `sums`) labels are in gamma code.
    """
    for i in range(len(begins)):
        at, kept, held = int(begins[i]), 0, 0
        low, high, waiting = 0, WHOLE - 1, 0
        if header:
            at, kept, held = put_delta(out, at, kept, held, int(offsets[i + 1] - offsets[i]) + 1)
        for place in range(offsets[i], offsets[i + 1]):
            label = int(labels[place])
            if len(sums) == 0:
                at, kept, held = put_gamma(out, at, kept, held, label)
                continue
            symbol, bits = symbol_of(label)
            below, width = int(sums[symbol]), int(sums[symbol + 1] - sums[symbol])
            at, kept, held, low, high, waiting = put_symbol(out, at, kept, held, low, high, waiting, below, width, TOTAL)
            if symbol == ESCAPE:
                above = (label - EXPONENT) >> 32
                at, kept, held, low, high, waiting = put_raw(out, at, kept, held, low, high, waiting, above, 10)
            if bits > 0:
                rest = label & ((1 << bits) - 1)
                at, kept, held, low, high, waiting = put_raw(out, at, kept, held, low, high, waiting, rest, bits)
        sizes[i] = finish(out, at, kept, held, low, waiting) - 8 * begins[i]


def code_symbols(symbols, header, sums, out):  # type: ignore[no-untyped-def]
    """The message of a whole vector of values by their own weights; with `header` a number of labels of none comes first."""
    at, kept, held, low, high, waiting = 0, 0, 0, 0, WHOLE - 1, 0
    if header:
        at, kept, held = put_delta(out, at, kept, held, 1)
    for i in range(len(symbols)):
        below, width = int(sums[symbols[i]]), int(sums[symbols[i] + 1] - sums[symbols[i]])
        at, kept, held, low, high, waiting = put_symbol(out, at, kept, held, low, high, waiting, below, width, TOTAL)
    return finish(out, at, kept, held, low, waiting)


def get_bit(data, state):  # type: ignore[no-untyped-def]
    """The next bit; zero past the end at state[4]."""
    at = state[3]
    state[3] = at + 1
    if at >= state[4]:
        return 0
    return (np.int64(data[at >> 3]) >> (at & 7)) & 1


def get_gamma(data, state):  # type: ignore[no-untyped-def]
    """A number in gamma code, or 0 if there is none that fits into 62 bits."""
    size = 0
    while get_bit(data, state) == 0:
        size += 1
        if size > 61:
            return 0
    number = 1
    for _ in range(size):
        number = 2 * number + get_bit(data, state)
    return number


def get_delta(data, state):  # type: ignore[no-untyped-def]
    """A number in delta code, or 0 if there is none below 2^40."""
    size = get_gamma(data, state)
    if size == 0 or size > 40:
        return 0
    number = 1
    for _ in range(size - 1):
        number = 2 * number + get_bit(data, state)
    return number


def start(data, state):  # type: ignore[no-untyped-def]
    """Read the first 32 bits of an arithmetic code; state[2] holds what is being decoded."""
    state[0], state[1], state[2] = 0, WHOLE - 1, 0
    for _ in range(32):
        state[2] = 2 * state[2] + get_bit(data, state)


def get_position(state, total):  # type: ignore[no-untyped-def]
    """Where in 0 to 2^total - 1 the code points."""
    return (((state[2] - state[0] + 1) << total) - 1) // (state[1] - state[0] + 1)


def drop_symbol(data, state, below, width, total):  # type: ignore[no-untyped-def]
    """Go on past a symbol: the same steps as `put_symbol`."""
    low, high, code = state[0], state[1], state[2]
    span = high - low + 1
    high = low + ((span * (below + width)) >> total) - 1
    low = low + ((span * below) >> total)
    while True:
        if high < HALF:
            pass
        elif low >= HALF:
            low -= HALF
            high -= HALF
            code -= HALF
        elif low >= QUARTER and high < HALF + QUARTER:
            low -= QUARTER
            high -= QUARTER
            code -= QUARTER
        else:
            break
        low = 2 * low
        high = 2 * high + 1
        code = 2 * code + get_bit(data, state)
    state[0], state[1], state[2] = low, high, code


def get_symbol(data, state, sums):  # type: ignore[no-untyped-def]
    """The next symbol, found by bisection among the sums of the weights."""
    position = get_position(state, TOTAL)
    low, high = 0, len(sums) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if sums[middle] <= position:
            low = middle
        else:
            high = middle
    drop_symbol(data, state, sums[low], sums[low + 1] - sums[low], TOTAL)
    return low


def get_raw(data, state, bits):  # type: ignore[no-untyped-def]
    """A number of so many bits."""
    number = 0
    while bits > 0:
        part = min(bits, 16)
        bits -= part
        position = get_position(state, part)
        drop_symbol(data, state, position, 1, part)
        number = (number << part) | position
    return number


def get_label(data, state, sums):  # type: ignore[no-untyped-def]
    """The next label."""
    symbol = get_symbol(data, state, sums)
    if symbol < SINGLE - 1:
        return symbol + 1
    if symbol == ESCAPE:
        exponent = get_raw(data, state, 10)
        return EXPONENT + (exponent << 32) + get_raw(data, state, 32)
    size = symbol - (SINGLE - 5)
    return (1 << size) + get_raw(data, state, size)


def read_headers(data, begins, ends, counts):  # type: ignore[no-untyped-def]
    """The number of labels of each message, and -1 where there is none."""
    state = np.zeros(5, np.int64)
    for i in range(len(begins)):
        state[3], state[4] = 8 * begins[i], 8 * ends[i]
        counts[i] = get_delta(data, state) - 1


def read_labels(data, begins, ends, offsets, header, sums, labels):  # type: ignore[no-untyped-def]
    """The labels of each message, offsets[i + 1] - offsets[i] of them; 0 for one that is not in the code."""
    state = np.zeros(5, np.int64)
    for i in range(len(begins)):
        state[3], state[4] = 8 * begins[i], 8 * ends[i]
        if header:
            get_delta(data, state)
        if len(sums) > 0:
            start(data, state)
        for place in range(offsets[i], offsets[i + 1]):
            if len(sums) == 0:
                labels[place] = get_gamma(data, state)
            else:
                labels[place] = get_label(data, state, sums)


def read_symbols(data, header, sums, symbols):  # type: ignore[no-untyped-def]
    """The values of a whole vector."""
    state = np.zeros(5, np.int64)
    state[4] = 8 * len(data)
    if header:
        get_delta(data, state)
    start(data, state)
    for i in range(len(symbols)):
        symbols[i] = get_symbol(data, state, sums)
