/* Uniform subsets with the true value in or out. */

#include "subset.h"

enum { TOGETHER = 8 };

/* Write one bitmap of `size` bits for each value until all are done or the draws run low; the number done comes back.
 * The subset holds `members` values, the true one with probability truth / 2^64. `size` is a multiple of 8. */
size_t subset_perturb(const uint32_t *draws, size_t available, const int64_t *values, uint8_t *bits, size_t n,
                      uint32_t size, uint32_t members, uint64_t truth) {
    size_t next = 0, done = 0, reserve = members + 2, row = size / 8, parts = (size + 63) / 64;
    uint8_t flags[TOGETHER][64 * parts];
    uint32_t picks[members];
    uint64_t set[parts];
    while (done < n && next + TOGETHER * reserve <= available) {
        size_t many = n - done < TOGETHER ? n - done : TOGETHER;
        for (size_t i = 0; i < many; i++, next += reserve) {
            uint64_t coin = (uint64_t)draws[next] << 32 | draws[next + 1];
            subset(draws + next + 2, size, members, (uint32_t)values[done + i], coin < truth, flags[i], picks);
        }
        for (size_t i = 0; i < many; i++) { /* once the bytes are written: loads of many of them would wait */
            for (size_t part = 0; part < parts; part++)
                set[part] = packed(flags[i] + 64 * part);
            memcpy(bits + (done + i) * row, set, row);
        }
        done += many;
    }
    return done;
}
