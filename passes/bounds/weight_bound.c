/* Weights that devices cannot hold (weight_bound.h).
 *
 * Source: the dual of the set partitioning relaxation (Gilmore and Gomory, Operations Research 9 (1961), for
 * cutting stock; here the patterns are sets of vertices whose load, transfers included, is below T).  Weights
 * w refute T if
 *   sum over devices of the most that one of them holds, w(S) over its sets S of loads below T,  <  w(all).
 * Averages are the case of w = time; that a set pays for what leaves it makes even those weights better.
 *
 * Weights start as times.  Each kind gets a share of the total that its devices may hold; a search
 * (device_knapsack.c) looks for a set that is heavier.  If no kind has one, T is refuted.  A set that is found, with
 * the last sets of the other kinds, makes a row g: g[v] is how many devices hold v, less 1; weights that refute T
 * must have g w < 0 for every row.  New weights that have, with a margin, are found by projection on the worst row
 * again and again (Agmon, Motzkin and Schoenberg, Canadian J. of Mathematics 6 (1954)), and the next search has
 * other weights.  A row stays good for all larger thresholds.
 *
 * Hosts pay for no transfers, so they need no search: filled fractionally, those of most weight for their time
 * first, they hold at least as much as any set.
 *
 * Cost: a search for each row, O(rows * V) for each projection; all within the work allowed. */
#include "passes/bounds/weight_bound.h"

#include "passes/bounds/device_knapsack.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 400,
    ONE = 64,         /* 1 in the rows */
    PROJECTIONS = 50, /* for each row */
    MARGIN = 40,      /* the first margin is 1 / MARGIN of the total */
    MARGIN_LEAST = 100000,
    METRIC_BITS = 10,
    STEP_BITS = 24,
    THRESHOLDS = 24,
    PRECISION = 200,
    TRY = 4, /* one threshold gets 1 / TRY of the work that is left */
    SETS = 1000,
    DEVICES = 256
};
/* work is at most this for each vertex, and the next one for each pair */
#define WORK_OF_VERTEX UINT64_C(8000000)
#define WORK_OF_PAIR UINT64_C(100000)

struct row {
    int32_t *g;   /* [vertex] ONE * (number of devices that hold the vertex - 1) */
    int64_t norm; /* g's square length by p->metric */
    int64_t load; /* ps: the largest load of its sets, which are possible for thresholds above it */
};

struct packer {
    const struct reduction *r;
    const struct problem *c;
    uint32_t n;
    int64_t below, margin;
    uint64_t sets; /* partial sets that a search may look at before other weights are tried */
    int64_t *weight, total, *metric; /* metric: [vertex] how fast its weight may change */
    struct device_knapsack *held[PROBLEM_KINDS]; /* NULL: hosts */
    int64_t most[PROBLEM_KINDS];
    int32_t *part[PROBLEM_KINDS]; /* [kind][vertex] ONE: the last set found for the kind has it */
    int64_t load[PROBLEM_KINDS];  /* [kind] ps: of that set; 0 for hosts */
    struct row *row;
    uint32_t nrow, next;
    uint64_t *work;
    struct clock *clock;
    struct arena *a;
};

static void spend(struct packer *p, uint64_t arcs)
{
    *p->work -= smaller_u64(arcs, *p->work);
}

static bool is_stopped(struct packer *p)
{
    return *p->work == 0 || clock_out(p->clock);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

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

/* The most that a host of kind k holds with a load below p->below; p->part[k] gets what it holds of each vertex. */
static int64_t host_most(struct packer *p, uint32_t k)
{
    struct arena_mark mark = arena_mark(p->a);
    struct ratio *of = arena_array(p->a, (size_t)p->n + 1, sizeof *of);
    int64_t left = p->below - 1, sum = 0;
    uint32_t n = 0;
    memset(p->part[k], 0, p->n * sizeof **p->part);
    for (uint32_t v = 0; v < p->n; v++)
        if ((p->r->may[v] >> k & 1) && p->c->kind[k].time[v] <= left && p->weight[v])
            of[n++] = (struct ratio){p->weight[v], p->c->kind[k].time[v], v};
    qsort(of, n, sizeof *of, denser_first);
    for (uint32_t i = 0; i < n; i++) {
        bool whole = of[i].t <= left;
        sum += whole ? of[i].w : (int64_t)(((__int128)of[i].w * left + of[i].t - 1) / of[i].t);
        p->part[k][of[i].v] =
            whole ? ONE : (int32_t)(((__int128)ONE * left + of[i].t - 1) / of[i].t);
        left -= whole ? of[i].t : left;
        if (!whole)
            break;
    }
    spend(p, n);
    arena_release(p->a, mark);
    return sum;
}

/* ---- weights --------------------------------------------------------------------------------- */

static int64_t row_product(const struct packer *p, const int32_t *g)
{
    int64_t sum = 0;
    for (uint32_t v = 0; v < p->n; v++)
        sum += p->weight[v] * g[v];
    return sum;
}

/* Makes the weights add up to p->total, rounded down. */
static void normalise(struct packer *p)
{
    int64_t sum = 0;
    for (uint32_t v = 0; v < p->n; v++)
        sum += p->weight[v];
    for (uint32_t v = 0; v < p->n && sum; v++)
        p->weight[v] = (int64_t)((__int128)p->weight[v] * p->total / sum);
}

static void project(struct packer *p, const struct row *r, int64_t excess)
{
    int64_t much = excess + excess / 4;
    __int128 step = ((__int128)much << STEP_BITS) / r->norm;
    for (uint32_t v = 0; v < p->n; v++) {
        __int128 w = p->weight[v] - p->metric[v] * r->g[v] * step / (1 << STEP_BITS);
        p->weight[v] = w < 0 ? 0 : w > p->total ? p->total : (int64_t)w;
    }
}

/* Changes the weights until g w is below 0 by the margin for all rows; counts the changes in *moved.  False: not
 * found within PROJECTIONS for each row. */
static bool find_weights(struct packer *p, uint32_t *moved)
{
    int64_t goal = p->margin * ONE, bad = p->margin / 8 * ONE;
    for (uint32_t i = 0; i < PROJECTIONS * (p->nrow + 1) && !is_stopped(p); i++) {
        const struct row *worst = NULL;
        int64_t most = bad;
        for (uint32_t j = 0; j < p->nrow; j++) {
            if (p->row[j].load >= p->below)
                continue;
            int64_t excess = row_product(p, p->row[j].g) + goal;
            if (excess > most) {
                most = excess;
                worst = &p->row[j];
            }
        }
        spend(p, (uint64_t)(p->nrow + 1) * p->n / 4);
        if (!worst)
            return true;
        project(p, worst, most);
        ++*moved;
    }
    return false;
}

/* Adds the row of the sets in p->part, in the place of the oldest one if there are ROWS. */
static void add_row(struct packer *p)
{
    struct row *r = &p->row[p->next++ % ROWS];
    p->nrow += p->nrow < ROWS;
    if (!r->g)
        r->g = arena_array(p->a, (size_t)p->n + 1, sizeof *r->g);
    r->load = 0;
    r->norm = 1;
    for (uint32_t k = 0; k < p->c->nkind; k++) {
        if (p->load[k] >= p->below) { /* a set found for a larger threshold: not possible here */
            memset(p->part[k], 0, p->n * sizeof **p->part);
            p->load[k] = 0;
        }
        r->load = larger(p->load[k], r->load);
    }
    for (uint32_t v = 0; v < p->n; v++) {
        int64_t g = -ONE;
        for (uint32_t k = 0; k < p->c->nkind; k++)
            g += (int64_t)p->part[k][v] * p->c->kind[k].count;
        r->g[v] = (int32_t)g;
        r->norm = sat_add(r->norm, sat_mul(p->metric[v], g * g));
    }
}

/* ---- one threshold --------------------------------------------------------------------------- */

/* Divides `rest`, the weight that hosts leave, among the other kinds: p->most[k] is what a device of kind k may
 * hold. */
static void share_rest(struct packer *p, int64_t rest)
{
    int64_t all = 0;
    uint32_t paying = 0;
    for (uint32_t k = 0; k < p->c->nkind; k++)
        paying += p->held[k] != NULL;
    for (uint32_t k = 0; k < p->c->nkind; k++) {
        if (!p->held[k])
            continue;
        p->most[k] = 1;
        if (paying > 1) {
            int64_t most = device_knapsack_most(p->held[k], p->below - 1);
            p->most[k] = most < p->total ? most + 1 : p->total;
        }
        all += p->most[k] * p->c->kind[k].count;
    }
    for (uint32_t k = 0; k < p->c->nkind; k++)
        if (p->held[k])
            p->most[k] = (int64_t)((__int128)p->most[k] * rest / all);
}

static void take_set(struct packer *p, uint32_t k)
{
    const struct device_knapsack *h = p->held[k];
    p->load[k] = h->best_sum < 0 ? 0 : h->best_load >> h->up << h->down;
    for (uint32_t v = 0; v < p->n; v++)
        p->part[k][v] = h->best_sum >= 0 && h->best[v] ? ONE : 0;
}

/* Whether the weights refute p->below.  NONE: they do.  FOUND: some device can hold more than its share (its set is
 * in p->part), or hosts can hold everything.  TIRED: a search was given up; p->part has its best set. */
static enum device_knapsack_answer check_weights(struct packer *p)
{
    int64_t rest = -1;
    for (uint32_t v = 0; v < p->n; v++)
        rest += p->weight[v];
    for (uint32_t k = 0; k < p->c->nkind; k++)
        if (!p->held[k]) {
            p->most[k] = host_most(p, k);
            rest -= p->most[k] * p->c->kind[k].count;
        }
    if (rest < 0)
        return KNAPSACK_FOUND;
    share_rest(p, rest);
    for (uint32_t k = 0; k < p->c->nkind; k++) {
        if (!p->held[k])
            continue;
        enum device_knapsack_answer r =
            device_knapsack_search(p->held[k], p->below - 1, p->most[k], p->sets, p->clock);
        if (r == KNAPSACK_FOUND || r == KNAPSACK_TIRED)
            take_set(p, k);
        if (r != KNAPSACK_NONE)
            return r;
    }
    return KNAPSACK_NONE;
}

/* Looks for weights that prove that no plan takes less than `below`; true: p->weight are such. */
static bool refute(struct packer *p, int64_t below)
{
    p->below = below;
    p->margin = p->total / MARGIN;
    p->sets = SETS;
    while (!is_stopped(p)) {
        enum device_knapsack_answer r = check_weights(p);
        if (r == KNAPSACK_NONE || r == KNAPSACK_UNKNOWN)
            return r == KNAPSACK_NONE;
        if (r == KNAPSACK_TIRED)
            p->sets *= 2;
        add_row(p);
        p->margin -= p->margin / 16;
        uint32_t moved = 0;
        while (!find_weights(p, &moved)) {
            p->margin /= 2;
            if (is_stopped(p) || p->margin < p->total / MARGIN_LEAST)
                return false;
        }
        if (!moved && r == KNAPSACK_FOUND)
            return false;
        normalise(p);
    }
    return false;
}

/* ---- thresholds ------------------------------------------------------------------------------ */

static int64_t least_time(const struct packer *p, uint32_t v)
{
    int64_t least = COST_NEVER;
    for (uint32_t k = 0; k < p->c->nkind; k++)
        if ((p->r->may[v] >> k & 1) && p->c->kind[k].time[v] < least)
            least = p->c->kind[k].time[v];
    return least;
}

/* Makes the first weights and all tables; false: there is nothing to weigh, or too many devices. */
static bool prepare(struct packer *p)
{
    const struct problem *c = p->c;
    size_t n = (size_t)p->n + 1;
    int64_t all = 0;
    uint32_t devices = 0;
    bool pays = false;
    p->weight = arena_array(p->a, n, sizeof *p->weight);
    p->metric = arena_array(p->a, n, sizeof *p->metric);
    p->row = arena_array(p->a, ROWS, sizeof *p->row);
    for (uint32_t v = 0; v < p->n; v++)
        all = sat_add(all, least_time(p, v));
    for (uint32_t k = 0; k < c->nkind; k++) {
        bool host = c->cluster->cls[c->kind[k].cls].host;
        p->part[k] = arena_array(p->a, n, sizeof **p->part);
        p->held[k] = host ? NULL : device_knapsack_new(p->r, k, p->weight, p->work, p->a);
        devices += c->kind[k].count;
        pays = pays || !host;
    }
    if (all <= 0 || all >= COST_NEVER || !pays || devices > DEVICES)
        return false;
    p->total = INT64_C(1) << KNAPSACK_BITS;
    for (uint32_t v = 0; v < p->n; v++) {
        p->weight[v] = (int64_t)((__int128)least_time(p, v) * p->total / all);
        /* the weight of a vertex without time may grow, too: such vertices force transfers */
        p->metric[v] = ((p->weight[v] + p->total / p->n / 20) >> METRIC_BITS) + 1;
    }
    return true;
}

static void keep_weights(struct packing *out, const struct packer *p)
{
    out->below = p->below;
    out->total = 0;
    memcpy(out->weight, p->weight, p->n * sizeof *out->weight);
    memcpy(out->most, p->most, sizeof out->most);
    for (uint32_t v = 0; v < p->n; v++)
        out->total += p->weight[v];
    for (uint32_t k = 0; k < p->c->nkind; k++)
        out->sets[k] = p->held[k] ? p->held[k]->sets : 0;
}

struct packing packing_bound(const struct reduction *r, int64_t lower, uint64_t *work,
                             struct clock *clock, struct arena *a)
{
    struct packing out = {0};
    uint32_t n = r->small->g->n;
    uint64_t most = n * smaller_u64(n * WORK_OF_PAIR, WORK_OF_VERTEX);
    uint64_t left = smaller_u64(*work, most), mine;
    struct packer p = {.r = r, .c = r->small, .n = n, .work = &mine, .clock = clock, .a = a};
    if (r->none || r->below <= lower || n > PACKING_VERTICES)
        return out;
    *work -= left;
    mine = left;
    out.weight = arena_array(a, (size_t)n + 1, sizeof *out.weight);
    bool open = prepare(&p);
    left = mine;
    int64_t lo = lower, hi = r->below + 1, near = r->below / PRECISION + 1;
    /* second round: thresholds that were not refuted with a part of the work are tried with all that is left */
    bool again = false;
    for (uint32_t i = 0; open && i < THRESHOLDS && left && !clock_out(clock); i++) {
        bool last = hi - lo <= near;
        if (last && hi <= r->below) {
            if (again || lo == lower)
                break;
            again = true;
            hi = r->below + 1;
            last = hi - lo <= near;
        }
        int64_t at = last ? r->below : lo + (hi - lo) / 3 + 1;
        mine = again ? left : left / TRY + 1;
        left -= mine;
        if (refute(&p, at)) {
            keep_weights(&out, &p);
            lo = at;
        } else {
            hi = at;
        }
        left += mine;
        open = lo < r->below;
    }
    *work += left;
    return out;
}
