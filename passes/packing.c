/* Weights that devices cannot hold (packing.h).
 *
 * Source: the dual of the set partitioning relaxation (Gilmore and Gomory, Operations Research 9 (1961), for
 * cutting stock; here the patterns are sets of vertices whose load, transfers included, is below T).  Weights w
 * refute T if  devices * (most w(S) over sets S that fit one device) + (what hosts hold)  <  w(all).
 *
 * Weights: each set that was found gives an inequality.  Multiplicative updates look for weights that make all sets
 * known so far light: what the heaviest set holds becomes lighter, all else heavier.  Then a search looks
 * for a set that is still too heavy; there is none (refuted), or it joins the others.
 *
 * Search: branch and bound over vertices in or out of S.  A bound is a Lagrangian one, for m >= 0
 *   w(S) <= m L + max over all S of (w(S) - m load(S)),
 * a minimum cut as in closure.c, with what w exceeds m * time fed from the source; m by bisection.  It branches on
 * the heaviest vertex that the cut just above the limit has and the one below has not.  A vertex that
 * cannot join those that are in (their closure reaches T) is out at once.
 *
 * Times are counted in units in which all of them and transfers are below 2^44, rounded down, which allows more
 * sets.  Hosts hold at most what fills them fractionally, the heaviest for their time first.
 *
 * Cost: a cut takes O(pins) and more; a search of NODES at most; all within the work allowed. */
#include "passes/packing.h"

#include <stdlib.h>
#include <string.h>

enum {
    UNIT = 64,        /* of multipliers */
    MULTIPLIER = 512, /* the largest */
    HALVINGS = 9,
    NODES = 6000, /* of one search */
    DEPTH = 64,   /* vertices chosen for a set */
    VERTICES = 1500,
    COLUMNS = 600,
    UPDATES = 1500,
    BITS = 44,
    FINE = 300, /* the bound is found to this part when half the work is done */
    ROUNDS = 400,
    LEAST = 1 << 16, /* no weight gets stuck at 0 */
    ENOUGH = 1010000 /* weights that make known sets so light are tried, in millionths */
};

struct packer {
    const struct kernel *r;
    const struct chain *c;
    const struct wdag *g;
    uint32_t k, count, nfree; /* the paying kind; its devices; kinds of hosts */
    uint32_t freek[CHAIN_KINDS];
    uint32_t shift;
    int64_t *time, *cost; /* [vertex], [net] in units; COST_NEVER */
    int64_t ps;           /* the largest load, ps */
    int64_t limit;        /* in units, at most all of them */
    int64_t all;          /* times and transfers of the paying kind, units */
    uint64_t *work;
    struct chain_clock *clock;
    struct arena *a;
    /* the network of the Lagrangian */
    struct flow f;
    int64_t *cap;      /* [arc] */
    uint32_t *net_arc; /* [net] UINT32_MAX: none; two arcs for two pins */
    uint8_t *side;
    uint32_t *queue;
    /* the search */
    struct closure *q;
    int64_t *weight;
    int64_t target; /* sets of this weight are looked for */
    uint8_t *state; /* [vertex] 0: open, 1: in, 2: out */
    uint32_t *in, nin, *trail, ntrail;
    uint8_t *above, *below; /* sets of the last cuts */
    uint32_t pick;
    uint64_t sets;
    bool found, unknown;
    /* sets known */
    uint8_t **column;
    uint32_t ncolumn;
    int64_t *load; /* [column] */
};

/* ---- the Lagrangian -------------------------------------------------------------------------- */

static void make_network(struct packer *p)
{
    const struct wdag *g = p->g;
    uint32_t s = g->n + 2 * g->nnet, t = s + 1, hub = g->n;
    p->f = flow_new(t + 1, 2 * g->n + 2 * g->nnet + 2 * g->net_pin.at[g->nnet], p->a);
    p->net_arc = arena_array(p->a, (size_t)g->nnet + 1, sizeof *p->net_arc);
    for (uint32_t v = 0; v < g->n; v++) {
        flow_arc(&p->f, s, v, 0);
        flow_arc(&p->f, v, t, 0);
    }
    for (uint32_t e = 0; e < g->nnet; e++) {
        const uint32_t *pin = g->net_pin.to + g->net_pin.at[e];
        uint32_t n = g->net_pin.at[e + 1] - g->net_pin.at[e];
        p->net_arc[e] = UINT32_MAX;
        if (n < 2 || p->cost[e] == 0)
            continue;
        p->net_arc[e] = p->f.narc;
        if (n == 2 && !g->net_host[e]) {
            flow_arc(&p->f, pin[0], pin[1], 0);
            flow_arc(&p->f, pin[1], pin[0], 0);
            continue;
        }
        uint32_t in = hub++, out = g->net_host[e] ? t : hub++;
        flow_arc(&p->f, in, out, 0);
        for (uint32_t i = 0; i < n; i++) {
            flow_arc(&p->f, pin[i], in, FLOW_INF);
            if (out != t)
                flow_arc(&p->f, out, pin[i], FLOW_INF);
        }
    }
    p->cap = arena_array(p->a, (size_t)p->f.narc + 1, sizeof *p->cap);
    p->queue = arena_array(p->a, p->f.nnode, sizeof *p->queue);
    memcpy(p->cap, p->f.room, p->f.narc * sizeof *p->cap);
}

/* Capacities for multiplier m; what the source feeds that is not there to hold vertices in. */
static int64_t price_network(struct packer *p, int64_t m)
{
    const struct wdag *g = p->g;
    int64_t fed = 0, all = 1;
    memcpy(p->f.room, p->cap, p->f.narc * sizeof *p->cap);
    for (uint32_t e = 0; e < g->nnet; e++) {
        uint32_t at = p->net_arc[e];
        if (at == UINT32_MAX)
            continue;
        p->f.room[at] = m * p->cost[e];
        if (g->net_pin.at[e + 1] - g->net_pin.at[e] == 2 && !g->net_host[e])
            p->f.room[at + 2] = m * p->cost[e];
        all += 2 * m * p->cost[e];
    }
    for (uint32_t v = 0; v < g->n; v++)
        if (p->time[v] != COST_NEVER)
            all += m * p->time[v] + UNIT * p->weight[v];
    for (uint32_t v = 0; v < g->n; v++) {
        int64_t *from = &p->f.room[4 * v], *to = from + 2;
        if (p->state[v] == 2 || p->time[v] == COST_NEVER) {
            *to = FLOW_INF;
            continue;
        }
        int64_t gain = UNIT * p->weight[v] - m * p->time[v];
        if (p->state[v] == 1) {
            *from = all;
            fed += gain;
        } else if (gain > 0) {
            *from = gain;
            fed += gain;
        } else {
            *to = -gain;
        }
    }
    return fed;
}

/* At least the weight of each set that the states allow and whose load is within the limit.  The set of the
 * cut is left in p->side; INT64_MAX: work ran out. */
static int64_t lagrangian(struct packer *p, int64_t m)
{
    struct arena_mark mark = arena_mark(p->a);
    struct flow *f = &p->f;
    uint32_t s = p->g->n + 2 * p->g->nnet, n = 0;
    int64_t fed = price_network(p, m);
    uint64_t fixed = f->narc / 4 + 1;
    *p->work -= fixed < *p->work ? fixed : *p->work;
    int64_t cut = *p->work ? flow_max(f, s, s + 1, p->work) : 0;
    uint8_t *seen = arena_alloc(p->a, f->nnode);
    seen[s] = 1;
    p->queue[n++] = s;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t arc = f->head[p->queue[i]]; arc; arc = f->next[arc - 1])
            if (f->room[arc - 1] && !seen[f->to[arc - 1]]) {
                seen[f->to[arc - 1]] = 1;
                p->queue[n++] = f->to[arc - 1];
            }
    memcpy(p->side, seen, p->g->n);
    arena_release(p->a, mark);
    return *p->work ? (fed - cut + m * p->limit) / UNIT : INT64_MAX;
}

static int64_t load_of(const struct packer *p, const uint8_t *set)
{
    const struct wdag *g = p->g;
    int64_t load = 0;
    for (uint32_t v = 0; v < g->n; v++)
        load += set[v] ? p->time[v] : 0;
    for (uint32_t e = 0; e < g->nnet; e++) {
        uint32_t in = 0, n = g->net_pin.at[e + 1] - g->net_pin.at[e];
        for (uint32_t i = g->net_pin.at[e]; i < g->net_pin.at[e + 1]; i++)
            in += set[g->net_pin.to[i]];
        load += n > 1 && in && (in < n || g->net_host[e]) ? p->cost[e] : 0;
    }
    return load;
}

static int64_t weight_of(const struct packer *p, const uint8_t *set)
{
    int64_t sum = 0;
    for (uint32_t v = 0; v < p->g->n; v++)
        sum += set[v] ? p->weight[v] : 0;
    return sum;
}

/* ---- the search ------------------------------------------------------------------------------ */

static void keep_column(struct packer *p, const uint8_t *set, int64_t load)
{
    uint32_t at = p->ncolumn < COLUMNS ? p->ncolumn++ : (uint32_t)(p->sets % COLUMNS);
    if (!p->column[at])
        p->column[at] = arena_alloc(p->a, (size_t)p->g->n + 1);
    memcpy(p->column[at], set, p->g->n);
    p->load[at] = load;
}

/* Whether no set that the states allow is heavy enough; picks a vertex to branch on if it cannot tell. */
static bool light(struct packer *p)
{
    int64_t lo = 0, hi = MULTIPLIER;
    bool above = false, below = false;
    p->pick = UINT32_MAX;
    for (uint32_t i = 0; i < HALVINGS; i++) {
        int64_t m = (lo + hi) / 2;
        if (lagrangian(p, m) < p->target)
            return true;
        if (*p->work == 0)
            break;
        int64_t load = load_of(p, p->side);
        if (load > p->limit) {
            above = true;
            memcpy(p->above, p->side, p->g->n);
            lo = m;
            continue;
        }
        if (weight_of(p, p->side) >= p->target) {
            keep_column(p, p->side, load);
            p->found = true;
            return false;
        }
        below = true;
        memcpy(p->below, p->side, p->g->n);
        hi = m;
    }
    for (uint32_t v = 0; above && v < p->g->n; v++)
        if (p->above[v] && p->state[v] == 0 && !(below && p->below[v]) &&
            (p->pick == UINT32_MAX || p->weight[v] > p->weight[p->pick]))
            p->pick = v;
    return false;
}

static void put_out(struct packer *p, uint32_t v)
{
    p->state[v] = 2;
    p->trail[p->ntrail++] = v;
    closure_bar(p->q, v, true);
}

/* Looks for a set that is heavy enough; depth <= DEPTH. */
static void branch(struct packer *p)
{
    uint32_t mark = p->ntrail;
    for (;;) {
        p->sets++;
        if (light(p) || p->found)
            break;
        if (p->pick == UINT32_MAX || p->sets > NODES || p->nin == DEPTH || *p->work == 0 ||
            chain_out(p->clock)) {
            p->unknown = true;
            break;
        }
        uint32_t v = p->pick;
        p->in[p->nin++] = v;
        if (closure_of(p->q, p->in, p->nin, p->ps, p->work) <= p->ps) {
            p->state[v] = 1;
            branch(p);
        }
        p->nin--;
        p->state[v] = 0;
        if (p->found || p->unknown)
            break;
        put_out(p, v);
    }
    while (p->ntrail > mark) {
        p->state[p->trail[--p->ntrail]] = 0;
        closure_bar(p->q, p->trail[p->ntrail], false);
    }
}

/* ---- weights --------------------------------------------------------------------------------- */

struct ratio {
    int64_t w, t;
    uint32_t v;
};

static int denser_first(const void *a, const void *b)
{
    const struct ratio *x = a, *y = b;
    __int128 l = (__int128)x->w * y->t, r = (__int128)y->w * x->t;
    return l != r ? (l < r) - (l > r) : (x->v > y->v) - (x->v < y->v);
}

/* What the hosts hold at most with loads within the limit; held[v] (if not NULL) counts hosts that hold v. */
static int64_t hosts_hold(const struct packer *p, const int64_t *weight, uint32_t *held)
{
    struct arena_mark mark = arena_mark(p->a);
    struct ratio *of = arena_array(p->a, (size_t)p->g->n + 1, sizeof *of);
    int64_t sum = 0;
    for (uint32_t i = 0; i < p->nfree; i++) {
        const struct chain_kind *kd = &p->c->kind[p->freek[i]];
        uint32_t n = 0;
        int64_t left = p->ps, one = 0;
        for (uint32_t v = 0; v < p->g->n; v++)
            if ((p->r->may[v] >> p->freek[i] & 1) && weight[v])
                of[n++] = (struct ratio){weight[v], kd->time[v], v};
        qsort(of, n, sizeof *of, denser_first);
        for (uint32_t j = 0; j < n && (left > 0 || of[j].t == 0); j++) {
            bool all = of[j].t <= left;
            one += all ? of[j].w : (int64_t)(((__int128)of[j].w * left + of[j].t - 1) / of[j].t);
            left -= all ? of[j].t : left;
            if (held && all)
                held[of[j].v] += kd->count;
        }
        sum = sat_add(sum, sat_mul(one, kd->count));
    }
    arena_release(p->a, mark);
    return sum;
}

static int64_t sum_of(const struct packer *p, const int64_t *weight)
{
    int64_t sum = 0;
    for (uint32_t v = 0; v < p->g->n; v++)
        sum += weight[v];
    return sum;
}

/* Makes what is held lighter and the rest heavier, by at most 1 / pace. */
static void update(const struct packer *p, int64_t *w, const uint8_t *heaviest,
                   const uint32_t *held, int64_t pace)
{
    for (uint32_t v = 0; v < p->g->n; v++) {
        int64_t x = 1 - (int64_t)(heaviest && heaviest[v] ? p->count : 0) - held[v];
        w[v] += w[v] * x / ((int64_t)(p->count + 1) * pace);
    }
    int64_t sum = sum_of(p, w);
    for (uint32_t v = 0; v < p->g->n; v++) { /* between 2^42 and 2^44 in all */
        w[v] = sum >> BITS ? w[v] >> 1 : sum >> (BITS - 2) ? w[v] : w[v] * 2;
        w[v] = w[v] && w[v] < LEAST ? LEAST : w[v];
    }
}

/* Leaves weights in p->weight by which the sets known are light; false if it found none that refute. */
static bool find_weights(struct packer *p, int64_t *w)
{
    uint32_t *held = arena_array(p->a, (size_t)p->g->n + 1, sizeof *held);
    int64_t best = 0;
    for (uint32_t i = 0; i < UPDATES; i++) {
        const uint8_t *heaviest = NULL;
        int64_t most = 0, sum = sum_of(p, w);
        memset(held, 0, p->g->n * sizeof *held);
        for (uint32_t j = 0; j < p->ncolumn; j++) {
            int64_t x = 0;
            if (p->load[j] > p->limit)
                continue;
            for (uint32_t v = 0; v < p->g->n; v++)
                x += p->column[j][v] ? w[v] : 0;
            if (x > most) {
                most = x;
                heaviest = p->column[j];
            }
        }
        int64_t rest = sum - hosts_hold(p, w, held);
        /* rest / (count * most), in millionths */
        int64_t ratio = most && rest > 0
                            ? (int64_t)((__int128)rest * 1000000 / ((__int128)most * p->count))
                        : most ? 0
                               : 2000000;
        if (ratio > best) {
            best = ratio;
            memcpy(p->weight, w, p->g->n * sizeof *w);
        }
        if (!heaviest || ratio > ENOUGH)
            break;
        update(p, w, heaviest, held, 16 + i / 20);
    }
    memcpy(w, p->weight, p->g->n * sizeof *w);
    uint64_t looked = (uint64_t)UPDATES * (p->ncolumn + 8) * p->g->n / 16;
    *p->work -= looked < *p->work ? looked : *p->work;
    return best > 1000000;
}

/* Whether no plan takes less than `below`; *out says why. */
static bool refute(struct packer *p, int64_t below, int64_t *w, struct packing *out)
{
    struct arena_mark mark = arena_mark(p->a);
    bool refuted = false;
    p->ps = below - 1;
    p->limit = p->ps >> p->shift < p->all ? p->ps >> p->shift : p->all;
    for (uint32_t i = 0; i < ROUNDS && *p->work && !chain_out(p->clock); i++) {
        bool hope = find_weights(p, w);
        arena_release(p->a, mark);
        if (!hope)
            break;
        int64_t sum = sum_of(p, p->weight), hosts = hosts_hold(p, p->weight, NULL);
        if (hosts >= sum)
            break;
        p->target = (sum - hosts + p->count - 1) / p->count;
        p->sets = 0;
        p->found = p->unknown = false;
        uint32_t columns = p->ncolumn;
        branch(p);
        if (p->ncolumn > columns)
            mark = arena_mark(p->a); /* columns stay */
        if (p->found)
            continue;
        refuted = !p->unknown;
        if (refuted) {
            *out = (struct packing){.below = below,
                                    .most = p->target,
                                    .free = hosts,
                                    .total = sum,
                                    .weight = out->weight,
                                    .k = p->k,
                                    .sets = p->sets};
            memcpy(out->weight, p->weight, p->g->n * sizeof *w);
        }
        break;
    }
    return refuted;
}

/* False: this is not for the problem. */
static bool prepare(struct packer *p)
{
    const struct chain *c = p->c;
    const struct wdag *g = p->g;
    uint32_t paying = 0;
    int64_t all = 0;
    for (uint32_t k = 0; k < c->nkind; k++) {
        if (c->cluster->cls[c->kind[k].cls].host) {
            p->freek[p->nfree++] = k;
            continue;
        }
        paying++;
        p->k = k;
        p->count = c->kind[k].count;
    }
    if (paying != 1 || g->n > VERTICES)
        return false;
    const int64_t *time = c->kind[p->k].time, *cost = c->cls[c->kind[p->k].cls].cost;
    for (uint32_t v = 0; v < g->n; v++)
        all = sat_add(all, p->r->may[v] >> p->k & 1 ? time[v] : 0);
    for (uint32_t e = 0; e < g->nnet; e++)
        all = sat_add(all, cost[e]);
    while (all >> p->shift >> BITS)
        p->shift++;
    p->time = arena_array(p->a, (size_t)g->n + 1, sizeof *p->time);
    p->cost = arena_array(p->a, (size_t)g->nnet + 1, sizeof *p->cost);
    for (uint32_t v = 0; v < g->n; v++)
        p->time[v] = p->r->may[v] >> p->k & 1 ? time[v] >> p->shift : COST_NEVER;
    for (uint32_t e = 0; e < g->nnet; e++)
        p->cost[e] = cost[e] >> p->shift;
    p->all = all >> p->shift;
    return all > 0;
}

struct packing packing_bound(const struct kernel *r, int64_t lower, uint64_t *work,
                             struct chain_clock *clock, struct arena *a)
{
    const struct wdag *g = r->small->g;
    struct packing out = {0};
    struct packer p = {.r = r, .c = r->small, .g = g, .work = work, .clock = clock, .a = a};
    if (r->none || r->below <= lower || !prepare(&p))
        return out;
    size_t n = (size_t)g->n + 1;
    int64_t *w = arena_array(a, n, sizeof *w);
    out.weight = arena_array(a, n, sizeof *out.weight);
    p.weight = arena_array(a, n, sizeof *p.weight);
    p.side = arena_alloc(a, n);
    p.above = arena_alloc(a, n);
    p.below = arena_alloc(a, n);
    p.state = arena_alloc(a, n);
    p.in = arena_array(a, n + DEPTH, sizeof *p.in);
    p.trail = arena_array(a, n, sizeof *p.trail);
    p.column = arena_array(a, COLUMNS, sizeof *p.column);
    p.load = arena_array(a, COLUMNS, sizeof *p.load);
    p.q = closure_new(p.c, p.k, r->may, a);
    make_network(&p);
    for (uint32_t v = 0; v < g->n;
         v++) /* those that take no time, but force transfers, may count, too */
        w[v] = (p.time[v] == COST_NEVER ? p.all / g->n : p.time[v]);
    int64_t lo = lower, hi = r->below;
    uint64_t half = *work / 2;
    while (hi - lo > (*work > half ? 0 : r->below / FINE) && *work && !chain_out(clock)) {
        int64_t at = hi - (hi - lo) / 2;
        if (refute(&p, at, w, &out))
            lo = at;
        else
            hi = at - 1;
    }
    return out;
}
