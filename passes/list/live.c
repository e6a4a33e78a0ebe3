/* Counts what devices hold at once while vertices are placed in the order in which they run (live.h).
 *
 * The rule is that of the memory model LIVE (ir/exec/makespan/step.md), but times are not known here yet.  So a value
 * from another device, or from the host, counts from the beginning, since it may come before the device runs its first
 * node; and a device holds its values until all readers, wherever they are, have been placed.  Lasting bytes, such as
 * weights, are those of the placement.  The cost is a look at a net for each of its pins. */
#include "passes/list/live.h"

#include "ir/base/units.h"

#include <string.h>

bool live_counts(const struct placement *r)
{
    return exec_memory(&r->scene->model) == MEMORY_LIVE && r->scene->m->ir_version != 0;
}

struct live live_new(const struct ctx *x, const struct placement *r, struct arena *a)
{
    const struct wdag *base = x->levels.base;
    uint32_t nd = x->scene.cluster->ndev, n = base->n;
    struct live s = {.r = r, .base = base};
    struct arena *own = arena_new(a);
    uint32_t *vertex = arena_array(own, (size_t)n + 1, sizeof *vertex);
    for (uint32_t u = 0; u < n; u++)
        vertex[u] = r->base == base ? u : r->base->map[u];
    s.node = csr_build(a, r->base->n, n, vertex, NULL);
    arena_free(own);
    s.now = arena_array(a, (size_t)nd + 1, sizeof *s.now);
    s.peak = arena_array(a, (size_t)nd + 1, sizeof *s.peak);
    s.left = arena_array(a, (size_t)base->nnet + 1, sizeof *s.left);
    s.left_then = arena_array(a, (size_t)base->nnet + 1, sizeof *s.left_then);
    s.asked = arena_array(a, (size_t)base->nnet + 1, sizeof *s.asked);
    s.held = arena_alloc(a, (size_t)base->nnet * nd / 8 + 1);
    s.held_then = arena_alloc(a, (size_t)base->nnet + 1);
    s.dev = arena_array(a, (size_t)n + 1, sizeof *s.dev);
    live_empty(&s);
    return s;
}

void live_empty(struct live *s)
{
    uint32_t nd = s->r->scene->cluster->ndev;
    memset(s->now, 0, nd * sizeof *s->now);
    memset(s->peak, 0, nd * sizeof *s->peak);
    memset(s->held, 0, (size_t)s->base->nnet * nd / 8 + 1);
    for (uint32_t e = 0; e < s->base->nnet; e++)
        s->left[e] = s->base->net_pin.at[e + 1] - s->base->net_pin.at[e];
}

/* Returns the number of the bit in s->held for a net and a device. */
static size_t bit_of(const struct live *s, uint32_t net, uint32_t d)
{
    return (size_t)net * s->r->scene->cluster->ndev + d;
}

/* Whether device d holds the data of a net. */
static bool is_held(const struct live *s, uint32_t net, uint32_t d)
{
    size_t bit = bit_of(s, net, d);
    return s->held[bit / 8] >> bit % 8 & 1;
}

/* Notes whether device d holds the data of a net. */
static void set_held(struct live *s, uint32_t net, uint32_t d, bool held)
{
    size_t bit = bit_of(s, net, d);
    s->held[bit / 8] = (uint8_t)((s->held[bit / 8] & ~(1U << bit % 8)) | (unsigned)held << bit % 8);
}

/* Returns the bytes of a net's value. */
static int64_t bytes_of(const struct live *s, uint32_t net)
{
    return s->r->scene->m->cost->bytes[s->r->scene->place->net_value[net]];
}

/* Returns the bytes that vertex u of the base level needs while it runs: those of its results or, if that is more,
 * costs.own. */
static int64_t runs_of(const struct live *s, uint32_t u)
{
    int64_t made = 0;
    for_row (e, s->base->net_of, u)
        made = sat_add(made, s->base->net_src[e] == u ? bytes_of(s, e) : 0);
    return larger(made, s->r->scene->m->cost->own[s->base->node[u]]);
}

/* ---- a question --------------------------------------------------------------------------------- */

/* Copies a net's state for the present question, unless that has been done; d: the device of the question. */
static void open_net(struct live *s, uint32_t net, uint32_t d)
{
    if (s->asked[net] == s->question)
        return;
    s->asked[net] = s->question;
    s->left_then[net] = s->left[net];
    s->held_then[net] = is_held(s, net, d);
}

/* Runs vertex u of the base level in a question about device d, and updates *now and *peak, the bytes that d holds then
 * and the most that it has held so far.  here: whether u is on d. */
static void ask_node(struct live *s, uint32_t u, uint32_t d, bool here, int64_t *now, int64_t *peak)
{
    int64_t made = 0;
    for_row (e, s->base->net_of, u) {
        open_net(s, e, d);
        if (!here || s->held_then[e])
            continue;
        s->held_then[e] = 1;
        /* results count from the end of u on, operands from the start of u; as operands may have come before the
         * device's first node, they also raise the peak so far */
        int64_t *to = s->base->net_src[e] == u ? &made : now;
        *to = sat_add(*to, bytes_of(s, e));
        *peak = to == now ? sat_add(*peak, bytes_of(s, e)) : *peak;
    }
    if (here)
        *peak = larger(*peak, sat_add(*now, runs_of(s, u)));
    *now = sat_add(*now, made);
    for_row (e, s->base->net_of, u)
        if (--s->left_then[e] == 0 && s->held_then[e])
            *now -= bytes_of(s, e);
}

bool live_takes(struct live *s, const uint32_t *v, uint32_t n, uint32_t d)
{
    const struct placement *r = s->r;
    const struct cluster *c = r->scene->cluster;
    int64_t memory = c->cls[cluster_class(c, d)].memory, adds = placement_adds(r, d);
    int64_t now = s->now[d], peak = s->peak[d];
    if (adds == INT64_MAX || memory < 0)
        return adds < INT64_MAX;
    s->question++;
    for (uint32_t i = 0; i < n; i++) {
        int32_t home = r->home[r->group[v[i]]];
        for_row (u, s->node, v[i])
            ask_node(s, u, d, home < 0 || (uint32_t)home == d, &now, &peak);
    }
    /* bytes on d beside the values that `peak` counts: what d holds already, and what v adds */
    int64_t lasting = sat_add(r->used[d] - r->stay[d], adds - r->stays);
    return sat_add(lasting, peak) <= memory;
}

/* ---- running ------------------------------------------------------------------------------------ */

/* Frees the value of a net, all of whose pins have run, on all devices that hold it. */
static void free_net(struct live *s, uint32_t net)
{
    for_row (u, s->base->net_pin, net)
        if (is_held(s, net, s->dev[u])) {
            set_held(s, net, s->dev[u], false);
            s->now[s->dev[u]] -= bytes_of(s, net);
        }
}

/* Runs vertex u of the base level on device d. */
static void run_node(struct live *s, uint32_t u, uint32_t d)
{
    int64_t made = 0;
    s->dev[u] = d;
    for_row (e, s->base->net_of, u) {
        if (is_held(s, e, d))
            continue;
        set_held(s, e, d, true);
        /* results count from the end of u on, operands from the start of u; as operands may have come before the
         * device's first node, they also raise the peak so far */
        int64_t *to = s->base->net_src[e] == u ? &made : &s->now[d];
        *to = sat_add(*to, bytes_of(s, e));
        if (to != &made)
            s->peak[d] = sat_add(s->peak[d], bytes_of(s, e));
    }
    s->peak[d] = larger(s->peak[d], sat_add(s->now[d], runs_of(s, u)));
    s->now[d] = sat_add(s->now[d], made);
    for_row (e, s->base->net_of, u)
        if (--s->left[e] == 0)
            free_net(s, e);
}

void live_run(struct live *s, const uint32_t *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for_row (u, s->node, v[i])
            run_node(s, u, (uint32_t)s->r->home[s->r->group[v[i]]]);
}
