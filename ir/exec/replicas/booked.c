/* Channels that are booked ahead of time (booked.h).
 *
 * Source: Baechi's execution simulator.  Nodes are taken by the time at which they are ready, then by rank, and start
 * when their device is free.  At once all transfers of their values are booked, in order: on the one channel of the
 * sender from the end of the node on, on that of the receiver from the beginning of that booking on, each behind what
 * is booked there.  So a node that ends late, but is taken early, bars a channel for values that are there long
 * before: the figures are not those of any machine.  What the host sends is booked first. */
#include "ir/exec/replicas/booked.h"

#include "ir/base/heap.h"
#include "ir/base/numbers.h"
#include "ir/base/units.h"
#include "ir/exec/step_kind.h"
#include "ir/exec/task_order.h"

struct booking_state {
    struct task_graph *g;
    struct csr next;  /* task -> tasks that wait for this task */
    uint32_t *left;   /* [task] number of unbooked tasks that the task waits for */
    int64_t *ready;   /* [task] ps */
    int64_t *device;  /* [dev] ps: when it is free */
    int64_t *channel; /* [dev] ps: when it is free */
    struct heap nodes;
    uint32_t count; /* number of booked tasks */
};

static void end_task(struct booking_state *b, uint32_t t, int64_t end);

static void set_start(struct booking_state *b, uint32_t t, int64_t start)
{
    b->g->task[t].release = start;
    b->g->task[t].rank = b->count++;
    end_task(b, t, sat_add(start, b->g->task[t].time));
}

/* Books a hop that could go at the time `ready`. */
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

/* What waits for task t can go on; a hop is booked at once, and no hop waits for another one. */
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
