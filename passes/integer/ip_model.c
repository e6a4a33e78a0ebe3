/* Makes integer programs for placement (ip_model.h).
 *
 * Source: the placement paper (Tarnawski et al., NeurIPS 2020), 5.1.3 and appendix C.  x[v,d] = 1 iff device d holds
 * vertex v; the value T is at least the load of every device:
 *     T >= sum_v time[v] x[v,d] + sum_e cost[e] cut[e,d].
 * cut[e,d] = 1 iff d holds some pins of net e and not all.  With pins a and b: cut >= |x[a] - x[b]|; with more: cut =
 * hi - lo, hi >= every x, lo <= every x; with a pin on the host, or a pin that cannot be on d: cut = hi.  The
 * relaxation is as strong as with the paper's separate in- and out-costs, with fewer rows.  Host devices pay nothing.
 * If only one pin of a net can be on a device, the net needs no column for that device.
 *
 * With overlap, or with passes that count apart (the same paper, appendices D and H.1), computing, transfers in and
 * transfers out of a device are three sums; each net has in >= x[reader] - x[maker] and out >= x[maker] - x[reader].
 * T is at least each sum of what runs one after the other.  With passes apart T >= TF + TB, and TF and TB are at least
 * the sums of the forward and the backward pass.  A device that holds a vertex computes longer by the cost of a part,
 * which is multiplied by `used`: used >= every x.
 *
 * Contiguity.  Convex: the paper's (16): z[v,d] >= x[v,d]; z[u,d] >= z[v,d] and z[v,d] <= x[v,d] - x[u,d] + 1 along
 * each edge u -> v.  z[v,d] is 1 where a path leads from v into d's set.  Chain: w[v,j] = 1 iff v is in slot j or an
 * earlier one; w[v,j] <= w[v,j+1], w[u,j] >= w[v,j] along edges, x[v,j] = w[v,j] - w[v,j-1].  A chain has no symmetry;
 * it is what dp-place searches.  Slots may stay empty.
 *
 * Symmetry.  Devices of a kind are alike, so they may be numbered in the order in which the vertices, sorted by
 * falling time, first use them: the i-th vertex, counted from 0, is on one of the first i + 1 devices, or on another
 * kind.
 *
 * A column that must be 0 is left out: the device cannot run the vertex, or the vertex takes longer than the limit or
 * needs more memory than the device has.  In a chain a column is also left out if the vertex and its ancestors do not
 * fit the slots up to this one, or the vertex and its descendants do not fit the slots from this one on.
 *
 * Memory: bytes are whole multiples of their greatest common divisor, so half of that divisor may be added to a limit:
 * then the solver's tolerance cannot change what fits.  Cost: O(terms), at most MIP_MOST_TERMS. */
#include "passes/integer/ip_model.h"

#include "passes/integer/mip_units.h"

#include "ir/base/units.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* find_windows() does nothing for graphs with more vertices, since it takes O(V * (V + E) / 64) */
enum { WINDOWS_MOST = 8192 };
/* the limit is raised by this share of it, so that a solver's rounding does not exclude a plan at the limit */
#define TOLERANCE 1e-8

/* A growing list of terms that belong to one sum. */
struct sum {
    struct mip_term *v;
    uint32_t n, cap;
};

struct builder {
    struct ip_model *m;
    const struct problem *c;
    const struct wdag *g;
    struct mip *p;
    struct arena *a;
    uint32_t n, k;      /* vertices, slots */
    const char **label; /* [vertex] name of the vertex */
    const char **dev;   /* [slot] name of the slot's device */
    uint32_t ncut;      /* number of terms in cut[] */
    /* [ncut] terms that the row of the present slot gets beside those of vertices: costs of nets, or bytes of shared
     * items */
    struct mip_term *cut;
    uint32_t capcut;
    struct mip_bytes bytes;
    /* detailed: the columns TF and TB of the two passes; if passes do not count apart, top[0] is T */
    uint32_t top[2];
    struct sum in[2], out[2]; /* detailed: what a slot takes in and sends out in each pass */
};

/* ---- names ------------------------------------------------------------------------------------ */

/* Names vertices and slots for the rows and columns of the integer program: b->label, b->dev. */
static void name_vertices(struct builder *b)
{
    const char *const *name = b->m->ask.name;
    b->label = arena_array(b->a, (size_t)b->n + 1, sizeof *b->label);
    b->dev = arena_array(b->a, (size_t)b->k + 1, sizeof *b->dev);
    for (uint32_t v = 0; v < b->n; v++)
        b->label[v] = name && name[v] && *name[v] ? arena_fmt(b->a, "%.60s", name[v])
                                                  : arena_fmt(b->a, "v%u", v);
    for (uint32_t s = 0; s < b->k; s++)
        b->dev[s] = cluster_device_name(b->c->cluster, b->a, b->m->slot[s]);
}

/* Returns a name such as "net_NODE_7_acc0", made of `what`, the maker of net e, the number e, and the device of slot
 * s. */
static const char *net_name(const struct builder *b, const char *what, uint32_t e, uint32_t s)
{
    uint32_t src = b->g->net_src[e];
    if (src >= b->n)
        return arena_fmt(b->a, "%s_input%u_%s", what, e, b->dev[s]);
    return arena_fmt(b->a, "%s_%s_%u_%s", what, b->label[src], e, b->dev[s]);
}

/* ---- terms ------------------------------------------------------------------------------------ */

/* Adds by * x[v, s] to the row: in a chain x[v, s] is w[v, s] - w[v, s - 1]. */
static void add_x(struct builder *b, uint32_t v, uint32_t s, double by)
{
    const uint32_t *col = &b->m->col[(size_t)v * b->k];
    mip_term(b->p, col[s], by);
    if (b->m->ask.shape == IP_CHAIN && s > 0)
        mip_term(b->p, col[s - 1], -by);
}

/* Whether x[v, s] is not fixed to 0. */
static bool can_be(const struct builder *b, uint32_t v, uint32_t s)
{
    const uint32_t *col = &b->m->col[(size_t)v * b->k];
    if (b->m->ask.shape == IP_CHAIN)
        return col[s] != (s > 0 ? col[s - 1] : MIP_ZERO);
    return col[s] != MIP_ZERO;
}

/* Adds the row that says that column col is at least x[v, s] (if `above`), or at most. */
static void add_comparison(struct builder *b, const char *name, uint32_t col, uint32_t v,
                           uint32_t s, bool above)
{
    mip_row(b->p, name, above ? 0 : -MIP_INF, above ? MIP_INF : 0);
    mip_term(b->p, col, 1);
    add_x(b, v, s, -1);
}

/* Returns t ps in the model's unit of time. */
static double in_time(const struct builder *b, int64_t t)
{
    return (double)t / (double)b->m->unit;
}

/* ---- where a vertex can be -------------------------------------------------------------------- */

/* Whether vertex v, looked at by itself, may be in slot s: its device can run v, and time and memory suffice. */
static bool is_allowed(const struct builder *b, uint32_t v, uint32_t s)
{
    const struct problem_kind *k = &b->c->kind[b->m->kind[s]];
    if (k->time[v] == COST_NEVER || (b->m->ask.may && !(b->m->ask.may[v] >> b->m->kind[s] & 1)))
        return false;
    return b->m->ask.memory ||
           (k->time[v] <= b->m->ask.limit && vertex_needs(b->g, v) <= k->memory);
}

/* Writes to order[] the vertices that take longest on kind k, by falling time, at most one for each device of the kind;
 * returns their number.  taken: scratch, [vertex]. */
static uint32_t find_heaviest(const struct builder *b, uint32_t k, uint32_t *order, uint8_t *taken)
{
    const struct problem_kind *kind = &b->c->kind[k];
    uint32_t n = 0;
    memset(taken, 0, b->n);
    for (; n < kind->count; n++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t v = 0; v < b->n; v++)
            if (!taken[v] && kind->time[v] != COST_NEVER &&
                (best == UINT32_MAX || kind->time[v] > kind->time[best]))
                best = v;
        if (best == UINT32_MAX)
            break;
        taken[best] = 1;
        order[n] = best;
    }
    return n;
}

/* Returns an array: [vertex * ndev + slot] 1: the vertex may be barred from the slot, since devices of a kind are alike
 * (head of this file). */
static uint8_t *break_symmetry(struct builder *b)
{
    uint8_t *barred = arena_alloc(b->a, (size_t)b->n * b->k + 1),
            *taken = arena_alloc(b->a, (size_t)b->n + 1);
    uint32_t *order = arena_array(b->a, (size_t)b->k + 1, sizeof *order);
    for (uint32_t k = 0; k < b->c->nkind; k++) {
        if (b->c->kind[k].count < 2)
            continue;
        /* at: number of slots of the kind so far; slot number `at` cannot have the vertices order[0 .. at) */
        uint32_t n = find_heaviest(b, k, order, taken), at = 0;
        for (uint32_t s = 0; s < b->k; s++) {
            if (b->m->kind[s] != k)
                continue;
            for (uint32_t i = 0; i < n && i < at; i++)
                barred[(size_t)order[i] * b->k + s] = 1;
            at++;
        }
    }
    return barred;
}

/* IP_ANY, IP_CONVEX: makes the columns x, and for each vertex a row that says that the vertex is in one slot.  A vertex
 * with a single possible slot has the constant 1 there. */
static void make_x(struct builder *b)
{
    const uint8_t *barred = break_symmetry(b);
    for (uint32_t v = 0; v < b->n; v++) {
        uint32_t *col = &b->m->col[(size_t)v * b->k], possible = 0;
        for (uint32_t s = 0; s < b->k; s++) {
            bool may = is_allowed(b, v, s) && !barred[(size_t)v * b->k + s];
            col[s] = may ? MIP_ONE : MIP_ZERO;
            possible += may;
        }
        for (uint32_t s = 0; possible > 1 && s < b->k; s++)
            if (col[s] == MIP_ONE)
                col[s] = mip_bit(b->p, arena_fmt(b->a, "x_%s_%s", b->label[v], b->dev[s]));
        mip_row(b->p, arena_fmt(b->a, "one_%s", b->label[v]), 1, 1);
        for (uint32_t s = 0; s < b->k; s++)
            mip_term(b->p, col[s], 1);
    }
}

/* Adds the row high - low >= 0, unless high is the constant 1 or low the constant 0. */
static void add_at_most(struct builder *b, const char *name, uint32_t low, uint32_t high)
{
    if (low == MIP_ZERO || high == MIP_ONE || low == high)
        return;
    mip_row(b->p, name, 0, MIP_INF);
    mip_term(b->p, high, 1);
    mip_term(b->p, low, -1);
}

/* Adds to sum[v] the weights w of v and of all its ancestors; if `descendants`, of all its descendants instead.  in:
 * the predecessors of each vertex; if `descendants`, its successors.  Looks at 64 possible ancestors at a time, a bit
 * of mask[v] for each. */
static void add_paths(const struct builder *b, const struct csr *in, bool descendants,
                      const int64_t *w, int64_t *sum)
{
    uint64_t *mask = arena_array(b->a, (size_t)b->n + 1, sizeof *mask);
    for (uint32_t base = 0; base < b->n; base += 64)
        for (uint32_t i = 0; i < b->n; i++) {
            uint32_t v = descendants ? b->n - 1 - i : i;
            /* the bit of v if v is one of the 64, else 0; for v < base the difference wraps round to a large number */
            uint64_t m = v - base < 64 ? UINT64_C(1) << (v - base) : 0;
            for_row (t, *in, v)
                m |= mask[t];
            mask[v] = m;
            for (; m; m &= m - 1)
                sum[v] += w[base + (uint32_t)__builtin_ctzll(m)];
        }
}

/* Finds the slots first[v] .. end[v] - 1 possible for v: all ancestors of v must fit the slots up to v's slot, all
 * descendants the slots from v's slot on.  first[] must be zeroed. */
static void find_windows(struct builder *b, uint32_t *first, uint32_t *end)
{
    struct problem_caps caps;
    int64_t limit = b->m->ask.memory ? LOAD_INF : b->m->ask.limit;
    problem_set_limit(b->c, &caps, limit);
    for (uint32_t v = 0; v < b->n; v++)
        end[v] = b->k;
    for (uint32_t p = 0; p < b->c->npot && b->n <= WINDOWS_MOST; p++) {
        /* skips the potential of the quantity that is minimised, bytes or (without a limit) times: it does not limit a
         * slot */
        if (b->c->pot[p].memory ? b->m->ask.memory : limit == LOAD_INF)
            continue;
        int64_t *before = arena_array(b->a, (size_t)b->n + 1, sizeof *before), room = 0;
        int64_t *after = arena_array(b->a, (size_t)b->n + 1, sizeof *after);
        add_paths(b, &b->g->pred, /*descendants=*/false, b->c->pot[p].w, before);
        add_paths(b, &b->g->succ, /*descendants=*/true, b->c->pot[p].w, after);
        for (uint32_t s = 0; s < b->k; s++) {
            /* room of the slots 0 .. s together */
            room = sat_add(room, caps.cap[p][b->m->kind[s]]);
            for (uint32_t v = 0; v < b->n; v++)
                if (before[v] > room && first[v] <= s)
                    first[v] = s + 1;
        }
        room = 0;
        for (uint32_t s = b->k; s-- > 0;) {
            room = sat_add(room, caps.cap[p][b->m->kind[s]]);
            for (uint32_t v = 0; v < b->n; v++)
                if (after[v] > room && end[v] > s)
                    end[v] = s;
        }
    }
}

/* IP_CHAIN: makes the columns w and their rows.  Before v's first possible slot w is the constant 0, from its last
 * possible slot on the constant 1; in a slot that is not possible it is as in the slot before. */
static void make_w(struct builder *b)
{
    uint32_t *first = arena_array(b->a, (size_t)b->n + 1, sizeof *first);
    uint32_t *end = arena_array(b->a, (size_t)b->n + 1, sizeof *end);
    find_windows(b, first, end);
    for (uint32_t v = 0; v < b->n; v++) {
        /* last: the last slot that v may be in */
        uint32_t *col = &b->m->col[(size_t)v * b->k], last = UINT32_MAX;
        for (uint32_t s = 0; s < b->k; s++)
            last = is_allowed(b, v, s) && s >= first[v] && s < end[v] ? s : last;
        for (uint32_t s = 0; s < b->k; s++) {
            col[s] = s ? col[s - 1] : MIP_ZERO;
            if (last == s)
                col[s] = MIP_ONE;
            else if (last != UINT32_MAX && s < last && s >= first[v] && is_allowed(b, v, s))
                col[s] = mip_bit(b->p, arena_fmt(b->a, "w_%s_%s", b->label[v], b->dev[s]));
            if (s)
                add_at_most(b, arena_fmt(b->a, "on_%s_%s", b->label[v], b->dev[s]), col[s - 1],
                            col[s]);
        }
        mip_row(b->p, arena_fmt(b->a, "one_%s", b->label[v]), 1, 1);
        mip_term(b->p, col[b->k - 1], 1);
    }
    /* edges u -> v: v is in no slot before that of u */
    for (uint32_t u = 0; u < b->n; u++)
        for_row (next, b->g->succ, u)
            for (uint32_t v = next, s = 0; s + 1 < b->k; s++)
                add_at_most(b, arena_fmt(b->a, "edge_%s_%u_%s", b->label[u], v, b->dev[s]),
                            b->m->col[(size_t)v * b->k + s], b->m->col[(size_t)u * b->k + s]);
}

/* Returns the vertex of the problem that vertex v of the graph of ip_paths is merged into. */
static uint32_t merged_vertex(const struct builder *b, uint32_t v)
{
    const uint32_t *merged = b->m->ask.paths.merged;
    return merged ? merged[v] : v;
}

/* IP_CONVEX: makes the columns z and their rows, for the vertices and edges of the graph of ip_paths. */
static void make_z(struct builder *b)
{
    const struct wdag *paths = b->m->ask.paths.g ? b->m->ask.paths.g : b->g;
    bool finer = paths != b->g;
    uint32_t *z = arena_array(b->a, (size_t)paths->n + 1, sizeof *z);
    const char **label = arena_array(b->a, (size_t)paths->n + 1, sizeof *label);
    for (uint32_t v = 0; v < paths->n; v++)
        label[v] =
            finer ? arena_fmt(b->a, "%s_n%u", b->label[merged_vertex(b, v)], v) : b->label[v];
    for (uint32_t s = 0; s < b->k; s++) {
        for (uint32_t v = 0; v < paths->n; v++)
            z[v] = mip_share(b->p, arena_fmt(b->a, "z_%s_%s", label[v], b->dev[s]));
        /* the rows z[u] >= x[u], z[u] >= z[v] and z[v] <= x[v] - x[u] + 1 (head of this file) */
        for (uint32_t u = 0; u < paths->n; u++) {
            uint32_t x = b->m->col[(size_t)merged_vertex(b, u) * b->k + s];
            add_at_most(b, arena_fmt(b->a, "in_%s_%s", label[u], b->dev[s]), x, z[u]);
            for_row (v, paths->succ, u) {
                add_at_most(b, arena_fmt(b->a, "path_%s_%u_%s", label[u], v, b->dev[s]), z[v],
                            z[u]);
                if (x == MIP_ZERO || merged_vertex(b, u) == merged_vertex(b, v))
                    continue; /* the last row would only say z[v] <= 1 */
                mip_row(b->p, arena_fmt(b->a, "gap_%s_%u_%s", label[u], v, b->dev[s]), -MIP_INF, 1);
                mip_term(b->p, z[v], 1);
                mip_term(b->p, b->m->col[(size_t)merged_vertex(b, v) * b->k + s], -1);
                mip_term(b->p, x, 1);
            }
        }
    }
}

/* ---- nets ------------------------------------------------------------------------------------- */

/* Appends the term cost * col to b->cut. */
static void push_cut(struct builder *b, uint32_t col, double cost)
{
    b->cut = vec_grow(b->a, b->cut, &b->capcut, b->ncut + 1, sizeof *b->cut);
    b->cut[b->ncut++] = (struct mip_term){col, cost};
}

/* Makes the columns and rows of net e in slot s, if it can cost something there; the terms of its cost go to b->cut. */
static void make_net(struct builder *b, uint32_t e, uint32_t s)
{
    const uint32_t *pin = b->g->net_pin.to, from = b->g->net_pin.at[e],
                   to = b->g->net_pin.at[e + 1];
    int64_t cost = b->g->net_cost[b->c->kind[b->m->kind[s]].cls][e];
    uint32_t here = 0, n = to - from;
    if (cost == 0 || n < 2)
        return;
    for (uint32_t i = from; i < to; i++)
        here += can_be(b, pin[i], s);
    if (here == 0)
        return;
    /* whether some pin is outside the slot in every plan */
    bool always_cut = b->g->net_host[e] || here < n;
    double by = in_time(b, cost);
    /* two pins: y is 1 if just one of them is in the slot */
    if (!always_cut && n == 2) {
        uint32_t y = mip_share(b->p, net_name(b, "net", e, s));
        for (int i = 0; i < 2; i++) {
            mip_row(b->p, net_name(b, i ? "out" : "in", e, s), 0, MIP_INF);
            mip_term(b->p, y, 1);
            add_x(b, pin[from + (i == 0)], s, -1);
            add_x(b, pin[from + (i == 1)], s, 1);
        }
        push_cut(b, y, by);
        return;
    }
    /* the cost is by * (hi - lo): hi is 1 if some pin is in the slot, lo if all pins are */
    uint32_t hi = mip_share(b->p, net_name(b, "net", e, s)),
             lo = always_cut ? MIP_ZERO : mip_share(b->p, net_name(b, "all", e, s));
    for (uint32_t i = from; i < to; i++)
        if (can_be(b, pin[i], s)) {
            add_comparison(b, arena_fmt(b->a, "%s_%u", net_name(b, "some", e, s), i - from), hi,
                           pin[i], s, /*above=*/true);
            if (!always_cut)
                add_comparison(b, arena_fmt(b->a, "%s_%u", net_name(b, "every", e, s), i - from),
                               lo, pin[i], s, /*above=*/false);
        }
    push_cut(b, hi, by);
    push_cut(b, lo, -by);
}

/* Makes the rows that say that the load of each slot, a plain sum, is at most T. */
static void make_loads(struct builder *b)
{
    for (uint32_t s = 0; s < b->k; s++) {
        const struct problem_kind *k = &b->c->kind[b->m->kind[s]];
        b->ncut = 0;
        for (uint32_t e = 0; e < b->g->nnet; e++)
            make_net(b, e, s);
        mip_row(b->p, arena_fmt(b->a, "load_%s", b->dev[s]), -MIP_INF, 0);
        for (uint32_t v = 0; v < b->n; v++)
            if (can_be(b, v, s))
                add_x(b, v, s, in_time(b, k->time[v]));
        for (uint32_t i = 0; i < b->ncut; i++)
            mip_term(b->p, b->cut[i].col, b->cut[i].by);
        mip_term(b->p, b->m->top, -1);
    }
}

/* ---- loads of overlapping transfers, or of passes apart -------------------------------------------- */

/* Appends the term by * col to a sum. */
static void sum_push(struct builder *b, struct sum *s, uint32_t col, double by)
{
    s->v = vec_grow(b->a, s->v, &s->cap, s->n + 1, sizeof *s->v);
    s->v[s->n++] = (struct mip_term){col, by};
}

/* Makes the column that is 1 if net e comes into slot s, or leaves it (leaves), with its rows, and adds its cost to
 * *sum.  The column is at least x[v, s] - x[from, s], or x[from, s] - x[v, s] (leaves), for the maker `from` and
 * each reader v of the net, where x is 0 for a vertex that cannot be in the slot.  Makes nothing if that costs
 * nothing or cannot happen. */
static void add_crossing(struct builder *b, struct sum *sum, uint32_t e, uint32_t s, bool leaves)
{
    const struct wdag *g = b->g;
    uint32_t from = g->net_src[e], col = UINT32_MAX;
    bool made_here = from < b->n && can_be(b, from, s);
    int64_t cost = b->c->cls[b->c->kind[b->m->kind[s]].cls].cost[e];
    if (cost == 0 || (leaves && !made_here))
        return;
    for (uint32_t i = g->net_pin.at[e]; i <= g->net_pin.at[e + 1]; i++) {
        bool host = i == g->net_pin.at[e + 1]; /* a reader on the host is never in the slot */
        uint32_t v = host ? UINT32_MAX : g->net_pin.to[i];
        /* skips pins that need no row: the maker; if the net comes in, readers that cannot be in the slot, and the
         * host; if it leaves, the host unless it has a pin */
        if (host ? !leaves || !g->net_host[e] : v == from || (!leaves && !can_be(b, v, s)))
            continue;
        if (col == UINT32_MAX)
            col = mip_share(b->p, net_name(b, leaves ? "sent" : "taken", e, s));
        mip_row(b->p, arena_fmt(b->a, "%s_%u", net_name(b, leaves ? "out" : "in", e, s), i), 0,
                MIP_INF);
        mip_term(b->p, col, 1);
        if (made_here)
            add_x(b, from, s, leaves ? -1 : 1);
        if (!host && can_be(b, v, s))
            add_x(b, v, s, leaves ? 1 : -1);
    }
    if (col != UINT32_MAX)
        sum_push(b, sum, col, in_time(b, cost));
}

/* Makes a column that is 1 if slot s holds a vertex; returns its number. */
static uint32_t add_used(struct builder *b, uint32_t s)
{
    uint32_t used = mip_share(b->p, arena_fmt(b->a, "used_%s", b->dev[s]));
    for (uint32_t v = 0; v < b->n; v++)
        if (can_be(b, v, s))
            add_comparison(b, arena_fmt(b->a, "uses_%s_%s", b->label[v], b->dev[s]), used, v, s,
                           /*above=*/true);
    return used;
}

/* Adds the row "top >= sum" for slot s.  top: the column of the pass; sum: of the slot's times in that pass, those for
 * which part[] is true (part[PART_COMPUTE], part[PART_IN], part[PART_OUT]). */
static void add_load(struct builder *b, uint32_t s, uint32_t pass, const bool part[PARTS])
{
    static const char *const name[] = {"compute", "in", "out"};
    const struct problem_kind *k = &b->c->kind[b->m->kind[s]];
    const struct sum *moved[] = {NULL, &b->in[pass], &b->out[pass]};
    bool start = part[PART_COMPUTE] && !b->c->pass_loads && b->c->start > 0;
    /* a part takes time to start if the slot holds anything */
    uint32_t used = start ? add_used(b, s) : MIP_ZERO;
    const char *what = "";
    for (uint32_t i = 0; i < PARTS; i++)
        what = part[i] ? arena_fmt(b->a, "%s_%s", what, name[i]) : what;
    mip_row(b->p, arena_fmt(b->a, "load%s_%s%s", what, b->dev[s], pass ? "_backward" : ""),
            -MIP_INF, 0);
    for (uint32_t v = 0; part[PART_COMPUTE] && v < b->n; v++) {
        if (!can_be(b, v, s))
            continue;
        int64_t back = b->c->pass_loads && k->back ? k->back[v] : 0;
        add_x(b, v, s, in_time(b, pass ? back : k->time[v] - back));
    }
    if (start)
        mip_term(b->p, used, in_time(b, b->c->start));
    for (uint32_t i = PART_IN; i < PARTS; i++)
        for (uint32_t t = 0; part[i] && t < moved[i]->n; t++)
            mip_term(b->p, moved[i]->v[t].col, moved[i]->v[t].by);
    mip_term(b->p, b->top[pass], -1);
}

/* Makes the rows of loads of a detailed problem (head of this file). */
static void make_detailed_loads(struct builder *b)
{
    /* [overlap][row][part]: the times that are added up in each row */
    static const bool rows[OVERLAPS][PARTS][PARTS] = {
        [OVERLAP_SUM] = {{true, true, true}},
        [OVERLAP_MAX] = {{true, false, false}, {false, true, true}},
        [OVERLAP_DUPLEX] = {{true, false, false}, {false, true, false}, {false, false, true}}};
    uint32_t passes = b->c->pass_loads ? 2 : 1;
    b->top[0] = b->m->top;
    if (b->c->pass_loads) {
        b->top[0] = mip_col(b->p, "TF", 0, MIP_INF, 0, /*integer=*/false);
        b->top[1] = mip_col(b->p, "TB", 0, MIP_INF, 0, /*integer=*/false);
        mip_row(b->p, "passes", -MIP_INF, 0);
        mip_term(b->p, b->top[0], 1);
        mip_term(b->p, b->top[1], 1);
        mip_term(b->p, b->m->top, -1);
    }
    for (uint32_t s = 0; s < b->k; s++) {
        for (uint32_t i = 0; i < passes; i++)
            b->in[i].n = b->out[i].n = 0;
        for (uint32_t e = 0; e < b->g->nnet; e++) {
            uint32_t pass = b->c->pass_loads && b->g->net_back && b->g->net_back[e];
            add_crossing(b, &b->in[pass], e, s, /*leaves=*/false);
            add_crossing(b, &b->out[pass], e, s, /*leaves=*/true);
        }
        /* a row without parts ends the list */
        const bool (*row)[PARTS] = rows[b->c->scene->model.overlap];
        for (uint32_t i = 0; i < passes; i++)
            for (uint32_t r = 0; r < PARTS && (row[r][0] || row[r][1] || row[r][2]); r++)
                add_load(b, s, i, row[r]);
    }
}

/* ---- memory ----------------------------------------------------------------------------------- */

/* Makes for each shared item a column that says whether slot s needs the item; the terms of its bytes go to b->cut. */
static void make_shared(struct builder *b, uint32_t s)
{
    const struct csr *by = &b->g->shared_by;
    for (uint32_t i = 0; i < b->g->nshared; i++) {
        uint32_t here = 0;
        for_row (x, *by, i)
            here += can_be(b, x, s);
        if (here == 0 || b->g->shared_size[i] == 0)
            continue;
        const char *name = arena_fmt(b->a, "shared_%u_%s", i, b->dev[s]);
        uint32_t u = mip_share(b->p, name);
        for_row (x, *by, i)
            if (can_be(b, x, s))
                add_comparison(b, arena_fmt(b->a, "%s_by_%u", name, x), u, x, s, /*above=*/true);
        push_cut(b, u, mip_byte_units(&b->bytes, b->g->shared_size[i]));
    }
}

/* Returns the memory of the device that has least. */
static int64_t least_room(const struct builder *b)
{
    int64_t least = LOAD_INF;
    for (uint32_t s = 0; s < b->k; s++) {
        int64_t room = b->c->kind[b->m->kind[s]].memory;
        least = smaller(room, least);
    }
    return least;
}

/* Ends the last row, whose terms are the bytes that slot s holds: bytes <= room.  Where the memory is minimised:
 * bytes <= M; but a device with more room than the smallest one may use its own room, whatever M is.  For such a
 * device a binary column says which of two rows must hold: bytes <= M (1) or bytes <= room (0).  all: bytes of the
 * graph, more than any row needs. */
static void end_memory(struct builder *b, uint32_t s, int64_t room, double all)
{
    double most = mip_room(&b->bytes, room);
    struct mip_row *row = &b->p->row[b->p->nrow - 1];
    if (!b->m->ask.memory) {
        row->hi += most;
        return;
    }
    uint32_t from = row->at, to = b->p->nterm;
    /* minus the bytes of the vertices that are sure to be in the slot: mip_term() has taken these bytes off the
     * limit */
    double shift = row->hi;
    if (room > least_room(b)) {
        uint32_t within_m = mip_bit(b->p, arena_fmt(b->a, "own_%s", b->dev[s]));
        mip_term(b->p, within_m, all);
        b->p->row[b->p->nrow - 1].hi += all;
        mip_term(b->p, b->m->top, -1);
        mip_row(b->p, arena_fmt(b->a, "room_%s", b->dev[s]), -MIP_INF, shift + most);
        for (uint32_t i = from; i < to; i++)
            mip_term(b->p, b->p->term[i].col, b->p->term[i].by);
        mip_term(b->p, within_m, -all);
    } else {
        mip_term(b->p, b->m->top, -1);
    }
}

/* Makes the rows of memory of all slots with a limit. */
static void make_memory(struct builder *b)
{
    double all = 0;
    b->bytes = mip_bytes_of(b->g, b->k + 1);
    b->m->bytes = b->bytes.unit;
    for (uint32_t v = 0; v < b->n; v++)
        all += mip_byte_units(&b->bytes, vertex_bytes(b->g, v));
    for (uint32_t s = 0; s < b->k; s++) {
        int64_t room = b->c->kind[b->m->kind[s]].memory;
        if (room == LOAD_INF)
            continue;
        b->ncut = 0;
        make_shared(b, s); /* makes rows of its own, so the row of memory begins behind them */
        mip_row(b->p, arena_fmt(b->a, "memory_%s", b->dev[s]), -MIP_INF, 0);
        for (uint32_t v = 0; v < b->n; v++)
            if (can_be(b, v, s) && b->g->size[v])
                add_x(b, v, s, mip_byte_units(&b->bytes, b->g->size[v]));
        for (uint32_t i = 0; i < b->ncut; i++)
            mip_term(b->p, b->cut[i].col, b->cut[i].by);
        end_memory(b, s, room, all);
    }
}

/* ---- the whole -------------------------------------------------------------------------------- */

/* Fills m->slot and m->kind: the device of each slot, and the device's kind. */
static void make_slots(struct builder *b)
{
    struct ip_model *m = b->m;
    m->slot = arena_array(b->a, (size_t)b->k + 1, sizeof *m->slot);
    m->kind = arena_alloc(b->a, (size_t)b->k + 1);
    for (uint32_t s = 0; s < b->k; s++) {
        m->slot[s] = m->ask.slot ? m->ask.slot[s] : s;
        m->kind[s] = (uint8_t)problem_kind_of(b->c, m->slot[s]);
    }
}

int64_t ip_grain(const struct problem *c)
{
    int64_t grain = c->detailed ? c->start : 0;
    for (uint32_t k = 0; k < c->nkind; k++) {
        for (uint32_t v = 0; v < c->g->n; v++) {
            if (c->kind[k].time[v] == COST_NEVER)
                continue;
            grain = mip_gcd(c->kind[k].time[v], grain);
            grain = c->pass_loads && c->kind[k].back ? mip_gcd(c->kind[k].back[v], grain) : grain;
        }
        for (uint32_t e = 0; e < c->g->nnet; e++)
            grain = mip_gcd(c->cls[c->kind[k].cls].cost[e], grain);
    }
    return grain ? grain : 1;
}

double ip_model_value(const struct ip_model *m, int64_t value)
{
    assert(m->unit > 0);
    return (double)value / (double)m->unit;
}

double ip_model_bytes(const struct ip_model *m, double memory)
{
    return memory * (double)m->bytes;
}

int ip_model_build(struct ip_model *m, const struct problem *c, const struct ip_ask *ask,
                   const char *planner, struct arena *a, struct diag *d)
{
    assert(!(c->detailed && c->scene->model.replicate) && ask->lower >= 0);
    static const char *const title[] = {"any sets", "convex sets", "a chain of devices"};
    *m = (struct ip_model){.c = c, .ask = *ask, .ndev = c->cluster->ndev};
    uint64_t pins = c->g->net_pin.at[c->g->nnet],
             n = c->g->n + pins + c->g->shared_by.at[c->g->nshared];
    const struct wdag *paths = ask->shape == IP_CONVEX && ask->paths.g ? ask->paths.g : c->g;
    if (ask->shape != IP_ANY)
        n += paths->n - c->g->n + paths->succ.at[paths->n];
    /* each vertex, pin and edge has about 8 terms for each device */
    if (n * m->ndev * 8 > MIP_MOST_TERMS)
        return diag_error(
            d,
            "%s: %u nodes with %llu uses of tensors on %u devices are too many for an integer "
            "program: fuse the graph first (-p fuse,%s)",
            planner, c->g->n, (unsigned long long)pins, m->ndev, planner);
    struct builder b = {.m = m, .c = c, .g = c->g, .a = a, .n = c->g->n, .k = m->ndev};
    b.p = m->mip = mip_new(a);
    m->col = arena_array(a, (size_t)b.n * b.k + 1, sizeof *m->col);
    m->unit = mip_time_unit(ask->limit < LOAD_INF ? ask->limit : c->lower.value);
    make_slots(&b);
    name_vertices(&b);
    double least = ask->memory ? 0 : ip_model_value(m, ask->lower), limit = MIP_INF;
    if (ask->limit < LOAD_INF)
        limit = ip_model_value(m, ask->limit) * (1 + TOLERANCE);
    b.p->impossible = limit < least;
    m->top = mip_col(b.p, ask->memory ? "M" : "T", least, limit, 1, /*integer=*/false);
    if (ask->shape == IP_CHAIN)
        make_w(&b);
    else
        make_x(&b);
    if (ask->shape == IP_CONVEX)
        make_z(&b);
    if (!ask->memory && c->detailed)
        make_detailed_loads(&b);
    else if (!ask->memory)
        make_loads(&b);
    if (c->limited || ask->memory)
        make_memory(&b);
    mip_finish(b.p);
    b.p->title = arena_fmt(a, "%u nodes on %u devices, %s; T in %s%s", b.n, b.k, title[ask->shape],
                           mip_time_unit_name(m->unit),
                           m->bytes ? arena_fmt(a, ", memory in %" PRId64 " B", m->bytes) : "");
    return 0;
}

bool ip_model_decode(const struct ip_model *m, const double *x, int32_t *dev)
{
    /* in a chain the first slot whose column w is 1 holds the vertex */
    bool chain = m->ask.shape == IP_CHAIN;
    for (uint32_t v = 0; v < m->c->g->n; v++) {
        uint32_t found = 0; /* number of columns of the vertex that are 1 */
        for (uint32_t s = 0; s < m->ndev; s++) {
            uint32_t col = m->col[(size_t)v * m->ndev + s];
            bool is = col == MIP_ONE || (col != MIP_ZERO && x[col] > 0.5);
            if (is && !(chain && found))
                dev[v] = (int32_t)m->slot[s];
            found += is;
        }
        if (chain ? found == 0 : found != 1)
            return false;
    }
    return true;
}
