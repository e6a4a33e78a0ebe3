/* Reports of the makespan of one sample, node by node; the verdict of the result must have run the makespan. */
#ifndef PCC_TOOLS_LIB_EXEC_MAKESPAN_STEP_SHOWN_H
#define PCC_TOOLS_LIB_EXEC_MAKESPAN_STEP_SHOWN_H

#include "backends/timeline/chart.h"
#include "ir/exec/makespan/step_verdict.h"

/* The usual tables; "network host, contention port, dispatch plan, memory live; 12 transfers, 3.2 MiB"; the critical
 * chain by name, what the end waited for, from time 0 on; what the parts take.  O(tasks). */
void step_report(FILE *f, const struct result *r, struct arena *a);
/* The nodes and transfers.  A transfer that holds two lanes has a bar on each; those that hold none lie on lanes of
 * their own, in rows if they overlap.  Arrows lead along the critical chain.  Lives in a and as long as r.  O(n log n)
 * for n tasks and buffers. */
int chart_of_step(struct chart *c, const struct result *r, int64_t samples, uint32_t most,
                  struct arena *a);
/* exec_shows.cut */
void step_cut(struct result *r, bool fine, struct arena *a);

#endif
