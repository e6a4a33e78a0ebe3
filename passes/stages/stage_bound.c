/* Finds lower bounds for pipelines of stages (stage_bound.h).
 *
 * A bisection asks again and again whether an iteration can take a certain time.  The answer no comes from two files
 * together: stage_ways.h refutes plans with stages on devices of their own, rounds_bound.h plans with several stages on
 * each device. */
#include "passes/stages/stage_bound.h"

#include "ir/base/units.h"
#include "passes/stages/best_places.h"
#include "passes/stages/rounds_bound.h"
#include "passes/stages/stage_ways.h"

#include <assert.h>
#include <string.h>

/* the bisection ends when its range is 1 / PRECISION of the value */
enum { PRECISION = 100000 };
#define NEVER (INT64_MAX / 4) /* ps: more than any time */

/* What is known of one of the settings in stage_bound_question.model. */
struct choice {
    /* ps: the largest time for which a proof was found that no plan takes as little; 0: none */
    int64_t refuted;
    struct rounds *rounds; /* the bound for several stages on each device; NULL: not interleaved */
};

/* The state of the search for a bound. */
struct stage_bound_search {
    const struct train *t;
    const struct stage_bound_question *of;
    struct stage_ways *ways;
    struct choice *choice; /* [nchoice] what is known of each of the settings */
    uint32_t nchoice;
    struct arena *a;
};

/* ---- the longest layer -------------------------------------------------------------------------- */

/* Returns the least ps of an iteration of layer v by itself, on n devices placed as in *x. */
static int64_t time_alone(const struct train *t, const struct training *m, uint32_t v,
                          const struct spread *x, uint32_t n)
{
    const struct layers_of *l = &t->layers;
    int64_t f = training_time(m, l->forward[v], l->forward_overhead[v], n);
    int64_t b = training_time(m, l->backward[v], l->backward_overhead[v], n);
    int64_t reduce = least_exposed(m, least_reduce(&t->servers, x, l->parameter[v]), f, b);
    return sat_add(sat_mul(sat_add(f, b), training_count(m)), reduce);
}

/* Returns the largest ps of an iteration of a layer by itself, each layer on the number of devices that is best for
 * it. */
static int64_t longest_layer(const struct train *t, const struct training *m, struct arena *a)
{
    int64_t most = 0;
    /* the best number of devices for the longest layer so far; it is tried first: a layer that is not longer on this
     * number can be skipped */
    uint32_t usual = 1;
    struct spread *spread = arena_array(a, (size_t)t->servers.ndev + 1, sizeof *spread);
    for (uint32_t n = 1; n <= t->servers.ndev; n++)
        spread[n] = spread_of(&t->servers, n);
    for (uint32_t v = 0; v < t->layers.n; v++) {
        int64_t best = time_alone(t, m, v, &spread[usual], usual);
        uint32_t at = usual; /* the number of devices that takes `best` */
        for (uint32_t n = t->servers.ndev; n > 0 && best > most; n--) {
            int64_t ps =
                can_share_micro_batch(m, n) ? time_alone(t, m, v, &spread[n], n) : INT64_MAX;
            at = ps < best ? n : at;
            best = smaller(ps, best);
        }
        usual = best > most ? at : usual;
        most = larger(best, most);
    }
    return most;
}

/* Returns whether it is proved for all settings that no plan takes `most` ps or less.  Updates choice.refuted. */
static bool is_refuted(struct stage_bound_search *p, int64_t most)
{
    for (uint32_t i = 0; i < p->nchoice; i++) {
        struct choice *c = &p->choice[i];
        if (c->refuted >= most)
            continue;
        if (c->rounds && !rounds_refutes(c->rounds, most))
            return false;
        if (stage_ways_searched(p->ways, i) && !stage_ways_refute(p->ways, i, most))
            return false;
        c->refuted = most;
    }
    return true;
}

/* Returns whether all n searches find that no plan takes `most` ps or less. */
static bool all_refuted(struct stage_bound_search *p, uint32_t n, int64_t most)
{
    for (uint32_t i = 0; i < n; i++)
        if (!is_refuted(&p[i], most))
            return false;
    return true;
}

/* Returns a time, from `low` to `high`, such that no plan takes less; that must be known of `low`.  It is about the
 * largest time that all n searches can prove, to 1 / PRECISION.  Ends early if the clock is out. */
static int64_t bisect(struct stage_bound_search *p, uint32_t n, int64_t low, int64_t high)
{
    struct clock clock = p->t->clock; /* clock_out() writes to it */
    if (all_refuted(p, n, high - 1))
        return high;
    while (high - low > high / PRECISION + 1 && !clock_out(&clock)) {
        int64_t middle = low + (high - low) / 2;
        if (all_refuted(p, n, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- setting up --------------------------------------------------------------------------------- */

/* Updates of a plan are either all apart from its backward passes or all within them. */
enum updates { APART, WITHIN, UPDATE_KINDS };

/* Returns t with the time of updates added to the layers' backward passes.  APART: adding gradients up, for each
 * micro-batch; the updates themselves, once an iteration, are left out.  WITHIN: the updates. */
static struct train with_updates(const struct train *t, enum updates where, struct arena *a)
{
    struct train u = *t;
    if (!t->update)
        return u; /* updates are within the backward passes, so layers.backward has their time */
    int64_t *backward = arena_array(a, (size_t)t->layers.n + 1, sizeof *backward);
    int64_t *overhead = arena_array(a, (size_t)t->layers.n + 1, sizeof *overhead);
    for (uint32_t l = 0; l < t->layers.n; l++) {
        const struct layer_update *x = &t->update[l];
        int64_t ps = where == APART ? x->each : x->within;
        int64_t whole = where == APART ? x->each : x->within_overhead;
        backward[l] = sat_add(t->layers.backward[l], ps);
        overhead[l] = sat_add(t->layers.backward_overhead[l], whole);
    }
    u.layers.backward = backward;
    u.layers.backward_overhead = overhead;
    return u;
}

/* Returns the data of rounds_bound.h for settings number `choice`, under which each device has several stages.  Passes
 * on the states only if they are those of all layers: if they are those of the heaviest path alone, two stages of a
 * plan may end at the same state, and states say nothing about the plan's cuts. */
static struct rounds *make_rounds(const struct stage_bound_search *p, uint32_t choice)
{
    const struct training *m = &p->of->model[choice];
    const struct stage_states *s = stage_ways_states(p->ways);
    const struct servers *servers = &p->t->servers;
    const struct device_set single = {{1}};
    int64_t *move = arena_array(p->a, (size_t)s->n + 1, sizeof *move);
    int64_t *move_one = arena_array(p->a, (size_t)s->n + 1, sizeof *move_one);
    for (uint32_t i = 1; i < s->n && servers->ndev > 1; i++) {
        int64_t bytes = training_share(m, stage_ways_cut(p->ways, i), 1);
        move[i] = least_move_any(servers, bytes);
        move_one[i] = least_move(servers, &single, bytes);
    }
    return rounds_set_up(&(struct rounds_of){p->t, m, stage_ways_whole(p->ways) ? s : NULL, move,
                                             move_one, p->ways, choice},
                         p->a);
}

/* Prepares the search: fills *p.  Returns false if none is possible. */
static bool set_up(struct stage_bound_search *p)
{
    const struct stage_ways_of of = {
        .t = p->t, .model = p->of->model, .n = p->nchoice, .states = p->of->states};
    p->ways = stage_ways_find(&of, p->a);
    if (!p->ways)
        return false;
    p->choice = arena_array(p->a, p->nchoice, sizeof *p->choice);
    for (uint32_t i = 0; i < p->nchoice; i++)
        if (p->of->model[i].schedule == TRAINING_INTERLEAVED)
            p->choice[i].rounds = make_rounds(p, i);
    return true;
}

/* Returns the ps of the longest layer under the settings for which this time is least; 0 with PipeDream's schedule. */
static int64_t least_longest(const struct train *t, const struct stage_bound_question *of,
                             struct arena *a)
{
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < of->n; i++) {
        const struct training *m = &of->model[i];
        int64_t ps = m->schedule == TRAINING_PIPEDREAM ? 0 : longest_layer(t, m, a);
        least = smaller(ps, least);
    }
    return least;
}

struct scene stage_bound_least_work(const struct train *t, const struct stage_bound_question *of)
{
    struct arena *a = arena_new(t->x->use.scratch);
    struct scene best = t->x->scene, now = best;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < of->n; i++) {
        now.model.training = of->model[i];
        int64_t ps = iteration_bound(&now, a).value;
        if (ps < least)
            best = now;
        least = smaller(ps, least);
    }
    arena_free(a);
    return best;
}

struct stage_bound stage_bound(const struct train *t, const struct stage_bound_question *of)
{
    struct ctx *x = t->x;
    struct arena *a = arena_new(x->use.scratch);
    struct stage_bound_search p[UPDATE_KINDS]; /* a search for each kind of updates */
    struct train with[UPDATE_KINDS];
    uint32_t n = t->update ? UPDATE_KINDS : 1;
    const struct scene easiest = stage_bound_least_work(t, of);
    struct exec_bound work = iteration_bound(&easiest, a);
    struct stage_bound b = {.value = work.value, .why = work.why, .proof = ""};
    int64_t longest = INT64_MAX, high = of->upper < NEVER ? of->upper : NEVER - 1;
    char text[UNIT_TEXT];
    assert(of->n > 0);
    for (uint32_t i = 0; i < n; i++) {
        with[i] = with_updates(t, (enum updates)i, a);
        p[i] = (struct stage_bound_search){.t = &with[i], .of = of, .nchoice = of->n, .a = a};
        longest = smaller(longest, least_longest(&with[i], of, a));
    }
    /* the largest of three: all work (b at first), the longest layer, the search of all cuts */
    if (longest > b.value) {
        b.value = longest;
        b.why = "the longest layer, on the best number of devices";
    }
    if (longest > 0)
        b.proof = arena_fmt(x->use.mem,
                            "the layer that takes longest, for all micro-batches on the number of "
                            "devices that is best for it, takes %s\n",
                            time_short(text, longest));
    bool able = high > b.value;
    for (uint32_t i = 0; i < n && able; i++)
        able = set_up(&p[i]);
    if (able) {
        int64_t value = bisect(p, n, b.value, high);
        if (value > b.value) {
            b.value = value;
            b.why = "all cuts into stages, each with what comes before and after it";
        }
        b.proof = arena_fmt(
            x->use.mem,
            "%sno cut into stages (%u states of the model) with any numbers of devices for them "
            "lets each do its work on all micro-batches, between the first one's way there and "
            "the last one's way back, in less than %s\n",
            b.proof, stage_ways_states(p->ways)->n, time_short(text, b.value));
    }
    arena_free(a);
    return b;
}
