/* A law from JSON text: read into the block of memory given, checked, and refused if it is not one. */
#include "json.h"
#include "operations.h"
#include "reader.h"
#include <string.h>

#define LIMBS (DENIABLE_FRACTION_BITS / 32)
#define LONGEST_NUMBER 4300 /* digits of a number written as text */
#define check deniable_check

int deniable_check(reader *r, int holds, deniable_result otherwise)
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

static int expect(reader *r, char c)
{
    return check(r, json_is(&r->in, c), DENIABLE_NOT_A_LAW);
}

/* A whole number that every language reads exactly; larger ones are text. */
static int64_t integer(reader *r, deniable_result otherwise)
{
    int64_t value = 0, most = (int64_t)1 << 53;
    check(r, json_integer(&r->in, &value) && value > -most && value < most, otherwise);
    return value;
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
    size_t length = 0, i;
    unsigned char *before = r->at;
    char *found = text(r, &length), *slash = found ? memchr(found, '/', length) : NULL;
    if (!found)
        return;
    if (named) {
        out->kind = NAME, out->name = found;
    } else if (slash) {
        read_fraction(r, out, found, length, slash);
    } else if (check(r, decimal(found + (found[0] == '-'), length - (found[0] == '-')), DENIABLE_NOT_A_LAW)) {
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
    }
}

static int64_t read_entry(reader *r)
{
    param each;
    each.kind = WHOLE, each.whole = 0;
    if (json_next(&r->in) == '"')
        read_text(r, &each, 0);
    else
        each.whole = integer(r, DENIABLE_NOT_A_LAW);
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
    else
        out->kind = WHOLE, out->whole = integer(r, DENIABLE_NOT_A_LAW);
}

static void read_op(reader *r, deniable_node *node)
{
    unsigned char *before = r->at;
    size_t length = 0;
    char *name = text(r, &length);
    int op;
    if (!name)
        return;
    op = deniable_operation(name, length);
    check(r, op >= 0, DENIABLE_UNKNOWN);
    node->op = (uint8_t)(op < 0 ? 0 : op);
    r->at = before;
}

static void read_args(reader *r, deniable_node *node, uint32_t place)
{
    size_t count = json_count(&r->in), i;
    uint32_t *args = take(r, count, sizeof *args);
    expect(r, '[');
    for (i = 0; i < count && r->error == DENIABLE_OK; i++) {
        int64_t value = integer(r, DENIABLE_FORWARD);
        check(r, value >= 0 && value < place, DENIABLE_FORWARD);
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
        if (check(r, node->params < deniable_most_params(node->op), DENIABLE_PARAMETERS))
            read_param(r, &r->params[node->params], node->op == OP_code && node->params == 0), node->params++;
    }
    expect(r, ']');
    if (r->error == DENIABLE_OK)
        deniable_infer(r, node);
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
        int64_t node;
        expect(r, '[');
        field->name = text(r, &field->length);
        if (r->error != DENIABLE_OK || !expect(r, ','))
            return;
        node = integer(r, DENIABLE_NOT_A_LAW);
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
            node->numbers = take(r, node->width, (deniable_distinct(node) ? 2 : 1) * sizeof *node->numbers);
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
        "The tables of a law have at most 4,194,304 entries.",
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
        "An encoder gave a code outside the bounds of the law. Nothing was reported.",
        "The source of randomness failed. Nothing was reported.",
        "The report does not fit the layout that was given.",
        "The bytes do not fit into the room that was given.",
    };
    return (unsigned)result < sizeof sentences / sizeof *sentences ? sentences[result] : "Unknown error.";
}
