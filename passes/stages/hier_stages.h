/* PipeDream's planner: which layers make a stage, and on how many machines of each level of the cluster it runs. */
#ifndef PCC_PASSES_STAGES_HIER_STAGES_H
#define PCC_PASSES_STAGES_HIER_STAGES_H

#include "ir/base/clock.h"
#include "passes/problem/stage_states.h"

enum { HIER_LEVELS = 4 };

/* Levels of machines: a machine of a level has machines[level - 1] machines of the level below; those of level 0 are
 * devices. */
struct hier_rules {
    uint32_t nlevel; /* number of levels, the innermost one first */
    /* [level] number of machines of the level in a machine of the level above */
    uint32_t machines[HIER_LEVELS];
    int64_t bandwidth[HIER_LEVELS]; /* [level] bytes per second between machines of the level */
    /* the factor by which compression makes transfers of activations smaller, in millionths; 0: transfers take no
     * time */
    int64_t compression;
    int64_t memory; /* bytes of a machine for the published memory test; -1: no limit */
    bool straight;  /* each stage is on one machine only */
    bool fewer;     /* a plan need not use all machines */
};

/* A stage, on machines of each level: the layers of state `to` (stage_states.h) that are not in state `from`. */
struct hier_stage {
    uint32_t from, to;
    uint32_t level; /* the innermost level whose machines are chosen; 0 in a result */
    /* [level] number of the stage's machines in each machine of the level above */
    uint32_t copies[HIER_LEVELS];
    /* [level] the first of these machines, counted from 0 in the machine of the level above */
    uint32_t first[HIER_LEVELS];
    uint32_t devices; /* product of all copies */
};

/* Result of the dynamic program. */
struct hier_result {
    /* ps: the time of the slowest stage for a minibatch, divided by the number of its machines; INT64_MAX: no plan
     * fits */
    int64_t value;
    uint32_t nstage;
    struct hier_stage *stage; /* [nstage] from the first layers to the last */
    bool complete;            /* false: the clock ran out before a plan was found */
};

/* Returns the plan with the least time of the slowest stage by PipeDream's dynamic program over the states s, exactly.
 * Lives in a.  O(levels * states^3 * machines^2); the outermost level takes O(states^2 * machines^2). */
struct hier_result hier_stages(const struct stage_states *s, const struct hier_rules *r,
                               struct clock *clock, struct arena *a);

#endif
