/* Start times with channels that are booked ahead of time (booked.h).
 *
 * Source: Baechi's execution simulator.  Nodes are taken by the time at which they are ready, then by rank, and start
 * when their device is free.  When a node is taken, all transfers of its values are booked at once, one after the
 * other.  Each device has one channel for both directions.  A transfer is booked on the sender's channel not before the
 * node ends, then on the receiver's channel not before it begins on the sender's, each time behind all earlier
 * bookings.  So a node that is taken early but ends late keeps a channel from values that exist long before that end:
 * no machine would behave like this.  Transfers from the host are booked before all others. */
#include "ir/exec/replicas/booked.h"

#include "ir/base/heap.h"
#include "ir/base/numbers.h"
#include "ir/base/units.h"
#include "ir/exec/step_kind.h"
#include "ir/exec/task_order.h"

/* State of book_ahead(). */
struct booking_state {
    struct task_graph *g;
    struct csr next;  /* task -> tasks that wait for this task */
    uint32_t *left;   /* [task] number of unbooked tasks that the task waits for */
    int64_t *ready;   /* [task] ps: the latest end of the booked tasks that it waits for */
    int64_t *device;  /* [dev] ps: when the device is free for the next node */
    int64_t *channel; /* [dev] ps: the end of the last booking of the device's channel */
    /* nodes that wait for no unbooked task, by the time at which they are ready */
    struct heap nodes;
    uint32_t count; /* number of booked tasks */
};

static void end_task(struct booking_state *b, uint32_t t, int64_t end);

/* Books task t at the time `start`, ps, and gives it the next rank. */
static void set_start(struct booking_state *b, uint32_t t, int64_t start)
{
    b->g->task[t].release = start;
    b->g->task[t].rank = b->count++;
    end_task(b, t, sat_add(start, b->g->task[t].time));
}

/* Books a transfer (a hop), which may begin at b->ready[t], on the channels of its devices; the host has no
 * channel. */
static void book_hop(struct booking_state *b, uint32_t t)
{
    const struct task *x = &b->g->task[t];
    int64_t start = b->ready[t];
    if (x->kind != STEP_IN) {
        int64_t *out = &b->channel[x->from];
        start = larger(*out, start);
        *out = sat_add(start, x->time);
    }
    if (x->kind != STEP_OUT) {
        int64_t *in = &b->channel[x->to];
        start = larger(*in, start);
        *in = sat_add(start, x->time);
    }
    set_start(b, t, start);
}

/* Ends the waits of other tasks for task t, which ends at `end` ps.  A task that then waits for nothing else goes
 * into the heap if it is a node, and is booked at once if it is a hop; no hop waits for another hop, so the recursion
 * is short. */
static void end_task(struct booking_state *b, uint32_t t, int64_t end)
{
    for_row (u, b->next, t) {
        b->ready[u] = larger(end, b->ready[u]);
        if (--b->left[u])
            continue;
        if (b->g->task[u].kind == STEP_COMPUTE)
            heap_push(&b->nodes, b->ready[u], b->g->task[u].rank, u);
        else
            book_hop(b, u);
    }
}

void book_ahead(struct task_graph *g, uint32_t n, struct arena *a)
{
    struct arena *own = arena_new(a);
    struct booking_state b = {.g = g, .next = csr_transpose(own, &g->waits, g->ntask, g->ntask)};
    b.left = arena_array(own, (size_t)g->ntask + 1, sizeof *b.left);
    b.ready = arena_array(own, (size_t)g->ntask + 1, sizeof *b.ready);
    b.device = arena_array(own, (size_t)g->ndev + 1, sizeof *b.device);
    b.channel = arena_array(own, (size_t)g->ndev + 1, sizeof *b.channel);
    b.nodes.a = own;
    for (uint32_t t = 0; t < g->ntask; t++)
        b.left[t] = g->waits.at[t + 1] - g->waits.at[t];
    for (uint32_t t = 0; t < n; t++)
        if (!b.left[t])
            heap_push(&b.nodes, 0, g->task[t].rank, t);
    for (uint32_t t = n; t < g->ntask; t++)
        if (g->waits.at[t] == g->waits.at[t + 1])
            book_hop(&b, t);
    while (b.nodes.n) {
        uint32_t t = heap_pop(&b.nodes).item;
        int64_t *free = &b.device[g->task[t].from];
        int64_t start = larger(*free, b.ready[t]);
        *free = sat_add(start, g->task[t].time);
        set_start(&b, t, start);
    }
    arena_free(own);
    list_by_rank(g, g->ntask, a);
}
