/* Sparse vectors of two values, encoded in short chunks: Poisson private representation and an arithmetic code.
 *
 * The same steps as ours, with the same draws, probabilities and messages. Eight draws stand side by side in a vector, and the
 * exponential numbers of all random words are made together. */

#pragma GCC optimize("no-math-errno", "no-trapping-math")

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#define LANES 8
#define KNOWN 8   /* draws of every chunk that are looked at beforehand: most of those that are asked for */
#define GROUP 64  /* chunks for which that is done together */
#define TIES 8192 /* of a group: room for a thousand coordinates */
#define TERMS 20
#define LOW 0xFFFFFFFFull

typedef uint64_t words_t __attribute__((vector_size(8 * LANES)));
typedef int64_t whole_t __attribute__((vector_size(8 * LANES)));
typedef double floats_t __attribute__((vector_size(8 * LANES)));

typedef struct {
    uint64_t threshold, size, left, right, rounds[6];
    double series[TERMS];
    const double *factors; /* e^(-epsilon n), n from -most to most */
    int64_t most;
    const int64_t *sums;    /* of the weights of symbols */
    const uint64_t *digits; /* in parts of 2^64 how often each binary digit of a geometric number is one */
    uint64_t binary, margin, least;
    double load;
} law_t;

/* Where the work stands when words lack: which vector, its chunk, key and number of chunks (0 before they are drawn). */
typedef struct {
    uint64_t vector, chunk, key, chunks;
} state_t;

/* ---- Philox4x32-10, of which only the lower halves of words are looked at ---- */

static inline words_t times(words_t a, uint32_t b) {
#ifdef __AVX512F__
    return (words_t)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi64(b));
#else
    return (a & LOW) * b;
#endif
}

static inline words_t digits_of(words_t c0, words_t c1, words_t c2, words_t c3, words_t k0, words_t k1, words_t bit) {
    for (int round = 0; round < 10; round++) {
        words_t first = times(c0, 0xD2511F53u), second = times(c2, 0xCD9E8D57u);
        c0 = (second >> 32) ^ c1 ^ k0;
        c1 = second;
        c2 = (first >> 32) ^ c3 ^ k1;
        c3 = first;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return (c0 >> bit & 1) << 3 | (c1 >> bit & 1) << 2 | (c2 >> bit & 1) << 1 | (c3 >> bit & 1);
}

static inline uint32_t digit_of(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t k0, uint32_t k1, uint32_t bit) {
    for (int round = 0; round < 10; round++) {
        uint64_t first = (uint64_t)c0 * 0xD2511F53u, second = (uint64_t)c2 * 0xCD9E8D57u;
        c0 = (uint32_t)(second >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)second;
        c2 = (uint32_t)(first >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)first;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return (c0 >> bit & 1) << 3 | (c1 >> bit & 1) << 2 | (c2 >> bit & 1) << 1 | (c3 >> bit & 1);
}

static int is_one(uint64_t place, uint64_t chunk, uint64_t label, uint64_t key, uint64_t threshold, uint32_t group) {
    for (; group < 8; group++) {
        uint32_t digit = digit_of((uint32_t)((place >> 5 << 3) + group), (uint32_t)chunk, (uint32_t)label,
                                  (uint32_t)(label >> 32), (uint32_t)key, (uint32_t)(key >> 32), place & 31);
        uint32_t wanted = threshold >> (28 - 4 * group) & 15;
        if (digit != wanted)
            return digit < wanted;
    }
    return 0;
}

/* ---- numbers ---- */

static inline double uniform(uint64_t word) { return ((double)(int64_t)(word >> 11) + 0.5) * 0x1p-53; }

/* -log(1 - u): with m 2^e = 1 - u, m from sqrt(1/2) to sqrt(2), log m = 2 artanh((m - 1) / (m + 1)); u itself where e = 0. */
void waits_of(const uint64_t *words, double *waits, size_t n) {
    for (size_t i = 0; i < n; i += LANES) {
        words_t word;
        memcpy(&word, words + i, sizeof word);
        floats_t u = (__builtin_convertvector((whole_t)(word >> 11), floats_t) + 0.5) * 0x1p-53, rest = 1.0 - u;
        whole_t bits = (whole_t)rest, e = (bits - 0x3FE6A09E667F3BCDll) >> 52;
        floats_t m = (floats_t)(bits - (e << 52)), power = __builtin_convertvector(e, floats_t);
        whole_t is_near = e == 0, near = (whole_t)-u, other = (whole_t)(m - 1.0);
        floats_t f = (floats_t)((is_near & near) | (~is_near & other)), s = f / (2.0 + f), z = s * s;
        floats_t p = 2. / 15 + z * (2. / 17 + z * (2. / 19 + z * (2. / 21)));
        p = 2. / 7 + z * (2. / 9 + z * (2. / 11 + z * (2. / 13 + z * p)));
        p = 2.0 + z * (2. / 3 + z * (2. / 5 + z * p));
        floats_t found = -(power * 0.6931471805599453 + s * p);
        memcpy(waits + i, &found, sizeof found);
    }
}

static inline double minus_log(double u) {
    double rest = 1 - u;
    int64_t bits, e;
    memcpy(&bits, &rest, sizeof bits);
    e = (bits - 0x3FE6A09E667F3BCDll) >> 52;
    bits -= e << 52;
    double m;
    memcpy(&m, &bits, sizeof m);
    double f = e == 0 ? -u : m - 1, s = f / (2 + f), z = s * s;
    double p = 2. / 15 + z * (2. / 17 + z * (2. / 19 + z * (2. / 21)));
    p = 2. / 7 + z * (2. / 9 + z * (2. / 11 + z * (2. / 13 + z * p)));
    p = 2.0 + z * (2. / 3 + z * (2. / 5 + z * p));
    return -((double)e * 0.6931471805599453 + s * p);
}

static inline double series_at(const double *series, double x) {
    double square = x * x, fourth = square * square, a = 0, b = 0, c = 0, d = 0;
    for (int i = 0; i < TERMS; i += 4) {
        a = a * fourth + series[i];
        b = b * fourth + series[i + 1];
        c = c * fourth + series[i + 2];
        d = d * fourth + series[i + 3];
    }
    return (a * x + b) * square + (c * x + d);
}

/* (1 - e^-x) / x for x from 0 to 1: the coefficients (-1)^n / (n + 1)!, highest first. */
static const double FALL[TERMS] = {
    -1 / 2432902008176640000., 1 / 121645100408832000., -1 / 6402373705728000., 1 / 355687428096000., -1 / 20922789888000.,
    1 / 1307674368000.,        -1 / 87178291200.,       1 / 6227020800.,        -1 / 479001600.,      1 / 39916800.,
    -1 / 3628800.,             1 / 362880.,             -1 / 40320.,            1 / 5040.,            -1 / 720.,
    1 / 120.,                  -1 / 24.,                1 / 6.,                 -1 / 2.,              1,
};

static double log_poisson(double k, double mean) {
    return k * log(mean) - mean - lgamma(k + 1);
}

/* A Poisson number, by inversion or by PTRS (Hormann 1993); negative where words lack. */
static inline double poisson(double mean, const uint64_t *words, size_t have, size_t *used) {
    if (mean < 10) {
        if (*used >= have)
            return -1;
        double rest = uniform(words[(*used)++]), chance = exp(-mean), k = 0;
        while (rest > chance && k < 200) {
            rest -= chance;
            k++;
            chance *= mean / k;
        }
        return k;
    }
    double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
    double scale = 1.1239 + 1.1328 / (b - 3.4), quick = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        if (*used + 2 > have)
            return -1;
        double side = uniform(words[*used]) - 0.5, height = uniform(words[*used + 1]), edge = 0.5 - fabs(side);
        *used += 2;
        double k = floor((2 * a / edge + b) * side + mean + 0.43);
        if (edge >= 0.07 && height <= quick)
            return k;
        if (k < 0 || (edge < 0.013 && height > edge))
            continue;
        if (log(height * scale / (a / (edge * edge) + b)) <= log_poisson(k, mean))
            return k;
    }
}

/* ---- from coordinates to chunks ---- */

static inline words_t scrambled(words_t x, uint64_t below) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return times((x ^ x >> 31) >> 32, (uint32_t)below) >> 32;
}

static inline words_t once_permuted(words_t x, const law_t *law) {
    floats_t share = __builtin_convertvector((whole_t)x, floats_t) / (double)law->right;
    words_t high = (words_t)__builtin_convertvector(share, whole_t), low = x - high * law->right;
    for (int turn = 0; turn < 6; turn += 2) {
        high += scrambled(low ^ law->rounds[turn], law->left);
        high -= law->left & (words_t)(high >= law->left);
        low += scrambled(high ^ law->rounds[turn + 1], law->right);
        low -= law->right & (words_t)(low >= law->right);
    }
    return high * law->right + low;
}

/* The permuted places of a vector, sorted by their chunks; `edges` is where each chunk begins. 1 if the vector is refused. */
static int spread(const int64_t *places, size_t n, uint64_t chunks, const law_t *law, uint64_t *where, uint32_t *own,
           uint64_t *sorted, uint32_t *edges) {
    int64_t before = -1;
    uint64_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        wrong |= (uint64_t)places[i] >= law->size || places[i] <= before;
        before = places[i];
    }
    memset(edges, 0, (chunks + 1) * sizeof *edges);
    for (size_t i = 0; i < n; i += LANES) {
        words_t x = {0};
        memcpy(&x, places + i, (n - i < LANES ? n - i : LANES) * sizeof(uint64_t));
        x = once_permuted(x, law);
        for (int lane = 0; lane < LANES && i + lane < n; lane++) {
            while (x[lane] >= law->size) {
                words_t again = once_permuted(x, law);
                x[lane] = again[lane];
            }
            where[i + lane] = x[lane];
        }
    }
    for (size_t i = 0; i < n; i++) {
        own[i] = (uint32_t)(where[i] * chunks / law->size);
        edges[own[i] + 1]++;
    }
    for (size_t c = 1; c <= chunks; c++)
        edges[c] += edges[c - 1];
    for (size_t i = 0; i < n; i++)
        sorted[edges[own[i]]++] = where[i];
    for (size_t c = chunks; c > 0; c--)
        edges[c] = edges[c - 1];
    edges[0] = 0;
    return wrong != 0;
}

/* Digits that are equal to the first one of the threshold: the place, the chunk of a group and the lane of each. */
static inline uint32_t keep_ties(words_t tie, uint64_t entry, words_t lanes, uint64_t *ties) {
#ifdef __AVX512F__
    __mmask8 mask = _mm512_movepi64_mask((__m512i)tie);
    _mm512_storeu_si512(ties, _mm512_maskz_compress_epi64(mask, (__m512i)(entry | lanes)));
    return (uint32_t)__builtin_popcount(mask);
#else
    uint32_t found = 0;
    for (int lane = 0; lane < LANES; lane++) {
        ties[found] = entry | lanes[lane];
        found += (uint32_t)(tie[lane] & 1);
    }
    return found;
#endif
}

/* How many coordinates of the first draws of some chunks are ones; how many of these chunks fitted into the room for ties. */
static uint64_t look_before(const uint64_t *sorted, const uint32_t *edges, uint64_t first, uint64_t last, uint64_t key,
                            uint64_t threshold, words_t *ones) {
    words_t lanes, none = {0};
    uint64_t ties[TIES + LANES], tied = 0, c;
    for (int lane = 0; lane < LANES; lane++)
        lanes[lane] = (uint64_t)lane;
    words_t k0 = none + (key & LOW), k1 = none + (key >> 32), top = none + (threshold >> 28), next = none + (threshold >> 24 & 15);
    for (c = first; c < last && (c == first || tied + LANES * (edges[c + 1] - edges[c]) <= TIES); c++) {
        words_t sum = none;
        for (uint32_t i = edges[c]; i < edges[c + 1]; i++) {
            uint64_t at = sorted[i];
            words_t digit = digits_of(none + (at >> 5 << 3), none + c, lanes + 1, none, k0, k1, none + (at & 31));
            sum -= (words_t)(digit < top);
            tied += keep_ties((words_t)(digit == top), at << 16 | (c - first) << 3, lanes, ties + tied);
        }
        ones[c - first] = sum;
    }
    for (uint64_t begin = 0; begin < tied; begin += LANES) {
        words_t entry, at, digit;
        memcpy(&entry, ties + begin, sizeof entry);
        at = entry >> 16;
        digit = digits_of((at >> 5 << 3) + 1, first + (entry >> 3 & 8191), (entry & 7) + 1, none, k0, k1, at & 31);
        words_t won = (words_t)(digit < next) & 1, still = (words_t)(digit == next);
        for (uint64_t i = 0; i < LANES && begin + i < tied; i++) {
            uint64_t chunk = entry[i] >> 3 & 8191, lane = entry[i] & 7;
            uint64_t *count = (uint64_t *)(ones + chunk) + lane;
            *count += won[i];
            if (still[i])
                *count += (uint64_t)is_one(at[i], first + chunk, lane + 1, key, threshold, 2);
        }
    }
    return c;
}

/* Labels of the chunks of a vector from `chunk` on: how many are done before words lack. */
static size_t labels_of(const uint64_t *words, const double *waits, size_t have, size_t *used, const uint64_t *sorted,
                 const uint32_t *edges, size_t chunk, size_t chunks, uint64_t key, const law_t *law, uint64_t *labels) {
    words_t ones[GROUP];
    size_t first = chunk, ready = chunk;
    for (; chunk < chunks; chunk++) {
        if (chunk == ready) {
            first = chunk;
            ready = look_before(sorted, edges, first, chunk + GROUP < chunks ? chunk + GROUP : chunks, key, law->threshold, ones);
        }
        int64_t begin = edges[chunk], end = edges[chunk + 1], size = end - begin;
        size_t at = *used;
        double time = 0, counted = 0, rank = 0, best = INFINITY, label = 0, reach = INFINITY, sum_counted = NAN;
        if (at + 2 * KNOWN <= have) { /* as if all of them came before A: fewer branches that are guessed wrong */
            double times[KNOWN], bests[KNOWN], labelled[KNOWN], roots[KNOWN], total = 0, largest = law->factors[law->most - size];
            int passed = 0;
            for (int k = 0; k < KNOWN; k++)
                roots[k] = sqrt(waits[at + 2 * k + 1]);
            for (int k = 0; k < KNOWN; k++) {
                total += waits[at + 2 * k];
                double weight = total * roots[k] * law->factors[law->most + 2 * (int64_t)ones[chunk - first][k] - size];
                label = weight < best ? k + 1 : label;
                best = weight < best ? weight : best;
                times[k] = total, bests[k] = best, labelled[k] = label;
                passed += total < best * largest;
            }
            int last = passed < KNOWN ? passed : KNOWN - 1;
            time = counted = times[last], best = bests[last], label = labelled[last], rank = last + 1;
            reach = best * largest, at += 2 * (size_t)(last + 1);
        }
        for (;;) {
            if (at + 3 > have)
                return chunk;
            double mark;
            if (time < reach) {
                time += waits[at];
                mark = waits[at + 1];
                at += 2;
                rank++;
                counted = time;
                if (mark * time * time > reach * reach)
                    continue;
            } else {
                double rest = reach * (reach / time) - waits[at];
                if (rest <= 0) {
                    at++;
                    break;
                }
                double later = reach * (reach / rest), x = reach / later * (reach / later), lost = x * series_at(FALL, x);
                if (uniform(words[at + 1]) * x > lost) {
                    time = later, at += 2;
                    continue;
                }
                size_t taken = at + 3;
                if (later < 0x1p40) {
                    double sum_later = later * x * series_at(law->series, x);
                    if (isnan(sum_counted)) {
                        double before = reach / counted * (reach / counted);
                        sum_counted = counted * before * series_at(law->series, before);
                    }
                    double mean = (later - counted) + (sum_later - sum_counted);
                    double skipped = poisson(mean > 0 ? mean : 0, words, have, &taken);
                    if (skipped < 0)
                        return chunk;
                    rank += 1 + skipped;
                    sum_counted = sum_later;
                }
                mark = minus_log(uniform(words[at + 2]) * lost);
                time = counted = later;
                at = taken;
            }
            double weight = time * sqrt(mark);
            uint64_t number = (uint64_t)rank;
            if (time >= 0x1p40) {
                memcpy(&number, &time, sizeof number);
                number >>= 20;
            }
            int64_t net = 0;
            if (number <= KNOWN)
                net = (int64_t)ones[chunk - first][number - 1];
            else
                for (int64_t i = begin; i < end; i++)
                    net += is_one(sorted[i], chunk, number, key, law->threshold, 0);
            weight *= law->factors[law->most + 2 * net - size];
            if (weight < best) {
                best = weight, label = (double)number;
                reach = weight * law->factors[law->most - size], sum_counted = NAN;
            }
        }
        labels[chunk] = (uint64_t)label;
        *used = at;
    }
    return chunk;
}

/* ---- the message: an arithmetic code of 32 bits (Witten, Neal, Cleary 1987), the lowest bit of a byte first ---- */

typedef struct {
    uint64_t low, high, room;
    uint32_t pending, held;
    uint8_t *next;
} coder_t;

static inline void put_bits(coder_t *coder, uint64_t bits, uint32_t count) { /* the first of them the lowest; at most 32 */
    coder->room |= bits << coder->held;
    coder->held += count;
    if (coder->held >= 32) {
        memcpy(coder->next, &coder->room, 4);
        coder->next += 4;
        coder->room >>= 32;
        coder->held -= 32;
    }
}

static inline uint32_t reversed(uint32_t bits) {
    bits = (bits >> 1 & 0x55555555u) | (bits & 0x55555555u) << 1;
    bits = (bits >> 2 & 0x33333333u) | (bits & 0x33333333u) << 2;
    bits = (bits >> 4 & 0x0F0F0F0Fu) | (bits & 0x0F0F0F0Fu) << 4;
    return __builtin_bswap32(bits);
}

static inline void put_symbol(coder_t *coder, uint64_t below, uint64_t width, uint32_t total) {
    uint64_t span = coder->high - coder->low + 1;
    uint64_t high = coder->low + (span * (below + width) >> total) - 1, low = coder->low + (span * below >> total);
    uint32_t same = (uint32_t)__builtin_clz((uint32_t)(low ^ high) | 1);
    if (same) {
        uint32_t first = (uint32_t)low >> 31, bits = reversed((uint32_t)low) & (uint32_t)((1ull << same) - 1);
        put_bits(coder, first, 1);
        while (coder->pending) {
            uint32_t some = coder->pending < 32 ? coder->pending : 32;
            put_bits(coder, first ? 0 : (1ull << some) - 1, some);
            coder->pending -= some;
        }
        put_bits(coder, bits >> 1, same - 1);
        low = low << same & LOW, high = (high << same & LOW) | ((1ull << same) - 1);
    }
    uint32_t inside = (uint32_t)(low & ~high) << 1; /* ones of `low` over zeros of `high`, after the first bit */
    uint32_t run = (uint32_t)__builtin_clz(~inside | 1);
    if (run) {
        coder->pending += run;
        low = low << run & 0x7FFFFFFFu;
        high = (high << run & LOW) | 0x80000000u | ((1ull << run) - 1);
    }
    coder->low = low, coder->high = high;
}

static void put_raw(coder_t *coder, uint64_t number, uint32_t bits) {
    while (bits) {
        uint32_t part = bits < 16 ? bits : 16;
        bits -= part;
        put_symbol(coder, number >> bits & ((1ull << part) - 1), 1, part);
    }
}

/* The bytes of a message of these labels, their number first in Elias's delta code. */
static size_t message_of(const uint64_t *labels, size_t n, const law_t *law, uint8_t *out) {
    coder_t coder = {0, LOW, 0, 0, 0, out};
    const int64_t *sums = law->sums;
    uint64_t number = n + 1;
    uint32_t size = 63 - (uint32_t)__builtin_clzll(number), width = 31 - (uint32_t)__builtin_clz(size + 1);
    put_bits(&coder, 0, width);
    for (int place = (int)width; place >= 0; place--)
        put_bits(&coder, (size + 1) >> place & 1, 1);
    for (int place = (int)size - 1; place >= 0; place--)
        put_bits(&coder, number >> place & 1, 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t label = labels[i];
        if (label < 16)
            put_symbol(&coder, (uint64_t)sums[label - 1], (uint64_t)(sums[label] - sums[label - 1]), 16);
        else if (label >= 1063ull << 32) {
            put_symbol(&coder, (uint64_t)sums[53], (uint64_t)(sums[54] - sums[53]), 16);
            put_raw(&coder, (label >> 32) - 1063, 10);
            put_raw(&coder, label & LOW, 32);
        } else {
            uint32_t bits = 63 - (uint32_t)__builtin_clzll(label), symbol = 11 + bits;
            put_symbol(&coder, (uint64_t)sums[symbol], (uint64_t)(sums[symbol + 1] - sums[symbol]), 16);
            put_raw(&coder, label - (1ull << bits), bits);
        }
    }
    if (coder.low > 0 || coder.pending)
        put_bits(&coder, 1, 1);
    memcpy(coder.next, &coder.room, 8);
    size_t length = (size_t)(coder.next - out) + 8;
    while (length && !out[length - 1])
        length--;
    return length;
}

/* How many chunks a vector is encoded in, from its number of coordinates and two-sided geometric noise. */
static uint64_t chunks_for(int64_t count, const uint64_t *words, const law_t *law) {
    for (uint64_t i = 0; i < law->binary; i++) {
        count += (int64_t)(words[2 * i] < law->digits[i]) << i;
        count -= (int64_t)(words[2 * i + 1] < law->digits[i]) << i;
    }
    uint64_t wanted = (uint64_t)ceil((double)((count > 0 ? count : 0) + (int64_t)law->margin) / law->load);
    wanted = wanted < law->least ? law->least : wanted;
    return wanted > law->size ? law->size : wanted;
}

/* The messages of vectors of two values, each in `stride` bytes of `out`; 1 when all are done, 0 when words lack, 2 if a vector
 * is refused. `where`, `own`, `sorted`, `edges` and `labels` are room. */
int chunks_perturb(const uint64_t *words, double *waits, size_t have, const int64_t *places, const int64_t *offsets,
                   size_t n, const law_t *law, state_t *state, uint64_t *where, uint32_t *own, uint64_t *sorted,
                   uint32_t *edges, uint64_t *labels, uint64_t *keys, uint8_t *out, size_t stride, size_t *lengths) {
    size_t used = 0;
    waits_of(words, waits, have);
    for (; state->vector < n; state->vector++, state->chunks = 0) {
        size_t i = state->vector, count = (size_t)(offsets[i + 1] - offsets[i]);
        if (!state->chunks) {
            if (used + 2 * law->binary + 1 > have)
                return 0;
            keys[i] = state->key = words[used++] >> 2;
            state->chunks = chunks_for((int64_t)count, words + used, law);
            state->chunk = 0;
            used += 2 * law->binary;
            if (spread(places + offsets[i], count, state->chunks, law, where, own, sorted, edges))
                return 2;
        }
        state->chunk = labels_of(words, waits, have, &used, sorted, edges, state->chunk, state->chunks, state->key, law, labels);
        if (state->chunk < state->chunks)
            return 0;
        lengths[i] = message_of(labels, state->chunks, law, out + i * stride);
    }
    return 1;
}
