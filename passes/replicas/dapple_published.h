/* The choice of DAPPLE's published planner, for comparisons with its published tables. */
#ifndef PCC_PASSES_REPLICAS_DAPPLE_PUBLISHED_H
#define PCC_PASSES_REPLICAS_DAPPLE_PUBLISHED_H

#include "ir/base/arena.h"
#include "ir/base/clock.h"
#include "ir/cluster/servers.h"
#include "passes/problem/stage_states.h"

enum {
    /* the most devices that are planned for, as in the published tables; a plan has no more stages than devices */
    PUBLISHED_STAGES = 16,
    PUBLISHED_PLANS = 2 /* number of plans that are returned */
};

/* A plan of n stages: stage s has the layers of state end[s] (stage_states.h) that are not in state end[s - 1]. */
struct published_plan {
    uint32_t n, end[PUBLISHED_STAGES];
    struct device_set set[PUBLISHED_STAGES]; /* [stage] the devices of the stage, in all copies */
    uint32_t copies; /* copies of the whole pipeline that run side by side */
    int64_t latency; /* ps of an iteration by the program's score; INT64_MAX: no plan */
};

/* The devices and micro-batches that are planned for. */
struct published_rules {
    const struct servers *servers;
    uint32_t micro_batches; /* number of micro-batches of the whole batch */
    int64_t size;           /* samples of a micro-batch */
    /* number of samples that the times and bytes in struct stage_states are for */
    int64_t of;
};

/* Writes to best[] the best two plans by the program's score, the best one first.  A missing plan has the latency
 * INT64_MAX; both are missing if there are more than PUBLISHED_STAGES devices.  The search ends early when the
 * clock is out. O(D^2 * S^2 * U^2) for D devices, S states and U different sets of devices in use. */
void dapple_published(const struct stage_states *s, const struct published_rules *r,
                      struct clock *clock, struct arena *scratch,
                      struct published_plan best[PUBLISHED_PLANS]);

#endif
