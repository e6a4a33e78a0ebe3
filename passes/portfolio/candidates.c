/* Makes plans for the makespan of one sample by all methods of pcc (candidates.h).
 *
 * No method is best for all models: if transfers are slow, one device is best; if they are fast, HEFT is; between the
 * two, the size of clusters matters (design of Celeritas, 7).  So all are tried and their plans run: everything on one
 * device, Celeritas' clusters with several orders, ranges and caps, HEFT, Baechi's planners, plans for the time per
 * sample, and partitions.  Methods that are fast and seldom far from the best come first.
 *
 * The list of methods is fixed; it ends early when the work for runs is used up.  The memory of each candidate is freed
 * when the candidate ends. */
#include "passes/portfolio/candidates.h"

#include "ir/base/units.h"
#include "passes/baselines/baseline.h"
#include "passes/coarsen/fuse.h"
#include "passes/contiguous/dp_place.h"
#include "passes/list/baechi.h"
#include "passes/list/placements.h"

#include <string.h>

enum {
    STATES = 20000,  /* the most states of dp-place: few, since it plans for another objective */
    LIMIT_SHARE = 4, /* a planner for the time per sample gets a quarter of the time that is left */
    /* number of ranges (struct fuse_limits) that Celeritas' clusters are tried with */
    RANGES = 5,
    CAPS = 4, /* number of limits of a cluster's memory that are tried */
    PS_PER_NS = 1000
};

/* ---- one candidate ------------------------------------------------------------------------------ */

/* Returns a context for a candidate, with memory of its own, which end_candidate() frees. */
static struct ctx begin_candidate(const struct candidates *c)
{
    struct ctx x = c->in_light ? c->light.x : *c->x;
    x.use.mem = arena_new(c->x->use.scratch);
    x.use.scratch = arena_new(x.use.mem);
    return x;
}

/* Returns whether plan p is better than plan `than`: lacks less memory, or lacks as much and is faster. */
static bool is_better(const struct list_schedule *p, const struct list_schedule *than)
{
    return p->lacks < than->lacks || (p->lacks == than->lacks && p->value < than->value);
}

void candidate_copy(const struct ctx *x, struct list_schedule *to, const struct list_schedule *from)
{
    size_t n = x->scene.m->nnode;
    if (!to->dev) {
        to->dev = arena_array(x->use.mem, n, sizeof *to->dev);
        to->rank = arena_array(x->use.mem, n, sizeof *to->rank);
    }
    memcpy(to->dev, from->dev, n * sizeof *to->dev);
    memcpy(to->rank, from->rank, n * sizeof *to->rank);
    to->value = from->value;
    to->lacks = from->lacks;
    to->what = arena_strdup(x->use.mem, from->what, strlen(from->what));
}

/* Inserts a plan into c->kept if it is one of the best, and no plan in c->kept has the same value and lacks as much
 * memory. */
static void keep_plan(struct candidates *c, const struct list_schedule *p)
{
    uint32_t at = c->n;
    while (at > 0 && is_better(p, &c->kept[at - 1]))
        at--;
    bool known = at > 0 && c->kept[at - 1].value == p->value && c->kept[at - 1].lacks == p->lacks;
    if (known || at == CANDIDATES_KEPT)
        return;
    c->n += c->n < CANDIDATES_KEPT;
    /* the last plan drops out: candidate_copy() uses its arrays again */
    struct list_schedule last = c->kept[c->n - 1];
    memmove(&c->kept[at + 1], &c->kept[at], (c->n - 1 - at) * sizeof *c->kept);
    candidate_copy(c->x, &last, p);
    c->kept[at] = last;
}

/* Ends a candidate that has run `plans` plans, of which *p is the best (p->dev NULL: there is none): records *p,
 * keeps *p if it is one of the best, and frees the candidate's memory. */
static void end_candidate(struct candidates *c, struct ctx *x, enum candidate_kind kind,
                          uint32_t plans, struct list_schedule *p)
{
    struct candidate_record *r = &c->reached[kind];
    /* runs the plan with the real memories and bytes, which sets its value and lacks anew */
    if (p->dev && c->in_light)
        list_try(c->x, &(struct list_schedule){0}, p);
    c->work -= (int64_t)plans * c->x->levels.base->n;
    if (p->dev) {
        struct list_schedule before = {.value = r->value, .lacks = r->lacks};
        if (!r->plans || is_better(p, &before)) {
            r->value = p->value;
            r->lacks = p->lacks;
        }
        r->plans += plans;
        keep_plan(c, p);
        if (kind == CANDIDATE_ONE)
            candidate_copy(c->x, &c->alone[c->nalone++], p);
    }
    arena_free(x->use.mem);
}

/* Returns the placement for the present method. */
static struct placement *placement_of(struct candidates *c)
{
    return c->in_light ? &c->light.placement : c->placement;
}

/* Returns whether work or time is used up; always false as long as there is no plan. */
static bool is_over(struct candidates *c)
{
    return c->n > 0 && (c->work <= 0 || clock_out(c->clock));
}

/* ---- methods ------------------------------------------------------------------------------------ */

/* Tries, for each class, the plan with everything on the first device of the class. */
static void try_one_device(struct candidates *c)
{
    const struct wdag *g = c->x->levels.base;
    uint32_t first = 0;
    for (uint32_t k = 0; k < c->x->scene.cluster->ncls; k++) {
        struct ctx x = begin_candidate(c);
        struct list_schedule best = {0};
        uint32_t *order = arena_array(x.use.scratch, (size_t)g->n + 1, sizeof *order);
        for (uint32_t v = 0; v < g->n; v++)
            order[v] = v;
        placement_empty(c->placement);
        if (x.scene.cluster->cls[k].count &&
            placement_need(c->placement, order, g->n, first) < INT64_MAX) {
            placement_put(c->placement, order, g->n, first);
            list_offer(&x, &best, c->placement, order, "everything on one device");
        }
        end_candidate(c, &x, CANDIDATE_ONE, 1, &best);
        first += c->x->scene.cluster->cls[k].count;
    }
}

/* Tries Celeritas' clusters by all orders; i: number of the combination of range and memory cap, below RANGES * CAPS.
 * Returns 0, or what celeritas_try() returns after an error. */
static int try_clusters(struct candidates *c, uint32_t i)
{
    static const int64_t range[RANGES] = {200, 50, 100, 25, 10}, part[CAPS] = {8, 1, 32, 2};
    int64_t least = cluster_least_memory(c->x->scene.cluster);
    int rc = 0;
    for (int64_t order = FUSE_CPD; order <= FUSE_FIFO && !rc && !is_over(c); order++) {
        struct cluster_choice size = {.range = range[i % RANGES], .order = order};
        /* + 1, since 0 would mean the usual limit */
        size.mem = least < 0 ? 0 : sat_add(least / part[i / RANGES], 1);
        struct ctx x = begin_candidate(c);
        struct list_schedule best = {0};
        rc = celeritas_try(&x, c->planner, &size, c->clock, &best);
        end_candidate(c, &x, CANDIDATE_CLUSTERS, 3, &best); /* Order-Place, and Adjusting twice */
    }
    return rc;
}

/* Tries HEFT.  i: not used.  Returns 0, or what heft_try() returns after an error. */
static int try_heft(struct candidates *c, uint32_t i)
{
    (void)i;
    struct ctx x = begin_candidate(c);
    struct list_schedule best = {0};
    int rc = heft_try(&x, c->planner, PORTS_AUTO, c->clock, &best);
    end_candidate(c, &x, CANDIDATE_HEFT, 2, &best); /* with and without ports */
    return rc;
}

/* Tries one of Baechi's planners: m_topo_try, m_etf_try or m_sct_try. */
static void try_baechi(struct candidates *c, enum candidate_kind kind,
                       void (*place)(struct ctx *, struct placement *, struct list_schedule *))
{
    struct ctx x = begin_candidate(c);
    struct list_schedule best = {0};
    place(&x, placement_of(c), &best);
    end_candidate(c, &x, kind, 1, &best);
}

/* Returns whether a planner for the time per sample supports the features that the cluster and the settings need. */
static bool supports(const struct ctx *x, const struct planner *planner)
{
    const struct exec_model *m = &x->scene.model;
    uint32_t wanted = cluster_grouped(x->scene.cluster) ? FEATURE_GROUPS : 0U;
    wanted |= m->part_cost > 0 ? FEATURE_PART_COST : 0U;
    for (uint32_t v = 0; v < x->levels.base->n; v++)
        wanted |= x->levels.base->pin[v] >= 0 ? FEATURE_PINS : 0U;
    return !(wanted & ~planner->features);
}

/* Tries the plan that a planner makes for the time per sample, with nodes in the order of their numbers. */
static void try_planner(struct candidates *c, enum candidate_kind kind,
                        const struct planner *planner)
{
    const struct pass *pass = &planner->pass;
    struct diag quiet = diag_silent();
    struct settings fewer = *ctx_settings(c->x);
    struct list_schedule best = {0};
    if (is_over(c) || !supports(c->x, planner))
        return;
    if (!fewer.max_states || fewer.max_states > STATES)
        fewer.max_states = STATES;
    if (c->clock->deadline)
        fewer.time_limit =
            clock_left(c->clock) / LIMIT_SHARE * PS_PER_NS + 1; /* + 1, since 0 means no limit */
    /* y: the context in which the planner runs, with other settings than x */
    struct ctx x = begin_candidate(c), y = x;
    y.use.diag = &quiet;
    y.settings = &fewer;
    y.results.plan = NULL;
    y.scene.model.objective = TIME_PER_SAMPLE;
    void *opts = arena_alloc(y.use.mem, (size_t)pass->optsize + 1);
    opts_reset(pass->opts, opts);
    if (!pass->run(&y, opts) && y.results.plan) {
        size_t n = x.scene.m->nnode;
        struct list_schedule plan = {.dev = y.results.plan->dev,
                                     .rank = arena_array(x.use.mem, n, sizeof *plan.rank),
                                     .what = arena_fmt(x.use.mem, "the plan of %s", pass->name)};
        for (nid k = 0; k < n; k++)
            plan.rank[k] = k;
        list_try(&x, &best, &plan);
    }
    end_candidate(c, &x, kind, 1, &best);
}

/* Sets c->light, except where it makes no difference: where memory does not count by live bytes or is not limited,
 * or one device can hold everything.  Returns 0; or -1 or PASS_INFEASIBLE and reports an error. */
static int add_light(struct candidates *c)
{
    const struct candidate_record *one = &c->reached[CANDIDATE_ONE];
    const struct ctx *x = c->x;
    if (exec_memory(&x->scene.model) != MEMORY_LIVE || x->scene.m->ir_version == 0 ||
        cluster_least_memory(x->scene.cluster) < 0 || (one->plans && !one->lacks))
        return 0;
    int64_t least = cluster_least_memory(x->scene.cluster), weights = 0;
    for (uint32_t i = 0; i < x->levels.base->nshared; i++)
        weights = sat_add(weights, x->levels.base->shared_size[i]);
    /* bytes of results at one time, if everything is on one device; a guess if that plan could not be run */
    int64_t running = one->plans ? sat_add(one->lacks, least) - weights : least / 4;
    c->has_light = true;
    return light_make(&c->light, x, c->planner, larger(running, 0), x->use.scratch);
}

/* Calls method(c, i), first with c->in_light if there is c->light, since more plans fit then, and then without, as long
 * as work and time are left.  Returns 0, or the method's error. */
static int try_both(struct candidates *c, int (*method)(struct candidates *, uint32_t), uint32_t i)
{
    int rc = 0;
    for (int light = c->has_light; light >= 0 && !rc && !is_over(c); light--) {
        c->in_light = light;
        rc = method(c, i);
    }
    c->in_light = false;
    return rc;
}

/* Tries the planners for the time per sample.  i: not used.  Returns 0. */
static int try_planners(struct candidates *c, uint32_t i)
{
    (void)i;
    try_planner(c, CANDIDATE_METIS, &planner_metis_place);
    try_planner(c, CANDIDATE_GREEDY, &planner_greedy_place);
    try_planner(c, CANDIDATE_DP, &planner_dp_place);
    try_planner(c, CANDIDATE_SCOTCH, &planner_scotch_place);
    return 0;
}

/* Tries Baechi's planners.  i: not used.  Returns 0. */
static int try_all_baechi(struct candidates *c, uint32_t i)
{
    (void)i;
    if (!is_over(c))
        try_baechi(c, CANDIDATE_ETF, m_etf_try);
    if (!is_over(c))
        try_baechi(c, CANDIDATE_SCT, m_sct_try);
    if (!is_over(c))
        try_baechi(c, CANDIDATE_TOPO, m_topo_try);
    return 0;
}

int candidates_make(struct candidates *c)
{
    static int (*const method[])(struct candidates *, uint32_t) = {try_clusters, try_heft,
                                                                   try_planners, try_all_baechi};
    try_one_device(c);
    int rc = add_light(c);
    for (size_t k = 0; k < sizeof method / sizeof *method && !rc; k++)
        rc = try_both(c, method[k], 0);
    /* then the other combinations of range and memory cap */
    uint32_t caps = cluster_least_memory(c->x->scene.cluster) < 0 ? 1 : CAPS;
    for (uint32_t i = 1; i < caps * RANGES && !rc && !is_over(c); i++)
        rc = try_both(c, try_clusters, i);
    return rc;
}

/* ---- the table ---------------------------------------------------------------------------------- */

/* Returns the name of a kind, for the table. */
static const char *kind_name(enum candidate_kind kind)
{
    switch (kind) {
    case CANDIDATE_ONE:
        return "one device";
    case CANDIDATE_CLUSTERS:
        return "celeritas-place";
    case CANDIDATE_HEFT:
        return "heft-place";
    case CANDIDATE_TOPO:
        return "m-topo-place";
    case CANDIDATE_ETF:
        return "m-etf-place";
    case CANDIDATE_SCT:
        return "m-sct-place";
    case CANDIDATE_DP:
        return "dp-place";
    case CANDIDATE_GREEDY:
        return "greedy-place";
    case CANDIDATE_METIS:
        return "metis-place";
    case CANDIDATE_SCOTCH:
        return "scotch-place";
    case CANDIDATES:
        break;
    }
    return "?";
}

/* Returns a text such as "29.1 ms, 2 MiB over a device's memory", right-aligned; value: ps; lacks: bytes. */
static const char *value_text(int64_t value, int64_t lacks, struct arena *a)
{
    char time[UNIT_TEXT], bytes[UNIT_TEXT];
    if (!lacks)
        return arena_fmt(a, "%12s", time_short(time, value));
    return arena_fmt(a, "%12s, %s over a device's memory", time_short(time, value),
                     bytes_short(bytes, lacks));
}

const char *candidates_table(const struct candidates *c, const struct list_schedule *last,
                             struct arena *a)
{
    const char *text = "what each kind of plan reached:";
    for (enum candidate_kind k = 0; k < CANDIDATES; k++) {
        const struct candidate_record *r = &c->reached[k];
        if (!r->plans)
            continue;
        text =
            arena_fmt(a, "%s\n  %-16s %s", text, kind_name(k), value_text(r->value, r->lacks, a));
        if (r->plans > 1)
            text = arena_fmt(a, "%s, the best of %u", text, r->plans);
    }
    return arena_fmt(a, "%s\n  %-16s %s", text, "improved",
                     value_text(last->value, last->lacks, a));
}
