/* anneal-place: splits of any shape with a small largest load, by simulated annealing.
 *
 * Source: the placement paper (Tarnawski et al., NeurIPS 2020), 5.1 (splits that need not be contiguous)
 * and 5.2.  Starts from the best of some topological orders cut by interval DP, so that it is never worse
 * than those; then anneal.c.  A coarse level (fuse) comes first, then the whole graph from its plan.  The
 * lower bound holds for every plan. */
#include "passes/anneal_place.h"

#include "passes/any_fit.h"
#include "passes/bounds.h"
#include "passes/explain.h"
#include "passes/loads.h"
#include "ir/units.h"

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

/* A plan for c, better than best if that is one, from the best of some orders.  0, or -1 and an error. */
static int improve(struct ctx *x, struct placing *p, const struct chain *c, bool is_whole,
                   struct anneal *s, struct chain_plan *best)
{
    uint64_t done = s->done;
    p->run.budget = FIRST_STEPS;
    interval_search(c, &p->run, best, x->scratch);
    if (best->value == CHAIN_INF && is_whole && any_fit(x, c, s, best))
        return -1;
    if (anneal_search(c, s, best, x->scratch, x->diag) < 0)
        return -1;
    s->done += done;
    return 0;
}

/* A plan for the coarse level as one for the whole graph, if that is better. */
static void lift(struct ctx *x, const struct placing *p, const struct chain_plan *coarse,
                 struct chain_plan *fine)
{
    const int32_t *dev = coarse->dev;
    if (coarse->value >= fine->value)
        return;
    for (const struct wdag *g = p->level; g != p->whole; g = g->finer) {
        int32_t *finer = arena_array(x->scratch, (size_t)g->finer->n + 1, sizeof *finer);
        for (uint32_t v = 0; v < g->finer->n; v++)
            finer[v] = dev[g->map[v]];
        dev = finer;
    }
    memcpy(fine->dev, dev, p->whole->n * sizeof *dev);
    fine->value = coarse->value;
}

int anneal_place(struct ctx *x, struct placing *p, const struct chain *whole, struct anneal *s,
                 struct chain_plan *best)
{
    struct diag quiet = diag_silent();
    bool coarse = p->level != p->whole;
    bool too_large = coarse && !whole->detailed && loads_check(whole, "", &quiet);
    if (coarse) {
        struct chain_plan rough = no_plan(x, p->level);
        struct chain_clock half = *s->clock;
        struct anneal first = *s;
        if (half.deadline && !too_large)
            half.deadline -= (half.deadline - chain_now()) / 2;
        first.clock = &half;
        first.moves /= 2;
        first.share = 2;
        if (loads_check(p->top, s->planner, x->diag) ||
            improve(x, p, p->top, false, &first, &rough))
            return -1;
        s->done = first.done;
        s->moves -= first.moves;
        s->share = 2;
        lift(x, p, &rough, best);
    }
    if (too_large)
        return 0;
    return loads_check(whole, s->planner, x->diag) || improve(x, p, whole, true, s, best) ? -1 : 0;
}

/* Status, bound and argument. */
static void conclude(struct ctx *x, const struct placing *placing, const struct anneal *s)
{
    const struct chain *c = placing->chain;
    const char *why = placing->clock.why;
    struct plan *p = x->plan;
    p->proof = explain_chain(c, x->m, x->mem);
    p->bound = c->lower;
    if (p->value <= c->lower) {
        p->status = PLAN_OPTIMAL;
        p->argument = arena_fmt(x->mem, "no plan takes less: %s", c->lower_why);
        return;
    }
    p->argument = arena_fmt(x->mem, "best of %" PRIu64 " moves, seed %" PRIu64 "%s%s; bound: %s",
                            s->done, s->seed, why ? ", " : "", why ? why : "", c->lower_why);
}

static int anneal_place_run(struct ctx *x, const void *options)
{
    const struct anneal_options *o = options;
    struct place_options first = {.starts = o->starts, .seed = o->seed};
    struct placing p;
    if (placing_start(x, "anneal-place", &first, &p))
        return -1;
    struct chain_plan best = no_plan(x, p.whole);
    struct anneal s = {.planner = "anneal-place",
                       .moves = (uint64_t)o->moves,
                       .seed = (uint64_t)o->seed,
                       .chains = (uint32_t)o->chains,
                       .threads = (uint32_t)o->threads,
                       .progress = x->progress,
                       .clock = &p.clock};
    if (anneal_place(x, &p, p.chain, &s, &best))
        return -1;
    if (best.value == CHAIN_INF)
        return any_infeasible(x, p.chain, &s);
    if (best.value > p.chain->lower)
        bounds_raise(p.chain, best.value, BOUNDS_WORK, &p.clock, x->m, x->mem, x->scratch);
    leave_plan(x, "anneal-place", p.whole, &best);
    conclude(x, &p, &s);
    return 0;
}

const struct pass pass_anneal_place = {
    .name = "anneal-place",
    .help = "split of any shape by simulated annealing: parts need not be contiguous",
    .opts = anneal_opts,
    .optsize = sizeof(struct anneal_options),
    .needs = NEED_COST | NEED_CONTRACT,
    .run = anneal_place_run};
