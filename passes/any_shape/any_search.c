/* Plans of any shape: first plans, annealing and bounds in turn (any_search.h).
 *
 * First plans come from orders of the contiguous problem, cut by interval DP.  Cheap bounds are next: a plan that
 * meets its bound needs no search.  Then annealing works in rounds (anneal_rounds.c); after a round, the search for
 * bounds gets a share of the time that annealing has taken so far, each turn about twice the time of the turn
 * before, and may end the search.  If the top level is a coarse one (fuse), annealing of that level gets half of the
 * moves first.
 *
 * Cost: that of annealing (moves) and about a third of its time for bounds. */
#include "passes/any_shape/any_search.h"

#include "ir/exec/evaluate.h"
#include "ir/plan/pieces.h"

#include "passes/any_shape/fit_memory.h"
#include "passes/bounds/explain.h"
#include "passes/contiguous/interval_dp.h"
#include "passes/problem/device_loads.h"

#include <assert.h>
#include <string.h>

enum {
    FIRST_STEPS = INTERVAL_BUDGET / 3, /* steps of interval DP for first plans */
    FIRST_WORK = BOUNDS_WORK / 10,     /* work of the first bounds */
    /* where labels_many(), interval DP gets 1 / MIXED_SHARE of FIRST_STEPS, since one order takes longer */
    MIXED_SHARE = 8,
    /* arcs that bounds may look at for each move of annealing; looking at them takes about a third of annealing's
     * time */
    MOVE_WORK = 2
};

void any_lift(const struct ctx *x, const struct wdag *g, const int32_t *node_dev, int32_t *dev)
{
    /* [vertex of the base level] its vertex in g */
    const uint32_t *up = wdag_flatten(g, x->use.scratch);
    for (uint32_t v = 0; v < x->levels.base->n; v++)
        dev[up[v]] = node_dev[x->levels.base->node[v]];
}

void any_starts(const struct ctx *x, const struct problem *any, const struct problem *whole,
                struct anneal *s)
{
    if (any->g == whole->g)
        return;
    /* [vertex of the base level] its vertex in any->g, and in whole->g */
    const uint32_t *of = wdag_flatten(any->g, x->use.scratch),
                   *in = wdag_flatten(whole->g, x->use.scratch);
    uint32_t *up = arena_array(x->use.scratch, (size_t)any->g->n + 1, sizeof *up);
    for (uint32_t v = 0; v < x->levels.base->n; v++)
        up[of[v]] = in[v];
    s->cut = whole;
    s->up = up;
}

int any_begin(struct any_search *s, struct ctx *x, struct planner_input *p)
{
    assert(p->orders.clock == &p->clock && p->problem);
    *s = (struct any_search){.x = x, .p = p, .need = LOAD_INF, .upper = LOAD_INF};
    s->any =
        problem_build(any_shape_level(x), &x->scene, MEMORY_UNCHANGED, x->use.scratch, x->use.diag);
    if (!s->any)
        return -1;
    s->best = no_plan(x, s->any->g);
    s->start = claim_start(x, s->any->g);
    s->bound = explain_bound(s->any, x->scene.m, x->use.mem);
    return 0;
}

/* Returns whether the plan dev[node] surely fits: no device runs out of memory even if it keeps all values that its
 * nodes make or read for every sample on its way.  With its transfers a part takes two rounds at most, so no more
 * than 2 * parts + 2 samples are on their way.  O(nodes + pins). */
static bool surely_fits(struct any_search *s, const int32_t *dev)
{
    const struct ctx *x = s->x;
    const struct set_values *values = s->any->values;
    const struct wdag *base = x->levels.base;
    struct arena *a = x->use.scratch;
    uint32_t ndev = x->scene.cluster->ndev;
    /* [device] bytes of its nodes; bytes of the values of one sample that its nodes make or read */
    int64_t *need = arena_array(a, (size_t)ndev + 1, sizeof *need);
    int64_t *each = arena_array(a, (size_t)ndev + 1, sizeof *each);
    /* [device] 1 + the last value that `each` counts for the device */
    uint32_t *seen = arena_array(a, (size_t)ndev + 1, sizeof *seen);
    int32_t *part_dev;
    uint32_t *part = arena_array(a, (size_t)x->scene.m->nnode + 1, sizeof *part);
    uint32_t parts = pieces_build(&x->scene, dev, part, &part_dev, a);
    for (uint32_t v = 0; v < base->n; v++) {
        int32_t d = dev[base->node[v]];
        need[d] = sat_add(need[d], sat_add(vertex_needs(base, v), values->extra[v]));
    }
    for (uint32_t i = 0; i < values->nvalue; i++)
        for_row (v, values->pin, i) {
            int32_t d = dev[base->node[v]];
            each[d] = sat_add(each[d], seen[d] == i + 1 ? 0 : values->value[i].bytes);
            seen[d] = i + 1;
        }
    bool good = true;
    for (uint32_t d = 0; d < ndev && good; d++)
        good = sat_add(need[d], sat_mul(each[d], 2 * (int64_t)parts + 2)) <=
               s->any->kind[problem_kind_of(s->any, d)].room;
    return good;
}

/* Returns the time per sample, ps, of `plan`, whose nodes are on dev[node].  Where parts cost something, their cost
 * counts, and s->start is subtracted.  LOAD_INF: the plan does not fit the memory, which is checked only where this
 * is in doubt (problem.values). */
static int64_t total_value(struct any_search *s, const struct problem_plan *plan,
                           const int32_t *dev)
{
    struct ctx *x = s->x;
    const struct plan judged = {.dev = (int32_t *)(uintptr_t)dev, .copies = plan->copies};
    bool parts_cost = x->scene.model.part_cost != 0;
    /* where that is in doubt, only the judge knows whether the plan fits */
    if (s->any->values && (plan->copies || !surely_fits(s, dev))) {
        struct evaluation e = plan_evaluate(&x->scene, &judged, x->use.scratch);
        if (!e.v.fits)
            return LOAD_INF;
        return parts_cost ? e.value - s->start : plan->value;
    }
    return parts_cost ? claim_value(x, plan, dev) - s->start : plan->value;
}

int64_t any_price(void *user, const struct problem *c, int64_t value, const int32_t *dev,
                  const uint32_t *copies)
{
    struct any_search *s = user;
    struct arena_mark mark = arena_mark(s->x->use.scratch);
    const struct problem_plan plan = {.value = value, .copies = (uint32_t *)(uintptr_t)copies};
    int64_t all =
        total_value(s, &plan, plan_project(c->g, dev, s->x->scene.m->nnode, s->x->use.scratch));
    arena_release(s->x->use.scratch, mark);
    return all;
}

/* Replaces s->best by `plan`, a plan for the vertices of level g, if `plan` is better.  plan->value: the largest load
 * of the plan, without the cost of parts. */
static void any_take(struct any_search *s, const struct wdag *g, const struct problem_plan *plan)
{
    struct ctx *x = s->x;
    if (plan->value >= s->best.value)
        return;
    const int32_t *dev = plan_project(g, plan->dev, x->scene.m->nnode, x->use.scratch);
    int64_t value = total_value(s, plan, dev);
    if (value >= s->best.value)
        return;
    any_lift(x, s->any->g, dev, s->best.dev);
    s->best.value = value;
    if (s->best.copies)
        memcpy(s->best.copies, plan->copies, x->scene.cluster->ndev * sizeof *plan->copies);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

void any_bound(struct any_search *s, uint64_t work)
{
    assert(s->bound.value >= 0);
    struct ctx *x = s->x;
    if (s->best.value == LOAD_INF || s->best.value <= s->bound.value)
        return;
    const int64_t upper = s->best.value;
    const struct bound_means with = bounding_of(x, work, &s->p->clock);
    struct bound b = bounds_best(s->any, upper, &with, NULL);
    if (b.value > s->bound.value)
        s->bound = b;
    s->spent += work;
    s->upper = upper;
}

/* Returns whether the search is over: the best plan is proven, or the bound says that no plan can be of use. */
static bool any_settled(const struct any_search *s)
{
    return s->best.value <= s->bound.value || (s->best.value > s->need && s->bound.value > s->need);
}

/* Called after each round of annealing (anneal.after_round): looks for bounds if their share of the time has come;
 * returns true to end the search. */
static bool after_round(void *user, uint64_t done, const struct problem_plan *best)
{
    struct any_search *s = user;
    uint64_t due = (s->moves + done) * MOVE_WORK;
    s->best.value = best->value;
    if (due >= 2 * s->spent && best->value < LOAD_INF && !s->any->detailed)
        any_bound(s, due - s->spent);
    return any_settled(s);
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Anneals c with the settings *a, starting from *best, to which a better plan is written, and counts the moves in s.
 * Returns 0, or -1 and an error. */
static int anneal_on(struct any_search *s, const struct problem *c, struct anneal *a,
                     struct problem_plan *best)
{
    a->enough = s->bound.value;
    a->user = s;
    a->surcharge = s->x->scene.model.part_cost;
    a->price = a->surcharge || s->any->values ? any_price : NULL;
    struct anneal_found found = anneal_search(c, a, best, s->x->use.scratch, s->x->use.diag);
    if (found.rc < 0)
        return -1;
    s->moves += found.done;
    s->stopped = a->clock->why;
    return 0;
}

/* Improves s->best by interval DP and annealing on the top level, in half of the time; alone: the whole graph is
 * too large to be annealed, so the top level gets all of the time.  Returns 0, or -1 and an error. */
static int improve_coarse(struct any_search *s, const struct anneal *like, bool alone)
{
    struct ctx *x = s->x;
    struct problem_plan rough = no_plan(x, s->p->level);
    struct clock slice = alone ? *like->clock : clock_slice(like->clock, 2); /* all, or half */
    struct anneal a = *like;
    a.clock = &slice;
    if (loads_check(s->p->top, a.planner, x->use.diag))
        return -1;
    interval_search(s->p->top, &s->p->orders, &rough, x->use.scratch);
    if (anneal_on(s, s->p->top, &a, &rough))
        return -1;
    /* rough.value is the largest load of the rough plan; any_take() adds the cost of parts */
    any_take(s, s->p->level, &rough);
    return 0;
}

/* Improves s->best by interval DP, annealing and bounds on the whole graph.  Returns 0, or -1 and an error. */
static int improve_whole(struct any_search *s, const struct anneal *like)
{
    struct ctx *x = s->x;
    struct anneal a = *like;
    struct problem_plan cut = no_plan(x, s->p->whole);
    cut.value = s->best.value;
    if (interval_search(s->p->problem, &s->p->orders, &cut, x->use.scratch).better)
        any_take(s, s->p->whole, &cut);
    any_starts(x, s->any, s->p->problem, &a);
    if (s->best.value == LOAD_INF && any_fit(x, s->any, &a, &s->best))
        return -1;
    if (s->best.value < LOAD_INF && s->any->values &&
        any_price(s, s->any, s->best.value, s->best.dev, s->best.copies) == LOAD_INF)
        /* only the lasting bytes of that plan fit the memory, not the values beside them */
        s->best.value = LOAD_INF;
    any_bound(s, s->any->detailed ? 0 : FIRST_WORK);
    a.after_round = after_round;
    return any_settled(s) ? 0 : anneal_on(s, s->any, &a, &s->best);
}

int any_improve(struct any_search *s, const struct anneal *like)
{
    struct diag quiet = diag_silent();
    struct anneal a = *like;
    /* the whole graph is too large for annealing; the top level is a coarser one */
    bool too_large = loads_check(s->any, /*planner=*/"", &quiet) != 0,
         coarse = s->p->level != s->p->whole;
    s->p->orders.budget = labels_many(s->any) ? FIRST_STEPS / MIXED_SHARE : FIRST_STEPS;
    if (!coarse)
        return loads_check(s->any, a.planner, s->x->use.diag) ? -1 : improve_whole(s, &a);
    a.share = 2;
    a.moves = (like->moves + 1) / 2;
    if (improve_coarse(s, &a, too_large))
        return -1;
    return too_large ? 0 : improve_whole(s, &a);
}
