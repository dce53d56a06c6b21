/* Tests of the client on their own: no part of the library.
 *
 *     test vectors ../../vectors/laws.json     every program of the file gives the fields that it should
 *     test fuzz ../../vectors/laws.json 20000  so many damaged programs are refused or run
 *     test verdicts                            programs from standard input, each after its length: four bytes, lowest first
 */
#include "deniable.h"
#include "json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY ((size_t)64 << 20)

static unsigned char *memory, *file;

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "%s: %s\n", name, what);
    exit(1);
}

static json read_file(const char *name)
{
    FILE *in = fopen(name, "rb");
    json text;
    size_t size = 0, room = 1 << 16, part;
    if (!in)
        fail("cannot be read", name);
    file = malloc(room);
    while (file && (part = fread(file + size, 1, room - size, in)) > 0)
        if ((size += part) == room)
            file = realloc(file, room *= 2);
    fclose(in);
    if (!file)
        fail("is too large", name);
    text.at = file, text.end = file + size;
    return text;
}

/* Go past one value of well-formed JSON. */
static json skip(json *in)
{
    json value = *in;
    int depth = 0;
    json_next(&value);
    for (in->at = value.at; in->at < in->end; in->at++) {
        int c = *in->at;
        if (c == '"')
            for (in->at++; *in->at != '"'; in->at++)
                in->at += *in->at == '\\';
        else if (c == '[' || c == '{')
            depth++;
        else if ((c == ']' || c == '}' || c == ',') && !depth)
            break;
        else if (c == ']' || c == '}')
            depth--;
    }
    value.end = in->at;
    return value;
}

/* The value of a key of an object. */
static json member(json object, const char *wanted)
{
    char key[64];
    size_t length;
    json_is(&object, '{');
    do {
        json value;
        if (!json_string(&object, key, sizeof key, &length) || !json_is(&object, ':'))
            fail("is missing", wanted);
        value = skip(&object);
        if (!strcmp(key, wanted))
            return value;
    } while (json_is(&object, ','));
    fail("is missing", wanted);
    return object;
}

static size_t read_codes(json in, int64_t *codes)
{
    size_t count = 0;
    while (json_next(&in) != -1) {
        if (json_integer(&in, &codes[count]))
            count++;
        else
            in.at++; /* brackets and commas */
    }
    return count;
}

static int same(const deniable_node *node, json expected)
{
    int64_t number;
    char text[4096];
    size_t length, i;
    if (!node->row)
        return json_integer(&expected, &number) && number == node->number;
    if (!json_string(&expected, text, sizeof text, &length) || length != (node->width + 7) / 8 * 2)
        return 0;
    for (i = 0; i < length; i += 2) {
        char byte[3];
        sprintf(byte, "%02x", node->bits[i / 2]);
        if (memcmp(byte, text + i, 2))
            return 0;
    }
    return 1;
}

static void check_case(deniable_program *law, json each, const char *name)
{
    static int64_t codes[4096];
    deniable_keystream stream;
    deniable_coins coins;
    size_t count = read_codes(member(each, "codes"), codes);
    json seed = member(each, "seed"), report = member(each, "report");
    uint32_t i;
    deniable_seeded(&stream, seed.at, (size_t)(seed.end - seed.at));
    deniable_from_stream(&coins, &stream.stream);
    if (deniable_run(law, &coins, codes, count) != DENIABLE_OK)
        fail("does not run", name);
    for (i = 0; i < law->fields; i++)
        if (!same(&law->nodes[law->report[i].node], member(report, law->report[i].name)))
            fail("gives another report", name);
}

static int check_vectors(json in)
{
    int laws = 0, cases = 0;
    json_is(&in, '[');
    do {
        json each = skip(&in), law = member(each, "law"), all = member(each, "cases"), title = member(each, "name");
        char name[200];
        size_t length;
        deniable_program program;
        deniable_result result = deniable_load(&program, (const char *)law.at, (size_t)(law.end - law.at), memory, MEMORY);
        json_string(&title, name, sizeof name, &length);
        if (result != DENIABLE_OK)
            fail(deniable_sentence(result), name);
        laws++;
        json_is(&all, '[');
        do {
            check_case(&program, skip(&all), name);
            cases++;
        } while (json_is(&all, ','));
    } while (json_is(&in, ','));
    printf("%d laws, %d cases: all as expected\n", laws, cases);
    return 0;
}

/* Codes at the ends of their bounds, one after the other. */
static int ends(void *state, const deniable_program *program, uint32_t node, int64_t *values)
{
    const deniable_node *code = &program->nodes[node];
    uint32_t i, *turn = state;
    for (i = 0; i < (code->width ? code->width : 1); i++)
        values[i] = code->whole[0] ? code->low + i : (*turn)++ % 2 ? code->high : code->low; /* or all different */
    return 0;
}

/* What becomes of a program: why it is refused, or 0 if it ran on some answers. */
static deniable_result verdict(const char *text, size_t length)
{
    deniable_program law;
    deniable_keystream stream;
    deniable_coins coins;
    unsigned char report[4096];
    size_t size;
    uint32_t turn;
    deniable_result result = deniable_load(&law, text, length, memory, MEMORY);
    deniable_seeded(&stream, "fuzz", 4);
    deniable_from_stream(&coins, &stream.stream);
    for (turn = 0; turn < 2 && result == DENIABLE_OK; turn++) {
        uint32_t from = turn;
        result = deniable_run_encoded(&law, &coins, ends, &from);
        if (result == DENIABLE_OK)
            deniable_pack(&law, NULL, report, sizeof report, &size);
    }
    if (!deniable_sentence(result)[0])
        fail("has no sentence", "an error");
    return result;
}

static int give_verdicts(void)
{
    unsigned char size[4];
    while (fread(size, 1, 4, stdin) == 4) {
        size_t length = size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 | (size_t)size[3] << 24;
        char *text = malloc(length ? length : 1); /* exactly as long: reading past it is seen */
        if (!text || fread(text, 1, length, stdin) != length)
            fail("was cut off", "the input");
        printf("%d\n", (int)verdict(text, length));
        free(text);
    }
    return 0;
}

static uint32_t random_below(uint32_t n)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)(state >> 32) % n;
}

/* Replace, remove, repeat or insert a few bytes. */
static size_t damage(char *text, size_t length, size_t room)
{
    static const char *const pieces[] = {"[",    "]",     ",",       "\"",    "{",  "}",    "-", "0",
                                         "9999", "1/2",   "\"1/0\"", "null",  "[[", "]]",   ":", "4611686018427387905",
                                         "true", "\"or\"", "1e5",     "\\u0", "7",  "1048577"};
    uint32_t times = 1 + random_below(4);
    while (times-- && length > 1) {
        size_t at = random_below((uint32_t)length), part = 1 + random_below(16);
        const char *piece = pieces[random_below(sizeof pieces / sizeof *pieces)];
        size_t size = strlen(piece);
        part = part < length - at ? part : length - at;
        switch (random_below(4)) {
        case 0:
            memmove(text + at, text + at + part, length - at - part), length -= part;
            break;
        case 1:
            if (length + part <= room)
                memmove(text + at + part, text + at, length - at), length += part;
            break;
        case 2:
            if (length + size <= room)
                memmove(text + at + size, text + at, length - at), memcpy(text + at, piece, size), length += size;
            break;
        default:
            text[at] = (char)random_below(256);
        }
    }
    return length;
}

static int fuzz(json in, long times)
{
    long refused = 0, ran = 0, i;
    char text[50000], *tight;
    json start = in;
    for (i = 0; i < times; i++) {
        json law;
        size_t length;
        if (i % 40 == 0 && !(i && json_is(&in, ',')))
            in = start, json_is(&in, '[');
        law = in;
        law = member(skip(i % 40 == 39 ? &in : &law), "law");
        length = (size_t)(law.end - law.at);
        if (length > sizeof text)
            continue;
        memcpy(text, law.at, length);
        length = damage(text, length, sizeof text);
        tight = malloc(length + 1);
        if (!tight)
            fail("is missing", "memory");
        memcpy(tight, text, length);
        verdict(tight, length) == DENIABLE_OK ? ran++ : refused++;
        free(tight);
    }
    printf("%ld damaged programs: %ld refused, %ld still laws\n", times, refused, ran);
    return 0;
}

int main(int count, char **words)
{
    const char *task = count > 1 ? words[1] : "";
    memory = malloc(MEMORY);
    if (!memory)
        fail("is missing", "memory");
    if (!strcmp(task, "vectors") && count == 3)
        count = check_vectors(read_file(words[2]));
    else if (!strcmp(task, "fuzz") && count == 4)
        count = fuzz(read_file(words[2]), atol(words[3]));
    else if (!strcmp(task, "verdicts") && count == 2)
        count = give_verdicts();
    else
        fail("vectors FILE, fuzz FILE TIMES or verdicts", "usage");
    free(memory);
    free(file);
    return count;
}
