/* close-functions: calls that open-functions opened and that take little of the time are nodes again.
 *
 * Functions are taken in order of the time that all their calls take, on the class of devices where that is
 * the largest share: the first ones, as many as together take at most `share` of the time on every class,
 * stay whole.  So whatever takes more is open, be it one call, many calls of one function, or calls of many
 * functions; and what plans can lose by it is bounded.  Calls that can be nodes without a change to the
 * rest are closed (opened_closable), but not where a plan names what is inside.
 * O(nodes + operands + calls * log functions). */
#include "passes/opened.h"
#include "passes/plan_read.h"

#include "ir/units.h"

#include <stdlib.h>

struct close_options {
    int64_t share;
    const char *plan;
};

static const struct opt close_opts[] = {
    {.kind = OPT_INT,
     .name = "share",
     .off = offsetof(struct close_options, share),
     .def = "5",
     .lo = "0",
     .hi = "100",
     .help = "most of the time that calls which stay whole take together, in percent"},
    {.kind = OPT_TEXT,
     .name = "plan",
     .off = offsetof(struct close_options, plan),
     .def = "",
     .help = "calls stay open where this plan names what is inside (as plan{from=...})"},
    {0}};

/* A function and the largest share of the time, in millionths, that its calls take on a class. */
struct weighed {
    uint32_t function;
    int64_t share;
};

struct closer {
    const struct ctx *x;
    uint8_t *open;                  /* [site] 1: it cannot be closed, or must not */
    int64_t *time[CLUSTER_CLASSES]; /* [site] ps, calls inside included */
    struct weighed *order;          /* [functions] the least share first, entry 0 unused */
    uint32_t *rank;                 /* [function] its place there */
    int64_t share;                  /* percent */
};

/* What is in a site is open: so is the site. */
static void spread_open(struct closer *w)
{
    const struct opened *o = w->x->opened;
    for (uint32_t s = o->nsite; s-- > 1;)
        w->open[o->site[s].parent] |= w->open[s];
}

/* Sites whose nodes or calls a plan names stay open. */
static void keep_named(struct closer *w, struct ctx *x, const char *plan)
{
    const struct opened *o = x->opened;
    const struct graph *g = &x->m->graph[1];
    struct map names = {0};
    bool whole;
    if (*plan == '\0' || !plan_names(x, plan, &names, &whole))
        return;
    for (nid n = g->first; n < g->first + g->count; n++)
        w->open[o->within[n]] |= map_get(&names, x->m->node[n].name) != 0;
    for (uint32_t s = 1; s < o->nsite; s++)
        w->open[o->site[s].parent] |= map_get(&names, o->site[s].name) != 0;
}

/* Times of sites.  One with a node that some class cannot run stays open: others might run there. */
static void weigh_sites(struct closer *w, const struct place *p)
{
    const struct module *m = w->x->m;
    const struct opened *o = w->x->opened;
    const struct graph *g = &m->graph[1];
    for (uint32_t k = 0; k < m->cost->nclass; k++) {
        int64_t *t = w->time[k] = arena_array(w->x->scratch, o->nsite, sizeof *t);
        for (nid n = g->first; n < g->first + g->count; n++) {
            int64_t time = p->kind[n] == PLACE_NODE ? m->cost->time[k][n] : 0;
            w->open[o->within[n]] |= time == COST_NEVER;
            t[o->within[n]] = sat_add(t[o->within[n]], time == COST_NEVER ? 0 : time);
        }
        for (uint32_t s = o->nsite; s-- > 1;)
            t[o->site[s].parent] = sat_add(t[o->site[s].parent], t[s]);
    }
}

static int by_share(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    if (x->share != y->share)
        return x->share < y->share ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

/* Functions in the order of the shares that all their calls take. */
static void weigh_functions(struct closer *w)
{
    const struct opened *o = w->x->opened;
    uint32_t n = o->functions->n, nclass = w->x->m->cost->nclass;
    w->order = arena_array(w->x->scratch, n, sizeof *w->order);
    w->rank = arena_array(w->x->scratch, n, sizeof *w->rank);
    for (uint32_t f = 0; f < n; f++)
        w->order[f].function = f;
    for (uint32_t k = 0; k < nclass; k++) {
        int64_t *sum = arena_array(w->x->scratch, n, sizeof *sum);
        for (uint32_t s = 1; s < o->nsite; s++)
            sum[o->site[s].function] = sat_add(sum[o->site[s].function], w->time[k][s]);
        for (uint32_t f = 1; f < n && w->time[k][0] > 0; f++) {
            int64_t share = mul_div_ceil(sum[f], 1000000, w->time[k][0]);
            w->order[f].share = share > w->order[f].share ? share : w->order[f].share;
        }
    }
    qsort(w->order + 1, n - 1, sizeof *w->order, by_share);
    for (uint32_t i = 1; i < n; i++)
        w->rank[w->order[i].function] = i;
}

/* Marks in shut (NULL: none) the calls that are closed if functions up to a rank stay whole, and counts
 * them; whether they take no more than the share. */
static bool try_rank(const struct closer *w, uint32_t rank, uint8_t *shut, uint32_t *count)
{
    const struct opened *o = w->x->opened;
    int64_t sum[CLUSTER_CLASSES] = {0};
    *count = 0;
    for (uint32_t s = 1; s < o->nsite;) {
        if (w->open[s] || w->rank[o->site[s].function] > rank) {
            s++;
            continue;
        }
        for (uint32_t k = 0; k < w->x->m->cost->nclass; k++)
            sum[k] = sat_add(sum[k], w->time[k][s]);
        ++*count;
        if (shut != NULL)
            shut[s] = 1;
        s = o->site[s].after;
    }
    for (uint32_t k = 0; k < w->x->m->cost->nclass; k++)
        if (sum[k] > (int64_t)((__int128)w->time[k][0] * w->share / 100))
            return false;
    return true;
}

/* The largest rank that keeps to the share: the time grows with it. */
static uint32_t find_rank(const struct closer *w)
{
    uint32_t low = 0, high = w->x->opened->functions->n - 1, n;
    while (low < high) {
        uint32_t mid = low + (high - low + 1) / 2;
        if (try_rank(w, mid, NULL, &n))
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

static int close_run(struct ctx *x, const void *options)
{
    const struct close_options *o = options;
    struct closer w = {.x = x, .share = o->share};
    struct closing c;
    uint32_t count;
    if (x->opened == NULL)
        return 0;
    if (x->base != NULL)
        return diag_error(x->diag, "close-functions comes before all passes that make levels");
    struct place *p = place_build(x->m, x->pairs, x->npairs, x->scratch, x->diag);
    if (p == NULL)
        return -1;
    w.open = arena_alloc(x->scratch, x->opened->nsite);
    keep_named(&w, x, o->plan);
    weigh_sites(&w, p);
    spread_open(&w);
    const uint8_t *can = opened_closable(x, p, NULL, x->scratch);
    for (uint32_t s = 1; s < x->opened->nsite; s++)
        w.open[s] |= !can[s];
    weigh_functions(&w);
    uint8_t *shut = arena_alloc(x->scratch, x->opened->nsite);
    try_rank(&w, find_rank(&w), shut, &count);
    if (count == 0)
        return 0;
    uint32_t calls = x->opened->nsite - 1;
    opened_close(x, p, shut, &c);
    *x->m = c.m;
    x->opened = c.opened;
    diag_note(x->diag, "close-functions: %u calls that take little of the time stay whole; open are "
                       "%u of %u: %u nodes",
              count, c.opened != NULL ? c.opened->nsite - 1 : 0, calls, x->m->graph[1].count);
    return 0;
}

const struct pass pass_close_functions = {
    .name = "close-functions",
    .help = "calls that open-functions opened and that take little of the time are nodes again",
    .opts = close_opts,
    .optsize = sizeof(struct close_options),
    .needs = NEED_COST,
    .run = close_run,
};
