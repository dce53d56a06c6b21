/* Vectors of length one, told by one of some random directions: randomized and summed. Eight coordinates stand side by side. */

#pragma GCC optimize("no-math-errno", "no-trapping-math")

#include "mixed.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#define LANES 8
#define MOST_CODES 4096

typedef uint64_t words_t __attribute__((vector_size(8 * LANES)));
typedef int64_t whole_t __attribute__((vector_size(8 * LANES)));
typedef double floats_t __attribute__((vector_size(8 * LANES)));

static inline floats_t uniform(words_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    x ^= x >> 31;
    return (__builtin_convertvector((whole_t)(x >> 11), floats_t) + 0.5) * 0x1p-53;
}

static inline floats_t root(floats_t x) {
#ifdef __AVX512F__
    return (floats_t)_mm512_sqrt_pd((__m512d)x);
#else
    for (int lane = 0; lane < LANES; lane++)
        x[lane] = sqrt(x[lane]);
    return x;
#endif
}

static inline floats_t lower(floats_t x) {
#ifdef __AVX512F__
    return (floats_t)_mm512_roundscale_pd((__m512d)x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#else
    for (int lane = 0; lane < LANES; lane++)
        x[lane] = floor(x[lane]);
    return x;
#endif
}

/* -log u: u = 2^e m with m from sqrt(1/2) to sqrt(2), log m = 2 artanh((m - 1) / (m + 1)). */
static inline floats_t minus_log(floats_t u) {
    whole_t bits = (whole_t)u, e = (bits - 0x3FE6A09E667F3BCDll) >> 52;
    floats_t m = (floats_t)(bits - (e << 52)), s = (m - 1.0) / (m + 1.0), z = s * s;
    floats_t p = 2. / 9 + z * (2. / 11 + z * (2. / 13 + z * (2. / 15 + z * (2. / 17 + z * (2. / 19)))));
    p = 2.0 + z * (2. / 3 + z * (2. / 5 + z * (2. / 7 + z * p)));
    return -(__builtin_convertvector(e, floats_t) * 0.6931471805599453 + s * p);
}

/* Cosine and sine of a part of a whole turn. */
static inline void turned(floats_t turn, floats_t *cosine, floats_t *sine) {
    floats_t quarters = lower(4.0 * turn + 0.5), t = (4.0 * turn - quarters) * 1.5707963267948966, z = t * t;
    floats_t s = 1. / 362880 + z * (-1. / 39916800 + z * (1. / 6227020800. + z * (-1. / 1307674368000.)));
    s = t + t * z * (-1. / 6 + z * (1. / 120 + z * (-1. / 5040 + z * s)));
    floats_t c = 1. / 40320 + z * (-1. / 3628800 + z * (1. / 479001600. + z * (-1. / 87178291200. + z * (1. / 20922789888000.))));
    c = 1.0 + z * (-1. / 2 + z * (1. / 24 + z * (-1. / 720 + z * c)));
    whole_t k = __builtin_convertvector(quarters, whole_t), odd = -(k & 1);
    whole_t a = ((whole_t)s & odd) | ((whole_t)c & ~odd), b = ((whole_t)c & odd) | ((whole_t)s & ~odd);
    *cosine = (floats_t)(a ^ ((k + 1) & 2) << 62);
    *sine = (floats_t)(b ^ (k & 2) << 62);
}

static inline double total(floats_t x) {
    double sum = 0;
    for (int lane = 0; lane < LANES; lane++)
        sum += x[lane];
    return sum;
}

/* The code at a place of the order by nearness: how many are nearer, or as near with a smaller number, is counted. */
static uint32_t code_at(const double *near, uint32_t codes, uint32_t place) {
    for (uint32_t one = 0; one < codes; one++) {
        whole_t before = {0};
        for (uint32_t i = 0; i < codes; i += LANES) {
            floats_t other;
            memcpy(&other, near + i, sizeof other);
            before -= (whole_t)(other > near[one]);
        }
        int64_t count = 0;
        for (int lane = 0; lane < LANES; lane++)
            count += before[lane];
        if (count == place)
            return one;
    }
    return 0;
}

/* Reports of n rows of 16 h numbers, and the sums of the directions that they name. One word is the seed, one draws a place:
 * one of the `near` nearest with `inside` of 2^32 words, else one of the others. */
uint64_t codes_perturb(const uint64_t *words, const double *rows, uint64_t *seeds, uint16_t *chosen, size_t n, double *sums,
                       uint32_t dimensions, uint32_t codes, uint32_t near, uint32_t inside) {
    double nearness[MOST_CODES], named[1 << 16];
    uint32_t half = dimensions / 2;
    uint64_t wrong = 0;
    words_t numbers;
    for (int lane = 0; lane < LANES; lane++)
        numbers[lane] = (uint64_t)lane * STEP;
    for (size_t row = 0; row < n; row++) {
        const double *own = rows + row * dimensions;
        uint64_t seed = words[2 * row] >> 16;
        uint32_t draw = (uint32_t)words[2 * row + 1], far = (uint32_t)(words[2 * row + 1] >> 32) >= inside;
        uint32_t place = far ? near + (uint32_t)((uint64_t)draw * (codes - near) >> 32) : (uint32_t)((uint64_t)draw * near >> 32);
        floats_t length = {0};
        for (uint32_t j = 0; j < dimensions; j += LANES) {
            floats_t x;
            memcpy(&x, own + j, sizeof x);
            length += x * x;
        }
        wrong |= !(fabs(sqrt(total(length)) - 1) < 1e-2);
        for (uint32_t code = 0; code < codes; code++) {
            words_t first = numbers + mixed((seed << 16) + code + 1), second = first + half * STEP;
            floats_t product = {0}, square = {0};
            for (uint32_t j = 0; j < half; j += LANES) {
                floats_t x, y, cosine, sine, radius = 2.0 * minus_log(uniform(first));
                memcpy(&x, own + j, sizeof x);
                memcpy(&y, own + half + j, sizeof y);
                turned(uniform(second), &cosine, &sine);
                product += root(radius) * (cosine * x + sine * y);
                square += radius;
                first += LANES * STEP;
                second += LANES * STEP;
            }
            nearness[code] = total(product) / sqrt(total(square));
        }
        uint32_t code = code_at(nearness, codes, place);
        seeds[row] = seed, chosen[row] = (uint16_t)code;
        words_t first = numbers + mixed((seed << 16) + code + 1), second = first + half * STEP;
        floats_t square = {0};
        for (uint32_t j = 0; j < half; j += LANES) {
            floats_t cosine, sine, radius = 2.0 * minus_log(uniform(first)), r = root(radius), x, y;
            turned(uniform(second), &cosine, &sine);
            x = r * cosine, y = r * sine, square += radius;
            memcpy(named + j, &x, sizeof x);
            memcpy(named + half + j, &y, sizeof y);
            first += LANES * STEP;
            second += LANES * STEP;
        }
        double scale = 1 / sqrt(total(square));
        for (uint32_t j = 0; j < dimensions; j++)
            sums[j] += rint((named[j] * scale + 1) * 16777216.0);
    }
    return wrong;
}
