/* Finds lower bounds for plans of any shape (bounds.h).
 *
 * For a threshold T, suppose that a plan has loads below T.  Then it is also a plan of the reduction for T
 * (reduction.h), in which vertices can be on fewer kinds of devices.  If every plan of the reduction takes B or more,
 * min(T, B) is a lower bound; if the reduction has no plan at all, T is a lower bound.  T is searched by bisection.
 *
 * Prices: give each kind k a price s[k] >= 0.  If all loads are at most L, then
 *   sum over vertices of (least s[k] * time[k] over the kinds that the vertex may be on) + priced transfers that
 *   every plan pays  <=  L * sum over kinds of (devices * s[k]):
 * the dual of the linear program that divides vertices in fractions among devices.  Any prices give a bound; they
 * are improved one at a time.  With a price on hosts only, the bound is the load of the vertices that must be on
 * hosts.
 *
 * Pigeonhole (as for P||Cmax, identical machines): of the h longest vertices a device can hold no more than as many as
 * fit if the shortest of these are taken first.  If all devices together can hold fewer than h, T is refuted.
 *
 * Weights (weight_bound.h) are the most general and the most expensive argument: they get the work that is left.
 *
 * Cost: the work allowed; a try of prices takes O(kinds * V) of it.  The first threshold is tried even if it takes
 * more. */
#include "passes/bounds/bounds.h"

#include "passes/bounds/explain.h"
#include "passes/bounds/hub_bound.h"
#include "passes/bounds/tree_bound.h"
#include "passes/bounds/weight_bound.h"
#include "ir/base/units.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    PRICE_ONE = 1 << 20,         /* prices are in units of 1 / PRICE_ONE */
    PRICE_MOST = 16 * PRICE_ONE, /* the largest price, however often a price is raised */
    PRICE_STEPS = 6,             /* number of factors by which a price is raised or lowered */
    LONGEST_MOST = 512, /* number of vertices, at most, that the pigeonhole argument counts */
    PRECISION = 4000,   /* after half of the work, bisection ends at a range of upper / PRECISION */
    ATTEMPTS = 64,      /* number of thresholds tried, at most */
    SHARE = 8,          /* one reduction gets 1 / SHARE of the work */
    HUB_SHARE = 2,      /* the bound around hubs may take 1 / HUB_SHARE of the work in addition */
    /* the bound by trees of transfers (tree_bound.h) may take 1 / TREE_SHARE of the work in addition */
    TREE_SHARE = 4,
    /* the bound by trees is taken only if it closes at least 1 / TREE_NEARER of the gap, since its argument is long */
    TREE_NEARER = 64,
    LOOKS_PER_ARC = 4, /* computing this many prices of vertices counts as one look at an arc */
    WORTH = 400        /* weights are tried if the gap is more than 1 / WORTH of the value */
};

/* A threshold, and the bound that follows from supposing that a plan takes less. */
struct attempt {
    int64_t below, value; /* ps.  below: the threshold; value: the bound, no plan takes less */
    struct reduction *r;  /* the reduction for the threshold */
    /* the argument that gave `value`; BY_LOWER: none yet */
    enum { BY_LOWER, BY_REDUCTION, BY_PRICES, BY_PIGEONHOLE, BY_WEIGHTS } by;
    int64_t price[PROBLEM_KINDS]; /* BY_PRICES: [kind] price of a device of the kind */
    uint32_t nlongest;            /* BY_PIGEONHOLE: how many of the longest vertices are counted */
    uint32_t nstep;               /* number of steps of the reduction */
    const char *why;              /* short reason, as in struct bound */
    struct packing pack;          /* BY_WEIGHTS: the weights of the reduction's vertices */
    /* BY_WEIGHTS: [vertex of the given graph] weight; the first of several joined vertices has the weight of all,
     * the others have 0 */
    int64_t *weight;
};

/* ---- prices ---------------------------------------------------------------------------------- */

/* Returns the least price of x, a vertex or a net, over the kinds of the mask `may`: cost(c, kind, x) ps, times the
 * kind's price.  Returns 0 if the mask is empty. */
static int64_t least_price(const struct problem *c, uint32_t may, const int64_t *price,
                           int64_t (*cost)(const struct problem *, uint32_t, uint32_t), uint32_t x)
{
    int64_t least = INT64_MAX;
    for (uint32_t k = 0; k < c->nkind; k++)
        if (may >> k & 1) {
            int64_t t = problem_scaled(cost(c, k, x), price[k]);
            least = smaller(t, least);
        }
    return least == INT64_MAX ? 0 : least;
}

/* Returns the time of vertex v on devices of kind k, ps. */
static int64_t vertex_cost(const struct problem *c, uint32_t k, uint32_t v)
{
    return c->kind[k].time[v];
}

/* Returns what a device of kind k pays for net e, ps. */
static int64_t net_cost(const struct problem *c, uint32_t k, uint32_t e)
{
    return c->cls[c->kind[k].cls].cost[e];
}

/* Returns whether some device pays for net e in every plan: e has the host and two vertices or more, or no kind can
 * hold all its pins.  (A net of one vertex is part of that vertex's time, or free.) */
static bool always_paid(const struct reduction *r, uint32_t e)
{
    const struct wdag *g = r->small->g;
    uint32_t n = g->net_pin.at[e + 1] - g->net_pin.at[e], all = UINT32_MAX;
    for_row (pin, g->net_pin, e)
        all &= r->may[pin];
    return n > 1 && (!all || g->net_host[e]);
}

/* Returns the nets of the reduction that some device pays for in every plan, in a; UINT32_MAX ends the list. */
static const uint32_t *paid_nets(const struct reduction *r, struct arena *a)
{
    uint32_t n = 0, at = 0;
    for (uint32_t e = 0; e < r->small->g->nnet; e++)
        n += always_paid(r, e);
    uint32_t *net = arena_array(a, (size_t)n + 1, sizeof *net);
    for (uint32_t e = 0; at < n; e++)
        if (always_paid(r, e))
            net[at++] = e;
    net[n] = UINT32_MAX;
    return net;
}

/* Returns the least that devices pay for net e at these prices.  Picks pins such that no two can be on one kind: so
 * they are on different devices, each of which pays. */
static int64_t net_price(const struct reduction *r, const int64_t *price, uint32_t e)
{
    const struct problem *c = r->small;
    const uint32_t *pin = c->g->net_pin.to + c->g->net_pin.at[e];
    uint32_t n = c->g->net_pin.at[e + 1] - c->g->net_pin.at[e], taken = 0;
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (r->may[pin[i]] & taken)
            continue;
        taken |= r->may[pin[i]];
        sum += least_price(c, r->may[pin[i]], price, net_cost, e);
    }
    return sum;
}

/* Writes the sum of the least prices of all vertices to *vertices, and that of the nets in `paid` (a result of
 * paid_nets) to *nets. */
static void price_all(const struct reduction *r, const uint32_t *paid, const int64_t *price,
                      int64_t *vertices, int64_t *nets)
{
    *vertices = *nets = 0;
    for (uint32_t v = 0; v < r->small->g->n; v++)
        *vertices = sat_add(*vertices, least_price(r->small, r->may[v], price, vertex_cost, v));
    for (; *paid != UINT32_MAX; paid++)
        *nets = sat_add(*nets, net_price(r, price, *paid));
}

/* Returns the bound, ps, that these prices give: no plan of the reduction takes less.  It is 0 if all prices are 0. */
static int64_t bound_by_prices(const struct reduction *r, const uint32_t *paid,
                               const int64_t *price)
{
    const struct problem *c = r->small;
    __int128 devices = 0, sum;
    int64_t vertices, nets;
    price_all(r, paid, price, &vertices, &nets);
    sum = (__int128)vertices + nets;
    for (uint32_t k = 0; k < c->nkind; k++)
        devices += (__int128)c->kind[k].count * price[k];
    sum *= PRICE_ONE;
    return devices ? (int64_t)((sum + devices - 1) / devices) : 0;
}

/* A search for the prices that give the largest bound. */
struct prices {
    const struct reduction *r;
    const uint32_t *paid; /* result of paid_nets */
    /* best: [kind] the prices with the largest bound so far; value: that bound, ps */
    int64_t *best, value;
    uint64_t looks; /* number of prices of vertices computed so far */
};

/* Makes `price` the best prices of p if it gives a larger bound than p->best. */
static void try_prices(struct prices *p, const int64_t *price)
{
    const struct wdag *g = p->r->small->g;
    int64_t v = bound_by_prices(p->r, p->paid, price);
    p->looks += (uint64_t)g->n * p->r->small->nkind;
    if (v <= p->value)
        return;
    p->value = v;
    memcpy(p->best, price, PROBLEM_KINDS * sizeof *price);
}

/* Tries several prices of the kinds: equal prices, the scales of the potentials, changes of one price at a time, and a
 * price for one kind alone.  Writes the best prices to best[kind], adds the number of looks to *looks, and returns the
 * largest bound, ps. */
static int64_t best_prices(const struct reduction *r, int64_t *best, uint64_t *looks,
                           struct arena *a)
{
    static const int64_t up[PRICE_STEPS] = {16, 4, 2, 5, 17, 129},
                         down[PRICE_STEPS] = {1, 1, 1, 4, 16, 128};
    const struct problem *c = r->small;
    struct prices t = {.r = r, .paid = paid_nets(r, a), .best = best, .value = -1};
    int64_t price[PROBLEM_KINDS] = {0};
    for (uint32_t k = 0; k < c->nkind; k++)
        price[k] = PRICE_ONE;
    try_prices(&t, price);
    for (uint32_t p = 0; p < c->npot; p++) {
        if (c->pot[p].memory) /* its scales are bytes */
            continue;
        for (uint32_t k = 0; k < c->nkind; k++)
            price[k] = larger(c->pot[p].scale[k], 0);
        try_prices(&t, price);
    }
    /* changes the best price of one kind at a time: multiplies it by up / down in the first turn, divides it by that
     * in the second; goes through all factors twice */
    for (uint32_t i = 0; i < 2 * PRICE_STEPS && c->nkind > 1; i++)
        for (uint32_t k = 0; k < c->nkind; k++)
            for (int turn = 0; turn < 2; turn++) {
                memcpy(price, best, sizeof price);
                int64_t times = up[i % PRICE_STEPS], by = down[i % PRICE_STEPS];
                int64_t p = turn ? price[k] * times / by : price[k] * by / times;
                price[k] = smaller(p, PRICE_MOST);
                try_prices(&t, price);
            }
    for (uint32_t k = 0; k < c->nkind && c->nkind > 1; k++) {
        memset(price, 0, sizeof price);
        price[k] = PRICE_ONE;
        try_prices(&t, price);
    }
    *looks += t.looks + c->g->net_pin.at[c->g->nnet];
    return t.value;
}

/* ---- pigeonhole ------------------------------------------------------------------------------ */

/* A vertex and its time. */
struct long_vertex {
    int64_t t; /* ps: least time over the kinds that the vertex may be on */
    uint32_t v;
};

/* For qsort: orders by decreasing time; vertices of the same time, by number. */
static int longer_first(const void *a, const void *b)
{
    const struct long_vertex *x = a, *y = b;
    return x->t != y->t ? (x->t < y->t) - (x->t > y->t) : (x->v > y->v) - (x->v < y->v);
}

/* The longest vertices of a reduction. */
struct longest {
    const struct reduction *r;
    uint32_t n; /* number of vertices in `of`: LONGEST_MOST, or fewer in a small graph */
    struct long_vertex *of; /* [n] the longest first */
    uint32_t have;          /* `sorted` has the times of of[0 .. have) */
    /* sorted: [kind] times, ps, of the vertices that may be on the kind, the shortest first; nsorted: [kind] their
     * number */
    int64_t *sorted[PROBLEM_KINDS];
    uint32_t nsorted[PROBLEM_KINDS];
};

/* Adds x to p->of, a heap with its shortest vertex at the root.  If the heap is full, the shortest of its vertices and
 * x is left out. */
static void keep_longest(struct longest *p, struct long_vertex x)
{
    struct long_vertex *h = p->of;
    uint32_t i = 0;
    /* x gets a new last place, and rises from there above longer parents */
    if (p->n < LONGEST_MOST) {
        for (i = p->n++; i && longer_first(&x, &h[(i - 1) / 2]) > 0; i = (i - 1) / 2)
            h[i] = h[(i - 1) / 2];
        h[i] = x;
        return;
    }
    if (longer_first(&x, &h[0]) > 0)
        return; /* x is the shortest */
    /* x takes the place of the root, and sinks below shorter children; k: the shorter child of i */
    for (uint32_t k = 1; k < p->n; k = 2 * i + 1) {
        if (k + 1 < p->n && longer_first(&h[k + 1], &h[k]) > 0)
            k++;
        if (longer_first(&h[k], &x) < 0)
            break;
        h[i] = h[k];
        i = k;
    }
    h[i] = x;
}

/* Returns the longest vertices of the reduction, in a.  O(V log LONGEST_MOST), mostly O(V). */
static struct longest find_longest(const struct reduction *r, struct arena *a)
{
    const struct problem *c = r->small;
    struct longest p = {.r = r, .of = arena_array(a, LONGEST_MOST, sizeof *p.of)};
    for (uint32_t v = 0; v < c->g->n; v++) {
        struct long_vertex x = {COST_NEVER, v};
        for (uint32_t k = 0; k < c->nkind; k++)
            if ((r->may[v] >> k & 1) && c->kind[k].time[v] < x.t)
                x.t = c->kind[k].time[v];
        keep_longest(&p, x);
    }
    qsort(p.of, p.n, sizeof *p.of, longer_first);
    for (uint32_t k = 0; k < c->nkind; k++)
        p.sorted[k] = arena_array(a, (size_t)p.n + 1, sizeof **p.sorted);
    return p;
}

/* Fills p->sorted for the h longest vertices: [kind] the times of the vertices that may be on the kind, the shortest
 * first.  `sorted` has the p->have longest vertices already: adds those that it lacks; begins anew if it has more than
 * h. */
static void sort_first(struct longest *p, uint32_t h)
{
    if (h < p->have) {
        memset(p->nsorted, 0, sizeof p->nsorted);
        p->have = 0;
    }
    for (; p->have < h; p->have++)
        for (uint32_t k = 0; k < p->r->small->nkind; k++) {
            uint32_t v = p->of[p->have].v, at = p->nsorted[k];
            int64_t time = p->r->small->kind[k].time[v];
            if (!(p->r->may[v] >> k & 1))
                continue;
            for (; at && p->sorted[k][at - 1] > time; at--) /* longer times move up by a place */
                p->sorted[k][at] = p->sorted[k][at - 1];
            p->sorted[k][at] = time;
            p->nsorted[k]++;
        }
}

/* Returns an upper bound on how many of the h longest vertices a device of kind k with a load of at most `limit`
 * holds.  Fills p->sorted for these vertices (sort_first). */
static uint32_t count_fitting(struct longest *p, uint32_t h, uint32_t k, int64_t limit)
{
    uint32_t m = 0;
    int64_t sum = 0;
    sort_first(p, h);
    for (; m < p->nsorted[k]; m++) {
        sum = sat_add(sum, p->sorted[k][m]);
        if (sum > limit)
            break;
    }
    return m;
}

/* Returns an upper bound on how many of the h longest vertices all devices with loads of at most `limit` hold. */
static uint64_t count_fitting_all(struct longest *p, uint32_t h, int64_t limit)
{
    uint64_t all = 0;
    for (uint32_t k = 0; k < p->r->small->nkind; k++)
        all += (uint64_t)count_fitting(p, h, k, limit) * p->r->small->kind[k].count;
    return all;
}

/* Returns the largest T <= most, ps, for which devices with loads below T cannot hold the h longest vertices; `lower`
 * if that holds for no T above `lower`. */
static int64_t refuted_threshold(struct longest *p, uint32_t h, int64_t lower, int64_t most)
{
    int64_t lo = lower, hi = most;
    if (count_fitting_all(p, h, lo) >= h)
        return lo;
    while (lo < hi) { /* devices with loads below lo cannot hold the h vertices */
        int64_t mid = hi - (hi - lo) / 2;
        if (count_fitting_all(p, h, mid - 1) < h)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

/* Raises t->value to the largest bound that the pigeonhole argument gives for any number h of longest vertices, and
 * notes the argument in t->by and t->nlongest.  Does nothing if that bound is not above t->value and `lower`, a bound
 * known before.
 */
static void try_pigeonhole(struct attempt *t, int64_t lower, struct arena *a)
{
    struct longest p = find_longest(t->r, a);
    int64_t best = larger(t->value, lower);
    for (uint32_t h = 1; h <= p.n && best < t->below; h++) {
        int64_t value = refuted_threshold(&p, h, best, t->below);
        if (value <= best)
            continue;
        best = t->value = value;
        t->nlongest = h;
        t->by = BY_PIGEONHOLE;
    }
}

/* Adds the pigeonhole argument for t->value to the text, with all numbers that it needs. */
static void prove_pigeonhole(struct explain *e, const struct attempt *t)
{
    const struct reduction *r = t->r;
    const struct problem *c = r->small;
    struct longest p = find_longest(r, e->a);
    uint64_t all = 0;
    /* [vertex of the reduction] the first vertex of the given graph that is joined in it: gives the name */
    uint32_t *first = arena_array(e->a, (size_t)c->g->n + 1, sizeof *first);
    for (uint32_t v = r->c->g->n; v-- > 0;)
        first[r->map[v]] = v;
    explain_add(e, "pigeonhole: these %u do not fit devices with loads below %s:\n", t->nlongest,
                explain_time(e, t->value));
    for (uint32_t i = 0; i < t->nlongest; i++) {
        explain_add(e, "  %s takes", e->name[first[p.of[i].v]]);
        for (uint32_t k = 0; k < c->nkind; k++)
            if (r->may[p.of[i].v] >> k & 1)
                explain_add(e, " %s on %s", explain_time(e, c->kind[k].time[p.of[i].v]),
                            explain_kind(e, k));
        explain_add(e, "\n");
    }
    for (uint32_t k = 0; k < c->nkind; k++) {
        uint32_t m = count_fitting(&p, t->nlongest, k, t->value - 1), n = p.nsorted[k];
        int64_t sum = 0; /* sum of the m + 1 shortest times, which is too much for one device */
        for (uint32_t i = 0; i <= m && i < n; i++)
            sum = sat_add(sum, p.sorted[k][i]);
        if (m < n)
            explain_add(e, "%s: at most %u each, the %u shortest take %s\n", explain_kind(e, k), m,
                        m + 1, explain_time(e, sum));
        else
            explain_add(e, "%s: at most %u each, all that can be there\n", explain_kind(e, k), m);
        all += (uint64_t)m * c->kind[k].count;
    }
    explain_add(e, "together at most");
    for (uint32_t k = 0; k < c->nkind; k++) {
        uint32_t m = count_fitting(&p, t->nlongest, k, t->value - 1);
        explain_add(e, "%s %u * %u", k ? " +" : "", c->kind[k].count, m);
    }
    explain_add(e, " = %llu of %u: no plan takes less than %s\n", (unsigned long long)all,
                t->nlongest, explain_time(e, t->value));
}

/* Adds the argument from the weights t->pack to the text; weights are called points there. */
static void prove_weights(struct explain *e, const struct attempt *t)
{
    const struct packing *p = &t->pack;
    const struct problem *c = e->c;
    uint32_t shown = 0;
    int64_t sum = 0;
    explain_add(e, "nodes have points, of which devices with loads below %s cannot collect all:\n",
                explain_time(e, p->below));
    for (uint32_t v = 0; v < c->g->n; v++)
        if (t->weight[v]) {
            shown++;
            if (shown <= EXPLAIN_STEPS)
                explain_add(e, "  %s has %" PRId64 "\n", e->name[v], t->weight[v]);
        }
    if (shown > EXPLAIN_STEPS)
        explain_add(e, "  and %u more\n", shown - EXPLAIN_STEPS);
    for (uint32_t k = 0; k < c->nkind; k++)
        if (p->sets[k])
            explain_add(
                e,
                "%s: no set with such a load, transfers to the rest included, has more than "
                "%" PRId64 " (a search of %" PRIu64 " partial sets)\n",
                explain_kind(e, k), p->most[k], p->sets[k]);
        else
            explain_add(e, "%s: at most %" PRId64 ", those with most for their time first\n",
                        explain_kind(e, k), p->most[k]);
    explain_add(e, "together at most");
    for (uint32_t k = 0; k < c->nkind; k++) {
        explain_add(e, "%s %u * %" PRId64, k ? " +" : "", c->kind[k].count, p->most[k]);
        sum += c->kind[k].count * p->most[k];
    }
    explain_add(e, " = %" PRId64 " of %" PRId64 ": no plan takes less than %s\n", sum, p->total,
                explain_time(e, p->below));
}

/* ---- thresholds ------------------------------------------------------------------------------ */

/* Tries the threshold t->below: supposes that a plan takes less, writes the bound that follows from that to t->value,
 * and notes its argument in t->by.  lower: a bound known before.  Gives the reduction at most `work`; returns the work
 * done. */
static uint64_t try_below(struct attempt *t, const struct problem *c, int64_t lower, uint64_t work,
                          struct clock *clock, struct arena *a)
{
    uint64_t left = work, looks = 0;
    t->r = reduction_make(c, t->below, /*explained=*/false, &left, clock, a);
    if (t->r->none) {
        t->value = t->below;
        t->by = BY_REDUCTION;
        return work - left;
    }
    t->value = best_prices(t->r, t->price, &looks, a);
    t->by = BY_PRICES;
    try_pigeonhole(t, lower, a);
    t->value = smaller(t->value, t->below);
    return work - left + looks / LOOKS_PER_ARC;
}

/* Returns the short reason for the bound of t; a reason that is not constant lives in mem. */
static const char *attempt_why(const struct attempt *t, struct arena *mem)
{
    uint32_t joins = 0, denied = 0;
    for (uint32_t i = 0; i < t->r->nstep; i++) {
        joins += t->r->step[i].what == REDUCTION_JOIN;
        denied += t->r->step[i].what == REDUCTION_DENY;
    }
    if (t->by == BY_REDUCTION)
        return "least loads of devices around single nodes";
    if (t->by == BY_PIGEONHOLE)
        return arena_fmt(mem, "%u longest nodes on the devices", t->nlongest);
    if (t->by == BY_WEIGHTS)
        return "what devices can do in less time, each node weighed";
    return joins + denied ? "average load of what can be where" : "average load";
}

/* State of the search for a bound, with the best bound so far. */
struct bound_search {
    const struct problem *c;
    int64_t upper; /* ps: the value of a plan */
    const struct bound_means *with;
    int64_t value; /* ps: no plan takes less */
    /* the attempt that proved `value`; best.value is 0 if c->lower proves it */
    struct attempt best;
};

/* Sets the fields `why` and `nstep` of t, and takes t as the best attempt of s, with its value as the bound. */
static void keep_best(struct bound_search *s, struct attempt *t)
{
    t->why = attempt_why(t, s->with->mem);
    t->nstep = t->r->nstep;
    s->value = t->value;
    s->best = *t;
}

/* Raises s->value by weights (weight_bound.h) if the gap is worth it.  The search for weights gets `work`, and the
 * reduction before it 1 / SHARE of s->with->work. */
static void try_weights(struct bound_search *s, uint64_t work)
{
    const struct bound_means *with = s->with;
    uint64_t share = with->work / SHARE;
    if (s->upper - s->value <= s->upper / WORTH)
        return;
    struct arena_mark mark = arena_mark(with->scratch);
    struct attempt t = {.below = s->upper, .by = BY_WEIGHTS};
    t.r = reduction_make(s->c, s->upper, /*explained=*/false, &share, with->clock, with->scratch);
    t.pack = packing_bound(t.r, s->value, &work, with->clock, with->scratch);
    if (t.pack.below > s->value) {
        t.weight = arena_array(with->mem, (size_t)s->c->g->n + 1, sizeof *t.weight);
        for (uint32_t v = 0; v < s->c->g->n; v++) {
            uint32_t m = t.r->map[v];
            t.weight[v] = t.pack.weight[m];
            /* so that only the first of several joined vertices gets the weight */
            t.pack.weight[m] = 0;
        }
        t.value = t.pack.below;
        keep_best(s, &t);
    }
    arena_release(with->scratch, mark);
}

/* Returns whether the attempt's argument still proves t->value after t->r was made again with explanations: this time
 * the reduction may have run out of work earlier. */
static bool still_proves(const struct attempt *t, struct arena *a)
{
    if (t->by == BY_REDUCTION)
        return t->r->none;
    /* the other arguments are about the vertices that remain: the reduction must have come as far as before */
    if (t->r->nstep < t->nstep || t->r->none)
        return false;
    switch (t->by) {
    case BY_PRICES:
        return bound_by_prices(t->r, paid_nets(t->r, a), t->price) >= t->value;
    case BY_PIGEONHOLE: {
        struct longest p = find_longest(t->r, a);
        return t->nlongest <= p.n && count_fitting_all(&p, t->nlongest, t->value - 1) < t->nlongest;
    }
    default: /* BY_WEIGHTS: the weights hold for the same steps, so the search for them is not repeated */
        return true;
    }
}

/* Adds the end of the argument of an attempt whose reduction alone refutes plans, as its last step left a vertex
 * without a kind, or joined vertices that must not share a device. */
static void prove_by_reduction(struct explain *e, const struct attempt *t, const struct problem *c)
{
    const struct reduction *r = t->r;
    const char *why = "that joins nodes that are pinned to different devices:";
    if (r->step && r->step[r->nstep - 1].what == REDUCTION_NONE)
        why = "so";
    else if (c->g->apart.at)
        why = "that joins nodes that are to be cut apart, or are pinned to different devices:";
    explain_add(e, "%s no plan takes less than %s\n", why, explain_time(e, t->value));
}

/* Adds the argument from the prices of an attempt.  mem: memory for temporary data. */
static void prove_by_prices(struct explain *e, const struct attempt *t, struct arena *mem)
{
    int64_t vertices, nets;
    const uint32_t *paid = paid_nets(t->r, mem);
    int64_t value = bound_by_prices(t->r, paid, t->price);
    price_all(t->r, paid, t->price, &vertices, &nets);
    explain_prices(e, t->price, vertices, nets, value);
    /* `value` holds for plans below t->below only: if it is larger, there are none, and t->below is the bound */
    if (value > t->below)
        explain_add(e, "that is not less than supposed: no plan takes less than %s\n",
                    explain_time(e, t->value));
}

/* Returns the proof, as a text, of the bound that the attempt s->best found.  Makes the reduction once more, with
 * explanations; no deadline ends this, since it takes no more work than the first time. */
static const char *prove(struct bound_search *s)
{
    struct attempt *t = &s->best;
    struct arena *mem = s->with->mem;
    struct explain e = explain_new(s->c, s->with->m, mem);
    struct clock late = {.listener = s->with->clock ? s->with->clock->listener : NULL};
    uint64_t work = s->with->work / SHARE;
    t->r = reduction_make(s->c, t->below, /*explained=*/true, &work, &late, mem);
    if (!still_proves(t, mem)) {
        explain_add(&e,
                    "%s: no plan takes less than %s; it was stopped before the argument was "
                    "written down\n",
                    t->why, explain_time(&e, t->value));
        return explain_text(&e);
    }
    explain_reduction(&e, t->r);
    if (t->by == BY_REDUCTION) {
        prove_by_reduction(&e, t, s->c);
    } else if (t->by == BY_PRICES) {
        prove_by_prices(&e, t, mem);
    } else if (t->by == BY_PIGEONHOLE) {
        prove_pigeonhole(&e, t);
    } else {
        assert(t->by == BY_WEIGHTS);
        prove_weights(&e, t);
    }
    return explain_text(&e);
}

/* Returns the larger one of the bound around hubs and the bound by trees, at most `upper`, ps; or c->lower if that
 * is at least as high.  A bound by trees counts only if it closes 1 / TREE_NEARER of the gap to `upper`.  The two
 * searches take at most 1 / HUB_SHARE and 1 / TREE_SHARE of the work of `with`. */
static struct bound first_bound(const struct problem *c, int64_t upper,
                                const struct bound_means *with)
{
    struct bound_means some = *with;
    struct bound best = c->lower;
    uint64_t spent;
    some.work = with->work / HUB_SHARE;
    if (some.work >= hub_least_work(c)) {
        struct bound hubs = hub_bound(c, &some, &spent);
        best = hubs.value > best.value ? hubs : best;
    }
    some.work = with->work / TREE_SHARE;
    if (best.value < upper && some.work > 0) {
        int64_t least = best.value + (upper - best.value) / TREE_NEARER;
        struct bound trees = tree_bound(c, best.value, upper, &some, &spent);
        best = trees.value > least ? trees : best;
    }
    best.value = smaller(best.value, upper);
    return best;
}

struct bound bounds_best(const struct problem *c, int64_t upper, const struct bound_means *with,
                         uint64_t *spent)
{
    uint64_t done = 0;
    bool open = !c->detailed && upper < LOAD_INF && upper > c->lower.value;
    struct bound known = open ? first_bound(c, upper, with) : c->lower;
    struct bound_search s = {.c = c, .upper = upper, .with = with, .value = known.value};
    int64_t lo = known.value, hi = upper, at = upper;
    open = open && upper > known.value;
    /* bisection: every threshold up to lo has been refuted, and hi could not be refuted (or is `upper`); at: the
     * threshold to try next, at first `upper`; open: whether there is more to try */
    for (uint32_t i = 0; open && i < ATTEMPTS && !clock_out(with->clock); i++) {
        struct arena_mark mark = arena_mark(with->scratch);
        struct attempt t = {.below = at};
        done += try_below(&t, c, s.value, with->work / SHARE, with->clock, with->scratch);
        if (t.value > s.value)
            keep_best(&s, &t);
        if (t.value >= at)
            lo = at;
        else
            hi = at;
        lo = larger(s.value, lo);
        arena_release(with->scratch, mark);
        /* the second half of the work is spent only on a range that is still wide */
        int64_t narrow = done < with->work / 2 ? 1 : upper / PRECISION;
        open = hi - lo > narrow && done < with->work;
        at = lo + (hi - lo) / 2;
    }
    if (done < with->work && upper < LOAD_INF && !c->detailed)
        try_weights(&s, with->work - done);
    assert(s.value >= c->lower.value && (upper < c->lower.value || s.value <= upper));
    if (spent)
        *spent = done;
    if (s.best.value)
        return (struct bound){.value = s.value, .why = s.best.why, .proof = prove(&s)};
    /* no threshold gave more: the bound is that of first_bound(), with its own proof, or c->lower */
    if (!known.proof || known.value <= c->lower.value)
        known.proof = explain_problem(c, with->m, with->mem);
    return known;
}

struct bound bounds_all(struct ctx *x, int64_t upper, bool must_fit, uint64_t work,
                        struct clock *clock)
{
    struct diag quiet = diag_silent();
    struct wdag *g = mandatory_level(x);
    if (cluster_grouped(x->scene.cluster))
        g = wdag_inner(g, x->use.scratch);
    const struct problem *c = problem_build(g, &x->scene, must_fit ? MEMORY_UNCHANGED : INT64_MAX,
                                            x->use.scratch, &quiet);
    if (!c)
        return (struct bound){.value = -1};
    const struct bound_means with = bounding_of(x, work, clock);
    return bounds_best(c, upper, &with, NULL);
}
