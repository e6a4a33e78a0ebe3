/* Lower bounds for interleaved stages (rounds_bound.h).
 *
 * P places have the stages of v >= 2 rounds: stage s is on place s % P, in round s / P.  The order of a place's passes
 * is fixed (ir/exec/iteration/iteration_order.c): before it does its first forward pass of round j it has done P of
 * each round before, and no backward one; after its last backward pass of round j it has P of each round before still
 * to do, and no forward one.  So with M micro-batches, f and b of stages, c of links, w the passes of all a place's
 * stages,
 *   T >= head + M w + tail  and  T >= head + M w + e, for any j:
 *   head = f and c of all stages before (j, p) - P f of the place's own rounds before j; tail the same of b;
 *   e    = the AllReduces of the place, which share a link, - P b of its rounds before the last.
 * Summed over all places with j = v - 1 the f of head and tail are what is taken off or more, so there remains what
 * transfers take: c of the first P + p links at least, of place p.  Hence
 *   (A) the sum of T - M w over places is at least I = the sum of c there and back,
 *   (B) the sum of T - M w - e is at least the sum of c there; and none of its terms is below 0 (j = 0).
 * n devices of a place that are idle for a time are n times as idle; so with (A), D T >= M W + n I for the least n that
 * a place has.  For (B), prices are put on layers: what n devices can be worth within T, if they may share layers as
 * they like, is V(n); if the best P places of D devices in all are not worth as much as all layers, T is refuted.  What
 * places are idle takes from that, as V is concave, at least its last slope times the idle time.  Any prices do; they
 * are M w + q * parameters, with q such as makes n devices indifferent, for n = 1, 2, 4 ...  The first place's stage 0
 * exchanges its gradients beside the place's others: half of the two is one or the other.
 *
 * A link has time for all micro-batches; so within T the model cannot be cut everywhere, and layers that no other cut
 * parts are a block, which is in one stage.  n devices that a block alone takes longer than T, with its AllReduce, are
 * worth nothing by it.
 *
 * Sums are in floating point, with room for its errors. */
#include "passes/stages/rounds_bound.h"

#include "ir/base/keyed.h"
#include "ir/base/units.h"
#include "passes/stages/best_places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 32, MOST_PRICES = 7, MOST_ITEMS = 1 << 14 };
static const double EXACT = 1 - 1e-9, LARGE_BYTES = 1LL << 40;

/* Plans of n places. */
struct rounds_places {
    uint32_t n;
    /* ps, over all places: idle: transfers in both directions; idle_there: forward transfers only */
    double idle, idle_there;
    double link; /* ps of the busiest link, at least */
};

/* Of a layer or a block, for a micro-batch on one device; ps, bytes. */
struct weight {
    double forward, backward, parameter;
};

struct rounds {
    struct rounds_of of;
    uint32_t ndev, nlayer, nprice, nplaces;
    struct rounds_places *places;
    bool *allowed; /* [devices] of a place */
    double *rate;  /* [devices] ps of an AllReduce per byte */
    struct weight *layer;
    double count, all, part; /* micro-batches, ps of all work, ps of a pass beside its work */
    double price[MOST_PRICES], total[MOST_PRICES]; /* ps per byte; all layers' */
    struct arena *a;
};

/* ---- setting up --------------------------------------------------------------------------------- */

static double reduce_rate(const struct servers *s, uint32_t n)
{
    const struct spread x = spread_of(s, n);
    int64_t large = least_reduce(s, &x, (int64_t)LARGE_BYTES), small = least_reduce(s, &x, 1);
    return large > small ? (double)(large - small) / LARGE_BYTES * EXACT : 0;
}

/* Gradients of values that go back, for each of values. */
static double ways_back(const struct rounds *r)
{
    return r->of.t->x->scene.m->ir_version ? 0 : 1; /* only a profile tells */
}

static uint32_t count_cuts(const struct rounds *r)
{
    return r->of.s ? r->of.s->n - 1 : 0;
}

/* The sum of the i least transfers, for all i. */
static double *sum_moves(const struct rounds *r)
{
    uint32_t n = count_cuts(r);
    double *sum = arena_array(r->a, (size_t)n + 1, sizeof *sum);
    struct keyed *key = arena_array(r->a, (size_t)n + 1, sizeof *key);
    for (uint32_t i = 0; i < n; i++)
        key[i] = (struct keyed){r->of.move[i + 1], i};
    keyed_sort(key, n);
    for (uint32_t i = 0; i < n; i++)
        sum[i + 1] = sum[i] + (double)key[i].key;
    return sum;
}

/* What links take of plans on P places, with two rounds: more rounds have all of that. */
static void set_links(const struct rounds *r, struct rounds_places *p, const double *move)
{
    uint32_t n = p->n, links = 2 * n - 1;
    bool half = r->of.m->half_duplex;
    if (n == 1 || links > count_cuts(r))
        return;
    for (uint32_t i = 0; i < n; i++)
        p->idle_there += move[n + i];
    p->idle = (1 + ways_back(r)) * p->idle_there;
    /* of two places values and gradients are on the same two links, or on one */
    double lanes = n == 2 && half ? 1 : n;
    p->link = r->count * (1 + (n == 2 || half ? ways_back(r) : 0)) * move[links] / lanes;
}

/* Whether the weights of all layers have room on so many devices: each device of a place has those of the place. */
static bool has_room(const struct rounds *r, uint32_t places)
{
    const struct scene *s = &r->of.t->x->scene;
    int64_t memory = s->cluster->cls[cluster_main_class(s->cluster)].memory, all = 0;
    if (memory < 0)
        return true;
    for (uint32_t v = 0; v < r->nlayer; v++)
        all = sat_add(all, r->of.t->layers.parameter[v]);
    int64_t room = memory > r->of.m->workspace ? memory - r->of.m->workspace : 0;
    return sat_mul(all, exec_weight_copies(&s->model, true)) <= sat_mul(room, places);
}

static void weigh_layers(struct rounds *r)
{
    const struct layers_of *l = &r->of.t->layers;
    const struct training *m = r->of.m;
    double size = m->micro_size ? (double)m->micro_size / (double)m->profiled : 1;
    r->layer = arena_array(r->a, (size_t)r->nlayer + 1, sizeof *r->layer);
    for (uint32_t v = 0; v < r->nlayer; v++) {
        struct weight *w = &r->layer[v];
        *w = (struct weight){size * (double)l->forward[v], size * (double)l->backward[v],
                             (double)l->parameter[v]};
        w->backward += m->recompute == RECOMPUTE_ALL ? w->forward : 0;
        r->all += r->count * (w->forward + w->backward);
    }
}

/* Prices that make 1, 2, 4 ... devices indifferent between time and parameters. */
static void set_prices(struct rounds *r)
{
    for (uint32_t n = 1; n <= r->ndev && r->nprice < MOST_PRICES; n *= 2)
        if (n == 1 || r->rate[n] > 0)
            r->price[r->nprice++] = n * r->rate[n];
    for (uint32_t k = 0; k < r->nprice; k++) {
        r->total[k] = r->all;
        for (uint32_t v = 0; v < r->nlayer; v++)
            r->total[k] += r->price[k] * r->layer[v].parameter;
    }
}

struct rounds *rounds_set_up(const struct rounds_of *of, struct arena *a)
{
    const struct train *t = of->t;
    const struct training *m = of->m;
    struct rounds *r = arena_alloc(a, sizeof *r);
    *r = (struct rounds){.of = *of,
                         .ndev = t->servers.ndev,
                         .nlayer = t->layers.n,
                         .count = training_count(m),
                         .part = (double)t->x->scene.model.part_cost,
                         .a = a};
    const double *move = sum_moves(r);
    r->rate = arena_array(a, (size_t)r->ndev + 1, sizeof *r->rate);
    r->places = arena_array(a, (size_t)r->ndev + 1, sizeof *r->places);
    r->allowed = arena_array(a, (size_t)r->ndev + 1, sizeof *r->allowed);
    for (uint32_t n = 1; n <= r->ndev; n++) {
        r->allowed[n] = m->any_slices || !m->micro_size || m->micro_size % n == 0;
        r->rate[n] = reduce_rate(&t->servers, n);
    }
    weigh_layers(r);
    set_prices(r);
    for (uint32_t n = 1; n <= r->ndev && 2 * (uint64_t)n <= r->nlayer; n++)
        if (training_count(m) % n == 0 && has_room(r, n)) {
            r->places[r->nplaces] = (struct rounds_places){.n = n};
            set_links(r, &r->places[r->nplaces++], move);
        }
    return r;
}

/* ---- blocks ------------------------------------------------------------------------------------- */

struct item {
    double cost, worth;
    uint32_t block;
};

struct rounds_question {
    const struct rounds *r;
    double time; /* ps: the question */
    uint32_t cuts, nblock;
    struct weight *block;
    struct item *item;
    struct arena *a;
};

/* ps of a block alone on n devices; AllReduces that begin early hide beside its own passes. */
static double alone(const struct rounds *r, const struct weight *w, uint32_t n)
{
    const struct training *m = r->of.m;
    double work = r->count * (w->forward + w->backward) / n, reduce = r->rate[n] * w->parameter;
    double hides = m->reduce_when == REDUCE_AFTER ? 0 : w->backward / n;
    hides += m->reduce_when == REDUCE_ACROSS ? w->forward / n : 0;
    return work + 2 * r->count * r->part + (reduce > hides ? reduce - hides : 0);
}

static bool fits(const struct rounds_question *q, uint32_t block, uint32_t n)
{
    return q->r->allowed[n] && alone(q->r, &q->block[block], n) * EXACT <= q->time;
}

/* Parts blocks, of[layer], by a state: whether they are in it. */
static void part_blocks(struct rounds_question *q, uint32_t *of, uint32_t state)
{
    const struct stage_states *s = q->r->of.s;
    uint32_t *out = arena_array(q->a, (size_t)q->nblock + 1, sizeof *out), n = q->nblock;
    uint8_t *has = arena_alloc(q->a, (size_t)q->nblock + 1);
    for (uint32_t v = 0; v < q->r->nlayer; v++) {
        bool in = bits_have(s->set + (size_t)state * s->words, v);
        has[of[v]] |= in ? 2 : 1;
    }
    for (uint32_t k = 0; k < q->nblock; k++)
        out[k] = has[k] == 3 ? n++ : k;
    for (uint32_t v = 0; v < q->r->nlayer; v++)
        if (!bits_have(s->set + (size_t)state * s->words, v))
            of[v] = out[of[v]];
    q->nblock = n;
}

/* The blocks of layers between which no link has time for its transfers; unlinked: there are no links. */
static void find_blocks(struct rounds_question *q, bool unlinked)
{
    const struct rounds *r = q->r;
    bool known = r->of.s && !unlinked;
    uint32_t *of = arena_array(q->a, (size_t)r->nlayer + 1, sizeof *of);
    double ways = r->of.m->half_duplex ? 1 + ways_back(r) : 1;
    q->nblock = known ? 1 : r->nlayer;
    q->cuts = known ? 0 : 2 * r->nlayer;
    for (uint32_t v = 0; v < r->nlayer; v++)
        of[v] = known ? 0 : v;
    for (uint32_t state = 1; known && state <= count_cuts(r); state++) {
        struct arena_mark mark = arena_mark(q->a);
        if (r->count * ways * (double)r->of.move[state] * EXACT > q->time)
            continue;
        part_blocks(q, of, state);
        arena_release(q->a, mark);
        q->cuts++;
    }
    q->block = arena_array(q->a, (size_t)q->nblock + 1, sizeof *q->block);
    q->item = arena_array(q->a, (size_t)q->nblock + 1, sizeof *q->item);
    for (uint32_t v = 0; v < r->nlayer; v++) {
        struct weight *w = &q->block[of[v]];
        w->forward += r->layer[v].forward;
        w->backward += r->layer[v].backward;
        w->parameter += r->layer[v].parameter;
    }
}

/* The most devices that a block needs; more than there are: no number will do. */
static uint32_t devices_needed(const struct rounds_question *q)
{
    uint32_t most = 1, at = 1;
    for (uint32_t k = 0; k < q->nblock; k++) {
        if (fits(q, k, at)) /* the block fits `at` devices, so `most` suffices */
            continue;
        uint32_t n = 1;
        while (n <= q->r->ndev && !fits(q, k, n))
            n++;
        most = larger_u32(n, most);
        at = n <= q->r->ndev ? n : at;
    }
    return most;
}

/* ---- what devices are worth --------------------------------------------------------------------- */

/* What a block adds to M w + e of n devices; first: on the place that has stage 0. */
static double cost_of(const struct rounds *r, const struct weight *w, uint32_t n, uint32_t places,
                      bool first)
{
    const struct training *m = r->of.m;
    double share = m->own_reduce_lane ? 0 : first ? 0.5 : 1, hides = places, forth = 0;
    if (m->reduce_when != REDUCE_AFTER) /* an AllReduce beside the passes of its own stage */
        hides += 1;
    if (m->reduce_when == REDUCE_ACROSS)
        forth = share;
    double back = r->count - share * hides;
    double time = (r->count - forth) * w->forward + (back > 0 ? back : 0) * w->backward;
    return time / n + share * r->rate[n] * w->parameter;
}

static int by_worth(const void *x, const void *y)
{
    const struct item *a = x, *b = y;
    if (a->worth <= 0 || b->worth <= 0) /* items without worth come last */
        return (a->worth <= 0) - (b->worth <= 0);
    double left = a->worth * b->cost, right = b->worth * a->cost;
    if (left > right || left < right)
        return left > right ? -1 : 1;
    return a->block < b->block ? -1 : a->block > b->block;
}

/* What n devices are worth within a time, and the last of it per ps. */
struct device_worth {
    double worth, slope;
};

static struct device_worth take(struct rounds_question *q, uint32_t price, uint32_t n,
                                uint32_t places, bool first)
{
    const struct rounds *r = q->r;
    double time = q->time - 2 * r->count * r->part; /* of two stages, less what may be hidden */
    struct device_worth x = {0};
    uint32_t count = 0;
    for (uint32_t k = 0; k < q->nblock; k++) {
        const struct weight *w = &q->block[k];
        double worth = r->count * (w->forward + w->backward) + r->price[price] * w->parameter;
        if (fits(q, k, n))
            q->item[count++] = (struct item){cost_of(r, w, n, places, first), worth, k};
    }
    qsort(q->item, count, sizeof *q->item, by_worth);
    for (uint32_t i = 0; i < count; i++) {
        const struct item *t = &q->item[i];
        if (t->cost > time) {
            x.slope = t->worth / t->cost;
            x.worth += time > 0 ? time * x.slope : 0;
            return x;
        }
        x.worth += t->worth;
        time -= t->cost;
    }
    return x;
}

struct worths {
    struct device_worth first[MOST_DEVICES + 1], other[MOST_DEVICES + 1];
};

/* The most that places of `least` devices or more each can be worth. */
static double most_worth(const struct rounds *r, const struct worths *w, uint32_t places,
                         uint32_t least)
{
    double now[MOST_DEVICES + 1], next[MOST_DEVICES + 1], most = -HUGE_VAL;
    for (uint32_t d = 0; d <= r->ndev; d++)
        now[d] = d >= least && r->allowed[d] ? w->first[d].worth : -HUGE_VAL;
    for (uint32_t k = 1; k < places; k++) {
        for (uint32_t d = 0; d <= r->ndev; d++) {
            next[d] = -HUGE_VAL;
            for (uint32_t n = least; n <= d; n++)
                if (r->allowed[n] && now[d - n] + w->other[n].worth > next[d])
                    next[d] = now[d - n] + w->other[n].worth;
        }
        memcpy(now, next, sizeof now);
    }
    for (uint32_t d = 0; d <= r->ndev; d++)
        most = now[d] > most ? now[d] : most;
    return most;
}

/* Whether prices refute that so many places have all layers, each on `least` devices or more. */
static bool worths_refute(const struct rounds *r, const struct rounds_places *p, uint32_t price,
                          const struct worths *w, uint32_t least)
{
    double slope = HUGE_VAL;
    for (uint32_t n = least; n + p->n <= r->ndev + 1; n++) {
        if (!r->allowed[n])
            continue;
        slope = w->other[n].slope < slope ? w->other[n].slope : slope;
        slope = w->first[n].slope < slope ? w->first[n].slope : slope;
    }
    double idle = p->idle_there > 0 && slope < HUGE_VAL ? p->idle_there * slope : 0;
    return most_worth(r, w, p->n, least) - idle < r->total[price] * EXACT;
}

static bool refutes_places(struct rounds_question *q, const struct rounds_places *p, uint32_t need)
{
    const struct rounds *r = q->r;
    struct worths w[MOST_PRICES];
    bool priced = r->ndev <= MOST_DEVICES && r->ndev * q->nblock <= MOST_ITEMS;
    if (p->link * EXACT > q->time || 2 * p->n - 1 > q->cuts)
        return true;
    for (uint32_t k = 0; k < r->nprice && priced; k++)
        for (uint32_t n = 1; n <= r->ndev; n++) {
            w[k].other[n] = take(q, k, n, p->n, false);
            w[k].first[n] = take(q, k, n, p->n, true);
        }
    for (uint32_t least = 1; least * p->n <= r->ndev; least++) {
        double work = r->ndev * (q->time - 4 * r->count * r->part) - least * p->idle;
        bool refuted = work < r->all * EXACT || (p->n - 1) * least + need > r->ndev;
        for (uint32_t k = 0; k < r->nprice && priced && !refuted; k++)
            refuted = worths_refute(r, p, k, &w[k], least);
        if (!refuted)
            return false;
    }
    return true;
}

bool rounds_refutes(const struct rounds *r, int64_t most)
{
    struct arena *a = arena_new(r->a);
    struct rounds_question one = {.r = r, .time = (double)most, .a = a}, more = one;
    find_blocks(&one, true);
    find_blocks(&more, false);
    uint32_t need = devices_needed(&more);
    bool refuted = true;
    for (uint32_t i = 0; i < r->nplaces && refuted; i++) {
        const struct rounds_places *p = &r->places[i];
        if (p->n == 1)
            refuted = refutes_places(&one, p, 1);
        else if (need <= r->ndev)
            refuted = refutes_places(&more, p, need);
    }
    arena_free(a);
    return refuted;
}
