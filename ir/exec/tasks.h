/* What the event core runs (events.h): tasks over lanes, what they wait for, what they keep in memory.
 *
 * A task that samples or micro-batches repeat stands here once; its repetitions are instances 0, 1, ...
 * Instance i of a task waits for instance i of each task that it waits for, if both have as many, else for
 * all of them.  The same rule says which instances use a buffer. */
#ifndef PCC_IR_EXEC_TASKS_H
#define PCC_IR_EXEC_TASKS_H

#include "ir/base/csr.h"

#include <stdbool.h>

#define NO_LANE UINT32_MAX
#define NO_ITEM UINT32_MAX
#define LANE_SETS                                                                                  \
    (UINT32_C(1) << 31) /* lanes are numbered below it, from it on sets of lanes: struct task */

/* Which task a lane takes next.  LIST: the head of its list, which waits until it can start; no task overtakes the
 * head.  FIFO: the task that became ready first, ties by rank.  RANK: the ready task of the smallest rank. */
enum discipline { LANE_LIST, LANE_FIFO, LANE_RANK };

struct lane {
    uint32_t width;     /* number of tasks at the same time; 0: one */
    uint8_t discipline; /* enum discipline */
};

enum { TASK_DEV = 12 }; /* bits of a device's number */

struct task {
    int64_t time;    /* ps from start to end, >= 0 */
    int64_t release; /* ps: it does not start before */
    /* held together from start to end; NO_LANE: none; both none: a pure delay.  A task of three lanes or more, such as
     * an exchange among four devices, has LANE_SETS + k in lane[1]: set k of the graph lists all of them, lane[0]
     * first */
    uint32_t lane[2];
    uint32_t rank;
    uint32_t count; /* number of instances, >= 1 */
    /* node, net or stage that the task stands for; not read by the event core, nor are kind, from and to */
    uint32_t number;
    uint32_t kind : 7;
    /* of one lane, in no list: served like tasks of several lanes (events.h) */
    uint32_t request : 1;
    uint32_t from : TASK_DEV; /* devices of a transfer; of other tasks their device twice */
    uint32_t to : TASK_DEV;
};
_Static_assert(sizeof(struct task) <= 40, "millions of tasks are read again and again");

/* Sets the devices that a task is between. */
static inline void task_between(struct task *x, uint32_t from, uint32_t to)
{
    x->from = from & ((1U << TASK_DEV) - 1);
    x->to = to & ((1U << TASK_DEV) - 1);
}

/* Memory of a device from the start of an instance of `task` until its uses have ended; a buffer without uses
 * stays. */
struct buffer {
    uint32_t dev, task;
    int64_t bytes;
};

/* An item is an instance of a task: item first[t] + i is instance i of task t. */
struct task_graph {
    uint32_t ntask, nlane, nbuffer, ndev;
    struct task *task;
    uint32_t *first; /* [ntask + 1] made by task_graph_number */
    struct lane *lane;
    /* task -> tasks that the task waits for */
    struct csr waits;
    /* set -> its lanes, three or more; no rows: all tasks have at most two lanes */
    struct csr set;
    /* lane -> its items in order, where it is a LIST.  A task of one lane stands in its list, but for requests;
     * one of several lanes in the lists of all, or in none. */
    struct csr list;
    struct buffer *buffer;
    struct csr use;         /* buffer -> tasks that use the buffer */
    const int64_t *lasting; /* [ndev] bytes that are there from the beginning; NULL: none */
    const int64_t *memory;  /* [ndev] bytes of the device, -1: without end; NULL: all are */
};

/* The lanes of a task: *n of them. */
static inline const uint32_t *task_lanes(const struct task_graph *g, const struct task *x,
                                         uint32_t *n)
{
    if (x->lane[1] >= LANE_SETS && x->lane[1] != NO_LANE) {
        uint32_t k = x->lane[1] - LANE_SETS;
        *n = g->set.at[k + 1] - g->set.at[k];
        return g->set.to + g->set.at[k];
    }
    *n = x->lane[0] == NO_LANE ? 0 : x->lane[1] == NO_LANE ? 1 : 2;
    return x->lane;
}

/* Numbers the items: fills g->first, in a.  O(tasks).  false: there would be 2^32 - 1 or more. */
bool task_graph_number(struct task_graph *g, struct arena *a);

#endif
