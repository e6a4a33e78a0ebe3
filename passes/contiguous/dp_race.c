/* The best contiguous plan of one graph (dp_race.h).
 *
 * A few topological orders are cut first (interval_dp.h), which gives a good plan.  Then work is given out in
 * rounds, each twice as long as the one before, to
 *  - the exact search for better plans than the best (ideal_both_ends.h), which keeps its state from round to round;
 *  - a probe: a search for a plan below a limit between bound and best plan.  Where there is none it ends much
 *    sooner than the search for the best plan, and raises the bound.  The limit moves towards the best plan when a
 *    probe ended, towards the bound when it ran out of steps;
 *  - orders (interval_dp.h), also those that pass through minimum cuts (cut_order.h), and searches near the best plan
 *    (dp_near.h);
 *  - bounds for plans of any shape (bounds.h), and by minimum cuts (crossing_bound.h, path_bound.h).
 * Once it has taken a while, searches of smaller graphs try to prove the best plan, and at last they raise the bound
 * (smaller_graph_bound.h).
 * The exact search gets a whole round's steps; the share of each other one doubles when it gained something (a
 * better plan, a higher bound) and halves when not.  A plan or a bound that one finds counts for all at once. Work
 * is counted in steps of the exact search, so that the same input gives the same plan everywhere.
 *
 * Cost: the steps allowed; the memory of four searches. */
#include "passes/contiguous/dp_race.h"

#include "passes/bounds/bounds.h"
#include "passes/bounds/crossing_bound.h"
#include "passes/contiguous/cut_order.h"
#include "passes/contiguous/dp_near.h"
#include "passes/contiguous/smaller_graph_bound.h"
#include "passes/contiguous/ideal_both_ends.h"
#include "passes/bounds/path_bound.h"

enum {
    FIRST_ORDERS = 5,
    FIRST_ROUND = 8192, /* steps */
    SHARE_ONE = 16,
    REACH_ONE = 256,
    /* looks of interval DP, and arcs of networks, that take as long as a step of the exact search */
    INTERVAL_PER_STEP = 8,
    ARCS_PER_STEP = 16,
    STEPS_PER_STATE = 4,
    /* the step limit is multiplied by the gap in units of 1 / NEAR of the best plan's value, */
    NEAR = 100,
    FAR_MOST = 3,          /* at least 1, at most this */
    NEAR_PARTS = 4,        /* neighbourhoods searched in a turn */
    SMALLER_PARTS = 4,     /* of all steps, for bounds from smaller graphs; */
    CLIMB_AFTER = 8,       /* one climb over smaller graphs after 1 / CLIMB_AFTER of the steps, */
    CLIMB_STATES = 200000, /* ideals that each search of the climb may keep */
    BOUNDS_LEAST = 100000, /* bounds get no turn of fewer steps, */
    /* nor, after a turn that gained nothing, of less than this times its steps */
    BOUNDS_MORE = 8,
    BYTES_PER_STATE = 3, /* bytes that a search may take: this for each of max_states, */
    BYTES_PER_VERTEX = 512,
    /* from so many vertices on, making a search counts as steps: */
    LARGE = 8192,
    MAKE_PER_VERTEX = 4 /* steps */
};

struct race {
    const struct dp_race *o;
    struct interval_run run;
    struct dp_found found;
    struct problem *c;
    struct problem_plan *best;
    struct arena *a;
    struct both *main;
    int64_t floor; /* of the main search */
    bool main_done,
        full; /* main_done: the main search found a plan or ended; full: memory stopped it */
    /* the main search's floor: so far below the best plan, in parts of the gap (REACH_ONE: down to the bound) */
    uint32_t below;
    uint64_t steps, most; /* done by all; allowed */
    size_t bytes;         /* that each search may take */
    /* shares of a round's steps, SHARE_ONE: all */
    uint32_t orders, cuts, nears, paths, probes;
    uint64_t bounds_at; /* the next turn of bounds needs so many steps */
    struct near_run near;
    struct cut_orders cut;
    uint64_t cut_due;      /* looks that orders through minimum cuts may have taken in all by now */
    struct holder *holder; /* NULL: not made yet, or it cannot be */
    bool holder_made, climbed;
    /* where a probe's limit is between the bound (0) and the best plan (REACH_ONE) */
    uint32_t reach;
};

/* Steps that are still allowed: a larger gap between plan and bound allows more. */
static uint64_t steps_left(const struct race *r)
{
    int64_t best = r->best->value;
    uint64_t times =
        best < LOAD_INF ? (uint64_t)((best - r->c->lower.value) / (best / NEAR + 1)) : 1;
    times = times < 1 ? 1 : smaller_u64(times, FAR_MOST);
    return r->steps < r->most * times ? r->most * times - r->steps : 0;
}

static void adapt(uint32_t *share, uint32_t least, bool got_on)
{
    if (got_on)
        *share = smaller_u32(*share * 2, SHARE_ONE);
    else
        *share = larger_u32(*share / 2, least);
}

static bool is_over(struct race *r)
{
    return r->best->value <= r->c->lower.value || clock_out(r->o->clock);
}

/* What making a search costs, in steps. */
static uint64_t cost_of_making(const struct race *r)
{
    return r->c->g->n > LARGE ? (uint64_t)r->c->g->n * MAKE_PER_VERTEX : 0;
}

static struct both *search_for(struct race *r, int64_t limit, int64_t floor)
{
    r->steps += cost_of_making(r);
    return both_new(r->c, limit, floor, r->o->max_states, r->bytes);
}

/* Makes the main search seek plans better than the best one known, whoever found that.  It goes on with a lower
 * limit if it has found nothing itself and the limit is not below its floor; else it is made anew with a new floor. */
static void renew_main(struct race *r)
{
    int64_t limit = r->best->value - 1, gap = limit - r->c->lower.value;
    if (r->main && limit >= r->floor && !r->main_done) {
        both_tighten(r->main, limit);
        return;
    }
    if (r->main)
        both_free(r->main);
    r->floor = limit - (int64_t)((__int128)gap * r->below / REACH_ONE);
    r->main = search_for(r, limit, r->floor);
    r->main_done = false;
}

/* Goes on with s for `steps` steps; true if it found a better plan or came to its end. */
static bool go_on(struct race *r, struct both *s, int64_t floor, uint64_t steps)
{
    uint64_t before = both_steps(s);
    int64_t limit = both_limit(s);
    enum search_end end = both_go(s, steps);
    bool better = both_take(s, r->best);
    r->steps += both_steps(s) - before;
    r->found.better = r->found.better || better;
    r->full = s == r->main ? end == SEARCH_FULL : r->full;
    if (end != SEARCH_DONE) {
        r->found.states = larger_u64(both_states(s), r->found.states);
        return better;
    }
    r->found.states = both_states(s);
    if (r->best->value > limit) /* there is no plan of value up to limit */
        problem_raise(r->c, search_bound(r->c, limit + 1, 0));
    else if (r->best->value > floor) /* the plan found is the best one */
        problem_raise(r->c, search_bound(r->c, r->best->value, 0));
    r->found.complete = r->best->value <= r->c->lower.value;
    return true;
}

static void run_probe(struct race *r, uint64_t steps)
{
    int64_t gap = r->best->value - r->c->lower.value;
    int64_t limit = r->c->lower.value + (int64_t)((__int128)gap * r->reach / REACH_ONE);
    if (r->best->value == LOAD_INF || r->c->detailed || limit <= r->c->lower.value ||
        limit >= r->best->value - 1)
        return;
    struct both *s = search_for(r, limit, limit);
    bool got_on = go_on(r, s, limit, steps);
    adapt(&r->probes, 1, got_on);
    r->reach = got_on ? (r->reach + REACH_ONE) / 2 : r->reach / 2 + 1;
    both_free(s);
}

static void try_orders(struct race *r, uint64_t steps)
{
    struct interval_run *run = &r->run;
    uint64_t stop = run->found.spent + steps * INTERVAL_PER_STEP;
    int64_t before = r->best->value;
    while (!is_over(r) && !interval_over(run) && run->found.spent < stop)
        r->found.better = interval_next(r->c, run, r->best, r->o->scratch) || r->found.better;
    adapt(&r->orders, 1, r->best->value < before);
}

/* Returns the number of steps taken. */
static uint64_t try_order(struct race *r, const uint32_t *order)
{
    struct interval_found f =
        interval_order(r->c, order, NULL, r->o->clock, r->best, r->o->scratch);
    r->found.better = r->found.better || f.better;
    return f.spent;
}

/* Interval DP over orders through minimum cuts, each also rearranged around the cuts of the best plan: as many
 * orders as their share of all rounds so far pays for, but one at first. */
static void try_cuts(struct race *r, uint64_t steps)
{
    struct arena *a = r->o->scratch;
    int64_t before = r->best->value;
    uint64_t looks = r->cut.looks;
    if (r->c->g->n > LARGE)
        return;
    for (r->cut_due += steps * ARCS_PER_STEP; !is_over(r) && r->cut.looks <= r->cut_due;) {
        struct arena_mark mark = arena_mark(a);
        const uint32_t *order = cut_order_next(r->c, &r->cut, a);
        uint64_t spent = try_order(r, order);
        if (r->best->value < LOAD_INF)
            spent += try_order(r, interval_gather(r->c, order, r->best->dev, a));
        r->cut.looks += spent * (ARCS_PER_STEP / INTERVAL_PER_STEP);
        arena_release(a, mark);
    }
    looks = r->cut.looks - looks;
    r->steps += looks / ARCS_PER_STEP;
    if (looks)
        adapt(&r->cuts, 1, r->best->value < before);
}

static void try_near(struct race *r, uint64_t steps)
{
    int64_t before = r->best->value;
    uint64_t spent = r->near.spent;
    if (before == LOAD_INF)
        return;
    while (!is_over(r) && r->near.spent - spent < steps && r->steps < r->most) {
        r->steps += cost_of_making(r);
        uint64_t left = steps - (r->near.spent - spent);
        left = left < steps / NEAR_PARTS ? left : steps / NEAR_PARTS + 1;
        r->found.better =
            near_next(r->c, &r->near, left, r->best, r->o->scratch, r->o->diag) || r->found.better;
    }
    r->steps += r->near.spent - spent;
    adapt(&r->nears, SHARE_ONE / 2, r->best->value < before);
}

static struct bound_means bounding_for(const struct race *r, uint64_t steps)
{
    const struct dp_race *o = r->o;
    return (struct bound_means){steps * ARCS_PER_STEP, o->clock, o->m, o->mem, o->scratch};
}

static void try_bounds(struct race *r, uint64_t steps)
{
    const struct bound_means with = bounding_for(r, steps);
    uint64_t spent;
    int64_t before = r->c->lower.value;
    if (r->c->detailed || r->best->value == LOAD_INF || steps < r->bounds_at)
        return;
    problem_raise(r->c, bounds_best(r->c, r->best->value, &with, &spent));
    problem_raise(r->c, cut_bound(r->c, steps * ARCS_PER_STEP / 4, with.clock, with.scratch));
    spent /= ARCS_PER_STEP;
    r->steps += larger_u64(spent, steps);
    r->bounds_at = r->c->lower.value > before ? steps : steps * BOUNDS_MORE;
}

static void try_path(struct race *r, uint64_t steps)
{
    const struct bound_means with = bounding_for(r, steps);
    uint64_t looks;
    if (r->c->g->n > LARGE || r->best->value == LOAD_INF)
        return;
    if (!r->holder_made)
        r->holder = holder_new(r->c, r->best->value, r->a);
    r->holder_made = true;
    if (!r->holder)
        return;
    bool raised = problem_raise(r->c, holder_bound(r->holder, r->best->value, &with, &looks));
    r->steps += looks / ARCS_PER_STEP;
    adapt(&r->paths, SHARE_ONE / 2, raised);
}

/* Climbs once, with at most as many steps as all searches so far. The steps are not counted: a climb
 * proves the best plan, which ends the race, or leaves bound and plan as they were. */
static void try_climb(struct race *r)
{
    const struct dp_limits most = {
        .max_states = CLIMB_STATES, .max_steps = r->steps, .clock = r->o->clock};
    if (r->climbed || r->c->detailed || r->best->value == LOAD_INF ||
        r->steps < r->most / CLIMB_AFTER)
        return;
    r->climbed = true;
    problem_raise(r->c, dp_climb(r->c, r->best->value, &most, r->o->scratch, r->o->diag));
}

/* Smaller graphs raise the bound where the rounds have left a gap. */
static void try_smaller(struct race *r)
{
    if (!r->c->detailed && r->best->value < LOAD_INF && !is_over(r))
        problem_raise(r->c, dp_bound(r->c, r->best->value, r->most / SMALLER_PARTS, r->o->clock,
                                     r->o->scratch, r->o->diag));
}

static void tell_progress(const struct race *r)
{
    uint64_t passed = (uint64_t)both_passed(r->main) * 1000 / r->c->g->n;
    problem_tell(r->c, r->o->clock, "searching", (uint32_t)passed, r->best->value);
}

/* The main search's turn in the race: up to `round` steps. */
static void search_on(struct race *r, uint64_t round)
{
    enum { SLICE = 262144 }; /* steps between two looks at the clock */
    r->full = false;
    for (uint64_t done = 0, more; done < round && !is_over(r) && !r->full && (more = steps_left(r));
         done += SLICE) {
        uint64_t left = round - done < more ? round - done : more;
        renew_main(r);
        r->main_done = go_on(r, r->main, r->floor, left < SLICE ? left : SLICE);
        if (r->main_done) /* it found a plan or ended: the next one goes further down */
            r->below = r->below ? r->below * 2 : REACH_ONE / 16;
        r->below = r->below < REACH_ONE ? r->below : REACH_ONE;
        tell_progress(r);
    }
}

static void run_rounds(struct race *r)
{
    /* ends when a round alone is more than all steps allowed: then nothing takes steps any more */
    for (uint64_t round = FIRST_ROUND;
         !is_over(r) && steps_left(r) && round / 2 <= r->most * FAR_MOST; round *= 2) {
        search_on(r, round);
        if (!is_over(r))
            try_orders(r, round * r->orders / SHARE_ONE);
        if (!is_over(r))
            try_cuts(r, round * r->cuts / SHARE_ONE);
        if (!is_over(r))
            try_near(r, round * r->nears / SHARE_ONE);
        if (!is_over(r))
            try_path(r, round * r->paths / SHARE_ONE);
        if (!is_over(r))
            try_bounds(r, round / 2);
        if (!is_over(r))
            try_climb(r);
        if (!is_over(r))
            run_probe(r, round * r->probes / SHARE_ONE);
    }
    if (r->main)
        both_free(r->main);
}

struct dp_found dp_race(const struct dp_race *o, struct problem_plan *best)
{
    struct race r = {.o = o,
                     .c = o->c,
                     .best = best,
                     .run = interval_begin(o->orders),
                     .found.complete = o->c->g->n == 0,
                     .a = arena_new(o->scratch),
                     .most = o->max_states * STEPS_PER_STATE,
                     .bytes = o->max_states * BYTES_PER_STATE +
                              (size_t)(o->c->g->n + o->c->g->nnet) * BYTES_PER_VERTEX,
                     .orders = SHARE_ONE / 2,
                     .cuts = SHARE_ONE / 2,
                     .nears = SHARE_ONE / 2,
                     .paths = SHARE_ONE / 2,
                     .bounds_at = BOUNDS_LEAST,
                     .probes = SHARE_ONE / 4,
                     .reach = REACH_ONE / 2};
    /* the first plan is made even if time is up */
    for (uint32_t i = 0; i < FIRST_ORDERS && i < o->orders->starts &&
                         best->value > o->c->lower.value && !(i && clock_out(o->clock));
         i++)
        r.found.better = interval_next(o->c, &r.run, best, o->scratch) || r.found.better;
    if (o->c->g->n && !is_over(&r))
        try_cuts(&r, 0);
    if (o->c->g->n && o->max_states && !is_over(&r))
        run_rounds(&r);
    try_smaller(&r);
    r.found.steps = r.steps;
    if (o->clock && o->clock->why)
        r.found.why = o->clock->why;
    else
        r.found.why = r.full ? "memory limit reached" : "step limit reached";
    arena_free(r.a);
    return r.found;
}
