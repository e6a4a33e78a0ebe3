/* Symbolic dimensions: numbers, names, and linear expressions of names.
 *
 * Expressions are kept as canonical text (terms sorted, one spelling for one quantity), so that equal
 * quantities have equal ids.  Whatever cannot be written as a polynomial with integer coefficients
 * and floor divisions is unknown. */
#ifndef PCC_IR_MODEL_DIM_H
#define PCC_IR_MODEL_DIM_H

#include "ir/model/module.h"

struct dim dim_num(int64_t v);
struct dim dim_unknown(void);
/* A file's dim_param: a name or an expression; canonical afterwards. */
struct dim dim_parse(struct module *m, const char *text);
bool dim_known(struct dim d);              /* a number or an expression */
bool dim_same(struct dim a, struct dim b); /* known to be equal */
struct dim dim_add(struct module *m, struct dim a, struct dim b);
struct dim dim_sub(struct module *m, struct dim a, struct dim b);
struct dim dim_mul(struct module *m, struct dim a, struct dim b);
/* Floor division; unknown if b may be 0. */
struct dim dim_div(struct module *m, struct dim a, struct dim b);
struct dim dim_min(struct module *m, struct dim a, struct dim b);
/* b is "Min(.., a)". */
bool dim_is_min_of(const struct module *m, struct dim b, struct dim a);
/* Names that the expression mentions: calls fn once for each. */
void dim_names(const struct module *m, struct dim d, void (*fn)(void *user, const char *name),
               void *user);
/* The value under a binding (lookup returns -1 for an unbound name); -1: not computable. */
int64_t dim_eval(const struct module *m, struct dim d,
                 int64_t (*lookup)(void *user, const char *name), void *user);
/* "128", "batch", "?" */
const char *dim_text(const struct module *m, struct dim d, struct arena *a);

#endif
