/* A round of gradient descent on reports: the gradient of each person's example, cut, turned and randomized, and the sums of
 * what is told. Sixteen people stand side by side in all steps. */

#pragma GCC optimize("no-math-errno", "no-trapping-math")

#include "mixed.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SIDE 16
#define TURNS 3
#define MOST 1024 /* dimensions after filling up */
#define MOST_INPUTS 64

typedef float singles_t __attribute__((vector_size(4 * SIDE)));
typedef int32_t ints_t __attribute__((vector_size(4 * SIDE)));
typedef uint32_t bits_t __attribute__((vector_size(4 * SIDE)));
typedef int16_t shorts_t __attribute__((vector_size(2 * SIDE)));
typedef double doubles_t __attribute__((vector_size(8 * SIDE)));

/* Two steps of the Hadamard transform at a time, and one more where their number is odd. */
#define TRANSFORM(name, type)                                                                                                  \
    static void name(type *side, uint32_t size) {                                                                              \
        uint32_t step = 1;                                                                                                     \
        for (; 4 * step <= size; step *= 4)                                                                                    \
            for (uint32_t start = 0; start < size; start += 4 * step)                                                          \
                for (uint32_t i = start; i < start + step; i++) {                                                              \
                    type a = side[i], b = side[i + step], c = side[i + 2 * step], d = side[i + 3 * step];                      \
                    type ab = a + b, less = a - b, cd = c + d, lower = c - d;                                                  \
                    side[i] = ab + cd, side[i + step] = less + lower;                                                          \
                    side[i + 2 * step] = ab - cd, side[i + 3 * step] = less - lower;                                           \
                }                                                                                                              \
        for (; step < size; step *= 2)                                                                                         \
            for (uint32_t i = 0; i < step; i++) {                                                                              \
                type a = side[i], b = side[i + step];                                                                          \
                side[i] = a + b, side[i + step] = a - b;                                                                       \
            }                                                                                                                  \
    }
TRANSFORM(turn_singles, singles_t)
TRANSFORM(turn_shorts, shorts_t)
TRANSFORM(turn_ints, ints_t)

/* The gradients of softmax regression, cut to length `clip` and divided by it, and one number more for length one. */
static void gradients(const double *features, const int64_t *labels, const uint32_t *who, uint32_t inputs, uint32_t classes,
                      const double *weights, const double *low, const double *high, double clip, singles_t *side) {
    doubles_t given[MOST_INPUTS], rest[MOST_INPUTS], most, sum = {0}, length = {0}, own = {0};
    for (uint32_t i = 0; i < inputs; i++) {
        for (int k = 0; k < SIDE; k++) {
            double x = features[(size_t)who[k] * inputs + i];
            x = x < low[i] ? low[i] : x > high[i] ? high[i] : x;
            given[i][k] = 2 * (x - low[i]) / (high[i] - low[i]) - 1;
        }
        own += given[i] * given[i];
    }
    given[inputs] = own * 0 + 1, own += 1;
    for (uint32_t c = 0; c < classes; c++) {
        doubles_t product = {0};
        for (uint32_t i = 0; i <= inputs; i++)
            product += given[i] * weights[c * (inputs + 1) + i];
        rest[c] = product;
    }
    most = rest[0];
    for (uint32_t c = 1; c < classes; c++)
        for (int k = 0; k < SIDE; k++)
            most[k] = rest[c][k] > most[k] ? rest[c][k] : most[k];
    for (uint32_t c = 0; c < classes; c++) {
        for (int k = 0; k < SIDE; k++)
            rest[c][k] = exp(rest[c][k] - most[k]);
        sum += rest[c];
    }
    for (uint32_t c = 0; c < classes; c++) {
        rest[c] /= sum;
        for (int k = 0; k < SIDE; k++)
            rest[c][k] -= labels[who[k]] == (int64_t)c;
        length += rest[c] * rest[c];
    }
    length *= own;
    doubles_t share, more;
    for (int k = 0; k < SIDE; k++) {
        share[k] = fmin(1, clip / fmax(sqrt(length[k]), 1e-300)) / clip;
        more[k] = sqrt(fmax(0, 1 - length[k] * share[k] * share[k]));
    }
    for (uint32_t c = 0; c < classes; c++)
        for (uint32_t i = 0; i <= inputs; i++)
            side[c * (inputs + 1) + i] = __builtin_convertvector(rest[c] * share * given[i], singles_t);
    side[classes * (inputs + 1)] = __builtin_convertvector(more, singles_t);
}

/* The column at a place of each order by absolute value: the largest key that more columns reach, bit by bit. */
static ints_t column_at(const ints_t *side, uint32_t size, ints_t place) {
    ints_t key = {0}, reach, found = {0};
    for (int bit = 30; bit >= 0; bit--) {
        ints_t tried = key | 1 << bit, open, same = {0};
        reach = same;
        for (uint32_t column = 0; column < size; column++)
            reach -= (side[column] & 0x7FFFFFFF) >= tried;
        open = reach > place;
        key = (tried & open) | (key & ~open);
    }
    reach = (ints_t){0};
    for (uint32_t column = 0; column < size; column++)
        reach -= (side[column] & 0x7FFFFFFF) > key;
    reach = place - reach;
    for (uint32_t column = 0; column < size; column++) {
        ints_t same = (side[column] & 0x7FFFFFFF) == key, here = same & (reach == 0);
        found = ((int32_t)column & here) | (found & ~here);
        reach += same;
    }
    return found;
}

static inline void signs_of(const uint64_t *seeds, uint32_t turn, uint32_t size, bits_t *signs) {
    for (uint32_t word = 0; word < size / 64; word++)
        for (int k = 0; k < SIDE; k++) {
            uint64_t found = mixed(mixed((seeds[k] << 16) + 1) + (turn * (size / 64) + word) * STEP);
            signs[2 * word][k] = (uint32_t)found, signs[2 * word + 1][k] = (uint32_t)(found >> 32);
        }
}

/* Reports of n people, 2 words each, and the sums of what they name, up to the scale of the turns; n is a multiple of 16. */
void gradient_perturb(const uint64_t *words, const double *features, const int64_t *labels, const uint32_t *who, size_t n,
                      const double *weights, const double *low, const double *high, double clip, uint32_t inputs,
                      uint32_t classes, uint32_t size, uint32_t near, uint32_t inside, uint64_t *seeds, uint16_t *codes,
                      double unit, double *sums) {
    static _Thread_local singles_t side[MOST];
    static _Thread_local shorts_t shorts[MOST];
    static _Thread_local ints_t ints[MOST];
    uint32_t width = classes * (inputs + 1) + 1, all = 2 * size;
    float scale = (float)(1 / sqrt(size));
    double whole = unit / (size * sqrt(size));
    for (size_t first = 0; first < n; first += SIDE) {
        bits_t signs[TURNS][MOST / 32];
        ints_t place, opposite, column;
        gradients(features, labels, who + first, inputs, classes, weights, low, high, clip, side);
        memset(side + width, 0, (size - width) * sizeof *side);
        for (int k = 0; k < SIDE; k++) {
            uint64_t word = words[2 * (first + k) + 1];
            uint32_t draw = (uint32_t)word, far = (uint32_t)(word >> 32) >= inside;
            seeds[first + k] = words[2 * (first + k)] >> 16;
            place[k] = (int32_t)(far ? near + ((uint64_t)draw * (all - near) >> 32) : (uint64_t)draw * near >> 32);
        }
        for (uint32_t turn = 0; turn < TURNS; turn++) {
            signs_of(seeds + first, turn, size, signs[turn]);
            for (uint32_t i = 0; i < size; i++)
                side[i] = (singles_t)((bits_t)side[i] ^ signs[turn][i / 32] >> i % 32 << 31);
            turn_singles(side, size);
            for (uint32_t i = 0; i < size; i++)
                side[i] *= scale;
        }
        opposite = 2 * place >= (int32_t)all;
        column = column_at((ints_t *)side, size, (((int32_t)all - 1 - place) & opposite) | (place & ~opposite));
        for (int k = 0; k < SIDE; k++) {
            uint32_t negative = (uint32_t)((ints_t *)side)[column[k]][k] >> 31;
            codes[first + k] = (uint16_t)(2 * (uint32_t)column[k] + (negative ^ (opposite[k] & 1)));
        }
        /* Turned back in whole numbers: after the first transform each is one or minus one. */
        shorts_t sign;
        for (int k = 0; k < SIDE; k++)
            sign[k] = (int16_t)(codes[first + k] & 1);
        shorts[0] = sign;
        for (uint32_t half = 1; half < size; half *= 2) {
            shorts_t own;
            for (int k = 0; k < SIDE; k++)
                own[k] = (int16_t)((codes[first + k] >> 1 & half) != 0);
            for (uint32_t i = 0; i < half; i++)
                shorts[half + i] = shorts[i] ^ own;
        }
        for (uint32_t i = 0; i < size; i++) {
            shorts_t bit = __builtin_convertvector((ints_t)(signs[2][i / 32] >> i % 32 & 1), shorts_t);
            shorts[i] = 1 - 2 * (shorts[i] ^ bit);
        }
        turn_shorts(shorts, size);
        for (uint32_t i = 0; i < size; i++) {
            ints_t minus = -(ints_t)(signs[1][i / 32] >> i % 32 & 1);
            ints[i] = (__builtin_convertvector(shorts[i], ints_t) ^ minus) - minus;
        }
        turn_ints(ints, size);
        for (uint32_t i = 0; i < width; i++) {
            ints_t minus = -(ints_t)(signs[0][i / 32] >> i % 32 & 1), found = (ints[i] ^ minus) - minus;
            doubles_t told = __builtin_convertvector(found, doubles_t) * whole + unit;
            double sum = 0;
            for (int k = 0; k < SIDE; k++)
                sum += rint(told[k]);
            sums[i] += sum;
        }
    }
}
