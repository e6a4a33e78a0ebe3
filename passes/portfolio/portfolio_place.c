/* portfolio-place: what a user gets who asks for a small makespan and does not choose a planner.
 *
 * All that pcc knows is tried and run (candidates.c).  The best plan is run once more in the orders in which devices
 * come to their nodes if they take what is ready, first come first or the longest way to the end first; what comes of
 * that is an order again.  Then the best plans are improved along their critical chains (improve.c), each a little, and
 * the one that comes out best for the rest of the work.
 *
 * Work is counted in nodes of the runs, so the plan does not depend on the machine, unless there is a time limit: with
 * that improving goes on until it is reached.  `effort` is for more work without one. */
#include "passes/portfolio/candidates.h"
#include "passes/portfolio/improve.h"

#include "ir/base/keyed.h"
#include "ir/base/units.h"
#include "ir/exec/makespan/single_step.h"
#include "ir/exec/step_bound.h"

#include <string.h>

/* In nodes of runs, about 5 million a second: of candidates; of improving, but no more than so many times n * n; and
 * in how many rounds, of which so many that find nothing end it. */
enum { CANDIDATE_WORK = 2500000, WORK = 8000000, SMALL_WORK = 500, ROUNDS = 8, IDLE = 4 };

struct portfolio {
    struct ctx *x;
    struct clock clock;
    struct placement placement; /* for the groups: vertices that must share a device */
    struct candidates c;
    struct list_schedule best;
    uint32_t tried;
};

/* ---- orders ------------------------------------------------------------------------------------- */

/* Tries the devices of the best plan with another order: nodes by their starts when devices dispatch ready nodes. */
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

/* Whether nothing can be better. */
static bool is_best(const struct portfolio *p, int64_t bound)
{
    return !p->best.lacks && p->best.value <= bound;
}

/* Whether to do another round, after `idle` rounds without an improvement. */
static bool goes_on(struct portfolio *p, int64_t left, uint32_t idle)
{
    return !clock_out(&p->clock) && (p->clock.deadline || (left > 0 && idle < IDLE));
}

/* Nodes of runs for improving. */
static int64_t work_of(const struct portfolio *p, int64_t effort)
{
    int64_t n = p->x->levels.base->n, most = WORK * effort;
    return n < most / SMALL_WORK / (n + 1) ? SMALL_WORK * n * n : most;
}

static void improve(struct portfolio *p, int64_t effort)
{
    static const uint32_t later[] = {30000, 10000, 50000, 3000}; /* millionths */
    int64_t bound = step_bound_of(&p->x->scene, true, p->x->use.scratch).value,
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

/* ---- the planner -------------------------------------------------------------------------------- */

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
    if ((rc = candidates_make(&p.c)))
        return rc;
    p.best = p.c.kept[0];
    for (enum candidate_kind k = 0; k < CANDIDATES; k++)
        p.tried += p.c.reached[k].plans;
    for (enum dispatch d = DISPATCH_FIFO; d < DISPATCHES && !clock_out(&p.clock); d++)
        try_dispatch(&p, d);
    int64_t before = p.best.value;
    improve(&p, o->effort);
    char text[UNIT_TEXT];
    p.best.what = arena_fmt(
        x->use.mem, "%s%s; best of %u plans", p.best.what,
        p.best.value < before
            ? arena_fmt(x->use.mem, ", moved along its critical chain (the best before: %s)",
                        time_short(text, before))
            : "",
        p.tried);
    if (p.best.lacks && p.clock.why)
        diag_note(x->use.diag, "portfolio-place: %s before a plan was found that fits",
                  p.clock.why);
    rc = list_leave(x, "portfolio-place", &p.best, o->best_effort);
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
