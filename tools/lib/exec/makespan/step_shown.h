/* Functions of struct exec_shows (backends.h) for the makespan.  r->verdict->run must be the struct step_run of the
 * plan. */
#ifndef PCC_TOOLS_LIB_EXEC_MAKESPAN_STEP_SHOWN_H
#define PCC_TOOLS_LIB_EXEC_MAKESPAN_STEP_SHOWN_H

#include "backends/timeline/chart.h"
#include "ir/exec/makespan/step_verdict.h"

/* exec_shows.report: prints the tables of plan_print_tables(), settings and transfers ("network host, contention
 * port, dispatch plan, memory live", "12 transfers, 3.2 MiB"), the critical chain from time 0 to the end, and the
 * makespan of the parts.  O(tasks). */
void step_report(FILE *f, const struct result *r, struct arena *a);
/* exec_shows.chart: fills *c, which lives in a and points into r, with a bar for each node and transfer.  A transfer
 * that holds two lanes has a bar on both; transfers that hold no lane get lanes of their own, in rows if they
 * overlap.  Arrows lead along the critical chain.  samples and most are not used.  Returns 0.  O(n log n) for n
 * tasks and buffers. */
int chart_of_step(struct chart *c, const struct result *r, int64_t samples, uint32_t most,
                  struct arena *a);
/* exec_shows.cut: sets the parts of r by step_parts(), and the makespan of these parts, r->parts_value. */
void step_cut(struct result *r, enum parts_cut how, struct arena *a);

#endif
