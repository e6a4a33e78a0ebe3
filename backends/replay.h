/* A plan at work: N samples through its pieces, one lane per device. */
#ifndef PCC_BACKENDS_REPLAY_H
#define PCC_BACKENDS_REPLAY_H

#include "backends/cut.h"
#include "ir/plan.h"

enum task_kind { TASK_WHOLE, TASK_IN, TASK_COMPUTE, TASK_OUT };

/* What a lane does once for every sample. */
struct task {
    uint32_t part, lane;
    uint8_t back;  /* of the backward pass */
    uint8_t kind;  /* enum task_kind; WHOLE: transfers and computing after each other */
    uint32_t level; /* rounds that it runs behind the first task */
    int64_t time;  /* ps */
};

struct lane {
    uint32_t dev;
    uint8_t kind; /* TASK_WHOLE: all of the device; TASK_COMPUTE; TASK_IN, TASK_OUT: a link */
};

struct replay {
    uint32_t ntask, nlane, samples;
    struct task *task; /* in an order that is legal to run */
    struct lane *lane;
    struct csr after;  /* task -> tasks that it waits for, of the same sample */
    int64_t *start;    /* [task * samples + sample] ps */
    int64_t end;       /* ps; end / samples tends to the plan's value, from above */
};

/* Runs `samples` (>= 1) samples through the plan dev[] as cut.  A lane takes its tasks round by round, in
 * each round every task once, for different samples: in training a forward and a backward sample in turn
 * (1F1B), or with the cluster's schedule GPipe all forward samples first.  Lives in a.
 * O(tasks + samples * (tasks + edges between them)). */
struct replay replay_run(const struct module *m, const struct place *p, const struct cluster *c,
                         const int32_t *dev, const struct cut *cut, uint32_t samples,
                         struct arena *a);

#endif
