/* Polynomials with integer coefficients over factors: the arithmetic behind symbolic dimensions.
 *
 * A factor is an interned text, exactly as it is printed: a name, a name in single quotes (whatever is
 * not spelled like a name), "((a + b)//c)", "Min(a, b)", "Max(a, b)".  Private to ir/dim*.c. */
#ifndef PCC_IR_MODEL_DIM_POLY_H
#define PCC_IR_MODEL_DIM_POLY_H

#include "ir/model/module.h"

enum { POLY_TERMS = 16, POLY_DEGREE = 8, POLY_TEXT = 4096 };

struct poly_term {
    int64_t coef;
    uint32_t n; /* factors, ascending by their text; 0: the constant term */
    sid factor[POLY_DEGREE];
};

/* Terms ascending by their factors, the constant last, no two alike, no coefficient 0. */
struct poly {
    uint32_t n;
    struct poly_term t[POLY_TERMS];
};

struct poly poly_const(int64_t v);
struct poly poly_factor(sid factor);
bool poly_is_const(const struct poly *p, int64_t *v);

/* Each writes *out (which may be an operand) and returns false if the result exceeds the bounds or an
 * int64; then *out is garbage.  m may be NULL when all operands are constants. */
bool poly_add(const struct module *m, const struct poly *a, const struct poly *b, int64_t scale_b,
              struct poly *out);
bool poly_mul(const struct module *m, const struct poly *a, const struct poly *b, struct poly *out);
/* The quotient without remainder; false if there is none. */
bool poly_div_exact(const struct module *m, const struct poly *a, const struct poly *b,
                    struct poly *out);
/* floor(a / b), folded as far as possible; false also if b is 0. */
bool poly_floor_div(struct module *m, const struct poly *a, const struct poly *b, struct poly *out);
bool poly_min_max(struct module *m, bool max, const struct poly *a, const struct poly *b,
                  struct poly *out);
/* Canonical text into buf[POLY_TEXT]; false if it does not fit. */
bool poly_text(const struct module *m, const struct poly *p, char *buf);

#endif
