/* Replay: a plan run on paper, N samples through its parts, one lane per device. */
#ifndef PCC_IR_EXEC_ROUNDS_H
#define PCC_IR_EXEC_ROUNDS_H

#include "ir/dag/scene.h"
#include "ir/plan/parts.h"

enum task_kind { TASK_WHOLE, TASK_IN, TASK_COMPUTE, TASK_OUT };

/* What a lane does once for every sample. */
struct round_task {
    uint32_t part, lane;
    uint8_t back;    /* of the backward pass */
    uint8_t kind;    /* enum task_kind; WHOLE: transfers and computing after each other */
    uint32_t level;  /* how many rounds after the first task it handles the same sample */
    int64_t time;    /* ps */
    int64_t in, out; /* ps of `time` that are transfers: in at its beginning, out at its end */
};

struct round_lane {
    uint32_t dev;
    uint8_t kind; /* TASK_WHOLE: all of the device; TASK_COMPUTE; TASK_IN, TASK_OUT: a link */
};

struct replay {
    uint32_t ntask, nlane, samples, levels;
    bool training;           /* there are tasks of the backward pass */
    struct round_task *task; /* in an order that is legal to run */
    struct round_lane *lane;
    struct csr after; /* task -> tasks of the same sample that the task waits for */
    int64_t *start;   /* [task * samples + sample] ps */
    int64_t end;      /* ps; end / samples tends to the plan's value, from above */
};

/* Runs `samples` samples (0: a few, enough for a steady state) through the parts of the plan dev[].  In each round a
 * lane does each of its tasks once, for different samples: in training a forward and a backward sample in turn
 * (1F1B), or with the model's schedule GPipe all forward samples first.  Lives in a.  samples * tasks and the sum
 * of all times must fit.  O(samples * (tasks + edges between them)). */
struct replay replay_run(const struct scene *s, const int32_t *dev, const struct parts *parts,
                         uint32_t samples, struct arena *a);
enum { REPLAY_FEW = 16 }; /* samples of 0, more only if the steady state is later */

/* A task at work for a sample. */
struct event {
    int64_t at, end; /* ps */
    uint32_t task, sample;
};
/* All ntask * samples of them in order of their start, then end.  Lives in a.  O(n log n). */
const struct event *replay_events(const struct replay *r, struct arena *a);
/* "acc0", where transfers overlap computing also "acc0 link", or "acc0 in" and "acc0 out"; lives in a. */
const char *replay_lane_name(const struct replay *r, const struct scene *s, uint32_t lane,
                             struct arena *a);

#endif
