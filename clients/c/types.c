/* The types of values: what operations may be applied to, and the bounds of what they give. See docs/law.md. */
#include "operations.h"
#include "reader.h"
#include <string.h>

#define LARGEST DENIABLE_LARGEST
#define check deniable_check

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
    check(r, node->count <= DENIABLE_MOST_DRAWS, DENIABLE_ARGUMENTS);
    node->name = r->params[0].name;
    give(r, node, low, high, node->params > 3 ? (uint32_t)whole(r, node, 3, 1, DENIABLE_WIDEST) : 0);
    node->whole[0] = node->params > 4 ? whole(r, node, 4, 0, 1) : 0;
    check(r, !node->whole[0] || node->width - 1 <= (uint64_t)high - (uint64_t)low, DENIABLE_RANGE);
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
    if (floored(kind->low, by) == floored(kind->high, by))
        give(r, node, kind->low - by * floored(kind->low, by), kind->high - by * floored(kind->high, by), kind->width);
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
        if (node->op == OP_and)
            give(r, node, 0, a->high < b->high ? a->high : b->high, 0);
        else
            give(r, node, 0, (int64_t)(((uint64_t)1 << (high < 0 ? 0 : bit_length(high))) - 1), 0);
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

int deniable_operation(const char *name, size_t length)
{
    int op;
    for (op = 0; op < OPERATIONS; op++)
        if (strlen(operations[op].name) == length && !memcmp(name, operations[op].name, length))
            return op;
    return -1;
}

int deniable_most_params(int op)
{
    return operations[op].most;
}

void deniable_infer(reader *r, deniable_node *node)
{
    int arity = operations[node->op].arity;
    if (!check(r, arity < 0 || (uint32_t)arity == node->count, DENIABLE_ARGUMENTS))
        return;
    operations[node->op].infer(r, node);
}
