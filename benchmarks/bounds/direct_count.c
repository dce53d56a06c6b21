/* A histogram of reports. */

#include <stddef.h>
#include <stdint.h>

/* `tables` holds four histograms of `size` zeros: equal neighbours then do not wait for each other's store. */
void direct_count(const uint16_t *reports, size_t n, uint32_t *tables, size_t size, uint64_t *counts) {
    uint32_t *a = tables, *b = a + size, *c = b + size, *d = c + size;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        a[reports[i]]++;
        b[reports[i + 1]]++;
        c[reports[i + 2]]++;
        d[reports[i + 3]]++;
    }
    for (; i < n; i++)
        a[reports[i]]++;
    for (size_t cell = 0; cell < size; cell++)
        counts[cell] = (uint64_t)a[cell] + b[cell] + c[cell] + d[cell];
}
