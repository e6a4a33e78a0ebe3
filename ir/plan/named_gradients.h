/* Gradients of parameters that are known by name: those that the user says, and values called P_grad. */
#ifndef PCC_IR_PLAN_NAMED_GRADIENTS_H
#define PCC_IR_PLAN_NAMED_GRADIENTS_H

#include "ir/cluster/exec_model.h"
#include "ir/model/module.h"

/* What is known by name. */
struct named_gradients {
    vid *of;         /* [value] of a parameter: its gradient; 0: none is known by name */
    uint8_t *said;   /* [value] 1: of a parameter whose gradient the user has said */
    const char *why; /* why what the user says cannot be, for people; NULL: it can */
};

/* Finds them, in a.  may_be: [value] 1: it can be a gradient.  Expected O(values). */
struct named_gradients named_gradients_find(const struct module *m, const struct training *t,
                                            const uint8_t *may_be, struct arena *a);
/* Whether two values have one element type and the same sizes, which are numbers. */
bool values_alike(const struct module *m, vid x, vid y);
/* Whether the name of v is that of `of` with this end. */
bool is_named_after(const struct module *m, vid v, vid of, const char *end);

#endif
