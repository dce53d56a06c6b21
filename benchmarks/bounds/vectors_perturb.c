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

/* Numbers rounded to a grid of `steps`: to the point below, or the one above as often as they are near it, by a word each. */
static inline uint64_t rounded(const uint64_t *restrict words, const double *restrict numbers, uint32_t count, double steps,
                               uint16_t *restrict points) {
    int64_t outside = 0; /* all numbers are as wide, or the loop would take them one by one */
    for (uint32_t i = 0; i < count; i++) {
        outside |= !(fabs(numbers[i]) <= 1);
        double position = (numbers[i] + 1) / 2 * steps, point = floor(position);
        point = point < steps - 1 ? point : steps - 1;
        int64_t up = (int64_t)rint((position - point) * 9007199254740992.0);
        points[i] = (uint16_t)((int64_t)point + ((int64_t)(words[i] >> 11) < up));
    }
    return (uint64_t)outside;
}

/* Each number is rounded to a grid, and from there to an end by a draw of four bytes: v. Signs that agree with v in more than
 * half of the places, or with `behind` of 2^32 words in fewer, are drawn as fair bits by eight random ones each, again where
 * they agree in half of them; others that agree in half of them are drawn as well, and taken with `tied` of 2^32 words. Rows
 * are done until the words run low; how many comes back. */
size_t duchi_vector(const uint64_t *words, size_t available, const double *numbers, uint64_t *signs, size_t n,
                    uint32_t dimensions, uint32_t steps, uint32_t behind, uint32_t tied, uint64_t *wrong) {
    size_t row = dimensions / MANY, fair = dimensions / 8, used = 0, done = 0;
    size_t reserve = dimensions + dimensions / 2 + dimensions / 4 + 8 * fair + 1;
    uint8_t flags[dimensions], less[MANY];
    uint16_t points[dimensions];
    uint32_t picks[dimensions / 2];
    for (; done < n && used + reserve <= available; done++) {
        const uint64_t *next = words + used, *last = next + reserve;
        uint64_t *out = signs + done * row, coins = *next++;
        *wrong |= rounded(next, numbers + done * dimensions, dimensions, steps, points);
        next += dimensions;
        const uint32_t *draws = (const uint32_t *)next;
        next += dimensions / 2;
        for (size_t part = 0; part < row; part++) {
            for (int i = 0; i < MANY; i++)
                less[i] = (uint64_t)draws[MANY * part + i] * steps >> 32 < points[MANY * part + i];
            out[part] = packed(less);
        }
        memset(flags, 0, dimensions);
        floyd((const uint32_t *)next, dimensions, dimensions / 2, 0, flags, picks);
        next += dimensions / 4;
        uint64_t ones;
        const uint64_t *agree;
        do {
            agree = next; /* the first of eight bits decides */
            next += fair;
            ones = 0;
            for (size_t part = 0; part < row; part++)
                ones += (uint64_t)__builtin_popcountll(agree[part]);
        } while (2 * ones == dimensions && next + fair <= last);
        uint64_t turned = -(uint64_t)((2 * ones < dimensions) != (coins >> 32 < behind));
        uint64_t half = -(uint64_t)((uint32_t)coins < tied);
        for (size_t part = 0; part < row; part++) {
            uint64_t unequal = agree[part] ^ turned;
            out[part] = ~(out[part] ^ unequal ^ ((unequal ^ packed(flags + MANY * part)) & half));
        }
        used = (size_t)(next - words);
    }
    return done;
}

/* Every number is rounded to a grid of `steps`. `places` coordinates, evenly apart from one that is drawn on, are rounded to an
 * end, which is told with `honest` of 2^32 words. A random word for each number and for each of these, and one. */
uint64_t feature_vector(const uint64_t *restrict words, const double *restrict numbers, uint16_t *restrict starts,
                        uint8_t *restrict values, size_t n, uint32_t dimensions, uint32_t places, uint32_t steps,
                        uint32_t honest) {
    uint64_t wrong = 0;
    uint16_t points[dimensions];
    for (size_t row = 0; row < n; row++) {
        wrong |= rounded(words, numbers + row * dimensions, dimensions, steps, points);
        words += dimensions;
        uint32_t start = (uint32_t)((*words++ >> 32) * dimensions >> 32), signs = 0;
        for (uint32_t place = 0; place < places; place++) {
            uint32_t at = start + place * dimensions / places;
            uint64_t coin = *words++;
            uint32_t high = (uint32_t)((coin & 0xffffffff) * steps >> 32) < points[at >= dimensions ? at - dimensions : at];
            signs |= (uint32_t)(high == (coin >> 32 < honest)) << place;
        }
        starts[row] = (uint16_t)start;
        values[row] = (uint8_t)signs;
    }
    return wrong;
}
