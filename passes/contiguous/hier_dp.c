/* Groups of devices: the exact search over pairs of ideals (hier_dp.h).
 *
 * Source: the placement paper, H.3 (accelerator hierarchies, after PipeDream): optimal splits not only
 * of prefixes but of every interval.  The outer DP walks a chain of ideals whose differences are taken
 * by groups; its state says how many groups of each kind are used.  What a group makes of the interval
 * from ideal i to ideal j is an inner DP over the chains of ideals between, its state the devices used.
 * Where a class has no groups, or its inner link saves nothing, each device is a group of its own.
 *
 * A part S = b - a of the interval costs base(a, b), in which each net that leaves S counts as inner
 * (wdag_inner), plus outer - inner for each net that S touches and that leaves the interval.  base is
 * made once for each pair; the nets that leave an interval are few, and whether S touches one
 * follows from the numbers of its pins in a and in b.
 *
 * Pruned by the best plan known: pairs whose base reaches it, intervals of more work than the group
 * does in that time, and ideals that leave more than the other devices do.
 *
 * O(pairs * nets) for base, O(quadruples i <= a < b <= j * (nets that leave + devices)) for the
 * rest, and states * pairs outside: for 300 ideals up to some 10^9 steps. */
#include "passes/contiguous/hier_dp.h"

#include "ir/base/bits.h"
#include "ir/base/units.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_CELLS = 4000000, INNER_STATES = 1024, PAIR_CELLS = 1 << 24 };

/* Interchangeable groups: the groups of a class without pinned vertices, or one group with pinned vertices. */
struct group_kind {
    /* devices in a group; number of groups; place value of its digit in a state */
    uint32_t cls, size, count, stride;
    uint32_t first[CLUSTER_DEVICES]; /* [group] the group's first device */
    /* devices in a group that nothing is pinned to; their kind in the problem */
    uint32_t nfree, free;
    uint32_t npin, pin[PROBLEM_KINDS]; /* number of the others; their kinds in the problem */
};

struct pair {
    uint32_t from;
    int64_t base;
};

/* How the best value of a cell of a dynamic program came about. */
struct back {
    uint32_t from, how; /* the ideal before; the kind of group (outer) or of device (inner) */
};

/* The inner dynamic program: what a group does with an interval. */
struct inner {
    /* the ideals between the ends of the interval; [ideal] its place among them, UINT32_MAX: none */
    uint32_t *mid, nmid, *pos;
    uint32_t *out, nout; /* nets that leave the interval and cost more outside the group */
    uint16_t *seen;      /* [place * nout] pins in the ideal */
    int64_t *most;       /* [inner state * n + place] the least largest load up to there */
    struct back *step;
};

/* A device of a group: its kind, and its bit in the mask of pinned devices; < 0: nothing is pinned to it. */
struct member {
    uint32_t k;
    int pin;
};

struct hier {
    const struct wdag *g;
    const struct cluster *cluster;
    struct problem *c; /* of wdag_inner(g) */
    const struct hier_limits *most;
    struct hier_found found;
    struct arena *a;
    int64_t limit; /* only plans of a smaller value are of use */
    /* number of ideals; words of bits for one; nets of two vertices or more that cost something */
    uint32_t n, nword, nnet;
    uint64_t *bits;       /* [ideal * nword] */
    uint8_t *below;       /* [i * n + j] ideal i is inside ideal j */
    uint32_t *net, *pins; /* [nnet] [nnet] its number in g; its number of pins */
    /* [ideal * nnet], [ideal * nshared] how many of its pins, or users, are in the ideal */
    uint16_t *has, *item;
    /* [nnet] [class][nnet] outer cost - inner cost; 0 where the host has a pin */
    int64_t *delta[CLUSTER_CLASSES];
    int64_t *weight; /* [ideal] least time of its vertices */
    struct pair *pair[PROBLEM_KINDS];
    /* [kind][b] first of the pairs that end at ideal b, in order of where they start */
    uint32_t *pair_at[PROBLEM_KINDS];
    struct group_kind *kind;
    uint32_t nkind, nstate;
    uint32_t *left; /* [state] number of devices left for the rest of the graph */
    int64_t *value; /* [state * n + ideal] the least largest load of a plan up to there */
    struct back *back;
    uint32_t last; /* state of the best plan found, if improved */
    bool improved;
    struct inner in;
};

/* Whether the search has to end; found.why then says so. */
static bool stopped(struct hier *h)
{
    if (h->found.steps > h->most->max_steps)
        h->found.why = "the steps allowed were done";
    else if (clock_out(h->most->clock))
        h->found.why = h->most->clock->why;
    else
        return false;
    return true;
}

/* ---- ideals ----------------------------------------------------------------------------------- */

static bool is_ready(const struct wdag *g, const uint64_t *ideal, uint32_t v)
{
    bool ready = !bits_have(ideal, v);
    for (uint32_t i = g->pred.at[v]; ready && i < g->pred.at[v + 1]; i++)
        ready = bits_have(ideal, g->pred.to[i]);
    return ready;
}

/* Lists all ideals by number of vertices: each of those with one vertex less, plus a vertex, if that is new. */
static void list_ideals(struct hier *h)
{
    uint32_t level = 0, made = 1;
    for (uint32_t card = 0; card < h->g->n; card++) {
        uint32_t end = made;
        for (uint32_t i = level; i < end; i++)
            for (uint32_t v = 0; v < h->g->n; v++) {
                const uint64_t *from = h->bits + (size_t)i * h->nword;
                uint64_t *to = h->bits + (size_t)made * h->nword;
                if (!is_ready(h->g, from, v))
                    continue;
                memcpy(to, from, h->nword * sizeof *to);
                bits_add(to, v);
                uint32_t k = end;
                while (memcmp(h->bits + (size_t)k * h->nword, to, h->nword * sizeof *to))
                    k++;
                made += k == made;
            }
        level = end;
    }
    assert(made == h->n);
}

static void relate_ideals(struct hier *h)
{
    h->below = arena_alloc(h->a, (size_t)h->n * h->n);
    for (uint32_t i = 0; i < h->n; i++)
        for (uint32_t j = i + 1; j < h->n; j++) {
            const uint64_t *x = h->bits + (size_t)i * h->nword, *y = h->bits + (size_t)j * h->nword;
            bool inside = true;
            for (uint32_t w = 0; inside && w < h->nword; w++)
                inside = !(x[w] & ~y[w]);
            h->below[(size_t)i * h->n + j] = inside;
        }
}

static void count_pins(struct hier *h)
{
    const struct wdag *g = h->g;
    h->net = arena_array(h->a, (size_t)g->nnet + 1, sizeof *h->net);
    h->pins = arena_array(h->a, (size_t)g->nnet + 1, sizeof *h->pins);
    uint32_t *name = arena_array(h->a, (size_t)g->nnet + 1, sizeof *name);
    memset(name, 0xff, ((size_t)g->nnet + 1) * sizeof *name);
    for (uint32_t e = 0; e < g->nnet; e++) {
        uint32_t pins = g->net_pin.at[e + 1] - g->net_pin.at[e];
        int64_t dear = 0;
        for (uint32_t k = 0; k < g->ncls; k++)
            dear |= g->net_cost[k][e];
        if (pins < 2 || !dear)
            continue;
        name[e] = h->nnet;
        h->pins[h->nnet] = pins;
        h->net[h->nnet++] = e;
    }
    h->has = arena_array(h->a, (size_t)h->n * h->nnet + 1, sizeof *h->has);
    h->item = arena_array(h->a, (size_t)h->n * g->nshared + 1, sizeof *h->item);
    for (uint32_t i = 0; i < h->n; i++)
        for (uint32_t v = 0; v < g->n; v++) {
            if (!bits_have(h->bits + (size_t)i * h->nword, v))
                continue;
            for_row (y, g->net_of, v)
                if (name[y] != UINT32_MAX)
                    h->has[(size_t)i * h->nnet + name[y]]++;
            for (uint32_t k = g->shared_of.at[v]; h->c->limited && k < g->shared_of.at[v + 1]; k++)
                h->item[(size_t)i * g->nshared + g->shared_of.to[k]]++;
        }
    for (uint32_t k = 0; k < g->ncls; k++) {
        h->delta[k] = arena_array(h->a, (size_t)h->nnet + 1, sizeof(int64_t));
        for (uint32_t x = 0; x < h->nnet; x++)
            h->delta[k][x] = g->net_cost[k][h->net[x]] - h->c->g->net_cost[k][h->net[x]];
    }
}

/* ---- the cost of a pair ----------------------------------------------------------------------- */

static int64_t bytes_between(const struct hier *h, uint32_t a, uint32_t b, const int64_t *size)
{
    const struct wdag *g = h->g;
    const uint16_t *x = h->item + (size_t)a * g->nshared, *y = h->item + (size_t)b * g->nshared;
    int64_t sum = size[b] - size[a];
    for (uint32_t s = 0; s < g->nshared; s++)
        sum += y[s] > x[s] ? g->shared_size[s] : 0;
    return sum;
}

static int64_t nets_between(const struct hier *h, uint32_t a, uint32_t b, uint32_t cls)
{
    const int64_t *cost = h->c->g->net_cost[cls];
    const uint16_t *x = h->has + (size_t)a * h->nnet, *y = h->has + (size_t)b * h->nnet;
    int64_t sum = 0;
    for (uint32_t e = 0; e < h->nnet; e++) {
        uint32_t in = (uint32_t)(y[e] - x[e]);
        if (in && (in < h->pins[e] || h->g->net_host[h->net[e]]))
            sum += cost[h->net[e]];
    }
    return sum;
}

/* Writes sum[ideal], the sum of of[v] over its vertices. */
static void sum_up(const struct hier *h, const int64_t *of, int64_t *sum)
{
    for (uint32_t i = 0; i < h->n; i++)
        for (uint32_t v = 0; v < h->g->n; v++)
            if (bits_have(h->bits + (size_t)i * h->nword, v))
                sum[i] += of[v] == COST_NEVER ? 0 : of[v];
}

/* Lists the pairs of ideals a < b such that a device of kind k can hold b - a with a base below the limit; false:
 * time or steps ran out. */
static bool make_pairs(struct hier *h, uint32_t k)
{
    const struct problem_kind *kind = &h->c->kind[k];
    int64_t *time = arena_array(h->a, h->n, sizeof *time), *size = arena_array(h->a, h->n, 8);
    int64_t *never = arena_array(h->a, h->n, sizeof *never);
    int64_t *is_never = arena_array(h->a, (size_t)h->g->n + 1, sizeof *is_never);
    uint32_t cap = 0, n = 0;
    for (uint32_t v = 0; v < h->g->n; v++)
        is_never[v] = kind->time[v] == COST_NEVER;
    sum_up(h, kind->time, time);
    sum_up(h, is_never, never);
    sum_up(h, h->g->size, size);
    h->pair_at[k] = arena_array(h->a, (size_t)h->n + 1, sizeof(uint32_t));
    for (uint32_t b = 0; b < h->n; b++) {
        if (stopped(h))
            return false;
        for (uint32_t a = 0; a < b; a++) {
            int64_t base = time[b] - time[a];
            if (!h->below[(size_t)a * h->n + b] || never[b] != never[a] || base >= h->limit ||
                (kind->memory < LOAD_INF && bytes_between(h, a, b, size) > kind->memory))
                continue;
            base += nets_between(h, a, b, kind->cls);
            h->found.steps += h->nnet;
            if (base >= h->limit)
                continue;
            h->pair[k] = vec_grow(h->a, h->pair[k], &cap, n + 1, sizeof *h->pair[k]);
            h->pair[k][n++] = (struct pair){a, base};
        }
        h->pair_at[k][b + 1] = n;
    }
    return true;
}

static void make_weights(struct hier *h)
{
    int64_t *least = arena_array(h->a, (size_t)h->g->n + 1, sizeof *least);
    for (uint32_t v = 0; v < h->g->n; v++) {
        least[v] = COST_NEVER;
        for (uint32_t k = 0; k < h->c->nkind; k++)
            least[v] = smaller(h->c->kind[k].time[v], least[v]);
    }
    h->weight = arena_array(h->a, h->n, sizeof *h->weight);
    sum_up(h, least, h->weight);
}

/* ---- groups ----------------------------------------------------------------------------------- */

/* Number of devices in a group of the class; 1 where being in one group saves no transfer. */
static uint32_t group_size(const struct wdag *g, const struct cluster *c, uint32_t cls)
{
    for (uint32_t e = 0; g->net_inner && c->cls[cls].group > 1 && e < g->nnet; e++)
        if (!g->net_host[e] && g->net_pin.at[e + 1] - g->net_pin.at[e] > 1 &&
            g->net_inner[cls][e] < g->net_cost[cls][e])
            return c->cls[cls].group;
    return 1;
}

static void add_group(struct hier *h, uint32_t cls, uint32_t dev, uint32_t size)
{
    struct group_kind q = {.cls = cls, .size = size, .count = 1, .nfree = size};
    for (uint32_t k = 0; k < h->c->nkind; k++) {
        const struct problem_kind *kind = &h->c->kind[k];
        if (kind->dev >= 0 && (uint32_t)kind->dev >= dev && (uint32_t)kind->dev < dev + size)
            q.pin[q.npin++] = k;
        else if (kind->dev < 0 && kind->cls == cls)
            q.free = k;
    }
    q.nfree -= q.npin;
    q.first[0] = dev;
    for (uint32_t i = 0; !q.npin && i < h->nkind; i++) {
        struct group_kind *like = &h->kind[i];
        if (like->cls != cls || like->npin)
            continue;
        like->first[like->count++] = dev;
        return;
    }
    h->kind[h->nkind++] = q;
}

static int make_groups(struct hier *h, struct diag *d)
{
    uint32_t dev = 0, ndev = h->cluster->ndev;
    uint64_t states = 1;
    h->kind = arena_array(h->a, ndev, sizeof *h->kind);
    for (uint32_t cls = 0; cls < h->cluster->ncls; cls++) {
        uint32_t size = group_size(h->g, h->cluster, cls), end = dev + h->cluster->cls[cls].count;
        for (; dev < end; dev += size)
            add_group(h, cls, dev, size);
    }
    for (uint32_t q = 0; q < h->nkind; q++) {
        struct group_kind *k = &h->kind[q];
        k->stride = (uint32_t)states;
        states *= k->count + 1;
        if (states > STATE_CELLS / h->n || k->npin > 9 || (k->nfree + 1) << k->npin > INNER_STATES)
            return diag_error(d, "hier-place: the devices are of too many kinds, or pinned to too "
                                 "many ways, for a search over groups");
    }
    h->nstate = (uint32_t)states;
    h->left = arena_array(h->a, h->nstate, sizeof *h->left);
    for (uint32_t s = 0; s < h->nstate; s++)
        for (uint32_t q = 0; q < h->nkind; q++) {
            const struct group_kind *k = &h->kind[q];
            h->left[s] += (k->count - s / k->stride % (k->count + 1)) * k->size;
        }
    return 0;
}

/* ---- what a group makes of an interval -------------------------------------------------------- */

static void inner_begin(struct hier *h, uint32_t i, uint32_t j, uint32_t cls)
{
    assert(i < j && j < h->n);
    const uint16_t *x = h->has + (size_t)i * h->nnet, *y = h->has + (size_t)j * h->nnet;
    h->in.nout = h->in.nmid = 0;
    for (uint32_t e = 0; e < h->nnet; e++)
        if (h->delta[cls][e] && y[e] > x[e] && (x[e] || y[e] < h->pins[e]))
            h->in.out[h->in.nout++] = e;
    for (uint32_t b = i; b <= j; b++) {
        h->in.pos[b] = UINT32_MAX;
        if ((b != i && !h->below[(size_t)i * h->n + b]) ||
            (b != j && !h->below[(size_t)b * h->n + j]))
            continue;
        h->in.pos[b] = h->in.nmid;
        for (uint32_t o = 0; o < h->in.nout; o++)
            h->in.seen[(size_t)h->in.nmid * h->in.nout + o] =
                h->has[(size_t)b * h->nnet + h->in.out[o]];
        h->in.mid[h->in.nmid++] = b;
    }
}

/* Extra cost of nets that leave the group, beyond the inner cost, for a device with the vertices between the places
 * a and b. */
static int64_t outside_cost(const struct hier *h, uint32_t a, uint32_t b, const int64_t *delta)
{
    const uint16_t *x = h->in.seen + (size_t)a * h->in.nout,
                   *y = h->in.seen + (size_t)b * h->in.nout;
    int64_t sum = 0;
    for (uint32_t o = 0; o < h->in.nout; o++)
        sum += y[o] > x[o] ? delta[h->in.out[o]] : 0;
    return sum;
}

/* Improves the inner states at place `to` by one more device, which has this load and holds the vertices between
 * the places `from` and `to`. */
static void inner_relax(struct hier *h, const struct group_kind *q, struct member d, uint32_t from,
                        uint32_t to, int64_t load)
{
    uint32_t nfree = q->nfree + 1, states = nfree << q->npin;
    for (uint32_t t = 0; t < states; t++) {
        int64_t v = h->in.most[(size_t)t * h->n + from];
        bool taken = d.pin < 0 ? t % nfree == q->nfree : ((t / nfree) >> d.pin & 1) != 0;
        if (v >= h->limit || taken)
            continue;
        uint32_t next = d.pin < 0 ? t + 1 : t + (nfree << d.pin);
        v = larger(load, v);
        if (v < h->in.most[(size_t)next * h->n + to]) {
            h->in.most[(size_t)next * h->n + to] = v;
            h->in.step[(size_t)next * h->n + to] = (struct back){from, d.k};
        }
    }
}

static void inner_arrive(struct hier *h, const struct group_kind *q, struct member d, uint32_t i,
                         uint32_t to)
{
    uint32_t b = h->in.mid[to];
    const struct pair *p = h->pair[d.k] + h->pair_at[d.k][b];
    uint32_t n = h->pair_at[d.k][b + 1] - h->pair_at[d.k][b];
    while (n-- > 0 && p[n].from >= i) {
        uint32_t from = h->in.pos[p[n].from];
        h->found.steps++;
        if (from == UINT32_MAX || p[n].base >= h->limit)
            continue;
        int64_t load = p[n].base + outside_cost(h, from, to, h->delta[q->cls]);
        h->found.steps += h->in.nout;
        if (load < h->limit)
            inner_relax(h, q, d, from, to, load);
    }
}

/* The least largest load of a group of kind q that holds ideal j - ideal i, LOAD_INF if it is not below the limit;
 * *state: the inner state of that solution. */
static int64_t inner_search(struct hier *h, const struct group_kind *q, uint32_t i, uint32_t j,
                            uint32_t *state)
{
    uint32_t states = (q->nfree + 1) << q->npin;
    int64_t least = LOAD_INF;
    inner_begin(h, i, j, q->cls);
    for (uint32_t t = 0; t < states; t++)
        for (uint32_t x = 0; x < h->in.nmid; x++)
            h->in.most[(size_t)t * h->n + x] = LOAD_INF;
    h->in.most[0] = 0;
    for (uint32_t to = q->size == 1 ? h->in.nmid - 1 : 1; to < h->in.nmid; to++) {
        if (q->nfree)
            inner_arrive(h, q, (struct member){q->free, -1}, i, to);
        for (uint32_t p = 0; p < q->npin; p++)
            inner_arrive(h, q, (struct member){q->pin[p], (int)p}, i, to);
    }
    for (uint32_t t = 0; t < states; t++) {
        int64_t v = h->in.most[(size_t)t * h->n + h->in.nmid - 1];
        if (v < least && v < h->limit) {
            least = v;
            *state = t;
        }
    }
    return least;
}

/* ---- the chain of groups ---------------------------------------------------------------------- */

static void outer_relax(struct hier *h, const struct group_kind *q, uint32_t i, uint32_t j,
                        int64_t load)
{
    assert(i < j && j < h->n);
    for (uint32_t s = 0; s < h->nstate; s++) {
        int64_t v = h->value[(size_t)s * h->n + i];
        if (v >= h->limit || s / q->stride % (q->count + 1) == q->count)
            continue;
        size_t to = (size_t)(s + q->stride) * h->n + j;
        v = larger(load, v);
        if (v >= h->value[to] || v >= h->limit)
            continue;
        h->value[to] = v;
        h->back[to] = (struct back){i, (uint32_t)(q - h->kind)};
        if (j == h->n - 1) {
            h->limit = v;
            h->last = s + q->stride;
            h->improved = true;
        }
    }
}

/* The most devices that any plan up to ideal i leaves after one more group of kind q; -1: no plan has such a group
 * left. */
static int64_t most_left(const struct hier *h, const struct group_kind *q, uint32_t i)
{
    int64_t most = -1;
    for (uint32_t s = 0; s < h->nstate; s++)
        if (h->value[(size_t)s * h->n + i] < h->limit &&
            s / q->stride % (q->count + 1) < q->count && (int64_t)h->left[s] - q->size > most)
            most = (int64_t)h->left[s] - q->size;
    return most;
}

static bool outer_search(struct hier *h)
{
    const int64_t *w = h->weight, all = w[h->n - 1];
    uint32_t state;
    for (uint32_t i = 0; i + 1 < h->n; i++)
        for (uint32_t k = 0; k < h->nkind; k++) {
            const struct group_kind *q = &h->kind[k];
            int64_t rest = most_left(h, q, i);
            for (uint32_t j = i + 1; rest >= 0 && j < h->n; j++) {
                if (!h->below[(size_t)i * h->n + j] || w[j] - w[i] > sat_mul(h->limit, q->size) ||
                    all - w[j] > sat_mul(h->limit, rest))
                    continue;
                h->found.steps += h->nnet + h->nstate;
                int64_t load = inner_search(h, q, i, j, &state);
                if (load < h->limit)
                    outer_relax(h, q, i, j, load);
                if (stopped(h))
                    return false;
            }
        }
    return true;
}

/* ---- the plan --------------------------------------------------------------------------------- */

/* The number-th device, from 0, that nothing is pinned to, of the group that begins with device `dev`. */
static uint32_t free_device(const struct hier *h, const struct group_kind *q, uint32_t dev,
                            uint32_t number)
{
    for (;; dev++) {
        bool pinned = false;
        for (uint32_t p = 0; p < q->npin; p++)
            pinned = pinned || h->c->kind[q->pin[p]].dev == (int32_t)dev;
        if (!pinned && number-- == 0)
            return dev;
    }
}

static void assign_device(const struct hier *h, uint32_t a, uint32_t b, uint32_t dev, int32_t *to)
{
    for (uint32_t v = 0; v < h->g->n; v++)
        if (bits_have(h->bits + (size_t)b * h->nword, v) &&
            !bits_have(h->bits + (size_t)a * h->nword, v))
            to[v] = (int32_t)dev;
}

/* Writes dev[] for the vertices of ideal j - ideal i, divided among the group whose first device is `first`: runs
 * the inner program once more. */
static void assign_group(struct hier *h, const struct group_kind *q, uint32_t i, uint32_t j,
                         uint32_t first, int32_t *dev)
{
    uint32_t nfree = q->nfree + 1, t = 0;
    inner_search(h, q, i, j, &t);
    for (uint32_t at = h->in.nmid - 1; at > 0;) {
        struct back s = h->in.step[(size_t)t * h->n + at];
        assert(s.from < at && s.how < h->c->nkind);
        const struct problem_kind *k = &h->c->kind[s.how];
        uint32_t d = k->dev >= 0 ? (uint32_t)k->dev : free_device(h, q, first, t % nfree - 1);
        assign_device(h, h->in.mid[s.from], h->in.mid[at], d, dev);
        for (uint32_t p = 0; p < q->npin; p++)
            if (k->dev >= 0 && q->pin[p] == s.how)
                t -= nfree << p;
        t -= k->dev < 0;
        at = s.from;
    }
}

static void write_plan(struct hier *h, struct problem_plan *best)
{
    uint32_t s = h->last;
    /* one more than the plan's value: inner_search then accepts the plan's own loads, which equal the limit */
    best->value = h->limit++;
    for (uint32_t j = h->n - 1; j > 0;) {
        struct back b = h->back[(size_t)s * h->n + j];
        const struct group_kind *q = &h->kind[b.how];
        assert(b.from < j && b.how < h->nkind);
        uint32_t number = s / q->stride % (q->count + 1) - 1;
        assign_group(h, q, b.from, j, q->first[number], best->dev);
        s -= q->stride;
        j = b.from;
    }
}

static bool make_tables(struct hier *h)
{
    h->nword = h->g->n / 64 + 1;
    h->bits = arena_array(h->a, (size_t)(h->n + 1) * h->nword, sizeof *h->bits);
    list_ideals(h);
    relate_ideals(h);
    count_pins(h);
    make_weights(h);
    for (uint32_t k = 0; k < h->c->nkind; k++)
        if (!make_pairs(h, k))
            return false;
    uint32_t inner = 1;
    for (uint32_t q = 0; q < h->nkind; q++) {
        uint32_t states = (h->kind[q].nfree + 1) << h->kind[q].npin;
        inner = larger_u32(states, inner);
    }
    size_t cells = (size_t)h->nstate * h->n;
    h->value = arena_array(h->a, cells, sizeof *h->value);
    h->back = arena_array(h->a, cells, sizeof *h->back);
    for (size_t i = 1; i < cells; i++)
        h->value[i] = LOAD_INF;
    h->in.mid = arena_array(h->a, h->n, sizeof *h->in.mid);
    h->in.pos = arena_array(h->a, h->n, sizeof *h->in.pos);
    h->in.out = arena_array(h->a, (size_t)h->nnet + 1, sizeof *h->in.out);
    h->in.seen = arena_array(h->a, (size_t)h->n * h->nnet + 1, sizeof *h->in.seen);
    h->in.most = arena_array(h->a, (size_t)inner * h->n, sizeof *h->in.most);
    h->in.step = arena_array(h->a, (size_t)inner * h->n, sizeof *h->in.step);
    return true;
}

struct hier_found hier_search(const struct wdag *g, const struct scene *s,
                              const struct hier_limits *l, struct problem_plan *best,
                              struct arena *scratch, struct diag *d)
{
    assert(l->max_ideals <= HIER_IDEALS);
    uint64_t ideals = wdag_ideals(g, l->max_ideals);
    struct hier h = {.g = g, .cluster = s->cluster, .most = l, .a = scratch, .limit = best->value};
    h.found.why = "too many plans to search all";
    if (ideals > l->max_ideals || g->n >= HIER_IDEALS)
        return h.found;
    struct arena_mark mark = arena_mark(scratch);
    h.found.ideals = h.n = (uint32_t)ideals;
    h.c = problem_build(wdag_inner(g, scratch), s, -1, scratch, d);
    h.found.rc = h.c && !make_groups(&h, d) ? 0 : -1;
    if (!h.found.rc && (uint64_t)h.c->nkind * h.n * h.n > PAIR_CELLS)
        h.found.why = "too many plans for so many kinds of devices";
    else if (!h.found.rc)
        h.found.complete = make_tables(&h) && outer_search(&h);
    if (h.improved) {
        write_plan(&h, best);
        h.found.rc = 1;
    }
    arena_release(scratch, mark);
    return h.found;
}
