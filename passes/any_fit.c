/* Plans of any shape and memory (any_fit.h).
 *
 * A search with proofs (fit_search.c); where it does not end, annealing over bytes alone: everything takes no
 * time, so that the first plan that fits ends it.  The smallest memory that would do is found by bisection
 * between a bound (the average, the largest vertex) and all bytes; the memory that a plan found needs shortens
 * the way.  It is proven if every smaller one that was tried was. */
#include "passes/any_fit.h"

#include "passes/fit_search.h"
#include "passes/place_run.h"

#include <string.h>

enum {
    FIT_STEPS = 100000,  /* of a search with proofs, and so many more for each vertex: */
    FIT_EACH = 16,
    FIT_MOVES = 2000000, /* of annealing */
    FIT_PARTS = 1000     /* the smallest memory is found to one of so many parts */
};

/* Whether a plan fits where no bounded device has less than `memory`, whatever it takes; its devices in
 * dev. */
static enum fit fits(struct ctx *x, const struct chain *whole, int64_t memory,
                     const struct anneal *like, int32_t *dev)
{
    enum fit answer = FIT_UNKNOWN;
    struct arena_mark mark = arena_mark(x->scratch);
    struct diag quiet = diag_silent();
    struct chain *c = chain_build(whole->g, x->cluster, memory, x->scratch, &quiet);
    struct chain_plan found = {.value = CHAIN_INF, .dev = dev};
    struct anneal s = *like;
    s.moves = 0;
    s.most = FIT_MOVES;
    s.progress = false;
    if (c) {
        chain_forget_times(c);
        answer = fit_search(c, FIT_STEPS + FIT_EACH * (uint64_t)c->g->n, s.clock, dev, x->scratch);
    }
    if (c && answer == FIT_UNKNOWN && anneal_search(c, &s, &found, x->scratch, &quiet) > 0)
        answer = FIT_FOUND;
    arena_release(x->scratch, mark);
    return answer;
}

int any_fit(struct ctx *x, const struct chain *c, const struct anneal *like,
            struct chain_plan *best)
{
    struct loads l;
    if (fits(x, c, -1, like, best->dev) != FIT_FOUND)
        return 0;
    if (best->copies)
        memset(best->copies, 0, x->cluster->ndev * sizeof *best->copies);
    if (loads_new(&l, c, like->planner, x->scratch, x->diag))
        return -1;
    loads_set(&l, best->dev);
    best->value = loads_value(&l);
    return 0;
}

/* The bytes that each device must have at least (0: what they have may do), and a vertex that no device may
 * run (else UINT32_MAX). */
static int64_t memory_bound(const struct chain *c, uint32_t *nowhere)
{
    const struct wdag *g = c->g;
    int64_t least = 0;
    *nowhere = UINT32_MAX;
    for (uint32_t v = 0; v < g->n; v++) {
        int64_t need = g->size[v];
        bool runs = false, fits_one = false;
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
    int64_t average = average_memory(c->cluster, wdag_bytes(g));
    return average > least ? average : least;
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
int any_infeasible(struct ctx *x, const struct chain *c, const struct anneal *like)
{
    const struct wdag *g = c->g;
    uint32_t nowhere;
    int64_t least = memory_bound(c, &nowhere), lo = least, hi = wdag_bytes(g);
    if (nowhere != UINT32_MAX) {
        diag_error(x->diag, "no plan exists: node '%s' cannot run on any device that it may be on",
                   first_node(x, g, nowhere));
        return PASS_INFEASIBLE;
    }
    if (like->clock->why && least)
        return report_memory(x, "plan", 0, false, least);
    if (like->clock->why) {
        diag_error(x->diag, "no plan was found: %s", like->clock->why);
        return PASS_INFEASIBLE;
    }
    struct loads l;
    int32_t *dev = arena_array(x->scratch, (size_t)g->n + 1, sizeof *dev);
    if (loads_new(&l, c, like->planner, x->scratch, x->diag))
        return -1;
    bool proven = true;
    while (hi - lo > (proven ? 0 : hi / FIT_PARTS) && !chain_out(like->clock)) {
        int64_t mid = lo + (hi - lo) / 2;
        enum fit answer = fits(x, c, mid, like, dev);
        if (answer == FIT_FOUND) {
            loads_set(&l, dev);
            hi = memory_of(&l);
        } else {
            lo = mid + 1;
            proven = proven && answer == FIT_NONE;
            least = proven ? lo : least;
        }
    }
    if (hi == 0) {
        diag_error(x->diag,
                   "no plan was found in the moves allowed, but there are some: try another seed");
        return PASS_INFEASIBLE;
    }
    return report_memory(x, "plan", hi, hi <= least, least);
}
