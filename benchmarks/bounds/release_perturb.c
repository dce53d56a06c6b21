/* Releases near the truth from one random word each: a place is drawn and the point at that place is looked up. */

#include <stddef.h>
#include <stdint.h>

static inline uint32_t place_of(uint64_t word, uint32_t near, uint32_t size, uint32_t heads) {
    uint32_t far = (uint32_t)(word >> 32) >= heads; /* selected by masks: a branch would be guessed wrong */
    uint64_t among = near ^ ((near ^ (size - near)) & -far);
    return (near & -far) + (uint32_t)((word & 0xffffffff) * among >> 32);
}

/* On a line: the near points begin at starts[value], all others follow in turn. */
void around_perturb(const uint64_t *words, const int64_t *values, uint32_t *reports, size_t n, const uint32_t *starts,
                    uint32_t near, uint32_t size, uint32_t heads) {
    for (size_t i = 0; i < n; i++) {
        uint32_t place = place_of(words[i], near, size, heads), start = starts[values[i]], other = place - near;
        uint32_t here = start + place, there = other + (near & -(uint32_t)(other >= start));
        reports[i] = there ^ ((here ^ there) & -(uint32_t)(place < near));
    }
}

/* In the plane: row `value` of `orders` has all points, the near ones first. */
void ordered_perturb(const uint64_t *words, const int64_t *values, uint32_t *reports, size_t n, const uint16_t *orders,
                     uint32_t near, uint32_t size, uint32_t heads) {
    for (size_t i = 0; i < n; i++)
        reports[i] = orders[(size_t)values[i] * size + place_of(words[i], near, size, heads)];
}

/* By weights: the first column of a row of running sums (one row for all if `rows` is 1) that is above the draw, found from a
 * guess by its upper bits on. With `orders` the point at that place, else the column itself. */
void weighted_perturb(const uint64_t *words, const int64_t *values, uint32_t *reports, size_t n, const uint64_t *edges,
                      const uint16_t *guesses, uint32_t rows, uint32_t size, uint32_t buckets, uint64_t total,
                      unsigned shift, const uint16_t *orders) {
    for (size_t i = 0; i < n; i++) {
        uint64_t draw = (uint64_t)((unsigned __int128)words[i] * total >> 64);
        size_t row = rows == 1 ? 0 : (size_t)values[i];
        const uint64_t *own = edges + row * size;
        uint32_t column = guesses[row * buckets + (draw >> shift)];
        while (own[column] <= draw)
            column++;
        reports[i] = orders ? orders[(size_t)values[i] * size + column] : column;
    }
}
