/* A cyclic block design from one random word for each report. */

#include <stddef.h>
#include <stdint.h>

/* `offsets` holds the `k` points of the block of value 0, then the other points. The high half of the word decides between
 * the two, the low half picks one. */
void design_perturb(const uint64_t *words, const int64_t *values, uint16_t *reports, size_t n, const uint16_t *offsets,
                    uint32_t k, uint32_t v, uint32_t heads) {
    for (size_t i = 0; i < n; i++) {
        uint32_t outside = (uint32_t)(words[i] >> 32) >= heads; /* selected by masks: a branch would be guessed wrong */
        uint64_t among = k ^ ((k ^ (v - k)) & -outside);
        uint32_t first = k & -outside;
        uint32_t point = (uint32_t)values[i] + offsets[first + (uint32_t)((words[i] & 0xffffffff) * among >> 32)];
        reports[i] = (uint16_t)(point - (v & -(uint32_t)(point >= v)));
    }
}
