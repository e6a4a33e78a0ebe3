/* portfolio-place: the default planner for a makespan.
 *
 * All methods of pcc make plans, which are run (candidates.c).  The devices of the best plan are also tried with two
 * other orders: the orders in which the nodes start if each device always runs the ready node that became ready
 * first, or the ready node with the longest path to the end.  Then the best plans are improved along their critical
 * chains (improve.c): first each plan for one round, then only the best of these plans in all further rounds.
 *
 * These methods make the makespan of nodes small.  But a folder runs parts, and a part waits for all that it reads.  So
 * the planner judges some plans by the makespan of their parts: the best plans before improving, the best plan after
 * improving, and for each class the plan with everything on one device.  It leaves the plan whose parts take least.
 *
 * Work is counted in nodes of the plans that are run, so that the result does not depend on the machine.  With a time
 * limit, improving goes on until the limit; the option `effort` allows more work without a time limit. */
#include "passes/portfolio/candidates.h"
#include "passes/portfolio/improve.h"

#include "ir/base/keyed.h"
#include "ir/base/units.h"
#include "ir/exec/makespan/step_verdict.h"
#include "ir/exec/step_bound.h"

#include <string.h>

enum {
    /* work, in nodes of the plans that are run, about 5 million a second */
    CANDIDATE_WORK = 2500000, /* work of all candidates */
    WORK = 8000000,           /* work of improving with effort=1 */
    /* work of improving a graph of n nodes: SMALL_WORK * n * n, if that is less than WORK */
    SMALL_WORK = 500,
    ROUNDS = 8, /* number of rounds among which the work of improving is divided */
    IDLE = 4    /* improving ends after this many rounds without a better plan */
};

/* The state of the planner. */
struct portfolio {
    struct ctx *x;
    struct clock clock;
    /* a placement of the base level; tells which vertices must share a device */
    struct placement placement;
    struct candidates c;
    struct list_schedule best; /* the best plan so far */
    /* the best of the plans that were judged by their parts; by_parts.value is the makespan of its nodes, parts_value
     * (ps) that of its parts */
    struct list_schedule by_parts;
    int64_t parts_value;
    uint32_t tried; /* number of plans that were run */
};

/* ---- orders ------------------------------------------------------------------------------------- */

/* Tries the devices of the best plan with another order: the order in which the nodes start when devices choose
 * among their ready nodes by `dispatch`. */
static void try_dispatch(struct portfolio *p, enum dispatch dispatch)
{
    struct ctx *x = p->x;
    struct arena *own = arena_new(x->use.scratch);
    struct scene s = x->scene;
    s.model.step.dispatch = dispatch;
    const struct plan plan = {.dev = p->best.dev, .rank = p->best.rank};
    struct task_graph g = single_step(&s, &plan, NULL, own);
    struct timeline t = events_run(&g, NULL, own);
    struct list_schedule next = {.dev = p->best.dev, .what = p->best.what}, best = p->best;
    struct keyed *at = arena_array(own, (size_t)g.ntask + 1, sizeof *at);
    uint32_t n = 0;
    next.rank = arena_array(own, x->scene.m->nnode, sizeof *next.rank);
    for (uint32_t k = 0; k < g.ntask && g.task[k].kind == STEP_COMPUTE; k++)
        at[n++] = (struct keyed){t.start[k], g.task[k].number};
    keyed_sort(at, n);
    for (uint32_t i = 0; i < n; i++)
        next.rank[at[i].item] = i;
    list_try(x, &best, &next);
    p->tried++;
    if (best.rank == next.rank) {
        memcpy(p->best.rank, next.rank, x->scene.m->nnode * sizeof *next.rank);
        p->best.value = next.value;
        p->best.lacks = next.lacks;
    }
    arena_free(own);
}

/* ---- improving ---------------------------------------------------------------------------------- */

/* Returns whether no plan can be better than the best one; bound: a lower bound on the makespan, ps. */
static bool is_best(const struct portfolio *p, int64_t bound)
{
    return !p->best.lacks && p->best.value <= bound;
}

/* Returns whether to do another round.  left: work that may still be done; idle: number of rounds without a better
 * plan since the last round with one. */
static bool goes_on(struct portfolio *p, int64_t left, uint32_t idle)
{
    return !clock_out(&p->clock) && (p->clock.deadline || (left > 0 && idle < IDLE));
}

/* Returns the work for improving, in nodes of the plans that are run. */
static int64_t work_of(const struct portfolio *p, int64_t effort)
{
    int64_t n = p->x->levels.base->n, most = WORK * effort;
    return n < most / SMALL_WORK / (n + 1) ? SMALL_WORK * n * n : most; /* without overflow */
}

/* Improves the best plans: each kept plan for one round, then the best one until work, time or progress ends. */
static void improve(struct portfolio *p, int64_t effort)
{
    static const uint32_t later[] = {30000, 10000, 50000, 3000}; /* millionths */
    int64_t bound = step_bound_of(&p->x->scene, /*shared=*/true, p->x->use.scratch).value,
            left = work_of(p, effort), turn = left / ROUNDS + 1;
    if (is_best(p, bound))
        return;
    struct arena *own = arena_new(p->x->use.scratch);
    struct improver *s = improver_new(p->x, &p->placement, &p->clock, own);
    for (uint32_t i = 0; i < p->c.n; i++, left -= turn) {
        struct list_schedule *from = i ? &p->c.kept[i] : &p->best;
        p->tried += improve_plan(s, from, turn, later[0]);
        if (from->lacks < p->best.lacks ||
            (from->lacks == p->best.lacks && from->value < p->best.value))
            p->best = *from;
    }
    for (uint32_t i = 1, idle = 0; goes_on(p, left, idle) && !is_best(p, bound);
         i++, left -= turn) {
        int64_t value = p->best.value, lacks = p->best.lacks;
        p->tried += improve_plan(s, &p->best, turn, later[i % 4]);
        idle = p->best.value == value && p->best.lacks == lacks ? idle + 1 : 0;
    }
    arena_free(own);
}

/* ---- parts -------------------------------------------------------------------------------------- */

/* Cuts *plan into the parts that a folder of the plan would have, and copies the plan to p->by_parts if it lacks less
 * memory than p->by_parts, or as much and its parts take less.  Returns whether the plan was copied. */
static bool judge_by_parts(struct portfolio *p, const struct list_schedule *plan)
{
    const struct ctx *x = p->x;
    struct list_schedule *to = &p->by_parts;
    /* with --dispatch=plan, parts never take less than their nodes; so a plan whose nodes take that long cannot be
     * better */
    if (!plan->dev || (to->dev && plan->lacks >= to->lacks && plan->value >= p->parts_value))
        return false;
    const struct plan made = {.dev = plan->dev, .rank = plan->rank};
    enum parts_cut how =
        x->results.sharding ? PARTS_TRANSFERS : (enum parts_cut)ctx_settings(x)->cut;
    struct arena_mark mark = arena_mark(x->use.scratch);
    int64_t value;
    bool fine;
    step_parts(&x->scene, &made, how, &value, &fine, x->use.scratch);
    arena_release(x->use.scratch, mark);
    if (to->dev &&
        (plan->lacks > to->lacks || (plan->lacks == to->lacks && value >= p->parts_value)))
        return false;
    candidate_copy(x, to, plan);
    p->parts_value = value;
    return true;
}

/* Judges the plans that exist before improving by their parts, until the clock is out. */
static void judge_candidates(struct portfolio *p)
{
    /* p->best is in the arrays of kept[0]; try_dispatch() may have changed its order */
    judge_by_parts(p, &p->best);
    for (uint32_t i = 0; i < p->c.nalone && !clock_out(&p->clock); i++)
        judge_by_parts(p, &p->c.alone[i]);
    for (uint32_t i = 1; i < p->c.n && !clock_out(&p->clock); i++)
        judge_by_parts(p, &p->c.kept[i]);
}

/* Chooses the plan that is left: by its parts, p->by_parts, or, if the model is a profile, of which no folder can be
 * made, by its nodes.  Returns the plan, with words for its claim. */
static struct list_schedule *choose_plan(struct portfolio *p, bool by_parts)
{
    struct arena *a = p->x->use.mem;
    char text[UNIT_TEXT];
    if (by_parts)
        judge_by_parts(p, &p->best);
    struct list_schedule *to = by_parts ? &p->by_parts : &p->best;
    if (to->value == p->best.value && to->lacks == p->best.lacks)
        to->what = arena_fmt(a, "%s; best of %u plans", to->what, p->tried);
    else
        to->what = arena_fmt(
            a, "%s; its parts take less than those of the quickest of %u plans by nodes: %s",
            to->what, p->tried, time_short(text, p->best.value));
    return to;
}

/* ---- the planner -------------------------------------------------------------------------------- */

/* The values of the options in portfolio_opts. */
struct portfolio_options {
    int64_t effort;
    bool best_effort;
};

static const struct opt portfolio_opts[] = {
    {OPT_INT, "effort", offsetof(struct portfolio_options, effort), "1", .lo = "1", .hi = "1000000",
     .help =
         "so many times the work of improving the best plan, 1: about 2 s; more finds better plans"},
    LIST_BEST_EFFORT(struct portfolio_options, best_effort),
    {0}};

/* pass.run: leaves the best plan found.  Returns 0, or -1 or PASS_INFEASIBLE after an error. */
static int portfolio_run(struct ctx *x, const void *options)
{
    const struct portfolio_options *o = options;
    struct portfolio p = {.x = x, .clock = ctx_clock(x)};
    int rc = placement_build_on(&p.placement, x, "portfolio-place", x->levels.base, x->use.scratch);
    p.placement.clock = &p.clock;
    if (rc)
        return rc;
    p.c = (struct candidates){.x = x,
                              .planner = "portfolio-place",
                              .placement = &p.placement,
                              .clock = &p.clock,
                              .work = CANDIDATE_WORK};
    rc = candidates_make(&p.c);
    if (rc)
        return rc;
    p.best = p.c.kept[0];
    for (enum candidate_kind k = 0; k < CANDIDATES; k++)
        p.tried += p.c.reached[k].plans;
    /* all rules of dispatch but DISPATCH_PLAN, which would give the plan's own order again */
    for (enum dispatch d = DISPATCH_FIFO; d < DISPATCHES && !clock_out(&p.clock); d++)
        try_dispatch(&p, d);
    bool by_parts = !module_is_profiled(x->scene.m);
    if (by_parts)
        judge_candidates(&p);
    int64_t before = p.best.value, lacked = p.best.lacks;
    improve(&p, o->effort);
    char text[UNIT_TEXT];
    if (p.best.lacks < lacked)
        p.best.what = arena_fmt(x->use.mem, "%s, moved until less memory was lacking", p.best.what);
    else if (p.best.value < before)
        p.best.what =
            arena_fmt(x->use.mem, "%s, moved along its critical chain (the best before: %s)",
                      p.best.what, time_short(text, before));
    struct list_schedule *left = choose_plan(&p, by_parts);
    if (p.best.lacks && p.clock.why)
        diag_note(x->use.diag, "portfolio-place: %s before a plan was found that fits",
                  p.clock.why);
    rc = list_leave(x, "portfolio-place", left, o->best_effort);
    if (!rc)
        x->results.plan->claim.offer = candidates_table(&p.c, &p.best, x->use.mem);
    return rc;
}

const struct planner planner_portfolio_place = {
    .pass = {"portfolio-place",
             "the best of many list schedules, improved: the default for a makespan",
             portfolio_opts, sizeof(struct portfolio_options), .needs = NEED_COST | NEED_CONTRACT,
             .run = portfolio_run},
    .objectives = {"makespan"},
    .features = LIST_FEATURES};
