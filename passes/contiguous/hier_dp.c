/* The exact search for clusters with groups of devices: a dynamic program over pairs of ideals (hier_dp.h).
 *
 * Source: the placement paper, H.3 (accelerator hierarchies, after PipeDream): optimal splits not only of prefixes
 * but of every interval.  The outer program goes along a chain of ideals whose differences are held by groups; its
 * state says how many groups of each kind are used.  The inner program divides the interval from ideal i to ideal j
 * among the devices of one group: it goes along the ideals between i and j, and its state says which devices are
 * used.  Where a class has no groups, or its inner link saves nothing, each device is a group of its own.
 *
 * A device of the group that holds S = b - a, for two ideals a and b of the interval, has the load base(a, b), in
 * which each net that leaves S costs what the inner link takes (wdag_inner()), plus the difference of outer and inner
 * cost of each net that touches S and leaves the interval.  base is made once for each pair; few nets leave an
 * interval, and whether S touches one of them follows from the numbers of its pins in a and in b.
 *
 * Copies (H.2): where devices may take turns, a step of the inner program takes one to all of the devices that are left
 * in the group, and a step of the outer program may take several groups for a single stage, which has devices of all of
 * them.  The load of each is exec_shared_load() of the stage's load, with the exchange of its weights.
 *
 * The value of the best plan known prunes: pairs whose base reaches that value; intervals with more work than the
 * group can do in that time; ideals that leave more work than the other devices can do.
 *
 * Cost: O(pairs * nets) for base, O(quadruples i <= a < b <= j * (nets that leave + devices)) for the inner programs,
 * and states * pairs for the outer one: for 300 ideals up to some 10^9 steps. */
#include "passes/contiguous/hier_dp.h"

#include "ir/base/bits.h"
#include "ir/base/units.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    STATE_CELLS = 4000000, /* most cells of the outer program: outer states * ideals */
    INNER_STATES = 1024,   /* most inner states of a group */
    PAIR_CELLS = 1 << 24   /* most kinds of devices * pairs of ideals */
};

/* Interchangeable groups: all groups of a class without pinned vertices, or one group with pinned vertices. */
struct group_kind {
    uint32_t cls;
    uint32_t size;  /* number of devices in a group */
    uint32_t count; /* number of groups */
    /* place value of this kind's digit in an outer state: the number of such groups used */
    uint32_t stride;
    uint32_t first[CLUSTER_DEVICES]; /* [group] the group's first device */
    /* nfree: number of devices of each group to which nothing is pinned; free: the kind of these devices in the
     * problem */
    uint32_t nfree, free;
    /* npin: number of devices of a group that have pinned vertices; pin: [npin] the kinds of these devices in the
     * problem */
    uint32_t npin, pin[PROBLEM_KINDS];
};

/* Two ideals a < b such that one device can hold the difference b - a. */
struct pair {
    uint32_t from;  /* the ideal a */
    int64_t base;   /* ps: the device's load if each net that leaves b - a goes over inner links */
    int64_t params; /* bytes of the parameters of b - a; 0 where no copies exchange weights */
};

/* The last step to the best value of a cell of a dynamic program. */
struct back {
    uint32_t from; /* outer: the ideal before; inner: the place of the ideal before */
    /* outer: kind of the last group; inner: kind of the last device in the problem */
    uint32_t kind;
    /* inner: number of devices that take turns with the last stage; outer: number of devices that take turns with
     * the group's only stage, 0: the group is divided by the inner program */
    uint32_t copies;
    uint32_t groups; /* outer: number of groups that the last step takes */
};

/* The inner program: one group divides the interval from ideal i to ideal j among its devices.  An inner state t says
 * which devices are used: t % (nfree + 1) devices without pinned vertices, and the devices with pinned vertices whose
 * bits are set in t / (nfree + 1). */
struct inner {
    uint32_t *mid, nmid; /* [place] the nmid ideals of the interval, i first, j last */
    uint32_t *pos;       /* [ideal] its place in `mid`; UINT32_MAX: it is not in the interval */
    /* the nout nets that leave the interval and cost more outside the group */
    uint32_t *out, nout;
    uint16_t *seen;    /* [place * nout + index in `out`] number of the net's pins in the ideal */
    int64_t *most;     /* [inner state * n + place] ps: the least largest load up to the ideal */
    struct back *step; /* [inner state * n + place] how that value came about */
};

/* A device of a group. */
struct member {
    uint32_t k; /* kind of the device in the problem */
    /* which bit of an inner state stands for the device; -1: no vertex is pinned to the device */
    int pin;
    uint32_t copies; /* number of such devices that take turns with one stage */
};

/* What turns of several devices with one stage cost. */
struct turns {
    /* the scene's execution model, with copies; the problem `c` of struct hier is made without copies */
    const struct exec_model *model;
    bool syncs;    /* the copies of a stage exchange weights */
    int64_t start; /* ps that a stage takes beside its vertices and nets; 0 without copies */
};

/* The whole search: tables of ideals, nets and groups, and the values of the outer program.  An outer state is a number
 * with a digit for each kind of groups: how many groups of the kind are used (group_kind.stride, groups_used()). */
struct hier {
    const struct wdag *g;
    const struct cluster *cluster;
    struct turns turns;
    /* problem of wdag_inner(g), whose nets cost the least they can: as if all went over inner links */
    struct problem *c;
    const struct hier_limits *limits;
    struct hier_found found;
    struct arena *a;
    int64_t limit; /* ps: only plans of a smaller value are of use */
    /* number of ideals, which are numbered by size: 0 is empty, n - 1 has all vertices */
    uint32_t n;
    uint32_t nword;       /* number of words for the bits of an ideal */
    uint64_t *bits;       /* [ideal * nword + word] the vertices of the ideal */
    uint8_t *below;       /* [i * n + j] 1: ideal i is inside ideal j, and i < j */
    uint32_t nnet;        /* number of nets of two vertices or more that cost something */
    uint32_t *net, *pins; /* [nnet] the net's number in g; the number of its pins */
    uint16_t *has;        /* [ideal * nnet + net] number of the net's pins in the ideal */
    /* [ideal * nshared + item] number of vertices of the ideal that need the shared item */
    uint16_t *item;
    /* [class][nnet] ps: outer cost - inner cost; 0 where the host has a pin */
    int64_t *delta[CLUSTER_CLASSES];
    int64_t *weight;                  /* [ideal] ps: sum of the least times of its vertices */
    struct pair *pair[PROBLEM_KINDS]; /* [kind of device] all pairs that the device can hold */
    /* [kind of device][b] index of the first pair that ends at ideal b; pairs with the same b ascend by a */
    uint32_t *pair_at[PROBLEM_KINDS];
    struct group_kind *kind;
    uint32_t nkind;  /* number of kinds of groups */
    uint32_t nstate; /* number of outer states */
    uint32_t *left;  /* [outer state] number of devices that are not used */
    /* [outer state * n + ideal] ps: the least largest load of a plan up to the ideal */
    int64_t *value;
    struct back *back; /* [outer state * n + ideal] how that value came about */
    bool improved;     /* a better plan was found */
    uint32_t last;     /* improved: outer state of the best plan */
    struct inner in;
};

/* Returns whether the search has to end, because its steps or its time are used up; found.why then tells which. */
static bool must_stop(struct hier *h)
{
    if (h->found.steps > h->limits->max_steps)
        h->found.why = "the steps allowed were done";
    else if (clock_out(h->limits->clock))
        h->found.why = h->limits->clock->why;
    else
        return false;
    return true;
}

/* ---- ideals ----------------------------------------------------------------------------------- */

/* Returns whether v is outside the ideal and all predecessors of v are inside. */
static bool is_ready(const struct wdag *g, const uint64_t *ideal, uint32_t v)
{
    if (bits_have(ideal, v))
        return false;
    for_row (u, g->pred, v)
        if (!bits_have(ideal, u))
            return false;
    return true;
}

/* Fills h->bits with all h->n ideals, by number of vertices: adds each ready vertex to each ideal of one vertex less,
 * and keeps the result if it is new. */
static void list_ideals(struct hier *h)
{
    /* the ideals level .. end - 1 have `card` vertices; ideal 0 is empty */
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
                /* k: the first of the ideals of card + 1 vertices that equals ideal number `made`; `made` itself if
                 * that one is new */
                uint32_t k = end;
                while (memcmp(h->bits + (size_t)k * h->nword, to, h->nword * sizeof *to))
                    k++;
                if (k == made)
                    made++;
            }
        level = end;
    }
    assert(made == h->n);
}

/* Fills h->below: which ideals are inside which other ones. */
static void relate_ideals(struct hier *h)
{
    h->below = arena_alloc(h->a, (size_t)h->n * h->n);
    for (uint32_t i = 0; i < h->n; i++)
        for (uint32_t j = i + 1; j < h->n; j++) {
            const uint64_t *x = h->bits + (size_t)i * h->nword, *y = h->bits + (size_t)j * h->nword;
            h->below[(size_t)i * h->n + j] = bits_within(x, y, h->nword);
        }
}

/* Fills h->net and h->pins: the nets that cost something.  Returns an array: [net of g] its index in these tables;
 * UINT32_MAX: it costs nothing. */
static uint32_t *list_nets(struct hier *h)
{
    const struct wdag *g = h->g;
    h->net = arena_array(h->a, (size_t)g->nnet + 1, sizeof *h->net);
    h->pins = arena_array(h->a, (size_t)g->nnet + 1, sizeof *h->pins);
    uint32_t *own = arena_array(h->a, (size_t)g->nnet + 1, sizeof *own);
    memset(own, 0xff, ((size_t)g->nnet + 1) * sizeof *own);
    for (uint32_t e = 0; e < g->nnet; e++) {
        uint32_t pins = g->net_pin.at[e + 1] - g->net_pin.at[e];
        int64_t dear = 0; /* not 0: the net costs something on some class */
        for (uint32_t k = 0; k < g->ncls; k++)
            dear |= g->net_cost[k][e];
        if (pins < 2 || !dear)
            continue;
        own[e] = h->nnet;
        h->pins[h->nnet] = pins;
        h->net[h->nnet++] = e;
    }
    return own;
}

/* Fills the tables about nets and shared items: net, pins, has, item and delta. */
static void make_net_tables(struct hier *h)
{
    const struct wdag *g = h->g;
    const uint32_t *own = list_nets(h);
    h->has = arena_array(h->a, (size_t)h->n * h->nnet + 1, sizeof *h->has);
    h->item = arena_array(h->a, (size_t)h->n * g->nshared + 1, sizeof *h->item);
    bool bytes_count = h->c->limited || h->turns.syncs;
    for (uint32_t i = 0; i < h->n; i++)
        for (uint32_t v = 0; v < g->n; v++) {
            if (!bits_have(h->bits + (size_t)i * h->nword, v))
                continue;
            for_row (y, g->net_of, v)
                if (own[y] != UINT32_MAX)
                    h->has[(size_t)i * h->nnet + own[y]]++;
            if (!bytes_count)
                continue;
            for_row (s, g->shared_of, v)
                h->item[(size_t)i * g->nshared + s]++;
        }
    for (uint32_t k = 0; k < g->ncls; k++) {
        h->delta[k] = arena_array(h->a, (size_t)h->nnet + 1, sizeof(int64_t));
        for (uint32_t x = 0; x < h->nnet; x++)
            h->delta[k][x] = g->net_cost[k][h->net[x]] - h->c->g->net_cost[k][h->net[x]];
    }
}

/* ---- the cost of a pair ----------------------------------------------------------------------- */

/* Returns the bytes of a device that holds ideal b - ideal a.  size[ideal]: bytes of its vertices, or of their
 * parameters, shared items left out. */
static int64_t bytes_between(const struct hier *h, uint32_t a, uint32_t b, const int64_t *size)
{
    const struct wdag *g = h->g;
    const uint16_t *x = h->item + (size_t)a * g->nshared, *y = h->item + (size_t)b * g->nshared;
    int64_t sum = size[b] - size[a];
    for (uint32_t s = 0; s < g->nshared; s++)
        sum += y[s] > x[s] ? g->shared_size[s] : 0;
    return sum;
}

/* Returns the cost, ps, of the nets that leave ideal b - ideal a, on a device of class cls and over inner links. */
static int64_t nets_between(const struct hier *h, uint32_t a, uint32_t b, uint32_t cls)
{
    const int64_t *cost = h->c->g->net_cost[cls];
    const uint16_t *x = h->has + (size_t)a * h->nnet, *y = h->has + (size_t)b * h->nnet;
    int64_t sum = 0;
    for (uint32_t e = 0; e < h->nnet; e++) {
        uint32_t in = (uint32_t)(y[e] - x[e]); /* pins of the net in b - a */
        if (in && (in < h->pins[e] || h->g->net_host[h->net[e]]))
            sum += cost[h->net[e]];
    }
    return sum;
}

/* Adds of[v] to sum[ideal] for each vertex v of the ideal; COST_NEVER counts as 0. */
static void sum_up(const struct hier *h, const int64_t *of, int64_t *sum)
{
    for (uint32_t i = 0; i < h->n; i++)
        for (uint32_t v = 0; v < h->g->n; v++)
            if (bits_have(h->bits + (size_t)i * h->nword, v))
                sum[i] += of[v] == COST_NEVER ? 0 : of[v];
}

/* Returns how many devices of this kind may take turns with a stage. */
static uint32_t most_copies(const struct hier *h, const struct problem_kind *kind)
{
    return h->turns.model->replicate && kind->dev < 0 ? kind->count : 1;
}

/* Sums over the vertices of each ideal, for a kind of devices. */
struct ideal_sums {
    /* [ideal] time: ps; size: bytes; param: bytes of parameters; never: number of vertices that cannot run on the
     * kind */
    int64_t *time, *size, *param, *never;
};

/* Returns, in h->a, the sums of struct ideal_sums for each ideal, over its vertices and for devices of kind k.  The
 * sums of parameters are 0 if copies exchange nothing. */
static struct ideal_sums sum_ideals(struct hier *h, uint32_t k)
{
    const struct problem_kind *kind = &h->c->kind[k];
    struct ideal_sums s = {.time = arena_array(h->a, h->n, sizeof *s.time),
                           .size = arena_array(h->a, h->n, sizeof *s.size),
                           .param = arena_array(h->a, h->n, sizeof *s.param),
                           .never = arena_array(h->a, h->n, sizeof *s.never)};
    int64_t *is_never = arena_array(h->a, (size_t)h->g->n + 1, sizeof *is_never);
    for (uint32_t v = 0; v < h->g->n; v++)
        is_never[v] = kind->time[v] == COST_NEVER;
    sum_up(h, kind->time, s.time);
    sum_up(h, is_never, s.never);
    sum_up(h, h->g->size, s.size);
    if (h->turns.syncs && h->g->param)
        sum_up(h, h->g->param, s.param);
    return s;
}

/* Fills h->pair[k] with the pairs of ideals a < b such that a device of kind k can hold b - a: its base, divided by the
 * number of devices that may take turns, is below the limit.  Returns false if time or steps ran out. */
static bool make_pairs(struct hier *h, uint32_t k)
{
    const struct problem_kind *kind = &h->c->kind[k];
    const struct ideal_sums s = sum_ideals(h, k);
    /* ps: devices of the kind together do less for a stage than this */
    int64_t most = sat_mul(h->limit, most_copies(h, kind));
    uint32_t cap = 0, n = 0;
    h->pair_at[k] = arena_array(h->a, (size_t)h->n + 1, sizeof(uint32_t));
    for (uint32_t b = 0; b < h->n; b++) {
        if (must_stop(h))
            return false;
        for (uint32_t a = 0; a < b; a++) {
            int64_t base = s.time[b] - s.time[a];
            if (!h->below[(size_t)a * h->n + b] || s.never[b] != s.never[a] || base >= most ||
                (kind->memory < LOAD_INF && bytes_between(h, a, b, s.size) > kind->memory))
                continue;
            base += nets_between(h, a, b, kind->cls);
            h->found.steps += h->nnet;
            if (base >= most)
                continue;
            h->pair[k] = vec_grow(h->a, h->pair[k], &cap, n + 1, sizeof *h->pair[k]);
            h->pair[k][n++] =
                (struct pair){a, base, h->turns.syncs ? bytes_between(h, a, b, s.param) : 0};
        }
        h->pair_at[k][b + 1] = n;
    }
    return true;
}

/* Fills h->weight: for each ideal the sum of its vertices' least times over all kinds of devices. */
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

/* Returns whether copies of a stage exchange weights faster within a group of class cls. */
static bool group_saves_sync(const struct hier *h, uint32_t cls)
{
    const struct device_class *k = &h->cluster->cls[cls];
    /* the difference of the links shows in the times of so large a transfer */
    const int64_t much = INT64_C(1) << 40;
    return h->turns.syncs && exec_sync(h->turns.model, k, /*inner=*/true, much, 2) <
                                 exec_sync(h->turns.model, k, /*inner=*/false, much, 2);
}

/* Returns the number of devices in a group of class cls; 1 where a group saves neither transfers nor the exchange of
 * weights. */
static uint32_t group_size(const struct hier *h, uint32_t cls)
{
    const struct wdag *g = h->g;
    const struct cluster *c = h->cluster;
    uint32_t size = c->cls[cls].group;
    if (size <= 1 || group_saves_sync(h, cls))
        return larger_u32(size, 1);
    for (uint32_t e = 0; g->net_inner && e < g->nnet; e++) {
        bool between_devices = !g->net_host[e] && g->net_pin.at[e + 1] - g->net_pin.at[e] > 1;
        if (between_devices && g->net_inner[cls][e] < g->net_cost[cls][e])
            return size;
    }
    return 1;
}

/* Returns the number of groups of kind q that are used in outer state s: the digit of q. */
static uint32_t groups_used(const struct group_kind *q, uint32_t s)
{
    return s / q->stride % (q->count + 1);
}

/* Adds the group of `size` devices whose first one is `dev` to the kinds of groups: to the kind of its class without
 * pinned vertices, or as a kind of its own. */
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
    /* a group without pinned vertices joins the others of its class, if there are any */
    for (uint32_t i = 0; !q.npin && i < h->nkind; i++) {
        struct group_kind *like = &h->kind[i];
        if (like->cls != cls || like->npin)
            continue;
        like->first[like->count++] = dev;
        return;
    }
    h->kind[h->nkind++] = q;
}

/* Makes the kinds of groups and numbers the outer states.  Returns 0, or -1 and an error if there are too many
 * states. */
static int make_groups(struct hier *h, struct diag *d)
{
    uint32_t dev = 0, ndev = h->cluster->ndev;
    uint64_t states = 1;
    h->kind = arena_array(h->a, ndev, sizeof *h->kind);
    for (uint32_t cls = 0; cls < h->cluster->ncls; cls++) {
        uint32_t size = group_size(h, cls), end = dev + h->cluster->cls[cls].count;
        for (; dev < end; dev += size)
            add_group(h, cls, dev, size);
    }
    for (uint32_t q = 0; q < h->nkind; q++) {
        struct group_kind *k = &h->kind[q];
        k->stride = (uint32_t)states;
        states *= k->count + 1;
        /* more than 9 pinned devices alone make INNER_STATES inner states or more, and could overflow the shift */
        if (states > STATE_CELLS / h->n || k->npin > 9 || (k->nfree + 1) << k->npin > INNER_STATES)
            return diag_error(d, "hier-place: the devices are of too many kinds, or pinned to too "
                                 "many ways, for a search over groups");
    }
    h->nstate = (uint32_t)states;
    h->left = arena_array(h->a, h->nstate, sizeof *h->left);
    for (uint32_t s = 0; s < h->nstate; s++)
        for (uint32_t q = 0; q < h->nkind; q++) {
            const struct group_kind *k = &h->kind[q];
            h->left[s] += (k->count - groups_used(k, s)) * k->size;
        }
    return 0;
}

/* ---- what a group makes of an interval -------------------------------------------------------- */

/* Prepares h->in, the inner program, for the interval from ideal i to ideal j on a group of class cls.  Fills
 * in.out: the nets that cost devices of the class something beyond the group's inner link (delta) and have pins both
 * inside the interval and outside; has[] counts the pins of a net in an ideal.  in.mid: the ideals between i and j,
 * in.pos their index there, in.seen how many pins they have of each net of in.out. */
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

/* Returns how many ps a device pays for nets that leave the interval beyond what pair.base counts, which has their
 * inner cost.  The device holds the vertices between the places a and b, and pays for a net if it holds one of its
 * pins.  delta: h->delta of the device's class. */
static int64_t outside_cost(const struct hier *h, uint32_t a, uint32_t b, const int64_t *delta)
{
    const uint16_t *x = h->in.seen + (size_t)a * h->in.nout,
                   *y = h->in.seen + (size_t)b * h->in.nout;
    int64_t sum = 0;
    for (uint32_t o = 0; o < h->in.nout; o++)
        sum += y[o] > x[o] ? delta[h->in.out[o]] : 0;
    return sum;
}

/* Returns the load, ps, of each of `copies` devices of class cls that take turns with a stage.  load: what a device
 * would have that runs the stage alone, all its nets counted; params: bytes of the stage's parameters; inner: the
 * devices are in one group. */
static int64_t shared_load(const struct hier *h, uint32_t cls, bool inner, int64_t load,
                           int64_t params, uint32_t copies)
{
    int64_t sync = 0;
    if (h->turns.syncs)
        sync = exec_sync(h->turns.model, &h->cluster->cls[cls], inner, params, copies);
    return exec_shared_load(h->turns.model, sat_add(load, h->turns.start), sync, copies);
}

/* Improves the inner states at place `to` from the states at place `from`: d.copies devices like d, which the states
 * have not used, take the vertices between the two places, and have this load each. */
static void inner_relax(struct hier *h, const struct group_kind *q, struct member d, uint32_t from,
                        uint32_t to, int64_t load)
{
    /* t % radix: used devices without pinned vertices; t / radix: a bit for each device with pinned vertices */
    uint32_t radix = q->nfree + 1, states = radix << q->npin;
    for (uint32_t t = 0; t < states; t++) {
        int64_t v = h->in.most[(size_t)t * h->n + from];
        bool left; /* the state leaves these devices unused */
        if (d.pin < 0)
            left = t % radix + d.copies <= q->nfree;
        else
            left = ((t / radix) >> d.pin & 1) == 0;
        if (v >= h->limit || !left)
            continue;
        /* the state in which these devices are used, too */
        uint32_t next = t + (d.pin < 0 ? d.copies : radix << d.pin);
        v = larger(load, v);
        if (v < h->in.most[(size_t)next * h->n + to]) {
            h->in.most[(size_t)next * h->n + to] = v;
            h->in.step[(size_t)next * h->n + to] =
                (struct back){.from = from, .kind = d.k, .copies = d.copies};
        }
    }
}

/* Improves the inner states (struct inner) at place `to`, an ideal of the interval that begins at ideal i, by all
 * stages of device d that end at this ideal.  The device is in a group of kind q. */
static void inner_arrive(struct hier *h, const struct group_kind *q, struct member d, uint32_t i,
                         uint32_t to)
{
    uint32_t b = h->in.mid[to];
    const struct pair *p = h->pair[d.k] + h->pair_at[d.k][b];
    uint32_t n = h->pair_at[d.k][b + 1] - h->pair_at[d.k][b];
    uint32_t most = d.pin < 0 && h->turns.model->replicate ? q->nfree : 1;
    /* pairs ascend by `from`: from p[n].from < i on, they begin before the interval */
    while (n-- > 0 && p[n].from >= i) {
        uint32_t from = h->in.pos[p[n].from];
        h->found.steps++;
        if (from == UINT32_MAX || p[n].base >= sat_mul(h->limit, most))
            continue;
        int64_t load = p[n].base + outside_cost(h, from, to, h->delta[q->cls]);
        h->found.steps += h->in.nout + most - 1;
        for (d.copies = 1; d.copies <= most; d.copies++) {
            int64_t each =
                shared_load(h, q->cls, /*inner=*/q->size > 1, load, p[n].params, d.copies);
            if (each < h->limit)
                inner_relax(h, q, d, from, to, each);
        }
    }
}

/* Returns the least largest load, ps, of a group of kind q that holds ideal j - ideal i; LOAD_INF if it is not below
 * the limit.  Writes the inner state of that solution to *state, and leaves the steps that lead there in h->in. */
static int64_t inner_search(struct hier *h, const struct group_kind *q, uint32_t i, uint32_t j,
                            uint32_t *state)
{
    uint32_t states = (q->nfree + 1) << q->npin;
    int64_t least = LOAD_INF;
    inner_begin(h, i, j, q->cls);
    for (uint32_t t = 0; t < states; t++)
        for (uint32_t x = 0; x < h->in.nmid; x++)
            h->in.most[(size_t)t * h->n + x] = LOAD_INF;
    h->in.most[0] = 0; /* no device is used at place 0, ideal i */
    /* a single device takes the whole interval: only the last place counts */
    for (uint32_t to = q->size == 1 ? h->in.nmid - 1 : 1; to < h->in.nmid; to++) {
        if (q->nfree)
            inner_arrive(h, q, (struct member){.k = q->free, .pin = -1, .copies = 1}, i, to);
        for (uint32_t p = 0; p < q->npin; p++)
            inner_arrive(h, q, (struct member){.k = q->pin[p], .pin = (int)p, .copies = 1}, i, to);
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

/* Extends the outer states at ideal by.from by the groups of `by`, and so improves the outer states at ideal j.  load:
 * the largest load of these groups.  A better plan for all vertices lowers the limit. */
static void outer_relax(struct hier *h, struct back by, uint32_t j, int64_t load)
{
    const struct group_kind *q = &h->kind[by.kind];
    uint32_t i = by.from;
    assert(i < j && j < h->n);
    for (uint32_t s = 0; s < h->nstate; s++) {
        int64_t v = h->value[(size_t)s * h->n + i];
        if (v >= h->limit || groups_used(q, s) + by.groups > q->count)
            continue;
        size_t to = (size_t)(s + by.groups * q->stride) * h->n + j;
        v = larger(load, v);
        if (v >= h->value[to] || v >= h->limit)
            continue;
        h->value[to] = v;
        h->back[to] = by;
        if (j == h->n - 1) {
            h->limit = v;
            h->last = s + by.groups * q->stride;
            h->improved = true;
        }
    }
}

/* Returns the largest number of devices that a plan up to ideal i, followed by one more group of kind q, leaves
 * unused; -1: no plan has such a group left. */
static int64_t most_left(const struct hier *h, const struct group_kind *q, uint32_t i)
{
    int64_t most = -1;
    for (uint32_t s = 0; s < h->nstate; s++) {
        int64_t left = (int64_t)h->left[s] - q->size;
        if (h->value[(size_t)s * h->n + i] < h->limit && groups_used(q, s) < q->count)
            most = larger(left, most);
    }
    return most;
}

/* Improves the outer states at ideal j by states at ideal i and one stage after them, with whose vertices devices of
 * several groups of kind q take turns. */
static void share_groups(struct hier *h, const struct group_kind *q, uint32_t i, uint32_t j)
{
    /* p[n - 1] becomes the pair (i, j), if one device can hold the stage */
    const struct pair *p = h->pair[q->free] + h->pair_at[q->free][j];
    uint32_t n = h->pair_at[q->free][j + 1] - h->pair_at[q->free][j];
    while (n > 0 && p[n - 1].from > i)
        n--;
    if (q->count < 2 || q->npin || !n || p[n - 1].from != i)
        return;
    /* the nets that leave the stage leave the groups, too, so each costs its outer cost */
    int64_t load = p[n - 1].base;
    const uint16_t *x = h->has + (size_t)i * h->nnet, *y = h->has + (size_t)j * h->nnet;
    for (uint32_t e = 0; e < h->nnet; e++)
        if (y[e] > x[e] && (x[e] || y[e] < h->pins[e]))
            load = sat_add(load, h->delta[q->cls][e]);
    h->found.steps += h->nnet + (uint64_t)q->count * q->size;
    /* up to q->size copies fit in one group, which the inner program tries */
    for (uint32_t copies = q->size + 1; copies <= q->count * q->size; copies++) {
        int64_t each = shared_load(h, q->cls, /*inner=*/false, load, p[n - 1].params, copies);
        const struct back by = {.from = i,
                                .kind = (uint32_t)(q - h->kind),
                                .copies = copies,
                                .groups = (copies - 1) / q->size + 1};
        if (each < h->limit)
            outer_relax(h, by, j, each);
    }
}

/* Runs the outer program over all intervals and kinds of groups.  Returns false if it had to stop before the end. */
static bool outer_search(struct hier *h)
{
    const int64_t *w = h->weight, all = w[h->n - 1];
    uint32_t state;
    for (uint32_t i = 0; i + 1 < h->n; i++)
        for (uint32_t k = 0; k < h->nkind; k++) {
            const struct group_kind *q = &h->kind[k];
            int64_t rest = most_left(h, q, i);
            for (uint32_t j = i + 1; rest >= 0 && j < h->n; j++) {
                if (!h->below[(size_t)i * h->n + j] || all - w[j] > sat_mul(h->limit, rest))
                    continue; /* j is no ideal behind i, or leaves too much work for the other devices */
                if (h->turns.model->replicate)
                    share_groups(h, q, i, j);
                if (w[j] - w[i] > sat_mul(h->limit, q->size))
                    continue; /* the interval is too much work for one group */
                h->found.steps += h->nnet + h->nstate;
                int64_t load = inner_search(h, q, i, j, &state);
                if (load < h->limit)
                    outer_relax(h, (struct back){.from = i, .kind = k, .groups = 1}, j, load);
                if (must_stop(h))
                    return false;
            }
        }
    return true;
}

/* ---- the plan --------------------------------------------------------------------------------- */

/* Returns a device of the group of kind q whose first device is `dev`: of the group's devices that no vertex is pinned
 * to, the one with index `number`, counted from 0. */
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

/* Writes device `dev` to to[v] for each vertex v of ideal b - ideal a. */
static void assign_device(const struct hier *h, uint32_t a, uint32_t b, uint32_t dev, int32_t *to)
{
    for (uint32_t v = 0; v < h->g->n; v++)
        if (bits_have(h->bits + (size_t)b * h->nword, v) &&
            !bits_have(h->bits + (size_t)a * h->nword, v))
            to[v] = (int32_t)dev;
}

/* Writes the devices of the vertices of ideal j - ideal i, divided among the group of kind q whose first device is
 * `first`, and their copies: runs the inner program again and follows its steps back. */
static void assign_group(struct hier *h, const struct group_kind *q, uint32_t i, uint32_t j,
                         uint32_t first, struct problem_plan *to)
{
    /* t: inner state: the devices used up to this step; each step back takes the devices of one stage out of t.  radix:
     * as in inner_relax() */
    uint32_t radix = q->nfree + 1, t = 0;
    inner_search(h, q, i, j, &t);
    for (uint32_t at = h->in.nmid - 1; at > 0;) {
        struct back s = h->in.step[(size_t)t * h->n + at];
        assert(s.from < at && s.kind < h->c->nkind);
        const struct problem_kind *k = &h->c->kind[s.kind];
        bool pinned = k->dev >= 0;
        /* devices without pinned vertices are used in order of number */
        uint32_t d = pinned ? (uint32_t)k->dev : free_device(h, q, first, t % radix - s.copies);
        assign_device(h, h->in.mid[s.from], h->in.mid[at], d, to->dev);
        if (h->turns.model->replicate)
            to->copies[d] = s.copies;
        for (uint32_t p = 0; p < q->npin; p++)
            if (pinned && q->pin[p] == s.kind)
                t -= radix << p;
        if (!pinned)
            t -= s.copies;
        at = s.from;
    }
}

/* Writes the best plan found to *best: follows the steps of the outer program back from state h->last. */
static void write_plan(struct hier *h, struct problem_plan *best)
{
    uint32_t s = h->last;
    best->value = h->limit; /* the limit became the plan's value in outer_relax() */
    h->limit++;             /* so that assign_group() finds the plan's own loads again */
    if (h->turns.model->replicate)
        memset(best->copies, 0, h->cluster->ndev * sizeof *best->copies);
    for (uint32_t j = h->n - 1; j > 0;) {
        struct back b = h->back[(size_t)s * h->n + j];
        const struct group_kind *q = &h->kind[b.kind];
        assert(b.from < j && b.kind < h->nkind);
        /* first device of the first group that the step takes; groups are used in order of number */
        uint32_t first = q->first[groups_used(q, s) - b.groups];
        if (b.copies) {
            assign_device(h, b.from, j, first, best->dev);
            best->copies[first] = b.copies;
        } else {
            assign_group(h, q, b.from, j, first, best);
        }
        s -= b.groups * q->stride;
        j = b.from;
    }
}

/* Makes all tables of the search.  Returns false if time or steps ran out. */
static bool make_tables(struct hier *h)
{
    h->nword = h->g->n / 64 + 1;
    /* one ideal more: list_ideals() writes each candidate behind the ideals made so far */
    h->bits = arena_array(h->a, (size_t)(h->n + 1) * h->nword, sizeof *h->bits);
    list_ideals(h);
    relate_ideals(h);
    make_net_tables(h);
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
    for (size_t i = 1; i < cells; i++) /* cell 0, the empty ideal without groups, has the value 0 */
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
    /* stages of this search are on one device each: copies are counted in h->turns */
    struct scene alone = *s;
    alone.model.replicate = false;
    struct hier h = {
        .g = g,
        .cluster = s->cluster,
        .turns = {.model = &s->model,
                  .syncs = s->model.replicate && g->back,
                  .start = s->model.replicate ? sat_mul(s->model.part_cost, wdag_passes(g)) : 0},
        .limits = l,
        .a = scratch,
        .limit = best->value};
    h.found.why = "too many plans to search all";
    if (ideals > l->max_ideals || g->n >= HIER_IDEALS)
        return h.found;
    struct arena_mark mark = arena_mark(scratch);
    h.found.ideals = h.n = (uint32_t)ideals;
    h.c = problem_build(wdag_inner(g, scratch), &alone, MEMORY_UNCHANGED, scratch, d);
    h.found.rc = h.c && !make_groups(&h, d) ? 0 : -1;
    if (!h.found.rc && (uint64_t)h.c->nkind * h.n * h.n > PAIR_CELLS)
        h.found.why = "too many plans for these kinds of devices";
    else if (!h.found.rc)
        h.found.complete = make_tables(&h) && outer_search(&h);
    if (h.improved) {
        write_plan(&h, best);
        h.found.rc = 1;
    }
    arena_release(scratch, mark);
    return h.found;
}
