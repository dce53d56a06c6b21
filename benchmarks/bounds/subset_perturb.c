/* Uniform subsets by Floyd's algorithm on a bitmap, with the true value in or out. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Uniform on 0 .. range - 1 by multiplication; a draw that would bias is thrown away (Lemire). */
static inline uint32_t below(uint32_t range, const uint32_t *draws, size_t *next, size_t available) {
    uint64_t product = (uint64_t)draws[(*next)++] * range;
    if ((uint32_t)product < range) {
        uint32_t biased = -range % range;
        while ((uint32_t)product < biased && *next < available)
            product = (uint64_t)draws[(*next)++] * range;
    }
    return product >> 32;
}

/* Write one bitmap of `size` bits for each value until all are done or the draws run low; the number done comes back.
 * The subset holds `members` values, the true one with probability truth / 2^64. `size` is 16 or a multiple of 64. */
size_t subset_perturb(const uint32_t *draws, size_t available, const int64_t *values, uint8_t *bits, size_t n,
                      uint32_t size, uint32_t members, uint64_t truth) {
    size_t next = 0, done = 0, reserve = members + 64, bytes = size / 8;
    uint64_t set[(size + 63) / 64];
    for (; done < n && next + reserve <= available; done++) {
        uint32_t value = (uint32_t)values[done];
        uint64_t coin = (uint64_t)draws[next] << 32 | draws[next + 1];
        next += 2;
        uint32_t others = members;
        memset(set, 0, sizeof set);
        if (coin < truth) {
            set[value >> 6] |= 1ull << (value & 63);
            others--;
        }
        for (uint32_t last = size - 1 - others; last < size - 1; last++) {
            uint32_t pick = below(last + 1, draws, &next, available);
            pick = pick == value ? size - 1 : pick; /* the last value stands in for the true one */
            uint32_t spare = last == value ? size - 1 : last;
            pick = set[pick >> 6] >> (pick & 63) & 1 ? spare : pick;
            set[pick >> 6] |= 1ull << (pick & 63);
        }
        memcpy(bits + done * bytes, set, bytes);
    }
    return done;
}
