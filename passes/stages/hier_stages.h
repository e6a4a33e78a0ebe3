/* Stages for PipeDream: which layers, and on how many machines of each level of the cluster. */
#ifndef PCC_PASSES_STAGES_HIER_STAGES_H
#define PCC_PASSES_STAGES_HIER_STAGES_H

#include "ir/base/clock.h"
#include "passes/problem/stage_states.h"

enum { HIER_LEVELS = 4 };

struct hier_rules {
    uint32_t nlevel;                /* innermost first */
    uint32_t machines[HIER_LEVELS]; /* of a level, in one of the level above */
    int64_t bandwidth[HIER_LEVELS]; /* bytes per second between them */
    int64_t
        compression; /* millionths: transfers of activations are that much smaller; 0: they are free */
    int64_t memory; /* bytes of a machine, as the published test counts them; -1: no limit */
    bool straight;  /* no stage on more than one machine */
    bool fewer;     /* not all machines need be used */
};

/* Layers of state `to` that are not of state `from`, on machines of each level; level: the innermost one settled. */
struct hier_stage {
    uint32_t from, to, level;
    uint32_t copies[HIER_LEVELS]; /* machines of each level */
    uint32_t first[HIER_LEVELS];  /* the first of these, in its machine of the level above */
    uint32_t devices;             /* the product */
};

struct hier_result {
    int64_t value; /* ps: the longest stage's share of a minibatch; INT64_MAX: no plan fits */
    uint32_t nstage;
    struct hier_stage *stage; /* innermost, in order */
    bool complete;            /* false: the clock ended it */
};

/* PipeDream's dynamic program over s, exactly: the least bottleneck.  Lives in a.  O(levels * states^3 * machines^2),
 * of the outermost level O(states^2 * machines^2). */
struct hier_result hier_stages(const struct stage_states *s, const struct hier_rules *r,
                               struct clock *clock, struct arena *a);

#endif
