/* The closed list of operations, in the order of deniable_node.op. Internal. */
#ifndef DENIABLE_OPERATIONS_H
#define DENIABLE_OPERATIONS_H

/* name, number of arguments (-1: any), parameters at most, how its type follows from its arguments */
#define DENIABLE_OPERATIONS(X)    \
    X(code, -1, 5, code)          \
    X(const, 0, 1, constant)      \
    X(add, 2, 0, corners)         \
    X(sub, 2, 0, corners)         \
    X(mul, 2, 0, corners)         \
    X(min, 2, 0, corners)         \
    X(max, 2, 0, corners)         \
    X(abs, 1, 0, absolute)        \
    X(div, 1, 1, divided)         \
    X(mod, 1, 1, remainder)       \
    X(lt, 2, 0, compared)         \
    X(eq, 2, 0, compared)         \
    X(not, 1, 0, negated)         \
    X(and, 2, 0, logical)         \
    X(or, 2, 0, logical)          \
    X(xor, 2, 0, logical)         \
    X(shr, 2, 0, shifted)         \
    X(ones, 1, 0, ones)           \
    X(where, 3, 0, chosen)        \
    X(table, 1, 1, table)         \
    X(aim, 3, 0, aim)             \
    X(around, 2, 2, around)       \
    X(get, 2, 0, get)             \
    X(put, 3, 0, put)             \
    X(swap, 3, 0, swap)           \
    X(widen, 1, 1, widen)         \
    X(turn, 2, 0, turn)           \
    X(pack, -1, 1, pack)          \
    X(cells, 1, 1, cells)         \
    X(join, -1, 0, join)          \
    X(at, 2, 0, at)               \
    X(toss, 0, 1, toss)           \
    X(below, 0, 1, below)         \
    X(public, 0, 1, below)        \
    X(split, 0, 3, split)         \
    X(pick, 0, 1, pick)           \
    X(pick_each, 1, 1, pick_each) \
    X(toss_each, 1, 1, toss_each) \
    X(flags, 0, 2, flags)         \
    X(subset, 1, 2, subset)       \
    X(majority, 0, 1, majority)

#define DENIABLE_NAME(name, arity, most, type) OP_##name,
enum { DENIABLE_OPERATIONS(DENIABLE_NAME) OPERATIONS };
#undef DENIABLE_NAME

/* Whether a node is a code whose numbers must all differ. */
#define deniable_distinct(node) ((node)->op == OP_code && (node)->whole[0])

#endif
