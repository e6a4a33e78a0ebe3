/* anneal-place: splits of any shape with a small largest load, by simulated annealing.
 *
 * Source: the placement paper (Tarnawski et al., NeurIPS 2020), 5.1 (splits that need not be contiguous)
 * and 5.2.  Starts from the best of some topological orders cut by interval DP, so that it is never worse
 * than those; then anneal.c.  A coarse level (fuse) comes first, then the whole graph from its plan.  The
 * lower bound holds for every plan. */
#include "passes/place_run.h"

#include "passes/anneal.h"

#include <inttypes.h>

enum { FIRST_STEPS = INTERVAL_BUDGET / 8 }; /* of the search for the first plan */

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
     .def = "30",
     .lo = "1",
     .hi = "1000000",
     .help = "topological orders to cut for the first plan"},
    {0}};

static void conclude(struct ctx *x, const struct chain *c, const struct anneal *s)
{
    struct plan *p = x->plan;
    p->bound = c->lower;
    if (p->value <= c->lower) {
        p->status = PLAN_OPTIMAL;
        p->argument = arena_fmt(x->mem, "no plan is better than the %s", c->lower_why);
        return;
    }
    p->argument = arena_fmt(x->mem, "best of %" PRIu64 " moves, seed %" PRIu64 "%s%s; bound: %s",
                            s->done, s->seed, s->clock->why ? ", " : "",
                            s->clock->why ? s->clock->why : "", c->lower_why);
}

static int anneal_place_run(struct ctx *x, const void *options)
{
    const struct anneal_options *o = options;
    struct place_options first = {.starts = o->starts, .seed = o->seed};
    struct placing p;
    if (placing_start(x, "anneal-place", &first, &p))
        return -1;
    struct wdag *whole = p.whole;
    struct chain *c = p.chain;
    struct chain_plan best = no_plan(x, whole);
    struct anneal s = {.planner = "anneal-place",
                       .moves = (uint64_t)o->moves,
                       .seed = (uint64_t)o->seed,
                       .chains = (uint32_t)o->chains,
                       .threads = (uint32_t)o->threads,
                       .progress = x->progress,
                       .clock = &p.clock};
    p.run.budget = FIRST_STEPS;
    interval_search(c, &p.run, &best, x->scratch);
    if (anneal_search(c, &s, &best, x->scratch, x->diag) < 0)
        return -1;
    if (best.value == CHAIN_INF)
        return report_infeasible(x, whole, false, &p.run);
    leave_plan(x, "anneal-place", whole, &best);
    conclude(x, c, &s);
    return 0;
}

const struct pass pass_anneal_place = {
    .name = "anneal-place",
    .help = "split of any shape by simulated annealing: parts need not be contiguous",
    .opts = anneal_opts,
    .optsize = sizeof(struct anneal_options),
    .needs = NEED_COST | NEED_CONTRACT,
    .run = anneal_place_run};
