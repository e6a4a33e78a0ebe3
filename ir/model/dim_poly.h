/* Polynomials with integer coefficients: the arithmetic behind symbolic dimensions.
 *
 * A term is a coefficient times factors.  A factor is an interned text, exactly as it is printed: a name, text in
 * single quotes (a name that is not spelled like one), "((a + b)//c)", "Min(a, b)" or "Max(a, b)".  Private to
 * ir/model/dim*.c. */
#ifndef PCC_IR_MODEL_DIM_POLY_H
#define PCC_IR_MODEL_DIM_POLY_H

#include "ir/model/module.h"

/* The most terms of a polynomial, factors of a term, and bytes of a printed polynomial with its NUL. */
enum { POLY_TERMS = 16, POLY_DEGREE = 8, POLY_TEXT = 4096 };

/* A coefficient times factors. */
struct poly_term {
    int64_t coef;
    uint32_t n;              /* number of factors; 0: the constant term */
    sid factor[POLY_DEGREE]; /* ascending by text; a power repeats its factor */
};

/* Terms in the order of their factors (constant last), no two with equal factors, none with coefficient 0.  Results of
 * arithmetic have no coefficient INT64_MIN either, so each has a negative. */
struct poly {
    uint32_t n; /* number of terms; 0: the polynomial 0 */
    struct poly_term t[POLY_TERMS];
};

struct poly poly_const(int64_t v);
struct poly poly_factor(sid factor);
/* Whether p is a constant; if so, writes it to *v. */
bool poly_is_const(const struct poly *p, int64_t *v);

/* Each of the following writes its result to *out, which may be an operand.  Returns false if the result exceeds the
 * limits above or an int64_t; *out is undefined then.  m has the texts of factors; NULL if all operands are
 * constants.  poly_add: a + scale_b * b. */
bool poly_add(const struct module *m, const struct poly *a, const struct poly *b, int64_t scale_b,
              struct poly *out);
bool poly_mul(const struct module *m, const struct poly *a, const struct poly *b, struct poly *out);
/* The quotient a / b; returns false also if there is a remainder. */
bool poly_div_exact(const struct module *m, const struct poly *a, const struct poly *b,
                    struct poly *out);
/* floor(a / b), simplified as far as possible; returns false also if b is 0. */
bool poly_floor_div(struct module *m, const struct poly *a, const struct poly *b, struct poly *out);
/* The larger of a and b if max is true, else the smaller: a or b if the two differ by a constant, else a factor Max or
 * Min. */
bool poly_min_max(struct module *m, bool max, const struct poly *a, const struct poly *b,
                  struct poly *out);
/* Solves p = 0 for a factor and writes the expression that the factor equals to *out.  The other factors are taken to
 * be at least 1, so that factors common to all terms are divided out first.  Returns false unless the wanted factor
 * is then a term by itself, with coefficient 1 or -1. */
bool poly_solve(const struct module *m, const struct poly *p, sid factor, struct poly *out);
/* Prints p as canonical text into buf[POLY_TEXT]. Returns false if the text does not fit. */
bool poly_text(const struct module *m, const struct poly *p, char *buf);

#endif
