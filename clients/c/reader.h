/* What is known while a program is read. Internal. */
#ifndef DENIABLE_READER_H
#define DENIABLE_READER_H

#include "deniable.h"
#include "json.h"

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
    param params[5];
} reader;

/* Whether everything was right so far; notes what is wrong if this is not. */
int deniable_check(reader *r, int holds, deniable_result otherwise);

/* The operation of this name, or -1. */
int deniable_operation(const char *name, size_t length);

/* How many parameters an operation has at most. */
int deniable_most_params(int op);

/* Work out the type of a node from its arguments and from r->params, or note why it has none. */
void deniable_infer(reader *r, deniable_node *node);

#endif
