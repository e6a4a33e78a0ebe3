/* hier-place: the contiguous split for accelerators that stand in groups (cluster.h).
 *
 * Source: the placement paper, H.3.  A plan is a chain of groups, and within each group a chain of devices: the
 * quotient graphs by devices and by groups are both acyclic.  (Plans in which devices of one group take turns with
 * devices of another group are left out, as in the paper.)  With --replicate (H.2) several devices of a group may take
 * turns with a stage, or devices of several groups that have no other stage.
 *
 * Graphs of few ideals are searched whole (hier_dp.c); graphs of many ideals are searched along topological orders.
 * An order is cut at sampled positions, where little crosses; the pieces become the vertices of a path, which has
 * few ideals, and the path is searched; then the cuts of the best plan are moved by ever smaller distances.  A graph
 * of few ideals begins in this way, too, since a good first plan prunes the search.
 *
 * Lower bounds are those of a flat cluster, in which every transfer that does not touch the host goes over an inner
 * link: average load, the largest vertices, its exact search (ideal_search.c), minimum cuts (crossing_bound.c),
 * smaller graphs (smaller_graph_bound.c).
 *
 * Cost: O(cuts^4) for each order in the worst case; the pruning leaves little of it. */
#include "passes/bounds/bounds.h"
#include "ir/base/random.h"
#include "passes/bounds/crossing_bound.h"
#include "ir/dag/order_cuts.h"
#include "passes/contiguous/smaller_graph_bound.h"
#include "passes/bounds/explain.h"
#include "passes/contiguous/ideal_search.h"
#include "passes/contiguous/dp_leaves.h"
#include "passes/contiguous/hier_dp.h"
#include "passes/contiguous/interval_dp.h"
#include "passes/problem/placing.h"
#include "ir/dag/topo_order.h"

#include <string.h>

enum {
    BOUND_STATES = 2000000, /* ideals that the exact search of the flat cluster may keep */
    BOUND_STEPS = 4,        /* steps of bounds from smaller graphs for each of BOUND_STATES */
    CUT_WORK = 30000000,    /* arcs that the bound by minimum cuts may look at */
    ORDER_STEPS = 10,       /* the orders of a level get 1 / ORDER_STEPS of the option `steps` */
    FEW_STARTS = 6,         /* orders tried at most for a graph that is searched whole afterwards */
    FEW_CUTS = 32,          /* number of sampled cuts of an order for the very first plan */
    BOUND_STARTS = 60       /* orders that interval DP tries in the flat cluster */
};

/* The options in hier_opts. */
struct hier_options {
    int64_t ideals, starts, cuts, steps, seed;
};

static const struct opt hier_opts[] = {
    {OPT_INT, "ideals", offsetof(struct hier_options, ideals), "300", .lo = "0", .hi = "1000",
     .help = "graphs of up to so many ideals are searched whole (also --max-states)"},
    {OPT_INT, "starts", offsetof(struct hier_options, starts), "20", .lo = "1", .hi = "1000000",
     .help = "topological orders to try"},
    {OPT_INT, "cuts", offsetof(struct hier_options, cuts), "96", .lo = "2", .hi = "900",
     .help = "positions of an order to cut at"},
    {OPT_INT, "steps", offsetof(struct hier_options, steps), "20000000000", .lo = "1",
     .hi = "1000000000000000",
     .help = "steps of the search before it gives up (a tenth of it for the orders)"},
    {OPT_INT, "seed", offsetof(struct hier_options, seed), "1", .lo = "0", .hi = "1000000000",
     .help = "seed of the orders"},
    {0}};

/* A search for plans along topological orders. */
struct orders {
    struct wdag *g;
    const struct scene *s;
    const struct hier_options *o;
    struct clock *clock;
    uint64_t steps; /* number of steps left */
    uint32_t tried; /* number of orders tried so far */
    struct arena *a;
    const uint32_t *order; /* position -> vertex: the present order */
    uint8_t *cut;          /* [position] 1: a piece may end before this position */
};

/* Returns the least time of v over all classes, ps; 0 if v can run on none. */
static int64_t least_time(const struct wdag *g, uint32_t v)
{
    int64_t least = COST_NEVER;
    for (uint32_t k = 0; k < g->ncls; k++)
        least = smaller(g->time[k][v], least);
    return least == COST_NEVER ? 0 : least;
}

/* Fills r->cut: divides the order into `count` pieces and cuts at the cheapest position of each (order_cuts.h); an
 * order of at most `count` vertices is cut everywhere. */
static void sample_cuts(struct orders *r, uint32_t count)
{
    uint32_t n = r->g->n;
    memset(r->cut, n <= count, (size_t)n + 1);
    if (n <= count)
        return;
    int64_t *work = arena_array(r->a, (size_t)n + 1, sizeof *work);
    for (uint32_t p = 0; p < n; p++)
        work[p + 1] = work[p] + least_time(r->g, r->order[p]);
    cuts_sample(r->g, r->order, work, count, r->cut, r->a);
}

/* Fills r->cut with about `count` cuts: the cuts of the plan dev[vertex], and around each of them others, `stride`
 * positions apart. */
static void cut_around(struct orders *r, const int32_t *dev, uint32_t stride, uint32_t count)
{
    uint32_t n = r->g->n, ncut = 1;
    for (uint32_t p = 1; p < n; p++)
        ncut += dev[r->order[p]] != dev[r->order[p - 1]];
    int64_t radius = count / (2 * ncut) + 1; /* new cuts on each side of a cut of the plan */
    memset(r->cut, 0, (size_t)n + 1);
    for (uint32_t p = 1; p < n; p++) {
        if (dev[r->order[p]] == dev[r->order[p - 1]])
            continue;
        for (int64_t k = -radius; k <= radius; k++) {
            int64_t at = (int64_t)p + k * stride;
            if (at > 0 && at < n)
                r->cut[at] = 1;
        }
    }
}

/* Divides the order into pieces at the cuts, and also before a vertex that no device could run together with the
 * piece so far.  Writes group[vertex], the number of its piece, and returns the number of pieces. */
static uint32_t make_pieces(const struct orders *r, uint32_t *group)
{
    const struct wdag *g = r->g;
    uint32_t n = 0, can = 0; /* can: bit of each class that can run the whole piece */
    int32_t pin = -1;        /* the device that a vertex of the piece is pinned to; -1: none */
    for (uint32_t p = 0; p < g->n; p++) {
        uint32_t v = r->order[p], run = 0;
        for (uint32_t k = 0; k < g->ncls; k++)
            run |= (uint32_t)(g->time[k][v] != COST_NEVER) << k;
        bool must_cut = (pin >= 0 && g->pin[v] >= 0 && pin != g->pin[v]) || !(can & run);
        if (!p || r->cut[p] || must_cut) {
            n++;
            can = run;
            pin = -1;
        }
        can &= run;
        pin = g->pin[v] >= 0 ? g->pin[v] : pin;
        group[v] = n - 1;
    }
    return n;
}

/* Searches the path of the pieces that r->cut makes, and improves *best, a plan for the vertices of r->g.  Takes the
 * steps done off r->steps.  Returns 1 if *best improved, 0 if not, -1 after an error. */
static int search_pieces(struct orders *r, struct problem_plan *best, struct diag *d)
{
    struct arena_mark mark = arena_mark(r->a);
    uint32_t n = r->g->n, *group = arena_array(r->a, (size_t)n + 1, sizeof *group);
    uint32_t count = make_pieces(r, group);
    /* each vertex must stay behind the one before it in the order: so the merged graph is a path */
    struct pairs follows = pairs_new(r->a, n);
    for (uint32_t p = 1; p < n; p++)
        pairs_add(&follows, r->order[p - 1], r->order[p]);
    const struct wdag_groups pieces = {.of = group, .n = count, .order = &follows};
    struct wdag *level = wdag_merge_ordered(r->g, &pieces, "hier-place", r->a, d);
    const struct hier_limits most = {
        .max_ideals = HIER_IDEALS, .max_steps = r->steps, .clock = r->clock};
    struct hier_found found = {.rc = -1};
    struct problem_plan plan = {.value = best->value,
                                .dev = arena_array(r->a, (size_t)count + 1, sizeof(int32_t)),
                                .copies = best->copies};
    if (level)
        found = hier_search(level, r->s, &most, &plan, r->a, d);
    /* merging the pieces counts as steps, too: 8 for each vertex and pin */
    uint64_t spent = found.steps + 8 * ((uint64_t)n + r->g->net_of.at[n]);
    r->steps = spent < r->steps ? r->steps - spent : 0;
    if (found.rc == 1) {
        best->value = plan.value;
        for (uint32_t v = 0; v < n; v++)
            best->dev[v] = plan.dev[level->map[v]];
    }
    arena_release(r->a, mark);
    return found.rc;
}

/* Improves *best by the present order: first sampled cuts, then cuts around the cuts of the best plan, ever nearer.
 * The very first plan comes from few cuts, and is made even if time is up.  Returns 1 if *best improved, 0 if not, -1
 * after an error. */
static int search_order(struct orders *r, struct problem_plan *best, struct diag *d)
{
    uint32_t n = r->g->n, count = (uint32_t)r->o->cuts;
    int first = 0; /* what search_pieces() returned for the very first plan */
    if (best->value == LOAD_INF && count > FEW_CUTS) {
        struct clock none = {0}, *clock = r->clock; /* `none` has no time limit */
        r->clock = &none;
        sample_cuts(r, FEW_CUTS);
        first = search_pieces(r, best, d);
        r->clock = clock;
        if (first < 0 || (first && clock_out(clock)))
            return first;
    }
    sample_cuts(r, count);
    int rc = search_pieces(r, best, d);
    if (rc < 0 || n <= count || !(rc || first))
        return rc; /* all cuts were allowed already, or this order has made no plan whose cuts could be moved */
    /* a quarter of the stride each time; stride 1 is repeated while it improves the plan and steps are left */
    for (uint32_t stride = n / count + 1;; stride = (stride + 3) / 4) {
        cut_around(r, best->dev, stride, count);
        int again = search_pieces(r, best, d);
        if (again < 0)
            return again;
        if (stride == 1 && (!again || !r->steps))
            return 1;
    }
}

/* Tells the listener the progress: r->tried of `starts` orders have been tried; lower: the bound, ps; value: value of
 * the best plan, ps, LOAD_INF: no plan is known. */
static void tell_progress(const struct orders *r, uint32_t starts, int64_t lower, int64_t value)
{
    listener_tell(r->clock->listener,
                  (struct progress){.phase = "trying orders",
                                    .done = (uint32_t)((uint64_t)r->tried * 1000 / starts),
                                    .value = value < LOAD_INF ? value : 0,
                                    .bound = lower});
}

/* Improves *best by up to `starts` orders.  Ends early when the value of *best is down to the bound `lower`, or when
 * steps or time are used up (but not before the first order).  Returns 0, or -1 and an error. */
static int search_orders(struct orders *r, uint32_t starts, int64_t lower,
                         struct problem_plan *best, struct diag *d)
{
    static const enum topo_kind kinds[] = {TOPO_CPD,  TOPO_LIFO, TOPO_LATE,
                                           TOPO_THIN, TOPO_FIFO, TOPO_RANDOM};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    uint64_t state = (uint64_t)r->o->seed;
    for (r->tried = 0; r->tried < starts && best->value > lower; r->tried++) {
        /* the first order of each kind breaks ties by numbers of vertices (seed 0), later ones at random */
        uint64_t seed = random_bits(&state) | 1;
        if (r->tried && (!r->steps || clock_out(r->clock)))
            break;
        struct arena_mark mark = arena_mark(r->a);
        r->order = topo_order(r->g, kinds[r->tried % KINDS], r->tried < KINDS ? 0 : seed, r->a);
        r->cut = arena_alloc(r->a, (size_t)r->g->n + 1);
        int rc = search_order(r, best, d);
        arena_release(r->a, mark);
        if (rc < 0)
            return -1;
        tell_progress(r, starts, lower, best->value);
    }
    return 0;
}

/* ---- the pass --------------------------------------------------------------------------------- */

/* Reports that no plan was found; none: it is proven that no plan exists.  Returns PASS_INFEASIBLE. */
static int report_none(struct ctx *x, bool none, const struct clock *clock)
{
    bool memory = false;
    for (uint32_t k = 0; k < x->scene.cluster->ncls; k++)
        memory = memory || x->scene.cluster->cls[k].memory >= 0;
    const char *reason = ": some node cannot run anywhere, or pins contradict each other";
    if (memory)
        reason = " and no device more than its memory (dp-place, without groups, says how much "
                 "they need)";
    diag_error(x->use.diag, "no plan %s in which each group takes a contiguous piece%s%s%s",
               none ? "exists" : "was found", reason, clock->why ? ": " : "",
               clock->why ? clock->why : "");
    return PASS_INFEASIBLE;
}

/* Raises c->lower by searches of the flat cluster, at most to `value`, the value of the best plan, ps; c is the problem
 * of wdag_inner().  Returns true if the searches prove that no plan exists. */
static bool raise_bound(struct ctx *x, struct problem *c, int64_t value, struct clock *clock)
{
    const struct dp_limits most = {.max_states = BOUND_STATES, .clock = clock};
    struct problem_plan flat = no_plan(x, c->g); /* the best plan of the flat cluster */
    const struct interval_how orders = {.starts = BOUND_STARTS, .seed = 1, .clock = clock};
    if (c->detailed && !c->values) { /* with copies the graph without idle leaves may be enough */
        const struct dp_race race = {.c = c,
                                     .orders = &orders,
                                     .max_states = BOUND_STATES,
                                     .clock = clock,
                                     .m = x->scene.m,
                                     .mem = x->use.mem,
                                     .scratch = x->use.scratch,
                                     .diag = x->use.diag};
        dp_without_leaves(&race, &flat);
        if (value <= c->lower.value)
            return false;
    }
    interval_search(c, &orders, &flat, x->use.scratch);
    struct dp_found s = dp_search(c, &most, &flat, x->use.scratch);
    /* a search that ended gives the optimum of the flat cluster as the bound; else all other methods are tried */
    if (!s.complete && !c->detailed) {
        const struct bound_means with = bounding_of(x, BOUNDS_WORK, clock);
        problem_raise(c, bounds_best(c, value, &with, NULL));
        problem_raise(c, cut_bound(c, CUT_WORK, clock, x->use.scratch));
        if (value < LOAD_INF)
            problem_raise(c, dp_bound(c, value, BOUND_STEPS * (uint64_t)BOUND_STATES, clock,
                                      x->use.scratch, x->use.diag));
    } else if (s.complete && flat.value < LOAD_INF) {
        problem_raise(c, (struct bound){.value = flat.value,
                                        .why = "optimum with inner links everywhere",
                                        .by = {.by = LOWER_FLAT}});
    }
    return s.complete && flat.value == LOAD_INF;
}

/* Fills the claim of results.plan: status, bound and argument.  c: problem of the flat cluster; run: result of
 * hier_search() on the top level; on_whole: that level is the whole graph; searched: value of the best plan of that
 * level, ps. */
static void write_claim(struct ctx *x, const struct problem *c, const struct hier_found *run,
                        bool on_whole, const struct orders *orders, int64_t searched)
{
    struct plan *p = x->results.plan;
    struct clock clock = ctx_late_clock(x);
    struct bound in = explain_bound(c, x->scene.m, x->use.mem);
    p->states = run->ideals;
    bool lowest = p->claim.value_less_parts <= c->lower.value;
    if (lowest) {
        p->claim.argument = ""; /* claim_make() tells why, below */
    } else if (run->complete && on_whole) {
        p->claim.argument =
            "each group a contiguous piece: every such plan was searched or ruled out";
        in.value = p->claim.value_less_parts;
        in.proof = explain_search(c, x->scene.m, p, x->use.mem);
    } else if (run->complete && p->claim.value_less_parts == searched) {
        p->claim.argument = arena_fmt(
            x->use.mem, "the best of all plans of the fused graph; bound: %s", c->lower.why);
    } else {
        p->claim.argument = arena_fmt(x->use.mem, "best of %u topological orders (%s); bound: %s",
                                      orders->tried, run->why, c->lower.why);
    }
    const char *why = claim_make(
        x, claim_scope(x, /*contiguous=*/true, /*fused=*/false), in,
        bounds_all(x, p->claim.value_less_parts, /*must_fit=*/true, BOUNDS_PROVEN_WORK, &clock));
    if (lowest)
        p->claim.argument = arena_fmt(x->use.mem, "no plan%s takes less%s: %s",
                                      plan_among(p->claim.scope), claim_less_parts(p), why);
}

/* pass.run: leaves the best plan for groups of devices.  Returns 0, PASS_INFEASIBLE, or -1 and an error. */
static int hier_run(struct ctx *x, const void *options)
{
    const struct hier_options *o = options;
    if (ctx_base(x))
        return -1;
    struct clock clock = ctx_clock(x);
    struct wdag *whole = contiguous_level(x), *level = x->levels.top;
    /* the problem of the flat cluster, for bounds */
    struct problem *c = problem_build(wdag_inner(whole, x->use.scratch), &x->scene,
                                      MEMORY_UNCHANGED, x->use.scratch, x->use.diag);
    if (!c)
        return -1;
    int64_t most = o->ideals, max_states = ctx_settings(x)->max_states;
    if (max_states)
        most = smaller(max_states, most);
    const struct hier_limits limits = {
        .max_ideals = (uint32_t)most, .max_steps = (uint64_t)o->steps, .clock = &clock};
    struct orders r = {.g = level, .s = &x->scene, .o = o, .clock = &clock, .a = x->use.scratch};
    r.steps = limits.max_steps / ORDER_STEPS + 1;
    bool few = wdag_ideals(level, limits.max_ideals) <= limits.max_ideals;
    struct problem_plan best = no_plan(x, level), wide = no_plan(x, whole);
    uint32_t starts = few && o->starts > FEW_STARTS ? FEW_STARTS : (uint32_t)o->starts;
    /* on the top level: orders, then all plans if the level has few ideals */
    if (search_orders(&r, starts, c->lower.value, &best, x->use.diag))
        return -1;
    const struct hier_found run =
        hier_search(level, &x->scene, &limits, &best, x->use.scratch, x->use.diag);
    if (run.rc < 0)
        return -1;
    int64_t searched = best.value;
    if (level != whole) { /* orders of the whole graph, for plans that are better still */
        r.g = whole;
        r.steps = limits.max_steps / ORDER_STEPS + 1;
        wide.value = best.value;
        if (search_orders(&r, (uint32_t)o->starts, c->lower.value, &wide, x->use.diag))
            return -1;
    }
    bool none = false;
    if (best.value > c->lower.value && !(run.complete && level == whole))
        none = raise_bound(x, c, smaller(best.value, wide.value), &clock);
    if (best.value == LOAD_INF && wide.value == LOAD_INF)
        return report_none(x, none || (run.complete && level == whole), &clock);
    bool better = level != whole && wide.value < best.value;
    leave_plan(x, "hier-place", better ? whole : level, better ? &wide : &best);
    write_claim(x, c, &run, level == whole, &r, searched);
    return 0;
}

const struct planner planner_hier_place = {
    .pass =
        {.name = "hier-place",
         .help =
             "contiguous split for accelerators in groups with faster links inside (placement paper, H.3)",
         .opts = hier_opts,
         .optsize = sizeof(struct hier_options),
         .needs = NEED_COST | NEED_CONTRACT,
         .run = hier_run},
    .fit = FIT_CONTIGUOUS,
    .objectives = {"time-per-sample"},
    .features = FEATURE_PINS | FEATURE_PART_COST | FEATURE_GROUPS | FEATURE_COPIES};
