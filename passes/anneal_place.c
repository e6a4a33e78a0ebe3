/* anneal-place: splits of any shape with a small largest load, by simulated annealing.
 *
 * Source: the placement paper (Tarnawski et al., NeurIPS 2020), 5.1 (splits that need not be contiguous)
 * and 5.2.  Starts from the best of some topological orders cut by interval DP, so that it is never worse
 * than those; then anneal.c.  A coarse level (fuse) comes first, then the whole graph from its plan.  The
 * lower bound holds for every plan. */
#include "passes/place_run.h"

#include "passes/anneal.h"
#include "passes/bounds.h"
#include "passes/explain.h"
#include "passes/loads.h"
#include "ir/units.h"

#include <inttypes.h>
#include <string.h>

enum {
    FIRST_STEPS = INTERVAL_BUDGET / 3, /* of the search for the first plan */
    FIT_MOVES = 2000000,               /* of a search for a plan that fits */
    FIT_PARTS = 1000                   /* the smallest memory is found to one of so many parts */
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

/* What the steps of a run share. */
struct work {
    struct ctx *x;
    const struct anneal_options *o;
    struct placing p;
    uint64_t moves; /* out */
};

static struct anneal search_of(struct work *w, struct chain_clock *clock)
{
    return (struct anneal){.planner = "anneal-place",
                           .moves = (uint64_t)w->o->moves,
                           .share = w->p.level != w->p.whole ? 2 : 1,
                           .seed = (uint64_t)w->o->seed,
                           .chains = (uint32_t)w->o->chains,
                           .threads = (uint32_t)w->o->threads,
                           .progress = w->x->progress,
                           .clock = clock};
}

/* Whether a plan was found that fits where no bounded device has less than `memory`, whatever it takes;
 * its devices in dev. */
static bool fits(struct work *w, int64_t memory, int32_t *dev)
{
    struct arena_mark mark = arena_mark(w->x->scratch);
    struct diag quiet = *w->x->diag;
    struct chain *c = chain_build(w->p.whole, w->x->cluster, memory, w->x->scratch, &quiet);
    struct chain_plan found = {.value = CHAIN_INF, .dev = dev};
    struct anneal s = search_of(w, &w->p.clock);
    s.moves = FIT_MOVES;
    s.progress = false;
    if (c) {
        chain_forget_times(c);
        anneal_search(c, &s, &found, w->x->scratch, &quiet);
    }
    arena_release(w->x->scratch, mark);
    return found.value < CHAIN_INF;
}

/* A plan for c, better than best if that is one, from the best of some orders; work goes on until the clock
 * is out.  1, 0, or -1 and an error. */
static int improve(struct work *w, const struct chain *c, struct chain_clock *clock,
                   struct chain_plan *best)
{
    struct ctx *x = w->x;
    struct anneal s = search_of(w, clock);
    w->p.run.budget = FIRST_STEPS;
    int64_t before = best->value;
    interval_search(c, &w->p.run, best, x->scratch);
    if (best->value == CHAIN_INF && c == w->p.chain && fits(w, -1, best->dev)) {
        struct loads l;
        if (loads_new(&l, c, s.planner, x->scratch, x->diag))
            return -1;
        loads_set(&l, best->dev);
        best->value = loads_value(&l);
    }
    if (anneal_search(c, &s, best, x->scratch, x->diag) < 0)
        return -1;
    w->moves += s.done;
    return best->value < before;
}

/* A plan for the coarse level as one for the whole graph. */
static void lift(struct work *w, const struct chain_plan *coarse, struct chain_plan *fine)
{
    const int32_t *dev = coarse->dev;
    for (const struct wdag *g = w->p.level; g != w->p.whole; g = g->finer) {
        int32_t *finer = arena_array(w->x->scratch, (size_t)g->finer->n + 1, sizeof *finer);
        for (uint32_t v = 0; v < g->finer->n; v++)
            finer[v] = dev[g->map[v]];
        dev = finer;
    }
    memcpy(fine->dev, dev, w->p.whole->n * sizeof *dev);
    fine->value = coarse->value;
}

/* The bytes that each device must have at least, and a vertex that no device may run (else UINT32_MAX). */
static int64_t memory_bound(const struct work *w, uint32_t *nowhere)
{
    const struct chain *c = w->p.chain;
    const struct wdag *g = c->g;
    int64_t all = 0, least = 0;
    *nowhere = UINT32_MAX;
    for (uint32_t s = 0; s < g->nshared; s++)
        all = sat_add(all, g->shared_size[s]);
    for (uint32_t v = 0; v < g->n; v++) {
        int64_t need = g->size[v];
        bool runs = false, fits_one = false;
        all = sat_add(all, need);
        for (uint32_t i = g->shared_of.at[v]; i < g->shared_of.at[v + 1]; i++)
            need = sat_add(need, g->shared_size[g->shared_of.to[i]]);
        for (uint32_t k = 0; k < c->nkind; k++) {
            bool here = c->kind[k].time[v] != COST_NEVER;
            runs = runs || here;
            fits_one = fits_one || (here && c->kind[k].memory >= need);
        }
        least = !fits_one && need > least ? need : least;
        *nowhere = runs ? *nowhere : v;
    }
    int64_t average = average_memory(w->x->cluster, all);
    return average > least ? average : least;
}

static const char *name_of_vertex(const struct work *w, uint32_t v)
{
    const uint32_t *map = wdag_flatten(w->p.whole, w->x->scratch);
    for (uint32_t u = 0; u < w->x->base->n; u++)
        if (map[u] == v)
            return node_name(w->x->m, w->x->base->node[u]);
    return "?";
}

/* The memory that devices with less would need for a plan. */
static int64_t memory_of(const struct loads *l)
{
    int64_t most = 0;
    for (uint32_t d = 0; d < l->ndev; d++)
        if (loads_excess(l, d) > 0 && l->bytes[d] > most)
            most = l->bytes[d];
    return most;
}

/* Bisection over bytes alone.  The bound is proven, what fits was found. */
static int report_no_plan(struct work *w)
{
    struct ctx *x = w->x;
    const struct wdag *g = w->p.whole;
    uint32_t nowhere;
    int64_t least = memory_bound(w, &nowhere), lo = least, hi = least;
    if (nowhere != UINT32_MAX) {
        diag_error(x->diag, "no plan exists: node '%s' cannot run on any device that it may be on",
                   name_of_vertex(w, nowhere));
        return PASS_INFEASIBLE;
    }
    if (w->p.clock.why) {
        diag_error(x->diag, "no plan was found: %s", w->p.clock.why);
        return PASS_INFEASIBLE;
    }
    for (uint32_t v = 0; v < g->n; v++)
        hi = sat_add(hi, g->size[v]);
    for (uint32_t s = 0; s < g->nshared; s++)
        hi = sat_add(hi, g->shared_size[s]);
    struct loads l;
    int32_t *dev = arena_array(x->scratch, (size_t)g->n + 1, sizeof *dev);
    if (loads_new(&l, w->p.chain, "anneal-place", x->scratch, x->diag))
        return -1;
    while (hi - lo > hi / FIT_PARTS && !chain_out(&w->p.clock)) {
        int64_t mid = lo + (hi - lo) / 2;
        if (fits(w, mid, dev)) {
            loads_set(&l, dev);
            hi = memory_of(&l);
        } else {
            lo = mid + 1;
        }
    }
    if (hi == 0) {
        diag_error(x->diag,
                   "no plan was found in the moves allowed, but there are some: try another seed");
        return PASS_INFEASIBLE;
    }
    return report_memory(x, "plan", hi, hi == least, least);
}

/* Status, bound and argument. */
static void conclude(const struct work *w)
{
    struct ctx *x = w->x;
    const struct chain *c = w->p.chain;
    const char *why = w->p.clock.why;
    struct plan *p = x->plan;
    p->proof = explain_chain(c, x->m, x->mem);
    p->bound = c->lower;
    if (p->value <= c->lower) {
        p->status = PLAN_OPTIMAL;
        p->argument = arena_fmt(x->mem, "no plan is better than the %s", c->lower_why);
        return;
    }
    p->argument = arena_fmt(x->mem, "best of %" PRIu64 " moves, seed %" PRId64 "%s%s; bound: %s",
                            w->moves, w->o->seed, why ? ", " : "", why ? why : "", c->lower_why);
}

static int anneal_place_run(struct ctx *x, const void *options)
{
    struct work w = {.x = x, .o = options};
    struct place_options first = {.starts = w.o->starts, .seed = w.o->seed};
    struct placing *p = &w.p;
    if (placing_start(x, "anneal-place", &first, p))
        return -1;
    p->run.clock = &p->clock;
    struct chain_plan best = no_plan(x, p->whole);
    struct diag quiet = *x->diag;
    bool coarse = p->level != p->whole;
    bool too_large = coarse && !p->chain->detailed && loads_check(p->chain, "", &quiet);
    if (coarse) {
        struct chain_plan rough = no_plan(x, p->level);
        struct chain_clock half = p->clock;
        if (half.deadline && !too_large)
            half.deadline -= (half.deadline - chain_now()) / 2;
        if (loads_check(p->top, "anneal-place", x->diag) || improve(&w, p->top, &half, &rough) < 0)
            return -1;
        if (rough.value < CHAIN_INF)
            lift(&w, &rough, &best);
    }
    if (!too_large && (loads_check(p->chain, "anneal-place", x->diag) ||
                       improve(&w, p->chain, &p->clock, &best) < 0))
        return -1;
    if (best.value == CHAIN_INF)
        return report_no_plan(&w);
    if (best.value > p->chain->lower)
        bounds_raise(p->chain, best.value, BOUNDS_WORK, &p->clock, x->m, x->mem, x->scratch);
    leave_plan(x, "anneal-place", p->whole, &best);
    conclude(&w);
    return 0;
}

const struct pass pass_anneal_place = {
    .name = "anneal-place",
    .help = "split of any shape by simulated annealing: parts need not be contiguous",
    .opts = anneal_opts,
    .optsize = sizeof(struct anneal_options),
    .needs = NEED_COST | NEED_CONTRACT,
    .run = anneal_place_run};
