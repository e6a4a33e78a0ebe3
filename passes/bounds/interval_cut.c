/* Finds what a device of a contiguous plan can hold if its interval of a path is given (interval_cut.h).
 *
 * Idea: the largest m w(S) - p(S) over the sets S that a device with the interval can hold is a minimum cut between the
 * vertices that must be inside and those that must be outside (project selection; Picard, Management Science 22
 * (1976)).  Vertices that may be inside or outside have a node in the network; add_precedence() says which arcs stand
 * for edges.  Any flow gives an upper limit of the gain, so the search for the largest flow can be stopped at any time.
 *
 * Cost: O(V + E + pins) and a maximum flow. */
#include "passes/bounds/interval_cut.h"

#include "ir/base/max_flow.h"

/* Returns on which side vertex v is for a device with interval d, by the interval and q->forced. */
static enum side side_of(const struct interval_cut *q, uint32_t v, struct interval d)
{
    enum side side = interval_side(q->path, v, d);
    return side == EITHER && q->forced ? q->forced[v] : side;
}

/* Adds arcs for the edges u -> v into v.  A vertex outside the set is on a device before or behind the device with
 * interval d.  If neither u nor v can be behind it: a set with u must have v (else v would be before u).  If neither
 * can be before it: a set with v must have u. */
static void add_precedence(const struct interval_cut *q, struct flow *f, uint32_t v,
                           struct interval d)
{
    const struct wdag *g = q->c->g;
    const struct long_path *p = q->path;
    for_row (u, g->pred, v) {
        if (side_of(q, u, d) != EITHER)
            continue;
        if (p->hi[u] <= d.j && p->hi[v] <= d.j)
            flow_arc(f, q->id[u], q->id[v], FLOW_INF);
        if (p->lo[u] > d.i && p->lo[v] > d.i)
            flow_arc(f, q->id[v], q->id[u], FLOW_INF);
    }
}

/* Adds arcs such that a cut with pins of net e on both sides costs `price`.  If every cut has pins of e on both sides,
 * adds nothing and returns true.  *hub: number of the next free node; raised by the nodes used. */
static bool add_net(const struct interval_cut *q, struct flow *f, uint32_t e, int64_t price,
                    struct interval d, uint32_t *hub)
{
    const struct wdag *g = q->c->g;
    /* some[side]: number of the net's pins there; a pin on the host is outside */
    uint32_t some[3] = {[OUTSIDE] = g->net_host[e]}, s = f->nnode - 2, t = f->nnode - 1;
    for_row (pin, g->net_pin, e)
        some[side_of(q, pin, d)]++;
    if (some[INSIDE] && some[OUTSIDE])
        return true;
    if (!some[EITHER]) /* all pins are on the same side */
        return false;
    /* the arc in -> out is cut if a pin is inside and another one outside */
    uint32_t in = some[INSIDE] ? s : (*hub)++, out = some[OUTSIDE] ? t : (*hub)++;
    flow_arc(f, in, out, price);
    for_row (v, g->net_pin, e) {
        if (side_of(q, v, d) != EITHER)
            continue;
        if (in != s)
            flow_arc(f, q->id[v], in, FLOW_INF);
        if (out != t)
            flow_arc(f, out, q->id[v], FLOW_INF);
    }
    return false;
}

/* Makes a node q->id[v] for each vertex v that is EITHER (vertices on the source's side of the cut are in the set).  If
 * m > 0, the node has an arc from the source with m / LINE_ONE of v's weight, which is cut if v is outside; if m < 0,
 * an arc to the sink with -m / LINE_ONE of the weight, which is cut if v is inside.  Adds arcs for precedence between
 * these nodes.  Adds the weight of INSIDE vertices to l->weight and, if m > 0, the capacities of the source's arcs to
 * l->gain.  Returns the number of nodes. */
static uint32_t add_vertices(const struct interval_cut *q, struct flow *f, struct interval d,
                             struct line *l)
{
    int32_t m = l->m;
    uint32_t n = 0, s = f->nnode - 2, t = f->nnode - 1;
    for (uint32_t v = 0; v < q->c->g->n; v++) {
        enum side side = side_of(q, v, d);
        int64_t w = q->w[v];
        l->weight += side == INSIDE ? w : 0;
        if (side != EITHER)
            continue;
        q->id[v] = n++;
        if (m > 0) {
            w = (int64_t)(((__int128)w * m + LINE_ONE - 1) / LINE_ONE);
            l->gain += w;
            flow_arc(f, s, q->id[v], w);
        } else if (m < 0) {
            flow_arc(f, q->id[v], t, (int64_t)((__int128)w * -m / LINE_ONE));
        }
    }
    for (uint32_t v = 0; v < q->c->g->n; v++)
        if (side_of(q, v, d) == EITHER)
            add_precedence(q, f, v, d);
    return n;
}

struct line interval_cut(const struct interval_cut *q, struct interval d, int32_t m)
{
    const struct wdag *g = q->c->g;
    struct arena_mark mark = arena_mark(q->a);
    uint32_t arcs = g->n + 2 * g->pred.at[g->n] + g->nnet + 2 * g->net_pin.at[g->nnet];
    struct flow f = flow_new(g->n + 2 * g->nnet + 2, arcs, q->a);
    struct line l = {.m = m};
    /* number of the next node: the nodes of nets come behind the nodes of vertices */
    uint32_t hub = add_vertices(q, &f, d, &l);
    /* rounded up, so that the inequality of the line holds */
    l.gain += (int64_t)(((__int128)l.weight * m + (m > 0 ? LINE_ONE - 1 : 0)) / LINE_ONE);
    for (uint32_t e = 0; e < g->nnet; e++) {
        int64_t price = problem_scaled(q->cost[e], q->scale);
        if (price && g->net_pin.at[e + 1] - g->net_pin.at[e] > 1 &&
            (e == q->paid || add_net(q, &f, e, price, d, &hub)))
            l.gain -= price;
    }
    l.gain -= flow_max(&f, f.nnode - 2, f.nnode - 1, q->work);
    const uint8_t *in = flow_side(&f, f.nnode - 2);
    for (uint32_t v = 0; v < g->n; v++)
        if (side_of(q, v, d) == EITHER && in[q->id[v]])
            l.weight += q->w[v];
    uint64_t looks = (uint64_t)g->n + g->net_pin.at[g->nnet];
    *q->work -= smaller_u64(looks, *q->work);
    arena_release(q->a, mark);
    return l;
}
