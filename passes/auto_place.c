/* auto-place: what a user gets who does not choose a planner.
 *
 * dp-place finds the best contiguous plan, and proves it where it can.  Then annealing starts from it and
 * looks for a better one of any shape (anneal.c; the placement paper's Table 1 has such plans up to 27 %
 * better), unless a lower bound for all shapes (bounds.c) says that there is none.  The better plan stays,
 * the contiguous one if they are equal: it has fewer parts.  With a time limit, what is left of it goes to
 * a proof that no plan is better by more than 1 %, by an integer program (ip_refute.c).
 *
 * Groups of devices are known to hier-place only. */
#include "passes/dp_place.h"

#include "passes/anneal_place.h"
#include "passes/any_fit.h"
#include "passes/certify.h"
#include "passes/claim.h"
#include "passes/explain.h"
#include "passes/loads.h"
#include "ir/units.h"

#include <inttypes.h>
#include <string.h>

/* FIRST_MOVES: then the bound is looked at again, since it may say that the plan is the best.  Of a time
 * limit the search over ideals gets a quarter, annealing up to half of what is left. */
enum { CHAINS = 8, FIRST_MOVES = 2000000, DP_SHARE = 4, ANNEAL_SHARE = 2 };
/* Millionths of the value that a bound may be below it before more work or solvers are asked. */
enum { CERTAIN = 10000, MILLION = 1000000 };

struct auto_options {
    int64_t starts, seed, moves;
    bool contiguous;
};

static const struct opt auto_opts[] = {
    {.kind = OPT_BOOL,
     .name = "contiguous",
     .off = offsetof(struct auto_options, contiguous),
     .def = "false",
     .help = "only contiguous plans: a part for each device"},
    {.kind = OPT_INT,
     .name = "moves",
     .off = offsetof(struct auto_options, moves),
     .def = "0",
     .lo = "0",
     .hi = "1000000000000",
     .help =
         "moves of a node that annealing tries; 0: what the graph needs, or until --time-limit"},
    {.kind = OPT_INT,
     .name = "seed",
     .off = offsetof(struct auto_options, seed),
     .def = "1",
     .lo = "0",
     .hi = "1000000000",
     .help = "seed of all random choices"},
    {.kind = OPT_INT,
     .name = "starts",
     .off = offsetof(struct auto_options, starts),
     .def = "60",
     .lo = "1",
     .hi = "1000000",
     .help = "topological orders that are cut first"},
    {0}};

/* What is known so far. */
struct auto_run {
    struct ctx *x;
    const struct auto_options *o;
    struct placing p;
    struct chain *any; /* the problem of the whole graph, its lower bound one for any shape */
    int64_t deadline;
    struct plan *contiguous; /* dp-place's; NULL: none was found */
    struct chain_plan best;  /* of any shape, for the whole graph */
    struct bound bound;      /* for any shape */
    uint64_t moves;          /* that annealing has tried */
    const char *stopped;     /* it, before it was done */
};

static void look_for_contiguous(struct auto_run *r)
{
    struct ctx *x = r->x;
    struct place_options o = {
        .max_states = 2000000, .starts = r->o->starts, .seed = r->o->seed, .whole = true};
    struct chain_clock *clock = &r->p.clock;
    if (r->deadline && !r->o->contiguous)
        clock->deadline -= (r->deadline - chain_now()) / DP_SHARE * (DP_SHARE - 1);
    if (dp_place(x, &r->p, &o)) {
        r->contiguous = x->plan;
        r->contiguous->planner = "auto-place";
        r->best.value = x->plan->value;
        any_lift(x, r->any->g, x->plan->dev, r->best.dev);
        if (r->best.copies)
            memcpy(r->best.copies, x->plan->copies, x->cluster->ndev * sizeof *r->best.copies);
    }
    clock->deadline = r->deadline;
    clock->why = NULL;
}

static void find_bound(struct auto_run *r, uint64_t work)
{
    struct bound b =
        bounds_best(r->any, r->best.value, work, &r->p.clock, r->x->m, r->x->mem, r->x->scratch);
    if (b.value >= r->bound.value)
        r->bound = b;
}

static struct anneal search_of(const struct auto_run *r, struct chain_clock *clock)
{
    return (struct anneal){.planner = "auto-place",
                           .seed = (uint64_t)r->o->seed,
                           .chains = CHAINS,
                           .progress = r->x->progress,
                           .clock = clock};
}

/* Moves of annealing, 0: what the graph needs.  First a quick look, from the contiguous plan; then what
 * anneal-place does, so that its plan is never better.  0, or -1 and an error. */
static int anneal(struct auto_run *r, uint64_t moves, bool first)
{
    struct ctx *x = r->x;
    struct chain_clock clock = r->p.clock;
    struct chain_plan fresh;
    if (r->deadline)
        clock.deadline -= (r->deadline - chain_now()) / ANNEAL_SHARE;
    struct anneal s = search_of(r, &clock);
    s.moves = moves;
    s.enough = r->bound.value;
    any_starts(x, r->any, r->p.chain, &s);
    if (first) {
        if (anneal_search(r->any, &s, &r->best, x->scratch, x->diag) < 0)
            return -1;
    } else {
        fresh = no_plan(x, r->any->g);
        if (anneal_place(x, &r->p, r->any, &s, &fresh))
            return -1;
        if (fresh.value < r->best.value)
            r->best = fresh;
    }
    r->moves += s.done;
    r->stopped = clock.why;
    return 0;
}

/* Whether a better bound is worth seconds. */
static bool far(const struct auto_run *r)
{
    return r->best.value - r->bound.value > mul_div_ceil(r->best.value, CERTAIN, MILLION);
}

/* A plan of any shape, from the contiguous one. */
static int look_for_any(struct auto_run *r)
{
    uint64_t moves = (uint64_t)r->o->moves,
             first = moves && moves < FIRST_MOVES ? moves : FIRST_MOVES;
    find_bound(r, BOUNDS_WORK / 10);
    if (r->best.value > r->bound.value) {
        if (anneal(r, first, true))
            return -1;
        find_bound(r, BOUNDS_WORK / 10);
    }
    if (r->best.value > r->bound.value && moves != first &&
        anneal(r, moves ? moves - first : 0, false))
        return -1;
    if (r->best.value < CHAIN_INF && far(r))
        find_bound(r, r->deadline ? BOUNDS_MOST_WORK
                                  : BOUNDS_MOST_WORK / (3 + r->any->g->n / 200)); /* 2 or 3 s */
    if (r->best.value < CHAIN_INF && !r->any->detailed)
        certify(r->any, r->best.value, CERTAIN, &r->p.clock, &r->bound, r->x->mem, r->x->scratch);
    return 0;
}

/* "4.20 %" */
static const char *percent(const struct auto_run *r, int64_t less, int64_t more)
{
    int64_t p = mul_div_ceil(more - less, 10000, more);
    return arena_fmt(r->x->mem, "%" PRId64 ".%02" PRId64 " %%", p / 100, p % 100);
}

/* Status and bounds of the plan left: of all plans of any shape, or of contiguous ones if that says more. */
static void claim_any(struct auto_run *r)
{
    struct ctx *x = r->x;
    struct bound all = r->bound;
    if (must_level(x) != r->any->g)
        all = claim_all(x, x->plan->value, true, BOUNDS_WORK, &r->p.clock);
    if (x->plan == r->contiguous && x->plan->status == PLAN_OPTIMAL && r->bound.value < x->plan->value) {
        x->plan->bound_all = all.value;
        return;
    }
    claim(x, claim_scope(x, false, false), r->bound, all);
}

/* The better plan, with the reason. */
static void conclude(struct auto_run *r)
{
    struct ctx *x = r->x;
    const struct plan *dp = r->contiguous;
    const char *why = r->bound.why, *tried;
    char text[UNIT_TEXT];
    tried = arena_fmt(x->mem, "%" PRIu64 " moves of annealing%s%s%s", r->moves,
                      r->stopped ? " (" : "", r->stopped ? r->stopped : "", r->stopped ? ")" : "");
    if (dp && dp->value <= r->best.value) {
        x->plan = r->contiguous;
        const char *of = dp->status == PLAN_OPTIMAL ? "of all contiguous plans" : "found";
        x->plan->argument =
            r->bound.value >= dp->value
                ? arena_fmt(x->mem, "contiguous; no plan of any shape takes less: %s", why)
                : arena_fmt(x->mem, "contiguous: the best %s; nothing better in %s; bound: %s", of,
                            tried, why);
    } else {
        leave_plan(x, "auto-place", r->any->g, &r->best);
        const char *than =
            !dp ? "no contiguous plan was found"
                : arena_fmt(x->mem, "%s less than the best contiguous plan found, %s%s",
                            percent(r, r->best.value, dp->value), time_short(text, dp->value),
                            dp->status == PLAN_OPTIMAL ? " (proven)" : "");
        x->plan->argument =
            arena_fmt(x->mem, "not contiguous: %s; %s; bound: %s", than, tried, why);
    }
    claim_any(r);
}

/* dp-place's plan, its bound and proof; the reason why. */
static int only_contiguous(struct auto_run *r, const char *why)
{
    if (!r->contiguous)
        return report_infeasible(r->x, r->p.whole, true, &r->p.run);
    struct plan *p = r->contiguous;
    p->argument = arena_fmt(r->x->mem, "contiguous (%s): %s", why, p->argument);
    return 0;
}

static int auto_place_run(struct ctx *x, const void *options)
{
    struct auto_run r = {.x = x, .o = options};
    struct diag quiet = diag_silent();
    struct place_options first = {.starts = r.o->starts, .seed = r.o->seed};
    if (placing_start(x, "auto-place", &first, &r.p))
        return -1;
    r.deadline = r.p.clock.deadline;
    r.best = no_plan(x, any_level(x));
    if (!(r.any = chain_build(any_level(x), x->cluster, -1, x->scratch, x->diag)))
        return -1;
    r.bound = (struct bound){r.any->lower, r.any->lower_why, explain_chain(r.any, x->m, x->mem)};
    look_for_contiguous(&r);
    if (r.o->contiguous)
        return only_contiguous(&r, "as asked for");
    if (loads_check(r.any, "auto-place", &quiet))
        return only_contiguous(&r, "the graph is too large for other shapes");
    if (look_for_any(&r))
        return -1;
    if (r.best.value == CHAIN_INF) {
        struct anneal like = search_of(&r, &r.p.clock);
        return any_infeasible(x, r.any, &like);
    }
    conclude(&r);
    return 0;
}

const struct pass pass_auto_place = {
    .name = "auto-place",
    .help = "the better of dp-place and annealing, with the reason and a bound",
    .opts = auto_opts,
    .optsize = sizeof(struct auto_options),
    .needs = NEED_COST | NEED_CONTRACT,
    .run = auto_place_run};
