/* How samples are shown that follow each other. */
#ifndef PCC_TOOLS_LIB_EXEC_SAMPLE_ROUNDS_SHOWN_H
#define PCC_TOOLS_LIB_EXEC_SAMPLE_ROUNDS_SHOWN_H

#include "backends/timeline/chart.h"

/* Samples going through the parts of the plan in rounds.  Lives in a and as long as r.  -1 and an error where samples
 * make more than `most` bars, where times do not fit, and for a plan with copies of a stage. */
int chart_of_rounds(struct chart *c, const struct result *r, int64_t samples, uint32_t most,
                    struct arena *a);

#endif
