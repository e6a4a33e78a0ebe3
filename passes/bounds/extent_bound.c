/* Finds lower bounds by how far devices get along a path (extent_bound.h).
 *
 * Idea: the ideals of a contiguous plan hold the first k vertices of a path for growing k (long_path.h), so each
 * device has an interval i + 1 .. j of the path vertices, which may be empty.  The least load of a device of some
 * kind with that interval is a minimum cut (interval_cut.h).  In a plan with loads of at most T a device that begins
 * behind path vertex i reaches at most the last j for which its least load is at most T.
 *
 * A line of devices is a sequence of devices whose intervals follow each other and cover the whole path.  Whether some
 * line uses no more devices of each kind than there are is a shortest path problem with limits: an exact answer needs a
 * label for each combination of counts of the kinds.  Instead, each kind gets a price (Lagrangian relaxation of the
 * limits; Handler and Zang, Networks 10 (1980)): if the cheapest line costs more than all devices together, no plan has
 * loads of at most T.  Finding the best prices is the dual of the linear program that may use fractions of lines, so
 * with many devices little is lost.  If the cheapest line uses more devices of a kind than there are, the price of the
 * kind rises; else it falls.
 *
 * At first the load known for an interval is only the time of the vertices that must lie within it; minimum cuts, which
 * are dearer, are made only for the intervals of cheapest lines.  T is found by bisection; the loads known for
 * intervals do not depend on T and are kept.
 *
 * Cost: the work allowed; to find a cheapest line takes O(kinds * vertices of the path). */
#include "passes/bounds/extent_bound.h"

#include "ir/base/max_flow.h"
#include "passes/bounds/explain.h"
#include "passes/bounds/interval_cut.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    PATH_MOST = 4096, /* number of vertices of the path that are used, at most */
    TURNS = 200,      /* number of times that prices change for one T, at most */
    PRICE_BITS = 40,  /* all devices together cost about 2^PRICE_BITS */
    PRECISION = 1000, /* the bisection ends at a range of upper / PRECISION */
    LINE_SHARE = 4 /* a cheapest line counts as 1 / LINE_SHARE arc for each kind and path vertex */
};

/* How far devices of one kind get along the path.  The window of i: the intervals i + 1 .. j, for all j from i to
 * end[i]. */
struct kind_extent {
    int64_t *time; /* [vertex] its time on the kind, ps; larger times count as upper + 1 */
    /* [i] the last path vertex j of the window of i; on intervals that reach farther the load is above `upper` */
    uint32_t *end;
    /* [i] index in `load` of the first entry of i's window; the interval i + 1 .. j has the entry at[i] + j - i */
    uint32_t *at;
    /* [entry] ps: no device of the kind with the path vertices i + 1 .. j has a smaller load */
    int64_t *load;
    uint8_t *cut; /* [entry] 1: `load` has been raised by a minimum cut */
    /* [i] the last path vertex that a device with an interval from i + 1 on reaches */
    uint32_t *far;
    /* [j] the first i such that a device with an interval from i + 1 reaches j; UINT32_MAX: none */
    uint32_t *first;
    /* price of one device of the kind; all devices of the cluster together cost about 2^PRICE_BITS */
    int64_t price;
    uint32_t used; /* number of devices in the cheapest line */
};

struct extents {
    const struct problem *c;
    struct arena *a;
    uint64_t *work; /* arcs that may still be looked at */
    struct clock *clock;
    struct long_path path;
    /* path.len + 1: length of the arrays with an entry for each path vertex and for 0 */
    uint32_t row;
    int64_t upper; /* ps: windows hold the intervals with loads of at most this */
    int64_t limit; /* ps: the limit T that is tried */
    struct kind_extent kind[PROBLEM_KINDS];
    /* [j] the least price of a line of devices that covers the path vertices 1 .. j; LOAD_INF: no line does */
    int64_t *cost;
    uint32_t *by;                 /* [j] the kind of the last device of that cheapest line */
    uint32_t *id;                 /* [vertex] scratch for interval_cut() */
    int64_t proven;               /* ps: the largest limit refuted so far; -1: none */
    int64_t proof[PROBLEM_KINDS]; /* [kind] the prices with which `proven` was refuted */
};

/* ---- loads of intervals ---------------------------------------------------------------------- */

/* Returns the index in x->load of the interval i + 1 .. j, which must be in the window of i. */
static uint32_t entry(const struct kind_extent *x, uint32_t i, uint32_t j)
{
    assert(i <= j && j <= x->end[i]);
    return x->at[i] + j - i;
}

/* Makes the windows of kind k: for each i the intervals in which the vertices that must lie within the interval take
 * no more than `upper` ps.  hi: row j has the vertices with hi = j (long_path.h).  Returns false if there are more
 * than `most` intervals. */
static bool make_windows(struct extents *r, uint32_t k, const struct csr *hi, int64_t upper,
                         uint32_t most)
{
    struct kind_extent *x = &r->kind[k];
    uint32_t n = 0, cap = 0;
    x->load = NULL;
    x->end = arena_array(r->a, r->row, sizeof *x->end);
    x->at = arena_array(r->a, r->row, sizeof *x->at);
    for (uint32_t i = 0; i < r->row; i++) {
        int64_t sum = 0;
        x->at[i] = n;
        for (uint32_t j = i; j < r->row && n <= most; j++) {
            /* the vertices that must lie within i + 1 .. j, but not within i + 1 .. j - 1 */
            if (j > i)
                for_row (v, *hi, j)
                    sum += r->path.lo[v] > i ? x->time[v] : 0;
            if (sum > upper)
                break;
            x->load = vec_grow(r->a, x->load, &cap, n + 1, sizeof *x->load);
            x->load[n++] = sum;
            x->end[i] = j;
        }
    }
    x->cut = arena_alloc(r->a, (size_t)n + 1);
    return n <= most;
}

/* Raises the load of the interval i + 1 .. j on kind k to that of a minimum cut. */
static void cut_interval(struct extents *r, uint32_t k, uint32_t i, uint32_t j)
{
    const struct problem *c = r->c;
    struct kind_extent *x = &r->kind[k];
    const struct interval_cut q = {.c = c,
                                   .path = &r->path,
                                   .w = x->time,
                                   .cost = c->cls[c->kind[k].cls].cost,
                                   .scale = INT64_C(1) << SCALE_BITS,
                                   .paid = UINT32_MAX,
                                   .id = r->id,
                                   .work = r->work,
                                   .a = r->a};
    /* with the multiplier -1 (- LINE_ONE) the gain is minus the least load; a flow that is not the largest gives a
     * smaller load, which holds, too */
    struct line l = interval_cut(&q, (struct interval){i, j}, -LINE_ONE);
    uint32_t at = entry(x, i, j);
    x->load[at] = larger(x->load[at], -l.gain);
    /* if the work ran out, the flow may not be the largest: a later call cuts the interval again */
    x->cut[at] = *r->work > 0;
}

/* Lowers x->far[i] to the last path vertex j, from the present one on, for which the load known of the interval i + 1
 * .. j is within the limit. */
static void shorten(const struct extents *r, struct kind_extent *x, uint32_t i)
{
    while (x->far[i] > i && x->load[entry(x, i, x->far[i])] > r->limit)
        x->far[i]--;
}

/* Fills x->first from x->far. */
static void find_first(const struct extents *r, struct kind_extent *x)
{
    uint32_t i = 0;
    for (uint32_t j = 1; j < r->row; j++) {
        /* a device that does not reach j does not reach later vertices either, so i never falls */
        while (i < j && x->far[i] < j)
            i++;
        x->first[j] = i < j ? i : UINT32_MAX;
    }
}

/* Sets the limit T to `limit`, and x->far and x->first of all kinds from the loads known so far. */
static void set_limit(struct extents *r, int64_t limit)
{
    r->limit = limit;
    for (uint32_t k = 0; k < r->c->nkind; k++) {
        struct kind_extent *x = &r->kind[k];
        for (uint32_t i = 0; i < r->row; i++) {
            x->far[i] = x->end[i];
            shorten(r, x, i);
        }
        find_first(r, x);
    }
}

/* ---- the cheapest line of devices ------------------------------------------------------------ */

/* Returns the sum of the prices of all devices. */
static int64_t all_devices(const struct extents *r)
{
    int64_t sum = 0;
    for (uint32_t k = 0; k < r->c->nkind; k++)
        sum += r->kind[k].price * r->c->kind[k].count;
    return sum;
}

/* Finds the cheapest line of devices that covers the path (head of this file): sets r->cost and r->by, and counts this
 * as work.  Returns whether the line costs more than all devices of the cluster: then no plan has loads within the
 * limit. */
static bool is_dear(struct extents *r)
{
    uint32_t nkind = r->c->nkind;
    uint64_t looks = (uint64_t)r->row * nkind / LINE_SHARE + 1;
    r->cost[0] = 0;
    for (uint32_t j = 1; j < r->row; j++) {
        r->cost[j] = LOAD_INF;
        for (uint32_t k = 0; k < nkind; k++) {
            uint32_t i = r->kind[k].first[j];
            int64_t sum = i == UINT32_MAX ? LOAD_INF : sat_add(r->cost[i], r->kind[k].price);
            if (sum < r->cost[j]) {
                r->cost[j] = sum;
                r->by[j] = k;
            }
        }
    }
    *r->work -= smaller_u64(looks, *r->work);
    return r->cost[r->row - 1] > all_devices(r);
}

/* Makes minimum cuts for the longest intervals of the cheapest line's devices that have none, as far as the work
 * allows, and updates how far these devices reach (far, first).  Sets `used` of each kind to the number of its devices
 * in the line.  Returns whether a cut was made. */
static bool refine_line(struct extents *r)
{
    bool changed[PROBLEM_KINDS] = {false}, any = false;
    for (uint32_t k = 0; k < r->c->nkind; k++)
        r->kind[k].used = 0;
    for (uint32_t j = r->row - 1; j > 0 && *r->work && !clock_out(r->clock);) {
        struct kind_extent *x = &r->kind[r->by[j]];
        uint32_t i = x->first[j];
        x->used++;
        if (!x->cut[entry(x, i, x->far[i])]) {
            cut_interval(r, r->by[j], i, x->far[i]);
            shorten(r, x, i);
            changed[r->by[j]] = any = true;
        }
        j = i;
    }
    for (uint32_t k = 0; k < r->c->nkind; k++)
        if (changed[k])
            find_first(r, &r->kind[k]);
    return any;
}

/* Raises the price of each kind of which the cheapest line uses more devices than there are, and lowers the price of
 * each kind of which it uses fewer; the changes get smaller from turn to turn.  Then scales all prices so that all
 * devices cost about 2^PRICE_BITS. */
static void change_prices(struct extents *r, uint32_t turn)
{
    uint32_t nkind = r->c->nkind;
    for (uint32_t k = 0; k < nkind; k++) {
        struct kind_extent *x = &r->kind[k];
        int64_t n = r->c->kind[k].count, over = (int64_t)x->used - n;
        /* at first by a quarter of the price times over / n, at most by half of the price */
        x->price += (int64_t)((__int128)x->price * smaller(over, 2 * n) / (n * (4 + turn / 4)));
        x->price = larger(x->price, 1);
    }
    int64_t all = all_devices(r);
    for (uint32_t k = 0; k < nkind; k++)
        r->kind[k].price = (int64_t)(((__int128)r->kind[k].price << PRICE_BITS) / all) + 1;
}

/* Returns whether cuts and prices, as far as the work allows, prove that no plan has loads of at most `limit`. */
static bool is_refuted(struct extents *r, int64_t limit)
{
    set_limit(r, limit);
    for (uint32_t turn = 0; turn < TURNS;) {
        if (is_dear(r)) {
            r->proven = limit;
            for (uint32_t k = 0; k < r->c->nkind; k++)
                r->proof[k] = r->kind[k].price;
            return true;
        }
        if (*r->work == 0 || clock_out(r->clock))
            return false;
        if (!refine_line(r))
            change_prices(r, turn++);
    }
    return false;
}

/* ---- the argument ---------------------------------------------------------------------------- */

/* Adds to the text how far devices of kind k get: a line for each i with a farther end than all smaller i have;
 * EXPLAIN_STEPS lines at most for all kinds together.  *shown: number of lines so far, the lines left out included;
 * the lines for this kind are added to it. */
static void prove_extents(struct explain *e, const struct extents *r, uint32_t k, uint32_t *shown)
{
    const struct kind_extent *x = &r->kind[k];
    uint32_t far = 0; /* the farthest end in the lines so far */
    explain_add(e, "%s cost %" PRId64 " each\n", explain_kind(e, k), x->price);
    for (uint32_t i = 0; i + 1 < r->row; i++) {
        /* the least load known of an interval i + 1 .. j that ends behind far[i] */
        int64_t least = INT64_MAX;
        if (x->far[i] <= far)
            continue;
        (*shown)++;
        if (*shown > EXPLAIN_STEPS)
            continue;
        far = x->far[i];
        for (uint32_t j = far + 1; j <= x->end[i]; j++)
            least = smaller(x->load[entry(x, i, j)], least);
        explain_add(e, "  behind %u to at most %u", i, far);
        if (far + 1 < r->row)
            explain_add(e, ": farther takes %s or more",
                        explain_time(e, smaller(least, r->upper + 1)));
        explain_add(e, "\n");
    }
}

/* Returns the proof, as a text in mem, that no contiguous plan takes r->proven or less. */
static const char *prove_limit(struct extents *r, const struct module *m, struct arena *mem)
{
    struct explain e = explain_new(r->c, m, mem);
    uint32_t shown = 0;
    explain_add(&e, "contiguous plans: how far devices get along a path\n");
    explain_add(&e,
                "suppose that a plan takes less than %s; path:", explain_time(&e, r->proven + 1));
    for (uint32_t j = 1; j < r->row; j++)
        explain_add(&e, " %u %s", j, e.name[r->path.vertex[j]]);
    explain_add(
        &e, "\na device has an interval of it, and what lies between its ends, but nothing from "
            "before or behind it (minimum cuts)\n");
    for (uint32_t k = 0; k < r->c->nkind; k++)
        prove_extents(&e, r, k, &shown);
    if (shown > EXPLAIN_STEPS)
        explain_add(&e, "  and %u more\n", shown - EXPLAIN_STEPS);
    if (r->cost[r->row - 1] == LOAD_INF)
        explain_add(&e, "no device can be where a part of the path is");
    else
        explain_add(&e,
                    "devices that reach the end cost %" PRId64 " or more, all devices "
                    "%" PRId64,
                    r->cost[r->row - 1], all_devices(r));
    explain_add(&e, ": no contiguous plan takes less than %s\n", explain_time(&e, r->proven + 1));
    return explain_text(&e);
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Chooses about `most` vertices of a longest path and makes the windows of all kinds.  Returns false, with nothing
 * kept, if the windows hold too many intervals; with `most` = 1, where the number of vertices cannot be halved again,
 * always true. */
static bool walk_path(struct extents *r, uint32_t most)
{
    struct arena_mark mark = arena_mark(r->a);
    r->path = long_path_of(r->c, 0, most, r->a);
    r->row = r->path.len + 1;
    const struct csr hi = csr_build(r->a, r->row + 1, r->c->g->n, r->path.hi, NULL);
    for (uint32_t k = 0; k < r->c->nkind; k++)
        if (!make_windows(r, k, &hi, r->upper, EXTENT_PAIRS / r->c->nkind) && most > 1) {
            arena_release(r->a, mark);
            return false;
        }
    return true;
}

struct extents *extents_new(const struct problem *c, int64_t upper, struct arena *a)
{
    uint32_t n = c->g->n;
    if (c->detailed || n == 0 || upper < 0 || upper >= LOAD_INF / 2 / (n + 1))
        return NULL;
    struct extents *r = arena_alloc(a, sizeof *r);
    *r = (struct extents){.c = c, .a = a, .upper = upper, .proven = -1};
    for (uint32_t k = 0; k < c->nkind; k++) {
        struct kind_extent *x = &r->kind[k];
        x->price = (INT64_C(1) << PRICE_BITS) / c->cluster->ndev + 1;
        x->time = arena_array(a, n, sizeof *x->time);
        for (uint32_t v = 0; v < n; v++)
            x->time[v] = smaller(c->kind[k].time[v], upper + 1);
    }
    for (uint32_t most = smaller_u32(n, PATH_MOST); most && !walk_path(r, most);)
        most /= 2;
    r->cost = arena_array(a, r->row, sizeof *r->cost);
    r->by = arena_array(a, r->row, sizeof *r->by);
    r->id = arena_array(a, (size_t)n + 1, sizeof *r->id);
    for (uint32_t k = 0; k < c->nkind; k++) {
        r->kind[k].far = arena_array(a, r->row, sizeof(uint32_t));
        r->kind[k].first = arena_array(a, r->row, sizeof(uint32_t));
    }
    return r;
}

struct bound extents_bound(struct extents *r, int64_t upper, const struct bound_means *with,
                           uint64_t *spent)
{
    const struct bound known = r->c->lower;
    int64_t lo = known.value, hi = upper;
    uint64_t left = with->work, enough = UINT64_MAX;
    r->work = &left;
    r->clock = with->clock;
    while (hi - lo > upper / PRECISION && left && !clock_out(with->clock)) {
        int64_t mid = lo + (hi - lo + 1) / 2;
        if (is_refuted(r, mid - 1))
            lo = mid;
        else
            hi = mid - 1;
    }
    *spent = with->work - left;
    if (r->proven < known.value)
        return known;
    for (uint32_t k = 0; k < r->c->nkind; k++)
        r->kind[k].price = r->proof[k];
    set_limit(r, r->proven);
    r->work = &enough;
    /* intervals may have got larger loads since this limit was refuted: with the same prices the cheapest line costs as
     * much as then, or more */
    bool dear = is_dear(r);
    assert(dear);
    (void)dear;
    return (struct bound){.value = r->proven + 1,
                          .why = "how far devices get along a path",
                          .proof = prove_limit(r, with->m, with->mem)};
}
