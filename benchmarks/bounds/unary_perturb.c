/* Biased bits drawn many at a time: every lane compares a random byte, and where that decides nothing a word, with the
 * probability. */

#include <stddef.h>
#include <stdint.h>

enum { GROUP = 64, PLANES = 8, SPARE = 128 }; /* words of lanes, their random bits, and words for lanes that are undecided */

/* Fill `bits` with groups of lanes that are 1 with probability heads / 2^64 until they are full or the words run out; the
 * number of groups filled comes back. One lane of 256 is undecided by its byte. */
size_t unary_noise(const uint64_t *words, size_t available, uint64_t heads, uint64_t *bits, size_t wanted) {
    size_t filled = 0;
    uint64_t digit[PLANES], same[GROUP];
    for (int plane = 0; plane < PLANES; plane++)
        digit[plane] = -(heads >> (63 - plane) & 1);
    while (filled < wanted && available >= PLANES * GROUP + SPARE) {
        uint64_t *below = bits + GROUP * filled;
        for (int i = 0; i < GROUP; i++) {
            uint64_t less = 0, equal = ~0ull;
            for (int plane = 0; plane < PLANES; plane++) {
                uint64_t differs = words[plane * GROUP + i] ^ digit[plane];
                less |= equal & differs & digit[plane];
                equal &= ~differs;
            }
            below[i] = less;
            same[i] = equal;
        }
        words += PLANES * GROUP;
        available -= PLANES * GROUP;
        uint8_t open[GROUP];
        size_t count = 0;
        for (int i = 0; i < GROUP; i++) { /* every word is written: a branch would often be guessed wrong */
            open[count] = (uint8_t)i;
            count += same[i] != 0;
        }
        const uint64_t *last = words + SPARE;
        for (size_t k = 0; k < count; k++)
            for (uint64_t rest = same[open[k]]; rest && words < last; rest &= rest - 1) {
                uint64_t set = *words++ < heads << PLANES;
                below[open[k]] |= set << __builtin_ctzll(rest);
            }
        available -= SPARE - (size_t)(last - words);
        filled += words < last; /* as good as always; else the group is drawn again */
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
