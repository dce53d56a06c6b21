/* Column sums of packed bits by carry-save adders, sixteen rows at a time (Harley and Seal, turned on its side). */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t lanes __attribute__((vector_size(32), aligned(8)));
enum { LEVELS = 48, ROWS = 16 };

/* One plane of a bit-sliced counter takes two more bits; what overflows comes back. */
static inline lanes add(lanes *plane, lanes a, lanes b) {
    lanes half = *plane ^ a, carry = (*plane & a) | (half & b);
    *plane = half ^ b;
    return carry;
}

static inline lanes add_rows(lanes *planes, const lanes *row, size_t width, int level) {
    if (level == 0)
        return add(&planes[0], row[0], row[width]);
    lanes a = add_rows(planes, row, width, level - 1);
    lanes b = add_rows(planes, row + (width << level), width, level - 1);
    return add(&planes[level], a, b);
}

static void spread(lanes plane, uint64_t weight, uint64_t *counts) {
    for (int word = 0; word < 4; word++)
        for (int bit = 0; bit < 64; bit++)
            counts[64 * word + bit] += (plane[word] >> bit & 1) * weight;
}

/* `width` is the number of 256-bit groups in a row; `counts` holds 256 zeros for each. */
void column_sums(const lanes *bits, size_t rows, size_t width, uint64_t *counts) {
    lanes planes[width][LEVELS], waiting[width][LEVELS];
    memset(planes, 0, sizeof planes);
    size_t blocks = rows / ROWS;
    for (size_t block = 0; block < blocks; block++)
        for (size_t column = 0; column < width; column++) {
            lanes carry = add_rows(planes[column], bits + block * ROWS * width + column, width, 3);
            int level = 4;
            for (size_t odd = block; odd & 1; odd >>= 1, level++)
                carry = add(&planes[column][level], waiting[column][level], carry);
            waiting[column][level] = carry;
        }
    for (size_t column = 0; column < width; column++) {
        uint64_t *mine = counts + 256 * column;
        for (int level = 0; level < LEVELS; level++) {
            spread(planes[column][level], 1ull << level, mine);
            if (level >= 4 && blocks >> (level - 4) & 1)
                spread(waiting[column][level], 1ull << level, mine);
        }
        for (size_t row = blocks * ROWS; row < rows; row++)
            spread(bits[row * width + column], 1, mine);
    }
}
