/* The best contiguous plan of one graph (dp_race.h).
 *
 * A few topological orders are cut first by interval DP (interval_dp.h), which gives a good plan.  Then several
 * methods get turns in rounds, each round twice as long as the one before:
 *  - the main search: the exact search for plans better than the best one known (ideal_both_ends.h); it keeps its
 *    state from round to round;
 *  - interval DP over more orders, also over orders with minimum cuts among their prefixes (cut_order.h), and
 *    searches near the best plan (dp_near.h);
 *  - bounds along a path (path_bound.h), bounds for plans of any shape (bounds.h), and bounds by minimum cuts
 *    (crossing_bound.h);
 *  - a probe: an exact search for a plan below a limit between bound and best plan.  If there is none, the probe ends
 *    much sooner than the main search, and raises the bound.  The next probe's limit is nearer to the best plan if
 *    this one ended, nearer to the bound if it ran out of steps.
 * Once 1 / CLIMB_AFTER of the steps are done, searches of smaller graphs try to prove the best plan; after the last
 * round they raise the bound (smaller_graph_bound.h).
 *
 * The main search gets as many steps as the round is long.  The share of each other method doubles when its turn
 * gained something (a better plan, a higher bound) and halves when it did not.  A plan or a bound that one method
 * finds counts for all at once.  Work is counted in steps of the exact search, so that the same input gives the same
 * plan everywhere.
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
#include "passes/bounds/extent_bound.h"

enum {
    FIRST_ORDERS = 5, /* topological orders that are cut before the first round */
    MIXED_ORDERS = 2, /* FIRST_ORDERS where labels_many(), since each order takes longer there */
    /* where labels_many(), rounds end after MIXED_IDLE rounds of MIXED_ROUND steps or more that gain nothing: the exact
     * search comes to no end there */
    MIXED_IDLE = 3,
    MIXED_ROUND = 1 << 20,
    /* steps of the first round; each round has twice the steps of the one before */
    FIRST_ROUND = 8192,
    SHARE_ONE = 16,  /* shares of a round are in 1 / SHARE_ONE */
    REACH_ONE = 256, /* limits between bound and best plan are in 1 / REACH_ONE of the gap */
    /* steps of interval DP, and arcs of networks, that take as long as a step of the exact search */
    INTERVAL_PER_STEP = 8,
    ARCS_PER_STEP = 16,
    STEPS_PER_STATE = 4, /* steps allowed for each of max_states while the gap is small */
    /* the gap in 1 / GAP_UNIT of the best plan's value multiplies the steps allowed, at most by GAP_MOST */
    GAP_UNIT = 100,
    GAP_MOST = 3,
    NEAR_PARTS = 4,    /* number of neighbourhoods that one turn searches */
    SMALLER_PARTS = 4, /* searches of smaller graphs get 1 / SMALLER_PARTS of the steps allowed */
    CLIMB_AFTER = 8,   /* dp_climb() is called once, after 1 / CLIMB_AFTER of the steps allowed */
    CLIMB_STATES = 200000, /* ideals that each search of dp_climb() may keep */
    BOUNDS_LEAST = 100000, /* bounds get no turn of fewer steps than this */
    CUT_PARTS = 4, /* bounds by minimum cuts get 1 / CUT_PARTS of the work of a turn of bounds */
    /* after a turn of bounds without a gain, the next one has at least BOUNDS_MORE times its steps */
    BOUNDS_MORE = 8,
    BYTES_PER_STATE = 3,    /* a search may take BYTES_PER_STATE bytes for each of max_states */
    BYTES_PER_VERTEX = 512, /* and in addition BYTES_PER_VERTEX for each vertex and net */
    /* in a graph of more vertices, making a search counts as MAKE_PER_VERTEX steps for each vertex; orders with minimum
     * cuts and bounds along a path get no turns there, since each would take too long */
    LARGE = 8192,
    MAKE_PER_VERTEX = 4
};

/* The state of a race. */
struct race {
    const struct dp_race *o; /* the settings */
    struct interval_run run; /* interval DP over o->orders */
    struct dp_found found;   /* the result so far */
    struct problem *c;
    struct problem_plan *best;
    struct arena *a;   /* memory of `holder` and `extents` */
    struct both *main; /* the main search; NULL: not made yet */
    int64_t floor;     /* ps: the main search ends with a plan of at most this (search_ask.floor) */
    bool main_done;    /* the main search found a plan or came to its end */
    /* words on the limit of states or bytes that the main search has reached; NULL: it can go on */
    const char *full;
    /* how far the next main search's floor is below the best plan, in 1 / REACH_ONE of the gap to the bound */
    uint32_t below;
    /* steps: steps done by all methods; most: steps allowed while the gap is small */
    uint64_t steps, most;
    size_t bytes; /* number of bytes that each search may take */
    /* steps of each method's turn, in 1 / SHARE_ONE of a round */
    uint32_t order_share, cut_share, near_share, path_share, probe_share;
    uint64_t bounds_least; /* a turn of bounds must have at least this number of steps */
    struct near_run near;
    struct cut_orders cut;
    /* in the present turn, orders with minimum cuts are made until cut.looks reaches this */
    uint64_t cut_due;
    struct holder *holder; /* bounds along a path; NULL: not made yet, or c allows none */
    /* bounds along a path for more devices than `holder` allows; NULL: not made yet, not needed, or c allows none */
    struct extents *extents;
    bool holder_made; /* holder_new() was called */
    bool apart_made; /* holder_new_apart() was called, after the first holder had come to its end */
    bool climbed;    /* try_climb() was called; it makes only one attempt */
    /* where the next probe's limit is between the bound (0) and the best plan (REACH_ONE) */
    uint32_t probe_at;
};

/* Returns the number of steps still allowed: r->most times a factor, less the steps done.  The factor is the gap
 * between best plan and bound, in 1 / GAP_UNIT of the plan's value, but at least 1 and at most GAP_MOST; 1 if no plan
 * is known. */
static uint64_t steps_left(const struct race *r)
{
    int64_t best = r->best->value;
    uint64_t times =
        best < LOAD_INF ? (uint64_t)((best - r->c->lower.value) / (best / GAP_UNIT + 1)) : 1;
    times = times < 1 ? 1 : smaller_u64(times, GAP_MOST);
    return r->steps < r->most * times ? r->most * times - r->steps : 0;
}

/* Doubles a method's share of the rounds, up to SHARE_ONE, if its turn gained something; else halves the share, down
 * to `least`. */
static void adapt_share(uint32_t *share, uint32_t least, bool gained)
{
    if (gained)
        *share = smaller_u32(*share * 2, SHARE_ONE);
    else
        *share = larger_u32(*share / 2, least);
}

/* Returns whether the race is over: the best plan is proven, or the time is up. */
static bool race_over(struct race *r)
{
    return r->best->value <= r->c->lower.value || clock_out(r->o->clock);
}

/* Returns how many steps the making of a search counts as. */
static uint64_t steps_of_making(const struct race *r)
{
    return r->c->g->n > LARGE ? (uint64_t)r->c->g->n * MAKE_PER_VERTEX : 0;
}

/* Returns a new exact search for plans of at most `limit` ps; floor: as search_ask.floor. */
static struct both *search_for(struct race *r, int64_t limit, int64_t floor)
{
    r->steps += steps_of_making(r);
    return both_new(r->c, limit, floor, r->o->max_states, r->bytes);
}

/* Makes the main search seek plans better than the best one known, whichever method found that.  If the present main
 * search has neither found a plan nor ended, and the new limit is not below its floor, it goes on with that limit;
 * else a new main search with a lower floor is made. */
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

/* Continues search s, whose floor is `floor`, for `steps` steps.  If s found a better plan than r->best, copies it to
 * *r->best; if s came to its end, raises the bound.  Returns whether one of the two happened.  Updates r->found,
 * r->steps and, if s is the main search, r->full. */
static bool continue_search(struct race *r, struct both *s, int64_t floor, uint64_t steps)
{
    uint64_t before = both_steps(s);
    int64_t limit = both_limit(s);
    enum search_end end = both_go(s, steps);
    bool better = both_take(s, r->best);
    r->steps += both_steps(s) - before;
    r->found.better = r->found.better || better;
    if (s == r->main)
        r->full = end == SEARCH_FULL ? both_why_full(s) : NULL;
    if (end != SEARCH_DONE) {
        r->found.states = larger_u64(both_states(s), r->found.states);
        return better;
    }
    r->found.states = both_states(s);
    if (r->best->value > limit) /* no plan takes `limit` or less */
        problem_raise(r->c, search_bound(r->c, limit + 1, 0));
    else if (r->best->value > floor) /* no plan takes less than the one found */
        problem_raise(r->c, search_bound(r->c, r->best->value, 0));
    r->found.complete = r->best->value <= r->c->lower.value;
    return true;
}

/* The probe's turn: searches for a plan below a limit that lies between the bound and the value of the best plan, for
 * `steps` steps, and sets the next probe's limit.  Does nothing if no plan is known, if r->c is detailed, or if no
 * limit lies between. */
static void run_probe(struct race *r, uint64_t steps)
{
    int64_t gap = r->best->value - r->c->lower.value;
    int64_t limit = r->c->lower.value + (int64_t)((__int128)gap * r->probe_at / REACH_ONE);
    if (r->best->value == LOAD_INF || r->c->detailed || limit <= r->c->lower.value ||
        limit >= r->best->value - 1)
        return;
    struct both *s = search_for(r, limit, limit);
    bool gained = continue_search(r, s, limit, steps);
    adapt_share(&r->probe_share, 1, gained);
    r->probe_at = gained ? (r->probe_at + REACH_ONE) / 2 : r->probe_at / 2 + 1;
    both_free(s);
}

/* The turn of interval DP: cuts the next orders of o->orders, with the work of about `steps` steps of the exact
 * search.  That work is not counted in r->steps: o->orders has a limit of its own. */
static void try_orders(struct race *r, uint64_t steps)
{
    struct interval_run *run = &r->run;
    uint64_t stop = run->found.spent + steps * INTERVAL_PER_STEP;
    int64_t before = r->best->value;
    while (!race_over(r) && !interval_over(run) && run->found.spent < stop)
        r->found.better = interval_next(r->c, run, r->best, r->o->scratch) || r->found.better;
    adapt_share(&r->order_share, 1, r->best->value < before);
}

/* Improves the best plan by interval DP over one order.  Returns the steps of interval DP that this took. */
static uint64_t try_order(struct race *r, const uint32_t *order)
{
    struct interval_found f;
    if (labels_many(r->c))
        f = interval_rough(r->c, order, r->o->clock, r->best, r->o->scratch);
    else
        f = interval_order(r->c, order, /*cut=*/NULL, r->o->clock, r->best, r->o->scratch);
    r->found.better = r->found.better || f.better;
    return f.spent;
}

/* The turn of interval DP over orders with minimum cuts among their prefixes; each is also rearranged around the cuts
 * of the best plan.  The orders of all turns together take about as much work as these turns give; the first turn
 * tries one order at least.  Adapts the share of such turns.  No turn in a large graph. */
static void try_cut_orders(struct race *r, uint64_t steps)
{
    struct arena *a = r->o->scratch;
    int64_t before = r->best->value;
    uint64_t looks_before = r->cut.looks;
    if (r->c->g->n > LARGE)
        return;
    r->cut_due += steps * ARCS_PER_STEP;
    while (!race_over(r) && r->cut.looks <= r->cut_due) {
        struct arena_mark mark = arena_mark(a);
        const uint32_t *order = cut_order_next(r->c, &r->cut, a);
        uint64_t spent = try_order(r, order);
        if (r->best->value < LOAD_INF)
            spent += try_order(r, interval_gather(r->c, order, r->best->dev, a));
        /* steps of interval DP count as arcs */
        r->cut.looks += spent * (ARCS_PER_STEP / INTERVAL_PER_STEP);
        arena_release(a, mark);
    }
    uint64_t looks = r->cut.looks - looks_before;
    r->steps += looks / ARCS_PER_STEP;
    if (looks)
        adapt_share(&r->cut_share, 1, r->best->value < before);
}

/* The turn of searches near the best plan: searches one neighbourhood after the other, each with at most about 1 /
 * NEAR_PARTS of the `steps` steps; then adapts the share of such turns.  Does nothing if no plan is known. */
static void try_near(struct race *r, uint64_t steps)
{
    int64_t before = r->best->value;
    uint64_t spent = r->near.spent;
    if (before == LOAD_INF)
        return;
    while (!race_over(r) && r->near.spent - spent < steps && r->steps < r->most) {
        r->steps += steps_of_making(r);
        uint64_t left = steps - (r->near.spent - spent);
        uint64_t part = left < steps / NEAR_PARTS ? left : steps / NEAR_PARTS + 1;
        r->found.better =
            near_next(r->c, &r->near, part, r->best, r->o->scratch, r->o->diag) || r->found.better;
    }
    r->steps += r->near.spent - spent;
    adapt_share(&r->near_share, SHARE_ONE / 2, r->best->value < before);
}

/* Returns what a bounding method may use in a turn of `steps` steps. */
static struct bound_means means_for(const struct race *r, uint64_t steps)
{
    const struct dp_race *o = r->o;
    return (struct bound_means){.work = steps * ARCS_PER_STEP,
                                .clock = o->clock,
                                .m = o->m,
                                .mem = o->mem,
                                .scratch = o->scratch};
}

/* The turn of bounds for plans of any shape and of bounds by minimum cuts, with the work of about `steps` steps.  Sets
 * r->bounds_least for the next turn.  Does nothing if there are fewer than r->bounds_least steps, if no plan is known
 * or if r->c is detailed. */
static void try_bounds(struct race *r, uint64_t steps)
{
    const struct bound_means with = means_for(r, steps);
    uint64_t spent;
    int64_t before = r->c->lower.value;
    if (r->c->detailed || r->best->value == LOAD_INF || steps < r->bounds_least)
        return;
    problem_raise(r->c, bounds_best(r->c, r->best->value, &with, &spent));
    problem_raise(r->c,
                  cut_bound(r->c, steps * ARCS_PER_STEP / CUT_PARTS, with.clock, with.scratch));
    spent /= ARCS_PER_STEP;
    /* at least the whole turn, since `spent` lacks the work on hubs, trees, weights and minimum cuts */
    r->steps += larger_u64(spent, steps);
    r->bounds_least = r->c->lower.value > before ? steps : steps * BOUNDS_MORE;
}

/* The turn of bounds along a path, with the work of about `steps` steps.  Makes r->holder, or else r->extents, at the
 * first turn; once the holder has come to its end, replaces it by one that counts hubs apart (holder_new_apart).  No
 * turn if no plan is known, or in a large graph. */
static void try_path(struct race *r, uint64_t steps)
{
    const struct bound_means with = means_for(r, steps);
    uint64_t looks;
    if (r->c->g->n > LARGE || r->best->value == LOAD_INF)
        return;
    if (!r->holder_made) {
        r->holder = holder_new(r->c, r->best->value, r->a);
        r->extents = r->holder ? NULL : extents_new(r->c, r->best->value, r->a);
    }
    r->holder_made = true;
    if (!r->holder && !r->extents)
        return;
    struct bound b;
    if (r->holder)
        b = holder_bound(r->holder, r->best->value, &with, &looks);
    else
        b = extents_bound(r->extents, r->best->value, &with, &looks);
    bool raised = problem_raise(r->c, b);
    if (!raised && r->holder && holder_done(r->holder) && !r->apart_made) {
        struct holder *apart = holder_new_apart(r->c, r->best->value, r->a);
        r->holder = apart ? apart : r->holder;
        r->apart_made = true;
    }
    r->steps += looks / ARCS_PER_STEP;
    adapt_share(&r->path_share, SHARE_ONE / 2, raised);
}

/* Tries once to prove the best plan by searches of smaller graphs, with as many steps as the race has taken so far.
 * The steps are not counted in r->steps, since the attempt either proves the best plan, which ends the race, or
 * changes nothing. */
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

/* Raises the bound by searches of smaller graphs, if the rounds have left a gap. */
static void try_smaller(struct race *r)
{
    if (!r->c->detailed && r->best->value < LOAD_INF && !race_over(r))
        problem_raise(r->c, dp_bound(r->c, r->best->value, r->most / SMALLER_PARTS, r->o->clock,
                                     r->o->scratch, r->o->diag));
}

/* Tells the listener how many vertices the main search has passed. */
static void tell_progress(const struct race *r)
{
    uint64_t passed = (uint64_t)both_passed(r->main) * 1000 / r->c->g->n;
    problem_tell(r->c, r->o->clock, "searching", (uint32_t)passed, r->best->value);
}

/* The main search's turn: up to `round` steps, cut into slices between which a found plan makes a new search. */
static void run_main(struct race *r, uint64_t round)
{
    enum { SLICE = 262144 }; /* steps between two looks at the clock */
    r->full = NULL;
    for (uint64_t done = 0; done < round && !race_over(r) && !r->full; done += SLICE) {
        uint64_t left = smaller_u64(round - done, steps_left(r));
        if (!left)
            break;
        renew_main(r);
        r->main_done = continue_search(r, r->main, r->floor, smaller_u64(left, SLICE));
        /* the main search has come to its end: the next one gets a floor further below the best plan, by 1/16 of the
         * gap, then by 1/8, 1/4 ... all of it */
        if (r->main_done)
            r->below = r->below ? r->below * 2 : REACH_ONE / 16;
        r->below = smaller_u32(r->below, REACH_ONE);
        tell_progress(r);
    }
}

/* Gives all methods their turns, round by round, until the race is over or the steps allowed are done.  Frees the main
 * search at the end. */
static void run_rounds(struct race *r)
{
    /* many: the exact search comes to no end, so it gets short turns, and bounds along a path long ones */
    bool many = labels_many(r->c);
    /* if `many`: number of rounds of MIXED_ROUND steps or more since the last gain */
    uint32_t idle = 0;
    /* ends also when one round is longer than all steps allowed: then no method takes steps any more */
    for (uint64_t round = FIRST_ROUND;
         !race_over(r) && steps_left(r) && round / 2 <= r->most * GAP_MOST && idle < MIXED_IDLE;
         round *= 2) {
        int64_t value = r->best->value, lower = r->c->lower.value;
        run_main(r, many ? smaller_u64(round, MIXED_ROUND / 4) : round);
        if (!race_over(r))
            try_orders(r, round * r->order_share / SHARE_ONE);
        if (!race_over(r))
            try_cut_orders(r, round * r->cut_share / SHARE_ONE);
        if (!race_over(r))
            try_near(r, round * r->near_share / SHARE_ONE);
        if (!race_over(r))
            try_path(r, many ? larger_u64(round, MIXED_ROUND) : round * r->path_share / SHARE_ONE);
        if (!race_over(r))
            try_bounds(r, round / 2);
        if (!race_over(r))
            try_climb(r);
        if (!race_over(r))
            run_probe(r, round * r->probe_share / SHARE_ONE);
        bool gained = r->best->value < value || r->c->lower.value > lower;
        idle = !many || round < MIXED_ROUND || gained ? 0 : idle + 1;
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
                     .order_share = SHARE_ONE / 2,
                     .cut_share = SHARE_ONE / 2,
                     .near_share = SHARE_ONE / 2,
                     .path_share = SHARE_ONE / 2,
                     .bounds_least = BOUNDS_LEAST,
                     .probe_share = SHARE_ONE / 4,
                     .probe_at = REACH_ONE / 2};
    /* the first order is cut even if time is up */
    uint32_t first = labels_many(o->c) ? MIXED_ORDERS : FIRST_ORDERS;
    first = smaller_u32(first, o->orders->starts);
    for (uint32_t i = 0; i < first && best->value > o->c->lower.value; i++) {
        if (i > 0 && clock_out(o->clock))
            break;
        if (interval_next(o->c, &r.run, best, o->scratch))
            r.found.better = true;
    }
    if (o->c->g->n && !race_over(&r))
        try_cut_orders(&r, 0);
    if (o->c->g->n && o->max_states && !race_over(&r))
        run_rounds(&r);
    try_smaller(&r);
    r.found.steps = r.steps;
    if (o->clock && o->clock->why)
        r.found.why = o->clock->why;
    else
        r.found.why = r.full ? r.full : "step limit reached";
    arena_free(r.a);
    return r.found;
}
