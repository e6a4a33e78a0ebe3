/* dp-place: the contiguous split with the smallest largest load, proven.
 *
 * Source: the placement paper (Tarnawski et al., NeurIPS 2020), 5.1.1.  Interval DP over many
 * orders gives a plan (interval_dp.c); the search over chains of ideals improves it or proves
 * that nothing is better (dp_search.c, from the end that is the shorter way: dp_both.c).  On a fused
 * or linearized level the proof is about that level only, so interval DP runs on the whole graph, too,
 * and the better plan stays; then the search looks at the whole of a fused graph with that plan as its
 * bound, so that fusing never loses.  Where that search does not end, minimum cuts (cut_bound.c) and
 * smaller graphs (dp_bound.c) give a lower bound. */
#include "passes/dp_place.h"

#include "passes/dp_race.h"
#include "passes/explain.h"

#include <inttypes.h>

enum { COUNT_LIMIT = 100000000 };

/* Status, bound and argument of a plan: s is the search that says most, over the whole graph or
 * over a coarser one, whose best plan takes `searched`. */
static void conclude(struct ctx *x, const struct chain *whole, const struct dp_race *s,
                     bool on_whole, int64_t searched)
{
    struct plan *p = x->plan;
    p->proof = explain_chain(whole, x->m, x->mem);
    p->states = s->states;
    p->bound = whole->lower;
    const char *count = "";
    if (x->ideals > COUNT_LIMIT)
        count = arena_fmt(x->mem, "more than %d ", COUNT_LIMIT);
    else if (x->ideals)
        count = arena_fmt(x->mem, "%" PRIu64 " ", x->ideals);
    if (p->value <= whole->lower) {
        p->status = PLAN_OPTIMAL;
        p->argument = arena_fmt(x->mem, "no plan is better than the %s%s%s%s", whole->lower_why,
                                *count ? "; the graph has " : "", count, *count ? "ideals" : "");
    } else if (s->complete && on_whole) {
        p->status = PLAN_OPTIMAL;
        p->bound = p->value;
        p->argument = arena_fmt(x->mem, "all %sideals searched, %" PRIu64 " inside the bounds",
                                count, s->states);
        p->proof = explain_search(whole, x->m, p->planner, p->argument, p->dev, p->value, x->mem);
    } else if (s->complete && p->value < searched) {
        p->argument = arena_fmt(x->mem, "better than every plan of the coarse graph; bound: %s",
                                whole->lower_why);
    } else if (s->complete) {
        p->scope_bound = searched;
        p->argument = arena_fmt(x->mem,
                                "all %sideals of the coarse graph searched, %" PRIu64
                                " inside the bounds; bound: %s",
                                count, s->states, whole->lower_why);
    } else {
        p->argument =
            arena_fmt(x->mem, "%s after %" PRIu64 " %sideals; bound: %s", s->why, s->states,
                      *count ? arena_fmt(x->mem, "of %s", count) : "", whole->lower_why);
    }
}

static struct dp_race race_on(struct ctx *x, struct chain *c, struct placing *p,
                              const struct place_options *o)
{
    return (struct dp_race){.c = c,
                            .run = &p->run,
                            .max_states =
                                (uint64_t)(x->max_states ? x->max_states : o->max_states),
                            .clock = &p->clock,
                            .m = x->m,
                            .mem = x->mem,
                            .scratch = x->scratch,
                            .diag = x->diag,
                            .progress = x->progress};
}

bool dp_place(struct ctx *x, struct placing *p, const struct place_options *o)
{
    struct wdag *whole = p->whole, *level = p->level;
    struct chain *c = p->chain;
    if (o->count_ideals)
        x->ideals = wdag_ideals(level, COUNT_LIMIT);
    struct chain_plan best = no_plan(x, level), wide = no_plan(x, whole);
    struct dp_race r = race_on(x, p->top, p, o);
    dp_race(&r, &best);
    int64_t searched = best.value;
    const struct wdag *from = level;
    bool on_whole = level == whole;
    if (!on_whole) {
        wide.value = best.value;
        struct dp_race again = race_on(x, c, p, o);
        if (!o->whole || level->n >= whole->n)
            again.max_states = 0;
        bool better = dp_race(&again, &wide);
        if (again.complete) {
            r = again;
            on_whole = true;
        }
        if (better) {
            best = wide;
            from = whole;
        }
    }
    if (best.value == CHAIN_INF)
        return false;
    leave_plan(x, "dp-place", from, &best);
    conclude(x, c, &r, on_whole, searched);
    return true;
}

static int dp_run(struct ctx *x, const void *options)
{
    const struct place_options *o = options;
    struct placing p;
    if (placing_start(x, "dp-place", o, &p))
        return -1;
    return dp_place(x, &p, o) ? 0 : report_infeasible(x, p.whole, true, &p.run);
}

const struct pass pass_dp_place = {
    .name = "dp-place",
    .help = "contiguous split with the smallest largest load, proven (placement paper)",
    .opts = place_opts,
    .optsize = sizeof(struct place_options),
    .needs = NEED_COST | NEED_CONTRACT,
    .run = dp_run};
