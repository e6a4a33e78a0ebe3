/* Lower bounds for pipelines of stages (stage_bound.h).
 *
 * A bisection asks again and again: can an iteration take at most `most` ps?  A plan is a way through the states of
 * the model (stage_states.h), from the empty state to the full one; each step of the way is a stage with some number n
 * of devices.  Let f and b be the times of the stage's forward and backward pass for one micro-batch, and M the number
 * of micro-batches.  Then
 *   first + M (f + b) + r <= most, and around + M (f + b) <= most,
 * where r is the AllReduce of the stage's parameters among n devices; `first` is the time until the first micro-batch
 * reaches the stage (forward passes and transfers of all stages before); `around` is `first` and the time from the
 * stage's last backward pass to the end of the iteration (backward passes and transfers down to some earlier stage, and
 * the AllReduce of that stage), whichever earlier stage ends last.  A link that takes c in each direction also needs M
 * transfers one after the other.  For each state and number of devices used so far, the least `first` and the least
 * `around` of all ways there are kept, maybe of two different ways; nothing else of a way is needed later.  All other
 * things are counted in favour of plans: an AllReduce and a transfer take what they take on the best placed n devices;
 * gradients of weights that are computed separately (zb-h1) may all come after a stage's last backward pass; an
 * AllReduce that may overlap passes hides behind a whole pass; memory must hold the weights and one micro-batch.  So if
 * no way is found, no plan takes `most` or less.
 *
 * The search assumes that stages are on devices of their own and that all micro-batches of an iteration come from the
 * stage before and go back to it.  That is not so in the steady state of PipeDream's schedule, and with interleaved
 * stages only where each device has one stage; rounds_bound.h is for several stages on each device. */
#include "passes/stages/stage_bound.h"

#include "ir/base/units.h"
#include "passes/stages/best_places.h"
#include "passes/stages/rounds_bound.h"

#include <assert.h>
#include <string.h>

enum {
    MOST_STATES = 400,     /* the states of a model with more states are not looked for */
    MOST_PIECES = 1 << 20, /* the most pieces for all settings together */
    MOST_STEPS = 24000000, /* the most steps of one question, about: pieces * devices */
    PRECISION = 100000,    /* the bisection ends when its range is a 100000th of the value */
    MILLION = 1000000
};
#define NONE UINT32_MAX       /* no layer */
#define NEVER (INT64_MAX / 4) /* ps: more than any time */

/* A stage of certain layers on a certain number of devices, and what it adds to a way; a way is a partial plan: the
 * stages up to some state (head of this file).  In ps. */
struct piece {
    /* the stage can extend a way if way.first + first <= most and way.around + around <= most; first is NEVER if the
     * stage can extend no way */
    int64_t first, around;
    /* f, by which the stage makes way.first longer; f + b, by which it makes way.around longer */
    int64_t forward, through;
    int64_t leave; /* f + b + r: the extended way has an `around` of at least way.first + leave */
};

/* One of the settings that the bound is for, with the times of all stages and links under it. */
struct choice {
    const struct training *m;
    /* ps: the largest time for which a proof was found that no plan takes as little; 0: none */
    int64_t refuted;
    /* true: ways are searched; false: they are not, since another choice has all of these ways (is_covered) */
    bool plain;
    struct rounds *rounds; /* the bound for several stages on each device; NULL: not interleaved */
    /* [pair * ncount + i] pairs of states as in make_choice, count[i] devices */
    struct piece *piece;
    /* [state] ps on the link between the last stage of the state and the next stage: of one micro-batch forth; of
     * one micro-batch back; of all micro-batches in both directions */
    int64_t *forth, *back, *moves;
};

/* The state of the search for a bound. */
struct stage_bound_search {
    const struct train *t;
    const struct stage_bound_question *of;
    uint32_t ndev, ncount; /* number of devices; number of entries of count[] */
    /* [layer] index of the layer among the nlayer layers of the states; UINT32_MAX: it is not among them */
    uint32_t *place, nlayer;
    struct stage_states s;
    uint32_t *count;       /* [i] a number of devices that a stage may have, ascending */
    struct spread *spread; /* [i] the best places of count[i] devices (best_places.h) */
    /* [state] bytes that the forward passes of the state keep for the backward passes */
    int64_t *stored;
    /* [state] bytes of forward values that the state makes and layers outside the state read */
    int64_t *cut;
    /* [state * (ndev + 1) + devices used] ps: the least of all ways to the state; NEVER: there is no way */
    int64_t *first, *around;
    struct choice *choice; /* [nchoice] */
    uint32_t nchoice;
    struct arena *a;
};

/* ---- the longest layer -------------------------------------------------------------------------- */

/* Returns whether n devices can share a micro-batch in slices that the settings allow. */
static bool can_share(const struct training *m, uint32_t n)
{
    return m->any_slices || !m->micro_size || m->micro_size % n == 0;
}

/* Returns the ps of an AllReduce of `reduce` ps that overlapping cannot hide: the last backward pass of its stage takes
 * b ps, the first forward pass of the next iteration f ps. */
static int64_t exposed(const struct training *m, int64_t reduce, int64_t f, int64_t b)
{
    int64_t hides = 0; /* ps of passes beside which the AllReduce can run */
    if (m->reduce_when == REDUCE_BESIDE)
        hides = b;
    else if (m->reduce_when != REDUCE_AFTER)
        hides = sat_add(f, b);
    return reduce > hides ? reduce - hides : 0;
}

/* Returns the least ps of an iteration of layer v by itself, on n devices placed as in *x. */
static int64_t time_alone(const struct train *t, const struct training *m, uint32_t v,
                          const struct spread *x, uint32_t n)
{
    const struct layers_of *l = &t->layers;
    int64_t f = training_time(m, l->forward[v], l->forward_overhead[v], n);
    int64_t b = training_time(m, l->backward[v], l->backward_overhead[v], n);
    int64_t reduce = exposed(m, least_reduce(&t->servers, x, l->parameter[v]), f, b);
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
            int64_t ps = can_share(m, n) ? time_alone(t, m, v, &spread[n], n) : INT64_MAX;
            at = ps < best ? n : at;
            best = smaller(ps, best);
        }
        usual = best > most ? at : usual;
        most = larger(best, most);
    }
    return most;
}

/* ---- pieces ------------------------------------------------------------------------------------- */

/* Returns the stage with the layers of state `to` that state `from` has not, on count[i] devices; piece.first is NEVER
 * if the stage does not fit the memory or the devices cannot share a micro-batch. */
static struct piece make_piece(const struct stage_bound_search *p, const struct training *m,
                               uint32_t from, uint32_t to, uint32_t i)
{
    const struct stage_states *s = &p->s;
    const struct scene *scene = &p->t->x->scene;
    uint32_t n = p->count[i];
    int64_t param = s->parameter[to] - s->parameter[from];
    int64_t f = training_time(m, s->forward[to] - s->forward[from],
                              s->forward_overhead[to] - s->forward_overhead[from], n);
    int64_t b = training_time(m, s->backward[to] - s->backward[from],
                              s->backward_overhead[to] - s->backward_overhead[from], n);
    int64_t count = training_count(m);
    int64_t reduce = exposed(m, least_reduce(&p->t->servers, &p->spread[i], param), f, b);
    /* millionths of the backward pass that compute gradients of weights: half in a profile; in a graph they depend on
     * the stage's nodes, and are all at most */
    int64_t share = m->weight_share;
    if (!share)
        share = scene->m->ir_version ? MILLION : MILLION / 2;
    int64_t weights = m->schedule == TRAINING_ZB_H1 ? mul_div_ceil(b, share, MILLION) : 0;
    int64_t memory = scene->cluster->cls[cluster_main_class(scene->cluster)].memory;
    int64_t bytes =
        sat_add(sat_mul(param, exec_weight_copies(&scene->model, /*training=*/true)), m->workspace);
    bytes = sat_add(bytes, training_share(m, p->stored[to] - p->stored[from], n));
    if (!can_share(m, n) || (memory >= 0 && bytes > memory))
        return (struct piece){.first = NEVER};
    f = sat_add(f, scene->model.part_cost);
    b = sat_add(b, scene->model.part_cost);
    b = m->recompute == RECOMPUTE_ALL ? sat_add(b, f) : b;
    struct piece x = {.forward = f, .through = sat_add(f, b - weights)};
    x.first = sat_add(sat_mul(sat_add(f, b), count), reduce);
    x.around = sat_mul(x.through, count);
    x.leave = sat_add(sat_add(f, b), reduce);
    return x;
}

/* Fills *c for the settings m: pieces for all pairs of states, ordered by the later state, then by the earlier one, and
 * the times of links. */
static void make_choice(struct stage_bound_search *p, struct choice *c, const struct training *m)
{
    const struct stage_states *s = &p->s;
    uint32_t pairs = s->before.at[s->n + 1] + s->n, at = 0;
    c->m = m;
    c->piece = arena_array(p->a, (size_t)pairs * p->ncount + 1, sizeof *c->piece);
    int64_t **const link[] = {&c->forth, &c->back, &c->moves};
    for (size_t i = 0; i < sizeof link / sizeof *link; i++)
        *link[i] = arena_array(p->a, (size_t)s->n + 1, sizeof **link[i]);
    for (uint32_t to = 1; to <= s->n; to++) {
        for (uint32_t i = 0; i < p->ncount; i++)
            c->piece[at++] = make_piece(p, m, 0, to, i);
        for_row (u, s->before, to)
            for (uint32_t i = 0; i < p->ncount; i++)
                c->piece[at++] = make_piece(p, m, u, to, i);
        c->forth[to] = least_move(&p->t->servers, training_share(m, p->cut[to], 1));
        /* bytes of gradients are known only in a profile, where they are those of the values */
        c->back[to] = p->t->x->scene.m->ir_version ? 0 : c->forth[to];
        /* one micro-batch there and back; beside it all others there, and back unless that way is a lane of its own */
        int64_t rest = (int64_t)training_count(m) - 1, both = sat_add(c->forth[to], c->back[to]);
        c->moves[to] = sat_add(both, sat_mul(rest, m->half_duplex ? both : c->forth[to]));
    }
}

/* ---- a question --------------------------------------------------------------------------------- */

/* Extends all ways (partial plans) to a state by the link behind it.  Ways that leave the link too little of `most` ps
 * for the transfers of all micro-batches become NEVER. */
static void add_link(struct stage_bound_search *p, const struct choice *c, uint32_t state,
                     int64_t most)
{
    int64_t *first = p->first + (size_t)state * (p->ndev + 1);
    int64_t *around = p->around + (size_t)state * (p->ndev + 1);
    for (uint32_t d = 0; d <= p->ndev; d++) { /* d: number of devices that the ways use */
        bool late = first[d] > most || c->moves[state] > most - around[d];
        first[d] = late ? NEVER : first[d] + c->forth[state];
        around[d] = late ? NEVER : around[d] + c->forth[state] + c->back[state];
    }
}

/* Extends the ways (partial plans) to state `from` by the stage x on n devices, which leads to state `to`, if that
 * takes at most `most` ps: lowers `first` and `around` of state `to`. */
static void add_piece(struct stage_bound_search *p, uint32_t from, uint32_t to,
                      const struct piece *x, uint32_t n, int64_t most)
{
    const int64_t *first = p->first + (size_t)from * (p->ndev + 1);
    const int64_t *around = p->around + (size_t)from * (p->ndev + 1);
    int64_t *to_first = p->first + (size_t)to * (p->ndev + 1) + n;
    int64_t *to_around = p->around + (size_t)to * (p->ndev + 1) + n;
    for (uint32_t d = 0; d + n <= p->ndev; d++) {
        if (first[d] > most - x->first || around[d] > most - x->around)
            continue;
        int64_t past = first[d] + x->leave, whole = around[d] + x->through;
        past = larger(past, whole);
        to_first[d] = smaller(first[d] + x->forward, to_first[d]);
        to_around[d] = smaller(past, to_around[d]);
    }
}

/* Extends the ways to state `from` by a stage that leads to state `to`, on each number of devices; x[]: these stages,
 * in the order of p->count.  Returns the piece behind them. */
static const struct piece *add_pieces(struct stage_bound_search *p, uint32_t from, uint32_t to,
                                      const struct piece *x, int64_t most)
{
    for (uint32_t i = 0; i < p->ncount; i++)
        if (x[i].first <= most)
            add_piece(p, from, to, &x[i], p->count[i], most);
    return x + p->ncount;
}

/* Returns whether no way (plan) to the full state takes `most` ps or less under the settings of *c.  most < NEVER. */
static bool refutes(struct stage_bound_search *p, const struct choice *c, int64_t most)
{
    const struct stage_states *s = &p->s;
    const struct piece *x = c->piece;
    size_t row = (size_t)p->ndev + 1;
    for (size_t i = 0; i < (s->n + 1) * row; i++)
        p->first[i] = p->around[i] = NEVER;
    p->first[0] = p->around[0] = 0;
    for (uint32_t to = 1; to <= s->n; to++) {
        /* x goes through the pieces as make_choice() has ordered them */
        x = add_pieces(p, /*from=*/0, to, x, most);
        for_row (from, s->before, to)
            x = add_pieces(p, from, to, x, most);
        if (to < s->n)
            add_link(p, c, to, most);
    }
    for (uint32_t d = 0; d <= p->ndev; d++)
        if (p->first[s->n * row + d] < NEVER)
            return false;
    return true;
}

/* Returns whether no plan under any choice takes `most` ps or less.  Updates choice.refuted. */
static bool all_refuted(struct stage_bound_search *p, int64_t most)
{
    for (uint32_t i = 0; i < p->nchoice; i++) {
        struct choice *c = &p->choice[i];
        if (c->refuted >= most)
            continue;
        if (c->rounds && !rounds_refutes(c->rounds, most))
            return false;
        if (c->plain && !refutes(p, c, most))
            return false;
        c->refuted = most;
    }
    return true;
}

/* Returns a time such that no plan takes less: about the largest that can be proved, but at least `low`, for which
 * that is known, and at most `high`. */
static int64_t bisect(struct stage_bound_search *p, int64_t low, int64_t high)
{
    struct clock clock = p->t->clock;
    if (all_refuted(p, high - 1))
        return high;
    while (high - low > high / PRECISION + 1 && !clock_out(&clock)) {
        int64_t middle = low + (high - low) / 2;
        if (all_refuted(p, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- setting up --------------------------------------------------------------------------------- */

/* Returns whether a state has a layer of t->layers. */
static bool in_state(const struct stage_bound_search *p, uint32_t state, uint32_t layer)
{
    layer = p->place[layer];
    return layer < p->nlayer && bits_have(p->s.set + (size_t)state * p->s.words, layer);
}

/* Returns whether a layer of t->layers is outside a state, but inside a larger state. */
static bool is_beyond(const struct stage_bound_search *p, uint32_t state, uint32_t layer)
{
    return p->place[layer] < p->nlayer && !in_state(p, state, layer);
}

/* Fills p->cut: adds the bytes of each value of a forward node to all states that have its maker but not all of its
 * forward readers. */
static void sum_cuts(struct stage_bound_search *p)
{
    const struct scene *s = &p->t->x->scene;
    const struct csr *pin = &s->place->net_pin;
    for (uint32_t e = 0; e < s->place->nnet; e++) {
        nid def = s->m->value[s->place->net_value[e]].def;
        if (!def || s->place->kind[def] != PLACE_NODE || s->m->backward[def])
            continue;
        uint32_t maker = train_layer(p->t, def);
        for (uint32_t state = 1; state < p->s.n; state++) {
            bool leaves = false;
            for (uint32_t i = pin->at[e]; i < pin->at[e + 1] && !leaves; i++)
                leaves = !s->m->backward[pin->to[i]] &&
                         is_beyond(p, state, train_layer(p->t, pin->to[i]));
            if (leaves && in_state(p, state, maker))
                p->cut[state] = sat_add(p->cut[state], s->m->cost->bytes[s->place->net_value[e]]);
        }
    }
}

/* Returns whether ways need not be searched under model[i], one of n settings, since other settings with the same
 * micro-batches allow all of these ways.  The conditions of dapple, gpipe and interleaved (with one stage on each
 * device) are the same here, so the first of these settings is searched for all; those of zb-h1 are weaker. */
static bool is_covered(const struct training *model, uint32_t n, uint32_t i)
{
    const struct training *own = &model[i];
    bool zero_bubble = own->schedule == TRAINING_ZB_H1;
    for (uint32_t k = 0; k < n; k++) {
        bool other = model[k].schedule == TRAINING_ZB_H1;
        bool same =
            model[k].micro_size == own->micro_size && model[k].micro_batches == own->micro_batches;
        if (same && ((other && !zero_bubble) || (k < i && other == zero_bubble)))
            return true;
    }
    return false;
}

/* Finds the states p->s of the layers l.  Returns false if there are too many states, too many pieces (a piece is a
 * stage between two states, the empty one included, for one number of devices), or too many steps of a question. */
static bool find_states(struct stage_bound_search *p, const struct layers_of *l)
{
    uint32_t most = p->of->states ? p->of->states : MOST_STATES;
    p->nlayer = l->n;
    if (l->n > most /* there are at least as many states as layers */ ||
        !stage_states_find(&p->s, l, STATES_ALL, /*published=*/false, most, p->a))
        return false;
    int64_t pieces = ((int64_t)p->s.before.at[p->s.n + 1] + p->s.n) * p->ncount, choices = 0;
    for (uint32_t i = 0; i < p->nchoice; i++)
        choices += !is_covered(p->of->model, p->nchoice, i);
    return pieces * choices <= MOST_PIECES && pieces * p->ndev <= MOST_STEPS;
}

/* Returns the weight of layer v on paths: its share of all time plus its share of all parameters, each in millionths.
 * all: ps of all layers, bytes of all parameters. */
static int64_t weight_of(const struct layers_of *l, const int64_t all[2], uint32_t v)
{
    int64_t time = sat_add(l->forward[v], l->backward[v]);
    return (all[0] ? mul_div_ceil(time, MILLION, all[0]) : 0) +
           (all[1] ? mul_div_ceil(l->parameter[v], MILLION, all[1]) : 0);
}

/* Writes the layers of the heaviest path (weight_of) to path[], in order; returns their number. */
static uint32_t find_path(struct stage_bound_search *p, const struct layers_of *l, uint32_t *path)
{
    int64_t all[2] = {0}, *sum = arena_array(p->a, (size_t)l->n + 1, sizeof *sum);
    uint32_t *from = arena_array(p->a, (size_t)l->n + 1, sizeof *from), last = 0, n = 0;
    for (uint32_t v = 0; v < l->n; v++) {
        all[0] = sat_add(all[0], sat_add(l->forward[v], l->backward[v]));
        all[1] = sat_add(all[1], l->parameter[v]);
    }
    for (uint32_t v = 0; v < l->n; v++) { /* in a topological order */
        from[v] = NONE;
        for_row (u, l->pred, v)
            if (from[v] == NONE || sum[u] > sum[from[v]])
                from[v] = u;
        sum[v] = (from[v] == NONE ? 0 : sum[from[v]]) + weight_of(l, all, v);
        last = sum[v] > sum[last] ? v : last;
    }
    for (uint32_t v = last; v != NONE; v = from[v])
        path[n++] = v;
    for (uint32_t i = 0; i < n / 2; i++) { /* turns the path round */
        uint32_t v = path[i];
        path[i] = path[n - 1 - i];
        path[n - 1 - i] = v;
    }
    return n;
}

/* Returns the heaviest path through the layers, as layers of its own, and sets p->place.  A plan of all layers,
 * restricted to the layers of the path, is a plan of the path that takes no longer: a bound for the path holds for all
 * layers. */
static struct layers_of take_path(struct stage_bound_search *p, const struct layers_of *l)
{
    enum { FORWARD, BACKWARD, ACTIVATION, PARAMETER, FORWARD_OVERHEAD, BACKWARD_OVERHEAD, FIGURES };
    /* figure[k] becomes what of[k] is, for the layers of the path alone */
    const int64_t *const of[FIGURES] = {[FORWARD] = l->forward,
                                        [BACKWARD] = l->backward,
                                        [ACTIVATION] = l->activation,
                                        [PARAMETER] = l->parameter,
                                        [FORWARD_OVERHEAD] = l->forward_overhead,
                                        [BACKWARD_OVERHEAD] = l->backward_overhead};
    uint32_t *path = arena_array(p->a, (size_t)l->n + 1, sizeof *path), n = find_path(p, l, path);
    struct pairs edge = {.a = p->a};
    int64_t *figure[FIGURES];
    memset(p->place, 0xff, l->n * sizeof *p->place);
    for (uint32_t i = 0; i < n; i++) {
        p->place[path[i]] = i;
        if (i > 0)
            pairs_add(&edge, i - 1, i);
    }
    for (uint32_t k = 0; k < FIGURES; k++) {
        figure[k] = arena_array(p->a, (size_t)n + 1, sizeof **figure);
        for (uint32_t i = 0; i < n; i++)
            figure[k][i] = of[k][path[i]];
    }
    return (struct layers_of){.n = n,
                              .succ = pairs_rows(&edge, n),
                              .pred = pairs_rows_back(&edge, n),
                              .forward = figure[FORWARD],
                              .backward = figure[BACKWARD],
                              .activation = figure[ACTIVATION],
                              .parameter = figure[PARAMETER],
                              .forward_overhead = figure[FORWARD_OVERHEAD],
                              .backward_overhead = figure[BACKWARD_OVERHEAD]};
}

/* Sets ndev, and count and spread: the numbers of devices that some of the settings allow a stage to have. */
static void find_counts(struct stage_bound_search *p)
{
    const struct training *model = p->of->model;
    p->ndev = p->t->servers.ndev;
    p->count = arena_array(p->a, (size_t)p->ndev + 1, sizeof *p->count);
    p->spread = arena_array(p->a, (size_t)p->ndev + 1, sizeof *p->spread);
    for (uint32_t n = 1; n <= p->ndev; n++) {
        bool some = false;
        for (uint32_t i = 0; i < p->nchoice; i++)
            some = some || can_share(&model[i], n);
        if (!some)
            continue;
        p->spread[p->ncount] = spread_of(&p->t->servers, n);
        p->count[p->ncount++] = n;
    }
}

/* Returns the bound's data for several stages on each device under the settings m.  whole: the states are those of
 * all layers.  If they are the states of a path, two stages of a plan may end at the same state, so that nothing is
 * known of the plan's cuts. */
static struct rounds *make_rounds(struct stage_bound_search *p, const struct training *m,
                                  bool whole)
{
    int64_t *move = arena_array(p->a, (size_t)p->s.n + 1, sizeof *move);
    for (uint32_t i = 1; i < p->s.n; i++)
        move[i] = least_move(&p->t->servers, training_share(m, p->cut[i], 1));
    const struct rounds_of of = {.t = p->t, .m = m, .s = whole ? &p->s : NULL, .move = move};
    return rounds_set_up(&of, p->a);
}

/* Prepares the search: fills *p.  Returns false if no search is possible: with PipeDream's schedule, or if there are
 * too many states. */
static bool set_up(struct stage_bound_search *p)
{
    const struct training *model = p->of->model;
    const struct layers_of *l = &p->t->layers;
    for (uint32_t i = 0; i < p->nchoice; i++)
        if (model[i].schedule == TRAINING_PIPEDREAM)
            return false;
    find_counts(p);
    p->place = arena_array(p->a, (size_t)l->n + 1, sizeof *p->place);
    for (uint32_t v = 0; v < l->n; v++)
        p->place[v] = v;
    bool whole = find_states(p, l);
    if (!whole) { /* too many states: those of the heaviest path */
        const struct layers_of path = take_path(p, l);
        if (!find_states(p, &path))
            return false;
    }
    p->stored = arena_array(p->a, (size_t)p->s.n + 1, sizeof *p->stored);
    p->cut = arena_array(p->a, (size_t)p->s.n + 1, sizeof *p->cut);
    for (uint32_t i = 1; i <= p->s.n; i++)
        for (uint32_t v = 0; v < l->n; v++)
            p->stored[i] = sat_add(p->stored[i], in_state(p, i, v) ? p->t->stored[v] : 0);
    sum_cuts(p);
    size_t cells = ((size_t)p->s.n + 1) * (p->ndev + 1);
    p->first = arena_array(p->a, cells, sizeof *p->first);
    p->around = arena_array(p->a, cells, sizeof *p->around);
    p->choice = arena_array(p->a, p->nchoice, sizeof *p->choice);
    for (uint32_t i = 0; i < p->nchoice; i++) {
        p->choice[i].plain = !is_covered(model, p->nchoice, i);
        if (p->choice[i].plain)
            make_choice(p, &p->choice[i], &model[i]);
        if (model[i].schedule == TRAINING_INTERLEAVED)
            p->choice[i].rounds = make_rounds(p, &model[i], whole);
    }
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
    struct stage_bound_search p = {
        .t = t, .of = of, .nchoice = of->n, .a = arena_new(x->use.scratch)};
    const struct scene easiest = stage_bound_least_work(t, of);
    struct exec_bound work = iteration_bound(&easiest, p.a);
    struct stage_bound b = {.value = work.value, .why = work.why, .proof = ""};
    int64_t longest = least_longest(t, of, p.a), high = of->upper < NEVER ? of->upper : NEVER - 1;
    char text[UNIT_TEXT];
    assert(of->n > 0);
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
    if (high > b.value && set_up(&p)) {
        int64_t value = bisect(&p, b.value, high);
        if (value > b.value) {
            b.value = value;
            b.why = "all cuts into stages, each with what comes before and after it";
        }
        b.proof = arena_fmt(
            x->use.mem,
            "%sno cut into stages (%u states of the model) with any numbers of devices for them "
            "lets each do its work on all micro-batches, between the first one's way there and "
            "the last one's way back, in less than %s\n",
            b.proof, p.s.n, time_short(text, b.value));
    }
    arena_free(p.a);
    return b;
}
