/* m-etf-place, m-sct-place: each device takes, as it becomes free, what can start there soonest (earliest.h).
 *
 * Source: Baechi (SoCC 2020).  m-SCT, after Hanen and Munier, has favourite children beside (favourites.h): a device
 * waits for the favourite of what it ran last, unless something is urgent.  Ties go by Kahn's order.  What has no room
 * anywhere goes where least is, where the original gives up; whether the plan fits is then found by running it.
 * O(devices * (V log V + E)), favourites beside. */
#include "passes/list/baechi.h"
#include "passes/list/earliest.h"
#include "passes/list/favourites.h"

#include "ir/base/units.h"
#include "ir/dag/topo_order.h"

struct earliest_options {
    bool best_effort;
};

static const struct opt earliest_opts[] = {LIST_BEST_EFFORT(struct earliest_options, best_effort),
                                           {0}};

static uint32_t *ranks(const struct wdag *g, struct arena *a)
{
    uint32_t *order = topo_order(g, TOPO_FIFO, 0, a);
    uint32_t *rank = arena_array(a, (size_t)g->n + 1, sizeof *rank);
    for (uint32_t i = 0; i < g->n; i++)
        rank[order[i]] = i;
    return rank;
}

/* The first class that is no CPU's: favourites go by its times and links. */
static uint32_t leading_class(const struct cluster *c)
{
    for (uint32_t k = 0; k < c->ncls; k++)
        if (!c->cls[k].host)
            return k;
    return 0;
}

static uint32_t *favourites(const struct edges *e, struct arena *a)
{
    const struct wdag *g = e->g;
    uint32_t cls = leading_class(e->scene->cluster), most = g->pred.at[g->n];
    int64_t *time = arena_array(a, (size_t)g->n + 1, sizeof *time);
    int64_t *cost = arena_array(a, (size_t)most + 1, sizeof *cost);
    for (uint32_t v = 0; v < g->n; v++) {
        time[v] = g->time[cls][v];
        for (uint32_t k = 0; k < g->ncls && time[v] == COST_NEVER; k++)
            time[v] = g->time[k][v];
    }
    bool twice = e->scene->model.step.network == NETWORK_HOST; /* to the host and from there */
    for (uint32_t k = 0; k < most; k++)
        cost[k] = sat_add(e->link[cls][k], twice ? e->link[cls][k] : 0);
    return favourites_find(g, time, cost, a);
}

static void try_earliest(struct ctx *x, struct room *r, struct listed *best, bool sct)
{
    struct arena *own = arena_new(x->use.scratch);
    struct edges edge = edges_build(&x->scene, r->base, own);
    struct earliest how = {.edge = &edge, .rank = ranks(r->base, own)};
    uint32_t *order = arena_array(own, (size_t)r->base->n + 1, sizeof *order);
    const char *what = sct ? "m-SCT" : "m-ETF";
    if (sct)
        how.favourite = favourites(&edge, own);
    room_empty(r);
    earliest_place(r, &how, order, own);
    if (r->lacking)
        what = arena_fmt(x->use.mem, "%s, %u without room", what, r->lacking);
    struct listed plan = list_plan(x, r, order, what);
    list_try(x, best, &plan);
    arena_free(own);
}

void m_etf_try(struct ctx *x, struct room *r, struct listed *best)
{
    try_earliest(x, r, best, false);
}

void m_sct_try(struct ctx *x, struct room *r, struct listed *best)
{
    try_earliest(x, r, best, true);
}

static int run(struct ctx *x, const char *planner, const struct earliest_options *o, bool sct)
{
    struct listed best = {0};
    struct room r;
    int rc = room_build(&r, x, planner, x->use.scratch);
    if (rc)
        return rc;
    try_earliest(x, &r, &best, sct);
    return list_leave(x, planner, &best, o->best_effort);
}

static int m_etf_run(struct ctx *x, const void *options)
{
    return run(x, "m-etf-place", options, false);
}

static int m_sct_run(struct ctx *x, const void *options)
{
    return run(x, "m-sct-place", options, true);
}

const struct planner planner_m_etf_place = {
    .pass = {.name = "m-etf-place",
             .help = "list scheduling: what can start soonest on a free device (Baechi)",
             .opts = earliest_opts,
             .optsize = sizeof(struct earliest_options),
             .needs = NEED_COST | NEED_CONTRACT,
             .run = m_etf_run},
    .objectives = 1 << OBJECTIVE_MAKESPAN,
    .features = LIST_FEATURES};

const struct planner planner_m_sct_place = {
    .pass = {.name = "m-sct-place",
             .help = "the same, devices waiting for favourite children of what they ran (Baechi)",
             .opts = earliest_opts,
             .optsize = sizeof(struct earliest_options),
             .needs = NEED_COST | NEED_CONTRACT,
             .run = m_sct_run},
    .objectives = 1 << OBJECTIVE_MAKESPAN,
    .features = LIST_FEATURES};
