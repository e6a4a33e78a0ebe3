/* m-etf-place: each device takes, as it becomes free, what can start there soonest (earliest.h).
 *
 * Source: Baechi's m-ETF (SoCC 2020).  Ties go by Kahn's order.  What has no room anywhere goes where least is, where
 * the original gives up; whether the plan fits is then found by running it.  O(devices * (V log V + E)). */
#include "passes/list/baechi.h"
#include "passes/list/earliest.h"

#include "ir/dag/topo_order.h"

struct m_etf_options {
    bool best_effort;
};

static const struct opt m_etf_opts[] = {LIST_BEST_EFFORT(struct m_etf_options, best_effort), {0}};

static uint32_t *ranks(const struct wdag *g, struct arena *a)
{
    uint32_t *order = topo_order(g, TOPO_FIFO, 0, a);
    uint32_t *rank = arena_array(a, (size_t)g->n + 1, sizeof *rank);
    for (uint32_t i = 0; i < g->n; i++)
        rank[order[i]] = i;
    return rank;
}

void m_etf_try(struct ctx *x, struct room *r, struct listed *best)
{
    struct arena *own = arena_new(x->use.scratch);
    struct edges edge = edges_build(&x->scene, r->base, own);
    struct earliest how = {.edge = &edge, .rank = ranks(r->base, own)};
    uint32_t *order = arena_array(own, (size_t)r->base->n + 1, sizeof *order);
    room_empty(r);
    earliest_place(r, &how, order, own);
    const char *what =
        r->lacking ? arena_fmt(x->use.mem, "m-ETF, %u without room", r->lacking) : "m-ETF";
    struct listed plan = list_plan(x, r, order, what);
    list_try(x, best, &plan);
    arena_free(own);
}

static int m_etf_run(struct ctx *x, const void *options)
{
    const struct m_etf_options *o = options;
    struct listed best = {0};
    struct room r;
    int rc = room_build(&r, x, "m-etf-place", x->use.scratch);
    if (rc)
        return rc;
    m_etf_try(x, &r, &best);
    return list_leave(x, "m-etf-place", &best, o->best_effort);
}

const struct planner planner_m_etf_place = {
    .pass = {.name = "m-etf-place",
             .help = "list scheduling: what can start soonest on a free device (Baechi)",
             .opts = m_etf_opts,
             .optsize = sizeof(struct m_etf_options),
             .needs = NEED_COST | NEED_CONTRACT,
             .run = m_etf_run},
    .objectives = 1 << OBJECTIVE_MAKESPAN,
    .features = LIST_FEATURES};
