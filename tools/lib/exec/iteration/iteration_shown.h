/* Reports of a training iteration; the verdict of the result must have run the iteration. */
#ifndef PCC_TOOLS_LIB_EXEC_ITERATION_ITERATION_SHOWN_H
#define PCC_TOOLS_LIB_EXEC_ITERATION_ITERATION_SHOWN_H

#include "backends/timeline/chart.h"
#include "ir/exec/iteration/iteration_verdict.h"

/* Speedup over one device that had enough memory for the whole model. */
void iteration_gain(FILE *f, const struct result *r, struct arena *a);
/* Batches and schedule, and a line for each stage. */
void iteration_report(FILE *f, const struct result *r, struct arena *a);
/* JSON members "training" (settings of the plan) and "iteration" (times and memory). */
void iteration_manifest(struct json_out *o, const struct result *r, struct arena *a);

/* The iteration with so many micro-batches; 0: its own, or as many as `most` allows.  -1 and an error where these make
 * more than `most` tasks, or times do not fit. */
int replay_iteration(struct iteration_run *out, const struct result *r, int64_t micro_batches,
                     uint32_t most, struct arena *a);
/* One line with the time of the iteration. */
int iteration_replay(FILE *f, const struct result *r, int64_t micro_batches, struct arena *a);
/* micro_batches 0: all of them, or as many as `most` allows.  Lives in a and as long as r.  -1 and an error where those
 * that are asked for make more bars.  O(n log n) for n bars. */
int chart_of_iteration(struct chart *c, const struct result *r, int64_t micro_batches,
                       uint32_t most, struct arena *a);

#endif
