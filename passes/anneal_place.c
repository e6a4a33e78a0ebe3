/* anneal-place: splits of any shape with a small largest load, by simulated annealing.
 *
 * Source: the placement paper (Tarnawski et al., NeurIPS 2020), 5.1 (splits that need not be contiguous)
 * and 5.2.  Starts from the best of some topological orders cut by interval DP, so that it is never worse
 * than those; then anneal.c.  A coarse level (fuse) comes first, then the whole graph from its plan.  The
 * lower bound holds for every plan. */
#include "passes/anneal_place.h"

#include "passes/any_fit.h"
#include "passes/claim.h"
#include "passes/loads.h"

#include <inttypes.h>
#include <string.h>

enum {
    FIRST_STEPS = INTERVAL_BUDGET / 3 /* of the search for the first plan */
};

struct anneal_options {
    int64_t seed, moves, chains, threads, starts;
};

static const struct opt anneal_opts[] = {
    {.kind = OPT_INT,
     .name = "seed",
     .off = offsetof(struct anneal_options, seed),
     .def = "1",
     .lo = "0",
     .hi = "1000000000",
     .help = "seed of all random choices"},
    {.kind = OPT_INT,
     .name = "moves",
     .off = offsetof(struct anneal_options, moves),
     .def = "0",
     .lo = "0",
     .hi = "1000000000000",
     .help = "moves of a node to try; 0: what the graph needs, or until --time-limit"},
    {.kind = OPT_INT,
     .name = "chains",
     .off = offsetof(struct anneal_options, chains),
     .def = "8",
     .lo = "1",
     .hi = "64",
     .help = "runs that work apart before they compare their plans"},
    {.kind = OPT_INT,
     .name = "threads",
     .off = offsetof(struct anneal_options, threads),
     .def = "0",
     .lo = "0",
     .hi = "64",
     .help = "threads that share out the runs, with the same plan as one; 0: one for each core"},
    {.kind = OPT_INT,
     .name = "starts",
     .off = offsetof(struct anneal_options, starts),
     .def = "60",
     .lo = "1",
     .hi = "1000000",
     .help = "topological orders to cut for the first plan"},
    {0}};

/* A plan for the vertices of level g as one for those of `fine`, if that is better: both are levels of the same
 * nodes, and no vertex of `fine` has nodes of several vertices of g. */
static void take_over(struct ctx *x, const struct wdag *g, const struct chain_plan *plan,
                      const struct wdag *fine, struct chain_plan *best)
{
    if (plan->value >= best->value)
        return;
    any_lift(x, fine, plan_project(g, plan->dev, x->m->nnode, x->scratch), best->dev);
    best->value = plan->value;
    if (best->copies)
        memcpy(best->copies, plan->copies, x->cluster->ndev * sizeof *best->copies);
}

void any_lift(const struct ctx *x, const struct wdag *g, const int32_t *node_dev, int32_t *dev)
{
    const uint32_t *up = wdag_flatten(g, x->scratch);
    for (uint32_t v = 0; v < x->base->n; v++)
        dev[up[v]] = node_dev[x->base->node[v]];
}

void any_starts(const struct ctx *x, const struct chain *any, const struct chain *whole,
                struct anneal *s)
{
    if (any->g == whole->g)
        return;
    const uint32_t *of = wdag_flatten(any->g, x->scratch), *in = wdag_flatten(whole->g, x->scratch);
    uint32_t *up = arena_array(x->scratch, (size_t)any->g->n + 1, sizeof *up);
    for (uint32_t v = 0; v < x->base->n; v++)
        up[of[v]] = in[v];
    s->cut = whole;
    s->up = up;
}

/* A plan of the level that p->top is about, from the best of some orders. */
static int search_coarse(struct ctx *x, struct placing *p, struct anneal *s,
                         struct chain_plan *rough)
{
    interval_search(p->top, &p->run, rough, x->scratch);
    return anneal_search(p->top, s, rough, x->scratch, x->diag) < 0 ? -1 : 0;
}

/* The same for plans of any shape; the orders are those of the contiguous problem. */
static int search_any(struct ctx *x, struct placing *p, const struct chain *any, struct anneal *s,
                      struct chain_plan *best)
{
    uint64_t done = s->done;
    struct chain_plan cut = no_plan(x, p->whole);
    cut.value = best->value;
    if (interval_search(p->chain, &p->run, &cut, x->scratch))
        take_over(x, p->whole, &cut, any->g, best);
    any_starts(x, any, p->chain, s);
    if (best->value == CHAIN_INF && any_fit(x, any, s, best))
        return -1;
    if (anneal_search(any, s, best, x->scratch, x->diag) < 0)
        return -1;
    s->done += done;
    return 0;
}

int anneal_place(struct ctx *x, struct placing *p, const struct chain *any, struct anneal *s,
                 struct chain_plan *best)
{
    struct diag quiet = diag_silent();
    bool coarse = p->level != p->whole;
    bool too_large = coarse && loads_check(any, "", &quiet);
    p->run.budget = FIRST_STEPS;
    if (coarse) {
        struct chain_plan rough = no_plan(x, p->level);
        struct chain_clock half = *s->clock;
        struct anneal first = *s;
        if (half.deadline && !too_large)
            half.deadline -= (half.deadline - chain_now()) / 2;
        first.clock = &half;
        first.moves /= 2;
        first.share = 2;
        if (loads_check(p->top, s->planner, x->diag) || search_coarse(x, p, &first, &rough))
            return -1;
        s->done = first.done;
        s->moves -= first.moves;
        s->share = 2;
        take_over(x, p->level, &rough, any->g, best);
    }
    if (too_large)
        return 0;
    return loads_check(any, s->planner, x->diag) || search_any(x, p, any, s, best) ? -1 : 0;
}

/* Status, bound and argument. */
static void conclude(struct ctx *x, const struct chain *any, struct placing *placing,
                     const struct anneal *s)
{
    const char *why = placing->clock.why;
    struct plan *p = x->plan;
    struct bound all = claim_all(x, p->value, true, BOUNDS_WORK, &placing->clock), in = all;
    if (all.value < p->value && must_level(x) != any->g)
        in = bounds_best(any, p->value, BOUNDS_WORK, &placing->clock, x->m, x->mem, x->scratch);
    const char *bound = claim(x, claim_scope(x, false, false), in, all);
    p->argument = p->status == PLAN_OPTIMAL
                      ? arena_fmt(x->mem, "no plan takes less: %s", bound)
                      : arena_fmt(x->mem, "best of %" PRIu64 " moves, seed %" PRIu64 "%s%s; bound: %s",
                                  s->done, s->seed, why ? ", " : "", why ? why : "", bound);
}

static int anneal_place_run(struct ctx *x, const void *options)
{
    const struct anneal_options *o = options;
    struct place_options first = {.starts = o->starts, .seed = o->seed};
    struct placing p;
    struct chain *any;
    if (placing_start(x, "anneal-place", &first, &p) ||
        !(any = chain_build(any_level(x), x->cluster, -1, x->scratch, x->diag)))
        return -1;
    struct chain_plan best = no_plan(x, any->g);
    struct anneal s = {.planner = "anneal-place",
                       .moves = (uint64_t)o->moves,
                       .seed = (uint64_t)o->seed,
                       .chains = (uint32_t)o->chains,
                       .threads = (uint32_t)o->threads,
                       .progress = x->progress,
                       .clock = &p.clock};
    if (anneal_place(x, &p, any, &s, &best))
        return -1;
    if (best.value == CHAIN_INF)
        return any_infeasible(x, any, &s);
    leave_plan(x, "anneal-place", any->g, &best);
    conclude(x, any, &p, &s);
    return 0;
}

const struct pass pass_anneal_place = {
    .name = "anneal-place",
    .help = "split of any shape by simulated annealing: parts need not be contiguous",
    .opts = anneal_opts,
    .optsize = sizeof(struct anneal_options),
    .needs = NEED_COST | NEED_CONTRACT,
    .run = anneal_place_run};
