/* JSON that is written as it is made, where a tree would be too large or its numbers not exact. */
#ifndef PCC_IR_BASE_JSON_OUT_H
#define PCC_IR_BASE_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH = 8, JSON_ROW = -1 };

/* A document on its way into f: objects and lists that stand open.  Zeroed but for f, nothing is written yet. */
struct json_out {
    FILE *f;
    uint32_t depth;
    struct {
        char close;
        bool any; /* the bracket has a member already */
        /* blanks before each member, each member on its own line; JSON_ROW: all members on one line */
        int indent;
    } open[JSON_DEPTH];
};

/* Opens an object ('{') or list ('[').  Here and below: key is that of a member of an object, NULL in a list and for
 * the whole document. */
void json_open(struct json_out *o, const char *key, char bracket, int indent);
/* Closes the object or array that was opened last.  indent: blanks before the bracket on its own line; JSON_ROW: the
 * bracket follows the last member. */
void json_close(struct json_out *o, int indent);
/* Sets the indentation of the further members of the object or array that was opened last. */
void json_indent(struct json_out *o, int indent);
/* Begins a member: the caller writes its value to the file. */
FILE *json_member(struct json_out *o, const char *key);
void json_text(struct json_out *o, const char *key, const char *text); /* NULL: null */
void json_int(struct json_out *o, const char *key, int64_t v);
void json_seconds(struct json_out *o, const char *key, int64_t ps); /* negative: null */

/* A string in quotes; bytes that are not UTF-8 become U+FFFD, each. */
void json_put_string(FILE *f, const char *text);
/* v / 10^digits as a plain decimal, exact, with one digit behind the point at least and no other zeros at its end;
 * v < 0: null.  0 < digits < 19. */
void json_put_decimal(FILE *f, int64_t v, int digits);

#endif
