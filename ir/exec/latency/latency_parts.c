/* Makes parts of the subgraphs of a latency (latency_parts.h).
 *
 * A part starts when all values that it reads are there, and gives its results at its end.  So nodes of hosts that
 * followed each other on a CPU without a pause may become one part only if all values that they read from outside
 * were there when the first of them began, and no result of theirs is read outside before the last of them ends.
 * Then this part and all others run at the times at which the nodes ran.  The parts are run once more, each device in
 * the order of its list, to find their latency. */
#include "ir/exec/latency/latency_parts.h"

#include "ir/base/heap.h"
#include "ir/base/keyed.h"
#include "ir/base/units.h"

#include <assert.h>

/* Returns an array: [subgraph] its position 0, 1, ... in an order by start time, equal starts by slot, in which each
 * subgraph comes after all subgraphs that it waits for. */
static uint32_t *places_by_start(const struct latency_run *r, struct arena *a)
{
    const struct task_graph *g = &r->g;
    uint32_t *place = arena_array(a, (size_t)r->k.n + 1, sizeof *place), n = 0;
    uint32_t *left = csr_sizes(&g->waits, r->k.n, a);
    struct csr after = csr_transpose(a, &g->waits, r->k.n, r->k.n);
    struct heap ready = {.a = a};
    for (uint32_t v = 0; v < r->k.n; v++)
        if (!left[v])
            heap_push(&ready, r->t.start[v], r->k.sub[v].slot, v);
    while (ready.n) {
        uint32_t v = heap_pop(&ready).item;
        place[v] = n++;
        for_row (y, after, v)
            if (--left[y] == 0)
                heap_push(&ready, r->t.start[y], r->k.sub[y].slot, y);
    }
    assert(n == r->k.n);
    return place;
}

/* Grouping of host nodes, one group after the other.  A host node is a subgraph, too (subgraphs.h). */
struct group_state {
    const struct latency_run *r;
    struct csr after;   /* subgraph -> subgraphs that wait for its results */
    uint32_t *to;       /* [subgraph] its group + 1; 0: none yet */
    uint32_t group;     /* 1 + number of the group that nodes are being added to */
    int64_t start, end; /* ps: when the growing group starts and ends */
    /* subgraphs that read the group's results, by start; readers that have joined the group since may be among them */
    struct heap readers;
};

/* Returns when subgraph v ended, ps. */
static int64_t end_of(const struct latency_run *r, uint32_t v)
{
    assert(r->t.start[v] >= 0); /* the run is done: each subgraph has started */
    return sat_add(r->t.start[v], r->g.task[v].time);
}

/* Whether v can join the growing group: v starts when the group ends, each operand of v is made in the group or
 * existed when the group began, and no subgraph outside the group reads a result of the group before v ends.  A group
 * that takes no time accepts no operand from outside, since the operand might depend on the group.  Drops v and readers
 * that have joined the group from j->readers. */
static bool can_join(struct group_state *j, uint32_t v)
{
    assert(j->group > 0 && j->end >= j->start);
    const struct csr *w = &j->r->g.waits;
    int64_t end = end_of(j->r, v);
    if (j->r->t.start[v] != j->end)
        return false;
    for_row (x, *w, v)
        if (j->to[x] != j->group && (end_of(j->r, x) > j->start || end == j->start))
            return false;
    while (j->readers.n && (j->to[j->readers.at[0].item] == j->group || j->readers.at[0].item == v))
        heap_pop(&j->readers);
    return !j->readers.n || j->readers.at[0].key >= end;
}

/* Adds v to the growing group. */
static void join_group(struct group_state *j, uint32_t v)
{
    assert(!j->to[v]); /* each subgraph joins once */
    j->to[v] = j->group;
    j->end = end_of(j->r, v);
    for_row (y, j->after, v)
        heap_push(&j->readers, j->r->t.start[y], 0, y);
}

/* Returns all subgraphs, as field `item`, sorted by the device on[] that ran them, then by start time, then by
 * whether they take time (subgraphs that take none come first), then by place[]. */
static const struct keyed *device_order(const struct latency_run *r, const uint32_t *on,
                                        const uint32_t *place, struct arena *a)
{
    struct keyed *x = arena_array(a, (size_t)r->k.n + 1, sizeof *x);
    uint32_t *at = arena_array(a, (size_t)r->k.n + 1, sizeof *at);
    for (uint32_t v = 0; v < r->k.n; v++)
        at[place[v]] = v;
    for (int pass = 0; pass < 3; pass++) { /* stable sorts: the last one counts most */
        for (uint32_t i = 0; i < r->k.n; i++) {
            uint32_t v = at[i];
            const int64_t key[] = {r->g.task[v].time > 0, r->t.start[v], on[v]}; /* [pass] */
            x[i] = (struct keyed){key[pass], i};
        }
        keyed_sort(x, r->k.n);
        uint32_t *next = arena_array(a, (size_t)r->k.n + 1, sizeof *next);
        for (uint32_t i = 0; i < r->k.n; i++)
            next[i] = at[x[i].item];
        at = next;
    }
    for (uint32_t i = 0; i < r->k.n; i++)
        x[i] = (struct keyed){on[at[i]], at[i]};
    return x;
}

/* Returns the subgraphs of a run, with groups of host nodes joined to one subgraph each.  on:
 * [subgraph of the run] the device that ran it, which becomes the device of the joined subgraph;
 * place: [subgraph of the run] its place by start time, which decides ties.  In the result,
 * subgraphs.place is the position of a subgraph in the order in which its device ran its subgraphs. */
static struct subgraphs join_hosts(const struct latency_run *r, const struct module *m,
                                   const uint32_t *on, const uint32_t *place, struct arena *a)
{
    struct group_state j = {.r = r, .readers = {.a = a}};
    struct subgraphs k = {.slotted = r->k.slotted};
    const struct keyed *x = device_order(r, on, place, a);
    j.after = csr_transpose(a, &r->g.waits, r->k.n, r->k.n);
    j.to = arena_array(a, (size_t)r->k.n + 1, sizeof *j.to);
    k.sub = arena_array(a, (size_t)r->k.n + 1, sizeof *k.sub);
    k.of = arena_array(a, m->nnode, sizeof *k.of);
    k.place = arena_array(a, (size_t)r->k.n + 1, sizeof *k.place);
    /* x: subgraphs device by device, in the order in which they ran; j.group: the last one begun */
    for (uint32_t i = 0; i < r->k.n; i++) {
        uint32_t v = x[i].item;
        bool follows = i && r->k.sub[v].host && on[x[i - 1].item] == on[v];
        if (!follows || !can_join(&j, v)) {
            k.sub[k.n] = r->k.sub[v];
            k.sub[k.n].dev = on[v];
            k.sub[k.n].nnode = 0;
            k.place[k.n] = i;
            j.group = ++k.n;
            j.start = r->t.start[v];
            j.readers.n = 0;
        }
        join_group(&j, v);
        k.sub[j.group - 1].nnode += r->k.sub[v].nnode;
    }
    for (nid n = 0; n < m->nnode; n++)
        k.of[n] = r->k.of[n] == NO_SUBGRAPH ? NO_SUBGRAPH : j.to[r->k.of[n]] - 1;
    return k;
}

struct parts *latency_parts(const struct scene *s, const struct latency_run *r, int64_t *value,
                            uint32_t **slot, struct arena *a)
{
    assert(r->t.status == RUN_DONE); /* subgraphs in a deadlock have no starts to order parts by */
    struct arena *own = arena_new(a);
    const uint32_t *place = places_by_start(r, own), *on = latency_devices(s, r, own);
    struct subgraphs joined = join_hosts(r, s->m, on, place, own);
    struct latency_run run = latency_run_subgraphs(s, &joined, own);
    assert(run.t.status == RUN_DONE);
    const uint32_t *part = places_by_start(&run, own); /* [subgraph of `joined`] */
    struct pieces k = {.n = joined.n, .piece = arena_array(a, s->m->nnode, sizeof *k.piece)};
    *value = run.t.end;
    k.dev = arena_array(a, (size_t)k.n + 1, sizeof *k.dev);
    *slot = arena_array(a, (size_t)k.n + 1, sizeof **slot);
    for (nid n = 0; n < s->m->nnode; n++)
        if (joined.of[n] != NO_SUBGRAPH)
            k.piece[n] = part[joined.of[n]];
    for (uint32_t v = 0; v < joined.n; v++) {
        k.dev[part[v]] = (int32_t)joined.sub[v].dev;
        (*slot)[part[v]] = joined.sub[v].slot;
    }
    arena_free(own);
    return parts_of_pieces(s, &k, a);
}

struct rhythm rhythm_of_latency(const struct rhythm_ask *of, struct arena *a)
{
    struct sample_work *w = of->work;
    assert(w && !w->each); /* w is the work of one sample */
    int64_t *start = arena_array(a, (size_t)w->npart + 1, sizeof *start);
    int64_t *end = arena_array(a, (size_t)w->npart + 1, sizeof *end);
    int64_t *sent = arena_array(a, (size_t)w->ntensor + 1, sizeof *sent);
    /* positions instead of times: tensors from outside are there at 0, part i runs from 2 i + 1 to 2 i + 2 */
    for (uint32_t i = 0; i < w->npart; i++) {
        start[i] = 2 * (int64_t)i + 1;
        end[i] = start[i] + 1;
    }
    for (uint32_t t = 0; t < w->ntensor; t++)
        sent[t] = w->tensor[t].from < w->npart ? end[w->tensor[t].from] : 0;
    return (struct rhythm){.work = w,
                           .level = arena_array(a, (size_t)w->npart + 1, sizeof(uint32_t)),
                           .phase = arena_alloc(a, (size_t)w->npart + 1),
                           .start = start,
                           .end = end,
                           .sent = sent};
}
