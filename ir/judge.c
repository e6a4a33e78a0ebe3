/* The judge: what a plan costs, recomputed from the nodes of the module (see plan.h).
 *
 * Load of a device = times of its nodes + cost of each net that it touches and that has a pin
 * elsewhere (the host's pin included).  Memory = bytes its nodes produce + each weight it needs, once.
 * Contiguous = the quotient of devices is acyclic: in a topological order of it the devices take the
 * differences of a chain of ideals.  O(nodes + pins + D^3). */
#include "ir/plan.h"

#include "ir/units.h"

#include <string.h>

struct judging {
    const struct module *m;
    const struct place *p;
    const struct cluster *c;
    const int32_t *dev;
    struct arena *a;
    struct verdict *v;
};

static const char *device_name(const struct judging *j, int32_t d)
{
    return d < 0 ? "nowhere" : cluster_device_name(j->c, j->a, (uint32_t)d);
}

static void judge_nodes(struct judging *j)
{
    const struct graph *g = &j->m->graph[1];
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
        int64_t t = j->m->cost->time[cluster_class(j->c, (uint32_t)j->dev[n])][n];
        if (t == COST_NEVER && j->v->runnable) {
            j->v->runnable = false;
            j->v->why_not = arena_fmt(j->a, "node '%s' cannot run on %s", node_name(j->m, n),
                                      device_name(j, j->dev[n]));
        }
        l->nodes++;
        l->compute = sat_add(l->compute, t);
        l->used = sat_add(l->used, j->m->cost->own[n]);
    }
}

/* Distinct devices of a row of nodes; returns their number. */
static uint32_t devices_of(const struct judging *j, const struct csr *c, uint32_t row,
                           uint32_t *list, uint8_t *in)
{
    uint32_t n = 0;
    for (uint32_t i = c->at[row]; i < c->at[row + 1]; i++) {
        int32_t d = j->dev[c->to[i]];
        if (d < 0 || (uint32_t)d >= j->c->ndev || in[d])
            continue;
        in[d] = 1;
        list[n++] = (uint32_t)d;
    }
    for (uint32_t i = 0; i < n; i++)
        in[list[i]] = 0;
    return n;
}

static void judge_nets(struct judging *j, uint8_t *edge)
{
    uint32_t nd = j->c->ndev, *list = arena_array(j->a, nd + 1, sizeof *list);
    uint8_t *in = arena_alloc(j->a, nd + 1);
    for (uint32_t e = 0; e < j->p->nnet; e++) {
        uint32_t n = devices_of(j, &j->p->net_pin, e, list, in);
        vid v = j->p->net_value[e];
        if (n + j->p->net_host[e] < 2)
            continue;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t cls = cluster_class(j->c, list[i]);
            int64_t t = cluster_value_transfer(j->c, cls, j->m->cost, v, j->p->net_light[e]);
            j->v->load[list[i]].transfer = sat_add(j->v->load[list[i]].transfer, t);
        }
        nid def = j->m->value[v].def;
        int32_t from = def && j->p->kind[def] == PLACE_NODE ? j->dev[def] : -1;
        for (uint32_t i = 0; from >= 0 && (uint32_t)from < nd && i < n; i++)
            if (list[i] != (uint32_t)from)
                edge[(uint32_t)from * nd + list[i]] = 1;
    }
    for (uint32_t w = 0; w < j->p->nweight; w++) {
        uint32_t n = devices_of(j, &j->p->weight_user, w, list, in);
        for (uint32_t i = 0; i < n; i++) {
            struct device_load *l = &j->v->load[list[i]];
            l->used = sat_add(l->used, j->p->weight_bytes[w]);
            l->weights = sat_add(l->weights, j->p->weight_bytes[w]);
        }
    }
}

/* Whether the quotient of devices is acyclic: devices without predecessors are taken off in turn. */
static bool quotient_acyclic(const struct judging *j, const uint8_t *edge)
{
    uint32_t nd = j->c->ndev, left = nd;
    uint8_t *gone = arena_alloc(j->a, nd + 1);
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t d = 0; d < nd; d++) {
            bool free = !gone[d];
            for (uint32_t s = 0; free && s < nd; s++)
                free = gone[s] || !edge[s * nd + d];
            if (free) {
                gone[d] = 1;
                left--;
                moved = true;
            }
        }
    }
    return left == 0;
}

static bool shares_device(const struct judging *j, const char **why)
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
    uint32_t max = 0;
    for (nid n = g->first; n < g->first + g->count; n++)
        max = j->m->color[n] > max ? j->m->color[n] : max;
    nid *first = arena_array(j->a, (size_t)max + 1, sizeof *first);
    for (nid n = g->first; n < g->first + g->count; n++) {
        uint32_t c = j->m->color[n];
        if (!c || j->p->kind[n] != PLACE_NODE)
            continue;
        if (first[c] && j->dev[first[c]] != j->dev[n]) {
            *why = arena_fmt(j->a, "nodes '%s' and '%s' of one colour class are apart",
                             node_name(j->m, first[c]), node_name(j->m, n));
            return false;
        }
        first[c] = n;
    }
    return true;
}

/* Adds bytes to the running sum at step `from`, takes them off after step `to`. */
static void live(int64_t *delta, uint32_t from, uint32_t to, int64_t bytes)
{
    delta[from] = sat_add(delta[from], bytes);
    delta[to + 1] -= bytes;
}

/* Largest number of bytes alive at once on each device, its nodes run in order. */
static void judge_peaks(struct judging *j)
{
    const struct module *m = j->m;
    const struct graph *g = &m->graph[1];
    uint32_t nd = j->c->ndev, *step = arena_array(j->a, m->nnode, sizeof *step);
    uint32_t *steps = arena_array(j->a, nd + 1, sizeof *steps);
    for (nid n = g->first; n < g->first + g->count; n++)
        if (j->p->kind[n] == PLACE_NODE && j->dev[n] >= 0 && (uint32_t)j->dev[n] < nd)
            step[n] = steps[j->dev[n]]++;
    int64_t **delta = arena_array(j->a, nd + 1, sizeof *delta);
    for (uint32_t d = 0; d < nd; d++)
        delta[d] = arena_array(j->a, (size_t)steps[d] + 2, sizeof **delta);
    uint32_t *last = arena_array(j->a, nd + 1, sizeof *last);
    uint32_t *list = arena_array(j->a, nd + 1, sizeof *list);
    uint8_t *in = arena_alloc(j->a, nd + 1);
    for (uint32_t e = 0; e < j->p->nnet; e++) {
        vid v = j->p->net_value[e];
        nid def = m->value[v].def;
        bool placed = def && j->p->kind[def] == PLACE_NODE;
        uint32_t n = devices_of(j, &j->p->net_pin, e, list, in);
        for (uint32_t i = 0; i < n; i++)
            last[list[i]] = 0;
        for (uint32_t i = j->p->net_pin.at[e]; i < j->p->net_pin.at[e + 1]; i++) {
            nid pin = j->p->net_pin.to[i];
            int32_t d = j->dev[pin];
            if (d >= 0 && (uint32_t)d < nd && step[pin] > last[d])
                last[d] = step[pin];
        }
        for (uint32_t i = 0; i < n; i++) {
            uint32_t d = list[i];
            bool home = placed && j->dev[def] == (int32_t)d;
            bool leaves = home && (n > 1 || j->p->net_host[e]);
            live(delta[d], home ? step[def] : 0, leaves ? steps[d] - 1 : last[d],
                 m->cost->bytes[v]);
        }
    }
    for (uint32_t d = 0; d < nd; d++) {
        int64_t now = 0, top = 0;
        for (uint32_t i = 0; i < steps[d]; i++) {
            now += delta[d][i];
            top = now > top ? now : top;
        }
        j->v->load[d].live_peak = sat_add(top, j->v->load[d].weights);
    }
}

struct verdict judge(const struct module *m, const struct place *p, const struct cluster *c,
                     const int32_t *dev, struct arena *a)
{
    struct verdict v = {.fits = true, .contiguous = true, .colocated = true, .runnable = true};
    struct judging j = {m, p, c, dev, a, &v};
    uint8_t *edge = arena_alloc(a, (size_t)c->ndev * c->ndev + 1);
    v.load = arena_array(a, c->ndev + 1, sizeof *v.load);
    judge_nodes(&j);
    judge_nets(&j, edge);
    judge_peaks(&j);
    for (uint32_t d = 0; d < c->ndev; d++) {
        int64_t memory = c->cls[cluster_class(c, d)].memory;
        int64_t load = sat_add(v.load[d].compute, v.load[d].transfer);
        if (load > v.value) {
            v.value = load;
            v.bottleneck = d;
        }
        if (memory >= 0 && v.load[d].used > memory && v.fits) {
            char need[UNIT_TEXT], have[UNIT_TEXT];
            v.fits = false;
            const char *why =
                arena_fmt(a, "%s needs %s and has %s", device_name(&j, (int32_t)d),
                          bytes_short(need, v.load[d].used), bytes_short(have, memory));
            v.why_not = v.why_not ? v.why_not : why;
        }
    }
    v.contiguous = quotient_acyclic(&j, edge);
    const char *why = NULL;
    v.colocated = shares_device(&j, &why);
    v.why_not = v.why_not ? v.why_not : why;
    return v;
}

const char *plan_status_name(enum plan_status s)
{
    static const char *const name[] = {"none", "optimal", "feasible", "heuristic", "infeasible"};
    return name[s];
}

int32_t *plan_project(const struct wdag *top, const int32_t *vertex_dev, uint32_t nnode,
                      struct arena *a)
{
    const int32_t *dev = vertex_dev;
    for (; top->finer; top = top->finer) {
        int32_t *below = arena_array(a, top->finer->n + 1, sizeof *below);
        for (uint32_t v = 0; v < top->finer->n; v++)
            below[v] = dev[top->map[v]];
        dev = below;
    }
    int32_t *node = arena_array(a, nnode, sizeof *node);
    memset(node, 0xff, nnode * sizeof *node);
    for (uint32_t v = 0; v < top->n; v++)
        node[top->node[v]] = dev[v];
    return node;
}
