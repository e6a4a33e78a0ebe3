/* dp-place: the contiguous split with the smallest largest load, proven.
 *
 * Source: the placement paper (Tarnawski et al., NeurIPS 2020), 5.1.1.  Exact searches, bounds and interval DP over
 * orders share the work: a race (dp_race.c).  On a fused or linearized level a proof is about that level only; so a
 * second race runs on the whole graph, starting from the plan of the first: fusing never makes the result worse.
 * Cost: the option max-states bounds memory and steps. */
#include "passes/contiguous/dp_place.h"

#include "passes/bounds/bounds.h"
#include "passes/contiguous/dp_leaves.h"
#include "passes/contiguous/dp_race.h"
#include "passes/bounds/explain.h"
#include "passes/problem/memory_need.h"
#include "passes/problem/gather.h"
#include "passes/contiguous/infeasible.h"

#include <inttypes.h>

enum { COUNT_LIMIT = 100000000 /* ideals are counted up to this number */ };

/* The best race of dp-place, and what the race before it found. */
struct outcome {
    /* the race on whose proof the claim rests: the race on the whole graph if it was completed, else the one on the top
     * level */
    struct dp_found race;
    bool on_whole;    /* `race` ran on the whole graph, not on a coarser level */
    int64_t searched; /* ps: value of the best plan of the race on the top level */
};

/* Returns words on the number of ideals of the graph, which end an argument; "": it was not counted. */
static const char *words_on_ideals(struct ctx *x)
{
    if (x->results.ideals > COUNT_LIMIT)
        return arena_fmt(x->use.mem, "; the graph has more than %d ideals", COUNT_LIMIT);
    if (x->results.ideals)
        return arena_fmt(x->use.mem, "; the graph has %" PRIu64 " ideals", x->results.ideals);
    return "";
}

/* Fills the claim of results.plan: status, bound, proof and argument (why the bound holds, in a line).  whole: problem
 * of the whole graph, with the bound of contiguous plans; search_whole: the exact search was to search that graph, too;
 * all: bound for plans of any shape. */
static void write_claim(struct ctx *x, const struct problem *whole, const struct outcome *o,
                        bool search_whole, struct bound all)
{
    const struct dp_found *s = &o->race;
    struct plan *p = x->results.plan;
    struct bound in = explain_bound(whole, x->scene.m, x->use.mem);
    enum plan_scope scope = claim_scope(x, /*contiguous=*/true, /*fused=*/false);
    p->states = s->states;
    const char *count = words_on_ideals(x);
    /* the bound alone proves the plan */
    bool lowest = p->claim.value_less_parts <= whole->lower.value && !(s->complete && o->on_whole);
    if (s->complete && o->on_whole) {
        p->claim.argument =
            arena_fmt(x->use.mem, "every such plan was searched or ruled out%s", count);
        in.value = p->claim.value_less_parts;
        in.proof = explain_search(whole, x->scene.m, p, x->use.mem);
    } else if (lowest) {
        p->claim.argument = ""; /* claim_make() tells why, below */
    } else if (s->complete && p->claim.value_less_parts < o->searched) {
        p->claim.argument =
            arena_fmt(x->use.mem, "better than every plan of the fused graph; bound: %s%s",
                      whole->lower.why, count);
    } else if (s->complete) {
        p->claim.argument =
            arena_fmt(x->use.mem, "the best of all plans of the fused graph; bound: %s%s",
                      whole->lower.why, count);
        if (!search_whole) { /* the claim is about plans of the fused graph only, where the search is the proof */
            scope = claim_scope(x, /*contiguous=*/true, /*fused=*/true);
            in.value = o->searched;
            in.proof = explain_search(whole, x->scene.m, p, x->use.mem);
        }
    } else {
        p->claim.argument = arena_fmt(
            x->use.mem, "the search was ended after %" PRIu64 " sets of nodes (%s); bound: %s%s",
            s->states, s->why, whole->lower.why, count);
    }
    const char *why = claim_make(x, scope, in, all);
    if (lowest) /* claim_make() has set status and scope */
        p->claim.argument = arena_fmt(x->use.mem, "no plan%s takes less%s: %s%s",
                                      plan_among(p->claim.scope), claim_less_parts(p), why, count);
}

/* Returns the settings of a race on problem c. */
static struct dp_race race_on(struct ctx *x, struct problem *c, struct planner_input *p,
                              const struct place_options *o)
{
    return (struct dp_race){
        .c = c,
        .orders = &p->orders,
        .max_states =
            (uint64_t)(ctx_settings(x)->max_states ? ctx_settings(x)->max_states : o->max_states),
        .clock = &p->clock,
        .m = x->scene.m,
        .mem = x->use.mem,
        .scratch = x->use.scratch,
        .diag = x->use.diag};
}

/* Tries to improve results.plan by one more race, in which loads count what running parts costs; the races before leave
 * that out.  Then updates the claim.  Only for training graphs where the cost differs between devices: a device with
 * nodes of one pass runs one part, a device with nodes of both passes runs two. */
static void race_with_part_costs(struct ctx *x, struct planner_input *p,
                                 const struct place_options *o)
{
    struct plan *first = x->results.plan;
    struct problem *c = problem_build_by_pass(p->whole, &x->scene, x->use.scratch, x->use.diag);
    if (!c || first->claim.status == PLAN_OPTIMAL)
        return;
    /* the bound of the first claim is one for all contiguous plans, not of a fused graph alone */
    bool bound_holds = first->claim.scope == SCOPE_ALL ||
                       first->claim.scope == claim_scope(x, /*contiguous=*/true, /*fused=*/false);
    if (bound_holds)
        problem_raise(c,
                      (struct bound){.value = first->claim.bound, .why = "parts at their least"});
    struct problem_plan best = no_plan(x, p->whole);
    best.value = first->claim.value;
    const struct dp_race race = race_on(x, c, p, o);
    struct dp_found found = dp_race(&race, &best);
    if (found.better) {
        leave_plan(x, "dp-place", p->whole, &best);
        if (x->results.plan->claim.value >= first->claim.value)
            x->results.plan = first;
    }
    /* the first claim, with the value of the plan; a race that came to its end proves more */
    struct plan *plan = x->results.plan;
    struct claim *claim = &plan->claim;
    int64_t value = claim->value;
    *claim = first->claim;
    claim->value = value;
    plan->states += plan == first ? 0 : first->states;
    if (found.complete && best.value > claim->bound) {
        claim->argument = arena_fmt(x->use.mem,
                                    "all ideals searched, parts of both passes counted, %" PRIu64
                                    " inside the bounds",
                                    found.states);
        claim->value_less_parts = claim->bound = best.value;
        claim->scope = claim_scope(x, /*contiguous=*/true, /*fused=*/false);
        claim->proof = explain_search(c, x->scene.m, plan, x->use.mem);
    }
    claim->status = claim->bound >= claim->value ? PLAN_OPTIMAL : PLAN_FEASIBLE;
}

/* The second race, on the whole graph, for plans that take less than *best, a plan of the coarser level p->level.
 * Writes a better plan to *best and returns true if one is found.  If the race is completed, the claim rests on it:
 * writes the race to *made. */
static bool race_on_whole(struct ctx *x, struct planner_input *p, const struct place_options *o,
                          struct outcome *made, struct problem_plan *best)
{
    struct problem_plan wide = no_plan(x, p->whole);
    struct dp_race race = race_on(x, p->problem, p, o);
    wide.value = best->value;
    /* 0: the whole graph gets interval DP and bounds, but no exact search, if the user wants none or the level, which
     * was searched, has no fewer vertices */
    if (!o->whole || p->level->n >= p->whole->n)
        race.max_states = 0;
    struct dp_found found = dp_race(&race, &wide);
    if (found.complete) {
        made->race = found;
        made->on_whole = true;
    }
    if (found.better)
        *best = wide;
    return found.better;
}

/* Returns the work for bounds of plans of any shape.  open: the plan for c is not proven yet.  With many kinds of
 * devices that is a quarter of the usual work, since the race has had a bound of its own for them (extent_bound.h). */
static uint64_t work_for_bounds(const struct problem *c, bool open)
{
    if (!open)
        return BOUNDS_PROVEN_WORK;
    return labels_many(c) ? BOUNDS_WORK / 4 : BOUNDS_WORK;
}

bool dp_place(struct ctx *x, struct planner_input *p, const struct place_options *o)
{
    struct wdag *whole = p->whole, *level = p->level;
    struct problem *c = p->problem;
    if (o->count_ideals)
        x->results.ideals = wdag_ideals(level, COUNT_LIMIT);
    struct memory_need need = memory_need(c);
    if (need.least || need.nowhere != UINT32_MAX)
        return false; /* no plan fits the memory */
    struct problem_plan best = no_plan(x, level);
    const struct dp_race race = race_on(x, p->top, p, o);
    if (level == whole && !c->values)
        dp_without_leaves(&race, &best);
    struct outcome made = {.race = dp_race(&race, &best), .on_whole = level == whole};
    made.searched = best.value;
    const struct wdag *from = level; /* the level whose vertices `best` is about */
    if (!made.on_whole && race_on_whole(x, p, o, &made, &best))
        from = whole;
    if (best.value == LOAD_INF)
        return false;
    if (!c->values)
        tidy_problem(from == whole ? c : p->top, &best, x->use.scratch);
    bool open = best.value > c->lower.value; /* the plan is not proven yet */
    struct bound all =
        bounds_all(x, best.value, /*must_fit=*/true, work_for_bounds(c, open), &p->clock);
    p->all = all;
    if (open && !c->detailed && all.value > c->lower.value)
        problem_raise(c, all); /* a bound for all plans is one for contiguous plans */
    leave_plan(x, "dp-place", from, &best);
    write_claim(x, c, &made, o->whole, all);
    race_with_part_costs(x, p, o);
    return true;
}

/* pass.run: leaves the best contiguous plan that the races find.  Returns 0, PASS_INFEASIBLE, or -1 and an error. */
static int dp_run(struct ctx *x, const void *options)
{
    const struct place_options *o = options;
    struct planner_input p;
    if (placing_start(x, o, &p))
        return -1;
    placing_leave_time(p.problem, &p.clock);
    return dp_place(x, &p, o) ? 0 : report_infeasible(x, p.whole, /*exact=*/true, &p.orders);
}

const struct planner planner_dp_place = {
    .pass = {"dp-place",
             "contiguous split with the smallest largest load, proven (placement paper)",
             place_opts, sizeof(struct place_options), .needs = NEED_COST | NEED_CONTRACT,
             .run = dp_run},
    .fit = FIT_CONTIGUOUS,
    .objectives = {"time-per-sample"},
    .features = FEATURE_PINS | FEATURE_PART_COST | FEATURE_OVERLAP | FEATURE_GPIPE |
                FEATURE_COPIES | FEATURE_CUTS};
