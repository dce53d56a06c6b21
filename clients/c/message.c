/* Reports to bytes, and the message of a survey. */
#include "deniable.h"
#include <string.h>

static uint32_t needed(int64_t high)
{
    uint32_t bits = 0;
    for (; high; high >>= 1)
        bits++;
    return bits;
}

/* A field must be a row of as many bits, or a number from 0 whose bounds need at most that many, whatever its value is: that a
 * report is refused must say nothing about the answer. */
static int fits(const deniable_node *node, uint32_t bits)
{
    if (node->row)
        return bits == node->width;
    return !node->width && node->low >= 0 && bits >= needed(node->high) && bits <= 64;
}

static unsigned bit_of(const deniable_node *node, uint32_t i)
{
    return (unsigned)(node->row ? node->bits[i >> 3] >> (i & 7) : (int)(i < 63 ? node->number >> i & 1 : 0)) & 1;
}

deniable_result deniable_pack(const deniable_program *program, const uint32_t *bits, unsigned char *out, size_t room,
                              size_t *size)
{
    size_t at = 0;
    uint32_t i, j;
    memset(out, 0, room);
    for (i = 0; i < program->fields; i++) {
        const deniable_node *node = &program->nodes[program->report[i].node];
        uint32_t width = bits ? bits[i] : node->row ? node->width : node->low < 0 ? 0 : needed(node->high);
        if (!fits(node, width))
            return DENIABLE_LAYOUT;
        if (width > 8 * room - at)
            return DENIABLE_ROOM;
        for (j = 0; j < width; j++, at++)
            out[at >> 3] |= (unsigned char)(bit_of(node, j) << (at & 7));
    }
    *size = (at + 7) / 8;
    return DENIABLE_OK;
}

deniable_result deniable_draw_part(const deniable_coins *coins, uint32_t questions, uint32_t sample, uint64_t *part)
{
    unsigned char row[8] = {0};
    uint32_t i;
    if (!questions || questions > 64 || sample > questions)
        return DENIABLE_LAYOUT;
    if (sample && coins->subset(coins->state, questions, sample, 0, row))
        return DENIABLE_COINS;
    for (*part = 0, i = 0; i < questions; i++)
        if (!sample || row[i >> 3] >> (i & 7) & 1)
            *part |= (uint64_t)1 << i;
    return DENIABLE_OK;
}

static uint32_t crc32(const unsigned char *data, size_t size)
{
    uint32_t crc = 0xFFFFFFFFu;
    int i;
    while (size--) {
        crc ^= *data++;
        for (i = 0; i < 8; i++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

static unsigned char *little_endian(unsigned char *out, uint64_t value, int size)
{
    for (; size--; value >>= 8)
        *out++ = (unsigned char)value;
    return out;
}

static unsigned char *copied(unsigned char *out, const void *from, size_t size)
{
    if (size)
        memcpy(out, from, size);
    return out + size;
}

deniable_result deniable_message(const unsigned char fingerprint[16], const unsigned char id[16], uint64_t part,
                                 uint32_t period, const unsigned char *payload, size_t length, unsigned char *out,
                                 size_t room, size_t *size)
{
    unsigned char *at = out;
    if (room < 60 || length > room - 60)
        return DENIABLE_ROOM;
    at = copied(at, "DNSV\1\0\0\0", 8);
    at = copied(copied(at, fingerprint, 16), id, 16);
    at = little_endian(little_endian(little_endian(at, part, 8), period, 4), 1, 4);
    at = copied(at, payload, length);
    at = little_endian(at, crc32(out, (size_t)(at - out)), 4);
    *size = (size_t)(at - out);
    return DENIABLE_OK;
}

deniable_result deniable_add_token(const unsigned char *token, size_t length, unsigned char *message, size_t room,
                                   size_t *size)
{
    unsigned char *at;
    if (*size < 60 || *size > room || !length || length > 1024 || message[6] || message[7])
        return DENIABLE_LAYOUT;
    if (length > room - *size)
        return DENIABLE_ROOM;
    little_endian(message + 6, length, 2);
    at = copied(message + *size - 4, token, length); /* the checksum comes after it */
    at = little_endian(at, crc32(message, (size_t)(at - message)), 4);
    *size = (size_t)(at - message);
    return DENIABLE_OK;
}
