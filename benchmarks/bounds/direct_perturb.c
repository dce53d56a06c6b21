/* k-ary randomized response from one random word for each report. */

#include <stddef.h>
#include <stdint.h>

/* Keep the value if the word is below `keep`, else tell lie number (word - keep) / quota.
 * `reciprocal` is 2^(64 + shift) / quota rounded down, so the estimate of the quotient is at most one too small. */
void direct_perturb(const uint64_t *words, const int64_t *values, uint16_t *reports, size_t n, uint64_t keep,
                    uint64_t quota, uint64_t reciprocal, unsigned shift) {
    for (size_t i = 0; i < n; i++) {
        uint64_t rest = words[i] - keep;
        uint64_t lie = (uint64_t)(((unsigned __int128)rest * reciprocal) >> 64) >> shift;
        lie += rest - lie * quota >= quota;
        uint64_t value = (uint64_t)values[i];
        lie += lie >= value;
        reports[i] = (uint16_t)(words[i] < keep ? value : lie);
    }
}
