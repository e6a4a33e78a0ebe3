/* Arithmetic on dimensions (struct dim): numbers, names, and expressions of names.
 *
 * An expression is stored as canonical text (terms sorted, one spelling for each quantity), so equal quantities have
 * equal ids.  The result of an operation is unknown if an operand is, or if it cannot be written as a polynomial with
 * integer coefficients and floor divisions. */
#ifndef PCC_IR_MODEL_DIM_H
#define PCC_IR_MODEL_DIM_H

#include "ir/model/module.h"

/* Returns the dimension v; unknown if v < 0. */
struct dim dim_num(int64_t v);
struct dim dim_unknown(void);
/* Returns the dimension for the text of a file's dim_param, a name or an expression, in canonical form; unknown for
 * "" and for expressions beyond the limits of polynomials. */
struct dim dim_parse(struct module *m, const char *text);
bool dim_known(struct dim d);              /* whether d is a number or an expression */
bool dim_same(struct dim a, struct dim b); /* whether a and b are known to be equal */
struct dim dim_add(struct module *m, struct dim a, struct dim b);
struct dim dim_sub(struct module *m, struct dim a, struct dim b);
struct dim dim_mul(struct module *m, struct dim a, struct dim b);
/* Returns floor(a / b); unknown if b is the number 0. */
struct dim dim_div(struct module *m, struct dim a, struct dim b);
/* Returns the smaller of a and b; Min(a, b) if that depends on names. */
struct dim dim_min(struct module *m, struct dim a, struct dim b);
/* Whether b is a single Min(...) that has a as its first or last operand, so that b <= a. */
bool dim_is_min_of(const struct module *m, struct dim b, struct dim a);
/* Whether d is a name alone, no number and no expression of names. */
bool dim_is_symbol(const struct module *m, struct dim d);
/* Calls fn(user, name) once for each name in the expression d. */
void dim_names(const struct module *m, struct dim d, void (*fn)(void *user, const char *name),
               void *user);
/* Whether the name is in the expression d. */
bool dim_has_name(const struct module *m, struct dim d, const char *name);
/* Returns the number that d is when each name has the value lookup(user, name), which is -1 for a name without a
 * value.  -1: a name has no value, or the result is no number >= 0. */
int64_t dim_eval(const struct module *m, struct dim d,
                 int64_t (*lookup)(void *user, const char *name), void *user);
/* Returns d with every name replaced by the dimension with(user, name); if that is unknown, the name stays.  Unknown
 * if the result cannot be written. */
struct dim dim_replace(struct module *m, struct dim d,
                       struct dim (*with)(void *user, const char *name), void *user);
/* Moves terms between the two sides of a comparison, so that no term is negative or stands on both sides; changes
 * nothing if the result cannot be written. */
void dim_balance(struct module *m, struct dim *a, struct dim *b);
/* Solves a = b for a name.  If the solution is an expression without the name, writes it to *is and returns true;
 * else returns false. */
bool dim_solve(struct module *m, struct dim a, struct dim b, const char *name, struct dim *is);
/* Returns d as text, which lives in a or is a string of m: "128", "batch", "?". */
const char *dim_text(const struct module *m, struct dim d, struct arena *a);

#endif
