/* Finds lower bounds by what is sent from a device and all devices before it to later devices (crossing_bound.h).
 *
 * Idea: take a vertex v and a plan with loads of at most T.  Let I be the ideal of all vertices on v's device and on
 * the devices before it.  Descendants of v are never on a device before v's, so the descendants in I are on v's device
 * and weigh at most T.  Each net that crosses I, with pins in I and others outside, is paid by two devices at least; of
 * a net with a pin on the host, W counts one payment already, and one more comes.  Hence, with D devices, weights w,
 * the total W and prices p,
 *   D T  >=  W + p(I),   w(I) <= T,
 * where p(I) is the sum of these payments (twice the price of a net; once, if it has a pin on the host), and w(I) the
 * weight of v and its descendants in I, plus the prices of the nets from them out of I.  Adding mu times the second
 * line to the first gives, for every multiplier mu >= 0,
 *   (D + mu) T  >=  W + min over ideals I with v of (p(I) + mu w(I)).
 * The minimum is a minimum cut: a vertex in I needs its predecessors in I; a net with its source in I and some reader
 * outside costs its price.  Any flow is a lower bound of the minimum cut, so the search for a flow can be stopped at
 * any time.  The same holds with all edges reversed.  Potential 0 of problem.h gives the weights, so that the loads of
 * devices of several kinds can be added up.
 *
 * Training graphs need this bound: the forward half keeps values for the backward half; these must be sent if the
 * backward half does not fit on the device of the loss.
 *
 * Vertices tried as v: some along a longest path, then some near the best of these.  Cost: the work allowed. */
#include "passes/bounds/crossing_bound.h"

#include "ir/base/max_flow.h"
#include "passes/bounds/long_path.h"

#include <assert.h>

enum {
    FIRST_STEPS = 8, /* number of vertices of the path that are tried first, about */
    /* the steps along the path are halved until they are 1 / LAST_SHARE of its length */
    LAST_SHARE = 128,
    FIRST_M = CUT_UNIT / 4 /* multiplier m tried first, in 1 / CUT_UNIT */
};

/* Returns the network whose minimum cut cut_flow() returns, in a; the parameters are those of cut_flow().  Its nodes
 * are the vertices, then the nets, then the sink; v is the source.  Each descendant (up: ancestor) of v has an arc of m
 * / CUT_UNIT of its weight to the sink. */
static struct flow make_network(const struct problem *c, uint32_t v, bool up, uint32_t m,
                                struct arena *a)
{
    const struct wdag *g = c->g;
    const struct problem_pot *p = &c->pot[0];
    const struct csr *next = up ? &g->pred : &g->succ, *needs = up ? &g->succ : &g->pred;
    uint32_t most = g->n + g->succ.at[g->n] + g->nnet + g->net_pin.at[g->nnet];
    struct flow f = flow_new(g->n + g->nnet + 1, most, a);
    uint32_t sink = g->n + g->nnet;
    /* [vertex of g] 1: v, or a descendant (up: ancestor) of v */
    uint8_t *beyond = arena_alloc(a, (size_t)g->n + 1);
    beyond[v] = 1;
    for (uint32_t k = 0; k < g->n; k++) {
        uint32_t u = up ? g->n - 1 - k : k;
        for_row (x, *needs, u) /* I has what u needs if it has u */
            flow_arc(&f, u, x, FLOW_INF);
        if (!beyond[u])
            continue;
        for_row (x, *next, u)
            beyond[x] = 1;
        int64_t w = (int64_t)((__int128)p->w[u] * m / CUT_UNIT);
        if (w)
            flow_arc(&f, u, sink, w);
    }
    /* a net has an arc from its source to the net's node, and arcs from there to its readers; up: the reverse arcs */
    for (uint32_t e = 0; e < g->nnet; e++) {
        uint32_t src = g->net_src[e], z = g->n + e;
        int64_t price = (g->net_host[e] ? 1 : 2) * p->net[e];
        if (src == UINT32_MAX || price == 0)
            continue;
        if (!up && beyond[src]) /* m times the price, too: w(I) counts the net */
            price += (int64_t)((__int128)p->net[e] * m / CUT_UNIT);
        flow_arc(&f, up ? z : src, up ? src : z, price);
        for_row (pin, g->net_pin, e)
            if (pin != src)
                flow_arc(&f, up ? pin : z, up ? z : pin, FLOW_INF);
    }
    return f;
}

int64_t cut_flow(const struct problem *c, uint32_t v, bool up, uint32_t m, uint64_t *work,
                 struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct flow f = make_network(c, v, up, m, scratch);
    int64_t cut = flow_max(&f, v, c->g->n + c->g->nnet, work);
    arena_release(scratch, mark);
    return cut;
}

int64_t cut_bound_at(const struct problem *c, uint32_t v, bool up, uint32_t m, uint64_t *work,
                     struct arena *scratch)
{
    assert(v < c->g->n && m <= CUT_MOST);
    const struct problem_pot *p = &c->pot[0];
    int64_t most = 0;
    __int128 devices = 0, whole = (__int128)p->total + cut_flow(c, v, up, m, work, scratch);
    for (uint32_t k = 0; k < c->nkind; k++) {
        devices += (__int128)c->kind[k].count * p->scale[k];
        most = larger(p->scale[k], most);
    }
    /* both sides of (D + mu) T >= W + F (head of this file) times CUT_UNIT and 2^SCALE_BITS */
    devices = devices * CUT_UNIT + (__int128)most * m;
    whole *= (int64_t)CUT_UNIT << SCALE_BITS;
    return devices ? (int64_t)((whole + devices - 1) / devices) : 0;
}

/* A bound, ps, and the parameters of cut_bound_at() that give it: vertex number `at` of the path, from 0; m; up. */
struct best {
    int64_t bound;
    uint32_t at, m;
    bool up;
};

/* Works out the bound for the parameters in `try`; if it is higher than best->bound, writes it with these to *best. */
static void try_at(const struct problem *c, const uint32_t *path, struct best try, uint64_t *work,
                   struct best *best, struct arena *a)
{
    try.bound = cut_bound_at(c, path[try.at], try.up, try.m, work, a);
    if (try.bound > best->bound)
        *best = try;
}

struct bound cut_bound(const struct problem *c, uint64_t work, struct clock *clock,
                       struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct long_path p = long_path_of(c, 0, c->g->n, scratch);
    uint32_t *path = p.vertex + 1, n = p.len;
    /* distances of the next tries from the best so far: along the path, and of the multipliers.  There are at most four
     * rounds, so all dm together are less than FIRST_M, and no multiplier gets below 0. */
    uint32_t step = n / FIRST_STEPS + 1, dm = FIRST_M / 2;
    struct best best = {.m = FIRST_M};
    for (uint32_t at = step / 2; at < n && work && !clock_out(clock); at += step)
        for (int up = 0; up < 2; up++)
            try_at(c, path, (struct best){.at = at, .m = FIRST_M, .up = up}, &work, &best, scratch);
    /* tries smaller and smaller steps from the best so far: other multipliers, and vertices before and behind */
    for (step /= 2; work && step > n / LAST_SHARE && !clock_out(clock);
         step /= 2, dm = (dm + 1) / 2) {
        struct best less = best, more = best;
        less.m -= dm;
        more.m += dm;
        try_at(c, path, less, &work, &best, scratch);
        try_at(c, path, more, &work, &best, scratch);
        struct best before = best, behind = best;
        before.at -= step;
        behind.at += step;
        if (best.at >= step)
            try_at(c, path, before, &work, &best, scratch);
        if (behind.at < n)
            try_at(c, path, behind, &work, &best, scratch);
    }
    struct bound b = {
        .value = best.bound,
        .why = "least that must cross the end of a device",
        .by = {.by = LOWER_CUT, .at = n ? path[best.at] : 0, .m = best.m, .up = best.up}};
    arena_release(scratch, mark);
    return b;
}
