/* The functions of an execution model (struct exec_kind of exec_model.h): the verdict on a plan, a lower bound for all
 * plans, and the order in which a plan's parts run. */
#ifndef PCC_IR_EXEC_EXEC_RUNS_H
#define PCC_IR_EXEC_EXEC_RUNS_H

#include "ir/plan/plan.h"
#include "ir/plan/work.h"

/* A lower bound: no plan of the scene has a smaller value. */
struct exec_bound {
    int64_t value;     /* ps: no plan has a smaller value of the execution model's objective */
    const char *why;   /* the reason in short: "all work, shared by all devices" */
    const char *proof; /* lines that end in a newline, with the numbers behind the bound */
};

/* Arguments of exec_runs.rhythm: a plan that was split into parts. */
struct rhythm_ask {
    const struct scene *scene;
    const struct plan *plan;
    const struct verdict *verdict; /* verdict on `plan` by the scene's execution model */
    const struct parts *parts;
    struct sample_work *work; /* the parts and tensors of one sample or micro-batch (work.h) */
    /* stage and pass of each part (iteration/part_places.h); set for plans with stages only */
    const struct part_places *places;
};

/* The functions of an execution model that judge plans. */
struct exec_runs {
    /* Returns the verdict on a plan; it lives in a.  NULL: load_verdict() (plan.h) is called instead. */
    struct verdict (*verdict)(const struct scene *s, const struct plan *p, struct arena *a);
    /* Returns a lower bound for all plans of the scene, found without a search; its texts live in a.  NULL: the model
     * has no such bound. */
    struct exec_bound (*bound)(const struct scene *s, struct arena *a);
    /* Returns when parts run (their times, or only their order), as schedule_make() of schedule.h needs it.  Lives in
     * a. */
    struct rhythm (*rhythm)(const struct rhythm_ask *of, struct arena *a);
};

#endif
