/* Checks the rules that plans must keep for every objective (plan.h): each node is on a device that can run it,
 * memory suffices, colocated nodes are together.  Also finds out whether a plan is contiguous.
 *
 * Memory of a device = bytes that its nodes produce + bytes of each weight that they read, once. A plan is contiguous
 * if the graph of its devices (an edge from the device of a producer to the device of a reader) has no cycle: in a
 * topological order of it the devices take the differences of a chain of ideals. In a training graph, edges of the
 * backward pass are reversed for this check, since that pass goes back through the row of devices (SCOPE_CONTIGUOUS);
 * besides, the backward edges alone must have no cycle. In workloads, by the placement paper's rule, a backward edge is
 * reversed and counted beside the forward edges only if one of its two nodes has a colour without forward nodes.
 * O(nodes + pins + D). */
#include "ir/plan/verdict_state.h"

#include "ir/base/units.h"

#include <assert.h>

/* Returns the name of a device; "nowhere" for -1. */
static const char *device_name(const struct verdict_state *j, int32_t d)
{
    return d < 0 ? "nowhere" : cluster_device_name(j->c, j->a, (uint32_t)d);
}

/* Counts each placed node and its bytes in the load of its device; clears v->runnable, and sets why_not, if a node
 * has no device or cannot run there. */
static void check_nodes(struct verdict_state *j)
{
    const struct graph *g = &j->m->graph[1];
    const struct costs *k = j->m->cost;
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (j->p->kind[n] != PLACE_NODE)
            continue;
        if (j->dev[n] < 0 || (uint32_t)j->dev[n] >= j->c->ndev) {
            if (j->v->runnable)
                j->v->why_not = arena_fmt(j->a, "node '%s' has no device", node_name(j->m, n));
            j->v->runnable = false;
            continue;
        }
        struct device_load *l = &j->v->load[j->dev[n]];
        bool never = k->time[cluster_class(j->c, (uint32_t)j->dev[n])][n] == COST_NEVER;
        if (never && j->v->runnable) {
            j->v->runnable = false;
            j->v->why_not = arena_fmt(j->a, "node '%s' cannot run on %s", node_name(j->m, n),
                                      device_name(j, j->dev[n]));
        }
        l->nodes++;
        l->used = sat_add(l->used, k->own[n]);
        if (j->m->ir_version == 0) /* a profile, without initializers */
            l->params = sat_add(l->params, costs_params(k, n));
    }
}

uint32_t plan_devices(const struct verdict_state *j, const struct csr *c, uint32_t row,
                      uint32_t *list, uint8_t *in)
{
    uint32_t n = 0;
    for_row (x, *c, row) {
        int32_t d = j->dev[x];
        if (d < 0 || (uint32_t)d >= j->c->ndev || in[d])
            continue;
        in[d] = 1;
        list[n++] = (uint32_t)d;
    }
    for (uint32_t i = 0; i < n; i++)
        in[list[i]] = 0; /* the caller's array is all 0 again */
    return n;
}

/* A graph of devices: an edge a -> b means that device b must come after device a.  Edges may be repeated. */
struct device_graph {
    uint32_t *first; /* [device] 1 + index of the device's first edge; 0: none */
    uint32_t *after; /* [device] number of edges that lead to the device */
    struct device_edge {
        uint32_t to, next; /* device b; 1 + index of the next edge from the same device, 0: none */
    } *edge;
    uint32_t n; /* number of edges */
};

/* Returns a graph without edges that can hold an edge for each pin. */
static struct device_graph device_graph_new(const struct scene *s, struct arena *a)
{
    uint32_t nd = s->cluster->ndev, most = s->place->net_pin.at[s->place->nnet];
    struct device_graph c = {.first = arena_array(a, (size_t)nd + 1, sizeof *c.first),
                             .after = arena_array(a, (size_t)nd + 1, sizeof *c.after),
                             .edge = arena_array(a, (size_t)most + 1, sizeof *c.edge)};
    return c;
}

/* Adds the edge from device `before` to device `after`. */
static void add_edge(struct device_graph *c, uint32_t before, uint32_t after)
{
    c->edge[c->n] = (struct device_edge){after, c->first[before]};
    c->first[before] = ++c->n;
    c->after[after]++;
}

/* The graphs that must have no cycle if the plan is contiguous. */
struct device_graphs {
    /* edges of the forward pass, and reversed edges of the backward pass */
    struct device_graph row;
    struct device_graph back; /* edges of the backward pass; empty if the model does not train */
    /* [colour] 1: some node of the colour is of the forward pass; NULL: `row` has the reverses of all backward edges */
    uint8_t *has_forward;
};

/* Returns graphs without edges; fills in has_forward for workloads. */
static struct device_graphs device_graphs_new(const struct scene *s, struct arena *a)
{
    const struct module *m = s->m;
    const struct graph *g = &m->graph[1];
    struct device_graphs o = {.row = device_graph_new(s, a)};
    if (!m->backward)
        return o;
    o.back = device_graph_new(s, a);
    if (m->ir_version != 0 || !m->color)
        return o;
    o.has_forward = arena_alloc(a, (size_t)module_most_color(m) + 1);
    for (nid n = g->first; n < g->first + g->count; n++)
        o.has_forward[m->color[n]] |= m->color[n] && !m->backward[n];
    return o;
}

/* Adds edges from the device of node `from`, which makes the net's value, to each other device that reads the value in
 * the same pass. */
static void add_net_edges(const struct verdict_state *j, uint32_t net, nid from,
                          struct device_graphs *o)
{
    assert(j->dev[from] >= 0 && (uint32_t)j->dev[from] < j->c->ndev);
    const uint8_t *backward = j->m->backward;
    bool back = backward && backward[from];
    const uint32_t *color = j->m->color;
    uint32_t of = (uint32_t)j->dev[from];
    for_row (to, j->p->net_pin, net) {
        int32_t d = j->dev[to];
        if (d < 0 || (uint32_t)d >= j->c->ndev || d == j->dev[from] ||
            back != (backward && backward[to]))
            continue;
        if (!back) {
            add_edge(&o->row, of, (uint32_t)d);
            continue;
        }
        add_edge(&o->back, of, (uint32_t)d);
        /* in the row of devices the edge is reversed; a workload needs no such edge between two colours that have
         * forward nodes, whose edges tell the order of the devices */
        if (!o->has_forward || !o->has_forward[color[from]] || !o->has_forward[color[to]])
            add_edge(&o->row, (uint32_t)d, of);
    }
}

/* Adds the edges of all nets, and adds the bytes of each weight to each device that reads it. */
static void add_edges_and_weights(struct verdict_state *j, struct device_graphs *o)
{
    uint32_t nd = j->c->ndev, *list = arena_array(j->a, (size_t)nd + 1, sizeof *list);
    uint8_t *in = arena_alloc(j->a, (size_t)nd + 1);
    for (uint32_t e = 0; e < j->p->nnet; e++) {
        nid def = j->m->value[j->p->net_value[e]].def;
        if (def && j->p->kind[def] == PLACE_NODE && j->dev[def] >= 0 && (uint32_t)j->dev[def] < nd)
            add_net_edges(j, e, def, o);
    }
    for (uint32_t w = 0; w < j->p->nweight; w++) {
        uint32_t n = plan_devices(j, &j->p->weight_user, w, list, in);
        for (uint32_t i = 0; i < n; i++) {
            struct device_load *l = &j->v->load[list[i]];
            l->used = sat_add(l->used, j->p->weight_bytes[w]);
            l->weights = sat_add(l->weights, j->p->weight_bytes[w]);
            l->params = sat_add(l->params, j->p->weight_bytes[w]);
        }
    }
}

/* Whether the graph has no cycle. Removes devices one by one, each when no edge leads to it from a device that is left;
 * overwrites c->after[]. */
static bool is_acyclic(const struct verdict_state *j, struct device_graph *c)
{
    uint32_t nd = j->c->ndev, n = 0;
    if (!c->n)
        return true; /* c has no arrays if the model does not train */
    uint32_t *removed = arena_array(j->a, nd, sizeof *removed);
    for (uint32_t d = 0; d < nd; d++)
        if (!c->after[d])
            removed[n++] = d;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = c->first[removed[i]]; e; e = c->edge[e - 1].next)
            if (--c->after[c->edge[e - 1].to] == 0)
                removed[n++] = c->edge[e - 1].to;
    return n == nd;
}

/* Whether all nodes that must share a device do: the pairs of place.same, and nodes of one colour.  If not, writes the
 * reason to *why. */
static bool is_colocated(const struct verdict_state *j, const char **why)
{
    const struct graph *g = &j->m->graph[1];
    for (uint32_t i = 0; i < j->p->nsame; i++) {
        const struct same_pair *s = &j->p->same[i];
        if (j->dev[s->a] != j->dev[s->b]) {
            *why = arena_fmt(j->a, "nodes '%s' and '%s' must share a device", node_name(j->m, s->a),
                             node_name(j->m, s->b));
            return false;
        }
    }
    if (!j->m->color)
        return true;
    /* last[colour]: the last placed node of the colour met so far; comparing neighbours compares all */
    nid *last = arena_array(j->a, (size_t)module_most_color(j->m) + 1, sizeof *last);
    for (nid n = g->first; n < g->first + g->count; n++) {
        uint32_t c = j->m->color[n];
        if (!c || j->p->kind[n] != PLACE_NODE)
            continue;
        if (last[c] && j->dev[last[c]] != j->dev[n]) {
            *why = arena_fmt(j->a, "nodes '%s' and '%s' of one colour class are apart",
                             node_name(j->m, last[c]), node_name(j->m, n));
            return false;
        }
        last[c] = n;
    }
    return true;
}

/* Counts `bytes` bytes as alive in steps from .. to.  delta: [step] bytes alive in the step minus bytes alive in the
 * step before. */
static void count_alive(int64_t *delta, uint32_t from, uint32_t to, int64_t bytes)
{
    assert(from <= to && bytes >= 0);
    delta[from] = sat_add(delta[from], bytes);
    delta[to + 1] -= bytes;
}

/* Counts in delta[dev] the bytes of model inputs that cost no transfer (--io=free), as alive in all steps of each
 * device that reads them. steps[dev]: number of the device's steps. */
static void count_inputs(struct verdict_state *j, const uint32_t *steps, int64_t **delta)
{
    uint32_t *counted = arena_array(j->a, (size_t)j->c->ndev + 1, sizeof *counted);
    for (uint32_t i = 0; i < j->p->nthere; i++)
        for_row (pin, j->p->there_pin, i) {
            int32_t d = j->dev[pin];
            if (d < 0 || (uint32_t)d >= j->c->ndev || counted[d] == i + 1)
                continue;
            counted[d] = i + 1;
            count_alive(delta[d], 0, steps[d] - 1, j->m->cost->bytes[j->p->there[i]]);
        }
}

/* Sets load[].live_peak: each device runs its nodes by number, one a step. A value is alive on its producer's device
 * until its last reader there, or until the end if it leaves the device; on another device, from the beginning until
 * its last reader there. A model input that costs no transfer (--io=free) is alive from the beginning to the end. */
static void find_live_peaks(struct verdict_state *j)
{
    const struct module *m = j->m;
    const struct graph *g = &m->graph[1];
    uint32_t nd = j->c->ndev, *step = arena_array(j->a, m->nnode, sizeof *step);
    uint32_t *steps = arena_array(j->a, (size_t)nd + 1, sizeof *steps);
    /* step[node]: number of the node on its device; steps[dev]: number of the device's nodes */
    for (nid n = g->first; n < g->first + g->count; n++)
        if (j->p->kind[n] == PLACE_NODE && j->dev[n] >= 0 && (uint32_t)j->dev[n] < nd)
            step[n] = steps[j->dev[n]]++;
    /* delta[dev][step]: bytes of values that become alive at the step, less the bytes of values whose last step is the
     * one before */
    int64_t **delta = arena_array(j->a, (size_t)nd + 1, sizeof *delta);
    for (uint32_t d = 0; d < nd; d++)
        delta[d] = arena_array(j->a, (size_t)steps[d] + 2, sizeof **delta);
    uint32_t *last = arena_array(j->a, (size_t)nd + 1, sizeof *last);
    uint32_t *list = arena_array(j->a, (size_t)nd + 1, sizeof *list);
    uint8_t *in = arena_alloc(j->a, (size_t)nd + 1);
    for (uint32_t e = 0; e < j->p->nnet; e++) {
        vid v = j->p->net_value[e];
        nid def = m->value[v].def;
        bool placed = def && j->p->kind[def] == PLACE_NODE;
        /* list[0 .. n): the devices that have the value */
        uint32_t n = plan_devices(j, &j->p->net_pin, e, list, in);
        for (uint32_t i = 0; i < n; i++)
            last[list[i]] = 0; /* last[dev]: step of the value's last reader on the device */
        for_row (pin, j->p->net_pin, e) {
            int32_t d = j->dev[pin];
            if (d >= 0 && (uint32_t)d < nd && step[pin] > last[d])
                last[d] = step[pin];
        }
        for (uint32_t i = 0; i < n; i++) {
            uint32_t d = list[i];
            bool home = placed && j->dev[def] == (int32_t)d;
            bool leaves = home && (n > 1 || j->p->net_host[e]);
            count_alive(delta[d], home ? step[def] : 0, leaves ? steps[d] - 1 : last[d],
                        m->cost->bytes[v]);
        }
    }
    count_inputs(j, steps, delta);
    for (uint32_t d = 0; d < nd; d++) {
        int64_t now = 0, top = 0;
        for (uint32_t i = 0; i < steps[d]; i++) {
            now += delta[d][i];
            top = larger(now, top);
        }
        j->v->load[d].live_peak = sat_add(top, j->v->load[d].weights);
    }
}

bool plan_copies_free(const struct verdict_state *j, uint32_t d)
{
    assert(j->copies && j->copies[d] > 1);
    uint32_t cls = cluster_class(j->c, d);
    for (uint32_t i = 1; i < j->copies[d]; i++)
        if (d + i >= j->c->ndev || cluster_class(j->c, d + i) != cls || j->v->load[d + i].nodes ||
            j->copies[d + i] > 1)
            return false;
    return true;
}

/* Clears `runnable` of the verdict if a device lacks the free devices that its copies need. */
static void check_copies(struct verdict_state *j)
{
    for (uint32_t d = 0; j->copies && d < j->c->ndev; d++) {
        if (j->copies[d] < 2 || plan_copies_free(j, d))
            continue;
        if (j->v->runnable)
            j->v->why_not = arena_fmt(j->a,
                                      "%s has %u copies, and not as many idle devices of its "
                                      "class behind it",
                                      device_name(j, (int32_t)d), j->copies[d]);
        j->v->runnable = false;
    }
}

void plan_check_memory(const struct scene *s, struct verdict *v, struct arena *a)
{
    const struct cluster *c = s->cluster;
    v->fits = true;
    for (uint32_t d = 0; d < c->ndev && v->fits; d++) {
        int64_t memory = c->cls[cluster_class(c, d)].memory;
        char need[UNIT_TEXT], have[UNIT_TEXT], all[UNIT_TEXT];
        if (memory < 0 || v->load[d].used <= memory)
            continue;
        v->fits = false;
        bytes_short(all, v->load[d].sum);
        const char *why = arena_fmt(
            a, "%s needs %s and has %s%s%s", cluster_device_name(c, a, d),
            bytes_short(need, v->load[d].used), bytes_short(have, memory),
            c->cls[cluster_class(c, d)].reserve ? " without the reserve" : "",
            v->load[d].sum ? arena_fmt(a, " (at one time; --memory-model=sum counts %s)", all)
                           : "");
        if (!v->why_not)
            v->why_not = why;
    }
}

struct verdict plan_check(const struct scene *s, const int32_t *dev, const uint32_t *copies,
                          unsigned what, struct arena *a)
{
    const struct cluster *c = s->cluster;
    assert(s->m->cost && s->m->cost->nclass == c->ncls);
    struct verdict v = {.fits = true, .contiguous = true, .colocated = true, .runnable = true};
    struct verdict_state j = {s, s->m, s->place, c, dev, copies, a, &v};
    struct device_graphs graphs = device_graphs_new(s, a);
    v.load = arena_array(a, (size_t)c->ndev + 1, sizeof *v.load);
    check_nodes(&j);
    add_edges_and_weights(&j, &graphs);
    if (what & CHECK_PEAKS)
        find_live_peaks(&j);
    check_copies(&j);
    if (what & CHECK_MEMORY)
        plan_check_memory(s, &v, a);
    v.contiguous = is_acyclic(&j, &graphs.row) && is_acyclic(&j, &graphs.back);
    const char *why = NULL;
    v.colocated = is_colocated(&j, &why);
    if (!v.why_not)
        v.why_not = why;
    return v;
}
