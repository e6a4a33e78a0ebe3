/* Finds weights that devices cannot hold (weight_bound.h).
 *
 * Idea: the dual of the linear relaxation of set partitioning (Gilmore and Gomory, Operations Research 9 (1961), for
 * cutting stock; here the patterns are the sets of vertices whose load, transfers included, is below T).  Weights w
 * refute T if
 *   sum over devices of the most that one of them holds, w(S) over its sets S of loads below T,  <  w(all).
 * An average load is the case w = time; even these weights give a better bound here, since loads include transfers.
 *
 * Weights start as times.  A device of each kind gets a share of the total; a search (device_knapsack.c) looks for a
 * set, with a load below T, that is heavier than this share.  If no kind has such a set, T is refuted.  A set that is
 * found, with the last sets of the other kinds, makes a row g: g[v] is the number of devices that hold v, less 1.  Let
 * g w be the sum over all vertices v of g[v] * w(v): weights that refute T must have g w < 0 for every row.  Weights
 * with g w < 0, by some margin, are found by repeated projection on the worst row (Agmon, Motzkin and Schoenberg,
 * Canadian J. of Mathematics 6 (1954)); then the search is repeated with these weights.  A row stays valid for all
 * larger T.
 *
 * Hosts pay for no transfers, so they need no search: a host that is filled with the vertices of the largest weight for
 * their time, and a fraction of the last one, holds at least as much as any set with a load below T weighs.
 *
 * Cost: a search for each row and O(rows * V) for each projection, within the work allowed. */
#include "passes/bounds/weight_bound.h"

#include "passes/bounds/device_knapsack.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 400,            /* number of rows kept, at most */
    ONE = 64,              /* entries of rows are in units of 1 / ONE */
    PROJECTIONS = 50,      /* number of projections for each row, at most */
    MARGIN = 40,           /* the first margin is 1 / MARGIN of the total weight */
    MARGIN_LEAST = 100000, /* the last margin is 1 / MARGIN_LEAST of the total weight */
    /* packer.metric is 2^-METRIC_BITS of (a vertex's first weight + 1 / METRIC_LEAST of the average weight) */
    METRIC_BITS = 10,
    METRIC_LEAST = 20,
    STEP_BITS = 24,  /* steps of projections are in units of 2^-STEP_BITS */
    THRESHOLDS = 24, /* number of thresholds tried, at most */
    /* the search for a threshold ends at a range of 1 / PRECISION of the largest threshold */
    PRECISION = 200,
    TRY = 4,      /* one threshold gets 1 / TRY of the work that is left */
    SETS = 1000,  /* number of partial sets for the first search of a threshold */
    DEVICES = 256 /* with more devices there is no search */
};
/* limits of the work, in arcs: for each vertex, and for each pair of vertices */
#define WORK_OF_VERTEX UINT64_C(8000000)
#define WORK_OF_PAIR UINT64_C(100000)

/* A row g, as a condition g w < 0 on the weights w (head of this file). */
struct row {
    int32_t *g;   /* [vertex] ONE * (number of devices that hold the vertex - 1) */
    int64_t norm; /* 1 + sum of metric[v] * g[v]^2 over the vertices v */
    /* ps: the largest load of the row's sets; the row holds for thresholds above it */
    int64_t load;
};

/* A search for weights.  Vertices have their numbers in r->small->g. */
struct packer {
    const struct reduction *r;
    const struct problem *c; /* r->small */
    uint32_t n;              /* number of vertices */
    /* below: the threshold, ps; margin: by how much g w must be below 0, in units of weight */
    int64_t below, margin;
    /* number of partial sets that a search may examine before other weights are tried */
    uint64_t sets;
    int64_t *weight, total; /* weight: [vertex] its weight; total: about the sum of all weights */
    /* [vertex] how much a projection changes its weight, relative to other vertices */
    int64_t *metric;
    /* [kind] searches for heavy sets on devices of the kind; NULL: hosts, which need none */
    struct device_knapsack *knapsack[PROBLEM_KINDS];
    /* [kind] the share of all weight that one device of the kind may hold; `below` is refuted if no kind has a heavier
     * set */
    int64_t most[PROBLEM_KINDS];
    /* [kind][vertex] how much of the vertex is in the last set found for the kind, in 1 / ONE: a host may have a
     * fraction */
    int32_t *part[PROBLEM_KINDS];
    int64_t load[PROBLEM_KINDS]; /* [kind] ps: load of the last set found; 0 for hosts */
    struct row *row;             /* the rows kept, ROWS at most */
    uint32_t nrow, next;         /* number of rows in row[]; number of rows made so far */
    uint64_t *work;              /* work left for the present threshold, in arcs */
    struct clock *clock;
    struct arena *a;
};

/* Lowers *p->work by the given number of arcs, but not below 0. */
static void spend(struct packer *p, uint64_t arcs)
{
    *p->work -= smaller_u64(arcs, *p->work);
}

/* Returns whether the search has used up its work or its time. */
static bool is_stopped(struct packer *p)
{
    return *p->work == 0 || clock_out(p->clock);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

/* A vertex with its weight and its time, ps. */
struct ratio {
    int64_t w, t;
    uint32_t v;
};

/* Order for qsort: vertices with more weight for their time come first, of equal ones the smaller number. */
static int denser_first(const void *a, const void *b)
{
    const struct ratio *x = a, *y = b;
    __int128 l = (__int128)x->w * y->t, r = (__int128)y->w * x->t;
    return l != r ? (l < r) - (l > r) : (x->v > y->v) - (x->v < y->v);
}

/* Returns an upper bound on the weight that a host of kind k holds with a load below p->below.  Sets p->part[k] to how
 * much of each vertex gives this bound. */
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
        if (of[i].t > left) { /* a fraction of the last vertex, rounded up */
            sum += (int64_t)(((__int128)of[i].w * left + of[i].t - 1) / of[i].t);
            p->part[k][of[i].v] = (int32_t)(((__int128)ONE * left + of[i].t - 1) / of[i].t);
            break;
        }
        sum += of[i].w;
        p->part[k][of[i].v] = ONE;
        left -= of[i].t;
    }
    spend(p, n);
    arena_release(p->a, mark);
    return sum;
}

/* ---- weights --------------------------------------------------------------------------------- */

/* Returns g w: the sum over all vertices of weight times g[vertex]. */
static int64_t row_product(const struct packer *p, const int32_t *g)
{
    int64_t sum = 0;
    for (uint32_t v = 0; v < p->n; v++)
        sum += p->weight[v] * g[v];
    return sum;
}

/* Scales the weights so that they add up to p->total, each rounded down. */
static void normalise(struct packer *p)
{
    int64_t sum = 0;
    for (uint32_t v = 0; v < p->n; v++)
        sum += p->weight[v];
    for (uint32_t v = 0; v < p->n && sum; v++)
        p->weight[v] = (int64_t)((__int128)p->weight[v] * p->total / sum);
}

/* Changes the weights so that g w of row r falls by a little more than `excess` (projection on the row), less where a
 * weight would get below 0 or above p->total. */
static void project(struct packer *p, const struct row *r, int64_t excess)
{
    int64_t much = excess + excess / 4;
    __int128 step = ((__int128)much << STEP_BITS) / r->norm;
    for (uint32_t v = 0; v < p->n; v++) {
        __int128 w = p->weight[v] - p->metric[v] * r->g[v] * step / (1 << STEP_BITS);
        if (w < 0)
            w = 0;
        p->weight[v] = w > p->total ? p->total : (int64_t)w;
    }
}

/* Changes the weights by projections until g w is below 0 by nearly the margin for all rows that hold for the
 * threshold; adds the number of projections to *moved.  Returns false if PROJECTIONS times the number of rows were not
 * enough, or if work or time ran out. */
static bool find_weights(struct packer *p, uint32_t *moved)
{
    /* g w should be at most -goal; the row for which g w is most above -goal is projected on, until none is above it by
     * more than `bad`, an eighth of the margin */
    int64_t goal = p->margin * ONE, bad = p->margin / 8 * ONE;
    for (uint32_t i = 0; i < PROJECTIONS * (p->nrow + 1) && !is_stopped(p); i++) {
        const struct row *worst = NULL;
        int64_t most = bad;
        for (uint32_t j = 0; j < p->nrow; j++) {
            if (p->row[j].load >= p->below)
                continue; /* the row does not hold for this threshold */
            int64_t excess = row_product(p, p->row[j].g) + goal;
            if (excess > most) {
                most = excess;
                worst = &p->row[j];
            }
        }
        /* four entries of a row take as long as one arc */
        spend(p, (uint64_t)(p->nrow + 1) * p->n / 4);
        if (!worst)
            return true;
        project(p, worst, most);
        ++*moved;
    }
    return false;
}

/* Adds the row of the sets in p->part; it replaces the oldest row if there are ROWS rows. */
static void add_row(struct packer *p)
{
    struct row *r = &p->row[p->next++ % ROWS];
    p->nrow = smaller_u32(p->nrow + 1, ROWS);
    if (!r->g)
        r->g = arena_array(p->a, (size_t)p->n + 1, sizeof *r->g);
    r->load = 0;
    r->norm = 1;
    for (uint32_t k = 0; k < p->c->nkind; k++) {
        /* the set was found for a larger threshold, and its load is too large for the present one: an empty set takes
         * its place */
        if (p->load[k] >= p->below) {
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

/* Divides `rest`, the weight that hosts cannot hold, among the other kinds: sets p->most[k] to the share that one
 * device of kind k may hold.  The shares are in proportion to the upper bounds of what one device can hold
 * (device_knapsack_most()). */
static void share_rest(struct packer *p, int64_t rest)
{
    int64_t all = 0;
    uint32_t paying = 0;
    for (uint32_t k = 0; k < p->c->nkind; k++)
        paying += p->knapsack[k] != NULL;
    for (uint32_t k = 0; k < p->c->nkind; k++) {
        if (!p->knapsack[k])
            continue;
        p->most[k] = 1; /* a single kind gets all of the rest, whatever stands here */
        if (paying > 1) {
            int64_t most = device_knapsack_most(p->knapsack[k], p->below - 1);
            p->most[k] = most < p->total ? most + 1 : p->total;
        }
        all += p->most[k] * p->c->kind[k].count;
    }
    for (uint32_t k = 0; k < p->c->nkind; k++)
        if (p->knapsack[k])
            p->most[k] = (int64_t)((__int128)p->most[k] * rest / all);
}

/* Copies the best set of kind k's last search to p->part[k], and the set's load to p->load[k]; if the search found
 * none, an empty set with a load of 0. */
static void take_set(struct packer *p, uint32_t k)
{
    const struct device_knapsack *h = p->knapsack[k];
    p->load[k] = h->best_sum < 0 ? 0 : h->best_load >> h->up << h->down;
    for (uint32_t v = 0; v < p->n; v++)
        p->part[k][v] = h->best_sum >= 0 && h->best[v] ? ONE : 0;
}

/* Tells whether the weights refute p->below.  KNAPSACK_NONE: they do.  FOUND: some device can hold more than its share
 * (such a set is in p->part), or hosts can hold everything.  TIRED: a search was given up after p->sets partial sets;
 * its best set is in p->part.  UNKNOWN: work or time ran out. */
static enum device_knapsack_answer check_weights(struct packer *p)
{
    /* all weight less 1: devices that hold no more than their shares of this cannot hold all weight */
    int64_t rest = -1;
    for (uint32_t v = 0; v < p->n; v++)
        rest += p->weight[v];
    for (uint32_t k = 0; k < p->c->nkind; k++)
        if (!p->knapsack[k]) {
            p->most[k] = host_most(p, k);
            rest -= p->most[k] * p->c->kind[k].count;
        }
    if (rest < 0)
        return KNAPSACK_FOUND;
    share_rest(p, rest);
    for (uint32_t k = 0; k < p->c->nkind; k++) {
        if (!p->knapsack[k])
            continue;
        enum device_knapsack_answer r =
            device_knapsack_search(p->knapsack[k], p->below - 1, p->most[k], p->sets, p->clock);
        if (r == KNAPSACK_FOUND || r == KNAPSACK_TIRED)
            take_set(p, k);
        if (r != KNAPSACK_NONE)
            return r;
    }
    return KNAPSACK_NONE;
}

/* Changes p->weight until the weights prove that no plan takes less than `below` ps; returns whether they do at the
 * end. */
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
        p->margin -= p->margin / 16; /* more rows leave fewer weights to choose from */
        uint32_t moved = 0;
        while (!find_weights(p, &moved)) {
            p->margin /= 2;
            if (is_stopped(p) || p->margin < p->total / MARGIN_LEAST)
                return false;
        }
        if (!moved && r == KNAPSACK_FOUND)
            return false; /* the new row asks for no other weights, so the next search would find the same set */
        normalise(p);
    }
    return false;
}

/* ---- thresholds ------------------------------------------------------------------------------ */

/* Returns the least time of v, ps, on the kinds that it may be on; COST_NEVER if it may be on no kind. */
static int64_t least_time(const struct packer *p, uint32_t v)
{
    int64_t least = COST_NEVER;
    for (uint32_t k = 0; k < p->c->nkind; k++)
        if ((p->r->may[v] >> k & 1) && p->c->kind[k].time[v] < least)
            least = p->c->kind[k].time[v];
    return least;
}

/* Makes the first weights and all tables.  Returns false if a search would be useless: no vertex takes time, a vertex
 * can run nowhere, there are only hosts, or there are too many devices. */
static bool prepare(struct packer *p)
{
    const struct problem *c = p->c;
    size_t n = (size_t)p->n + 1;
    int64_t all = 0; /* ps: sum of the least times of all vertices */
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
        p->knapsack[k] = host ? NULL : device_knapsack_new(p->r, k, p->weight, p->work, p->a);
        devices += c->kind[k].count;
        pays = pays || !host;
    }
    if (all <= 0 || all >= COST_NEVER || !pays || devices > DEVICES)
        return false;
    p->total = INT64_C(1) << KNAPSACK_BITS;
    for (uint32_t v = 0; v < p->n; v++) {
        p->weight[v] = (int64_t)((__int128)least_time(p, v) * p->total / all);
        /* a share of the average weight is added so that the weight of a vertex without time can grow, too: such
         * vertices can force transfers */
        p->metric[v] = ((p->weight[v] + p->total / p->n / METRIC_LEAST) >> METRIC_BITS) + 1;
    }
    return true;
}

/* Writes the weights of p, which refute p->below, to *out. */
static void keep_weights(struct packing *out, const struct packer *p)
{
    out->below = p->below;
    out->total = 0;
    memcpy(out->weight, p->weight, p->n * sizeof *out->weight);
    memcpy(out->most, p->most, sizeof out->most);
    for (uint32_t v = 0; v < p->n; v++)
        out->total += p->weight[v];
    for (uint32_t k = 0; k < p->c->nkind; k++)
        out->sets[k] = p->knapsack[k] ? p->knapsack[k]->sets : 0;
}

struct packing packing_bound(const struct reduction *r, int64_t lower, uint64_t *work,
                             struct clock *clock, struct arena *a)
{
    struct packing out = {0};
    uint32_t n = r->small->g->n;
    uint64_t most = n * smaller_u64(n * WORK_OF_PAIR, WORK_OF_VERTEX);
    uint64_t left = smaller_u64(*work, most), budget;
    struct packer p = {.r = r, .c = r->small, .n = n, .work = &budget, .clock = clock, .a = a};
    if (r->none || r->below <= lower || n > PACKING_VERTICES)
        return out;
    *work -= left;
    budget = left;
    out.weight = arena_array(a, (size_t)n + 1, sizeof *out.weight);
    bool open = prepare(&p); /* whether thresholds above lo are still to be tried */
    left = budget;
    /* lo: the largest threshold refuted so far; hi: the smallest threshold tried but not refuted, at first r->below +
     * 1 */
    int64_t lo = lower, hi = r->below + 1, near = r->below / PRECISION + 1;
    /* a second round: thresholds that were not refuted with a part of the work are tried with all that is left */
    bool again = false;
    for (uint32_t i = 0; open && i < THRESHOLDS && left && !clock_out(clock); i++) {
        bool last = hi - lo <= near;
        /* the end of a round; there is no second round if the first one refuted nothing */
        if (last && hi <= r->below) {
            if (again || lo == lower)
                break;
            again = true;
            hi = r->below + 1;
            last = hi - lo <= near;
        }
        /* low thresholds are refuted with less work, so the next threshold is a third of the range above lo, not the
         * middle */
        int64_t at = last ? r->below : lo + (hi - lo) / 3 + 1;
        budget = again ? left : left / TRY + 1;
        left -= budget;
        if (refute(&p, at)) {
            keep_weights(&out, &p);
            lo = at;
        } else {
            hi = at;
        }
        left += budget; /* what refute() has not used */
        open = lo < r->below;
    }
    *work += left;
    return out;
}
