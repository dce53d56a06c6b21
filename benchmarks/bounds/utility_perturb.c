/* Sensitive answers randomized, open ones disclosed or hidden among them. `answers` has the place of a sensitive answer, or
 * minus the number of an open one. As many coins are tossed whatever the answer is. */

#include "subset.h"

enum { TOGETHER = 8 };

static inline uint32_t below(uint32_t range, uint32_t draw) { return (uint64_t)draw * range >> 32; }

/* Selected by a mask: a branch would be guessed wrong. */
static inline uint32_t chosen(uint32_t which, uint32_t one, uint32_t other) { return other ^ ((one ^ other) & -which); }

/* A cyclic block design: a point of the true block with `heads` of 2^32 words, else one outside it; any point where an open
 * answer is hidden, with `hidden` of them. Points from `v` on disclose. Three draws and two coins of 16 bits each, in columns. */
void utility_design(const uint32_t *restrict draws, const int64_t *restrict values, uint16_t *restrict reports, size_t n,
                    const int32_t *restrict answers, const int32_t *restrict offsets, uint32_t k, uint32_t v, uint32_t heads,
                    uint32_t hidden) {
    const uint16_t *coins = (const uint16_t *)(draws + 3 * n);
    for (size_t i = 0; i < n; i++) {
        int32_t answer = answers[values[i]];
        uint32_t is_open = answer < 0, place = (uint32_t)answer & (is_open - 1), outside = coins[i] >= heads >> 16;
        uint32_t near = below(k, draws[i]), far = k + below(v - k, draws[n + i]), any = below(v, draws[2 * n + i]);
        uint32_t point = (uint32_t)offsets[chosen(outside, far, near)] + place;
        point -= v & -(uint32_t)(point >= v);
        uint32_t open = chosen(coins[n + i] < hidden >> 16, any, v - 1 - (uint32_t)answer);
        reports[i] = (uint16_t)chosen(is_open, open, point);
    }
}

/* Local hashing: two columns of a hash function, the bucket and the open answer; a bucket is kept with `heads` of 2^32 words.
 * An open answer has a function and a bucket of its own. x mod prime is x - (x multiplier >> shift) prime. Six draws and two
 * coins of 16 bits each, in columns. */
void utility_hashing(const uint32_t *restrict draws, const int64_t *restrict values, uint16_t *restrict numbers,
                     uint16_t *restrict a, uint16_t *restrict b, uint8_t *restrict buckets, size_t n,
                     const int32_t *restrict answers, uint32_t prime, uint32_t count, uint64_t multiplier, uint32_t shift,
                     uint32_t heads, uint32_t hidden) {
    const uint16_t *coins = (const uint16_t *)(draws + 6 * n);
    for (size_t i = 0; i < n; i++) {
        int32_t answer = answers[values[i]];
        uint32_t is_open = answer < 0, place = (uint32_t)answer & (is_open - 1);
        uint32_t factor = below(prime - 1, draws[i]), move = below(prime, draws[n + i]);
        uint32_t hash = (factor + 1) * place + move;
        hash -= (uint32_t)(hash * multiplier >> shift) * prime;
        uint32_t bucket = (uint32_t)(hash * count * multiplier >> shift);
        bucket += (below(count - 1, draws[2 * n + i]) + 1) & -(uint32_t)(coins[i] >= heads >> 16);
        bucket -= count & -(uint32_t)(bucket >= count);
        uint32_t told = is_open & (coins[n + i] >= hidden >> 16), kept = told - 1;
        numbers[i] = (uint16_t)(-answer & -told);
        a[i] = (uint16_t)(chosen(is_open, below(prime - 1, draws[3 * n + i]), factor) & kept);
        b[i] = (uint16_t)(chosen(is_open, below(prime, draws[4 * n + i]), move) & kept);
        buckets[i] = (uint8_t)(chosen(is_open, below(count, draws[5 * n + i]), bucket) & kept);
    }
}

/* Subset selection: a set that has a sensitive answer with `truth` of 2^32 words, and any set, which hides an open answer with
 * `hidden` of them. Both are drawn for every answer, and a word for two coins. Rows are done until the draws run low; how many
 * comes back. */
size_t utility_subset(const uint32_t *draws, size_t available, const int64_t *values, uint16_t *numbers, uint8_t *bits,
                      size_t n, const int32_t *answers, uint32_t size, uint32_t members, uint32_t truth, uint32_t hidden) {
    size_t next = 0, done = 0, reserve = 2 * members + 1, row = (size + 7) / 8, parts = (size + 63) / 64;
    uint8_t own[TOGETHER][64 * parts], any[TOGETHER][64 * parts];
    uint32_t picks[members];
    uint64_t set[parts], secret[TOGETHER], kept[TOGETHER];
    while (done < n && next + TOGETHER * reserve <= available) {
        size_t many = n - done < TOGETHER ? n - done : TOGETHER;
        for (size_t i = 0; i < many; i++, next += reserve) {
            int32_t answer = answers[values[done + i]];
            uint32_t is_open = answer < 0, told = is_open & (draws[next] >> 16 >= hidden >> 16);
            uint32_t value = (uint32_t)answer & (is_open - 1), inside = (draws[next] & 0xffff) < truth >> 16;
            subset(draws + next + 1, size, members, value, inside, own[i], picks);
            memset(any[i], 0, 64 * parts);
            floyd(draws + next + 1 + members, size, members, 0, any[i], picks);
            numbers[done + i] = (uint16_t)(-answer & -told);
            secret[i] = (uint64_t)is_open - 1;
            kept[i] = (uint64_t)told - 1;
        }
        for (size_t i = 0; i < many; i++) { /* once the bytes are written: loads of many of them would wait */
            for (size_t part = 0; part < parts; part++) {
                uint64_t one = packed(own[i] + 64 * part), other = packed(any[i] + 64 * part);
                set[part] = (other ^ ((one ^ other) & secret[i])) & kept[i];
            }
            memcpy(bits + (done + i) * row, set, row);
        }
        done += many;
    }
    return done;
}
