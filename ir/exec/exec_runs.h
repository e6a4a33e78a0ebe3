/* The functions of an execution model (struct exec_kind) for plans: verdict, lower bound, and order of parts. */
#ifndef PCC_IR_EXEC_EXEC_RUNS_H
#define PCC_IR_EXEC_EXEC_RUNS_H

#include "ir/plan/plan.h"
#include "ir/plan/work.h"

/* No plan takes less. */
struct exec_bound {
    int64_t value;     /* ps */
    const char *why;   /* "all work, shared by all devices" */
    const char *proof; /* as in struct claim */
};

/* What lists of a plan's parts are made of. */
struct rhythm_ask {
    const struct scene *scene;
    const struct plan *plan;
    const struct verdict *verdict;
    const struct parts *parts;
    struct sample_work *work;         /* of the parts */
    const struct part_places *places; /* of a plan with stages (iteration/part_places.h) */
};

struct exec_runs {
    /* The verdict of a plan, which lives in a.  NULL: load_verdict(). */
    struct verdict (*verdict)(const struct scene *s, const struct plan *p, struct arena *a);
    /* A bound of all plans of the scene, known without a search; texts live in a.  NULL: there is none. */
    struct exec_bound (*bound)(const struct scene *s, struct arena *a);
    /* How parts follow each other, for schedule_make(); lives in a. */
    struct rhythm (*rhythm)(const struct rhythm_ask *of, struct arena *a);
};

#endif
