/* Exact draws from a stream of bytes. How bytes become outcomes is part of the wire format; see docs/law.md. */
#include "deniable.h"
#include <string.h>

#define LIMBS (DENIABLE_FRACTION_BITS / 32)
#define WORD_LIMIT ((int64_t)1 << 24) /* words have 32 bits up to this bound, 64 above */
#define UNIT ((int64_t)1 << 53)       /* where toss_each takes the upper bits of a word */

static int bytes(deniable_stream *stream, unsigned char *out, size_t size)
{
    return stream->bytes(stream->state, out, size);
}

/* The binary digits of a probability, eight at a time */

typedef struct {
    const deniable_fraction *of;
    uint32_t rest[LIMBS + 1]; /* below `of->below` */
    int left;                 /* whether the rest is not zero */
} digits;

static int at_least(const uint32_t *a, const uint32_t *b, uint32_t limbs)
{
    if (a[limbs])
        return 1;
    while (limbs--)
        if (a[limbs] != b[limbs])
            return a[limbs] > b[limbs];
    return 1;
}

static unsigned next_digit(digits *d)
{
    uint32_t limbs = d->of->limbs, i;
    unsigned digit = 0, step;
    for (step = 0; step < 8; step++) {
        uint32_t carry = 0;
        for (i = 0; i <= limbs; i++) {
            uint32_t next = d->rest[i] >> 31;
            d->rest[i] = d->rest[i] << 1 | carry;
            carry = next;
        }
        digit *= 2;
        if (at_least(d->rest, d->of->below, limbs)) {
            uint64_t borrow = 0;
            for (i = 0; i <= limbs; i++) {
                uint64_t less = (uint64_t)(i < limbs ? d->of->below[i] : 0) + borrow;
                borrow = d->rest[i] < less;
                d->rest[i] = (uint32_t)(d->rest[i] - less);
            }
            digit++;
        }
    }
    for (d->left = 0, i = 0; i < limbs; i++)
        d->left |= d->rest[i] != 0;
    return digit;
}

/* The first eight digits of all bits come as eight planes, the most significant first, each in a multiple of eight bytes. */
static int planes(deniable_stream *stream, unsigned digit, size_t size, unsigned char *smaller, unsigned char *equal)
{
    unsigned char drawn[64];
    size_t whole = (size + 7) / 8 * 8, start, i;
    int level;
    for (level = 7; level >= 0; level--)
        for (start = 0; start < whole; start += sizeof drawn) {
            size_t part = whole - start < sizeof drawn ? whole - start : sizeof drawn;
            if (bytes(stream, drawn, part))
                return 1;
            for (i = start; i < start + part && i < size; i++) {
                unsigned char plane = drawn[i - start];
                if (digit >> level & 1) {
                    smaller[i] |= (unsigned char)(equal[i] & ~plane);
                    equal[i] &= plane;
                } else {
                    equal[i] &= (unsigned char)~plane;
                }
            }
        }
    return 0;
}

/* Bits still equal take one further byte each, in order; whether any is left goes to `tied`. */
static int settle(deniable_stream *stream, unsigned digit, size_t size, unsigned char *smaller, unsigned char *equal,
                  int *tied)
{
    size_t i;
    int lane;
    *tied = 0;
    for (i = 0; i < size; i++)
        for (lane = 0; equal[i] >> lane; lane++) {
            unsigned char mask = (unsigned char)(1 << lane), more;
            if (!(equal[i] & mask))
                continue;
            if (bytes(stream, &more, 1))
                return 1;
            if (more < digit)
                smaller[i] |= mask;
            if (more != digit)
                equal[i] &= (unsigned char)~mask;
            else
                *tied = 1;
        }
    return 0;
}

static int toss(void *state, const deniable_fraction *heads, uint32_t bits, unsigned char *row, unsigned char *spare)
{
    size_t size = ((size_t)bits + 7) / 8, length = heads->limbs * sizeof *heads->above;
    unsigned char last = (unsigned char)(bits % 8 ? (1 << bits % 8) - 1 : 255);
    int always = !memcmp(heads->above, heads->below, length), tied = 1;
    uint32_t i, never = 1;
    digits d;
    for (i = 0; i < heads->limbs; i++)
        never &= heads->above[i] == 0;
    memset(row, always ? 255 : 0, size), memset(spare, 255, size);
    row[size - 1] &= last, spare[size - 1] &= last;
    if (always || never)
        return 0;
    memset(d.rest, 0, sizeof d.rest), memcpy(d.rest, heads->above, length);
    d.of = heads;
    if (planes(state, next_digit(&d), size, row, spare))
        return 1;
    while (d.left && tied)
        if (settle(state, next_digit(&d), size, row, spare, &tied))
            return 1;
    return 0;
}

static int word(deniable_stream *stream, int size, uint64_t *value)
{
    unsigned char drawn[8];
    if (bytes(stream, drawn, (size_t)size))
        return 1;
    for (*value = 0; size--;)
        *value = *value << 8 | drawn[size];
    return 0;
}

/* A value below n, and whether its word is refused; the width of the word follows from `largest`. */
static int scaled(deniable_stream *stream, uint64_t n, int64_t largest, int64_t *value, int *refused)
{
    uint64_t w, low, middle, other;
    if (word(stream, largest <= WORD_LIMIT ? 4 : 8, &w))
        return 1;
    if (largest <= WORD_LIMIT) {
        low = w * n;
        *value = (int64_t)(low >> 32);
        *refused = (low & 0xFFFFFFFFu) < ((uint64_t)1 << 32) % n;
        return 0;
    }
    low = (w & 0xFFFFFFFFu) * (n & 0xFFFFFFFFu);
    middle = (w >> 32) * (n & 0xFFFFFFFFu) + (low >> 32);
    other = (w & 0xFFFFFFFFu) * (n >> 32) + (middle & 0xFFFFFFFFu);
    *value = (int64_t)((w >> 32) * (n >> 32) + (middle >> 32) + (other >> 32));
    *refused = w * n < (0 - n) % n;
    return 0;
}

static int below(void *state, int64_t n, int64_t *value)
{
    int refused = 1, again;
    for (again = 0; refused && again <= DENIABLE_MOST_AGAIN; again++)
        if (scaled(state, (uint64_t)n, n, value, &refused))
            return 1;
    return refused;
}

static int split(void *state, const deniable_fraction *heads, int64_t first, int64_t second, int64_t *value)
{
    unsigned char inside[2];
    int64_t ahead = 0, behind = 0;
    if (toss(state, heads, 1, inside, inside + 1) || (second > 1 && below(state, second, &behind)) ||
        (first > 1 && below(state, first, &ahead)))
        return 1;
    *value = inside[0] ? ahead : first + behind;
    return 0;
}

static int pick(void *state, const int64_t *weights, uint32_t count, int64_t *value)
{
    int64_t total = 0, number;
    uint32_t i;
    for (i = 0; i < count; i++)
        total += weights[i];
    if (below(state, total, &number))
        return 1;
    for (i = 0; i + 1 < count && number >= weights[i]; i++)
        number -= weights[i];
    *value = i;
    return 0;
}

/* All words first; those that are refused are drawn again afterwards, in order, and so on. */
static int toss_each(void *state, const int64_t *heads, int64_t whole, uint32_t count, int64_t *values)
{
    int refused, left = 1, again;
    uint32_t i;
    for (i = 0; i < count; i++)
        values[i] = -1;
    for (again = 0; left && again <= DENIABLE_MOST_AGAIN; again++)
        for (left = 0, i = 0; i < count; i++) {
            uint64_t drawn;
            int64_t number;
            if (values[i] >= 0)
                continue;
            if (whole == UNIT ? word(state, 8, &drawn) : scaled(state, (uint64_t)whole, whole, &number, &refused))
                return 1;
            if (whole == UNIT)
                values[i] = (int64_t)(drawn >> 11) < heads[i];
            else if (refused)
                left = 1;
            else
                values[i] = number < heads[i];
        }
    return left;
}

/* Floyd's algorithm; all k words are drawn, and all again if any of them is refused. */
static int subset(void *state, uint32_t n, uint32_t k, int one_less, unsigned char *row)
{
    int refused, bad = 1, again;
    uint32_t step;
    for (again = 0; bad && again <= DENIABLE_MOST_AGAIN; again++) {
        memset(row, 0, ((size_t)n + 7) / 8);
        for (bad = 0, step = 0; step < k; step++) {
            uint32_t last = n - k + step;
            int64_t value;
            if (scaled(state, (uint64_t)last + 1, n, &value, &refused))
                return 1;
            bad |= refused;
            if (step == 0 && one_less)
                continue;
            if (row[value >> 3] >> (value & 7) & 1)
                value = last;
            row[value >> 3] |= (unsigned char)(1 << (value & 7));
        }
    }
    return bad;
}

static int majority(void *state, uint32_t n, unsigned char *row, unsigned char *spare)
{
    static const uint32_t one = 1, two = 2;
    const deniable_fraction half = {&one, &two, 1};
    uint64_t ones;
    uint32_t i;
    int again;
    for (again = 0; again <= DENIABLE_MOST_AGAIN; again++) {
        if (toss(state, &half, n, row, spare))
            return 1;
        for (ones = 0, i = 0; i < n; i++)
            ones += row[i >> 3] >> (i & 7) & 1;
        if (2 * ones == n)
            continue;
        for (i = 0; 2 * ones < n && i < n; i++)
            row[i >> 3] ^= (unsigned char)(1 << (i & 7));
        return 0;
    }
    return 1;
}

void deniable_from_stream(deniable_coins *coins, deniable_stream *stream)
{
    coins->state = stream;
    coins->toss = toss, coins->below = below, coins->split = split, coins->pick = pick;
    coins->toss_each = toss_each, coins->subset = subset, coins->majority = majority;
}
