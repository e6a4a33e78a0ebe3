/* Plans of any shape and memory (fit_memory.h).
 *
 * Whether any plan fits the memory is decided by a search, which can also prove that no plan fits (fit_search.c).
 * Where that search does not come to an end, plans are annealed with all times 0; the first plan that fits ends the
 * annealing.  The least memory that suffices is found by bisection between a lower bound and the need of a plan that
 * was found.  It is proven to be the least if the search proved for every smaller memory tried that no plan fits.
 *
 * Cost: FIT_STEPS and FIT_MOVES bound each question. */
#include "passes/any_shape/fit_memory.h"

#include "passes/any_shape/fit_search.h"
#include "passes/problem/memory_need.h"
#include "passes/problem/placing.h"
#include "ir/base/units.h"

#include <string.h>

enum {
    FIT_STEPS = 100000,  /* steps of a search */
    FIT_EACH = 16,       /* in addition, steps for each vertex */
    FIT_MOVES = 2000000, /* moves of annealing */
    FIT_PARTS = 1000     /* bisection ends at 1 / FIT_PARTS of the memory */
};

/* Returns the problem of g with all times 0, and with the memory of devices that have less than `memory` bytes
 * raised to it (-1: memories stay); NULL: there are too many kinds of devices. */
static struct problem *problem_of_bytes(struct ctx *x, const struct wdag *g, int64_t memory)
{
    struct diag quiet = diag_silent();
    struct problem *c = problem_build(g, &x->scene, memory, x->use.scratch, &quiet);
    if (c)
        problem_forget_times(c);
    return c;
}

/* Searches for a plan of g that fits the devices, with memories raised as for problem_of_bytes(); writes it to
 * dev[vertex].  Returns FIT_FOUND, FIT_NONE if no plan fits, or FIT_UNKNOWN. */
static enum fit fits_by_search(struct ctx *x, const struct wdag *g, int64_t memory,
                               struct clock *clock, int32_t *dev)
{
    struct arena_mark mark = arena_mark(x->use.scratch);
    enum fit answer = FIT_UNKNOWN;
    struct problem *c = problem_of_bytes(x, g, memory);
    if (c)
        answer = fit_search(c, FIT_STEPS + FIT_EACH * (uint64_t)g->n, clock, dev, x->use.scratch);
    arena_release(x->use.scratch, mark);
    return answer;
}

/* Anneals a plan of g that fits the devices' memory; writes it to dev[vertex].  Returns FIT_FOUND or FIT_UNKNOWN. */
static enum fit fits_by_annealing(struct ctx *x, const struct wdag *g, const struct anneal *like,
                                  int32_t *dev)
{
    struct arena_mark mark = arena_mark(x->use.scratch);
    struct diag quiet = diag_silent();
    struct problem *c = problem_of_bytes(x, g, /*memory=*/-1);
    struct problem_plan found = {.value = LOAD_INF, .dev = dev};
    struct anneal s = *like;
    s.moves = 0;
    s.most = FIT_MOVES;
    s.goal = s.enough = 0;
    s.after_round = NULL;
    s.silent = true;
    if (c)
        anneal_search(c, &s, &found, x->use.scratch, &quiet);
    arena_release(x->use.scratch, mark);
    return found.value < LOAD_INF ? FIT_FOUND : FIT_UNKNOWN;
}

int any_fit(struct ctx *x, const struct problem *c, const struct anneal *like,
            struct problem_plan *best)
{
    struct loads l;
    enum fit answer = fits_by_search(x, c->g, MEMORY_UNCHANGED, like->clock, best->dev);
    if (answer == FIT_UNKNOWN)
        answer = fits_by_annealing(x, c->g, like, best->dev);
    if (answer != FIT_FOUND)
        return 0;
    if (best->copies)
        memset(best->copies, 0, x->scene.cluster->ndev * sizeof *best->copies);
    if (loads_new(&l, c, like->planner, x->use.scratch, x->use.diag))
        return -1;
    loads_set(&l, best->dev);
    best->value = loads_value(&l);
    return 0;
}

/* Returns a lower bound on the memory that each device must have, bytes; 0: what the devices have may suffice.
 * *nowhere: a vertex that no device can run, else UINT32_MAX. */
static int64_t memory_bound(const struct ctx *x, const struct problem *c, uint32_t *nowhere)
{
    const struct wdag *g = c->g;
    int64_t least = 0;
    *nowhere = UINT32_MAX;
    for (uint32_t v = 0; v < g->n; v++) {
        int64_t need = vertex_needs(g, v), lasting = vertex_bytes(g, v);
        bool runs = false, fits_one = false;
        for (uint32_t k = 0; k < c->nkind; k++) {
            if (c->kind[k].time[v] == COST_NEVER)
                continue;
            runs = true;
            if (c->kind[k].memory >= lasting && c->kind[k].room >= need)
                fits_one = true;
        }
        if (!fits_one)
            least = larger(need, least);
        if (!runs)
            *nowhere = v;
    }
    int64_t average = average_memory(x->scene.cluster, wdag_bytes(g));
    return larger(average, least);
}

/* Returns the memory, bytes, to which devices must be raised for the plan in l to fit; 0: it fits already. */
static int64_t memory_of_loads(struct ctx *x, const struct loads *l)
{
    int64_t most = 0;
    if (exec_live_parts(&x->scene.model))
        return memory_of_plan(l->c, l->dev, x->use.scratch);
    for (uint32_t d = 0; d < l->ndev; d++)
        if (loads_excess(l, d) > 0 && l->bytes[d] > most)
            most = l->bytes[d];
    return most;
}

bool any_hopeless(const struct ctx *x, const struct problem *c)
{
    uint32_t nowhere;
    return memory_bound(x, c, &nowhere) > 0 || nowhere != UINT32_MAX;
}

/* Narrows the range from *least to *most, in bytes, in which the least sufficient memory lies: *least is a proven
 * lower bound, *most was found to suffice (0: what the devices have suffices).  Returns 0, or -1 and an error. */
static int narrow_memory(struct ctx *x, const struct problem *c, const struct anneal *like,
                         int64_t *least, int64_t *most)
{
    struct loads l;
    int64_t lo = *least;
    bool proven = true;
    int32_t *dev = arena_array(x->use.scratch, (size_t)c->g->n + 1, sizeof *dev);
    if (loads_new(&l, c, like->planner, x->use.scratch, x->use.diag))
        return -1;
    while (*most - lo > (proven ? 0 : *most / FIT_PARTS) && !clock_out(like->clock)) {
        int64_t mid = lo + (*most - lo) / 2;
        enum fit answer = fits_by_search(x, c->g, mid, like->clock, dev);
        if (answer == FIT_FOUND) {
            loads_set(&l, dev);
            int64_t needs = memory_of_loads(x, &l);
            *most = smaller(needs, *most);
            /* the judge counts more bytes than the search, so `mid` may not suffice for the plan found */
            lo = needs > mid ? mid + 1 : lo;
            proven = proven && needs <= mid;
            continue;
        }
        lo = mid + 1;
        proven = proven && answer == FIT_NONE;
        *least = proven ? lo : *least;
    }
    return 0;
}

int any_infeasible(struct ctx *x, const struct problem *c, const struct anneal *like)
{
    const struct wdag *g = c->g;
    uint32_t nowhere;
    const char *plans = claim_plans(x, "plan");
    int64_t least = memory_bound(x, c, &nowhere), most = memory_that_suffices(x, g);
    if (nowhere != UINT32_MAX) {
        diag_error(x->use.diag,
                   "no %s exists: node '%s' cannot run on any device that it may be on", plans,
                   first_node(x, g, nowhere));
        return PASS_INFEASIBLE;
    }
    int32_t *dev = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *dev);
    if (!least && like->clock->why) {
        diag_error(x->use.diag, "no %s was found: %s", plans, like->clock->why);
        return PASS_INFEASIBLE;
    }
    /* true: a proof says that no plan fits */
    bool none = least > 0 || fits_by_search(x, g, MEMORY_UNCHANGED, like->clock, dev) == FIT_NONE;
    if (narrow_memory(x, c, like, &least, &most))
        return -1;
    if (most == 0 || !none) { /* no plan was found, but it is not proven that no plan fits */
        char text[BYTES_BOTH];
        const char *enough = "", *short_of = "";
        if (most)
            enough =
                arena_fmt(x->use.mem, "; one was found for %s per device", bytes_both(text, most));
        if (least)
            short_of =
                arena_fmt(x->use.mem, ", and nothing below %s does", bytes_both(text, least));
        diag_error(x->use.diag, "no %s was found that fits the memory of the devices%s%s", plans,
                   enough, short_of);
        return PASS_INFEASIBLE;
    }
    return report_memory(x, plans, most, smaller(most, least) - 1, /*why=*/"");
}
