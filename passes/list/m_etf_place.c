/* m-etf-place, m-sct-place: each device that becomes free gets a vertex that can start there first (earliest.h).
 *
 * Source: Baechi (SoCC 2020).  m-SCT, after Hanen and Munier, also uses favourite children (favourites.h): a device
 * waits for the favourite child of the vertex that it ran last, unless another vertex is urgent.  Of several vertices
 * that can start at the same time, the first one in Kahn's order is taken.  If no device has enough memory for a
 * vertex, the device with the fewest bytes in use gets it (the original gives up); whether the plan fits is found when
 * it is run.  Cost: that of earliest.h, for m-SCT also that of favourites.h. */
#include "passes/list/baechi.h"
#include "passes/list/earliest.h"
#include "passes/list/favourites.h"
#include "passes/list/fused.h"

#include "ir/base/units.h"
#include "ir/dag/topo_order.h"
#include "passes/integer/mip.h"

enum { BY_CLUSTERS, BY_LP };
enum { LP_SECONDS = 60 }; /* time limit of the linear program if the user sets none */

/* The values of the options in etf_opts and sct_opts. */
struct earliest_options {
    int64_t favourites; /* one of BY_*; only m-sct-place has the option */
    bool best_effort;   /* leaves a plan that lacks memory, too */
    bool fuse;          /* fuses neighbouring nodes first (fused.h) */
};

static const char *const favourite_names[] = {"clusters", "lp", NULL};

static const struct opt etf_opts[] = {LIST_BEST_EFFORT(struct earliest_options, best_effort),
                                      LIST_FUSE(struct earliest_options, fuse),
                                      {0}};
static const struct opt sct_opts[] = {
    {OPT_CHOICE, "favourites", offsetof(struct earliest_options, favourites), "clusters",
     .names = favourite_names,
     .help = "favourite children by linear clustering, or (the paper) a linear program, for up to "
             "2000 edges"},
    LIST_BEST_EFFORT(struct earliest_options, best_effort),
    LIST_FUSE(struct earliest_options, fuse),
    {0}};

/* Returns an array: [vertex] its position in Kahn's (breadth-first) topological order. */
static uint32_t *ranks(const struct wdag *g, struct arena *a)
{
    uint32_t *order = topo_order(g, TOPO_FIFO, 0, a);
    uint32_t *rank = arena_array(a, (size_t)g->n + 1, sizeof *rank);
    for (uint32_t i = 0; i < g->n; i++)
        rank[order[i]] = i;
    return rank;
}

/* Times by which favourites are chosen, in ps: of computing, [vertex]; of transfers, [edge] (list.h). */
struct weights {
    int64_t *time, *cost;
};

/* Returns the times by which favourites are chosen.  The time of a vertex is that on the main class, or on the first
 * class that can run it if the main class cannot; transfers take links of the main class. */
static struct weights weights_of(const struct edges *e, struct arena *a)
{
    const struct wdag *g = e->g;
    uint32_t cls = cluster_main_class(e->scene->cluster), edges = g->pred.at[g->n];
    struct weights w = {arena_array(a, (size_t)g->n + 1, sizeof *w.time),
                        arena_array(a, (size_t)edges + 1, sizeof *w.cost)};
    for (uint32_t v = 0; v < g->n; v++) {
        w.time[v] = g->time[cls][v];
        for (uint32_t k = 0; k < g->ncls && w.time[v] == COST_NEVER; k++)
            w.time[v] = g->time[k][v];
    }
    /* over the host a value takes two transfers: to the host and from there */
    bool twice = e->scene->model.step.network == NETWORK_HOST;
    for (uint32_t k = 0; k < edges; k++)
        w.cost[k] = sat_add(e->link[cls][k], twice ? e->link[cls][k] : 0);
    return w;
}

/* Returns favourites by the linear program (favourites_by_lp); NULL after an error: there are too many edges, or the
 * solver has no answer. */
static uint32_t *solve_favourites(struct ctx *x, const struct edges *e, struct arena *a)
{
    const struct wdag *g = e->g;
    struct weights w = weights_of(e, a);
    struct clock clock = ctx_clock(x);
    double bound;
    if (g->pred.at[g->n] > FAVOURITES_LP_EDGES) {
        diag_error(x->use.diag, "m-sct-place: favourites=lp takes up to %d edges, not %u",
                   FAVOURITES_LP_EDGES, g->pred.at[g->n]);
        return NULL;
    }
    if (!clock.deadline)
        clock_limit(&clock, LP_SECONDS * (PS_PER_S / 1000)); /* ns */
    uint32_t *f = favourites_by_lp(g, w.time, w.cost, &clock, a, &bound);
    if (!f)
        diag_error(x->use.diag,
                   "m-sct-place: favourites=lp: lp_solve (%s) has no answer; favourites=clusters "
                   "needs none",
                   mip_version(&mip_lpsolve, a));
    return f;
}

/* Places all vertices by m-SCT, or without favourites (NULL) by m-ETF, and keeps the plan in *best if it is better. */
static void try_earliest(struct ctx *x, struct placement *r, struct list_schedule *best,
                         const struct edges *edge, const uint32_t *favourite)
{
    struct arena *own = arena_new(x->use.scratch);
    struct earliest request = {.edge = edge, .rank = ranks(r->base, own), .favourite = favourite};
    uint32_t *order = arena_array(own, (size_t)r->base->n + 1, sizeof *order);
    placement_empty(r);
    earliest_place(r, &request, order, own);
    list_offer(x, best, r, order, list_said(x, r, favourite ? "m-SCT" : "m-ETF"));
    arena_free(own);
}

void m_etf_try(struct ctx *x, struct placement *r, struct list_schedule *best)
{
    struct arena *own = arena_new(x->use.scratch);
    struct edges edge = edges_build(&x->scene, r->base, own);
    try_earliest(x, r, best, &edge, NULL);
    arena_free(own);
}

void m_sct_try(struct ctx *x, struct placement *r, struct list_schedule *best)
{
    struct arena *own = arena_new(x->use.scratch);
    struct edges edge = edges_build(&x->scene, r->base, own);
    struct weights w = weights_of(&edge, own);
    uint32_t *f = favourites_find(r->base, w.time, w.cost, PEEL_STEPS, own);
    try_earliest(x, r, best, &edge, f);
    arena_free(own);
}

/* pass.run of m-etf-place: leaves the plan of m-ETF.  Returns 0, or -1 or PASS_INFEASIBLE after an error. */
static int m_etf_run(struct ctx *x, const void *options)
{
    const struct earliest_options *o = options;
    struct list_schedule best = {0};
    struct placement r;
    int rc = placement_start(&r, x, "m-etf-place", o->fuse);
    if (rc)
        return rc;
    struct clock clock = ctx_clock(x);
    r.clock = &clock;
    m_etf_try(x, &r, &best);
    return list_leave(x, "m-etf-place", &best, o->best_effort);
}

/* pass.run of m-sct-place: leaves the plan of m-SCT.  Returns 0, or -1 or PASS_INFEASIBLE after an error. */
static int m_sct_run(struct ctx *x, const void *options)
{
    const struct earliest_options *o = options;
    struct list_schedule best = {0};
    struct placement r;
    int rc = placement_start(&r, x, "m-sct-place", o->fuse);
    if (rc)
        return rc;
    struct clock clock = ctx_clock(x);
    r.clock = &clock;
    if (o->favourites == BY_LP) {
        struct edges edge = edges_build(&x->scene, r.base, x->use.scratch);
        uint32_t *f = solve_favourites(x, &edge, x->use.scratch);
        if (!f)
            return -1;
        try_earliest(x, &r, &best, &edge, f);
    } else {
        m_sct_try(x, &r, &best);
    }
    return list_leave(x, "m-sct-place", &best, o->best_effort);
}

const struct planner planner_m_etf_place = {
    .pass = {"m-etf-place", "list scheduling: what can start soonest on a free device (Baechi)",
             etf_opts, sizeof(struct earliest_options),
             .needs = NEED_COST | NEED_CONTRACT | NEED_MIRROR, .run = m_etf_run},
    .objectives = {"makespan"},
    .features = LIST_FEATURES};

const struct planner planner_m_sct_place = {
    .pass = {"m-sct-place",
             "the same, devices waiting for favourite children of what they ran (Baechi)", sct_opts,
             sizeof(struct earliest_options), .needs = NEED_COST | NEED_CONTRACT | NEED_MIRROR,
             .run = m_sct_run},
    .objectives = {"makespan"},
    .features = LIST_FEATURES};
