/* Local hashing and the wheel from two random words for each report; draws are by multiplication, none is thrown away. */

#include <stddef.h>
#include <stdint.h>

static inline uint32_t below(uint32_t range, uint32_t draw) { return (uint64_t)draw * range >> 32; }

/* A bucket is kept with probability heads / 2^32. */
void hashing_perturb(const uint64_t *words, const int64_t *values, uint16_t *a, uint16_t *b, uint16_t *buckets, size_t n,
                     uint32_t prime, uint32_t count, uint32_t heads) {
    for (size_t i = 0; i < n; i++) {
        uint64_t seed = words[2 * i], coin = words[2 * i + 1];
        uint32_t factor = below(prime - 1, (uint32_t)seed) + 1, shift = below(prime, (uint32_t)(seed >> 32));
        uint32_t bucket = (factor * (uint32_t)values[i] + shift) % prime * count / prime;
        bucket += coin >> 32 < heads ? 0 : below(count - 1, (uint32_t)coin) + 1;
        a[i] = (uint16_t)(factor - 1);
        b[i] = (uint16_t)shift;
        buckets[i] = (uint16_t)(bucket - (bucket >= count ? count : 0));
    }
}

/* The place is on the arc with probability heads / 2^32. */
void wheel_perturb(const uint64_t *words, const int64_t *values, uint16_t *a, uint16_t *places, size_t n, uint32_t prime,
                   uint32_t arc, uint32_t heads) {
    for (size_t i = 0; i < n; i++) {
        uint64_t seed = words[2 * i], coin = words[2 * i + 1];
        uint32_t factor = below(prime - 1, (uint32_t)seed) + 1;
        uint32_t inside = below(arc, (uint32_t)coin), outside = arc + below(prime - arc, (uint32_t)coin);
        uint32_t offset = seed >> 32 < heads ? inside : outside;
        a[i] = (uint16_t)(factor - 1);
        places[i] = (uint16_t)((factor * (uint32_t)values[i] + offset) % prime);
    }
}
