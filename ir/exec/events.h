/* The event core: runs a task graph (tasks.h) and finds when each task starts and ends, and what is in memory then.
 *
 * At each moment things happen in this order.  (1) Items that end give their lanes back and free their buffers.
 * (2) Requests start; these are tasks of several lanes that stand in no list, and tasks of one lane with `request`
 * set.  The request that became ready first starts first, ties by rank, then by item; a request whose lanes are not
 * all free is passed over.  (3) Each lane starts its next tasks by its discipline.  Items that take no time end at
 * the same moment; then the three steps are repeated.
 *
 * O((items + waits) log items + lanes that items hold); each end of a request also costs the number of other lanes
 * that requests on its lanes are waiting for. */
#ifndef PCC_IR_EXEC_EVENTS_H
#define PCC_IR_EXEC_EVENTS_H

#include "ir/base/clock.h"
#include "ir/exec/tasks.h"

/* DONE: all items have ended.  STOPPED: the clock ran out.  DEADLOCK: some items wait for each other in a cycle. */
enum run_status { RUN_DONE, RUN_STOPPED, RUN_DEADLOCK };

/* The result of a run: when each item starts, and how many bytes are in memory. */
struct timeline {
    enum run_status status;
    uint32_t nitem;
    int64_t *start; /* [item] ps; -1: the item never started */
    /* [item] what this item waited for last: the item whose end let it start or, if the two follow
     * each other in a list, whose start did; NO_ITEM: it waited for no item */
    uint32_t *because;
    int64_t end;   /* ps: the time at which the last item ends; at most INT64_MAX */
    uint32_t last; /* an item that ends at `end`; NO_ITEM: no item has ended */
    /* [lane] ps: the sum of the times of its items, even if a wide lane ran some at once */
    int64_t *busy;
    int64_t *peak;    /* [dev] most bytes in its memory at any moment */
    int64_t *peak_at; /* [dev] ps: the first moment with that many bytes */
    /* by how many bytes a device is over its memory at the first moment at which any device is; 0: no device ever is */
    int64_t over;
    /* the item at whose start that happens; NO_ITEM: the lasting bytes alone are too many */
    uint32_t over_item;
    uint32_t over_dev; /* the device of `over` */
    int64_t over_at;   /* ps: the moment of `over` */
    /* [ncycle] after RUN_DEADLOCK: each item waits for the next one, the last item for the first */
    uint32_t *cycle;
    uint32_t ncycle;
};

/* Runs all items of g, which task_graph_number() has numbered, and returns their timeline, which lives in a.  When
 * the clock runs out, the run ends early with RUN_STOPPED and has the starts of the items up to then; clock == NULL:
 * no limit. */
struct timeline events_run(const struct task_graph *g, struct clock *clock, struct arena *a);

/* Returns the task of an item.  O(log tasks). */
uint32_t task_of_item(const struct task_graph *g, uint32_t item);

/* Returns the critical chain, a list of items that explains when the run ends: no item held up the first item of the
 * list, each item held up the next one, and the last item is t->last.  Writes their number to *n; the array lives in
 * a. */
const uint32_t *timeline_chain(const struct timeline *t, uint32_t *n, struct arena *a);

/* After RUN_DEADLOCK: returns "HEAD A waits for B, which waits for C", for a long cycle only its first eight items.
 * text(of, item, a) returns the name of an item.  The result lives in a. */
const char *timeline_waits(const struct timeline *t, const char *head,
                           const char *(*text)(const void *of, uint32_t item, struct arena *a),
                           const void *of, struct arena *a);

#endif
