/* Gradients of parameters that are known by name: the ones that the user names (--gradient), and values called
 * P_grad. */
#ifndef PCC_IR_PLAN_NAMED_GRADIENTS_H
#define PCC_IR_PLAN_NAMED_GRADIENTS_H

#include "ir/cluster/exec_model.h"
#include "ir/model/module.h"

/* What is known by name. */
struct named_gradients {
    /* [value] the gradient of this parameter; 0: none is known by name, or the value is no parameter */
    vid *of;
    uint8_t *said; /* [value] 1: a parameter whose gradient the user has named */
    /* why a gradient that the user names is impossible, for users; NULL: all are possible */
    const char *why;
};

/* Finds the gradients that are known by name, in a.  may_be: [value] 1: the value can be a gradient.  Expected
 * O(values). */
struct named_gradients named_gradients_find(const struct module *m, const struct training *t,
                                            const uint8_t *may_be, struct arena *a);
/* Whether two values are tensors with the same element type and the same sizes, all of which are known numbers. */
bool values_alike(const struct module *m, vid x, vid y);
/* Whether the name of v is the name of `of` followed by `end`. */
bool is_named_after(const struct module *m, vid v, vid of, const char *end);

#endif
