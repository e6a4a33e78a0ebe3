/* Finds lower bounds on the time from a block to the end of a plan, by paths (latency_tail.h).
 *
 * Along a path b0, b1, ... of blocks, the subgraph of b0 holds b0 .. bj for some j, and all blocks on paths between b0
 * and bj: their times add up, and their bytes must fit.  Then the value that bj sends to b(j+1) is transferred out and,
 * if b(j+1) is on an accelerator, in.  So from the start of b0 on the plan takes at least the minimum, over all j, of
 * the sum of these times and the tail of b(j+1).  The path goes on to the successor with the largest tail.  Blocks are
 * taken in reverse topological order. */
#include "passes/latency/latency_tail.h"

#include <assert.h>

/* The tails that are being computed. */
struct tail_builder {
    const struct latency_graph *p;
    struct latency_tail *t;
    struct arena *a;
    /* [block] equal to `stamp`: the block is the first one of the path, or depends on that */
    uint32_t *below;
    uint32_t *seen;  /* [block] equal to `stamp`: join_between() has added the block */
    uint32_t *stack; /* scratch */
    uint32_t stamp;  /* number of the present path */
    uint64_t work;   /* edges looked at, up to TAIL_WORK */
    struct clock *clock;
};

/* Returns the ps that a device of kind k takes to transfer, once each, all values that block `from` makes and block
 * `to` reads. */
static int64_t send_time(const struct latency_graph *p, uint32_t k, uint32_t from, uint32_t to)
{
    const struct wdag *g = p->g;
    int64_t sum = 0;
    for_row (e, p->net_of, from)
        if (g->net_src[e] == from && csr_has(&g->net_pin, e, to))
            sum += p->kind[k].cost[e];
    return sum;
}

/* Returns a lower bound, ps, on the time from the start of the subgraph or host unit that has unit s to the end of the
 * plan, for a unit s that reads from block b outside that subgraph. */
static int64_t entered(const struct tail_builder *m, uint32_t b, uint32_t s)
{
    assert(b < m->p->g->n && s < m->p->nunit);
    const struct latency_graph *p = m->p;
    int64_t least = m->t->host[s];
    for (uint32_t k = 0; k < p->nkind; k++) {
        int64_t on = m->t->on[k][p->block[s]];
        if (on < least)
            least = smaller(least, sat_add(on, send_time(p, k, b, p->block[s])));
    }
    return least;
}

/* Returns a lower bound, ps, on the time from the end of block b's computing on kind k to the end of the plan: each
 * successor is in the same subgraph or elsewhere, whichever gives less.  Writes to *next the successor with the largest
 * tail. */
static int64_t left_after(const struct tail_builder *m, uint32_t k, uint32_t b, uint32_t *next)
{
    const struct latency_graph *p = m->p;
    int64_t most = 0, longest = -1;
    for (uint32_t x = p->first[b]; x < p->first[b + 1]; x++)
        for_row (s, p->succ, x) {
            uint32_t to = p->block[s];
            if (to == b)
                continue;
            int64_t other = sat_add(send_time(p, k, b, to), entered(m, b, s));
            most = larger(most, smaller(m->t->on[k][to], other));
            if (other > longest) {
                longest = other;
                *next = to;
            }
        }
    return most;
}

/* Adds to *bytes and *ps the bytes and times on kind k of block `at`, the path's next one, and of all blocks between
 * the first block of the path and `at`, except blocks that were added before.  mark_below() must have marked what is
 * below the first block.  Counts edges looked at in m->work. */
static void join_between(struct tail_builder *m, uint32_t k, uint32_t at, int64_t *bytes,
                         int64_t *ps)
{
    const struct wdag *g = m->p->g;
    uint32_t top = 0;
    if (m->seen[at] == m->stamp)
        return;
    m->seen[at] = m->stamp;
    m->stack[top++] = at;
    while (top) {
        uint32_t v = m->stack[--top];
        *bytes = sat_add(*bytes, g->size[v]);
        *ps = sat_add(*ps, m->p->kind[k].time[v]);
        for_row (u, g->pred, v) {
            m->work++;
            if (m->below[u] != m->stamp || m->seen[u] == m->stamp)
                continue;
            m->seen[u] = m->stamp;
            m->stack[top++] = u;
        }
    }
}

/* Begins the path from block b: sets a new stamp, and marks b and all blocks that depend on b in m->below. */
static void mark_below(struct tail_builder *m, uint32_t b)
{
    const struct wdag *g = m->p->g;
    uint32_t top = 0;
    m->stamp++;
    m->below[b] = m->stamp;
    m->stack[top++] = b;
    while (top) {
        uint32_t v = m->stack[--top];
        for_row (u, g->succ, v) {
            m->work++;
            if (m->below[u] == m->stamp)
                continue;
            m->below[u] = m->stamp;
            m->stack[top++] = u;
        }
    }
}

/* Returns a lower bound, ps, on the time from the start of the subgraph or host units that have block `to` to the end
 * of the plan, if block b is not in that subgraph: the largest such bound (entered()) of the units of `to` that read
 * from b. */
static int64_t entered_most(const struct tail_builder *m, uint32_t b, uint32_t to)
{
    const struct latency_graph *p = m->p;
    int64_t most = 0;
    for (uint32_t x = p->first[b]; x < p->first[b + 1]; x++)
        for_row (w, p->succ, x)
            if (p->block[w] == to)
                most = larger(most, entered(m, b, w));
    return most;
}

/* Adds a step (struct tail_step) to the tail that is being computed. */
static void add_step(struct tail_builder *m, int64_t bytes, int64_t ps)
{
    struct latency_tail *t = m->t;
    t->step = vec_grow(m->a, t->step, &t->capstep, t->nstep + 1, sizeof *t->step);
    t->step[t->nstep++] = (struct tail_step){bytes, ps};
}

/* Returns the tail, in ps, of block b on kind k, by the path from b: the minimum over the last block of the path that
 * b's subgraph may hold; at least `floor`, another lower bound.  Adds b's steps. */
static int64_t along_path(struct tail_builder *m, uint32_t k, uint32_t b, int64_t floor)
{
    int64_t bytes = 0, ps = 0, least = LOAD_INF;
    mark_below(m, b);
    for (uint32_t at = b; at != UINT32_MAX; at = m->t->next[at]) {
        join_between(m, k, at, &bytes, &ps);
        if (ps >= least || bytes > m->p->kind[k].memory)
            break;
        uint32_t to = m->t->next[at];
        int64_t rest =
            to == UINT32_MAX ? 0 : sat_add(send_time(m->p, k, at, to), entered_most(m, at, to));
        if (sat_add(ps, rest) < least) {
            least = sat_add(ps, rest);
            /* latency_tail_on() searches the row by bisection */
            assert(m->t->nstep == m->t->row[k][b] || m->t->step[m->t->nstep - 1].bytes <= bytes);
            add_step(m, bytes, larger(least, floor));
        }
    }
    return larger(least, floor);
}

/* Sets the tail of unit x on a host; the tails of x's successors must be set. */
static void host_tail(struct tail_builder *m, uint32_t x)
{
    const struct latency_graph *p = m->p;
    int64_t most = 0;
    if (p->host[x] == COST_NEVER)
        return;
    for_row (s, p->succ, x) {
        /* nodes of a block go to the host together */
        most =
            larger(most, p->block[s] == p->block[x] ? m->t->host[s] : entered(m, p->block[x], s));
    }
    m->t->host[x] = smaller(sat_add(p->host[x], most), LOAD_INF);
}

/* Sets all tails of block b and its units; the tails of all later blocks must be set. */
static void block_tails(struct tail_builder *m, uint32_t b)
{
    assert(b < m->p->g->n);
    const struct latency_graph *p = m->p;
    struct latency_tail *t = m->t;
    t->next[b] = UINT32_MAX;
    for (uint32_t k = 0; k < p->nkind; k++) {
        t->row[k][b] = t->end[k][b] = t->nstep;
        if (p->kind[k].time[b] == COST_NEVER)
            continue;
        int64_t on = sat_add(p->kind[k].time[b], left_after(m, k, b, &t->next[b]));
        if (m->work < TAIL_WORK && !clock_out(m->clock)) /* else the block has no steps */
            on = along_path(m, k, b, on);
        t->on[k][b] = smaller(on, LOAD_INF);
        t->end[k][b] = t->nstep;
    }
    for (uint32_t x = p->first[b + 1]; x-- > p->first[b];)
        host_tail(m, x);
    for (uint32_t x = p->first[b]; x < p->first[b + 1]; x++) {
        t->least[x] = t->host[x];
        for (uint32_t k = 0; k < p->nkind; k++)
            t->least[x] = smaller(t->least[x], t->on[k][b]);
        /* blocks come from the last to the first: of blocks with equal tails the first one in the graph counts */
        if (t->least[x] >= t->all) {
            t->all = t->least[x];
            t->longest = x;
        }
    }
}

int64_t latency_tail_on(const struct latency_tail *t, uint32_t k, uint32_t b, int64_t room)
{
    assert(k < PROBLEM_KINDS && t->row[k] && t->row[k][b] <= t->end[k][b]);
    uint32_t lo = t->row[k][b], hi = t->end[k][b];
    if (lo == hi || t->step[lo].bytes > room)
        return t->on[k][b];
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (t->step[mid].bytes <= room)
            lo = mid;
        else
            hi = mid;
    }
    return t->step[lo].ps;
}

/* Returns an array of n entries, each LOAD_INF, in a. */
static int64_t *infinite(uint32_t n, struct arena *a)
{
    int64_t *t = arena_array(a, (size_t)n + 1, sizeof *t);
    for (uint32_t i = 0; i < n; i++)
        t[i] = LOAD_INF;
    return t;
}

struct latency_tail *latency_tail_make(const struct latency_graph *p, struct clock *clock,
                                       struct arena *a)
{
    uint32_t n = p->g->n;
    struct latency_tail *t = arena_alloc(a, sizeof *t);
    struct tail_builder m = {.p = p, .t = t, .a = a, .clock = clock};
    t->longest = UINT32_MAX;
    for (uint32_t k = 0; k < p->nkind; k++) {
        t->on[k] = infinite(n, a);
        t->row[k] = arena_array(a, (size_t)n + 1, sizeof *t->row[k]);
        t->end[k] = arena_array(a, (size_t)n + 1, sizeof *t->end[k]);
    }
    t->host = infinite(p->nunit, a);
    t->least = infinite(p->nunit, a);
    t->next = arena_array(a, (size_t)n + 1, sizeof *t->next);
    m.below = arena_array(a, (size_t)n + 1, sizeof *m.below);
    m.seen = arena_array(a, (size_t)n + 1, sizeof *m.seen);
    m.stack = arena_array(a, (size_t)n + 1, sizeof *m.stack);
    for (uint32_t b = n; b-- > 0;)
        block_tails(&m, b);
    return t;
}
