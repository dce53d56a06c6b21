/* Vectors of numbers from -1 to 1 that become bits: BitRand's codes, and Duchi's signs for all coordinates together. */

#include "subset.h"
#include <math.h>

enum { MANY = 64 }; /* numbers that make a word of bits */

/* Flip the noise of `count` numbers, a row of `row` words for each of `bits` bits at `planes`, by the bits of their codes: a
 * sign, then a magnitude in units of 1 / `scale`, cut off, at most the largest. What is not finite comes back. */
uint64_t bitrand(const double *numbers, uint64_t *const *planes, size_t count, int bits, double scale) {
    uint64_t wrong = 0;
    int most = (1 << (bits - 1)) - 1;
    for (size_t first = 0; first < count; first += MANY) {
        uint16_t codes[MANY];
        uint8_t low[MANY], high[MANY];
        for (int i = 0; i < MANY; i++) {
            double number = numbers[first + i], size = fabs(number) * scale;
            wrong |= !(fabs(number) <= 1.7976931348623157e308);
            size = size < most ? size : most;
            codes[i] = (uint16_t)((int)size | (number >= 0) << (bits - 1));
        }
        for (int bit = 0; bit < bits; bit += 8) {
            for (int i = 0; i < MANY; i++)
                low[i] = (uint8_t)(codes[i] >> bit);
            for (int more = 0; more < 8 && bit + more < bits; more++) {
                for (int i = 0; i < MANY; i++)
                    high[i] = low[i] >> more;
                planes[bits - 1 - bit - more][first / MANY] ^= packed(high);
            }
        }
    }
    return wrong;
}

/* Each number is rounded to an end by a coin of 16 bits, and where that decides nothing by 37 more: v. Signs that agree with v
 * in more than half of the places, or with `behind` of 2^32 words in fewer, are drawn as fair bits, again where they agree in
 * half of them; with `tied` of 2^32 words they agree in half. Rows are done until the words run low; how many comes back. */
size_t duchi_vector(const uint64_t *words, size_t available, const double *numbers, uint64_t *signs, size_t n,
                    uint32_t dimensions, uint32_t behind, uint32_t tied, uint64_t *wrong) {
    size_t next = 0, done = 0, row = dimensions / MANY, reserve = 16 * row + dimensions;
    for (; done < n && next + reserve <= available; done++) {
        const double *own = numbers + done * dimensions;
        uint64_t *out = signs + done * row, coins = words[next++], ones = 0, outside = 0;
        const uint16_t *draws = (const uint16_t *)(words + next);
        next += 16 * row;
        for (size_t part = 0; part < row; part++) {
            uint8_t less[MANY], same[MANY];
            for (int i = 0; i < MANY; i++) {
                double number = own[MANY * part + i];
                outside |= !(number >= -1 && number <= 1);
                int32_t top = (int32_t)((number + 1) * 32768), draw = draws[MANY * part + i];
                less[i] = draw < top;
                same[i] = draw == top;
            }
            out[part] = packed(less);
            for (uint64_t rest = packed(same); rest; rest &= rest - 1) {
                int i = __builtin_ctzll(rest);
                uint64_t heads = (uint64_t)rint((own[MANY * part + i] + 1) * 4503599627370496.0);
                uint64_t set = words[next++] >> 27 < (heads & 0x1fffffffffull);
                out[part] |= set << i;
            }
        }
        *wrong |= outside;
        uint64_t agree[row];
        if ((uint32_t)coins < tied) { /* Floyd's algorithm: half of the places */
            memset(agree, 0, sizeof agree);
            for (uint32_t last = dimensions / 2; last < dimensions; last++) {
                uint32_t pick = (uint32_t)((words[next++] >> 32) * (last + 1) >> 32);
                pick = agree[pick >> 6] >> (pick & 63) & 1 ? last : pick;
                agree[pick >> 6] |= 1ull << (pick & 63);
            }
        } else {
            do {
                ones = 0;
                for (size_t part = 0; part < row; part++) {
                    agree[part] = words[next++];
                    ones += (uint64_t)__builtin_popcountll(agree[part]);
                }
            } while (2 * ones == dimensions && next + row <= available);
            uint64_t turned = -(uint64_t)((2 * ones < dimensions) != (coins >> 32 < behind));
            for (size_t part = 0; part < row; part++)
                agree[part] ^= turned;
        }
        for (size_t part = 0; part < row; part++)
            out[part] = ~(out[part] ^ agree[part]);
    }
    return done;
}

/* `places` coordinates, evenly apart from one that is drawn on, each rounded to a grid of `steps` by a coin of 53 bits, then to
 * an end, which is told with `honest` of 2^32 words. All numbers are checked. Two random words for a coordinate, and one. */
uint64_t feature_vector(const uint64_t *restrict words, const double *restrict numbers, uint16_t *restrict starts,
                        uint8_t *restrict values, size_t n, uint32_t dimensions, uint32_t places, uint32_t steps,
                        uint32_t honest) {
    uint64_t wrong = 0;
    for (size_t row = 0; row < n; row++) {
        const double *own = numbers + row * dimensions;
        for (uint32_t i = 0; i < dimensions; i++)
            wrong |= !(own[i] >= -1 && own[i] <= 1);
        uint32_t start = (uint32_t)((*words++ >> 32) * dimensions >> 32), signs = 0;
        for (uint32_t place = 0; place < places; place++) {
            uint32_t at = start + place * dimensions / places;
            double position = (own[at >= dimensions ? at - dimensions : at] + 1) / 2 * steps;
            double point = fmin(floor(position), steps - 1.0);
            uint64_t up = (uint64_t)rint((position - point) * 9007199254740992.0), word = *words++, coin = *words++;
            uint32_t high = (uint32_t)((coin & 0xffffffff) * steps >> 32) < (uint32_t)point + (word >> 11 < up);
            signs |= (uint32_t)(high == (coin >> 32 < honest)) << place;
        }
        starts[row] = (uint16_t)start;
        values[row] = (uint8_t)signs;
    }
    return wrong;
}
