/* A uniform subset by Floyd's algorithm, with a byte for each value: no step waits for the one before. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* A word with the lowest bits of 64 bytes. */
static inline uint64_t packed(const uint8_t *flags) {
    uint64_t word = 0;
#if defined(__AVX2__)
    for (int half = 0; half < 2; half++) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(flags + 32 * half));
        word |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(bytes, 7)) << (32 * half);
    }
#else
    for (int part = 0; part < 8; part++) {
        uint64_t bytes;
        memcpy(&bytes, flags + 8 * part, 8);
        word |= ((bytes & 0x0101010101010101ull) * 0x0102040810204080ull >> 56) << (8 * part);
    }
#endif
    return word;
}

/* Mark `members` of `size` values, or one less; a draw is taken for each. `flags` is a zero for each value, `picks` is room. */
static inline void floyd(const uint32_t *restrict draws, uint32_t size, uint32_t members, uint32_t one_less,
                         uint8_t *restrict flags, uint32_t *restrict picks) {
    uint32_t first = size - members;
    for (uint32_t step = 0; step < members; step++)
        picks[step] = (uint32_t)((uint64_t)draws[step] * (first + step + 1) >> 32);
    flags[picks[0]] = (uint8_t)(1 - one_less);
    for (uint32_t step = 1; step < members; step++) {
        flags[first + step] = flags[picks[step]]; /* which places are written does not depend on what they hold */
        flags[picks[step]] = 1;
    }
}

/* Mark `members` of `size` values, with `value` among them if `inside`, else without it. */
static inline void subset(const uint32_t *restrict draws, uint32_t size, uint32_t members, uint32_t value, uint32_t inside,
                          uint8_t *restrict flags, uint32_t *restrict picks) {
    memset(flags, 0, (size + 63) / 64 * 64);
    floyd(draws, size - 1, members, inside, flags, picks);
    flags[size - 1] = flags[value]; /* the last value stood in for the true one */
    flags[value] = (uint8_t)inside;
}
