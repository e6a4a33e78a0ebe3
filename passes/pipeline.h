/* Pipelines, the lists of passes that -p gives: parsing, inserting further passes that are needed, running. */
#ifndef PCC_PASSES_PIPELINE_H
#define PCC_PASSES_PIPELINE_H

#include "passes/passes.h"

struct pipeline_step {
    const struct pass *pass;
    void *opts;    /* the pass's struct of options, filled in; pass.optsize bytes */
    bool inserted; /* the user did not name the pass, but a later one needs it */
};

struct pipeline {
    struct pipeline_step *step; /* [n] in the order in which they run */
    uint32_t n, cap;
    /* passes that can be named beside those in the table (table.c), ends with NULL; NULL: none */
    const struct pass *const *extra;
    /* execution models; their own planners can be named, too; ends with NULL; NULL: none */
    const struct exec_kind *const *kinds;
};

/* Adds the passes in text to p, such as "fuse{range=200:mem=8GiB},dp-place"; ',' and ':' both separate options inside
 * braces.  Blanks, newlines and comments (# to the end of the line) may stand between passes.  Memory comes from a.
 * Returns 0, or -1 and reports an error to d. */
int pipeline_parse(struct pipeline *p, const char *text, struct arena *a, struct diag *d);
/* Inserts passes: before each pass the passes that it needs, if the pipeline does not have them there; and behind a
 * pass with pass.then the planner that this field names, if no planner follows. */
void pipeline_complete(struct pipeline *p, struct arena *a);
/* Returns the pipeline as text that -p accepts, in a; options with their default value are left out. */
char *pipeline_text(const struct pipeline *p, struct arena *a);

struct run_options {
    /* name of the pass before or after which the context is shown; "*": each pass; NULL: none */
    const char *print_before, *print_after;
    bool verify_each; /* check the module with module_verify() after each pass */
    bool time_passes; /* show the time of each pass */
    /* called with a text to be shown, one line or more, and the option of the command line that asked for the text; its
     * first argument is the field `user` */
    void (*show)(const void *user, const char *option, const char *text);
    const void *user;
    /* where the index of the running step is written, after an error the index of the failed step; NULL: not wanted */
    uint32_t *at;
};

/* Runs all steps of p on x and has the judge check every plan.  Returns 0; -1 and reports an error; PASS_INFEASIBLE; or
 * PASS_UNVERIFIED: the judge contradicts a planner's claim, or verify_each found a faulty module. */
enum { PASS_UNVERIFIED = -4 };
int pipeline_run(const struct pipeline *p, struct ctx *x, const struct run_options *o);

/* Runs one step and tells the listener when it begins and ends, but prints and verifies nothing.  Returns 0, -1 or
 * PASS_INFEASIBLE. */
int pipeline_step_run(const struct pipeline_step *s, struct ctx *x);

/* Prints the options of pass p to f, each with its meaning, range and default. */
void pass_help(FILE *f, const struct pass *p, struct arena *scratch);

#endif
