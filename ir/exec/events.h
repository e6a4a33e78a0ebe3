/* The event core: when each task starts and ends, and what is in memory then.
 *
 * At each moment things happen in this order: what ends gives its lanes back and frees its buffers; then
 * requests start, i.e. tasks of several lanes that stand in no list, and of one lane that say so: who became
 * ready first, of these the smallest rank, then the smallest item; one that is blocked is passed over; then each
 * lane starts what is next by its discipline.  What takes no time ends at the same moment, and all of it is done
 * once more.
 *
 * O((items + waits) log items + lanes that items hold), and for each end of a request the number of other lanes
 * that requests on its lanes are waiting for. */
#ifndef PCC_IR_EXEC_EVENTS_H
#define PCC_IR_EXEC_EVENTS_H

#include "ir/base/clock.h"
#include "ir/exec/tasks.h"

enum run_status { RUN_DONE, RUN_STOPPED, RUN_DEADLOCK };

struct timeline {
    enum run_status status;
    uint32_t nitem;
    int64_t *start; /* [item] ps; -1: the item never started */
    /* [item] the item whose end (or on a list: start) it waited for last; NO_ITEM: none */
    uint32_t *because;
    int64_t end;   /* ps: of all; saturates */
    uint32_t last; /* an item that ends then; NO_ITEM: there are none */
    /* [lane] ps: summed times of its items, also of items side by side on a wide lane */
    int64_t *busy;
    int64_t *peak;    /* [dev] most bytes at once */
    int64_t *peak_at; /* [dev] ps: when first */
    /* bytes missing at the first moment at which a device is over its memory; 0: never */
    int64_t over;
    uint32_t over_item; /* what started then; NO_ITEM: the lasting bytes alone are too many */
    uint32_t over_dev;
    int64_t over_at; /* ps */
    /* DEADLOCK: items each of which waits for the next, the last one for the first */
    uint32_t *cycle;
    uint32_t ncycle;
};

/* Runs g, whose items are numbered.  The result lives in a.  clock: ends the run (STOPPED, what has started stands);
 * NULL: never. */
struct timeline events_run(const struct task_graph *g, struct clock *clock, struct arena *a);

/* The task of an item.  O(log tasks). */
uint32_t task_of_item(const struct task_graph *g, uint32_t item);

/* The critical chain: items from one that nothing held up to t->last, each because of the one before.  Their
 * number in *n; lives in a. */
const uint32_t *timeline_chain(const struct timeline *t, uint32_t *n, struct arena *a);

/* After a DEADLOCK: "HEAD A waits for B, which waits for C", of a long cycle its first waits.  text names an item of
 * what `of` points to.  Lives in a. */
const char *timeline_waits(const struct timeline *t, const char *head,
                           const char *(*text)(const void *of, uint32_t item, struct arena *a),
                           const void *of, struct arena *a);

#endif
