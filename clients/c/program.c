/* A law from JSON text: read into the block of memory given, checked, and refused if it is not one. */
#include "deniable.h"
#include "json.h"
#include "operations.h"
#include <string.h>

#define LIMBS (DENIABLE_FRACTION_BITS / 32)
#define LONGEST_TEXT 5000   /* characters of a parameter */
#define LONGEST_NUMBER 4300 /* digits of a number written as text */
#define LARGEST DENIABLE_LARGEST

enum { WHOLE = 1, FRACTION, NAME, LIST, LISTS };

typedef struct {
    int kind;
    int64_t whole;
    const char *name;
    deniable_fraction *fraction;
    int64_t *entries;
    uint32_t rows, columns;
} param;

typedef struct {
    json in;
    unsigned char *at, *end; /* what is left of the memory */
    deniable_program *program;
    deniable_result error; /* the first one; everything after it is only there to return */
    uint32_t entries;
    param params[4];
} reader;

static int check(reader *r, int holds, deniable_result otherwise)
{
    if (!holds && r->error == DENIABLE_OK)
        r->error = otherwise;
    return r->error == DENIABLE_OK;
}

static void *take(reader *r, size_t count, size_t size)
{
    void *taken;
    size_t past = (size_t)((uintptr_t)r->at & 7), fill = past ? 8 - past : 0, left = (size_t)(r->end - r->at);
    if (!check(r, left >= fill && count <= (left - fill) / size, DENIABLE_MEMORY))
        return NULL;
    taken = r->at + fill;
    r->at += fill + count * size;
    memset(taken, 0, count * size);
    return taken;
}

/* The types that operations give */

static deniable_node *arg(reader *r, const deniable_node *node, uint32_t i)
{
    return &r->program->nodes[node->args[i]];
}

static void give(reader *r, deniable_node *node, int64_t low, int64_t high, uint32_t width)
{
    check(r, -LARGEST <= low && low <= high && high <= LARGEST, DENIABLE_OVERFLOW);
    node->low = low, node->high = high, node->width = width;
}

static void give_row(deniable_node *node, uint32_t width)
{
    node->low = 0, node->high = 1, node->width = width, node->row = 1;
}

static void give_same(deniable_node *node, const deniable_node *kind)
{
    node->low = kind->low, node->high = kind->high, node->width = kind->width, node->row = kind->row;
}

static int64_t whole(reader *r, deniable_node *node, int i, int64_t low, int64_t high)
{
    if (!check(r, i < node->params && r->params[i].kind == WHOLE, DENIABLE_WHOLE) ||
        !check(r, low <= r->params[i].whole && r->params[i].whole <= high, DENIABLE_WHOLE))
        return low;
    return r->params[i].whole;
}

static void odds(reader *r, deniable_node *node)
{
    const deniable_fraction *f = r->params[0].fraction;
    uint32_t i;
    if (!check(r, node->params > 0 && r->params[0].kind == FRACTION, DENIABLE_ODDS))
        return;
    for (i = f->limbs; i-- && f->above[i] == f->below[i];)
        ;
    check(r, i == UINT32_MAX || f->above[i] < f->below[i], DENIABLE_ODDS);
    node->odds = f;
}

static void number(reader *r, const deniable_node *kind, int64_t low, int64_t high)
{
    check(r, !kind->row && !kind->width, DENIABLE_KIND);
    check(r, kind->low >= low && kind->high <= high, DENIABLE_RANGE);
}

static uint32_t row(reader *r, const deniable_node *kind)
{
    return check(r, kind->row, DENIABLE_KIND) ? kind->width : 1;
}

static void numbers(reader *r, const deniable_node *kind)
{
    check(r, !kind->row, DENIABLE_KIND);
}

static int bit_length(int64_t value)
{
    int bits = 0;
    for (; value; value >>= 1)
        bits++;
    return bits;
}

/* Add, subtract or multiply; numbers beyond 64 bits become such beyond 2^62, which are refused. */
static int64_t combined(int op, int64_t a, int64_t b)
{
    int negative = (a < 0) != (b < 0);
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    switch (op) {
    case OP_min:
        return a < b ? a : b;
    case OP_max:
        return a > b ? a : b;
    case OP_mul:
        if (y && x > (uint64_t)INT64_MAX / y)
            return negative ? -INT64_MAX : INT64_MAX;
        return negative ? -(int64_t)(x * y) : (int64_t)(x * y);
    case OP_sub:
        b = -b;
    }
    if (b > 0 ? a > INT64_MAX - b : a < -INT64_MAX - b)
        return b > 0 ? INT64_MAX : -INT64_MAX;
    return a + b;
}

static void infer_corners(reader *r, deniable_node *node)
{
    const deniable_node *a = arg(r, node, 0), *b = arg(r, node, 1);
    int64_t ends[4], low, high;
    int i;
    numbers(r, a), numbers(r, b);
    check(r, !a->width || !b->width || a->width == b->width, DENIABLE_KIND);
    for (i = 0; i < 4; i++)
        ends[i] = combined(node->op, i < 2 ? a->low : a->high, i & 1 ? b->high : b->low);
    for (low = high = ends[0], i = 1; i < 4; i++)
        low = ends[i] < low ? ends[i] : low, high = ends[i] > high ? ends[i] : high;
    give(r, node, low, high, a->width ? a->width : b->width);
}

static void infer_code(reader *r, deniable_node *node)
{
    int64_t low = whole(r, node, 1, -LARGEST, LARGEST), high = whole(r, node, 2, low, LARGEST);
    check(r, node->params > 0 && r->params[0].kind == NAME, DENIABLE_PARAMETERS);
    node->name = r->params[0].name;
    give(r, node, low, high, node->params > 3 ? (uint32_t)whole(r, node, 3, 1, DENIABLE_WIDEST) : 0);
}

static void infer_constant(reader *r, deniable_node *node)
{
    node->number = whole(r, node, 0, -LARGEST, LARGEST);
    give(r, node, node->number, node->number, 0);
}

static int64_t floored(int64_t a, int64_t by)
{
    return a / by - (a % by < 0);
}

static void infer_divided(reader *r, deniable_node *node)
{
    const deniable_node *kind = arg(r, node, 0);
    int64_t by = node->whole[0] = whole(r, node, 0, 1, LARGEST);
    numbers(r, kind);
    node->low = floored(kind->low, by), node->high = floored(kind->high, by), node->width = kind->width;
}

static void infer_remainder(reader *r, deniable_node *node)
{
    const deniable_node *kind = arg(r, node, 0);
    int64_t by = node->whole[0] = whole(r, node, 0, 1, LARGEST);
    numbers(r, kind);
    if (kind->low >= 0 && kind->high < by)
        give_same(node, kind);
    else
        give(r, node, 0, by - 1, kind->width);
}

static void infer_compared(reader *r, deniable_node *node)
{
    number(r, arg(r, node, 0), INT64_MIN, INT64_MAX);
    number(r, arg(r, node, 1), INT64_MIN, INT64_MAX);
    give(r, node, 0, 1, 0);
}

static void infer_logical(reader *r, deniable_node *node)
{
    const deniable_node *a = arg(r, node, 0), *b = arg(r, node, 1);
    if (a->row && node->op == OP_and && !b->row) { /* the row, or one without a bit */
        number(r, b, 0, 1);
        give_same(node, a);
    } else if (a->row || b->row) {
        check(r, row(r, a) == row(r, b), DENIABLE_KIND);
        give_same(node, a);
    } else {
        int64_t high = a->high > b->high ? a->high : b->high;
        number(r, a, 0, INT64_MAX), number(r, b, 0, INT64_MAX);
        node->low = 0;
        if (node->op == OP_and)
            node->high = a->high < b->high ? a->high : b->high;
        else
            node->high = (int64_t)(((uint64_t)1 << (high < 0 ? 0 : bit_length(high))) - 1);
    }
}

static void infer_negated(reader *r, deniable_node *node)
{
    const deniable_node *kind = arg(r, node, 0);
    if (kind->row) {
        give_same(node, kind);
    } else {
        number(r, kind, 0, 1);
        give(r, node, 1 - kind->high, 1 - kind->low, 0);
    }
}

static void infer_shifted(reader *r, deniable_node *node)
{
    const deniable_node *a = arg(r, node, 0), *b = arg(r, node, 1);
    number(r, a, 0, INT64_MAX), number(r, b, 0, 62);
    if (check(r, 1, DENIABLE_OK))
        node->low = a->low >> b->high, node->high = a->high >> b->low;
}

static void infer_ones(reader *r, deniable_node *node)
{
    const deniable_node *kind = arg(r, node, 0);
    if (!kind->row)
        number(r, kind, 0, INT64_MAX);
    if (check(r, 1, DENIABLE_OK))
        give(r, node, 0, kind->row ? (int64_t)kind->width : bit_length(kind->high), 0);
}

static void infer_chosen(reader *r, deniable_node *node)
{
    const deniable_node *a = arg(r, node, 1), *b = arg(r, node, 2);
    number(r, arg(r, node, 0), 0, 1);
    check(r, a->row == b->row && a->width == b->width, DENIABLE_KIND);
    give_same(node, a);
    node->low = a->low < b->low ? a->low : b->low, node->high = a->high > b->high ? a->high : b->high;
}

static void infer_absolute(reader *r, deniable_node *node)
{
    const deniable_node *kind = arg(r, node, 0);
    int64_t low = kind->low < 0 ? -kind->low : kind->low, high = kind->high < 0 ? -kind->high : kind->high;
    numbers(r, kind);
    node->low = kind->low <= 0 && kind->high >= 0 ? 0 : low < high ? low : high;
    node->high = low > high ? low : high, node->width = kind->width;
}

static void infer_table(reader *r, deniable_node *node)
{
    uint32_t i, size = r->params[0].columns;
    int64_t low, high;
    if (!check(r, node->params && r->params[0].kind == LIST && size > 0, DENIABLE_TABLE))
        return;
    node->table = r->params[0].entries, node->rows = 1, node->columns = size;
    number(r, arg(r, node, 0), 0, (int64_t)size - 1);
    for (low = high = node->table[0], i = 1; i < size; i++)
        low = node->table[i] < low ? node->table[i] : low, high = node->table[i] > high ? node->table[i] : high;
    give(r, node, low, high, 0);
}

static void infer_aim(reader *r, deniable_node *node)
{
    const deniable_node *column = arg(r, node, 0), *pattern = arg(r, node, 1);
    number(r, column, 0, INT64_MAX), number(r, pattern, 1, INT64_MAX), number(r, arg(r, node, 2), 0, 1);
    check(r, ((uint64_t)column->high & ((uint64_t)column->high + 1)) == 0 && pattern->high <= column->high, DENIABLE_RANGE);
    node->low = 0, node->high = column->high;
}

static void infer_around(reader *r, deniable_node *node)
{
    const deniable_node *place = arg(r, node, 1);
    int64_t near = whole(r, node, 0, 1, LARGEST), among = whole(r, node, 1, near, LARGEST);
    number(r, arg(r, node, 0), 0, among - near), number(r, place, 0, INT64_MAX);
    node->whole[0] = near, node->whole[1] = among;
    node->low = 0, node->high = place->high > among - 1 ? place->high : among - 1;
}

static void infer_get(reader *r, deniable_node *node)
{
    number(r, arg(r, node, 1), 0, (int64_t)row(r, arg(r, node, 0)) - 1);
    give(r, node, 0, 1, 0);
}

static void infer_put(reader *r, deniable_node *node)
{
    number(r, arg(r, node, 1), 0, (int64_t)row(r, arg(r, node, 0)) - 1);
    number(r, arg(r, node, 2), 0, 1);
    give_same(node, arg(r, node, 0));
}

static void infer_swap(reader *r, deniable_node *node)
{
    int64_t last = (int64_t)row(r, arg(r, node, 0)) - 1;
    number(r, arg(r, node, 1), 0, last), number(r, arg(r, node, 2), 0, last);
    give_same(node, arg(r, node, 0));
}

static void infer_widen(reader *r, deniable_node *node)
{
    give_row(node, (uint32_t)whole(r, node, 0, row(r, arg(r, node, 0)), DENIABLE_WIDEST));
}

static void infer_turn(reader *r, deniable_node *node)
{
    row(r, arg(r, node, 0)), number(r, arg(r, node, 1), 0, 1);
    give_same(node, arg(r, node, 0));
}

static void infer_pack(reader *r, deniable_node *node)
{
    int64_t bits = whole(r, node, 0, 1, 62);
    uint32_t i;
    for (i = 0; i < node->count; i++)
        number(r, arg(r, node, i), 0, ((int64_t)1 << bits) - 1);
    check(r, node->count > 0 && node->count <= DENIABLE_WIDEST / bits, DENIABLE_KIND);
    node->whole[0] = bits;
    give_row(node, (uint32_t)bits * node->count);
}

static void infer_cells(reader *r, deniable_node *node)
{
    const deniable_node *kind = arg(r, node, 0);
    check(r, !kind->row && kind->width && kind->low >= 0, DENIABLE_KIND);
    node->whole[0] = whole(r, node, 0, 0, 61);
    give_row(node, kind->width);
}

static void infer_join(reader *r, deniable_node *node)
{
    uint32_t i, width = 0;
    for (i = 0; i < node->count && width <= DENIABLE_WIDEST; i++)
        width += row(r, arg(r, node, i));
    check(r, width > 0 && width <= DENIABLE_WIDEST, DENIABLE_KIND);
    give_row(node, width);
}

static void infer_at(reader *r, deniable_node *node)
{
    const deniable_node *kind = arg(r, node, 0);
    check(r, !kind->row && kind->width, DENIABLE_KIND);
    number(r, arg(r, node, 1), 0, (int64_t)kind->width - 1);
    node->low = kind->low, node->high = kind->high;
}

static void infer_toss(reader *r, deniable_node *node)
{
    odds(r, node);
    give(r, node, 0, 1, 0);
}

static void infer_below(reader *r, deniable_node *node)
{
    node->whole[0] = whole(r, node, 0, 1, LARGEST);
    give(r, node, 0, node->whole[0] - 1, 0);
}

static int certain(const deniable_fraction *f)
{
    return memcmp(f->above, f->below, f->limbs * sizeof *f->above) == 0;
}

static void infer_split(reader *r, deniable_node *node)
{
    odds(r, node);
    node->whole[0] = whole(r, node, 1, 1, LARGEST), node->whole[1] = whole(r, node, 2, 0, LARGEST);
    check(r, node->whole[1] > 0 || (node->odds && certain(node->odds)), DENIABLE_ODDS);
    give(r, node, 0, node->whole[0] - 1 + node->whole[1], 0);
}

static int64_t weights(reader *r, const int64_t *row, uint32_t columns)
{
    int64_t total = 0;
    uint32_t i;
    for (i = 0; i < columns; i++) {
        if (!check(r, row[i] >= 0 && row[i] <= INT64_MAX - total, DENIABLE_WEIGHTS))
            return 0;
        total += row[i];
    }
    check(r, total > 0, DENIABLE_WEIGHTS);
    return total;
}

static void infer_pick(reader *r, deniable_node *node)
{
    if (!check(r, node->params && r->params[0].kind == LIST && r->params[0].columns, DENIABLE_WEIGHTS))
        return;
    node->table = r->params[0].entries, node->rows = 1, node->columns = r->params[0].columns;
    weights(r, node->table, node->columns);
    give(r, node, 0, (int64_t)node->columns - 1, 0);
}

static void infer_pick_each(reader *r, deniable_node *node)
{
    const param *rows = &r->params[0];
    int64_t total = 0, each;
    uint32_t i;
    if (!check(r, node->params && rows->kind == LISTS && rows->columns, DENIABLE_WEIGHTS))
        return;
    node->table = rows->entries, node->rows = rows->rows, node->columns = rows->columns;
    for (i = 0; i < rows->rows; i++) {
        each = weights(r, node->table + (size_t)i * node->columns, node->columns);
        total = i ? total : each;
        check(r, each == total, DENIABLE_WEIGHTS);
    }
    number(r, arg(r, node, 0), 0, (int64_t)node->rows - 1);
    give(r, node, 0, (int64_t)node->columns - 1, 0);
}

static void infer_toss_each(reader *r, deniable_node *node)
{
    const deniable_node *kind = arg(r, node, 0);
    node->whole[0] = whole(r, node, 0, 1, LARGEST);
    numbers(r, kind);
    check(r, kind->low >= 0 && kind->high <= node->whole[0], DENIABLE_RANGE);
    give(r, node, 0, 1, kind->width);
}

static void infer_flags(reader *r, deniable_node *node)
{
    odds(r, node);
    give_row(node, (uint32_t)whole(r, node, 1, 1, DENIABLE_WIDEST));
}

static void infer_subset(reader *r, deniable_node *node)
{
    int64_t n = whole(r, node, 0, 1, DENIABLE_WIDEST);
    node->whole[0] = whole(r, node, 1, 1, n);
    check(r, node->whole[0] <= DENIABLE_MOST_SUBSET / n, DENIABLE_WHOLE); /* beyond, some word would always be refused */
    number(r, arg(r, node, 0), 0, 1);
    give_row(node, (uint32_t)n);
}

static void infer_majority(reader *r, deniable_node *node)
{
    give_row(node, (uint32_t)whole(r, node, 0, 1, DENIABLE_WIDEST));
}

static const struct {
    char name[10];
    signed char arity;
    unsigned char most;
    void (*infer)(reader *, deniable_node *);
} operations[] = {
#define OPERATION(name, arity, most, type) {#name, arity, most, infer_##type},
    DENIABLE_OPERATIONS(OPERATION)
#undef OPERATION
};

static void infer(reader *r, deniable_node *node)
{
    int arity = operations[node->op].arity;
    if (!check(r, arity < 0 || (uint32_t)arity == node->count, DENIABLE_ARGUMENTS))
        return;
    operations[node->op].infer(r, node);
}

/* Reading */

static int expect(reader *r, char c)
{
    return check(r, json_is(&r->in, c), DENIABLE_NOT_A_LAW);
}

/* Between the elements of a list of `count`, and after the last one. */
static int follows(reader *r, size_t i, size_t count)
{
    return expect(r, i + 1 < count ? ',' : ']');
}

/* A string, in the memory; the caller may give it back by setting r->at. */
static char *text(reader *r, size_t *length)
{
    size_t room = json_room(&r->in);
    char *out;
    if (!check(r, room > 0, DENIABLE_NOT_A_LAW) || !(out = take(r, room, 1)))
        return NULL;
    return check(r, json_string(&r->in, out, room, length), DENIABLE_NOT_A_LAW) ? out : NULL;
}

static int decimal(const char *text, size_t length)
{
    size_t i;
    for (i = 0; i < length; i++)
        if (text[i] < '0' || text[i] > '9')
            return 0;
    return length > 0;
}

/* A number in limbs, nine digits at a time; gives how many limbs it has. */
static uint32_t limbs_of(reader *r, const char *text, size_t length, uint32_t *limbs)
{
    uint32_t used = 0, i;
    check(r, length <= LONGEST_NUMBER, DENIABLE_NOT_A_LAW);
    while (length && r->error == DENIABLE_OK) {
        uint64_t carry = 0, scale = 1;
        for (i = 0; i < 9 && length; i++, length--)
            carry = 10 * carry + (uint64_t)(*text++ - '0'), scale *= 10;
        for (i = 0; i < used; i++) {
            carry += scale * limbs[i];
            limbs[i] = (uint32_t)carry;
            carry >>= 32;
        }
        if (carry && check(r, used < LIMBS, DENIABLE_LONG_FRACTION))
            limbs[used++] = (uint32_t)carry;
    }
    return used;
}

static void read_fraction(reader *r, param *out, const char *text, size_t length, const char *slash)
{
    uint32_t above[LIMBS], below[LIMBS], a, b, most;
    uint32_t *kept;
    size_t first = (size_t)(slash - text), second = length - first - 1;
    if (!check(r, decimal(text, first) && decimal(slash + 1, second), DENIABLE_NOT_A_LAW))
        return;
    a = limbs_of(r, text, first, above), b = limbs_of(r, slash + 1, second, below), most = a > b ? a : b;
    if (!check(r, b > 0, DENIABLE_NOT_A_LAW))
        return;
    r->at = (unsigned char *)text; /* the text is done with */
    out->fraction = take(r, 1, sizeof *out->fraction), kept = take(r, 2 * (size_t)most, sizeof *kept);
    if (r->error != DENIABLE_OK)
        return;
    memcpy(kept, above, a * sizeof *kept), memcpy(kept + most, below, b * sizeof *kept);
    out->fraction->above = kept, out->fraction->below = kept + most, out->fraction->limbs = most;
    out->kind = FRACTION;
}

static void read_text(reader *r, param *out, int named)
{
    size_t length = 0, characters = 0, i;
    unsigned char *before = r->at;
    char *found = text(r, &length), *slash;
    if (!found)
        return;
    for (i = 0; i < length; i++)
        characters += (found[i] & 0xC0) != 0x80;
    slash = memchr(found, '/', length);
    if (!check(r, characters < LONGEST_TEXT, DENIABLE_NOT_A_LAW))
        return;
    if (slash) {
        read_fraction(r, out, found, length, slash);
    } else if (decimal(found + (found[0] == '-'), length - (found[0] == '-'))) {
        uint64_t size = 0;
        check(r, length - (found[0] == '-') <= LONGEST_NUMBER, DENIABLE_NOT_A_LAW);
        for (i = found[0] == '-'; i < length; i++) {
            unsigned digit = (unsigned)(found[i] - '0');
            if (!check(r, size <= ((uint64_t)INT64_MAX - digit) / 10, DENIABLE_WHOLE))
                return;
            size = 10 * size + digit;
        }
        out->kind = WHOLE, out->whole = found[0] == '-' ? -(int64_t)size : (int64_t)size;
        r->at = before;
    } else if (check(r, named, DENIABLE_NOT_A_LAW)) {
        out->kind = NAME, out->name = found;
    }
}

static int64_t read_entry(reader *r)
{
    param each;
    each.kind = WHOLE, each.whole = 0;
    if (json_next(&r->in) == '"')
        read_text(r, &each, 0);
    else
        check(r, json_integer(&r->in, &each.whole), DENIABLE_NOT_A_LAW);
    check(r, each.kind == WHOLE, DENIABLE_TABLE);
    return each.whole;
}

/* A list of `count` numbers into memory that is there already. */
static void read_numbers(reader *r, int64_t *out, size_t count)
{
    size_t i;
    expect(r, '[');
    for (i = 0; i < count && r->error == DENIABLE_OK; i++) {
        out[i] = read_entry(r);
        follows(r, i, count);
    }
    if (!count)
        expect(r, ']');
}

static int more_entries(reader *r, size_t rows, size_t columns)
{
    if (!check(r, !columns || rows <= (DENIABLE_MOST_ENTRIES - r->entries) / columns, DENIABLE_ENTRIES))
        return 0;
    r->entries += (uint32_t)(rows * columns);
    return 1;
}

static void read_list(reader *r, param *out)
{
    size_t rows = 1, columns = json_count(&r->in), i;
    json inner = r->in;
    out->kind = LIST;
    json_is(&inner, '[');
    if (json_next(&inner) == '[') {
        out->kind = LISTS, rows = columns, columns = json_count(&inner);
        check(r, columns > 0, DENIABLE_WEIGHTS);
    }
    if (!more_entries(r, rows, columns) || !(out->entries = take(r, rows * columns, sizeof *out->entries)))
        return;
    out->rows = (uint32_t)rows, out->columns = (uint32_t)columns;
    if (out->kind == LIST) {
        read_numbers(r, out->entries, columns);
        return;
    }
    expect(r, '[');
    for (i = 0; i < rows && r->error == DENIABLE_OK; i++) {
        check(r, json_count(&r->in) == columns, DENIABLE_WEIGHTS);
        read_numbers(r, out->entries + i * columns, columns);
        follows(r, i, rows);
    }
}

static void read_param(reader *r, param *out, int named)
{
    int c = json_next(&r->in);
    memset(out, 0, sizeof *out);
    if (c == '"')
        read_text(r, out, named);
    else if (c == '[')
        read_list(r, out);
    else if (check(r, json_integer(&r->in, &out->whole), DENIABLE_NOT_A_LAW))
        out->kind = WHOLE;
}

static void read_op(reader *r, deniable_node *node)
{
    unsigned char *before = r->at;
    size_t length = 0;
    char *name = text(r, &length);
    if (!name)
        return;
    for (node->op = 0; node->op < OPERATIONS; node->op++)
        if (strlen(operations[node->op].name) == length && !memcmp(name, operations[node->op].name, length))
            break;
    check(r, node->op < OPERATIONS, DENIABLE_UNKNOWN);
    r->at = before;
}

static void read_args(reader *r, deniable_node *node, uint32_t place)
{
    size_t count = json_count(&r->in), i;
    uint32_t *args = take(r, count, sizeof *args);
    expect(r, '[');
    for (i = 0; i < count && r->error == DENIABLE_OK; i++) {
        int64_t value = 0;
        check(r, json_integer(&r->in, &value) && value >= 0 && value < place, DENIABLE_FORWARD);
        args[i] = (uint32_t)value;
        follows(r, i, count);
    }
    if (!count)
        expect(r, ']');
    node->args = args, node->count = (uint32_t)count;
}

static void read_node(reader *r, deniable_node *node, uint32_t place)
{
    expect(r, '[');
    if (r->error == DENIABLE_OK)
        read_op(r, node);
    if (r->error != DENIABLE_OK || !expect(r, ','))
        return;
    read_args(r, node, place);
    while (r->error == DENIABLE_OK && json_is(&r->in, ',')) {
        if (check(r, node->params < operations[node->op].most, DENIABLE_PARAMETERS))
            read_param(r, &r->params[node->params++], node->op == OP_code);
    }
    expect(r, ']');
    if (r->error == DENIABLE_OK)
        infer(r, node);
}

static void read_nodes(reader *r)
{
    size_t count = json_count(&r->in), i;
    deniable_program *program = r->program;
    check(r, json_next(&r->in) == '[', DENIABLE_NOT_A_LAW);
    check(r, count > 0 && count <= DENIABLE_MOST_NODES, DENIABLE_NODES);
    if (r->error != DENIABLE_OK || !(program->nodes = take(r, count, sizeof *program->nodes)))
        return;
    expect(r, '[');
    for (i = 0; i < count && r->error == DENIABLE_OK; i++) {
        program->place = (uint32_t)i;
        read_node(r, &program->nodes[i], program->place);
        follows(r, i, count);
    }
    program->size = (uint32_t)count;
}

static void read_report(reader *r)
{
    size_t count = json_count(&r->in), i;
    deniable_program *program = r->program;
    check(r, json_next(&r->in) == '[', DENIABLE_NOT_A_LAW);
    check(r, count > 0 && count < UINT32_MAX, DENIABLE_NAMES);
    if (r->error != DENIABLE_OK || !(program->report = take(r, count, sizeof *program->report)))
        return;
    expect(r, '[');
    for (i = 0; i < count && r->error == DENIABLE_OK; i++) {
        deniable_field *field = &program->report[i];
        int64_t node = 0;
        expect(r, '[');
        field->name = text(r, &field->length);
        if (r->error != DENIABLE_OK || !expect(r, ','))
            return;
        check(r, json_integer(&r->in, &node), DENIABLE_NOT_A_LAW);
        check(r, node >= 0 && node < DENIABLE_MOST_NODES, DENIABLE_FIELD);
        field->node = (uint32_t)node;
        expect(r, ']');
        follows(r, i, count);
    }
    program->fields = (uint32_t)count;
}

static int ordered(const deniable_field *a, const deniable_field *b)
{
    size_t shared = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->name, b->name, shared);
    return order ? order : a->length < b->length ? -1 : a->length > b->length;
}

static void sift(const deniable_field *fields, uint32_t *order, size_t root, size_t size)
{
    size_t child;
    while ((child = 2 * root + 1) < size) {
        uint32_t moved = order[root];
        if (child + 1 < size && ordered(&fields[order[child]], &fields[order[child + 1]]) < 0)
            child++;
        if (ordered(&fields[moved], &fields[order[child]]) >= 0)
            return;
        order[root] = order[child], order[child] = moved, root = child;
    }
}

/* Whether all names differ: sorted on a heap, so that many names take no more than a moment. */
static void check_names(reader *r)
{
    const deniable_field *fields = r->program->report;
    size_t size = r->program->fields, i;
    unsigned char *before = r->at;
    uint32_t *order = take(r, size, sizeof *order);
    if (!order)
        return;
    for (i = 0; i < size; i++)
        order[i] = (uint32_t)i;
    for (i = size / 2; i--;)
        sift(fields, order, i, size);
    for (i = size; i-- > 1;) {
        uint32_t largest = order[0];
        order[0] = order[i], order[i] = largest;
        sift(fields, order, 0, i);
    }
    for (i = 1; i < size; i++)
        check(r, ordered(&fields[order[i - 1]], &fields[order[i]]) != 0, DENIABLE_NAMES);
    r->at = before;
}

/* Room for the value of every node. */
static void reserve(reader *r)
{
    uint32_t i;
    for (i = 0; i < r->program->size && r->error == DENIABLE_OK; i++) {
        deniable_node *node = &r->program->nodes[i];
        size_t bytes = ((size_t)node->width + 7) / 8;
        if (node->row)
            node->bits = take(r, bytes, node->op == OP_flags || node->op == OP_majority ? 2 : 1);
        else if (node->width)
            node->numbers = take(r, node->width, sizeof *node->numbers);
    }
}

deniable_result deniable_load(deniable_program *program, const char *source, size_t length, void *memory, size_t size)
{
    reader reading, *r = &reading;
    uint32_t i;
    memset(r, 0, sizeof *r), memset(program, 0, sizeof *program);
    r->in.at = (const unsigned char *)source, r->in.end = r->in.at + length;
    r->at = memory, r->end = r->at + size, r->program = program;
    expect(r, '{');
    for (i = 0; i < 2 && r->error == DENIABLE_OK; i++) {
        unsigned char *before = r->at;
        size_t named = 0;
        char *key = text(r, &named);
        int nodes = key && named == 5 && !memcmp(key, "nodes", 5), report = key && named == 6 && !memcmp(key, "report", 6);
        r->at = before;
        expect(r, ':');
        if (check(r, (nodes && !program->nodes) || (report && !program->report), DENIABLE_NOT_A_LAW))
            nodes ? read_nodes(r) : read_report(r);
        expect(r, i ? '}' : ',');
    }
    check(r, json_next(&r->in) == -1, DENIABLE_NOT_A_LAW);
    for (i = 0; r->error == DENIABLE_OK && i < program->fields; i++)
        check(r, program->report[i].node < program->size, DENIABLE_FIELD);
    if (r->error == DENIABLE_OK)
        check_names(r);
    reserve(r);
    program->used = (size_t)(r->at - (unsigned char *)memory);
    if (r->error != DENIABLE_OK)
        program->size = program->fields = 0;
    return r->error;
}

const char *deniable_sentence(deniable_result result)
{
    static const char *const sentences[] = {
        "No error.",
        "This is not a law: it needs the lists nodes and report, and nothing else.",
        "A law has from 1 to 20,000 operations.",
        "The tables of a law have at most 1,048,576 entries.",
        "The fields of a report need names, each its own.",
        "A field of the report refers to an operation that does not exist.",
        "An operation must refer to earlier operations only.",
        "There is no such operation. A newer release may know it.",
        "An operation has the wrong number of arguments.",
        "An operation has the wrong parameters.",
        "An operation is applied to a value of the wrong kind.",
        "An operation is applied to numbers for which it is not defined.",
        "An operation gives numbers beyond 2^62, which a law must not hold.",
        "An operation needs a whole number within its limits as a parameter.",
        "An operation needs a probability, an exact fraction from 0 to 1.",
        "An operation needs a table of whole numbers.",
        "An operation needs weights: whole numbers from 0, with a sum from 1 to 2^63 - 1, the same for every row.",
        "A probability has more than 4,096 bits, which is more than this client holds.",
        "The law needs more memory than it was given.",
        "An encoded answer is none of those that the law is for. Nothing was reported.",
        "The source of randomness failed. Nothing was reported.",
        "The report does not fit the layout that was given.",
        "The bytes do not fit into the room that was given.",
    };
    return (unsigned)result < sizeof sentences / sizeof *sentences ? sentences[result] : "Unknown error.";
}
