/* SplitMix64, by which directions and turns follow from their seeds. */

#include <stdint.h>

#define STEP 0x9E3779B97F4A7C15ull

static inline uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}
