/* Lower bounds for plans of any shape (bounds.h).
 *
 * For a threshold T, suppose that a plan has loads below T.  Then it is one of the kernel (kernel.h), whose
 * vertices have fewer kinds of devices to be on.  What the kernel must take at least (B) makes the bound
 * min(T, B); a kernel that is contradictory makes it T.  T is searched by bisection.
 *
 * Prices: for prices s[k] >= 0 of kinds, all loads at most L means
 *   sum over vertices of (least s[k] * time[k] over the kinds that it may be on) + transfers that must be
 *   paid  <=  L * sum over kinds of (devices * s[k]),
 * the dual of sharing vertices fractionally.  Prices are improved one by one.  With a price on the host
 * only, this says that vertices that must be on the host take too long there.
 *
 * Pigeonhole (P||Cmax): of the h longest vertices a device of kind k holds at most as many as the shortest
 * of them fill it; all devices together must hold h.
 *
 * Cost: the work allowed, and O(kinds * V) for each price tried. */
#include "passes/bounds.h"

#include "ir/units.h"

#include <stdlib.h>
#include <string.h>

enum { PRICE_ONE = 1 << 20, PRICE_STEPS = 6, HOLES = 512, PRECISION = 4000, ATTEMPTS = 24 };

/* A threshold that is tried, and what it gave. */
struct attempt {
    int64_t below, value;
    struct kernel *r;
    enum { BY_LOWER, BY_KERNEL, BY_PRICES, BY_HOLES } by;
    int64_t price[CHAIN_KINDS];
    uint32_t holes; /* the longest vertices */
};

/* ---- prices ---------------------------------------------------------------------------------- */

static int64_t least_price(const struct chain *c, uint32_t may, const int64_t *price,
                           int64_t (*cost)(const struct chain *, uint32_t, uint32_t), uint32_t x)
{
    int64_t least = INT64_MAX;
    for (uint32_t k = 0; k < c->nkind; k++)
        if (may >> k & 1) {
            int64_t t = chain_scaled(cost(c, k, x), price[k]);
            least = t < least ? t : least;
        }
    return least == INT64_MAX ? 0 : least;
}

static int64_t vertex_cost(const struct chain *c, uint32_t k, uint32_t v)
{
    return c->kind[k].time[v];
}

static int64_t net_cost(const struct chain *c, uint32_t k, uint32_t e)
{
    return c->cls[c->kind[k].cls].cost[e];
}

/* What net e costs at least: the host's share, or pins that no kind can hold together: each kind that has
 * some of them to itself pays. */
static int64_t net_price(const struct kernel *r, const int64_t *price, uint32_t e)
{
    const struct chain *c = r->small;
    const uint32_t *pin = c->g->net_pin.to + c->g->net_pin.at[e];
    uint32_t n = c->g->net_pin.at[e + 1] - c->g->net_pin.at[e], all = UINT32_MAX, taken = 0;
    int64_t sum = 0;
    if (n < 2)
        return 0; /* part of the vertex's time, or free */
    for (uint32_t i = 0; i < n; i++)
        all &= r->may[pin[i]];
    if (all && !c->g->net_host[e])
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        if (r->may[pin[i]] & taken)
            continue;
        taken |= r->may[pin[i]];
        sum += least_price(c, r->may[pin[i]], price, net_cost, e);
    }
    return sum;
}

static int64_t priced(const struct kernel *r, const int64_t *price)
{
    const struct chain *c = r->small;
    __int128 sum = 0, devices = 0;
    for (uint32_t v = 0; v < c->g->n; v++)
        sum += least_price(c, r->may[v], price, vertex_cost, v);
    for (uint32_t e = 0; e < c->g->nnet; e++)
        sum += net_price(r, price, e);
    for (uint32_t k = 0; k < c->nkind; k++)
        devices += (__int128)c->kind[k].count * price[k];
    sum <<= CHAIN_SCALE_BITS;
    return devices ? (int64_t)((sum + devices - 1) / devices) : 0;
}

static void try_prices(const struct kernel *r, const int64_t *price, int64_t *best, int64_t *value)
{
    int64_t v = priced(r, price);
    if (v <= *value)
        return;
    *value = v;
    memcpy(best, price, CHAIN_KINDS * sizeof *best);
}

/* Prices by which the kernel takes most, and how much. */
static int64_t best_prices(const struct kernel *r, int64_t *best)
{
    static const int64_t up[PRICE_STEPS] = {16, 4, 2, 5, 17, 129},
                         down[PRICE_STEPS] = {1, 1, 1, 4, 16, 128};
    const struct chain *c = r->small;
    int64_t price[CHAIN_KINDS], value = -1;
    for (uint32_t k = 0; k < c->nkind; k++)
        price[k] = PRICE_ONE;
    try_prices(r, price, best, &value);
    for (uint32_t p = 0; p < c->npot; p++) {
        for (uint32_t k = 0; k < c->nkind; k++)
            price[k] = c->pot[p].scale[k] < 0 ? 0 : c->pot[p].scale[k];
        if (!c->pot[p].memory)
            try_prices(r, price, best, &value);
    }
    for (uint32_t i = 0; i < 2 * PRICE_STEPS && c->nkind > 1; i++)
        for (uint32_t k = 0; k < c->nkind; k++)
            for (int turn = 0; turn < 2; turn++) {
                memcpy(price, best, sizeof price);
                int64_t p = turn ? price[k] * up[i % PRICE_STEPS] / down[i % PRICE_STEPS]
                                 : price[k] * down[i % PRICE_STEPS] / up[i % PRICE_STEPS];
                price[k] = p < PRICE_ONE * 16 ? p : PRICE_ONE * 16;
                try_prices(r, price, best, &value);
            }
    for (uint32_t k = 0; k < c->nkind && c->nkind > 1; k++) {
        memset(price, 0, sizeof price);
        price[k] = PRICE_ONE;
        try_prices(r, price, best, &value);
    }
    return value;
}

/* ---- pigeonhole ------------------------------------------------------------------------------ */

struct long_vertex {
    int64_t t;
    uint32_t v;
};

static int longer_first(const void *a, const void *b)
{
    const struct long_vertex *x = a, *y = b;
    return x->t != y->t ? (x->t < y->t) - (x->t > y->t) : (x->v > y->v) - (x->v < y->v);
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

struct holes {
    const struct kernel *r;
    uint32_t n; /* vertices looked at, the longest */
    struct long_vertex *of;
    int64_t *sorted; /* room for n */
};

/* How many of the first h vertices devices with loads of at most `limit` can hold. */
static uint64_t can_hold(const struct holes *p, uint32_t h, int64_t limit)
{
    const struct chain *c = p->r->small;
    uint64_t all = 0;
    for (uint32_t k = 0; k < c->nkind; k++) {
        uint32_t n = 0, m = 0;
        int64_t sum = 0;
        for (uint32_t i = 0; i < h; i++)
            if (p->r->may[p->of[i].v] >> k & 1)
                p->sorted[n++] = c->kind[k].time[p->of[i].v];
        qsort(p->sorted, n, sizeof *p->sorted, by_value);
        while (m < n && (sum += p->sorted[m]) <= limit)
            m++;
        all += (uint64_t)m * c->kind[k].count;
    }
    return all;
}

/* The largest T <= most such that the first h vertices do not fit loads below T. */
static int64_t holes_of(const struct holes *p, uint32_t h, int64_t lower, int64_t most)
{
    int64_t lo = lower, hi = most;
    if (can_hold(p, h, lo) >= h)
        return lo;
    while (lo < hi) { /* loads of at most lo are too little */
        int64_t mid = hi - (hi - lo) / 2;
        if (can_hold(p, h, mid - 1) < h)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

/* Raises t->value above `lower`, if the longest vertices of the kernel do. */
static void try_holes(struct attempt *t, int64_t lower, struct arena *a)
{
    const struct kernel *r = t->r;
    const struct chain *c = r->small;
    struct holes p = {.r = r, .of = arena_array(a, (size_t)c->g->n + 1, sizeof *p.of)};
    for (uint32_t v = 0; v < c->g->n; v++) {
        int64_t least = COST_NEVER;
        for (uint32_t k = 0; k < c->nkind; k++)
            if (r->may[v] >> k & 1)
                least = c->kind[k].time[v] < least ? c->kind[k].time[v] : least;
        p.of[v] = (struct long_vertex){least, v};
    }
    qsort(p.of, c->g->n, sizeof *p.of, longer_first);
    p.n = c->g->n < HOLES ? c->g->n : HOLES;
    p.sorted = arena_array(a, (size_t)p.n + 1, sizeof *p.sorted);
    int64_t best = t->value > lower ? t->value : lower;
    for (uint32_t h = 1; h <= p.n && best < t->below; h++) {
        int64_t value = holes_of(&p, h, best, t->below);
        if (value <= best)
            continue;
        best = t->value = value;
        t->holes = h;
        t->by = BY_HOLES;
    }
}

/* ---- thresholds ------------------------------------------------------------------------------ */

/* What plans below t->below must take at least. */
static void try_below(struct attempt *t, const struct chain *c, int64_t lower, uint64_t work,
                      struct chain_clock *clock, struct arena *a)
{
    t->r = kernel_make(c, t->below, &work, clock, a);
    if (t->r->none) {
        t->value = t->below;
        t->by = BY_KERNEL;
        return;
    }
    t->value = best_prices(t->r, t->price);
    t->by = BY_PRICES;
    try_holes(t, lower, a);
    t->value = t->value < t->below ? t->value : t->below;
}

struct bound bounds_best(const struct chain *c, int64_t upper, uint64_t work,
                         struct chain_clock *clock, const struct module *m, struct arena *mem,
                         struct arena *scratch)
{
    struct bound b = {.value = c->lower, .why = c->lower_why};
    (void)m, (void)mem;
    if (c->detailed || upper >= CHAIN_INF || upper <= c->lower)
        return b;
    int64_t lo = c->lower, hi = upper, at = upper;
    for (uint32_t i = 0; i < ATTEMPTS && !chain_out(clock); i++) {
        struct arena_mark mark = arena_mark(scratch);
        struct attempt t = {.below = at};
        try_below(&t, c, b.value, work / 8, clock, scratch);
        if (t.value > b.value) {
            b.value = t.value;
            b.why = t.by == BY_KERNEL ? "kernel" : t.by == BY_PRICES ? "prices" : "pigeonhole";
        }
        if (t.value >= at)
            lo = at;
        else
            hi = at;
        lo = b.value > lo ? b.value : lo;
        arena_release(scratch, mark);
        if (hi - lo <= upper / PRECISION)
            break;
        at = lo + (hi - lo) / 2;
    }
    return b;
}
