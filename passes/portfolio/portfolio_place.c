/* portfolio-place: what a user gets who asks for a small makespan and does not choose a planner.
 *
 * No placement is best everywhere: where transfers are dear one device wins, where they are cheap HEFT does, between
 * them it is a matter of the clusters' size (design of Celeritas, 7).  So all are tried and run: everything on one
 * device, plans that are made for the time per sample, HEFT, Baechi's, and Celeritas with several orders, ranges and
 * caps.  The best one is run once more in the orders in which devices come to their nodes if they take what is ready,
 * first come first or the longest way to the end first; what comes of that is an order again.
 *
 * Then the best plan is improved along its critical chain: nodes of one device that follow each other there move to
 * another one, with all that must be where they are, if the plan that results ends earlier.
 *
 * The list is fixed, and cut where runs of the graph have cost as much as WORK nodes; a time limit ends it earlier.  So
 * the plan does not depend on the machine unless there is a limit. */
#include "passes/list/baechi.h"
#include "passes/coarsen/fuse.h"
#include "passes/list/placements.h"

#include "ir/base/keyed.h"
#include "ir/base/units.h"
#include "passes/bounds/claim.h"

#include <string.h>

enum {
    WORK = 6000000,  /* nodes of all runs together, about 2 s */
    MOVES = WORK / 2 /* of them for improving */
};

struct portfolio {
    struct ctx *x;
    struct clock clock;
    int64_t left; /* of the work, in nodes */
    struct listed best;
    struct room room; /* for its groups: what must share a device */
    uint32_t tried;
};

static bool is_over(struct portfolio *p)
{
    return p->left <= 0 || clock_out(&p->clock);
}

/* Something that took so many runs was tried. */
static void count_runs(struct portfolio *p, uint32_t runs)
{
    p->left -= (int64_t)runs * p->x->levels.base->n;
    p->tried += runs;
}

/* ---- candidates --------------------------------------------------------------------------------- */

static void try_one_device(struct portfolio *p)
{
    struct ctx *x = p->x;
    const struct wdag *g = x->levels.base;
    uint32_t first = 0, *order = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *order);
    for (uint32_t v = 0; v < g->n; v++)
        order[v] = v;
    for (uint32_t k = 0; k < x->scene.cluster->ncls; first += x->scene.cluster->cls[k++].count) {
        room_empty(&p->room);
        if (!x->scene.cluster->cls[k].count || room_need(&p->room, order, g->n, first) == INT64_MAX)
            continue;
        room_put(&p->room, order, g->n, first);
        struct listed plan = list_plan(x, &p->room, order, "everything on one device");
        list_try(x, &p->best, &plan);
        count_runs(p, 1);
    }
}

/* Whether a planner for the time per sample knows what is wanted here and changes what it does. */
static bool knows(const struct ctx *x, const struct planner *planner)
{
    const struct exec_model *m = &x->scene.model;
    uint32_t wanted = cluster_grouped(x->scene.cluster) ? FEATURE_GROUPS : 0U;
    wanted |= m->part_cost > 0 ? FEATURE_PART_COST : 0U;
    for (uint32_t v = 0; v < x->levels.base->n; v++)
        wanted |= x->levels.base->pin[v] >= 0 ? FEATURE_PINS : 0U;
    return !(wanted & ~planner->features);
}

/* The plan of a planner for the time per sample. */
static void try_planner(struct portfolio *p, const char *name)
{
    const struct pass *pass = pass_find(name);
    if (!knows(p->x, planner_of(pass)))
        return;
    struct diag quiet = diag_silent();
    struct ctx y = *p->x;
    y.use.diag = &quiet;
    y.results.plan = NULL;
    y.scene.model.objective = OBJECTIVE_SAMPLE;
    void *opts = arena_alloc(p->x->use.mem, (size_t)pass->optsize + 1);
    opts_reset(pass->opts, opts);
    if (pass->run(&y, opts) || !y.results.plan)
        return;
    uint32_t n = p->x->scene.m->nnode;
    struct listed plan = {.dev = y.results.plan->dev,
                          .rank = arena_array(p->x->use.mem, n, sizeof *plan.rank),
                          .what = arena_fmt(p->x->use.mem, "the plan of %s", name)};
    for (nid k = 0; k < n; k++)
        plan.rank[k] = k;
    list_try(p->x, &p->best, &plan);
    count_runs(p, 1);
}

static int try_lists(struct portfolio *p)
{
    static const int64_t range[] = {200, 50, 100, 25, 10}, part[] = {8, 1, 32, 2};
    int64_t least = cluster_least_memory(p->x->scene.cluster);
    static void (*const baechi[])(struct ctx *, struct room *,
                                  struct listed *) = {m_etf_try, m_sct_try, m_topo_try};
    int rc = heft_try(p->x, "portfolio-place", PORTS_AUTO, &p->clock, &p->best);
    count_runs(p, 2);
    for (size_t i = 0; i < sizeof baechi / sizeof *baechi && !rc && !is_over(p); i++) {
        baechi[i](p->x, &p->room, &p->best);
        count_runs(p, 1);
    }
    for (uint32_t m = 0; m < (least < 0 ? 1 : 4); m++)
        for (uint32_t r = 0; r < 5; r++)
            for (int64_t order = FUSE_CPD; order <= FUSE_FIFO && !rc; order++) {
                struct cluster_choice how = {
                    .range = range[r], .mem = least < 0 ? 0 : least / part[m] + 1, .order = order};
                if (is_over(p))
                    return 0;
                rc = celeritas_try(p->x, "portfolio-place", &how, &p->clock, &p->best);
                count_runs(p, 3);
            }
    return rc;
}

/* ---- orders ------------------------------------------------------------------------------------- */

/* The devices of the best plan, its nodes in the order in which they start if devices take what is ready. */
static void try_dispatch(struct portfolio *p, enum dispatch dispatch)
{
    struct ctx *x = p->x;
    struct arena *own = arena_new(x->use.scratch);
    struct scene s = x->scene;
    s.model.step.dispatch = dispatch;
    const struct plan plan = {.dev = p->best.dev, .rank = p->best.rank};
    struct task_graph g = single_step(&s, &plan, NULL, own);
    struct timeline t = events_run(&g, NULL, own);
    struct listed next = {.dev = p->best.dev, .what = p->best.what};
    struct keyed *at = arena_array(own, (size_t)g.ntask + 1, sizeof *at);
    uint32_t n = 0;
    next.rank = arena_array(x->use.mem, x->scene.m->nnode, sizeof *next.rank);
    for (uint32_t k = 0; k < g.ntask && g.task[k].kind == STEP_COMPUTE; k++)
        at[n++] = (struct keyed){t.start[k], g.task[k].number};
    keyed_sort(at, n);
    for (uint32_t i = 0; i < n; i++)
        next.rank[at[i].item] = i;
    arena_free(own);
    list_try(x, &p->best, &next);
    count_runs(p, 2);
}

/* ---- improving ---------------------------------------------------------------------------------- */

/* Nodes of one device that follow each other on the critical chain. */
struct stretch {
    uint32_t from, to; /* places on the chain, to excluded */
    int32_t dev;
};

struct chain {
    nid *node; /* the nodes of the critical chain in order */
    uint32_t n;
};

static struct chain find_chain(const struct portfolio *p, struct arena *a)
{
    const struct plan plan = {.dev = p->best.dev, .rank = p->best.rank};
    struct task_graph g = single_step(&p->x->scene, &plan, NULL, a);
    struct timeline t = events_run(&g, NULL, a);
    struct chain c = {0};
    uint32_t n;
    const uint32_t *item = timeline_chain(&t, &n, a);
    c.node = arena_array(a, (size_t)n + 1, sizeof *c.node);
    for (uint32_t i = 0; i < n; i++)
        if (g.task[task_of_item(&g, item[i])].kind == STEP_COMPUTE)
            c.node[c.n++] = g.task[task_of_item(&g, item[i])].number;
    return c;
}

/* Whether the group of a node can be on device d. */
static bool can_move(const struct portfolio *p, uint32_t k, uint32_t d)
{
    const struct wdag *g = p->x->levels.base;
    uint32_t cls = cluster_class(p->x->scene.cluster, d);
    for (uint32_t i = p->room.member.at[k]; i < p->room.member.at[k + 1]; i++) {
        uint32_t v = p->room.member.to[i];
        if (g->time[cls][v] == COST_NEVER || (g->pin[v] >= 0 && (uint32_t)g->pin[v] != d))
            return false;
    }
    return true;
}

/* Moves what can of the stretch to device d; whether the plan got better. */
static bool try_move(struct portfolio *p, const struct chain *c, const struct stretch *s,
                     uint32_t d)
{
    const struct wdag *g = p->x->levels.base;
    struct arena_mark mark = arena_mark(p->x->use.mem);
    struct listed next = p->best;
    size_t bytes = p->x->scene.m->nnode * sizeof *next.dev;
    next.dev = arena_array(p->x->use.mem, p->x->scene.m->nnode, sizeof *next.dev);
    memcpy(next.dev, p->best.dev, bytes);
    for (uint32_t i = s->from; i < s->to; i++) {
        uint32_t k = p->room.group[g->vertex[c->node[i]]];
        const struct csr *member = &p->room.member;
        bool moved = next.dev[c->node[i]] == (int32_t)d; /* with another one of its group */
        if (moved || !can_move(p, k, d))
            continue;
        for (uint32_t j = member->at[k]; j < member->at[k + 1]; j++)
            next.dev[g->node[member->to[j]]] = (int32_t)d;
    }
    list_try(p->x, &p->best, &next);
    count_runs(p, 1);
    if (p->best.dev == next.dev)
        return true;
    arena_release(p->x->use.mem, mark);
    return false;
}

/* One walk along the chain; whether the plan got better. */
static bool improve_once(struct portfolio *p)
{
    struct arena *own = arena_new(p->x->use.scratch);
    struct chain c = find_chain(p, own);
    bool better = false;
    count_runs(p, 1);
    for (uint32_t at = 0; at < c.n && !better && !is_over(p);) {
        struct stretch s = {at, at + 1, p->best.dev[c.node[at]]};
        while (s.to < c.n && p->best.dev[c.node[s.to]] == s.dev)
            s.to++;
        for (uint32_t d = 0; d < p->x->scene.cluster->ndev && !better && !is_over(p); d++)
            if ((int32_t)d != s.dev)
                better = try_move(p, &c, &s, d) ||
                         (s.to - s.from > 1 &&
                          (try_move(p, &c, &(struct stretch){s.from, s.from + 1, s.dev}, d) ||
                           try_move(p, &c, &(struct stretch){s.to - 1, s.to, s.dev}, d)));
        at = s.to;
    }
    arena_free(own);
    return better;
}

static void improve(struct portfolio *p)
{
    p->left += MOVES;
    while (!is_over(p) && improve_once(p))
        ;
}

/* ---- the planner -------------------------------------------------------------------------------- */

struct portfolio_options {
    bool best_effort;
};

static const struct opt portfolio_opts[] = {LIST_BEST_EFFORT(struct portfolio_options, best_effort),
                                            {0}};

static int portfolio_run(struct ctx *x, const void *options)
{
    static const char *const planners[] = {"dp-place", "greedy-place", "scotch-place",
                                           "metis-place"};
    const struct portfolio_options *o = options;
    struct portfolio p = {.x = x, .clock = ctx_clock(x), .left = WORK - MOVES};
    int rc = room_build(&p.room, x, "portfolio-place", x->use.scratch);
    p.room.clock = &p.clock;
    if (rc)
        return rc;
    try_one_device(&p);
    for (size_t i = 0; i < sizeof planners / sizeof *planners && !is_over(&p); i++)
        try_planner(&p, planners[i]);
    if ((rc = try_lists(&p)))
        return rc;
    for (enum dispatch d = DISPATCH_FIFO; d < DISPATCHES && !clock_out(&p.clock); d++)
        try_dispatch(&p, d);
    int64_t before = p.best.value;
    improve(&p);
    char text[UNIT_TEXT];
    p.best.what =
        arena_fmt(x->use.mem, "%s%s; best of %u plans", p.best.what,
                  p.best.value < before
                      ? arena_fmt(x->use.mem, ", then moved along its critical chain from %s",
                                  time_short(text, before))
                      : "",
                  p.tried);
    return list_leave(x, "portfolio-place", &p.best, o->best_effort);
}

const struct planner planner_portfolio_place = {
    .pass = {.name = "portfolio-place",
             .help = "the best of many list schedules, improved: the default for a makespan",
             .opts = portfolio_opts,
             .optsize = sizeof(struct portfolio_options),
             .needs = NEED_COST | NEED_CONTRACT,
             .run = portfolio_run},
    .objectives = 1 << OBJECTIVE_MAKESPAN,
    .features = LIST_FEATURES};
