/* portfolio-place: what a user gets who asks for a small makespan and does not choose a planner.
 *
 * All that pcc knows is tried and run (candidates.c).  The best plan is run once more in the orders in which devices
 * come to their nodes if they take what is ready, first come first or the longest way to the end first; what comes of
 * that is an order again.  Then the best plans are improved along their critical chains (improve.c), each a little, and
 * the one that comes out best for the rest of the work.
 *
 * Work is counted in nodes of the runs, so the plan does not depend on the machine, unless there is a time limit: with
 * that improving goes on until it is reached. */
#include "passes/portfolio/candidates.h"
#include "passes/portfolio/improve.h"

#include "ir/base/keyed.h"
#include "ir/base/units.h"

#include <string.h>

/* In nodes of runs, about 5 million a second: of candidates; of improving, but no more than so many times n * n; and
 * in how many rounds. */
enum { CANDIDATE_WORK = 2500000, WORK = 8000000, SMALL_WORK = 500, ROUNDS = 8 };

struct portfolio {
    struct ctx *x;
    struct clock clock;
    struct room room; /* for its groups: what must share a device */
    struct candidates c;
    struct listed best;
    uint32_t tried;
};

/* ---- orders ------------------------------------------------------------------------------------- */

/* The devices of the best plan, its nodes in the order in which they start if devices take what is ready. */
static void try_dispatch(struct portfolio *p, enum dispatch dispatch)
{
    struct ctx *x = p->x;
    struct arena *own = arena_new(x->use.scratch);
    struct scene s = x->scene;
    s.model.step.dispatch = dispatch;
    const struct plan plan = {.dev = p->best.dev, .rank = p->best.rank};
    struct task_graph g = single_step(&s, &plan, NULL, own);
    struct timeline t = events_run(&g, NULL, own);
    struct listed next = {.dev = p->best.dev, .what = p->best.what}, best = p->best;
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

static void improve(struct portfolio *p)
{
    static const uint32_t later[] = {10000, 3000, 30000, 1000};
    struct step_bound b = step_bound(&p->x->scene, p->x->use.scratch);
    int64_t n = p->x->levels.base->n, small = SMALL_WORK * n * n;
    int64_t bound = step_bound_value(&b), left = n < WORK && small < WORK ? small : WORK;
    int64_t turn = left / ROUNDS + 1;
    if (is_best(p, bound))
        return;
    struct arena *own = arena_new(p->x->use.scratch);
    struct improver *s = improver_new(p->x, &p->room, &p->clock, own);
    for (uint32_t i = 0; i < p->c.n; i++, left -= turn) {
        struct listed *from = i ? &p->c.kept[i] : &p->best;
        p->tried += improve_plan(s, from, turn, later[0]);
        if (from->lacks < p->best.lacks ||
            (from->lacks == p->best.lacks && from->value < p->best.value))
            p->best = *from;
    }
    for (uint32_t i = 1;
         (left > 0 || p->clock.deadline) && !is_best(p, bound) && !clock_out(&p->clock);
         i++, left -= turn)
        p->tried += improve_plan(s, &p->best, turn, later[i % 4]);
    arena_free(own);
}

/* ---- the planner -------------------------------------------------------------------------------- */

struct portfolio_options {
    bool best_effort;
};

static const struct opt portfolio_opts[] = {LIST_BEST_EFFORT(struct portfolio_options, best_effort),
                                            {0}};

static int portfolio_run(struct ctx *x, const void *options)
{
    const struct portfolio_options *o = options;
    struct portfolio p = {.x = x, .clock = ctx_clock(x)};
    int rc = room_build(&p.room, x, "portfolio-place", x->use.scratch);
    p.room.clock = &p.clock;
    if (rc)
        return rc;
    p.c = (struct candidates){x, "portfolio-place", &p.room, &p.clock, CANDIDATE_WORK, {{0}}, {{0}},
                              0};
    if ((rc = candidates_make(&p.c)))
        return rc;
    p.best = p.c.kept[0];
    for (enum candidate_kind k = 0; k < CANDIDATES; k++)
        p.tried += p.c.reached[k].plans;
    for (enum dispatch d = DISPATCH_FIFO; d < DISPATCHES && !clock_out(&p.clock); d++)
        try_dispatch(&p, d);
    int64_t before = p.best.value;
    improve(&p);
    char text[UNIT_TEXT];
    p.best.what =
        arena_fmt(x->use.mem, "%s%s; best of %u plans", p.best.what,
                  p.best.value < before
                      ? arena_fmt(x->use.mem, ", then moved along its critical chain from %s",
                                  time_short(text, before))
                      : "",
                  p.tried);
    rc = list_leave(x, "portfolio-place", &p.best, o->best_effort);
    if (!rc)
        x->results.plan->claim.offer = candidates_table(&p.c, &p.best, x->use.mem);
    return rc;
}

const struct planner planner_portfolio_place = {
    .pass = {.name = "portfolio-place",
             .help = "the best of many list schedules, improved: the default for a makespan",
             .opts = portfolio_opts,
             .optsize = sizeof(struct portfolio_options),
             .needs = NEED_COST | NEED_CONTRACT,
             .run = portfolio_run},
    .objectives = 1 << OBJECTIVE_MAKESPAN,
    .features = LIST_FEATURES};
