/* Streams of bytes: the keystream of AES-256 (FIPS 197) in counter mode, seeded or under a key of the operating system.
 *
 * It looks bytes up in a table, which a program on the same processor may observe through the cache. Where others run code
 * beside yours, give deniable_from_stream the randomness of your platform instead. */
#define _DEFAULT_SOURCE
#include "deniable.h"
#include <string.h>

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <unistd.h>
#define HAVE_UNIX
#endif
#ifdef __linux__
#include <sys/random.h>
#endif

#define ROUNDS 14

static unsigned char doubled(unsigned char x)
{
    return (unsigned char)(x << 1 ^ (x & 0x80 ? 0x1B : 0));
}

/* p runs through the powers of 3, and q through their inverses. */
static void make_sbox(unsigned char sbox[256])
{
    unsigned char p = 1, q = 1;
    sbox[0] = 0x63;
    do {
        int i;
        unsigned mixed;
        p ^= doubled(p);
        q ^= (unsigned char)(q << 1);
        q ^= (unsigned char)(q << 2);
        q ^= (unsigned char)(q << 4);
        q ^= q & 0x80 ? 0x09 : 0;
        for (mixed = q, i = 1; i < 5; i++)
            mixed ^= (unsigned)q << i | (unsigned)q >> (8 - i);
        sbox[p] = (unsigned char)(mixed ^ 0x63);
    } while (p != 1);
}

static void expand(deniable_keystream *stream, const unsigned char key[32])
{
    unsigned char *keys = stream->keys, word[4], constant = 1, first;
    int i, j;
    memcpy(keys, key, 32);
    for (i = 32; i < 16 * (ROUNDS + 1); i += 4) {
        memcpy(word, keys + i - 4, 4);
        if (i % 32 == 0) {
            first = word[0];
            word[0] = (unsigned char)(stream->sbox[word[1]] ^ constant);
            word[1] = stream->sbox[word[2]], word[2] = stream->sbox[word[3]], word[3] = stream->sbox[first];
            constant = doubled(constant);
        } else if (i % 32 == 16) {
            for (j = 0; j < 4; j++)
                word[j] = stream->sbox[word[j]];
        }
        for (j = 0; j < 4; j++)
            keys[i + j] = keys[i + j - 32] ^ word[j];
    }
}

static void mix(unsigned char column[4])
{
    unsigned char all = column[0] ^ column[1] ^ column[2] ^ column[3], first = column[0];
    int i;
    for (i = 0; i < 4; i++)
        column[i] ^= all ^ doubled(column[i] ^ (i < 3 ? column[i + 1] : first));
}

static void encrypt(deniable_keystream *stream)
{
    unsigned char *block = stream->block, moved[16];
    int round, i;
    for (i = 0; i < 16; i++)
        block[i] = stream->counter[i] ^ stream->keys[i];
    for (round = 1; round <= ROUNDS; round++) {
        for (i = 0; i < 16; i++)
            moved[i] = stream->sbox[block[(i + 4 * (i % 4)) % 16]];
        for (i = 0; i < 16 && round < ROUNDS; i += 4)
            mix(moved + i);
        for (i = 0; i < 16; i++)
            block[i] = moved[i] ^ stream->keys[16 * round + i];
    }
    for (i = 16; i-- && !++stream->counter[i];)
        ;
}

static int fresh_key(unsigned char key[32])
{
    size_t got = 0;
#ifdef __linux__
    if (getrandom(key, 32, 0) == 32)
        return 0;
#endif
#ifdef HAVE_UNIX
    {
        int file = open("/dev/urandom", O_RDONLY);
        ssize_t part = 1;
        while (file >= 0 && got < 32 && (part = read(file, key + got, 32 - got)) > 0)
            got += (size_t)part;
        if (file >= 0)
            close(file);
    }
#endif
    return got != 32;
}

static void zero(volatile void *at, size_t size)
{
    volatile unsigned char *byte = at;
    while (size--)
        *byte++ = 0;
}

static long process(void)
{
#ifdef HAVE_UNIX
    return (long)getpid();
#else
    return 0;
#endif
}

static int keystream(void *state, unsigned char *out, size_t size)
{
    deniable_keystream *stream = state;
    if (stream->secure && stream->process != process() && deniable_secure(stream) != DENIABLE_OK)
        return 1;
    while (size--) {
        if (stream->used == 16) {
            encrypt(stream);
            stream->used = 0;
        }
        *out++ = stream->block[stream->used];
        stream->block[stream->used++] = 0; /* what was drawn is not kept; deniable_forget overwrites what it came from */
    }
    return 0;
}

void deniable_keyed(deniable_keystream *stream, const unsigned char key[32])
{
    memset(stream, 0, sizeof *stream);
    make_sbox(stream->sbox);
    expand(stream, key);
    stream->used = 16;
    stream->stream.state = stream, stream->stream.bytes = keystream;
}

void deniable_seeded(deniable_keystream *stream, const void *seed, size_t size)
{
    unsigned char key[32];
    deniable_sha256 sha;
    deniable_sha256_start(&sha);
    deniable_sha256_add(&sha, "deniable seed", 14); /* with its zero byte */
    deniable_sha256_add(&sha, seed, size);
    deniable_sha256_end(&sha, key);
    deniable_keyed(stream, key);
}

deniable_result deniable_secure(deniable_keystream *stream)
{
    unsigned char key[32];
    if (fresh_key(key))
        return DENIABLE_COINS;
    deniable_keyed(stream, key);
    stream->secure = 1, stream->process = process();
    zero(key, sizeof key);
    return DENIABLE_OK;
}

static int forgotten(void *state, unsigned char *out, size_t size)
{
    (void)state, (void)out, (void)size;
    return 1;
}

void deniable_forget(deniable_keystream *stream)
{
    zero(stream, sizeof *stream);
    stream->stream.bytes = forgotten;
}
