/* Initializers that steps of training give new values without gradients, such as a count of steps. */
#ifndef PCC_IR_PLAN_COUNTERS_H
#define PCC_IR_PLAN_COUNTERS_H

#include "ir/cluster/exec_model.h"
#include "ir/model/module.h"

/* An initializer, and the output of the model that is its value in the next step. */
struct counter {
    vid value, next;
};

/* What is known of a training graph when its counters are searched; all arrays are by value, or by node. */
struct counter_search {
    const struct module *m;
    const struct training *t;
    const uint8_t *varies;  /* [value] 1: the value depends on samples */
    const uint8_t *samples; /* [value] 1: the value depends on the number of samples */
    const uint8_t *renewed; /* [value] 1: a parameter, whose new value follows from a gradient */
    const uint8_t *update;  /* [node] 1: the node follows from gradients */
};

/* The counters of a training graph. */
struct counters {
    /* [n] counters that the user names, then the others in the order of their outputs */
    struct counter *of;
    uint32_t n;
    /* why steps of training would go wrong, for users: something is computed with an initializer that may be a counter;
     * or the user names an impossible one (--next); NULL: all is well */
    const char *why;
};

/* Finds the counters, in a.  An output that does not depend on samples is the next value of an initializer C of its
 * type if the user says so (--next), or if it is called C_new, whatever computes it.  Expected O(nodes + operands +
 * values). */
struct counters counters_find(const struct counter_search *of, struct arena *a);

#endif
