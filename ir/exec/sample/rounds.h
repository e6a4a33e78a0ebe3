/* Replay: simulates N samples that pass through the parts of a plan in rounds.  Each device has one lane or several,
 * and a lane does one task at a time. */
#ifndef PCC_IR_EXEC_ROUNDS_H
#define PCC_IR_EXEC_ROUNDS_H

#include "ir/dag/scene.h"
#include "ir/plan/parts.h"

/* What a task does.  WHOLE: transfers in, computing and transfers out, one after the other.  IN, COMPUTE, OUT: only one
 * of these three, where transfers overlap computing. */
enum task_kind { TASK_WHOLE, TASK_IN, TASK_COMPUTE, TASK_OUT };

/* A task, which its lane does once for each sample: the nodes of a part that belong to one training pass with their
 * transfers, or, where transfers overlap computing, only one of transfers in, computing and transfers out. */
struct round_task {
    uint32_t part, lane;
    uint8_t back; /* 1: of the backward pass; 0: of the forward pass, or no training */
    uint8_t kind; /* enum task_kind */
    /* number of rounds from the first task of a sample to this task of the same sample */
    uint32_t level;
    int64_t time;    /* ps for one sample */
    int64_t in, out; /* ps of `time` for transfers: in at its beginning, out at its end */
};

/* A lane, which does one task at a time: a device, or one direction of the device's link. */
struct round_lane {
    uint32_t dev;
    /* The tasks of the lane.  TASK_WHOLE: all that the device does; TASK_COMPUTE: the device's computing; TASK_IN,
     * TASK_OUT: transfers on the device's link */
    uint8_t kind;
};

/* A run of several samples through the parts of a plan. */
struct replay {
    uint32_t ntask, nlane;
    uint32_t samples; /* number of samples that were run */
    uint32_t levels;  /* 1 + the largest level of a task */
    bool training;    /* there are tasks of the backward pass */
    /* the ntask tasks, ordered by part; of one part, forward tasks stand before backward tasks */
    struct round_task *task;
    struct round_lane *lane; /* the nlane lanes */
    struct csr after;        /* task -> tasks of the same sample that the task waits for */
    /* [task * samples + sample] ps at which the task starts for the sample */
    int64_t *start;
    int64_t end; /* ps; with many samples end / samples tends to the plan's value, from above */
};

/* Runs `samples` samples (0: a few, enough to show the steady state) through the parts of the plan dev[].  In each
 * round a lane does each of its tasks once, each for another sample: in training it alternates between forward and
 * backward samples (1F1B), or, if the model's schedule is GPipe, all samples go forward first.  The result lives in
 * a.  samples * tasks and the sum of all times must not overflow.  O(samples * (tasks + edges between them)). */
struct replay replay_run(const struct scene *s, const int32_t *dev, const struct parts *parts,
                         uint32_t samples, struct arena *a);
/* Returns the number of samples that are on their way at once while samples follow each other at the plan's value:
 * the number of rounds, none longer than the value, from a sample's first task to its last.  A task on a device whose
 * copies take turns lasts as many rounds as there are copies; a task without time lasts none.  With GPipe it is the
 * larger of the numbers of the two passes.  copies: as in struct plan.  O(tasks + edges between them). */
uint32_t replay_on_way(const struct scene *s, const struct replay *r, const uint32_t *copies,
                       struct arena *a);
/* replay_run() with samples == 0 runs at most REPLAY_FEW + levels samples. */
enum { REPLAY_FEW = 16 };

/* One run of a task, for one sample, from `at` to `end`. */
struct event {
    int64_t at, end; /* ps */
    uint32_t task, sample;
};
/* Returns all n = ntask * samples events of a replay, ordered by start, then by end.  Lives in a.  O(n log n). */
const struct event *replay_events(const struct replay *r, struct arena *a);
/* Returns the name of a lane, in a: "acc0"; where transfers overlap computing, links are "acc0 link", or "acc0 in" and
 * "acc0 out". */
const char *replay_lane_name(const struct replay *r, const struct scene *s, uint32_t lane,
                             struct arena *a);

#endif
