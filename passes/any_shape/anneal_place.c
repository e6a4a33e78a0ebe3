/* anneal-place: a plan of any shape whose largest load is small, by simulated annealing.
 *
 * Source: the placement paper (Tarnawski et al., NeurIPS 2020), 5.1 (plans that need not be contiguous) and 5.2.
 * The search starts from the best of some topological orders cut by interval DP, so that the final plan is never
 * worse.  Then annealing and the search for bounds take turns (any_search.c).
 *
 * The search ends after the moves that the option `moves` allows, or at the time limit. */
#include "passes/any_shape/fit_memory.h"
#include "passes/contiguous/infeasible.h"
#include "passes/any_shape/gather_parts.h"

#include <inttypes.h>

/* The options in anneal_opts. */
struct anneal_options {
    int64_t seed, moves, chains, threads, starts;
};

static const struct opt anneal_opts[] = {
    {OPT_INT, "seed", offsetof(struct anneal_options, seed), "1", .lo = "0", .hi = "1000000000",
     .help = "seed of all random choices"},
    {OPT_INT, "moves", offsetof(struct anneal_options, moves), "0", .lo = "0",
     .hi = "1000000000000",
     .help = "moves of a node to try; 0: what the graph needs, or until --time-limit"},
    {OPT_INT, "chains", offsetof(struct anneal_options, chains), "8", .lo = "1", .hi = "64",
     .help = "runs that work apart before they compare their plans"},
    {OPT_INT, "threads", offsetof(struct anneal_options, threads), "0", .lo = "0", .hi = "64",
     .help = "threads that share out the runs, with the same plan as one; 0: one for each core"},
    {OPT_INT, "starts", offsetof(struct anneal_options, starts), "60", .lo = "1", .hi = "1000000",
     .help = "topological orders to cut for the first plan"},
    {0}};

/* Sets s->p's claim about the plan: status, bound and argument.  seed: the seed of the search, which the argument
 * names. */
static void write_claim(struct any_search *s, uint64_t seed)
{
    struct ctx *x = s->x;
    const char *why = s->p->clock.why;
    struct plan *p = x->results.plan;
    any_bound(s, BOUNDS_WORK);
    struct bound all = s->bound;
    if (mandatory_level(x) != s->any->g)
        all =
            bounds_all(x, p->claim.value_less_parts, /*must_fit=*/true, BOUNDS_WORK, &s->p->clock);
    const char *bound =
        claim_make(x, claim_scope(x, /*contiguous=*/false, /*fused=*/false), s->bound, all);
    if (p->claim.status == PLAN_OPTIMAL)
        p->claim.argument =
            arena_fmt(x->use.mem, "no plan%s takes less: %s", plan_among(p->claim.scope), bound);
    else
        p->claim.argument =
            arena_fmt(x->use.mem, "best of %" PRIu64 " moves, seed %" PRIu64 "%s%s; bound: %s",
                      s->moves, seed, why ? ", " : "", why ? why : "", bound);
}

/* Reports why there is no plan (a node that no device runs, or memory); returns PASS_INFEASIBLE, or -1 after another
 * error. */
static int report_none(const struct any_search *s, const struct anneal *like)
{
    if (exec_live_parts(&s->x->scene.model))
        return report_none_fits(s->x, s->p->whole, &s->p->orders);
    return any_infeasible(s->x, s->any, like);
}

/* pass.run: leaves the best plan of any shape that annealing finds.  Returns 0, PASS_INFEASIBLE after an error, or -1
 * and an error. */
static int anneal_place_run(struct ctx *x, const void *options)
{
    const struct anneal_options *o = options;
    struct place_options first = {.starts = o->starts, .seed = o->seed};
    struct planner_input p;
    struct any_search s;
    if (placing_start(x, &first, &p) || any_begin(&s, x, &p))
        return -1;
    struct anneal like = {.planner = "anneal-place",
                          .moves = (uint64_t)o->moves,
                          .seed = (uint64_t)o->seed,
                          .chains = (uint32_t)o->chains,
                          .threads = (uint32_t)o->threads,
                          .clock = &p.clock};
    if (any_hopeless(x, s.any)) /* no plan exists, as is seen without a search */
        return report_none(&s, &like);
    if (any_improve(&s, &like))
        return -1;
    if (s.best.value == LOAD_INF)
        return report_none(&s, &like);
    tidy_parts(&s);
    leave_plan(x, "anneal-place", s.any->g, &s.best);
    write_claim(&s, like.seed);
    return 0;
}

const struct planner planner_anneal_place = {
    .pass = {"anneal-place",
             "split of any shape by simulated annealing: parts need not be contiguous", anneal_opts,
             sizeof(struct anneal_options), .needs = NEED_COST | NEED_CONTRACT,
             .run = anneal_place_run},
    .fit = FIT_ANY_SHAPE,
    .objectives = {"time-per-sample"},
    .features =
        FEATURE_PINS | FEATURE_PART_COST | FEATURE_OVERLAP | FEATURE_GPIPE | FEATURE_COPIES};
