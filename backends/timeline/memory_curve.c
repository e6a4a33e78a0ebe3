/* Computes curves of memory over time (memory_curve.h) from the buffers of a task graph and the starts of its items.
 * A peak that the event core found, but that lasts no time, cannot be seen in them, and is added. */
#include "backends/timeline/memory_curve.h"

#include "ir/base/numbers.h"
#include "ir/base/units.h"

#include <assert.h>
#include <stdlib.h>

/* A change of a device's memory at the time `at` (ps) by some bytes, negative if they are freed. */
struct change {
    uint32_t dev;
    int64_t at, bytes;
};

/* Compares changes by device, then time, then allocations before frees; for qsort. */
static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->dev != y->dev)
        return x->dev < y->dev ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes); /* more bytes first */
}

/* Returns the time (ps) at which the last use of instance k of a buffer ends; -1: nothing uses the buffer.  By the rule
 * of tasks.h, a user with as many instances as the buffer uses instance k in its own instance k only; any other
 * user uses instance k in all of the user's instances. */
static int64_t freed_at(const struct task_graph *g, const struct timeline *t, uint32_t buffer,
                        uint32_t k)
{
    int64_t end = -1;
    uint32_t count = g->task[g->buffer[buffer].task].count;
    for_row (user, g->use, buffer) {
        const struct task *u = &g->task[user];
        uint32_t first = g->first[user];
        bool own = u->count == count;
        uint32_t from = own ? k : 0, to = own ? k + 1 : u->count;
        for (uint32_t c = from; c < to; c++) {
            int64_t ends = sat_add(t->start[first + c], u->time);
            end = larger(ends, end);
        }
    }
    return end;
}

/* Returns the number of instances of all buffers. */
static uint32_t count_instances(const struct task_graph *g)
{
    uint64_t n = 0;
    for (uint32_t b = 0; b < g->nbuffer; b++)
        n += g->task[g->buffer[b].task].count;
    assert(n < UINT32_MAX / 2);
    return (uint32_t)n;
}

/* Writes all changes of memory to c, sorted by compare_changes(); returns their number. */
static uint32_t list_changes(const struct task_graph *g, const struct timeline *t, struct change *c)
{
    uint32_t n = 0;
    for (uint32_t b = 0; b < g->nbuffer; b++) {
        const struct buffer *x = &g->buffer[b];
        for (uint32_t k = 0; k < g->task[x->task].count; k++) {
            int64_t end = freed_at(g, t, b, k);
            c[n++] = (struct change){x->dev, t->start[g->first[x->task] + k], x->bytes};
            if (end >= 0)
                c[n++] = (struct change){x->dev, end, -x->bytes};
        }
    }
    qsort(c, n, sizeof *c, compare_changes);
    return n;
}

/* Fills m, the curve of a device, from its changes c[n]: a point for each time at which the bytes are others than
 * before.  bytes: in its memory at the beginning. */
static void add_points(struct memory_curve *m, int64_t bytes, const struct change *c, uint32_t n)
{
    int64_t at = 0;
    for (uint32_t i = 0; i <= n;) { /* a round adds up all changes of time `at` */
        for (; i < n && c[i].at == at; i++)
            if (c[i].bytes > 0)
                bytes = sat_add(bytes, c[i].bytes);
            else
                /* below 0 if an earlier sum was cut off at INT64_MAX */
                bytes = larger(bytes + c[i].bytes, 0);
        if (!m->n || m->point[m->n - 1].bytes != bytes)
            m->point[m->n++] = (struct curve_point){at, bytes};
        if (i == n)
            break;
        at = c[i].at;
    }
}

/* Inserts a point for a peak of `peak` bytes at the time `at` that lasts no time, and a point at the same time for the
 * bytes after the peak; does nothing if the curve reaches `peak` anyway.  m->point has room for two more points. */
static void add_peak(struct memory_curve *m, int64_t at, int64_t peak)
{
    uint32_t i = 0, behind = m->n;
    for (uint32_t k = 0; k < m->n; k++)
        if (m->point[k].bytes >= peak)
            return;
    while (i < m->n && m->point[i].at < at)
        i++;
    bool there = i < m->n && m->point[i].at == at; /* a point at time `at`, which is replaced */
    int64_t then = there ? m->point[i].bytes : m->point[i - 1].bytes;
    uint32_t more = there ? 1 : 2; /* number of points to insert */
    for (m->n += more; behind-- > i;)
        m->point[behind + more] = m->point[behind];
    m->point[i] = (struct curve_point){at, peak};
    m->point[i + 1] = (struct curve_point){at, then};
}

struct memory_curve *memory_curves(const struct task_graph *g, const struct timeline *t,
                                   struct arena *a)
{
    assert(t->nitem == g->first[g->ntask] && t->status == RUN_DONE);
    struct memory_curve *all = arena_array(a, (size_t)g->ndev + 1, sizeof *all);
    struct arena *own = arena_new(a);
    struct change *c = arena_array(own, 2 * (size_t)count_instances(g) + 1, sizeof *c);
    uint32_t n = list_changes(g, t, c);
    for (uint32_t dev = 0, i = 0, end = 0; dev < g->ndev; dev++, i = end) {
        while (end < n && c[end].dev == dev)
            end++;
        all[dev].point = arena_array(a, (size_t)(end - i) + 3, sizeof *all[dev].point);
        add_points(&all[dev], g->lasting ? g->lasting[dev] : 0, c + i, end - i);
        add_peak(&all[dev], t->peak_at[dev], t->peak[dev]);
    }
    arena_free(own);
    return all;
}
