/* Task graphs, which the event core runs (events.h): tasks over lanes, the tasks that each one waits for, and memory.
 *
 * A task that is repeated for each sample or micro-batch stands here once; its repetitions are instances 0, 1, ...
 * If task t waits for task u, instance i of t waits for instance i of u if both have the same number of instances,
 * else for all instances of u.  The same rule says which instances use a buffer. */
#ifndef PCC_IR_EXEC_TASKS_H
#define PCC_IR_EXEC_TASKS_H

#include "ir/base/csr.h"

#include <stdbool.h>

#define NO_LANE UINT32_MAX /* number of a lane: none */
#define NO_ITEM UINT32_MAX /* number of an item: none */
/* Numbers below are lanes; LANE_SETS + k is set k of lanes (task.lane, task_graph.set). */
#define LANE_SETS (UINT32_C(1) << 31)

/* Which item a lane starts next.  LIST: the next item of its list; if that item cannot start yet, the lane waits.
 * FIFO: the item that became ready first, ties by rank.  RANK: the ready item of the smallest rank. */
enum discipline { LANE_LIST, LANE_FIFO, LANE_RANK };

/* A device, port, link or the like, on which tasks run. */
struct lane {
    uint32_t width;     /* number of items that may run on the lane at the same time; 0: one */
    uint8_t discipline; /* enum discipline */
};

enum { TASK_DEV = 12 }; /* number of bits for a device in struct task */

/* Something that takes time on lanes: computing, or a transfer. */
struct task {
    int64_t time;    /* ps from start to end of each instance, >= 0 */
    int64_t release; /* ps: the earliest time at which an instance may start */
    /* the lanes that each instance holds, all of them from its start to its end.  lane[0] NO_LANE: it holds none, and
     * the task is only a delay; lane[1] NO_LANE: it holds one.  For three lanes or more, such as an exchange among
     * four devices, lane[1] is LANE_SETS + k: set k of the graph lists all lanes, lane[0] first */
    uint32_t lane[2];
    /* order of ready tasks on a lane, the smallest rank first: see enum discipline */
    uint32_t rank;
    uint32_t count; /* number of instances, >= 1 */
    /* node, net or stage that the task stands for.  The event core does not read number, kind, from and to */
    uint32_t number;
    uint32_t kind : 7; /* meaning set by whoever makes the graph, such as enum step_kind */
    /* 1: a task of one lane, in no list, that starts in the same order as tasks of several lanes (events.h) */
    uint32_t request : 1;
    /* sending and receiving device of a transfer; of a transfer from or to the host, both are the device at the other
     * end.  Of other tasks both are the device that runs the task */
    uint32_t from : TASK_DEV;
    uint32_t to : TASK_DEV;
};
_Static_assert(sizeof(struct task) <= 40, "millions of tasks are read again and again");

/* Sets from and to of a task, whose fields have TASK_DEV bits: higher bits of device numbers are dropped. */
static inline void task_between(struct task *x, uint32_t from, uint32_t to)
{
    x->from = from & ((1U << TASK_DEV) - 1);
    x->to = to & ((1U << TASK_DEV) - 1);
}

/* Memory on device `dev` that each instance of `task` allocates at its start.  It is freed when the last instance
 * that uses it, of the tasks in task_graph.use, has ended; a buffer without uses is never freed. */
struct buffer {
    uint32_t dev, task;
    int64_t bytes; /* for each instance */
};

/* An item is an instance of a task: item first[t] + i is instance i of task t. */
struct task_graph {
    uint32_t ntask, nlane, nbuffer, ndev;
    struct task *task; /* the ntask tasks */
    uint32_t *first;   /* [ntask + 1] the first item of each task; made by task_graph_number() */
    struct lane *lane; /* the nlane lanes */
    struct csr waits;  /* task -> tasks that the task waits for */
    struct csr set; /* set -> its lanes, three or more; no rows: all tasks have at most two lanes */
    /* lane -> its items in order, if its discipline is LIST.  A task of one lane that is no request stands in the list
     * of that lane; a task of several lanes stands in the lists of all of them, or in no list. */
    struct csr list;
    struct buffer *buffer;  /* the nbuffer buffers */
    struct csr use;         /* buffer -> tasks that use the buffer */
    const int64_t *lasting; /* [ndev] bytes in memory from the beginning to the end; NULL: none */
    const int64_t *memory;  /* [ndev] bytes of memory, -1: no limit; NULL: no device has a limit */
};

/* Returns the lanes of task x and writes their number to *n. */
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

/* Numbers the items: fills g->first, in a.  Returns false if there are too many, 2^32 - 1 or more.  O(tasks). */
bool task_graph_number(struct task_graph *g, struct arena *a);

#endif
