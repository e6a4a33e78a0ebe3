/* Searches for stages, devices, size of micro-batches, schedule, warm-up and recomputing together (pipeline_search.h).
 *
 * Settings of the user stay; all other settings are chosen.  For each size of micro-batches that divides the batch
 * (if the samples of a micro-batch are known, as in a profile) DAPPLE's search proposes plans.  For each schedule
 * that updates the weights once per iteration (dapple, gpipe, zb-h1, interleaved) these plans are run, and the best
 * one that fits is kept; warm-up and recomputing are chosen for each plan when it is run (train.c).  Data
 * parallelism has a size of its own.  If the model is small and devices are few, every plan is run in the end
 * (every_plan.c).  A time limit does not change the order in which plans are run; it only ends the search.  O(sizes
 * * schedules) times dapple-place. */
#include "passes/stages/pipeline_search.h"
#include "passes/stages/data_parallel.h"
#include "passes/stages/every_plan.h"
#include "passes/stages/stage_ways.h"

#include "ir/base/units.h"

#include <string.h>

enum {
    /* the most sizes of micro-batches that are tried, beside the one in the settings and one for data parallelism */
    SIZES = 12,
    SIZES_ALL = SIZES + 2,
    /* every plan of a size and schedule is run if the number of plans times the number of micro-batches is at most
     * this */
    EVERY_WORK = 60000,
    /* number of tasks of the plans that are run, for each schedule and each size but that in the settings */
    WORK = 3000000,
    /* WORK for runs whose stages run further ahead */
    FARTHER_WORK = WORK / 4,
    FORMULA = 4000000, /* number of evaluations of DAPPLE's formula, for each size */
    WAYS = 6,          /* the most plans of ways through the states (stage_ways.h) for each size */
    /* the time of the shortest ways is found to 1 / WAYS_PRECISION of itself */
    WAYS_PRECISION = 500,
    /* plans of ways are changed a little if they take at most 1 / NEAR longer than the best plan */
    NEAR = 16,
    PLANS = 24, /* number of plans that DAPPLE's search proposes for each size */
    /* a divisor of the batch is found only if it, or the batch divided by it, is at most this */
    MOST_DIVISOR = 1000000,
    /* where memory is short, searches leave 1, 2 .. SPARES of SPARE_PARTS equal parts of it free */
    SPARE_PARTS = 8,
    SPARES = 3,
    POWERS = 63 /* number of powers of two that an int64_t can have */
};

static const enum training_schedule offered[] = {TRAINING_DAPPLE, TRAINING_GPIPE, TRAINING_ZB_H1,
                                                 TRAINING_INTERLEAVED};
enum { SCHEDULES = sizeof offered / sizeof *offered };

/* The state of the planner. */
struct choices {
    const struct pipeline_search *of;
    struct ctx *x;
    /* number of samples of the batch, in all micro-batches; 0: not known */
    int64_t global;
    /* [nsize] number of samples of a micro-batch, ascending; 0: not known */
    int64_t size[SIZES_ALL];
    /* ps: the value of the best plan with a size, and with a schedule; INT64_MAX: no plan */
    int64_t by_size[SIZES_ALL], by_schedule[TRAINING_SCHEDULES];
    uint32_t nsize, tried;                  /* tried: number of plans that were run */
    uint64_t evaluated;                     /* number of evaluations of DAPPLE's formula */
    const enum training_schedule *schedule; /* [nschedule] the schedules that are tried */
    uint32_t nschedule;
    struct training given;      /* settings of the scene at first */
    struct training best_model; /* settings of the best plan */
    struct stage_layout best;   /* n is 0: no plan was run */
    /* [schedule] settings and plan of the best plan with each schedule; a plan that is slower than the best one of all
     * may not fit by the judge's count */
    struct training model_of[TRAINING_SCHEDULES];
    struct stage_layout best_of[TRAINING_SCHEDULES];
};

/* Divisors of the batch. */
struct divisors {
    uint32_t n;         /* number of divisors found */
    int64_t all[SIZES]; /* the first SIZES of them */
    /* best: [k] of the divisors from 2^k to 2^(k+1) - 1 the one with the highest score (add_divisor); 0: none; most:
     * [k] that score */
    int64_t best[POWERS];
    uint32_t most[POWERS];
};

/* Adds the divisor `size` of the batch to *s: a size of micro-batches, in samples.  Its score, for which it may become
 * s->best[]: how many of the numbers 1 to ndev of devices divide `size`, plus how many of them divide the number of
 * micro-batches. */
static void add_divisor(const struct choices *c, struct divisors *s, int64_t size)
{
    uint32_t shares = 0, k = 0;
    while (size >> k > 1)
        k++;
    for (uint32_t d = 1; d <= c->x->scene.cluster->ndev; d++) {
        shares += size % d == 0;
        shares += c->global / size % d == 0;
    }
    if (shares > s->most[k] || (shares == s->most[k] && size < s->best[k])) {
        s->most[k] = shares;
        s->best[k] = size;
    }
    if (s->n < SIZES)
        s->all[s->n] = size;
    s->n++;
}

/* Inserts a size into c->size, unless it is there. */
static void add_size(struct choices *c, int64_t size)
{
    uint32_t i = c->nsize;
    for (uint32_t k = 0; k < c->nsize; k++)
        if (c->size[k] == size)
            return;
    assert(c->nsize < SIZES_ALL);
    for (; i > 0 && c->size[i - 1] > size; i--)
        c->size[i] = c->size[i - 1];
    c->size[i] = size;
    c->nsize++;
}

/* Sets the sizes of micro-batches to try.  These are the size in the settings and, unless the user has set it, all
 * divisors of the batch.  If there are more than SIZES divisors, takes one between each two powers of two; if there are
 * still more, SIZES of these at even distances, from the smallest to the largest. */
static void choose_sizes(struct choices *c)
{
    const struct training *m = &c->x->scene.model.training;
    struct divisors s = {.n = 0};
    add_size(c, m->micro_size);
    if (!m->micro_size || !c->of->size || train_size_said(c->x))
        return;
    for (int64_t d = 1; d <= MOST_DIVISOR && d <= c->global / d; d++) {
        if (c->global % d != 0)
            continue;
        if (c->global / d <= TRAINING_MICRO_BATCHES)
            add_divisor(c, &s, d);
        if (d < c->global / d)
            add_divisor(c, &s, c->global / d);
    }
    if (s.n <= SIZES) {
        for (uint32_t i = 0; i < s.n; i++)
            add_size(c, s.all[i]);
        return;
    }
    /* s.best[0 .. n) become all divisors of s.best[] */
    uint32_t n = 0;
    for (uint32_t k = 0; k < POWERS; k++)
        if (s.best[k])
            s.best[n++] = s.best[k];
    uint32_t most = smaller_u32(n, SIZES);
    add_size(c, s.best[0]);
    for (uint32_t i = 1; i < most; i++)
        add_size(c, s.best[i * (n - 1) / (most - 1)]);
}

/* Returns the number, in c->size, of a size that is tried. */
static uint32_t number_of_size(const struct choices *c, int64_t size)
{
    uint32_t i = 0;
    while (c->size[i] != size)
        i++;
    return i;
}

/* Makes p, a plan with size number `size` under the settings of the scene, fit the memory by the judge's count; if
 * it then fits, notes it if it is the best of its size, of its schedule, or of all. */
static void keep_best(struct choices *c, struct train *t, struct stage_layout *p, uint32_t size)
{
    struct training *m = &c->x->scene.model.training;
    train_fit(t, p, c->best.value);
    c->by_size[size] = smaller(c->by_size[size], p->value);
    if (p->value < c->by_schedule[m->schedule]) {
        c->by_schedule[m->schedule] = p->value;
        c->best_of[m->schedule] = *p;
        c->model_of[m->schedule] = *m;
    }
    if (!train_better(p, &c->best))
        return;
    c->best = *p;
    c->best_model = *m;
}

/* Runs the plans in *found on the event core, with the schedule of the scene; all runs together have up to `work`
 * tasks.  size: index in c->size of the micro-batches' size.  Notes the best value of this size and of this schedule,
 * and keeps the best plan of all in c->best. */
static void try_schedule(struct choices *c, struct train *t, const struct dapple_found *found,
                         uint32_t size, int64_t work)
{
    struct stage_layout p = dapple_best(t, found, work, &c->tried);
    keep_best(c, t, &p, size);
}

/* Searches for plans with size number `size` and runs them with each schedule that may be chosen.  The size and
 * schedule of the settings get as much work as in dapple-place.  Leaves the settings tried last in the scene. */
static void try_size(struct choices *c, struct train *t, uint32_t size)
{
    struct training *m = &c->x->scene.model.training;
    bool own = c->size[size] == c->given.micro_size; /* the size of the scene */
    if (c->size[size])
        train_set_size(m, c->global, c->size[size]);
    struct layer_chain chain = train_chain(t);
    struct dapple_rules rules = dapple_rules_of(t);
    rules.literal = c->of->rules.literal;
    rules.beam = c->of->rules.beam;
    rules.most = own ? c->of->rules.most : PLANS;
    rules.work = own ? 0 : FORMULA;
    struct dapple_found found = dapple_search(&chain, &rules, &t->clock, c->x->use.scratch);
    c->evaluated += found.evaluated;
    /* the proposals of a search that the clock ended are run only if there is no plan yet, since a longer search may
     * make other proposals */
    for (size_t i = 0; i < c->nschedule; i++) {
        if (c->best.value < INT64_MAX && clock_out(&t->clock))
            return;
        m->schedule = c->schedule[i];
        try_schedule(c, t, &found, size, own ? DAPPLE_WORK : WORK);
    }
}

/* Returns whether it is proved under each of n settings that no plan takes `most` ps or less; also true if the clock
 * runs out. */
static bool is_refuted(struct train *t, struct stage_ways *w, uint32_t n, int64_t most)
{
    for (uint32_t i = 0; i < n && !clock_out(&t->clock); i++)
        if (stage_ways_searched(w, i) && !stage_ways_refute(w, i, most))
            return false;
    return true;
}

/* Returns about the least time for which is_refuted() is false for n settings; at most `high`. */
static int64_t least_not_refuted(struct train *t, struct stage_ways *w, uint32_t n, int64_t high)
{
    int64_t low = 0;
    while (high - low > larger(high / WAYS_PRECISION, 1) && !clock_out(&t->clock)) {
        int64_t middle = low + (high - low) / 2;
        if (is_refuted(t, w, n, middle))
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Runs n plans of ways with the size of *size_of under each schedule but interleaved, and keeps the best.  Leaves the
 * settings tried last in the scene. */
static void try_ways_of(struct choices *c, struct train *t, const struct training *size_of,
                        const struct stage_layout *plan, uint32_t n)
{
    struct training *m = &c->x->scene.model.training;
    uint32_t size = number_of_size(c, size_of->micro_size);
    for (uint32_t k = 0; k < t->noffered && !clock_out(&t->clock); k++) {
        if (t->offered[k].micro_size != size_of->micro_size ||
            t->offered[k].schedule == TRAINING_INTERLEAVED)
            continue;
        *m = t->offered[k];
        int64_t enough = sat_add(c->best.value, c->best.value / NEAR);
        struct stage_layout p = dapple_improve(t, plan, n, WORK, enough, &c->tried);
        keep_best(c, t, &p, size);
    }
}

/* Runs plans that stage_ways_plan() makes from ways through the states of the model, one for each of several times: the
 * least time that is not refuted, and somewhat longer ones, in which a micro-batch may get to the end and back sooner.
 * Keeps the best plan. */
static void try_ways(struct choices *c, struct train *t)
{
    struct arena *own = arena_new(c->x->use.scratch);
    const struct stage_ways_of of = {.t = t, .model = t->offered, .n = t->noffered};
    struct stage_ways *w = stage_ways_find(&of, own);
    if (!w || !stage_ways_whole(w)) { /* no plan has the ways of a path alone */
        arena_free(own);
        return;
    }
    int64_t most = smaller(c->best.value, INT64_MAX / 8); /* longer times could overflow below */
    int64_t least = least_not_refuted(t, w, of.n, most);
    for (uint32_t i = 0; i < of.n && !clock_out(&t->clock); i++) {
        struct stage_layout plan[WAYS];
        uint32_t n = 0;
        for (uint32_t k = 0; k < WAYS && stage_ways_searched(w, i) && !clock_out(&t->clock); k++) {
            /* the least time, then 1/64, 1/32, ... 1/4 more */
            int64_t ps = least + (k ? least >> (WAYS + 1 - k) : 0);
            n += ps <= most && stage_ways_plan(w, i, ps, &plan[n]);
        }
        if (n)
            try_ways_of(c, t, &of.model[i], plan, n);
    }
    arena_free(own);
}

/* Runs every plan, with every choice of stages that recompute, for each size and schedule with at most EVERY_WORK plans
 * times micro-batches, and keeps the best.  Leaves the settings tried last in the scene. */
static void try_every(struct choices *c, struct train *t)
{
    struct training *m = &c->x->scene.model.training;
    struct every_plan *every = every_plan_find(t, c->x->use.scratch);
    t->more = EVERY_RECOMPUTE;
    for (uint32_t i = 0; every && i < t->noffered; i++) {
        struct stage_layout best = c->best;
        *m = t->offered[i];
        if (every_plan_count(every, m->schedule) * training_count(m) > EVERY_WORK)
            continue;
        c->tried += every_plan_run(every, &best);
        if (best.value < c->best.value) /* else it is still the plan of other settings */
            keep_best(c, t, &best, number_of_size(c, m->micro_size));
    }
    t->more = NO_MORE_RUNS;
}

/* Returns whether the search may have missed plans for lack of memory: the judge has refused a plan, or no plan was
 * found with a schedule that can run any number of micro-batches. */
static bool is_memory_short(const struct choices *c, const struct train *t)
{
    const struct cluster *cluster = c->x->scene.cluster;
    bool is_short = t->refused;
    for (uint32_t i = 0; i < c->nschedule; i++)
        is_short = is_short || (c->schedule[i] != TRAINING_INTERLEAVED &&
                                c->by_schedule[c->schedule[i]] == INT64_MAX);
    return is_short && cluster->cls[cluster_main_class(cluster)].memory >= 0;
}

/* If memory is short, searches again, with a part of the memory left free by the sums.  Without that the search goes on
 * among fast plans that do not fit, and does not come to slower ones that fit.  Leaves the settings tried last in the
 * scene. */
static void try_spare(struct choices *c, struct train *t)
{
    const struct cluster *cluster = c->x->scene.cluster;
    int64_t memory = cluster->cls[cluster_main_class(cluster)].memory;
    bool is_short = is_memory_short(c, t);
    for (int64_t k = 1; k <= SPARES && is_short; k++) {
        t->spare = memory / SPARE_PARTS * k;
        t->judged = 0;
        memset(t->refusal, 0, ((size_t)t->servers.ndev + 1) * sizeof *t->refusal);
        for (uint32_t i = 0; i < c->nsize && !clock_out(&t->clock); i++)
            try_size(c, t, i);
    }
    t->spare = 0;
}

/* Returns whether plans with the schedule are tried. */
static bool is_tried(const struct choices *c, enum training_schedule schedule)
{
    bool found = false;
    for (uint32_t i = 0; i < c->nschedule; i++)
        found = found || c->schedule[i] == schedule;
    return found;
}

/* Runs the best plan of all with the schedule, if it has another one and is not of several stages on a device; its
 * stages may run further ahead than by DAPPLE's policies.  Leaves the settings tried last in the scene. */
static void try_best_with(struct choices *c, struct train *t, enum training_schedule schedule)
{
    struct stage_layout p = c->best;
    if (!p.n || p.value == INT64_MAX || p.places || !is_tried(c, schedule) ||
        c->best_model.schedule == schedule)
        return;
    struct training *m = &c->x->scene.model.training;
    *m = c->best_model;
    m->schedule = schedule;
    p.ahead = NULL; /* runs of the plan get arrays of their own */
    p.recompute = NULL;
    t->more = FARTHER_AHEAD;
    train_try(t, &p);
    c->tried++;
    keep_best(c, t, &p, number_of_size(c, m->micro_size));
    t->more = NO_MORE_RUNS;
}

/* Lets stages of the best plan with each schedule run further ahead, and changes that plan a little as long as that
 * helps: another border may be best for such stages.  The best plan of all stays as it is if nothing helps, or if the
 * judge refuses the new plan.  Leaves the settings tried last in the scene. */
static void go_farther(struct choices *c, struct train *t)
{
    static const enum training_schedule settles[] = {TRAINING_DAPPLE, TRAINING_ZB_H1};
    struct arena *a = c->x->use.scratch;
    for (size_t i = 0; i < sizeof settles / sizeof *settles; i++) {
        try_best_with(c, t, settles[i]);
        struct stage_layout p = c->best_of[settles[i]];
        const struct training m = c->model_of[settles[i]];
        if (!p.n || p.value == INT64_MAX || m.warm_up != WARM_UP_BEST)
            continue;
        uint32_t size = number_of_size(c, m.micro_size);
        c->x->scene.model.training = m;
        /* train_farther() writes to these arrays */
        p.ahead = arena_copy(a, p.ahead, p.n * sizeof *p.ahead);
        p.recompute = arena_copy(a, p.recompute, p.n);
        train_farther(t, &p);
        keep_best(c, t, &p, size);
        if (clock_out(&t->clock))
            continue;
        p = c->best_of[settles[i]];
        p.ahead = NULL; /* runs of the plan get arrays of their own */
        p.recompute = NULL;
        t->more = FARTHER_AHEAD;
        p = dapple_improve(t, &p, 1, FARTHER_WORK, sat_add(c->best.value, c->best.value / NEAR),
                           &c->tried);
        keep_best(c, t, &p, size);
        t->more = NO_MORE_RUNS;
    }
}

/* Changes the best plan with each schedule but interleaved once more, with moves of single layers, too: until then
 * stages are ranges of the row of layers, or PipeDream's, though a layer that depends on few others could be in many of
 * them.  Leaves the settings tried last in the scene. */
static void move_single(struct choices *c, struct train *t)
{
    static const enum training_schedule schedule[] = {TRAINING_DAPPLE, TRAINING_ZB_H1,
                                                      TRAINING_GPIPE};
    t->single = true;
    for (size_t i = 0; i < sizeof schedule / sizeof *schedule && !clock_out(&t->clock); i++) {
        try_best_with(c, t, schedule[i]);
        struct stage_layout p = c->best_of[schedule[i]];
        if (!p.n || p.value == INT64_MAX)
            continue;
        c->x->scene.model.training = c->model_of[schedule[i]];
        p.ahead = NULL; /* runs of the plan get arrays of their own */
        p.recompute = NULL;
        t->more = FARTHER_AHEAD;
        p = dapple_improve(t, &p, 1, FARTHER_WORK, sat_add(c->best.value, c->best.value / NEAR),
                           &c->tried);
        keep_best(c, t, &p, number_of_size(c, c->x->scene.model.training.micro_size));
        t->more = NO_MORE_RUNS;
    }
    t->single = false;
}

/* If the model updates by values of all stages' gradients, which only gpipe runs, and the schedule may be chosen,
 * tries gpipe with the finer layers into which it may part the model.  *t, and the best plan, are then about these
 * layers.  Leaves the settings tried last in the scene. */
static void try_joint(struct choices *c, struct train *t)
{
    static const enum training_schedule gpipe = TRAINING_GPIPE;
    struct training *m = &c->x->scene.model.training;
    struct train u;
    if (!t->joint.possible || t->joint.wanted || c->nschedule < SCHEDULES)
        return;
    *m = c->given;
    m->schedule = TRAINING_GPIPE;
    if (train_begin(&u, c->x, t->planner))
        return;
    u.wide = true;
    u.clock = t->clock;
    u.accepted = t->accepted;
    u.too_long = t->too_long;
    u.odd = t->odd;
    /* each layer of u is in one layer of t */
    uint32_t *stage_of = arena_array(c->x->use.scratch, (size_t)u.layers.n + 1, sizeof *stage_of);
    for (uint32_t v = 0; c->best.n && v < c->x->levels.base->n; v++)
        stage_of[u.layer[v]] = c->best.stage_of[t->layer[v]];
    c->best.stage_of = stage_of;
    const enum training_schedule *all = c->schedule;
    c->schedule = &gpipe;
    c->nschedule = 1;
    for (uint32_t i = 0; i < c->nsize && (!i || !clock_out(&u.clock)); i++)
        try_size(c, &u, i);
    c->schedule = all;
    c->nschedule = SCHEDULES;
    u.offered = t->offered;
    u.noffered = t->noffered;
    *t = u;
}

/* Sets t->offered: the settings of all sizes and schedules that are tried, so that the bound holds for all.  The scene
 * must have the given settings, and has them afterwards. */
static void list_offered(struct choices *c, struct train *t)
{
    struct training *model = &c->x->scene.model.training;
    struct training *all =
        arena_array(c->x->use.scratch, (size_t)c->nsize * c->nschedule, sizeof *all);
    for (uint32_t i = 0; i < c->nsize; i++) {
        if (c->size[i])
            train_set_size(model, c->global, c->size[i]);
        for (uint32_t k = 0; k < c->nschedule; k++) {
            all[t->noffered] = *model;
            all[t->noffered++].schedule = c->schedule[k];
        }
    }
    t->offered = all;
    *model = c->given;
}

/* Returns `text` with the best time of a choice appended, such as "dapple: 748 ms" or "gpipe: has no room", after a
 * comma if it is not the first; name: "gpipe:"; none: text for a time of INT64_MAX. */
static const char *add_choice(const struct choices *c, const char *text, const char *name,
                              int64_t ps, const char *none)
{
    char time[UNIT_TEXT];
    return arena_fmt(c->x->use.mem, "%s%s%s %s", text, *text ? ", " : "", name,
                     ps < INT64_MAX ? time_short(time, ps) : none);
}

/* Adds two notes: the best time with each size of micro-batches, and with each schedule; a note is left out if there
 * was only one to choose from. */
static void note_choices(const struct choices *c, const struct train *t)
{
    const char *none = t->clock.why ? "no plan in time" : t->too_long ? "no plan" : "has no room";
    const char *sizes = "", *schedules = "";
    for (uint32_t i = 0; i < c->nsize && c->nsize > 1; i++)
        sizes =
            add_choice(c, sizes,
                       arena_fmt(c->x->use.mem, "%lld x %lld:", (long long)(c->global / c->size[i]),
                                 (long long)c->size[i]),
                       c->by_size[i], none);
    for (uint32_t i = 0; i < TRAINING_SCHEDULES && c->nschedule > 1; i++)
        if (i != TRAINING_PIPEDREAM)
            schedules =
                add_choice(c, schedules, arena_fmt(c->x->use.mem, "%s:", training_schedule_name[i]),
                           c->by_schedule[i], none);
    if (*sizes)
        diag_note(c->x->use.diag, "%s: the best with micro-batches of %s", t->planner, sizes);
    if (*schedules)
        diag_note(c->x->use.diag, "%s: the best with schedule %s", t->planner, schedules);
}

/* Forgets all plans: there is none yet. */
static void forget_plans(struct choices *c)
{
    c->best = (struct stage_layout){.value = INT64_MAX};
    for (uint32_t i = 0; i < SIZES_ALL; i++)
        c->by_size[i] = INT64_MAX;
    for (uint32_t i = 0; i < TRAINING_SCHEDULES; i++) {
        c->by_schedule[i] = INT64_MAX;
        c->best_of[i] = (struct stage_layout){.value = INT64_MAX};
    }
}

/* Fills *c: no plan yet, the settings as given, and the schedules to try. */
static void begin_choices(struct choices *c, const struct pipeline_search *of, struct ctx *x)
{
    const struct training *m = &x->scene.model.training;
    *c = (struct choices){.of = of, .x = x, .given = *m, .best_model = *m};
    bool free_schedule = of->schedule && !ctx_said(x, "schedule");
    c->schedule = free_schedule ? offered : &c->given.schedule;
    c->nschedule = free_schedule ? SCHEDULES : 1;
    forget_plans(c);
    c->global = m->micro_size * training_count(m);
}

/* Searches for plans with all sizes and schedules.  Leaves the settings tried last in the scene. */
static void try_all(struct choices *c, struct train *t)
{
    for (uint32_t i = 0; i < c->nsize && (!i || !clock_out(&t->clock)); i++)
        try_size(c, t, i);
    if (!clock_out(&t->clock))
        try_ways(c, t);
    try_every(c, t);
    try_spare(c, t);
    go_farther(c, t);
    move_single(c, t);
}

/* If the updates of the best plan are within backward passes though they are wanted apart, searches again among plans
 * whose updates are apart, and takes the best one of these if there is one, as only such plans have steps of training;
 * a note tells if it is slower.  parallel, model: the plan of data parallelism, and its settings.  Leaves the settings
 * tried last in the scene. */
static void try_apart(struct choices *c, struct train *t, const struct stage_layout *parallel,
                      const struct training *model)
{
    struct training *m = &c->x->scene.model.training;
    const struct choices found = *c;
    struct stage_layout p = *parallel;
    *m = c->best_model;
    if (c->best.value == INT64_MAX || t->rules.needs_apart || !train_updates_within(t, &c->best) ||
        clock_out(&t->clock))
        return;
    forget_plans(c);
    t->rules.needs_apart = true;
    train_fit_anew(t);
    *m = *model;
    keep_best(c, t, &p, number_of_size(c, m->micro_size));
    try_all(c, t);
    t->rules.needs_apart = false;
    if (c->best.value < INT64_MAX) {
        train_note_apart(t, c->best.value, found.best.value);
        return;
    }
    const uint32_t tried = c->tried;
    const uint64_t evaluated = c->evaluated;
    *c = found;
    c->tried = tried;
    c->evaluated = evaluated;
}

int pipeline_search(struct train *t, const struct pipeline_search *of)
{
    struct ctx *x = t->x;
    struct training *m = &x->scene.model.training;
    struct choices c;
    begin_choices(&c, of, x);
    t->wide = true;
    /* data_parallel_best() leaves its settings, whose size of micro-batches is one of the sizes to try, in *m; what is
     * to be tried depends on the given settings, which are in *m meanwhile */
    struct stage_layout parallel = data_parallel_best(t);
    const struct stage_layout first = parallel; /* before it is made to fit */
    const struct training parallel_model = *m;
    *m = c.given;
    if (of->size)
        add_size(&c, parallel_model.micro_size);
    choose_sizes(&c);
    list_offered(&c, t);
    *m = parallel_model;
    keep_best(&c, t, &parallel, number_of_size(&c, m->micro_size));
    try_all(&c, t);
    try_apart(&c, t, &first, &parallel_model);
    try_joint(&c, t);
    *m = c.best_model;
    note_choices(&c, t);
    return train_leave(t, &c.best,
                       arena_fmt(x->use.mem, "best of %u plans that were run, %llu by the formula",
                                 c.tried, (unsigned long long)c.evaluated));
}
