/* Reading symbolic dimensions: text to polynomial.  Private to ir/dim*.c. */
#ifndef PCC_IR_MODEL_DIM_PARSE_H
#define PCC_IR_MODEL_DIM_PARSE_H

#include "ir/model/dim_poly.h"

enum parse_error { PARSE_OK, PARSE_SYNTAX, PARSE_BOUNDS, PARSE_UNBOUND };

/* A reader.  The caller fills in the first four; the others start as zero. */
struct parser {
    struct module *m; /* may be NULL if there is a lookup: nothing is interned then */
    bool dry;         /* only call lookup with each name: no arithmetic */
    /* value of a name, -1: unbound; NULL: names stay names */
    int64_t (*lookup)(void *user, const char *name);
    void *user;
    const char *s; /* next character */
    unsigned depth;
    enum parse_error error;
};

/* All of text as a polynomial. */
enum parse_error dim_read(struct parser *p, const char *text, struct poly *out);
bool dim_is_name(const char *s);
/* Puts name into out[POLY_TEXT] in single quotes, those inside it doubled; false if it is too long. */
bool dim_quote(const char *name, char *out);

#endif
