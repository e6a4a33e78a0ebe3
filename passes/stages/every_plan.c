/* Runs every plan of stages of a small model (every_plan.h).
 *
 * A plan is a way through the states of the model (../problem/stage_states.h), from the empty state to the full one,
 * whose steps are the stages, and a set of devices for each stage.  A depth-first search adds a stage at a time: a
 * later state, and any of the free devices.  Servers that differ in nothing, neither in links nor in the devices that
 * earlier stages took, are interchangeable, so that of such servers an earlier one gives no fewer devices than a later
 * one.  With several stages on each place (interleaved) the first stages take the devices, and the others follow in
 * turn.
 *
 * A partial plan is given up if it cannot become faster than the best plan so far: a stage's device has the passes
 * of all micro-batches to do after the first one came there, and an AllReduce after that; and the remaining layers
 * have at most all free devices, beside what comes before.  Plans that are not given up are run (train_try).  These
 * estimates are in favour of plans: recomputing and transfers take no time in them. */
#include "passes/stages/every_plan.h"

#include "ir/base/units.h"

#include <string.h>

enum {
    MOST_STATES = 64, /* the most states of the model */
    MOST_STAGES = 12  /* the most stages of a plan */
};

/* The search: the states of the model, the best plan so far, and the partial plan that is being extended. */
struct every_plan {
    struct train *t;
    struct stage_states s;
    struct stage_layout *best; /* the best plan so far */
    uint32_t tried;            /* number of plans that were run */
    /* the partial plan: end: [stage] the state at which the stage ends; set: [stage] its devices; used: the devices of
     * all stages */
    uint32_t end[MOST_STAGES];
    struct device_set set[MOST_STAGES], used;
    /* [stage] ps of all passes of the stage and of earlier stages on its place */
    int64_t busy[MOST_STAGES];
    uint32_t places; /* number of places of the plans; 0: a place for each stage */
    /* PipeDream's schedule: the devices of a stage take turns, so there is no first micro-batch */
    bool turns;
    /* number of plans: apart: with each stage on devices of its own; shared: with several stages on each place */
    double apart, shared;
};

/* ---- how many there are ------------------------------------------------------------------------- */

/* Returns the number of ways to choose k of n things. */
static double choose(uint32_t n, uint32_t k)
{
    double ways = 1;
    for (uint32_t i = 1; i <= k; i++)
        ways = ways * (n - k + i) / i;
    return ways;
}

/* Returns the number of ways to give k stages disjoint sets of devices, none of them empty: counts all ways and
 * takes off those that leave some stages without a device (inclusion and exclusion). */
static double count_sets(const struct servers *s, uint32_t k)
{
    double ways = 0;
    for (uint32_t without = 0; without < k; without++) {
        /* the number of ways to choose the stages without a device, times the number of ways to give the other stages
         * devices of each server, some of which may stay idle */
        double some = choose(k, without);
        for (uint32_t v = 0; v < s->n; v++)
            some *= choose(s->size[v] + k - without, k - without);
        ways += without % 2 ? -some : some;
    }
    return ways;
}

/* Writes to ways[k] the number of ways through the states in k steps, k up to MOST_STAGES. */
static void count_ways(const struct every_plan *e, double *ways)
{
    const struct stage_states *s = &e->s;
    /* [state] number of ways to the state in as many steps as were taken so far */
    double to[MOST_STATES + 1] = {1};
    for (uint32_t k = 1; k <= MOST_STAGES; k++) {
        double next[MOST_STATES + 1] = {0};
        for (uint32_t j = 1; j <= s->n; j++) {
            next[j] = to[0];
            for_row (i, s->before, j)
                next[j] += to[i];
        }
        memcpy(to, next, sizeof to);
        ways[k] = to[s->n];
    }
}

/* Counts the plans, with stages on places of their own and with several on each. */
static void count_plans(struct every_plan *e)
{
    const struct servers *servers = &e->t->servers;
    double ways[MOST_STAGES + 1];
    count_ways(e, ways);
    for (uint32_t k = 1; k <= MOST_STAGES && k <= servers->ndev; k++) {
        double sets = count_sets(servers, k);
        e->apart += ways[k] * sets;
        for (uint32_t n = k; n <= MOST_STAGES; n += k)
            e->shared += ways[n] * sets;
    }
}

double every_plan_count(const struct every_plan *e, enum training_schedule schedule)
{
    return schedule == TRAINING_INTERLEAVED ? e->shared : e->apart;
}

struct every_plan *every_plan_find(struct train *t, struct arena *a)
{
    struct every_plan *e = arena_alloc(a, sizeof *e);
    e->t = t;
    if (t->layers.n > MOST_STATES ||
        !stage_states_find(&e->s, &t->layers, STATES_ALL, /*published=*/false, MOST_STATES, a))
        return NULL;
    count_plans(e);
    return e;
}

/* ---- the search --------------------------------------------------------------------------------- */

/* Returns a copy in the scratch arena of plan p, whose arrays the search will change. */
static struct stage_layout keep_layout(const struct every_plan *e, const struct stage_layout *p)
{
    struct arena *a = e->t->x->use.scratch;
    struct stage_layout copy = *p;
    uint32_t *stage_of = arena_array(a, (size_t)e->t->layers.n + 1, sizeof *stage_of);
    struct device_set *set = arena_array(a, p->n, sizeof *set);
    memcpy(stage_of, p->stage_of, e->t->layers.n * sizeof *stage_of);
    memcpy(set, p->set, p->n * sizeof *set);
    copy.stage_of = stage_of;
    copy.set = set;
    return copy;
}

/* Runs the plan of the n stages in e->end and e->set, and keeps it if it is the best. */
static void run_plan(struct every_plan *e, uint32_t n)
{
    uint32_t stage_of[MOST_STATES];
    /* state end[k] has the layers of stages 0 .. k: from the last stage to the first, so that the smallest k stays */
    for (uint32_t k = n; k-- > 0;)
        for (uint32_t v = 0; v < e->t->layers.n; v++)
            if (bits_have(e->s.set + (size_t)e->end[k] * e->s.words, v))
                stage_of[v] = k;
    struct stage_layout p = {.n = n, .stage_of = stage_of, .set = e->set, .places = e->places};
    train_try(e->t, &p);
    train_fit_early(e->t, &p, e->best->value);
    e->tried++;
    e->t->too_long = e->t->too_long || p.too_long;
    if (p.value < e->best->value)
        *e->best = keep_layout(e, &p);
}

/* Returns whether servers v - 1 and v have the same links to all other servers, and have given equally many devices
 * to each of the first k stages. */
static bool are_alike(const struct every_plan *e, uint32_t k, uint32_t v)
{
    const struct servers *s = &e->t->servers;
    uint32_t unit = s->unit ? s->unit : s->n;
    if ((v - 1) / unit != v / unit || s->size[v - 1] != s->size[v])
        return false;
    for (uint32_t i = 0; i < k; i++)
        if (e->set[i].of[v - 1] != e->set[i].of[v])
            return false;
    return true;
}

/* Makes e->set[k] the next set of free devices, in an order that begins with the empty set; returns false if there
 * is no next set. */
static bool next_set(struct every_plan *e, uint32_t k)
{
    const struct servers *s = &e->t->servers;
    struct device_set *x = &e->set[k];
    /* counts up like a number with a digit for each server, the last server's digit fastest; a digit goes up to
     * `most` */
    for (uint32_t v = s->n; v-- > 0;) {
        uint32_t most = s->size[v] - e->used.of[v];
        if (v > 0 && are_alike(e, k, v))
            most = smaller_u32(x->of[v - 1], most);
        if (x->of[v] < most) {
            x->of[v]++;
            return true;
        }
        x->of[v] = 0;
    }
    return false;
}

/* Returns the ps of the pass of one micro-batch through the layers between two states, on each of n devices.  back:
 * true for the backward pass, false for the forward pass. */
static int64_t pass_time(const struct every_plan *e, bool back, uint32_t from, uint32_t to,
                         uint32_t n)
{
    const struct stage_states *s = &e->s;
    const int64_t *time = back ? s->backward : s->forward,
                  *over = back ? s->backward_overhead : s->forward_overhead;
    return training_time(&e->t->x->scene.model.training, time[to] - time[from],
                         over[to] - over[from], n);
}

/* Returns the least ps that all micro-batches take on each of n devices, in the layers between two states.  Devices
 * that take turns each run one micro-batch in n; the count there is one micro-batch too low, so that the time is never
 * too long. */
static int64_t all_passes(const struct every_plan *e, uint32_t from, uint32_t to, uint32_t n)
{
    const struct scene *scene = &e->t->x->scene;
    int64_t count = training_count(&scene->model.training);
    uint32_t slices = e->turns ? 1 : n;
    int64_t each = sat_add(pass_time(e, /*back=*/false, from, to, slices),
                           pass_time(e, /*back=*/true, from, to, slices));
    each = sat_add(each, sat_mul(2, scene->model.part_cost));
    return e->turns ? sat_mul(each, count - 1) / n : sat_mul(each, count);
}

/* Returns whether stage k cannot be part of a plan that is better than the best one.  The stage goes from state `from`
 * to state `to`; its first micro-batch comes after `first` ps.  Sets e->busy[k]. */
static bool is_too_slow(struct every_plan *e, uint32_t k, uint32_t from, uint32_t to, int64_t first)
{
    const struct servers *s = &e->t->servers;
    const struct training *m = &e->t->x->scene.model.training;
    uint32_t n = servers_devices(s, &e->set[k]);
    int64_t passes = all_passes(e, from, to, n), most = e->best->value;
    bool shares = e->places && k >= e->places; /* an earlier stage is on the place, too */
    e->busy[k] = shares ? sat_add(e->busy[k - e->places], passes) : passes;
    if (!e->places && !e->turns && m->reduce_when == REDUCE_AFTER)
        passes = sat_add(passes,
                         servers_reduce(s, &e->set[k], e->s.parameter[to] - e->s.parameter[from]));
    if (e->busy[k] >= most || sat_add(first, passes) >= most)
        return true;
    /* the layers behind the stage, shared by all devices that are free (interleaved: by all) */
    int64_t rest =
        sat_add(e->s.forward[e->s.n] - e->s.forward[to], e->s.backward[e->s.n] - e->s.backward[to]);
    uint32_t left = e->places ? s->ndev : s->ndev - servers_devices(s, &e->used);
    int64_t over = sat_add(e->s.forward_overhead[e->s.n] - e->s.forward_overhead[to],
                           e->s.backward_overhead[e->s.n] - e->s.backward_overhead[to]);
    int64_t share = left ? training_time(m, rest, over, 1) / left : 0;
    /* rounding up may have added one ps for each micro-batch */
    return share > 1 && sat_mul(share - 1, training_count(m)) >= most;
}

/* Returns whether n stages make equally many for each place, and as many as the user wants; always true if each stage
 * has devices of its own. */
static bool is_whole(const struct every_plan *e, uint32_t n)
{
    uint32_t said = e->t->x->scene.model.training.per_device;
    return !e->places || (n % e->places == 0 && (!said || n == said * e->places));
}

static void add_stages(struct every_plan *e, uint32_t k, uint32_t from, int64_t first);

/* Tries all states at which stage k can end; it begins at state `from`, after `first` ps, on the devices e->set[k]. */
static void try_ends(struct every_plan *e, uint32_t k, uint32_t from, int64_t first)
{
    uint32_t n = servers_devices(&e->t->servers, &e->set[k]);
    /* where devices take turns there is no first micro-batch; and with several stages on a place, the time until it
     * comes does not count */
    bool way_counts = !e->places && !e->turns;
    for (uint32_t to = from + 1; to <= e->s.n; to++) {
        if (!state_is_before(&e->s, from, to) || is_too_slow(e, k, from, to, first))
            continue;
        e->end[k] = to;
        int64_t forward = pass_time(e, /*back=*/false, from, to, n);
        if (to == e->s.n && is_whole(e, k + 1))
            run_plan(e, k + 1);
        else if (to < e->s.n && k + 1 < MOST_STAGES)
            add_stages(e, k + 1, to, way_counts ? sat_add(first, forward) : 0);
    }
}

/* Tries all choices of stage k and of later stages, behind a partial plan of k stages that ends at state `from`; first:
 * ps after which the first micro-batch comes there at the earliest.  Calls itself for each further stage, at most
 * MOST_STAGES deep. */
static void add_stages(struct every_plan *e, uint32_t k, uint32_t from, int64_t first)
{
    const struct servers *s = &e->t->servers;
    if (clock_out(&e->t->clock))
        return;
    if (e->places && k >= e->places) { /* all places have devices: the stage is on one of them */
        e->set[k] = e->set[k - e->places];
        try_ends(e, k, from, first);
        return;
    }
    const struct training *m = &e->t->x->scene.model.training;
    struct device_set before = e->used;
    memset(&e->set[k], 0, sizeof e->set[k]);
    while (next_set(e, k)) {
        uint32_t n = servers_devices(s, &e->set[k]);
        if (!m->any_slices && m->micro_size && m->micro_size % n && !e->turns)
            continue; /* the devices would not have whole samples each */
        for (uint32_t v = 0; v < s->n; v++)
            e->used.of[v] = (uint16_t)(before.of[v] + e->set[k].of[v]);
        try_ends(e, k, from, first);
        e->used = before;
    }
}

uint32_t every_plan_run(struct every_plan *e, struct stage_layout *best)
{
    const struct training *m = &e->t->x->scene.model.training;
    bool shared = m->schedule == TRAINING_INTERLEAVED;
    e->best = best;
    e->tried = 0;
    e->turns = m->schedule == TRAINING_PIPEDREAM;
    if (!shared)
        add_stages(e, 0, 0, 0);
    for (e->places = 1; shared && e->places <= e->t->servers.ndev && e->places <= MOST_STAGES;
         e->places++)
        if (training_count(m) % e->places == 0)
            add_stages(e, 0, 0, 0);
    e->places = 0;
    return e->tried;
}
