/* Orders whose prefixes are minimum cuts (cut_order.h).
 *
 * Idea: take a long path of the graph (long_path.h).  Each ideal holds the first k vertices of the path, for some k.
 * Among the ideals with the same k, take the one whose crossing nets cost least: it is a minimum cut between the
 * vertices that must be in the ideal and the vertices that cannot be in it.  For growing k these ideals grow, too (of
 * all minimum cuts the one with the smallest source side is taken).  So some topological order has all of them as
 * prefixes; between two of them the order is free.  In such an order interval DP (interval_dp.h) finds cheap places to
 * end a device at, even in graphs where in every other order some branch would cross.
 *
 * The flow network of a cut holds only the open vertices.  A vertex is open if it may be on either side, and edges
 * among such vertices connect it with a vertex that cannot be in the ideal.  The other vertices that may be on either
 * side go into the ideal.
 *
 * The orders of a series differ in the path, in the order of the vertices between two cuts, and in a random price for
 * each unit of a vertex's weight: a positive price makes the ideals a little larger, a negative one smaller.
 *
 * Cost: O(V + E) and a maximum flow among the open vertices for each cut. */
#include "passes/contiguous/cut_order.h"

#include "ir/base/random.h"
#include "ir/base/max_flow.h"
#include "passes/bounds/long_path.h"
#include "ir/dag/topo_order.h"

#include <assert.h>

enum {
    PRICE_UNIT = 1024, /* the integer that stands for a price of 1 */
    PRICE_CAP = 256,   /* the largest price */
    /* a price makes all weights together cost at most 1 / PRICE_SHARE of what all transfers cost (pick_price) */
    PRICE_SHARE = 4
};

/* The order that is being made: its graph, its path, and the ranks that its cuts give to the vertices. */
struct cutter {
    const struct problem *c;
    struct long_path path;
    const int64_t *cost; /* [net] ps, on the class whose devices pay most for transfers */
    /* price for a unit of weight, in 1 / PRICE_UNIT; above 0: the ideals get more vertices */
    int64_t price;
    uint32_t *id;          /* [vertex] 1 + index in `open`; 0: the vertex is not open */
    uint32_t *open, nopen; /* the open vertices of the present cut; their number */
    /* [vertex] number of the first cut whose ideal has the vertex; path.len: no cut's ideal has it */
    uint32_t *rank;
    uint64_t *looks; /* counts the work: cut_orders.looks */
    struct arena *a;
};

/* Returns whether vertex v may be on either side of cut k: an ideal with exactly the first k path vertices may hold v
 * or not. */
static bool is_between(const struct cutter *x, uint32_t v, uint32_t k)
{
    return x->path.hi[v] > k && x->path.lo[v] <= k;
}

/* Makes v an open vertex, unless v is open already or cut k leaves no choice for v. */
static void open_vertex(struct cutter *x, uint32_t v, uint32_t k)
{
    if (x->id[v] || !is_between(x, v, k))
        return;
    x->open[x->nopen++] = v;
    x->id[v] = x->nopen;
}

/* Lists the open vertices of cut k: starts with the predecessors of the vertices that cannot be in the ideal, and
 * goes on to the neighbours of open vertices.  O(V + E). */
static void list_open_vertices(struct cutter *x, uint32_t k)
{
    const struct wdag *g = x->c->g;
    for (uint32_t v = 0; v < g->n; v++) {
        if (x->path.lo[v] <= k)
            continue; /* v can be in the ideal */
        for_row (u, g->pred, v)
            open_vertex(x, u, k);
    }
    for (uint32_t j = 0; j < x->nopen; j++) { /* the list grows while it is read */
        uint32_t v = x->open[j];
        for_row (u, g->pred, v)
            open_vertex(x, u, k);
        for_row (w, g->succ, v)
            open_vertex(x, w, k);
        *x->looks += 2 + g->pred.at[v + 1] - g->pred.at[v] + g->succ.at[v + 1] - g->succ.at[v];
    }
    *x->looks += g->n / 4;
}

/* Returns v's node in network f of cut k: v's own node if v is open, the sink if v cannot be in the ideal, else the
 * source (v is in the ideal). */
static uint32_t node_of(const struct cutter *x, const struct flow *f, uint32_t v, uint32_t k)
{
    uint32_t source = f->nnode - 2, sink = f->nnode - 1;
    if (x->id[v])
        return x->id[v] - 1;
    return x->path.lo[v] > k ? sink : source;
}

/* Adds net e to network f of cut k.  The cut pays twice the net's cost, for the sender and for the receiver, if the
 * vertex that produces the net's value is in the ideal and another pin is not.  Adds nothing if the net costs nothing,
 * or if no vertex, or one that cannot be in the ideal, produces the value.  *hub: number of the next unused node,
 * which the net gets. */
static void add_net(struct cutter *x, struct flow *f, uint32_t e, uint32_t k, uint32_t *hub)
{
    const struct wdag *g = x->c->g;
    uint32_t src = g->net_src[e], own = *hub, source = f->nnode - 2;
    if (src == UINT32_MAX || x->cost[e] <= 0 || x->path.lo[src] > k)
        return;
    ++*hub;
    flow_arc(f, node_of(x, f, src, k), own, 2 * x->cost[e]);
    for_row (pin, g->net_pin, e) {
        uint32_t u = node_of(x, f, pin, k);
        if (pin != src && u != source) /* an arc to the source is never cut */
            flow_arc(f, own, u, FLOW_INF);
    }
}

/* Returns the flow network of cut k.  Its nodes: the open vertices, a node for each net, the source and the sink. */
static struct flow make_network(struct cutter *x, uint32_t k)
{
    const struct wdag *g = x->c->g;
    /* at least the numbers of nodes for nets, and of arcs, that are added below */
    uint32_t nets = 0, arcs = x->nopen;
    for (uint32_t j = 0; j < x->nopen; j++) {
        uint32_t v = x->open[j];
        arcs += g->pred.at[v + 1] - g->pred.at[v];
        nets += g->net_of.at[v + 1] - g->net_of.at[v];
        for_row (y, g->net_of, v)
            arcs += 1 + g->net_pin.at[y + 1] - g->net_pin.at[y];
    }
    struct flow f = flow_new(x->nopen + nets + 2, arcs, x->a);
    /* s, t: source and sink; hub: the next node for a net */
    uint32_t s = f.nnode - 2, t = f.nnode - 1, hub = x->nopen;
    for (uint32_t j = 0; j < x->nopen; j++) {
        uint32_t v = x->open[j];
        /* what the cut pays if v is outside the ideal (toll > 0) or inside (toll < 0) */
        int64_t toll = (int64_t)((__int128)x->c->pot[0].w[v] * x->price / PRICE_UNIT);
        if (toll > 0)
            flow_arc(&f, s, j, toll);
        else if (toll < 0)
            flow_arc(&f, j, t, -toll);
        for_row (u, g->pred, v) /* the ideal of v has all predecessors of v */
            if (x->id[u])
                flow_arc(&f, j, x->id[u] - 1, FLOW_INF);
        for_row (e, g->net_of, v) {
            uint32_t first = 0;
            while (!x->id[g->net_pin.to[g->net_pin.at[e] + first]])
                first++;
            /* adds each net once: when v is the first of its open pins */
            if (g->net_pin.to[g->net_pin.at[e] + first] == v)
                add_net(x, &f, e, k, &hub);
        }
    }
    return f;
}

/* Finds the minimum cut k, 1 <= k < path.len, and sets the rank of all vertices that it adds to the ideal. */
static void cut_behind(struct cutter *x, uint32_t k)
{
    assert(k > 0 && k < x->path.len);
    struct arena_mark mark = arena_mark(x->a);
    uint64_t work = UINT64_MAX; /* no limit: flow_max() takes its looks at arcs off */
    list_open_vertices(x, k);
    struct flow f = make_network(x, k);
    flow_max(&f, f.nnode - 2, f.nnode - 1, &work);
    *x->looks += UINT64_MAX - work;
    const uint8_t *in = flow_side(&f, f.nnode - 2);
    for (uint32_t v = 0; v < x->c->g->n; v++)
        if (x->rank[v] > k && in[node_of(x, &f, v, k)])
            x->rank[v] = k;
    for (uint32_t j = 0; j < x->nopen; j++)
        x->id[x->open[j]] = 0;
    x->nopen = 0;
    arena_release(x->a, mark);
}

/* Returns the vertices of the topological order `by`, sorted by rank; vertices of equal rank keep their order.
 * O(V). */
static uint32_t *sort_by_rank(const struct cutter *x, const uint32_t *by)
{
    uint32_t n = x->c->g->n, *order = arena_array(x->a, (size_t)n + 1, sizeof *order),
             *at = arena_array(x->a, (size_t)x->path.len + 3, sizeof *at);
    for (uint32_t v = 0; v < n; v++) {
        assert(x->rank[v] <= x->path.len);
        at[x->rank[v] + 1]++;
    }
    for (uint32_t k = 0; k <= x->path.len; k++)
        at[k + 1] += at[k];
    for (uint32_t i = 0; i < n; i++)
        order[at[x->rank[by[i]]]++] = by[i];
    return order;
}

/* Returns an array: [net] its cost, ps, on the class whose devices pay most for all nets together. */
static const int64_t *dearest_costs(const struct problem *c)
{
    const int64_t *most = c->cls[c->kind[0].cls].cost;
    for (uint32_t k = 1; k < c->nkind; k++) {
        const int64_t *cost = c->cls[c->kind[k].cls].cost;
        int64_t x = 0, y = 0;
        for (uint32_t e = 0; e < c->g->nnet; e++) {
            x = sat_add(x, cost[e]);
            y = sat_add(y, most[e]);
        }
        most = x > y ? cost : most;
    }
    return most;
}

/* Returns a random price of either sign, in 1 / PRICE_UNIT: all weights together cost 1/4, 1/8, ... or 1/256 of all
 * transfers, and the price is at most PRICE_CAP. */
static int64_t pick_price(const struct cutter *x, uint64_t *seed)
{
    int64_t all = 0;
    for (uint32_t e = 0; e < x->c->g->nnet; e++)
        all = sat_add(all, x->cost[e]);
    int64_t part = PRICE_SHARE << random_below(seed, 7), sign = random_below(seed, 2) ? 1 : -1;
    __int128 price = (__int128)all * PRICE_UNIT / (x->c->pot[0].total + 1) / part;
    return sign * (price < PRICE_UNIT * PRICE_CAP ? (int64_t)price : PRICE_UNIT * PRICE_CAP);
}

uint32_t *cut_order_next(const struct problem *c, struct cut_orders *o, struct arena *a)
{
    static const enum topo_kind kinds[] = {TOPO_FIFO, TOPO_THIN, TOPO_LIFO, TOPO_LATE, TOPO_RANDOM};
    uint64_t seed = o->seed + o->tried;
    uint32_t n = c->g->n, turn = o->tried++;
    /* the first order of a series is made without random choices: seeds of 0, price 0 */
    bool first = turn == 0;
    uint64_t path = first ? 0 : random_bits(&seed) | 1, ties = first ? 0 : random_bits(&seed);
    struct cutter x = {.c = c,
                       .path = long_path_of(c, path, CUT_ORDER_CUTS, a),
                       .cost = dearest_costs(c),
                       .id = arena_array(a, (size_t)n + 1, sizeof *x.id),
                       .open = arena_array(a, (size_t)n + 1, sizeof *x.open),
                       .rank = arena_array(a, (size_t)n + 1, sizeof *x.rank),
                       .looks = &o->looks,
                       .a = a};
    x.price = first ? 0 : pick_price(&x, &seed);
    for (uint32_t v = 0; v < n; v++)
        x.rank[v] = x.path.len;
    for (uint32_t k = 1; k < x.path.len; k++)
        cut_behind(&x, k);
    o->looks += n;
    enum topo_kind kind = kinds[turn % (sizeof kinds / sizeof *kinds)];
    return sort_by_rank(&x, topo_order(c->g, kind, ties, a));
}
