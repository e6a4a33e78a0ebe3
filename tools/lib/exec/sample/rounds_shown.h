/* The chart of many samples that go through a plan one after the other. */
#ifndef PCC_TOOLS_LIB_EXEC_SAMPLE_ROUNDS_SHOWN_H
#define PCC_TOOLS_LIB_EXEC_SAMPLE_ROUNDS_SHOWN_H

#include "backends/timeline/chart.h"

/* Does the work of chart_make() (chart.h) by a replay of `samples` samples (0: a few): fills *c, which lives in a and
 * points into r.  Returns 0; or reports an error and returns -1, if the samples make more than `most` bars, if times
 * would overflow, or if a stage has copies. */
int chart_of_rounds(struct chart *c, const struct result *r, int64_t samples, uint32_t most,
                    struct arena *a);

#endif
