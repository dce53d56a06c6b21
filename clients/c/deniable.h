/* deniable for C: runs the law of a question on a device that has no Python and no browser.
 *
 * A law is a program in JSON; docs/law.md has its form and the meaning of every operation. The caller provides all memory:
 * deniable_load reads a program into one block, checks it, and reserves room for every value in the same block. Nothing is
 * allocated afterwards. A program may come from anywhere; what is not a valid law is refused with a code and a sentence.
 *
 *     static unsigned char memory[65536];
 *     deniable_program law;
 *     deniable_keystream stream;
 *     deniable_coins coins;
 *     if (deniable_load(&law, text, length, memory, sizeof memory) == DENIABLE_OK &&
 *         deniable_secure(&stream) == DENIABLE_OK) {
 *         deniable_from_stream(&coins, &stream.stream);
 *         if (deniable_run(&law, &coins, codes, count) == DENIABLE_OK)
 *             deniable_pack(&law, NULL, report, sizeof report, &size);
 *         deniable_wipe(&law), deniable_forget(&stream);
 *     }
 */
#ifndef DENIABLE_H
#define DENIABLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DENIABLE_LARGEST ((int64_t)1 << 62) /* no number of a program lies outside -2^62..2^62 */
#define DENIABLE_MOST_NODES 20000
#define DENIABLE_MOST_ENTRIES (1 << 22) /* of all tables and weights of a program together */
#define DENIABLE_WIDEST (1 << 20)       /* cells of a row, and numbers of a vector */
#define DENIABLE_MOST_DRAWS 64          /* that an encoder is given */
#define DENIABLE_MOST_SUBSET ((int64_t)1 << 32) /* n times k of a subset of k out of n */
#define DENIABLE_FRACTION_BITS 4096     /* of a numerator or a denominator; a limit of this client */
#define DENIABLE_MOST_AGAIN 1000        /* draws refused in a row before the source of randomness counts as broken */

typedef enum {
    DENIABLE_OK,
    DENIABLE_NOT_A_LAW,
    DENIABLE_NODES,
    DENIABLE_ENTRIES,
    DENIABLE_NAMES,
    DENIABLE_FIELD,
    DENIABLE_FORWARD,
    DENIABLE_UNKNOWN,
    DENIABLE_ARGUMENTS,
    DENIABLE_PARAMETERS,
    DENIABLE_KIND,
    DENIABLE_RANGE,
    DENIABLE_OVERFLOW,
    DENIABLE_WHOLE,
    DENIABLE_ODDS,
    DENIABLE_TABLE,
    DENIABLE_WEIGHTS,
    DENIABLE_LONG_FRACTION,
    DENIABLE_MEMORY,
    DENIABLE_CODE,
    DENIABLE_COINS,
    DENIABLE_LAYOUT,
    DENIABLE_ROOM
} deniable_result;

/* What is wrong, in a sentence for the operator. */
const char *deniable_sentence(deniable_result result);

/* A probability: above / below, each `limbs` words of 32 bits, the lowest first. Not necessarily in lowest terms. */
typedef struct {
    const uint32_t *above, *below;
    uint32_t limbs;
} deniable_fraction;

/* One operation, its type, and its value in the last run. */
typedef struct {
    uint8_t op, row; /* row: a row of `width` bits */
    uint16_t params;
    uint32_t width; /* numbers of a vector or bits of a row; 0 for a single number */
    int64_t low, high;
    const uint32_t *args;
    uint32_t count; /* arguments */
    uint32_t rows, columns; /* of the table */
    int64_t whole[3];
    const int64_t *table;
    const deniable_fraction *odds;
    const char *name; /* of a code, as UTF-8 */
    int64_t number;   /* the value of a single number */
    int64_t *numbers; /* of a vector; then as many spare ones where all must differ */
    unsigned char *bits; /* of a row, lowest bit first, unused bits zero; then as many spare bytes where it is drawn */
} deniable_node;

typedef struct {
    const char *name; /* as UTF-8 */
    size_t length;
    uint32_t node;
} deniable_field;

typedef struct {
    deniable_node *nodes;
    uint32_t size;
    deniable_field *report;
    uint32_t fields;
    size_t used;    /* bytes of the block that the program takes */
    uint32_t place; /* the operation that was refused, or that failed */
} deniable_program;

/* Read and check a program. The text is not needed afterwards; the memory is, and belongs to the program. */
deniable_result deniable_load(deniable_program *program, const char *text, size_t length, void *memory, size_t size);

/* Exact draws. Each callback returns 0, or anything else if it failed. Rows have (bits + 7) / 8 bytes, and so has `spare`.
 * What they give is checked against the type of the operation. */
typedef struct {
    void *state;
    int (*toss)(void *state, const deniable_fraction *heads, uint32_t bits, unsigned char *row, unsigned char *spare);
    int (*below)(void *state, int64_t n, int64_t *value);
    int (*split)(void *state, const deniable_fraction *heads, int64_t first, int64_t second, int64_t *value);
    int (*pick)(void *state, const int64_t *weights, uint32_t count, int64_t *value);
    int (*toss_each)(void *state, const int64_t *heads, int64_t whole, uint32_t count, int64_t *values);
    int (*subset)(void *state, uint32_t n, uint32_t k, int one_less, unsigned char *row);
    int (*majority)(void *state, uint32_t n, unsigned char *row, unsigned char *spare);
} deniable_coins;

/* A stream of uniform, independent bytes: 0, or anything else if it failed. */
typedef struct {
    void *state;
    int (*bytes)(void *state, unsigned char *out, size_t size);
} deniable_stream;

/* Draws made of the bytes of a stream, as every client makes them. */
void deniable_from_stream(deniable_coins *coins, deniable_stream *stream);

/* Gives the values of the code at `node`, in order of the program; the draws it takes have their values already. */
typedef int (*deniable_encoder)(void *state, const deniable_program *program, uint32_t node, int64_t *values);

/* Run the program on the codes of one answer, one after the other, those of a vector in its order. */
deniable_result deniable_run(deniable_program *program, const deniable_coins *coins, const int64_t *codes, size_t count);

/* The same where an encoder needs draws of the program. */
deniable_result deniable_run_encoded(deniable_program *program, const deniable_coins *coins, deniable_encoder encoder,
                                     void *state);

/* Overwrite the values of the last run with zeros: nobody finds the answer in memory later. */
void deniable_wipe(deniable_program *program);

/* The bytes of the report: its fields one after the other, lowest bit first, the last byte filled with zeros.
 * bits[i] is the width of field i in the layout of the mechanism; without them every number has the bits its bounds need. */
deniable_result deniable_pack(const deniable_program *program, const uint32_t *bits, unsigned char *out, size_t room,
                              size_t *size);

/* Which questions of a survey a person answers, bit i for question i: `sample` of them, drawn before anything else from the
 * coins of the message; with a sample of 0 all of them, and nothing is drawn. A survey has at most 64 questions. */
deniable_result deniable_draw_part(const deniable_coins *coins, uint32_t questions, uint32_t sample, uint64_t *part);

/* The message of a survey: header, id, which questions are answered, their reports in whole bytes, checksum.
 * `payload` has the reports of these questions, in order, made with the same coins one after the other. */
deniable_result deniable_message(const unsigned char fingerprint[16], const unsigned char id[16], uint64_t part,
                                 uint32_t period, const unsigned char *payload, size_t length, unsigned char *out,
                                 size_t room, size_t *size);

/* Puts the token of an invited person, of 1 to 1,024 bytes, into a message that has none yet and `*size` bytes by now. */
deniable_result deniable_add_token(const unsigned char *token, size_t length, unsigned char *message, size_t room,
                                   size_t *size);

typedef struct {
    uint32_t state[8];
    uint64_t length;
    unsigned char block[64];
} deniable_sha256;

void deniable_sha256_start(deniable_sha256 *sha);
void deniable_sha256_add(deniable_sha256 *sha, const void *data, size_t size);
void deniable_sha256_end(deniable_sha256 *sha, unsigned char digest[32]);

/* The keystream of AES-256 in counter mode, the counter starting at zero. */
typedef struct {
    deniable_stream stream;
    unsigned char sbox[256], keys[240], counter[16], block[16];
    unsigned used; /* bytes of the block */
    int secure;
    long process;
} deniable_keystream;

void deniable_keyed(deniable_keystream *stream, const unsigned char key[32]);

/* For tests, never for people's answers: the same stream every time. A whole number as seed is written in decimal. */
void deniable_seeded(deniable_keystream *stream, const void *seed, size_t size);

/* A fresh key from the operating system; a forked process takes a key of its own. */
deniable_result deniable_secure(deniable_keystream *stream);

/* Overwrite the key with zeros, after which the stream gives nothing: whoever has the key and a report can work out the answer. */
void deniable_forget(deniable_keystream *stream);

#ifdef __cplusplus
}
#endif

#endif
