/* Finds what a training graph runs once an iteration: from gradients, which are added up over micro-batches, to new
 * parameters. */
#ifndef PCC_IR_PLAN_UPDATE_PASS_H
#define PCC_IR_PLAN_UPDATE_PASS_H

#include "ir/plan/plan.h"

/* An initializer that is a parameter, or a state of the optimizer; its gradient; and the output of the model that
 * takes its place. */
struct gradient {
    vid parameter, gradient, fresh; /* fresh: the new value */
};

/* How a loss joins the losses of samples. */
enum loss_join { LOSS_UNKNOWN, LOSS_MEAN, LOSS_SUM };
/* [enum loss_join] "mean", "sum"; NULL for LOSS_UNKNOWN. */
extern const char *const loss_join_name[];

struct update_pass {
    const char *
        why; /* why the model has no such pass, for people; NULL: it has, and the fields below count */
    uint8_t *own;        /* [node] 1: a node of the pass */
    struct gradient *of; /* [n] in the order of the model's outputs */
    uint32_t n;
    nid *
        mixing; /* [nmixing] nodes that take samples together, where --allow-batch-dependence lets them */
    uint32_t nmixing;
    enum loss_join join; /* how the loss joins samples */
    bool join_said;      /* the user says so; the model does not show it */
    bool joint;          /* stages update by values of other stages' gradients, as a norm of all */
};

/* Whether the settings want updates in parts of their own: --update=apart, or more than one micro-batch. */
bool update_pass_wanted(const struct scene *s);
/* Finds the pass of a plan with stages, in a; only scene and stages of p are read.  stage_of: plan_stage_of(); NULL:
 * there are no stages yet, so that what only these forbid is not looked for.  Expected O(nodes + operands + pins +
 * values * rank * log). */
struct update_pass update_pass_find(const struct staged_plan *p, const int32_t *stage_of,
                                    struct arena *a);
/* Returns which output of the model is the loss, and writes to *how how it joins samples: the first scalar that the
 * forward pass makes of the samples.  Gradients may be those of any such scalar, such as a loss behind an accuracy:
 * where they join samples differently, *how is LOSS_UNKNOWN.  0: there is none. */
vid loss_find(const struct module *m, enum loss_join *how, struct arena *a);

#endif
