/* One pair of a person's set, randomized. Sets are checked: keys and numbers in range, no key twice. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>

static inline uint32_t below(uint32_t range, uint32_t draw) { return (uint64_t)draw * range >> 32; }

static inline uint64_t faults(const int64_t *keys, const double *numbers, size_t count, uint64_t all) {
    uint64_t found = 0;
    for (size_t i = 0; i < count; i++) {
        found |= (uint64_t)keys[i] >= all || !(numbers[i] >= -1 && numbers[i] <= 1);
        for (size_t j = 0; j < i; j++)
            found |= keys[i] == keys[j];
    }
    return found;
}

static inline uint32_t is_high(double number, uint64_t word) {
    return (word >> 11) < (uint64_t)rint((number + 1) / 2 * 9007199254740992.0);
}

/* A set is filled up to `most` keys with ones that do not exist; one of them is drawn, told with `kept` of 2^32 words, else any
 * other; with its sign, honest with `honest` of 2^32 words. Three random words each. */
uint64_t direct_pair(const uint64_t *words, const int64_t *starts, const int64_t *keys, const double *numbers,
                     uint16_t *reports, size_t n, uint32_t all, uint32_t most, uint32_t kept, uint32_t honest) {
    uint64_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        size_t first = (size_t)starts[i], count = (size_t)(starts[i + 1] - starts[i]);
        uint64_t a = words[3 * i], b = words[3 * i + 1], c = words[3 * i + 2];
        uint32_t chosen = below(most, (uint32_t)c), is_own = chosen < count, size = all + most;
        wrong |= faults(keys + first, numbers + first, count, all);
        uint32_t key = is_own ? (uint32_t)keys[first + chosen] : all + chosen;
        uint32_t high = is_high(is_own ? numbers[first + chosen] : 0, a);
        uint32_t move = (1 + below(size - 1, (uint32_t)b)) & -(uint32_t)((uint32_t)(b >> 32) >= kept);
        uint32_t told = key + move, coin = (uint32_t)(c >> 32);
        told -= told >= size ? size : 0;
        uint32_t sign = move ? coin & 1 : high == (coin >> 16 < honest >> 16); /* two coins */
        reports[i] = (uint16_t)(told < all ? 2 * told + sign : 2 * all);
    }
    return wrong;
}

/* A key is drawn; whether the person has it, and its sign, is randomized: a person without it has a sign of its own, by a coin
 * of 53 bits, and a coin of its own for whether it is told. Three random words each. */
uint64_t asked_pair(const uint64_t *words, const int64_t *starts, const int64_t *keys, const double *numbers,
                    uint16_t *asked, uint8_t *states, size_t n, uint32_t all, uint32_t absent, uint32_t present,
                    uint32_t honest) {
    uint64_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        size_t first = (size_t)starts[i], count = (size_t)(starts[i + 1] - starts[i]);
        uint64_t a = words[3 * i], b = words[3 * i + 1], c = words[3 * i + 2];
        uint32_t key = below(all, (uint32_t)a), has = 0;
        double number = 0;
        wrong |= faults(keys + first, numbers + first, count, all);
        for (size_t j = 0; j < count; j++) {
            uint32_t same = keys[first + j] == key;
            number = same ? numbers[first + j] : number;
            has |= same;
        }
        uint32_t high = is_high(number, b), any = is_high(0, c), coin = (uint32_t)(b & 2047) << 11 | (uint32_t)(c & 2047);
        uint32_t missing = (uint16_t)(a >> 32) < absent >> 16, hidden = a >> 48 >= present >> 16;
        uint32_t empty = has ? hidden : missing, sign = has ? high == (coin < honest >> 10) : any;
        asked[i] = (uint16_t)key;
        states[i] = (uint8_t)(empty ? 0 : 1 + sign);
    }
    return wrong;
}

static inline void put(uint8_t *bits, size_t place, uint32_t value, uint32_t where) {
    uint32_t bit = where << (place & 7);
    bits[place >> 3] = (uint8_t)((bits[place >> 3] & ~bit) | (bit & -value));
}

/* Two rows of noise, "high" and "low", in which the ends of the pair that is drawn are put: the true one with `named` of 2^32
 * words, the other one with `too` beside it, or by a coin of its own with `only` where it is missing. Three random words each. */
uint64_t unary_pair(const uint64_t *words, const int64_t *starts, const int64_t *keys, const double *numbers, uint8_t *high,
                    uint8_t *low, size_t n, uint32_t all, uint32_t most, uint32_t named, uint32_t too, uint32_t only) {
    uint64_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        size_t first = (size_t)starts[i], count = (size_t)(starts[i + 1] - starts[i]);
        uint64_t a = words[3 * i], b = words[3 * i + 1], c = words[3 * i + 2];
        uint32_t chosen = below(most, (uint32_t)c), is_own = chosen < count;
        wrong |= faults(keys + first, numbers + first, count, all);
        size_t place = i * all + (is_own ? (size_t)keys[first + chosen] : 0);
        uint32_t up = is_high(is_own ? numbers[first + chosen] : 0, a);
        uint32_t end = (uint32_t)(b >> 32) < named, beside = (uint32_t)b < too, alone = (uint32_t)(c >> 32) < only;
        uint32_t other = end ? beside : alone;
        put(high, place, up ? end : other, is_own);
        put(low, place, up ? other : end, is_own);
    }
    return wrong;
}

/* Bits of one row that another one does not have. */
void without(uint64_t *bits, const uint64_t *others, size_t words) {
    for (size_t i = 0; i < words; i++)
        bits[i] &= ~others[i];
}
