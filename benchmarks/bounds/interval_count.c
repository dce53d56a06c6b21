/* For each value x, how many reports have (start + step x) mod prime < width. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ROWS = 2048 }; /* few enough for their sums to fit into 16 bits */

void interval_count(const uint16_t *step, const uint16_t *start, const uint16_t *width, size_t n, uint16_t prime,
                    uint64_t *counts, size_t size) {
    uint16_t here[ROWS];
    for (size_t first = 0; first < n; first += ROWS) {
        size_t rows = n - first < ROWS ? n - first : ROWS;
        memcpy(here, start + first, rows * sizeof *here);
        for (size_t x = 0; x < size; x++) {
            uint16_t count = 0;
            for (size_t i = 0; i < rows; i++) {
                count += here[i] < width[first + i];
                uint16_t next = here[i] + step[first + i], wrapped = next - prime;
                here[i] = next < wrapped ? next : wrapped;
            }
            counts[x] += count;
        }
    }
}
