/* Choice of DAPPLE's published planner, for comparisons with its published tables. */
#ifndef PCC_PASSES_REPLICAS_DAPPLE_PUBLISHED_H
#define PCC_PASSES_REPLICAS_DAPPLE_PUBLISHED_H

#include "ir/base/arena.h"
#include "ir/base/clock.h"
#include "ir/cluster/servers.h"
#include "passes/problem/stage_states.h"

enum { PUBLISHED_STAGES = 16 /* devices of the tables */, PUBLISHED_PLANS = 2 };

/* Stage s: the layers of state end[s] outside of state end[s - 1]. */
struct published_plan {
    uint32_t n, end[PUBLISHED_STAGES];
    struct device_set set[PUBLISHED_STAGES];
    uint32_t copies; /* of the whole pipeline, side by side */
    int64_t latency; /* ps, by the program's score */
};

struct published_rules {
    const struct servers *servers;
    uint32_t micro_batches; /* of the whole batch */
    int64_t size, of;       /* size: samples of a micro-batch; of: samples that the costs are for */
};

/* The best two plans by the program's score, the best one first; latency INT64_MAX where there is none, and no plan if
 * there are more than PUBLISHED_STAGES devices.  O(devices^2 * states^2 * ways to use devices^2). */
void dapple_published(const struct stage_states *s, const struct published_rules *r,
                      struct clock *clock, struct arena *scratch,
                      struct published_plan best[PUBLISHED_PLANS]);

#endif
