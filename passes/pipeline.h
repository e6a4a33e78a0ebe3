/* Pipelines: parses -p, inserts the passes needed, and runs all. */
#ifndef PCC_PASSES_PIPELINE_H
#define PCC_PASSES_PIPELINE_H

#include "passes/passes.h"

struct pipeline_step {
    const struct pass *pass;
    void *opts;
    bool inserted; /* not asked for, but needed */
};

struct pipeline {
    struct pipeline_step *step;
    uint32_t n, cap;
    /* passes beside those of the table, ends with NULL; NULL: none */
    const struct pass *const *extra;
    const struct exec_kind *const *kinds; /* whose own planners can be named, too; NULL: none */
};

/* "fuse{range=200:mem=8GiB},dp-place"; inside braces ',' and ':' both separate.  Blanks, newlines and
 * #-comments may stand between passes. */
int pipeline_parse(struct pipeline *p, const char *text, struct arena *a, struct diag *d);
/* Inserts each pass that a later pass needs, if the pipeline does not have it before. */
void pipeline_complete(struct pipeline *p, struct arena *a);
/* The pipeline as -p would take it, every option that differs from its default shown. */
char *pipeline_text(const struct pipeline *p, struct arena *a);

struct run_options {
    const char *print_before, *print_after; /* name of a pass, "*" for all, NULL for none */
    bool verify_each, time_passes;
    uint32_t *at; /* if not NULL: receives the number of the step that runs, so the failed one */
};

/* 0, -1 (error), PASS_INFEASIBLE, or PASS_UNVERIFIED when the judge disagrees with a planner
 * or a pass left a broken module. */
enum { PASS_UNVERIFIED = -4 };
int pipeline_run(const struct pipeline *p, struct ctx *x, const struct run_options *o);

/* Runs one step, with nothing done before or after; the listener hears that it begins and ends. */
int pipeline_step_run(const struct pipeline_step *s, struct ctx *x);

/* Options of a pass, one per line with default, range and meaning. */
void pass_help(FILE *f, const struct pass *p, struct arena *scratch);

#endif
