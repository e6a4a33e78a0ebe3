/* Finds what a training graph runs once an iteration: from gradients, which are added up over micro-batches, to new
 * parameters. */
#ifndef PCC_IR_PLAN_UPDATE_PASS_H
#define PCC_IR_PLAN_UPDATE_PASS_H

#include "ir/plan/counters.h"
#include "ir/plan/plan.h"

/* A parameter or a state of the optimizer (an initializer), its gradient, and the output of the model that is its new
 * value. */
struct gradient {
    vid parameter, gradient, fresh; /* fresh: the new value */
};

/* How a loss joins the losses of samples. */
enum loss_join { LOSS_UNKNOWN, LOSS_MEAN, LOSS_SUM };
/* [enum loss_join] "mean", "sum"; NULL for LOSS_UNKNOWN. */
extern const char *const loss_join_name[];

/* The nodes that run once an iteration, and the gradients that they read. */
struct update_pass {
    /* why the model has no such pass, in words for users; NULL: the model has the pass, and the fields below count */
    const char *why;
    uint8_t *own;        /* [node] 1: a node of the pass */
    struct gradient *of; /* [n] in the order of the model's outputs */
    uint32_t n;
    struct counter *counter; /* [ncounter] initializers that go on without gradients */
    uint32_t ncounter;
    /* [nmixing] nodes that take samples together, where --allow-batch-dependence lets them */
    nid *mixing;
    uint32_t nmixing;
    enum loss_join join; /* how the loss joins samples */
    /* `join` is what the user says, since the model does not show how the loss joins samples */
    bool join_said;
    /* stages update by values that follow from other stages' gradients, such as a norm of all gradients */
    bool joint;
    /* [value] 1: a node makes it, and it tells how many samples there are: stages on unequal numbers of devices, which
     * have different slices, cannot pass it to each other */
    const uint8_t *counts;
};

/* Whether the settings want updates in parts of their own: --update=apart, or more than one micro-batch. */
bool update_pass_wanted(const struct scene *s);
/* Finds the pass of a plan with stages, in a; only scene and stages of p are read.  stage_of: plan_stage_of(); NULL:
 * there are no stages yet, and rules about stages are not checked.  Expected O(nodes + operands + pins + values *
 * rank * log). */
struct update_pass update_pass_find(const struct staged_plan *p, const int32_t *stage_of,
                                    struct arena *a);
/* Returns the output of the model that is the loss, the first scalar that the forward pass makes of the samples (0:
 * there is none), and writes to *how how it joins samples.  If there are several such scalars, such as an accuracy
 * and a loss, the gradients may belong to any of them: if these scalars join samples in different ways, *how is
 * LOSS_UNKNOWN. */
vid loss_find(const struct module *m, enum loss_join *how, struct arena *a);

#endif
