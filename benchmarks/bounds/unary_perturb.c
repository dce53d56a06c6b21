/* Biased bits drawn many at a time: every lane compares its random bits with the digits of the probability. */

#include <stddef.h>
#include <stdint.h>

typedef uint64_t lanes __attribute__((vector_size(32), aligned(8)));

/* Fill `bits` with lanes that are 1 with probability heads / 2^64 until they are full or the words run out;
 * the number of lane groups filled comes back. A lane is decided at the first digit where its random bit differs. */
size_t unary_noise(const lanes *words, size_t available, uint64_t heads, lanes *bits, size_t wanted) {
    size_t next = 0, filled = 0;
    for (; filled < wanted && next + 64 <= available; filled++) {
        lanes below = {0}, open = ~below;
        for (int digit = 63; digit >= 0 && (open[0] | open[1] | open[2] | open[3]); digit--) {
            lanes random = words[next++];
            if (heads >> digit & 1) {
                below |= open & ~random;
                open &= random;
            } else {
                open &= ~random;
            }
        }
        bits[filled] = below;
    }
    return filled;
}

/* Overwrite the bit of each true value with one that is 1 with probability heads / 2^64. */
void unary_truth(const uint64_t *words, const int64_t *values, uint64_t *bits, size_t first, size_t n, size_t size,
                 uint64_t heads) {
    for (size_t i = 0; i < n; i++) {
        size_t place = (first + i) * size + (size_t)values[first + i];
        uint64_t mask = 1ull << (place & 63);
        uint64_t set = words[i] < heads ? mask : 0;
        bits[place >> 6] = (bits[place >> 6] & ~mask) | set;
    }
}
