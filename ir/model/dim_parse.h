/* Parses symbolic dimensions: makes polynomials of texts.  Private to ir/model/dim*.c. */
#ifndef PCC_IR_MODEL_DIM_PARSE_H
#define PCC_IR_MODEL_DIM_PARSE_H

#include "ir/model/dim_poly.h"

enum parse_error {
    PARSE_OK,
    PARSE_SYNTAX, /* not an expression */
    PARSE_BOUNDS, /* beyond the limits of polynomials, or nested too deeply */
    PARSE_UNBOUND /* a name to which `lookup` gives no value */
};

/* State of the parser.  The caller sets m, dry, lookup, replace and user; the other fields start as zero. */
struct parser {
    struct module *m; /* gets the names as strings; may be NULL if there is a lookup */
    bool dry;         /* only calls lookup for each name, without any arithmetic */
    /* returns the value of a name, -1: no value; NULL: names stay names */
    int64_t (*lookup)(void *user, const char *name);
    /* returns the dimension to put in place of a name, unknown: none; NULL: names stay names */
    struct dim (*replace)(void *user, const char *name);
    void *user;             /* first argument of lookup and replace */
    const char *s;          /* next character */
    unsigned depth;         /* number of sums that are being parsed, each inside the one before */
    enum parse_error error; /* the first error */
};

/* Parses the whole text and writes the polynomial to *out.  Returns PARSE_OK, or the first error;
 * *out is undefined then. */
enum parse_error dim_read(struct parser *p, const char *text, struct poly *out);
/* Whether s is spelled like a name, so that it needs no quotes in an expression. */
bool dim_is_name(const char *s);
/* Writes name to out[POLY_TEXT] in single quotes, with quotes inside the name doubled.  Returns false if it is too
 * long. */
bool dim_quote(const char *name, char *out);

#endif
