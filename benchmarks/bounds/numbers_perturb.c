/* Mechanisms for means: numbers checked, rounded to a grid of `steps` by a coin, and randomized; two or three random words each. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>

static inline uint32_t below(uint32_t range, uint32_t draw) { return (uint64_t)draw * range >> 32; }

/* Selected by a mask: a branch would be guessed wrong. */
static inline uint32_t chosen(uint32_t which, uint32_t one, uint32_t other) { return other ^ ((one ^ other) & -which); }

/* The point of the grid from -1 to 1 below a number, or the one above: as often as it is near, in parts of 2^53. */
static inline uint32_t rounded(double number, uint64_t word, double steps, uint64_t *outside) {
    *outside |= !(number >= -1 && number <= 1);
    double position = (number + 1) / 2 * steps, point = fmin(floor(position), steps - 1);
    uint64_t up = (uint64_t)rint((position - point) * 9007199254740992.0);
    return (uint32_t)(int64_t)point + ((word >> 11) < up);
}

/* One of two numbers; `heads` of 2^32 words are honest. */
uint64_t duchi(const uint64_t *words, const double *numbers, uint16_t *reports, size_t n, uint32_t steps, uint32_t heads) {
    uint64_t outside = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t point = rounded(numbers[i], words[2 * i], steps, &outside);
        uint32_t high = below(steps, (uint32_t)words[2 * i + 1]) < point;
        reports[i] = (uint16_t)(high == ((uint32_t)(words[2 * i + 1] >> 32) < heads));
    }
    return outside;
}

/* One of the `near` of `size` numbers around the point with `heads` of 2^32 words, else one of the others. */
uint64_t piecewise(const uint64_t *words, const double *numbers, uint16_t *reports, size_t n, uint32_t steps, uint32_t heads,
                   uint32_t near, uint32_t size) {
    uint64_t outside = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t point = rounded(numbers[i], words[2 * i], steps, &outside);
        uint32_t far = (uint32_t)(words[2 * i + 1] >> 32) >= heads, draw = (uint32_t)words[2 * i + 1];
        uint32_t place = point + (near & -far) + below(chosen(far, size - near, near), draw);
        reports[i] = (uint16_t)(place - (size & -(uint32_t)(place >= size)));
    }
    return outside;
}

/* Piecewise with `share` of 2^32 words, else Duchi's. */
uint64_t hybrid(const uint64_t *words, const double *numbers, uint16_t *reports, size_t n, uint32_t steps, uint32_t heads,
                uint32_t near, uint32_t size, uint32_t share, uint32_t honest) {
    uint64_t outside = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t point = rounded(numbers[i], words[3 * i], steps, &outside);
        uint32_t draw = (uint32_t)words[3 * i + 1], coin = (uint32_t)(words[3 * i + 1] >> 32);
        uint32_t far = coin >= heads, high = size + ((below(steps, draw) < point) == (coin < honest));
        uint32_t place = point + (near & -far) + below(chosen(far, size - near, near), draw);
        place -= size & -(uint32_t)(place >= size);
        reports[i] = (uint16_t)chosen((uint32_t)words[3 * i + 2] < share, place, high);
    }
    return outside;
}

/* One of three numbers: the middle one with one of two chances, else an end. */
uint64_t three_outputs(const uint64_t *words, const double *numbers, uint16_t *reports, size_t n, uint32_t steps,
                       uint32_t middle, uint32_t middle_far, uint32_t honest) {
    uint64_t outside = 0;
    for (size_t i = 0; i < n; i++) {
        int32_t point = 2 * (int32_t)rounded(numbers[i], words[3 * i], steps, &outside) - (int32_t)steps;
        uint32_t far = below(steps, (uint32_t)words[3 * i + 1]) < (uint32_t)(point < 0 ? -point : point);
        uint32_t is_middle = (uint32_t)(words[3 * i + 1] >> 32) < chosen(far, middle_far, middle);
        uint32_t kept = (uint32_t)words[3 * i + 2] < chosen(far, honest, 0x80000000u);
        reports[i] = (uint16_t)chosen(is_middle, 1, 2 * (kept == (point >= 0)));
    }
    return outside;
}
