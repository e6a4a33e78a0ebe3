/* Reads a trace of a run, as pcc-run writes it (docs/run.md), that the user gives as a file of --costs. */
#ifndef PCC_PASSES_COST_RUN_TRACE_H
#define PCC_PASSES_COST_RUN_TRACE_H

#include "passes/cost/sheets.h"

#include <jansson.h>

/* A part that ran. */
struct run_part {
    int64_t ps;        /* time of one run */
    const char **node; /* [nnode] names of the part's nodes */
    uint32_t nnode;
};

/* Whether a JSON text is such a trace. */
bool run_trace_is(const json_t *root);
/* Reads the parts of a trace into to->part.  classes: bit k: the times are for class k.  Returns 0, or -1 and reports
 * an error. */
int run_trace_read(struct sheet *to, const json_t *root, uint32_t classes, struct ctx *x);
/* Scales the times of the scene's module, which has costs, so that the nodes of a part together take what the part
 * took.  Traces are applied in the order of --costs.  Returns 0, or -1 and reports an error: no node of a trace is in
 * the module. */
int run_traces_apply(const struct sheet *sheet, uint32_t n, struct ctx *x);

#endif
