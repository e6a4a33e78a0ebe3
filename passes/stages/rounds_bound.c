/* Finds lower bounds for interleaved stages (rounds_bound.h).
 *
 * There are P places and v >= 2 rounds of stages: stage s is on place s % P, in round s / P.  The order of the passes
 * on a place is fixed (ir/exec/iteration/iteration_order.c): before its first forward pass of round j, a place has done
 * P forward passes of each earlier round and no backward pass; after its last backward pass of round j it has to do P
 * backward passes of each earlier round and no forward pass.  Let T be the time of the iteration, M the number of
 * micro-batches, f and b the time of a stage's passes for one micro-batch, c that of a transfer over a link, and w the
 * sum of f + b over the stages of a place.  Then for each place p and each round j
 *   T >= head + M w + tail  and  T >= head + M w + e, where
 *   head = f and c of all stages before the one of place p in round j, less P f of the place's own earlier rounds;
 *   tail = the same with b;
 *   e    = the AllReduces of the place, which share a link, less P b of all its rounds but the last.
 * Take j = v - 1 and sum over all places: the f in all heads are together at least what is subtracted there, likewise
 * the b in the tails, so that the transfers remain: for place p, c of at least the first P + p links.  Hence
 *   (A) the sum of T - M w over places is at least I, the sum of these c in both directions;
 *   (B) the sum of T - M w - e over places is at least the sum of these c in one direction, and no place has a negative
 *       T - M w - e (j = 0).
 * From (A): if each place has at least n of the D devices, and all work takes W on one device, D T >= M W + n I.
 * For (B) each layer has a worth.  V(n) is the largest worth that a place of n devices can take on within T, if places
 * may take any fractions of layers.  If P places that have D devices together can take on less than the worth of all
 * layers, however the devices are divided, T is refuted.  V is a concave function of the time, so idle time costs a
 * place at least V's last slope for each ps.  The argument holds for any worths; those used here are M (f + b) + q *
 * parameters.  The prices q are n times the AllReduce's time per byte among n devices, for n = 1, 2, 4 ...: then time
 * and parameters are worth the same for each ps that they cost a place of n devices.
 * What a pass takes each device whole, however small its slice is, counts whole in (B) and once in (A).
 * Stage 0 has no link before it, so its AllReduce does not share the link of the first place's other AllReduces: the
 * larger one of the two times is at least half of their sum.
 *
 * Places take blocks of layers, below, whole, not fractions: where the time allows fewer whole blocks, V is less.
 *
 *   (C) Before a place's first backward pass are at most 2 (P - 1) + (v - 1) P + 1 forward passes, and then it does one
 *       of each in turn.  So on the first place the backward pass of a micro-batch through stage 0 comes before its
 *       forward pass of the micro-batch 2 P later.  Micro-batches 0, 2 P, 4 P ... go there and back through all stages
 *       one after the other: of the M / P groups of P micro-batches, the first, the third and so on.  So T is at least
 *       as many times all f, b and c of a micro-batch.  If the number of groups is even, each place has all backward
 *       passes of the last group to do beside that (or all forward passes of the first one, if the time is read
 *       backwards), and on some place they take no less than the work of all, shared by all devices.
 *       All f + b together are least if the work is on the largest places, as far as these can take it on within T.
 *
 * A link needs time for the transfers of all micro-batches.  So within T the model cannot be cut at every state; layers
 * that none of the possible cuts separates are a block, and are in one stage.  If a block by itself takes n devices
 * longer than T, with its AllReduce, a place of n devices cannot take it on.
 *
 * Sums are in floating point; ROUNDING_MARGIN makes up for rounding errors. */
#include "passes/stages/rounds_bound.h"

#include "ir/base/keyed.h"
#include "ir/base/units.h"
#include "passes/stages/best_places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Limits of the work of the bound.  Beyond MOST_DEVICES or MOST_ITEMS argument (B) in the head of this file is not
 * tried, beyond MOST_TURNS argument (C) is not tried with whole stages; beyond another limit a weaker bound is
 * taken. */
enum {
    MOST_DEVICES = 32,     /* the most devices */
    MOST_PRICES = 7,       /* the most prices that (B) tries */
    MOST_ITEMS = 1 << 14,  /* the most devices * blocks */
    MOST_CHAINS = 1 << 22, /* the most pairs of states * number of states in a chain */
    TURN_PRICES = 10,      /* number of prices of busy devices that (C) tries */
    MOST_TURNS = 24000000, /* the most steps for whole stages of a question, about */
    MOST_TAKEN = 64,       /* the most blocks that a place takes on as a whole */
    MOST_SEARCH = 300      /* the most steps of a search for blocks */
};
/* Covers rounding errors: a time or worth times this factor is no larger than the exact one; times (2 -
 * ROUNDING_MARGIN) it is no smaller. */
static const double ROUNDING_MARGIN = 1 - 1e-9;
/* a search for blocks ends if these have this share of the worth of fractions of blocks */
static const double ENOUGH = 0.998;
/* the least price of a device's busy time that (C) tries; 1 is the time of a micro-batch's way if all devices share its
 * work */
static const double LEAST_PRICE = 0.25;
/* the rate per byte is the difference between an AllReduce of these bytes and one of a single byte, divided by these
 * bytes */
static const double LARGE_BYTES = 1LL << 40;

/* What plans on n places cannot avoid. */
struct rounds_places {
    uint32_t n;
    /* sums over the places of the ps that devices are at least idle for transfers: `idle` in both directions (I of
     * (A) in the head of this file); `idle_there` only forward, for (B) */
    double idle, idle_there;
    double link; /* ps for which the busiest link is busy at least */
    /* ps of the transfers of one micro-batch over all links, forth and back: C of (C) in the head of this file */
    double all_links;
};

/* What a layer or a block weighs: forward, backward: ps of its passes for one micro-batch on one device; the overheads:
 * the part of this time that each of several devices takes whole; parameter: bytes of its parameters. */
struct weight {
    double forward, backward, forward_overhead, backward_overhead, parameter;
};

/* Data of the bound that do not depend on the question; work and times as in the head of this file. */
struct rounds {
    struct rounds_of of;
    uint32_t ndev, nlayer, nprice, nplaces;
    struct rounds_places *places; /* [nplaces] the numbers of places that plans may have */
    bool *allowed;                /* [devices] whether a place may have this many devices */
    /* [number of devices] ps per byte of an AllReduce among so many devices */
    double *rate;
    struct weight *layer; /* [layer] times and bytes of the layer */
    double count;         /* number of micro-batches */
    double all;           /* ps of the passes of all layers and all micro-batches on one device */
    /* the larger of two times in ps: of all forward passes of a micro-batch on one device, and of all its backward
     * passes */
    double half;
    double part; /* ps that each pass of a stage takes beside its work (exec_model.part_cost) */
    double price[MOST_PRICES]; /* [nprice] q: ps per byte of parameters */
    double total[MOST_PRICES]; /* [nprice] worth of all layers at the price, ps */
    bool staged;               /* (C) is tried with whole stages */
    struct arena *a;
};

/* ---- setting up --------------------------------------------------------------------------------- */

/* Returns the ps per byte of an AllReduce among n devices, without latencies, rounded down. */
static double reduce_rate(const struct servers *s, uint32_t n)
{
    const struct spread x = spread_of(s, n);
    int64_t large = least_reduce(s, &x, (int64_t)LARGE_BYTES), small = least_reduce(s, &x, 1);
    return large > small ? (double)(large - small) / LARGE_BYTES * ROUNDING_MARGIN : 0;
}

/* Returns the bytes of gradients per byte of values on a link: 1 in a profile; 0 in a graph, where they are unknown. */
static double gradient_share(const struct rounds *r)
{
    return r->of.t->x->scene.m->ir_version ? 0 : 1;
}

/* Returns the number of states at which the model can be cut; 0 if they are not known. */
static uint32_t count_cuts(const struct rounds *r)
{
    return r->of.s ? r->of.s->n - 1 : 0;
}

/* Returns an array: [i] the sum of the i least of ps[1 .. count_cuts], for i = 0 .. count_cuts.  other: times that are
 * taken off ps first, or NULL. */
static double *sum_moves(const struct rounds *r, const int64_t *ps, const int64_t *other)
{
    uint32_t n = count_cuts(r);
    double *sum = arena_array(r->a, (size_t)n + 1, sizeof *sum);
    struct keyed *key = arena_array(r->a, (size_t)n + 1, sizeof *key);
    for (uint32_t i = 0; i < n; i++)
        key[i] = (struct keyed){ps[i + 1] - (other ? other[i + 1] : 0), i};
    keyed_sort(key, n);
    for (uint32_t i = 0; i < n; i++)
        sum[i + 1] = sum[i] + (double)key[i].key;
    return sum;
}

/* Returns an array: [i] the least sum of r->of.move[] over i states each of which contains the one before, for i = 0 ..
 * count_cuts.  The stages of a plan end at such states.  If there are more than MOST_CHAINS pairs, returns lower sums,
 * those of sum_moves(). */
static double *sum_chains(const struct rounds *r)
{
    const struct stage_states *s = r->of.s;
    double *sum = sum_moves(r, r->of.move, NULL);
    /* set_links() asks for the links of two rounds of stages on at most all devices */
    uint32_t n = count_cuts(r), most = smaller_u32(2 * r->ndev, n);
    if (!n || (uint64_t)s->before.at[s->n + 1] * most > MOST_CHAINS)
        return sum;
    double *now = arena_array(r->a, (size_t)n + 1, sizeof *now);
    double *next = arena_array(r->a, (size_t)n + 1, sizeof *next);
    /* now[state]: the least sum of k - 1 states before the state */
    for (uint32_t k = 1; k <= most; k++) {
        double least = HUGE_VAL;
        for (uint32_t to = 1; to <= n; to++) {
            double with = now[to] + (double)r->of.move[to];
            least = with < least ? with : least;
            next[to] = HUGE_VAL;
            for_row (from, s->before, to) {
                double through = now[from] + (double)r->of.move[from];
                next[to] = through < next[to] ? through : next[to];
            }
        }
        sum[k] = least > sum[k] ? least : sum[k];
        double *other = now;
        now = next;
        next = other;
    }
    return sum;
}

/* Sets what plans of two rounds on p->n places cannot avoid by transfers; plans with more rounds have these, too.
 * move, more: from sum_moves(), of transfers to any devices, and of what transfers to a single device take more. */
static void set_links(const struct rounds *r, struct rounds_places *p, const double *move,
                      const double *more)
{
    uint32_t n = p->n, links = 2 * n - 1;
    bool half_duplex = r->of.m->half_duplex;
    double ways = half_duplex ? 1 + gradient_share(r) : 1;
    /* a single place has no links; for more links than there are cuts, or if no cuts are known, the bounds stay 0 */
    if (n == 1 || links > count_cuts(r))
        return;
    for (uint32_t i = 0; i < n; i++) /* place i waits for the transfers of the first n + i links */
        p->idle_there += move[n + i];
    p->idle = (1 + gradient_share(r)) * p->idle_there;
    /* ones: the least number of places with a single device.  Two links lead to such a place, one for each of its
     * stages; only one if it has the very first stage */
    uint32_t ones = 2 * n > r->ndev ? 2 * n - r->ndev : 0;
    p->all_links = (1 + gradient_share(r)) * (move[links] + (ones ? more[2 * ones - 1] : 0));
    /* between two places, values and gradients of all stages share two lanes; with half duplex, one lane */
    double lanes = n == 2 && half_duplex ? 1 : n;
    double both = n == 2 || half_duplex ? 1 + gradient_share(r) : 1;
    p->link = r->count * both * move[links] / lanes;
    if (n == 2)
        return;
    /* there are n lanes that lead forth; each has two links, but for the lane behind the last place */
    double pairs = r->count * ways * move[links - 1] / (n - 1);
    /* if several places have a single device, two links lead to one of these places: only the place with the very first
     * stage has fewer */
    double single = ones > 1 ? r->count * ways * (move[2] + more[2]) : 0;
    p->link = pairs > p->link ? pairs : p->link;
    p->link = single > p->link ? single : p->link;
}

/* Returns whether the memories of `places` devices, one of each place, can hold the weights of all layers: every device
 * of a place holds all weights of the place. */
static bool has_room(const struct rounds *r, uint32_t places)
{
    const struct scene *s = &r->of.t->x->scene;
    int64_t memory = s->cluster->cls[cluster_main_class(s->cluster)].memory, all = 0;
    if (memory < 0)
        return true;
    for (uint32_t v = 0; v < r->nlayer; v++)
        all = sat_add(all, r->of.t->layers.parameter[v]);
    int64_t room = memory > r->of.m->workspace ? memory - r->of.m->workspace : 0;
    return sat_mul(all, exec_weight_copies(&s->model, /*training=*/true)) <= sat_mul(room, places);
}

/* Sets r->layer, the weights of all layers for a micro-batch of the size in the settings, and the sums r->all and
 * r->half. */
static void weigh_layers(struct rounds *r)
{
    const struct layers_of *l = &r->of.t->layers;
    const struct training *m = r->of.m;
    /* how many times as many samples a micro-batch has as the costs are about */
    double size = m->micro_size ? (double)m->micro_size / (double)m->profiled : 1;
    double forward_all = 0, backward_all = 0;
    r->layer = arena_array(r->a, (size_t)r->nlayer + 1, sizeof *r->layer);
    for (uint32_t v = 0; v < r->nlayer; v++) {
        struct weight *w = &r->layer[v];
        double forward = (double)l->forward_overhead[v], backward = (double)l->backward_overhead[v];
        *w = (struct weight){
            .forward = forward + size * (double)(l->forward[v] - l->forward_overhead[v]),
            .backward = backward + size * (double)(l->backward[v] - l->backward_overhead[v]),
            .forward_overhead = forward,
            .backward_overhead = backward,
            .parameter = (double)l->parameter[v]};
        w->backward += m->recompute == RECOMPUTE_ALL ? w->forward : 0;
        w->backward_overhead += m->recompute == RECOMPUTE_ALL ? forward : 0;
        r->all += r->count * (w->forward + w->backward);
        forward_all += w->forward;
        backward_all += w->backward;
    }
    r->half = forward_all > backward_all ? forward_all : backward_all;
}

/* Sets the prices of parameters (q in the head of this file) for 1, 2, 4 ... devices, and the worth of all layers at
 * each. */
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
    const double *move = sum_chains(r);
    const double *more = sum_moves(r, of->move_one, of->move);
    r->rate = arena_array(a, (size_t)r->ndev + 1, sizeof *r->rate);
    r->places = arena_array(a, (size_t)r->ndev + 1, sizeof *r->places);
    r->allowed = arena_array(a, (size_t)r->ndev + 1, sizeof *r->allowed);
    for (uint32_t n = 1; n <= r->ndev; n++) {
        r->allowed[n] = can_share_micro_batch(m, n);
        r->rate[n] = reduce_rate(&t->servers, n);
    }
    weigh_layers(r);
    set_prices(r);
    /* numbers of places such that each place has two stages or more, and the same number of micro-batches */
    for (uint32_t n = 1; n <= r->ndev && 2 * (uint64_t)n <= r->nlayer; n++)
        if (training_count(m) % n == 0 && has_room(r, n)) {
            r->places[r->nplaces] = (struct rounds_places){.n = n};
            set_links(r, &r->places[r->nplaces++], move, more);
        }
    /* refutes_places() calls stages_refute() once for each least number of devices of a place */
    double steps = of->ways ? (double)stage_ways_pieces(of->ways) * (TURN_PRICES + 1) : 0;
    double calls = 0;
    for (uint32_t i = 0; i < r->nplaces; i++)
        calls += r->ndev / r->places[i].n;
    r->staged = of->ways && steps * calls <= MOST_TURNS;
    return r;
}

/* ---- blocks ------------------------------------------------------------------------------------- */

/* A block that a place may hold: the ps by which it lengthens the place's time, and its worth at the present price. */
struct item {
    double cost, worth;
    uint32_t block;
};

/* The question whether an iteration can take `time`. */
struct rounds_question {
    const struct rounds *r;
    double time; /* ps of an iteration */
    /* number of cuts for whose transfers a link has time; an upper limit if states are unknown */
    uint32_t cuts;
    uint32_t nblock;
    struct weight *block; /* [nblock] times and bytes of the blocks */
    struct item *item;    /* [nblock] work space of worth_of_place */
    /* of the last call of worth_of_place(): nitem: number of blocks in item[]; left: ps that the place has for them */
    uint32_t nitem;
    double left;
    struct arena *a;
};

/* Returns the least ps that each of n devices takes for work that takes one device `ps`; each device takes
 * `overhead` of it whole. */
static double on_devices(double ps, double overhead, uint32_t n)
{
    return overhead + (ps - overhead) / n;
}

/* Returns the least ps of an iteration of one block by itself on n devices.  What hides an AllReduce that may overlap
 * passes: one backward pass of the block and, if it may go on in the next iteration, one forward pass. */
static double block_time(const struct rounds *r, const struct weight *w, uint32_t n)
{
    const struct training *m = r->of.m;
    double forward = on_devices(w->forward, w->forward_overhead, n);
    double backward = on_devices(w->backward, w->backward_overhead, n);
    double work = r->count * (forward + backward), reduce = r->rate[n] * w->parameter;
    double hides = m->reduce_when == REDUCE_AFTER ? 0 : backward;
    hides += m->reduce_when == REDUCE_ACROSS ? forward : 0;
    return work + 2 * r->count * r->part + (reduce > hides ? reduce - hides : 0);
}

/* Returns whether a place of n devices can take on a block within the question's time. */
static bool takes_block(const struct rounds_question *q, uint32_t block, uint32_t n)
{
    return q->r->allowed[n] && block_time(q->r, &q->block[block], n) * ROUNDING_MARGIN <= q->time;
}

/* Splits each block that has layers both inside and outside the state in two.  of: [layer] the layer's block. */
static void split_blocks(struct rounds_question *q, uint32_t *of, uint32_t state)
{
    const struct stage_states *s = q->r->of.s;
    uint32_t *out = arena_array(q->a, (size_t)q->nblock + 1, sizeof *out), n = q->nblock;
    /* bits: 1: the block has layers outside the state, 2: inside */
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

/* Sets cuts and blocks of the question: layers are in one block if no cut for which a link has time separates them.
 * unlinked: there is only one place, so that there are no links and each layer is a block. */
static void find_blocks(struct rounds_question *q, bool unlinked)
{
    const struct rounds *r = q->r;
    /* known: begins with one block of all layers, which the cuts split; else each layer is a block */
    bool known = r->of.s && !unlinked;
    uint32_t *of = arena_array(q->a, (size_t)r->nlayer + 1, sizeof *of);
    double ways = r->of.m->half_duplex ? 1 + gradient_share(r) : 1;
    q->nblock = known ? 1 : r->nlayer;
    q->cuts = known ? 0 : 2 * r->nlayer;
    for (uint32_t v = 0; v < r->nlayer; v++)
        of[v] = known ? 0 : v;
    for (uint32_t state = 1; known && state <= count_cuts(r); state++) {
        if (r->count * ways * (double)r->of.move[state] * ROUNDING_MARGIN > q->time)
            continue;
        struct arena_mark mark = arena_mark(q->a);
        split_blocks(q, of, state);
        arena_release(q->a, mark);
        q->cuts++;
    }
    q->block = arena_array(q->a, (size_t)q->nblock + 1, sizeof *q->block);
    q->item = arena_array(q->a, (size_t)q->nblock + 1, sizeof *q->item);
    for (uint32_t v = 0; v < r->nlayer; v++) {
        struct weight *w = &q->block[of[v]];
        w->forward += r->layer[v].forward;
        w->backward += r->layer[v].backward;
        w->forward_overhead += r->layer[v].forward_overhead;
        w->backward_overhead += r->layer[v].backward_overhead;
        w->parameter += r->layer[v].parameter;
    }
}

/* Returns the least n such that each block fits a place of n devices or fewer; more than ndev if some block fits no
 * number of devices. */
static uint32_t devices_needed(const struct rounds_question *q)
{
    uint32_t most = 1, at = 1;
    for (uint32_t k = 0; k < q->nblock; k++) {
        if (takes_block(q, k, at)) /* the block fits `at` devices, so `most` suffices */
            continue;
        uint32_t n = 1;
        while (n <= q->r->ndev && !takes_block(q, k, n))
            n++;
        most = larger_u32(n, most);
        at = n <= q->r->ndev ? n : at;
    }
    return most;
}

/* ---- the worth that places can take on ---------------------------------------------------------- */

/* Returns the least ps by which a block lengthens an iteration on a place with n devices, by passes and AllReduces: its
 * share of M w + e (head of this file).  places: number of places; first_place: the place has stage 0. */
static double cost_of(const struct rounds *r, const struct weight *w, uint32_t n, uint32_t places,
                      bool first_place)
{
    const struct training *m = r->of.m;
    /* share: the share of the AllReduces' time that counts (e); hides, forth: numbers of backward and of forward passes
     * that hide AllReduces; back: number of backward passes that are left */
    double share = first_place ? 0.5 : 1, hides = places, forth = 0;
    if (m->own_reduce_lane)
        share = 0;
    if (m->reduce_when != REDUCE_AFTER) /* an AllReduce beside the passes of its own stage */
        hides += 1;
    if (m->reduce_when == REDUCE_ACROSS)
        forth = share;
    double back = r->count - share * hides;
    back = back > 0 ? back : 0;
    double time = (r->count - forth) * w->forward + back * w->backward;
    double overhead = (r->count - forth) * w->forward_overhead + back * w->backward_overhead;
    return on_devices(time, overhead, n) + share * r->rate[n] * w->parameter;
}

/* Compares items by worth per cost, the highest first; for qsort. */
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

/* The largest worth that a place can hold within a time, and the worth per ps of the last block in it; 0 if it holds
 * all blocks. */
struct device_worth {
    double worth, slope;
};

/* Returns the largest worth, at price[price], that a place of n devices can take on within q->time: blocks in order of
 * worth per cost, and a fraction of the last one.  Leaves all blocks that fit the place in q->item, in that order, and
 * sets q->left.  places, first_place: as for cost_of(). */
static struct device_worth worth_of_place(struct rounds_question *q, uint32_t price, uint32_t n,
                                          uint32_t places, bool first_place)
{
    const struct rounds *r = q->r;
    /* two stages with two passes each cost 4 * part; only half of that counts, since AllReduces hide some passes */
    double time = q->time - 2 * r->count * r->part;
    struct device_worth x = {0};
    uint32_t count = 0;
    for (uint32_t k = 0; k < q->nblock; k++) {
        const struct weight *w = &q->block[k];
        double worth = r->count * (w->forward + w->backward) + r->price[price] * w->parameter;
        if (takes_block(q, k, n))
            q->item[count++] = (struct item){cost_of(r, w, n, places, first_place), worth, k};
    }
    qsort(q->item, count, sizeof *q->item, by_worth);
    q->nitem = count;
    q->left = time;
    for (uint32_t i = 0; i < count; i++) {
        const struct item *t = &q->item[i];
        if (t->cost > time) { /* a fraction of the last block */
            x.slope = t->worth / t->cost;
            x.worth += time > 0 ? time * x.slope : 0;
            return x;
        }
        x.worth += t->worth;
        time -= t->cost;
    }
    return x;
}

/* Returns worth plus the largest worth of q->item[at ..] that fits `left` ps, with a fraction of the last one. */
static double fill_up(const struct rounds_question *q, uint32_t at, double left, double worth)
{
    for (; at < q->nitem && left > 0; at++) {
        const struct item *t = &q->item[at];
        if (t->cost > left)
            return worth + left / t->cost * t->worth;
        worth += t->worth;
        left -= t->cost;
    }
    return worth;
}

/* Returns the largest worth of whole blocks, after worth_of_place() has sorted them and returned `fractions`.  A
 * depth-first search takes or leaves one block after the other; if that takes too long, or whole blocks are worth about
 * as much, returns `fractions`. */
static double worth_of_blocks(const struct rounds_question *q, double fractions)
{
    uint32_t taken[MOST_TAKEN], n = 0, at = 0; /* taken: indices of the blocks taken so far */
    double left = q->left * (2 - ROUNDING_MARGIN), worth = 0, most = 0;
    for (uint32_t step = 0; step < MOST_SEARCH; step++) {
        while (at < q->nitem && q->item[at].cost > left)
            at++;
        if (at < q->nitem && fill_up(q, at, left, worth) > most) {
            if (n == MOST_TAKEN)
                return fractions;
            left -= q->item[at].cost;
            worth += q->item[at].worth;
            taken[n++] = at++;
            most = worth > most ? worth : most;
            if (most >= fractions * ENOUGH)
                return fractions;
            continue;
        }
        if (n == 0)
            return most;
        /* takes no block like the last one that was taken: goes on behind all of them */
        const struct item *last = &q->item[taken[--n]];
        left += last->cost;
        worth -= last->worth;
        for (at = taken[n] + 1;
             at < q->nitem && q->item[at].cost >= last->cost && q->item[at].worth <= last->worth;
             at++)
            ;
    }
    return fractions;
}

/* [number of devices] the worth of the blocks that a place can hold: `first`: the place with stage 0; `other`: any
 * other place */
struct worths {
    struct device_worth first[MOST_DEVICES + 1], other[MOST_DEVICES + 1];
};

/* Returns the largest worth that `places` places of `least` or more devices each can take on together. */
static double worth_of_places(const struct rounds *r, const struct worths *w, uint32_t places,
                              uint32_t least)
{
    double now[MOST_DEVICES + 1], next[MOST_DEVICES + 1], most = -HUGE_VAL;
    for (uint32_t d = 0; d <= r->ndev; d++)
        now[d] = d >= least && r->allowed[d] ? w->first[d].worth : -HUGE_VAL;
    for (uint32_t k = 1; k < places; k++) { /* now[d]: for k places with d devices together */
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

/* Returns whether p->n places of `least` or more devices each cannot take on all layers, by (B) in the head of this
 * file.  price: number of the price of parameters; w: what places can take on at this price. */
static bool worths_refute(const struct rounds *r, const struct rounds_places *p, uint32_t price,
                          const struct worths *w, uint32_t least)
{
    /* the least worth that a place loses for each idle ps; HUGE_VAL: no place is possible */
    double slope = HUGE_VAL;
    for (uint32_t n = least; n + p->n <= r->ndev + 1; n++) {
        if (!r->allowed[n])
            continue;
        slope = w->other[n].slope < slope ? w->other[n].slope : slope;
        slope = w->first[n].slope < slope ? w->first[n].slope : slope;
    }
    double idle = p->idle_there > 0 && slope < HUGE_VAL ? p->idle_there * slope : 0;
    return worth_of_places(r, w, p->n, least) - idle < r->total[price] * ROUNDING_MARGIN;
}

/* Returns the least ps of an iteration on p->n places, by (C) in the head of this file.  turn: ps of a micro-batch
 * through all stages and back. */
static double time_of_turns(const struct rounds *r, const struct rounds_places *p, double turn)
{
    double groups = r->count / p->n, turns = ceil(groups / 2);
    double last = turns * 2 <= groups /* their number is even */ ? p->n * r->half / r->ndev : 0;
    return (turns * turn + last) * ROUNDING_MARGIN;
}

/* Returns whether no plan on p->n places of `least` or more devices each takes q->time or less, by (C) in the head of
 * this file.  work: [number of devices] worth that a place can take on at price number 0, which is 0: ps of work on one
 * device. */
static bool turns_refute(const struct rounds_question *q, const struct rounds_places *p,
                         const struct device_worth *work, uint32_t least)
{
    const struct rounds *r = q->r;
    /* ps: the least that the passes of all stages take for all micro-batches, one after the other */
    double most = 0;
    /* for each m: all work on places of m devices would take r->all / m; work on a place of n > m devices gains 1 / m -
     * 1 / n of its time */
    for (uint32_t m = least; m + (p->n - 1) * least <= r->ndev; m++) {
        struct worths w;
        for (uint32_t n = 1; n <= r->ndev; n++) {
            double gain = n > m ? 1.0 / m - 1.0 / n : 0;
            w.first[n].worth = w.other[n].worth = gain * work[n].worth;
        }
        double now = r->all / m - worth_of_places(r, &w, p->n, least);
        most = now > most ? now : most;
    }
    /* each place runs two stages, each stage runs two passes, and each pass costs r->part */
    double turn = most / r->count + p->all_links + 4 * p->n * r->part;
    return time_of_turns(r, p, turn) > q->time;
}

/* Returns whether no plan on p->n places of `least` or more devices each takes q->time or less, by (C) in the head of
 * this file, with whole stages. */
static bool stages_refute(const struct rounds_question *q, const struct rounds_places *p,
                          uint32_t least)
{
    const struct rounds *r = q->r;
    /* ps for which all devices together can be busy */
    double busy = (r->ndev * q->time - least * p->idle_there) * (2 - ROUNDING_MARGIN);
    /* at first busy time alone counts (turn 0) */
    struct stage_turn of = {.places = p->n,
                            .most_devices = r->ndev - (p->n - 1) * least,
                            .time = q->time * (2 - ROUNDING_MARGIN),
                            .price = 1};
    if (!r->staged)
        return false;
    if (stage_ways_turn(r->of.ways, r->of.choice, &of) > busy)
        return true;
    of.turn = 1;
    /* prices are tried around this one: how long a device is busy for a micro-batch, if all devices share its work,
     * against the time of the micro-batch's way */
    double price = LEAST_PRICE / (r->count * r->ndev);
    for (uint32_t i = 0; i < TURN_PRICES; i++, price *= 2) {
        of.price = price;
        double turn = stage_ways_turn(r->of.ways, r->of.choice, &of) - of.price * busy;
        if (time_of_turns(r, p, turn) > q->time)
            return true;
    }
    return false;
}

/* Sets *whole to the worths of whole blocks at a price. */
static void weigh_whole(struct rounds_question *q, const struct rounds_places *p, uint32_t price,
                        struct worths *whole)
{
    for (uint32_t n = 1; n <= q->r->ndev; n++) {
        double fractions = worth_of_place(q, price, n, p->n, /*first_place=*/false).worth;
        whole->other[n].worth = worth_of_blocks(q, fractions);
        fractions = worth_of_place(q, price, n, p->n, /*first_place=*/true).worth;
        whole->first[n].worth = worth_of_blocks(q, fractions);
    }
}

/* Returns whether no plan on p->n places takes q->time or less.  need: some place must have at least this many
 * devices. */
static bool refutes_places(struct rounds_question *q, const struct rounds_places *p, uint32_t need)
{
    const struct rounds *r = q->r;
    struct worths w[MOST_PRICES], whole[MOST_PRICES];
    uint32_t nwhole = 0;
    bool priced = r->ndev <= MOST_DEVICES && r->ndev * q->nblock <= MOST_ITEMS;
    if (p->link * ROUNDING_MARGIN > q->time || 2 * p->n - 1 > q->cuts)
        return true;
    for (uint32_t k = 0; k < r->nprice && priced; k++)
        for (uint32_t n = 1; n <= r->ndev; n++) {
            w[k].other[n] = worth_of_place(q, k, n, p->n, /*first_place=*/false);
            w[k].first[n] = worth_of_place(q, k, n, p->n, /*first_place=*/true);
        }
    /* least: devices of the smallest place; every number must be refuted: by (A), by the devices needed, by (B) or by
     * (C) */
    for (uint32_t least = 1; least * p->n <= r->ndev; least++) {
        /* each device takes part_cost for two stages with two passes each */
        double work = r->ndev * (q->time - 4 * r->count * r->part) - least * p->idle;
        bool refuted = work < r->all * ROUNDING_MARGIN || (p->n - 1) * least + need > r->ndev;
        for (uint32_t k = 0; k < r->nprice && priced && !refuted; k++)
            refuted = worths_refute(r, p, k, &w[k], least);
        refuted = refuted || stages_refute(q, p, least);
        for (uint32_t k = 0; k < r->nprice && priced && !refuted; k++) {
            if (k == nwhole) /* not weighed yet for a smaller `least` */
                weigh_whole(q, p, k, &whole[nwhole++]);
            refuted = worth_of_places(r, &whole[k], p->n, least) < r->total[k] * ROUNDING_MARGIN ||
                      (k == 0 && turns_refute(q, p, whole[0].first, least));
        }
        if (!refuted)
            return false;
    }
    return true;
}

bool rounds_refutes(const struct rounds *r, int64_t most)
{
    struct arena *a = arena_new(r->a);
    /* two questions: for plans on one place, which have no links, and for plans on more places */
    struct rounds_question one = {.r = r, .time = (double)most, .a = a}, more = one;
    find_blocks(&one, /*unlinked=*/true);
    find_blocks(&more, /*unlinked=*/false);
    uint32_t need = devices_needed(&more);
    bool refuted = true;
    /* each number of places must be refuted; if some block needs more devices than there are, all numbers but 1 are */
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
