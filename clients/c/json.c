#include "json.h"

int json_next(json *in)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t' || *in->at == '\n' || *in->at == '\r'))
        in->at++;
    return in->at < in->end ? *in->at : -1;
}

int json_is(json *in, char wanted)
{
    if (json_next(in) != wanted)
        return 0;
    in->at++;
    return 1;
}

static int digit(const json *in)
{
    return in->at < in->end && *in->at >= '0' && *in->at <= '9';
}

int json_integer(json *in, int64_t *value)
{
    int negative = json_is(in, '-');
    uint64_t size = 0;
    if (!negative)
        json_next(in);
    if (!digit(in))
        return 0;
    if (*in->at == '0')
        in->at++; /* a digit after it is not taken, so that the caller refuses it */
    else
        while (digit(in)) {
            unsigned next = (unsigned)(*in->at++ - '0');
            if (size > ((uint64_t)INT64_MAX - next) / 10)
                return 0;
            size = 10 * size + next;
        }
    *value = negative ? -(int64_t)size : (int64_t)size;
    return 1;
}

static int hexadecimal(json *in, uint32_t *value)
{
    int i;
    *value = 0;
    for (i = 0; i < 4; i++) {
        int c = in->at < in->end ? *in->at++ : -1;
        int lower = c | 32;
        if (c >= '0' && c <= '9')
            *value = 16 * *value + (uint32_t)(c - '0');
        else if (lower >= 'a' && lower <= 'f')
            *value = 16 * *value + (uint32_t)(lower - 'a' + 10);
        else
            return 0;
    }
    return 1;
}

static size_t utf8(uint32_t c, char *out)
{
    size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3, i;
    static const unsigned char first[] = {0, 0xC0, 0xE0, 0xF0};
    out[0] = (char)(first[more] | c >> 6 * more);
    for (i = 1; i <= more; i++)
        out[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3F));
    return more + 1;
}

static int escaped(json *in, uint32_t *c)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    int letter = in->at < in->end ? *in->at++ : -1, i;
    for (i = 0; letters[i]; i++)
        if (letter == letters[i]) {
            *c = (uint32_t)meant[i];
            return 1;
        }
    if (letter != 'u' || !hexadecimal(in, c))
        return 0;
    if (*c >= 0xD800 && *c < 0xDC00 && in->end - in->at >= 6 && in->at[0] == '\\' && in->at[1] == 'u') {
        json ahead = {in->at + 2, in->end};
        uint32_t low;
        if (hexadecimal(&ahead, &low) && low >= 0xDC00 && low < 0xE000) {
            *c = 0x10000 + ((*c - 0xD800) << 10) + (low - 0xDC00);
            *in = ahead;
        }
    }
    return 1;
}

size_t json_room(const json *in)
{
    json ahead = *in;
    const unsigned char *start;
    if (!json_is(&ahead, '"'))
        return 0;
    for (start = ahead.at; ahead.at < ahead.end && *ahead.at != '"'; ahead.at++)
        if (*ahead.at == '\\' && ahead.at + 1 < ahead.end)
            ahead.at++;
    return (size_t)(ahead.at - start) + 4; /* a character never takes more bytes than its escape; the last one has room */
}

int json_string(json *in, char *out, size_t room, size_t *length)
{
    size_t used = 0;
    if (!json_is(in, '"'))
        return 0;
    while (in->at < in->end && used + 4 <= room) {
        uint32_t c = *in->at++;
        if (c == '"') {
            out[used] = 0;
            *length = used;
            return 1;
        }
        if (c < 0x20 || (c == '\\' && !escaped(in, &c)))
            return 0;
        if (c >= 0x80 && in->at[-1] == c)
            out[used++] = (char)c; /* a byte of a longer character, as it is */
        else
            used += utf8(c, out + used);
    }
    return 0;
}

size_t json_count(const json *in)
{
    json ahead = *in;
    size_t count = 1, depth = 1;
    if (!json_is(&ahead, '[') || json_is(&ahead, ']'))
        return 0;
    for (; ahead.at < ahead.end && depth; ahead.at++) {
        unsigned char c = *ahead.at;
        if (c == '"')
            for (ahead.at++; ahead.at < ahead.end && *ahead.at != '"'; ahead.at++)
                ahead.at += *ahead.at == '\\' && ahead.at + 1 < ahead.end;
        else if (c == '[' || c == '{')
            depth++;
        else if (c == ']' || c == '}')
            depth--;
        else
            count += c == ',' && depth == 1;
        if (ahead.at >= ahead.end)
            break;
    }
    return count;
}
