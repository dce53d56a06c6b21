/* Reading JSON piece by piece, from text that may be anything. Internal. */
#ifndef DENIABLE_JSON_H
#define DENIABLE_JSON_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const unsigned char *at, *end;
} json;

int json_next(json *in);               /* the next character that is not white space, or -1 at the end */
int json_is(json *in, char wanted);    /* whether it is this one, which is then taken */
int json_integer(json *in, int64_t *value); /* whether a whole number within 64 bits follows */
int json_string(json *in, char *out, size_t room, size_t *length); /* whether a string follows that fits, ended by a zero */
size_t json_room(const json *in);      /* how many bytes the string that follows takes at most, with its zero */
size_t json_count(const json *in);     /* how many elements the list that follows seems to have */

#endif
