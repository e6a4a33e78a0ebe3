/* Writes JSON piece by piece, for documents that would be too large as a tree in memory, or whose numbers a JSON
 * library would not write exactly. */
#ifndef PCC_IR_BASE_JSON_OUT_H
#define PCC_IR_BASE_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    JSON_DEPTH = 8, /* the most objects and lists that may be open at the same time */
    JSON_ROW = -1   /* as an indent: all members on one line */
};

/* A document that is being written to f.  Before the first call all fields but f are zero. */
struct json_out {
    FILE *f;
    uint32_t depth; /* number of open objects and lists */
    struct {
        char close; /* '}' or ']' */
        bool any;   /* at least one member is written */
        /* blanks before each member, each member on its own line; JSON_ROW: all members on one line */
        int indent;
    } open[JSON_DEPTH]; /* [depth] the open objects and lists, the innermost last */
};

/* Opens an object (bracket '{') or list ('[').  indent: blanks before each of its members, or JSON_ROW.  Here and
 * below, key is the name of the new member of an object, or NULL in a list and for the whole document. */
void json_open(struct json_out *o, const char *key, char bracket, int indent);
/* Closes the object or list that was opened last.  indent: blanks before the bracket on its own line; JSON_ROW: the
 * bracket follows the last member. */
void json_close(struct json_out *o, int indent);
/* Sets the indentation of the further members of the object or list that was opened last; indent:
 * as for json_open(). */
void json_indent(struct json_out *o, int indent);
/* Begins a member.  Returns the file, to which the caller writes the member's value. */
FILE *json_member(struct json_out *o, const char *key);
/* These three write a whole member.  json_text: a string, or null if text is NULL.  json_int: an integer.
 * json_seconds: a time of `ps` ps as an exact number of seconds, or null if ps < 0. */
void json_text(struct json_out *o, const char *key, const char *text);
void json_int(struct json_out *o, const char *key, int64_t v);
void json_seconds(struct json_out *o, const char *key, int64_t ps);

/* Writes text as a JSON string in quotes.  Each byte that is not UTF-8 becomes U+FFFD; characters up to U+FFFF that
 * cannot be shown (utf8_shown) are escaped. */
void json_put_string(FILE *f, const char *text);
/* Writes v / 10^digits exactly, as a plain decimal number.  Zeros at its end are left out, but at least one digit
 * stays after the point.  v < 0: writes null.  0 < digits < 19. */
void json_put_decimal(FILE *f, int64_t v, int digits);

#endif
