/* auto-place: the default planner for the time per sample.
 *
 * dp-place finds the best contiguous plan, and proves it where it can.  A plan of any shape can take less time (the
 * placement paper's Table 1 has some up to 27 % better), but has more parts and more tensors between them, and every
 * engine pays for these.  So the contiguous plan is taken unless a plan of another shape is better by the share `gain`.
 * Annealing looks for such a plan (any_search.c) until a lower bound for all shapes (bounds.c) proves that there is
 * no such plan, or until annealing makes no progress.  The claim says how much time another shape could still save.
 * With a time limit, the remaining time is used for a proof by an integer program that no plan is better by more
 * than 1 % (ip_refute.c).
 *
 * Groups of devices are supported by hier-place only; pipeline-place is the default for the time of a training
 * iteration.  Cost: that of dp-place, of annealing and of the bounds. */
#include "passes/contiguous/dp_place.h"

#include "passes/any_shape/fit_memory.h"
#include "passes/any_shape/any_search.h"
#include "passes/integer/certify.h"
#include "passes/any_shape/gather_parts.h"
#include "passes/problem/device_loads.h"
#include "passes/contiguous/infeasible.h"
#include "passes/contiguous/refit.h"
#include "passes/stages/train.h"
#include "ir/plan/pieces.h"
#include "ir/base/units.h"

#include <inttypes.h>
#include <string.h>

enum {
    CHAINS = 8, /* number of chains of annealing */
    /* dp-place gets 1 / DP_SHARE of a time limit; making its plan fit gets 1 / DP_SHARE of the rest */
    DP_SHARE = 4,
    DP_STATES = 2000000, /* the most ideals that dp-place may visit */
    ANNEAL_SHARE = 2,    /* annealing gets 1 / ANNEAL_SHARE of the time that is left then */
    /* the search for bounds gets more work if the gap is more than this many millionths of the value */
    CERTAIN = 10000,
    /* a plan of another shape is mentioned if it saves at least this many hundredths of a percent */
    OFFERED = 100,
    MILLION = 1000000
};

/* The values of the options in auto_opts. */
struct auto_options {
    const char *gain; /* the option gain, a share as text: gain_parse() reads it */
    int64_t starts, seed, moves;
    bool contiguous; /* only contiguous plans are looked for */
};

static const struct opt auto_opts[] = {
    {OPT_TEXT, "gain", offsetof(struct auto_options, gain), "5%",
     .help =
         "what a plan that is not contiguous must save, of the time of the best contiguous one"},
    {OPT_BOOL, "contiguous", offsetof(struct auto_options, contiguous), "false",
     .help = "only contiguous plans: a part for each device"},
    {OPT_INT, "moves", offsetof(struct auto_options, moves), "0", .lo = "0", .hi = "1000000000000",
     .help =
         "moves of a node that annealing tries; 0: what the graph needs, or until --time-limit"},
    {OPT_INT, "seed", offsetof(struct auto_options, seed), "1", .lo = "0", .hi = "1000000000",
     .help = "seed of all random choices"},
    {OPT_INT, "starts", offsetof(struct auto_options, starts), "60", .lo = "1", .hi = "1000000",
     .help = "topological orders that are cut first"},
    {0}};

/* State of a run of auto-place. */
struct auto_run {
    struct ctx *x;
    const struct auto_options *o;
    struct planner_input p; /* levels, problems, orders and the clock */
    struct any_search s;    /* the search for plans of any shape */
    const char *alone;      /* why only contiguous plans are looked for; NULL: all are */
    /* millionths of the contiguous plan's time that a plan of another shape must save */
    int64_t gain;
    int64_t deadline;        /* the deadline of p's clock as the user has set it; 0: none */
    struct plan *contiguous; /* the plan of dp-place; NULL: none was found */
};

/* Whether the text is the number 0, with decimals or without, or 0 per cent. */
static bool is_zero(const char *text)
{
    size_t zeros = strspn(text, "0");
    const char *end = text + zeros;
    if (*end == '.') {
        size_t decimals = strspn(end + 1, "0");
        zeros += decimals;
        end += 1 + decimals;
    }
    if (*end == '%')
        end++;
    return zeros > 0 && !*end;
}

/* Reads a share such as "5%", "0.05" or "0" into *gain, in millionths.  Returns false if the text is no share, or
 * the share is 1 or more. */
static bool gain_parse(const char *text, int64_t *gain)
{
    *gain = 0;
    return is_zero(text) || (share_parse(text, gain) && *gain < MILLION);
}

/* If a device has too little memory for what it needs at one time under the plan of dp-place, looks for a
 * contiguous plan that fits, and takes it instead if there is one. */
static void fit_at_once(struct auto_run *r)
{
    int64_t lacks[CLUSTER_CLASSES] = {0};
    const char *why;
    if (exec_live_parts(&r->x->scene.model) && find_lacks(r->x, lacks, &why))
        fit_contiguous(r->x, /*again=*/NULL, &r->p.clock);
}

/* Finds the best contiguous plan by dp-place, in its share of the time limit.  The plan becomes the first one of
 * the search for other shapes, and gives the value that plans of other shapes must reach (any_search.need). */
static void look_for_contiguous(struct auto_run *r)
{
    struct ctx *x = r->x;
    struct place_options o = {
        .max_states = DP_STATES, .starts = r->o->starts, .seed = r->o->seed, .whole = true};
    struct clock *clock = &r->p.clock;
    if (r->alone)
        placing_leave_time(r->p.problem, clock);
    else
        *clock = clock_slice(clock, DP_SHARE);
    bool found = dp_place(x, &r->p, &o);
    clock->deadline = r->deadline; /* the deadline of the whole time limit again */
    clock->why = NULL;
    if (found) {
        struct clock whole = *clock;
        if (!r->alone)
            *clock = clock_slice(clock, DP_SHARE);
        fit_at_once(r);
        *clock = whole;
        r->contiguous = x->results.plan;
        r->contiguous->planner = "auto-place";
        r->s.best.value = x->results.plan->claim.value - r->s.start;
        any_lift(x, r->s.any->g, x->results.plan->dev, r->s.best.dev);
        /* a plan that fit_at_once() made has no copies */
        if (r->s.best.copies && x->results.plan->copies)
            memcpy(r->s.best.copies, x->results.plan->copies,
                   x->scene.cluster->ndev * sizeof *r->s.best.copies);
        if (r->p.all.value > r->s.bound.value)
            r->s.bound = r->p.all;
        int64_t least = mul_div_ceil(x->results.plan->claim.value, r->gain, MILLION);
        r->s.need = r->s.best.value - (least > 0 ? least : 1);
    }
}

/* Returns whether it is worth seconds to look for a better bound: a plan of any shape will be taken, and the bound
 * is farther than CERTAIN from the plan's value. */
static bool is_far(const struct auto_run *r)
{
    const struct any_search *s = &r->s;
    return s->best.value < LOAD_INF && (r->gain == 0 || s->best.value <= s->need) &&
           s->best.value - s->bound.value > mul_div_ceil(s->best.value, CERTAIN, MILLION);
}

/* Looks for a better plan of any shape, starting from the contiguous one, and for bounds.  Returns 0, or -1 and reports
 * an error. */
static int look_for_any(struct auto_run *r)
{
    struct any_search *s = &r->s;
    struct clock clock = clock_slice(&r->p.clock, ANNEAL_SHARE);
    struct anneal like = {.planner = "auto-place",
                          .moves = (uint64_t)r->o->moves,
                          .seed = (uint64_t)r->o->seed,
                          .chains = CHAINS,
                          .goal = r->gain ? s->need : 0,
                          .clock = &clock};
    if (any_improve(s, &like))
        return -1;
    if (s->best.value < LOAD_INF)
        tidy_parts(s);
    /* no plan of another shape is good enough, so the contiguous plan is taken; a better bound may prove that this
     * plan is the best of all */
    if (r->contiguous && s->best.value > s->need)
        any_bound(s, BOUNDS_WORK / 4);
    if (is_far(r)) {
        uint64_t work = BOUNDS_MOST_WORK / (3 + s->any->g->n / 200); /* 2 or 3 s */
        if (r->deadline)
            work = BOUNDS_MOST_WORK;
        else if (labels_many(s->any))
            work = BOUNDS_WORK;
        any_bound(s, work);
    }
    const struct bound_means with = bounding_of(r->x, 0, &r->p.clock);
    if (is_far(r) && !s->any->detailed)
        s->bound = ip_certify(s->any, s->bound, s->best.value, CERTAIN, &with);
    return 0;
}

/* Returns by how much `less` is below `more`, in hundredths of a percent of `more`, rounded down. */
static int64_t share_below(int64_t less, int64_t more)
{
    return more > 0 ? (int64_t)((__int128)(more - less) * 10000 / more) : 0;
}

/* Returns a text such as "4.20 %" for 420 hundredths of a percent. */
static const char *percent_text(const struct auto_run *r, int64_t hundredths)
{
    return arena_fmt(r->x->use.mem, "%" PRId64 ".%02" PRId64 " %%", hundredths / 100,
                     hundredths % 100);
}

/* Returns the number of parts of the plan dev[node]. */
static uint32_t count_parts(const struct ctx *x, const int32_t *dev)
{
    int32_t *piece_dev;
    uint32_t *piece = arena_array(x->use.scratch, x->scene.m->nnode, sizeof *piece);
    return pieces_build(&x->scene, dev, piece, &piece_dev, x->use.scratch);
}

/* Returns words for the set of plans that the search was about: " of any shape" if that is all plans. */
static const char *looked_at_text(const struct ctx *x)
{
    enum plan_scope scope = claim_scope(x, /*contiguous=*/false, /*fused=*/false);
    return scope == SCOPE_ALL ? " of any shape" : plan_among(scope);
}

/* Returns a line on the time that a plan of another shape saves, or at most could save by the bound; NULL: nothing is
 * known, or the contiguous plan is proven to be best. */
static const char *write_offer(struct auto_run *r)
{
    const struct any_search *s = &r->s;
    struct ctx *x = r->x;
    int64_t value = r->contiguous->claim.value, found = s->best.value + s->start;
    int64_t bound = s->bound.value + s->start;
    if (found < value && share_below(found, value) >= OFFERED) {
        const int32_t *dev =
            plan_project(s->any->g, s->best.dev, x->scene.m->nnode, x->use.scratch);
        return arena_fmt(x->use.mem,
                         "of any shape: %s less with %u parts (-p 'auto-place{gain=0}')",
                         percent_text(r, share_below(found, value)), count_parts(x, dev));
    }
    if (bound >= value || bound <= 0)
        return NULL; /* proven to be best, or no bound is known */
    /* + 1, since the share was rounded down, and no plan may save more than is printed */
    return arena_fmt(x->use.mem, "no plan%s takes %s less", looked_at_text(x),
                     percent_text(r, share_below(bound, value) + 1));
}

/* Sets status, scope and bounds of the plan's claim: by the bound for all plans, or for contiguous plans if it is
 * larger. */
static void claim_plan(struct auto_run *r)
{
    struct ctx *x = r->x;
    struct plan *p = x->results.plan;
    struct bound all = r->s.bound;
    if (mandatory_level(x) != r->s.any->g)
        all = bounds_all(x, p->claim.value_less_parts, /*must_fit=*/true, BOUNDS_WORK, &r->p.clock);
    struct bound whole = all;
    whole.value += all.value < 0 ? 0 : claim_start(x, mandatory_level(x));
    /* the bound that dp-place found for contiguous plans is the larger one */
    if (p == r->contiguous && p->claim.bound > r->s.bound.value + r->s.start &&
        p->claim.bound > whole.value) {
        int64_t known = claim_bound_all(x, whole);
        p->claim.bound_all = larger(known, p->claim.bound_all);
    } else {
        claim_make(x, claim_scope(x, /*contiguous=*/false, /*fused=*/false), r->s.bound, all);
    }
}

/* Makes the contiguous plan the result, or the best plan of any shape if that saves enough; sets the claim's
 * argument. */
static void conclude(struct auto_run *r)
{
    struct ctx *x = r->x;
    const struct any_search *s = &r->s;
    const struct plan *dp = r->contiguous;
    char text[UNIT_TEXT];
    if (dp && s->best.value > s->need) {
        x->results.plan = r->contiguous;
        x->results.plan->claim.argument =
            s->bound.value + s->start >= dp->claim.value
                ? arena_fmt(x->use.mem, "contiguous; no plan%s takes less: %s", looked_at_text(x),
                            s->bound.why)
                : arena_fmt(x->use.mem, "contiguous: %s", dp->claim.argument);
        x->results.plan->claim.offer = write_offer(r);
        claim_plan(r);
        return;
    }
    leave_plan(x, "auto-place", s->any->g, &s->best);
    const char *than =
        !dp ? "no contiguous plan was found"
            : arena_fmt(x->use.mem, "%s less than the best contiguous plan found, %s%s",
                        percent_text(r, share_below(s->best.value + s->start, dp->claim.value)),
                        time_short(text, dp->claim.value),
                        dp->claim.status == PLAN_OPTIMAL ? " (proven)" : "");
    x->results.plan->claim.argument =
        arena_fmt(x->use.mem, "not contiguous: %s; %" PRIu64 " moves of annealing%s%s%s; bound: %s",
                  than, s->moves, s->stopped ? " (" : "", s->stopped ? s->stopped : "",
                  s->stopped ? ")" : "", s->bound.why);
    claim_plan(r);
}

/* Makes dp-place's plan the result, with its own bound and proof; why: why no other shape was tried.  Returns 0; if
 * dp-place found no plan, reports why and returns PASS_INFEASIBLE, or -1 after another error. */
static int leave_contiguous(struct auto_run *r, const char *why)
{
    if (!r->contiguous)
        return report_infeasible(r->x, r->p.whole, /*exact=*/true, &r->p.orders);
    struct plan *p = r->contiguous;
    p->claim.argument = arena_fmt(r->x->use.mem, "contiguous (%s): %s", why, p->claim.argument);
    return 0;
}

/* Reports why there is no plan of any shape; returns PASS_INFEASIBLE, or -1 after another error. */
static int report_none(struct auto_run *r)
{
    const struct anneal like = {.planner = "auto-place", .clock = &r->p.clock};
    if (exec_live_parts(&r->x->scene.model))
        return report_none_fits(r->x, r->p.whole, &r->p.orders);
    return any_infeasible(r->x, r->s.any, &like);
}

/* pass.run: leaves the plan (head of this file).  Returns 0, or -1 or PASS_INFEASIBLE after an error. */
static int auto_place_run(struct ctx *x, const void *options)
{
    struct auto_run r = {.x = x, .o = options};
    struct diag quiet = diag_silent();
    struct place_options first = {.starts = r.o->starts, .seed = r.o->seed};
    if (!gain_parse(r.o->gain, &r.gain))
        return diag_error(x->use.diag,
                          "auto-place: gain=%s: expected a share such as 5%% or 0, below 1",
                          r.o->gain);
    if (placing_start(x, &first, &r.p) || any_begin(&r.s, x, &r.p))
        return -1;
    r.deadline = r.p.clock.deadline;
    r.alone = r.o->contiguous ? "as asked for" : ctx_settings(x)->ncuts ? "cuts by path" : NULL;
    if (!r.alone && any_hopeless(x, r.s.any))
        return report_none(&r);
    look_for_contiguous(&r);
    if (r.alone)
        return leave_contiguous(&r, r.alone);
    if (loads_check(r.s.any, "auto-place", &quiet))
        return leave_contiguous(&r, "the graph is too large for other shapes");
    if (look_for_any(&r))
        return -1;
    if (r.s.best.value == LOAD_INF)
        return report_none(&r);
    conclude(&r);
    return 0;
}

const struct planner planner_auto_place = {
    .pass =
        {.name = "auto-place",
         .help =
             "dp-place, or annealing where another shape is much better, with the reason and a bound",
         .opts = auto_opts,
         .optsize = sizeof(struct auto_options),
         .needs = NEED_COST | NEED_CONTRACT,
         .run = auto_place_run},
    .fit = FIT_ANY_SHAPE,
    .objectives = {"time-per-sample"},
    .features = FEATURE_PINS | FEATURE_PART_COST | FEATURE_OVERLAP | FEATURE_GPIPE |
                FEATURE_COPIES | FEATURE_CUTS,
    .leaves = true};
