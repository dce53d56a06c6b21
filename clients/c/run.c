/* A law for one answer: every operation in turn, from the values before it. */
#include "deniable.h"
#include "operations.h"
#include <string.h>

static int get(const unsigned char *row, int64_t i)
{
    return row[i >> 3] >> (i & 7) & 1;
}

static void put(unsigned char *row, int64_t i, int bit)
{
    unsigned char mask = (unsigned char)(1 << (i & 7));
    row[i >> 3] = (unsigned char)(bit ? row[i >> 3] | mask : row[i >> 3] & ~mask);
}

static size_t bytes_of(const deniable_node *node)
{
    return ((size_t)node->width + 7) / 8;
}

/* Set the unused bits of the last byte to zero. */
static void trim(deniable_node *node)
{
    if (node->width % 8)
        node->bits[node->width / 8] &= (unsigned char)((1 << node->width % 8) - 1);
}

static int64_t ones(uint64_t value)
{
    int64_t count = 0;
    for (; value; value &= value - 1)
        count++;
    return count;
}

static int64_t nth(const deniable_node *node, uint32_t i)
{
    return node->width ? node->numbers[i] : node->number;
}

static int64_t arithmetic(const deniable_node *node, int64_t a, int64_t b)
{
    int64_t rest;
    switch (node->op) {
    case OP_add:
        return a + b;
    case OP_sub:
        return a - b;
    case OP_mul:
        return a * b;
    case OP_min:
        return a < b ? a : b;
    case OP_max:
        return a > b ? a : b;
    case OP_abs:
        return a < 0 ? -a : a;
    }
    rest = a % node->whole[0];
    rest += rest < 0 ? node->whole[0] : 0;
    return node->op == OP_mod ? rest : (a - rest) / node->whole[0];
}

static void each_number(deniable_node *node, const deniable_node *a, const deniable_node *b)
{
    uint32_t i;
    if (!node->width)
        node->number = arithmetic(node, a->number, b->number);
    for (i = 0; i < node->width; i++)
        node->numbers[i] = arithmetic(node, nth(a, i), nth(b, i));
}

static void each_byte(deniable_node *node, const deniable_node *a, const deniable_node *b)
{
    size_t i;
    for (i = 0; i < bytes_of(node); i++) {
        unsigned x = a->bits[i], y = b->row ? b->bits[i] : b->number ? 255u : 0u;
        node->bits[i] = (unsigned char)(node->op == OP_and ? x & y : node->op == OP_or ? x | y : x ^ y);
    }
}

static void logical(deniable_node *node, const deniable_node *a, const deniable_node *b)
{
    if (node->row)
        each_byte(node, a, b);
    else if (node->op == OP_and)
        node->number = a->number & b->number;
    else
        node->number = node->op == OP_or ? a->number | b->number : a->number ^ b->number;
}

static void turned(deniable_node *node, const deniable_node *row, int which)
{
    size_t i;
    for (i = 0; i < bytes_of(node); i++)
        node->bits[i] = (unsigned char)(which ? ~row->bits[i] : row->bits[i]);
    trim(node);
}

static void copy(deniable_node *node, const deniable_node *from)
{
    if (node->row) {
        memset(node->bits, 0, bytes_of(node));
        memcpy(node->bits, from->bits, bytes_of(from));
    } else if (node->width) {
        memcpy(node->numbers, from->numbers, node->width * sizeof *node->numbers);
    } else {
        node->number = from->number;
    }
}

static void aim(deniable_node *node, int64_t column, int64_t pattern, int64_t odd)
{
    int wrong = (ones((uint64_t)(column & pattern)) & 1) != odd;
    node->number = wrong ? column ^ (pattern & -pattern) : column;
}

/* Place `place` of an order of 0..among - 1: first the `near` numbers from `start` on, then all others in turn. */
static void around(deniable_node *node, int64_t start, int64_t place)
{
    int64_t near = node->whole[0], among = node->whole[1], further = place - near;
    if (place < near)
        place += start;
    else if (place < among)
        place = further < start ? further : place;
    node->number = place;
}

static void count_ones(deniable_node *node, const deniable_node *of)
{
    size_t i;
    node->number = of->row ? 0 : ones((uint64_t)of->number);
    for (i = 0; of->row && i < bytes_of(of); i++)
        node->number += ones(of->bits[i]);
}

static void pack(const deniable_program *program, deniable_node *node)
{
    uint32_t i, j, bits = (uint32_t)node->whole[0];
    memset(node->bits, 0, bytes_of(node));
    for (i = 0; i < node->count; i++)
        for (j = 0; j < bits; j++)
            put(node->bits, (int64_t)i * bits + j, (int)(program->nodes[node->args[i]].number >> j & 1));
}

static void join(const deniable_program *program, deniable_node *node)
{
    uint32_t i, j, at = 0;
    memset(node->bits, 0, bytes_of(node));
    for (i = 0; i < node->count; i++) {
        const deniable_node *part = &program->nodes[node->args[i]];
        for (j = 0; j < part->width; j++)
            put(node->bits, at++, get(part->bits, j));
    }
}

static void cells(deniable_node *node, const deniable_node *vector)
{
    uint32_t i;
    memset(node->bits, 0, bytes_of(node));
    for (i = 0; i < node->width; i++)
        put(node->bits, i, (int)(vector->numbers[i] >> node->whole[0] & 1));
}

static int toss_each(const deniable_node *node, const deniable_coins *coins, const deniable_node *heads, int64_t *out)
{
    if (!node->width)
        return coins->toss_each(coins->state, &heads->number, node->whole[0], 1, out);
    return coins->toss_each(coins->state, heads->numbers, node->whole[0], node->width, out);
}

/* A draw: 0, or anything else if it failed. */
static int draw(deniable_node *node, const deniable_coins *coins, const deniable_node *a)
{
    unsigned char bit[2] = {0, 0}, *spare = node->bits ? node->bits + bytes_of(node) : NULL;
    int64_t *out = node->width ? node->numbers : &node->number;
    const int64_t *weights = node->table;
    int failed;
    switch (node->op) {
    case OP_toss:
        failed = coins->toss(coins->state, node->odds, 1, bit, bit + 1);
        node->number = bit[0];
        return failed;
    case OP_below:
    case OP_public:
        return coins->below(coins->state, node->whole[0], out);
    case OP_split:
        return coins->split(coins->state, node->odds, node->whole[0], node->whole[1], out);
    case OP_pick_each:
        weights += (size_t)a->number * node->columns;
        /* fall through */
    case OP_pick:
        return coins->pick(coins->state, weights, node->columns, out);
    case OP_toss_each:
        return toss_each(node, coins, a, out);
    case OP_flags:
        return coins->toss(coins->state, node->odds, node->width, node->bits, spare);
    case OP_subset:
        return coins->subset(coins->state, node->width, (uint32_t)node->whole[0], a->number != 0, node->bits);
    default:
        return coins->majority(coins->state, node->width, node->bits, spare);
    }
}

/* Everything but codes and draws. */
static void operate(const deniable_program *program, deniable_node *node, const deniable_node *a, const deniable_node *b,
                    const deniable_node *c)
{
    switch (node->op) {
    case OP_lt:
        node->number = a->number < b->number;
        break;
    case OP_eq:
        node->number = a->number == b->number;
        break;
    case OP_not:
        node->row ? turned(node, a, 1) : (void)(node->number = a->number == 0);
        break;
    case OP_and:
    case OP_or:
    case OP_xor:
        logical(node, a, b);
        break;
    case OP_shr:
        node->number = a->number >> b->number;
        break;
    case OP_ones:
        count_ones(node, a);
        break;
    case OP_where:
        copy(node, a->number ? b : c);
        break;
    case OP_table:
        node->number = node->table[a->number];
        break;
    case OP_aim:
        aim(node, a->number, b->number, c->number);
        break;
    case OP_around:
        around(node, a->number, b->number);
        break;
    case OP_get:
        node->number = get(a->bits, b->number);
        break;
    case OP_put:
        copy(node, a), put(node->bits, b->number, c->number != 0);
        break;
    case OP_swap:
        copy(node, a), put(node->bits, b->number, get(a->bits, c->number));
        put(node->bits, c->number, get(a->bits, b->number));
        break;
    case OP_widen:
        copy(node, a);
        break;
    case OP_turn:
        turned(node, a, b->number != 0);
        break;
    case OP_pack:
        pack(program, node);
        break;
    case OP_cells:
        cells(node, a);
        break;
    case OP_join:
        join(program, node);
        break;
    case OP_at:
        node->number = a->numbers[b->number];
        break;
    default:
        each_number(node, a, b);
    }
}

static void sift(int64_t *heap, size_t at, size_t size)
{
    size_t child;
    int64_t value = heap[at];
    for (; (child = 2 * at + 1) < size; at = child) {
        child += child + 1 < size && heap[child + 1] > heap[child];
        if (heap[child] <= value)
            break;
        heap[at] = heap[child];
    }
    heap[at] = value;
}

/* Whether all numbers of a vector differ: a copy of them is sorted, without recursion and in bounded time. */
static int differ(const int64_t *numbers, int64_t *copy, size_t size)
{
    size_t i;
    memcpy(copy, numbers, size * sizeof *copy);
    for (i = size / 2; i--;)
        sift(copy, i, size);
    for (i = size; i-- > 1;) {
        int64_t largest = copy[0];
        copy[0] = copy[i], copy[i] = largest;
        sift(copy, 0, i);
        if (copy[0] == largest)
            return 0;
    }
    return 1;
}

/* Whether the value of a node is one that its type allows: nothing after it reads or writes outside its memory. */
static int within(const deniable_node *node)
{
    uint32_t i;
    if (node->row)
        return node->width % 8 == 0 || node->bits[node->width / 8] >> node->width % 8 == 0;
    if (!node->width)
        return node->low <= node->number && node->number <= node->high;
    for (i = 0; i < node->width; i++)
        if (node->numbers[i] < node->low || node->numbers[i] > node->high)
            return 0;
    return !deniable_distinct(node) || differ(node->numbers, node->numbers + node->width, node->width);
}

deniable_result deniable_run_encoded(deniable_program *program, const deniable_coins *coins, deniable_encoder encoder,
                                     void *state)
{
    static const deniable_node none;
    uint32_t i;
    for (i = 0; i < program->size; i++) {
        deniable_node *node = &program->nodes[i];
        const deniable_node *a = node->count > 0 ? &program->nodes[node->args[0]] : &none;
        const deniable_node *b = node->count > 1 ? &program->nodes[node->args[1]] : &none;
        const deniable_node *c = node->count > 2 ? &program->nodes[node->args[2]] : &none;
        int code = node->op == OP_code, failed = 0;
        program->place = i;
        if (code)
            failed = encoder(state, program, i, node->width ? node->numbers : &node->number);
        else if (node->op >= OP_toss)
            failed = draw(node, coins, a);
        else if (node->op != OP_const)
            operate(program, node, a, b, c);
        if (failed || !within(node)) {
            deniable_wipe(program);
            return code ? DENIABLE_CODE : DENIABLE_COINS;
        }
    }
    return DENIABLE_OK;
}

typedef struct {
    const int64_t *at;
    size_t left;
} given;

static int next_code(void *state, const deniable_program *program, uint32_t node, int64_t *values)
{
    given *codes = state;
    size_t count = program->nodes[node].width ? program->nodes[node].width : 1;
    if (count > codes->left)
        return 1;
    memcpy(values, codes->at, count * sizeof *values);
    codes->at += count, codes->left -= count;
    return 0;
}

deniable_result deniable_run(deniable_program *program, const deniable_coins *coins, const int64_t *codes, size_t count)
{
    given all = {codes, count};
    deniable_result result = deniable_run_encoded(program, coins, next_code, &all);
    if (result == DENIABLE_OK && all.left) {
        deniable_wipe(program);
        return DENIABLE_CODE;
    }
    return result;
}

static void zero(volatile unsigned char *at, size_t size)
{
    while (size--)
        *at++ = 0;
}

void deniable_wipe(deniable_program *program)
{
    uint32_t i;
    for (i = 0; i < program->size; i++) {
        deniable_node *node = &program->nodes[i];
        if (node->op == OP_const)
            continue;
        zero((volatile unsigned char *)&node->number, sizeof node->number);
        if (node->row)
            zero(node->bits, bytes_of(node) * (node->op == OP_flags || node->op == OP_majority ? 2 : 1));
        else if (node->width)
            zero((volatile unsigned char *)node->numbers,
                 (deniable_distinct(node) ? 2 : 1) * node->width * sizeof *node->numbers);
    }
}
