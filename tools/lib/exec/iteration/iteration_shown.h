/* Functions of struct exec_shows (backends.h) for the time of a training iteration.  r->verdict->run must be the
 * struct iteration_run of the plan. */
#ifndef PCC_TOOLS_LIB_EXEC_ITERATION_ITERATION_SHOWN_H
#define PCC_TOOLS_LIB_EXEC_ITERATION_ITERATION_SHOWN_H

#include "backends/timeline/chart.h"
#include "ir/exec/iteration/iteration_verdict.h"

/* exec_shows.gain: prints the speedup over one device with enough memory for the whole model. */
void iteration_gain(FILE *f, const struct result *r, struct arena *a);
/* exec_shows.report: prints batches, schedule and a table of the stages. */
void iteration_report(FILE *f, const struct result *r, struct arena *a);
/* exec_shows.json: adds the members "training" (settings of the plan) and "iteration" (times and memory) to o. */
void iteration_manifest(struct json_out *o, const struct result *r, struct arena *a);

/* Runs the iteration of r into *out, with another number of micro-batches than the plan's.  micro_batches 0: the plan's
 * number, or a smaller one if `most` demands it.  Memory comes from a.  Returns 0; or reports an error and returns -1,
 * if there would be more than `most` tasks, if the schedule does not allow the number, or if times overflow. */
int replay_iteration(struct iteration_run *out, const struct result *r, int64_t micro_batches,
                     uint32_t most, struct arena *a);
/* exec_shows.replay: runs the iteration as replay_iteration() does, and prints its time.  Returns 0; or reports an
 * error and returns -1. */
int iteration_replay(FILE *f, const struct result *r, int64_t micro_batches, struct arena *a);
/* exec_shows.chart: fills *c, which lives in a and points into r, with the iteration as replay_iteration() runs it;
 * most: the most bars.  Returns 0; or reports an error and returns -1.  O(n log n) for n bars. */
int chart_of_iteration(struct chart *c, const struct result *r, int64_t micro_batches,
                       uint32_t most, struct arena *a);

#endif
