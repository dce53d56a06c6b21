/* Hadamard response from one random word for each report. */

#include <stddef.h>
#include <stdint.h>

/* The low bits of the word are a column; where its parity with row value + 1 is not the wanted one, the row's lowest bit
 * is flipped. The high half of the word decides what is wanted. */
void hadamard_perturb(const uint64_t *words, const int64_t *values, uint16_t *reports, size_t n, uint32_t order,
                      uint32_t heads) {
    for (size_t i = 0; i < n; i++) {
        uint32_t row = (uint32_t)values[i] + 1;
        uint32_t column = (uint32_t)words[i] & (order - 1);
        uint32_t odd = (uint32_t)__builtin_parity(row & column);
        uint32_t wanted = (uint32_t)(words[i] >> 32) < heads;
        reports[i] = (uint16_t)(column ^ ((row & -row) & -(uint32_t)(odd == wanted)));
    }
}
