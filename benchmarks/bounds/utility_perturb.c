/* Sensitive answers randomized, open ones disclosed or hidden among them. `answers` has the place of a sensitive answer, or
 * minus the number of an open one. As many coins are tossed whatever the answer is. */

#include "subset.h"

enum { TOGETHER = 8 };

static inline uint32_t below(uint32_t range, uint32_t draw) { return (uint64_t)draw * range >> 32; }

/* Selected by a mask: a branch would be guessed wrong. */
static inline uint32_t chosen(uint32_t which, uint32_t one, uint32_t other) { return other ^ ((one ^ other) & -which); }

/* A cyclic block design: a point of the true block with `heads` of 2^32 words, or any point where an open answer is hidden,
 * with `hidden` of them. Points from `v` on disclose. One random word each. */
void utility_design(const uint64_t *restrict words, const int64_t *restrict values, uint16_t *restrict reports, size_t n, const int32_t *restrict answers,
                    const int32_t *restrict offsets, uint32_t k, uint32_t v, uint32_t heads, uint32_t hidden) {
    for (size_t i = 0; i < n; i++) {
        int32_t answer = answers[values[i]];
        uint32_t is_open = answer < 0, coin = (uint32_t)(words[i] >> 32), draw = (uint32_t)words[i];
        uint32_t outside = coin >= heads, first = k & -outside;
        uint32_t any = below(chosen(is_open, v, chosen(outside, v - k, k)), draw);
        uint32_t point = (uint32_t)offsets[chosen(is_open, 0, first) + any] + (uint32_t)answer;
        point -= v & -(uint32_t)(point >= v);
        uint32_t open = chosen(coin < hidden, any, v - 1 - (uint32_t)answer);
        reports[i] = (uint16_t)chosen(is_open, open, point);
    }
}

/* Local hashing: two columns of a hash function, the bucket and the open answer; a bucket is kept with `heads` of 2^32 words.
 * x mod prime is x - (x multiplier >> shift) prime. Two random words each. */
void utility_hashing(const uint64_t *restrict words, const int64_t *restrict values, uint16_t *restrict numbers, uint16_t *restrict a, uint16_t *restrict b,
                     uint8_t *restrict buckets, size_t n, const int32_t *restrict answers, uint32_t prime, uint32_t count, uint64_t multiplier,
                     uint32_t shift, uint32_t heads, uint32_t hidden) {
    for (size_t i = 0; i < n; i++) {
        int32_t answer = answers[values[i]];
        uint32_t is_open = answer < 0, place = (uint32_t)answer & (is_open - 1);
        uint64_t seed = words[2 * i];
        uint32_t coin = (uint32_t)(words[2 * i + 1] >> 32), draw = (uint32_t)words[2 * i + 1];
        uint32_t factor = below(prime - 1, (uint32_t)seed), move = below(prime, (uint32_t)(seed >> 32));
        uint32_t hash = (factor + 1) * place + move;
        hash -= (uint32_t)(hash * multiplier >> shift) * prime;
        uint32_t bucket = (uint32_t)(hash * count * multiplier >> shift);
        bucket += (below(count - 1, draw) + 1) & -(uint32_t)(coin >= heads);
        bucket -= count & -(uint32_t)(bucket >= count);
        bucket = chosen(is_open, below(count, draw), bucket);
        uint32_t told = is_open & (coin >= hidden), kept = told - 1;
        numbers[i] = (uint16_t)(-answer & -told);
        a[i] = (uint16_t)(factor & kept);
        b[i] = (uint16_t)(move & kept);
        buckets[i] = (uint8_t)(bucket & kept);
    }
}

/* Subset selection. A set that hides an open answer is any set: one that has
 * value 0 with `blank` of 2^32 words, where that of a sensitive answer has it with `truth` of them. One is drawn for answers
 * that are disclosed too. Rows are done until the draws run low; how many comes back. */
size_t utility_subset(const uint32_t *draws, size_t available, const int64_t *values, uint16_t *numbers, uint8_t *bits,
                      size_t n, const int32_t *answers, uint32_t size, uint32_t members, uint32_t truth, uint32_t blank,
                      uint32_t hidden) {
    size_t next = 0, done = 0, reserve = members + 2, row = (size + 7) / 8;
    size_t parts = (size + 63) / 64;
    uint8_t flags[TOGETHER][64 * parts];
    uint32_t picks[members];
    uint64_t set[parts], kept[TOGETHER];
    while (done < n && next + TOGETHER * reserve <= available) {
        size_t many = n - done < TOGETHER ? n - done : TOGETHER;
        for (size_t i = 0; i < many; i++, next += reserve) {
            int32_t answer = answers[values[done + i]];
            uint32_t is_open = answer < 0, told = is_open & (draws[next] >= hidden);
            uint32_t value = (uint32_t)answer & (is_open - 1), inside = draws[next + 1] < chosen(is_open, blank, truth);
            subset(draws + next + 2, size, members, value, inside, flags[i], picks);
            numbers[done + i] = (uint16_t)(-answer & -told);
            kept[i] = (uint64_t)told - 1;
        }
        for (size_t i = 0; i < many; i++) { /* once the bytes are written: loads of many of them would wait */
            for (size_t part = 0; part < parts; part++)
                set[part] = packed(flags[i] + 64 * part) & kept[i];
            memcpy(bits + (done + i) * row, set, row);
        }
        done += many;
    }
    return done;
}
