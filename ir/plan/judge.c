/* The judge: what a plan costs, recomputed from the nodes of the module (see plan.h).
 *
 * Load of a device = times of its nodes + cost of each net that it touches and that has a pin
 * elsewhere (the host's pin included), the inner cost if all are in the group of the device (H.3);
 * with overlap the larger one (exec_load); parts may cost something, too.  Memory = bytes its
 * nodes produce + each weight it needs, once. Contiguous = the quotient of devices is acyclic: in a
 * topological order of it the devices take the differences of a chain of ideals.  In a training graph
 * that is asked of the forward and of the backward pass apart.  O(nodes + pins + D^3). */
#include "ir/plan/plan.h"

#include "ir/plan/pieces.h"
#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

struct judging {
    const struct scene *s;
    const struct module *m;
    const struct place *p;
    const struct cluster *c;
    const int32_t *dev;
    const uint32_t *copies; /* NULL: one each */
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
        bool back = j->m->backward && j->m->backward[n];
        l->compute = sat_add(l->compute, t);
        l->pass[back].compute = sat_add(l->pass[back].compute, t);
        l->used = sat_add(l->used, j->m->cost->own[n]);
        if (j->m->ir_version == 0) /* a profile, without initializers */
            l->params =
                sat_add(l->params, (j->m->cost->params ? j->m->cost->params : j->m->cost->own)[n]);
    }
}

/* Adds what parts cost: once for each part and each pass that it has nodes of. */
static void judge_parts(struct judging *j)
{
    const struct graph *g = &j->m->graph[1];
    int32_t *dev;
    uint32_t *piece = arena_array(j->a, j->m->nnode, sizeof *piece);
    if (!j->s->model.part_cost || !j->v->runnable)
        return;
    uint32_t n = pieces_build(j->s, j->dev, piece, &dev, j->a);
    uint8_t *seen = arena_alloc(j->a, 2 * (size_t)n + 1);
    for (nid v = g->first; v < g->first + g->count; v++) {
        bool back = j->m->backward && j->m->backward[v];
        if (j->p->kind[v] != PLACE_NODE || seen[2 * piece[v] + back])
            continue;
        struct device_load *l = &j->v->load[j->dev[v]];
        seen[2 * piece[v] + back] = 1;
        l->compute = sat_add(l->compute, j->s->model.part_cost);
        l->pass[back].compute = sat_add(l->pass[back].compute, j->s->model.part_cost);
    }
}

/* Writes the distinct devices of a row's nodes; returns their number. */
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

/* Notes in edge[pass], a matrix of devices, which devices read a result of node `from`. */
static void note_edges(const struct judging *j, uint32_t net, nid from, uint8_t *edge[2])
{
    assert(j->dev[from] >= 0 && (uint32_t)j->dev[from] < j->c->ndev);
    const uint8_t *backward = j->m->backward;
    uint32_t nd = j->c->ndev;
    bool back = backward && backward[from];
    for (uint32_t i = j->p->net_pin.at[net]; i < j->p->net_pin.at[net + 1]; i++) {
        nid to = j->p->net_pin.to[i];
        int32_t d = j->dev[to];
        if (d >= 0 && (uint32_t)d < nd && d != j->dev[from] && back == (backward && backward[to]))
            edge[back][(uint32_t)j->dev[from] * nd + (uint32_t)d] = 1;
    }
}

/* Whether devices and their copies stand in one group. */
static bool is_one_group(const struct judging *j, const uint32_t *dev, uint32_t n)
{
    uint32_t group = n ? cluster_group(j->c, dev[0]) : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t copies = j->copies && j->copies[dev[i]] ? j->copies[dev[i]] : 1;
        uint32_t last = dev[i] + copies - 1;
        if (last >= j->c->ndev || cluster_group(j->c, dev[i]) != group ||
            cluster_group(j->c, last) != group)
            return false;
    }
    return true;
}

static void judge_nets(struct judging *j, uint8_t *edge[2])
{
    uint32_t nd = j->c->ndev, *list = arena_array(j->a, (size_t)nd + 1, sizeof *list);
    uint8_t *in = arena_alloc(j->a, (size_t)nd + 1);
    for (uint32_t e = 0; e < j->p->nnet; e++) {
        uint32_t n = devices_of(j, &j->p->net_pin, e, list, in);
        vid v = j->p->net_value[e];
        if (n + j->p->net_host[e] < 2)
            continue;
        nid def = j->m->value[v].def;
        int32_t from = def && j->p->kind[def] == PLACE_NODE ? j->dev[def] : -1;
        bool back = def && j->m->backward && j->m->backward[def];
        bool inner = !j->p->net_host[e] && is_one_group(j, list, n);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t cls = cluster_class(j->c, list[i]);
            int64_t t = (inner ? cluster_value_inner : cluster_value_transfer)(
                j->c, cls, j->m->cost, v, j->p->net_light[e]);
            struct device_load *l = &j->v->load[list[i]];
            bool out = from >= 0 && list[i] == (uint32_t)from;
            int64_t *sum = out ? &l->pass[back].out : &l->pass[back].in;
            l->transfer = sat_add(l->transfer, t);
            *sum = sat_add(*sum, t);
        }
        if (from >= 0 && (uint32_t)from < nd)
            note_edges(j, e, def, edge);
    }
    for (uint32_t w = 0; w < j->p->nweight; w++) {
        uint32_t n = devices_of(j, &j->p->weight_user, w, list, in);
        for (uint32_t i = 0; i < n; i++) {
            struct device_load *l = &j->v->load[list[i]];
            l->used = sat_add(l->used, j->p->weight_bytes[w]);
            l->weights = sat_add(l->weights, j->p->weight_bytes[w]);
            l->params = sat_add(l->params, j->p->weight_bytes[w]);
        }
    }
}

/* Whether the quotient of devices is acyclic: devices without predecessors are taken off in turn. */
static bool is_quotient_acyclic(const struct judging *j, const uint8_t *edge)
{
    uint32_t nd = j->c->ndev, left = nd;
    uint8_t *gone = arena_alloc(j->a, (size_t)nd + 1);
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

/* Counts bytes as alive from step `from` to step `to`: delta is what changes at each step. */
static void count_alive(int64_t *delta, uint32_t from, uint32_t to, int64_t bytes)
{
    assert(from <= to && bytes >= 0);
    delta[from] = sat_add(delta[from], bytes);
    delta[to + 1] -= bytes;
}

/* Largest number of bytes alive at once on each device, its nodes run in order. */
static void judge_peaks(struct judging *j)
{
    const struct module *m = j->m;
    const struct graph *g = &m->graph[1];
    uint32_t nd = j->c->ndev, *step = arena_array(j->a, m->nnode, sizeof *step);
    uint32_t *steps = arena_array(j->a, (size_t)nd + 1, sizeof *steps);
    for (nid n = g->first; n < g->first + g->count; n++)
        if (j->p->kind[n] == PLACE_NODE && j->dev[n] >= 0 && (uint32_t)j->dev[n] < nd)
            step[n] = steps[j->dev[n]]++;
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
            count_alive(delta[d], home ? step[def] : 0, leaves ? steps[d] - 1 : last[d],
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

/* Whether the copies of device d are of its class and idle but for that. */
static bool are_copies_free(const struct judging *j, uint32_t d)
{
    uint32_t cls = cluster_class(j->c, d);
    for (uint32_t i = 1; i < j->copies[d]; i++)
        if (d + i >= j->c->ndev || cluster_class(j->c, d + i) != cls || j->v->load[d + i].nodes ||
            j->copies[d + i] > 1)
            return false;
    return true;
}

/* Gives the devices that share d's stage its figures; false if there are not that many. */
static bool judge_copies_of(struct judging *j, uint32_t d)
{
    assert(j->copies && j->copies[d] > 1);
    if (!are_copies_free(j, d)) {
        if (j->v->runnable)
            j->v->why_not = arena_fmt(j->a,
                                      "%s has %u copies, and not as many idle devices of its "
                                      "class behind it",
                                      device_name(j, (int32_t)d), j->copies[d]);
        j->v->runnable = false;
        return false;
    }
    for (uint32_t i = 1; i < j->copies[d]; i++)
        j->v->load[d + i] = j->v->load[d];
    return true;
}

/* Works out loads from times, and the value from loads. */
static void judge_loads(struct judging *j)
{
    const struct exec_model *model = &j->s->model;
    int64_t most[2] = {0, 0}, worst = -1;
    bool apart = model->schedule == MICRO_GPIPE && j->m->backward;
    for (uint32_t d = 0; d < j->c->ndev; d++) {
        struct device_load *l = &j->v->load[d];
        uint32_t copies = j->copies && j->copies[d] ? j->copies[d] : 1;
        if (j->m->backward)
            l->sync = exec_sync(model, &j->c->cls[cluster_class(j->c, d)], l->params, copies);
        for (int p = 0; p < 2 && apart; p++) {
            int64_t load = exec_load(model, l->pass[p].compute, l->pass[p].in, l->pass[p].out);
            load = exec_shared_load(model, load, p ? l->sync : 0, copies);
            most[p] = load > most[p] ? load : most[p];
            l->load = sat_add(l->load, load);
        }
        if (!apart) {
            l->load = exec_load(model, l->compute, sat_add(l->pass[0].in, l->pass[1].in),
                                sat_add(l->pass[0].out, l->pass[1].out));
            l->load = exec_shared_load(model, l->load, l->sync, copies);
            most[0] = l->load > most[0] ? l->load : most[0];
        }
        if (l->load > worst) {
            worst = l->load;
            j->v->bottleneck = d;
        }
        if (copies > 1 && judge_copies_of(j, d))
            d += copies - 1;
        assert(d < j->c->ndev);
    }
    j->v->value = sat_add(most[0], most[1]);
}

struct verdict judge(const struct scene *s, const int32_t *dev, const uint32_t *copies,
                     struct arena *a)
{
    const struct cluster *c = s->cluster;
    assert(s->m->cost && s->m->cost->nclass == c->ncls);
    assert(s->model.kind == EXEC_ROUNDS && s->model.objective == OBJECTIVE_SAMPLE);
    struct verdict v = {.fits = true, .contiguous = true, .colocated = true, .runnable = true};
    struct judging j = {s, s->m, s->place, c, dev, copies, a, &v};
    size_t pairs = (size_t)c->ndev * c->ndev + 1;
    uint8_t *edge[2] = {arena_alloc(a, pairs), arena_alloc(a, pairs)};
    v.load = arena_array(a, (size_t)c->ndev + 1, sizeof *v.load);
    judge_nodes(&j);
    judge_parts(&j);
    judge_nets(&j, edge);
    judge_peaks(&j);
    judge_loads(&j);
    for (uint32_t d = 0; d < c->ndev; d++) {
        int64_t memory = c->cls[cluster_class(c, d)].memory;
        if (memory >= 0 && v.load[d].used > memory && v.fits) {
            char need[UNIT_TEXT], have[UNIT_TEXT];
            v.fits = false;
            const char *why =
                arena_fmt(a, "%s needs %s and has %s%s", device_name(&j, (int32_t)d),
                          bytes_short(need, v.load[d].used), bytes_short(have, memory),
                          c->cls[cluster_class(c, d)].reserve ? " without the reserve" : "");
            v.why_not = v.why_not ? v.why_not : why;
        }
    }
    assert(v.value >= 0);
    v.contiguous = is_quotient_acyclic(&j, edge[0]) && is_quotient_acyclic(&j, edge[1]);
    const char *why = NULL;
    v.colocated = shares_device(&j, &why);
    v.why_not = v.why_not ? v.why_not : why;
    return v;
}
