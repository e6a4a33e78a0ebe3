/* Makes a row of layers of a model that is trained (train_begin, train_layer, train_chain of train.h).
 *
 * Layers are the vertices that contract leaves, in its order.  In a graph in ONNX, layers that must be in one stage,
 * since neither may be in a later stage than the other (list_pairs), are joined: strongly connected components.  The
 * joined layers stand in a topological order (layer_row.h): the row may be cut between any two.  For such a graph
 * this file also finds how far each value goes and which layers wait for each backward node, so that the sums of a
 * plan's stages are those that the verdict on the plan computes.  O((nodes + pins) log nodes). */
#include "passes/stages/layer_row.h"
#include "passes/stages/train.h"

#include "ir/base/components.h"
#include "ir/base/units.h"
#include "ir/exec/iteration/update_cost.h"

#include <assert.h>
#include <stdlib.h>

/* The figures of t->layers while they are summed up. */
struct layer_sums {
    struct train *t;
    int64_t *forward, *backward, *activation, *parameter; /* [layer] ps, ps, bytes, bytes */
    int64_t *forward_overhead, *backward_overhead;        /* [layer] ps */
    uint32_t cls; /* the accelerators' class, whose times count */
    struct update_cost update;
};

bool train_must_update_apart(const struct training *m)
{
    return m->update == UPDATE_APART || m->ngradient || m->nnext || m->loss;
}

void train_note_apart(const struct train *t, int64_t apart, int64_t within)
{
    char text[2][UNIT_TEXT];
    if (apart > within)
        diag_note(t->x->use.diag,
                  "%s: %s with updates apart, as steps of training need them; within backward "
                  "passes at most %s (--update=within)",
                  t->planner, time_short(text[0], apart), time_short(text[1], within));
}

uint32_t train_layer(const struct train *t, nid n)
{
    return t->layer[t->x->levels.base->vertex[n]];
}

/* Adds what node n takes to t->update of its layer l.  Returns whether the node is part of an update. */
static bool measure_update(struct layer_sums *m, nid n, uint32_t l)
{
    const struct costs *k = m->t->x->scene.m->cost;
    struct layer_update *u = m->t->update ? &m->t->update[l] : NULL;
    if (!u)
        return false;
    u->each = sat_add(u->each, m->update.each[n]);
    u->once = sat_add(u->once, m->update.once[n]);
    if (!m->update.own[n])
        return false;
    int64_t ps = k->time[m->cls][n];
    u->within = sat_add(u->within, ps == COST_NEVER ? 0 : ps);
    u->within_overhead = sat_add(u->within_overhead, costs_overhead(k, m->cls, n));
    return true;
}

/* Adds time, parameters and stored bytes of each placed node to its layer, and the bytes of each weight or constant to
 * the first layer that reads it.  A profile (ir_version 0) has parameters of nodes, a graph in ONNX has weights. */
static void measure_nodes(struct layer_sums *m)
{
    const struct scene *s = &m->t->x->scene;
    const struct graph *g = &s->m->graph[1];
    const struct costs *k = s->m->cost;
    bool by_value = iteration_keeps_values(s); /* measure_values() adds stored bytes */
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (s->place->kind[n] != PLACE_NODE)
            continue;
        uint32_t l = train_layer(m->t, n);
        bool back = s->m->backward[n];
        if (measure_update(m, n, l))
            continue;
        int64_t *time = back ? &m->backward[l] : &m->forward[l], ps = k->time[m->cls][n];
        int64_t *overhead = back ? &m->backward_overhead[l] : &m->forward_overhead[l];
        *time = sat_add(*time, ps == COST_NEVER ? 0 : ps);
        *overhead = sat_add(*overhead, costs_overhead(k, m->cls, n));
        int64_t params = s->m->ir_version ? 0 : costs_params(k, n);
        m->parameter[l] = sat_add(m->parameter[l], params);
        if (!back && !by_value)
            m->t->stored[l] = sat_add(m->t->stored[l], k->own[n] - params);
    }

    for (uint32_t w = 0; w < s->place->nweight; w++) {
        const struct csr *user = &s->place->weight_user;
        if (user->at[w] == user->at[w + 1])
            continue;
        uint32_t l = train_layer(m->t, user->to[user->at[w]]);
        int64_t *to = place_is_parameter(s->m, s->place, w) ? &m->parameter[l] : &m->t->constant[l];
        *to = sat_add(*to, s->place->weight_bytes[w]);
    }
}

/* Adds to each layer's `activation` the bytes of the values that its forward nodes make and forward nodes of other
 * layers read.  Of a graph in ONNX adds the bytes of each forward value to the stored bytes of the first layer whose
 * backward node reads the value: its stage keeps the value longest. */
static void measure_values(struct layer_sums *m)
{
    const struct scene *s = &m->t->x->scene;
    const struct csr *pin = &s->place->net_pin;
    for (uint32_t e = 0; e < s->place->nnet; e++) {
        nid def = s->m->value[s->place->net_value[e]].def;
        if (!def || s->place->kind[def] != PLACE_NODE || s->m->backward[def])
            continue;
        uint32_t l = train_layer(m->t, def);
        uint32_t keeper = UINT32_MAX;
        bool leaves = false;
        for_row (y, *pin, e) {
            leaves = leaves || (!s->m->backward[y] && train_layer(m->t, y) != l);
            if (s->m->backward[y])
                keeper = smaller_u32(keeper, train_layer(m->t, y));
        }
        if (keeper != UINT32_MAX && iteration_keeps_values(s))
            m->t->stored[keeper] =
                sat_add(m->t->stored[keeper], s->m->cost->bytes[s->place->net_value[e]]);
        if (leaves)
            m->activation[l] = sat_add(m->activation[l], s->m->cost->bytes[s->place->net_value[e]]);
    }
}

/* ---- spans -------------------------------------------------------------------------------------- */

/* Compares spans by `from`, then by `to`; for qsort. */
static int compare_spans(const void *x, const void *y)
{
    const struct layer_span *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

/* Appends x to the spans, which grow in a. */
static void add_span(struct layer_spans *s, struct arena *a, struct layer_span x)
{
    s->span = vec_grow(a, s->span, &s->cap, s->n + 1, sizeof *s->span);
    s->span[s->n++] = x;
}

/* Returns a span between the same two layers as x and y, with the sums of their amounts. */
static struct layer_span sum_of_spans(struct layer_span x, struct layer_span y)
{
    return (struct layer_span){.from = x.from,
                               .to = x.to,
                               .amount = sat_add(x.amount, y.amount),
                               .overhead = sat_add(x.overhead, y.overhead),
                               .values = sat_add(x.values, y.values)};
}

/* Sorts the spans and joins spans between the same layers to one, whose amounts are the sums. */
static void join_spans(struct layer_spans *s)
{
    uint32_t n = 0;
    if (s->n)
        qsort(s->span, s->n, sizeof *s->span, compare_spans);
    for (uint32_t i = 0; i < s->n; i++)
        if (n && !compare_spans(&s->span[n - 1], &s->span[i]))
            s->span[n - 1] = sum_of_spans(s->span[n - 1], s->span[i]);
        else
            s->span[n++] = s->span[i];
    s->n = n;
}

/* Adds the layers of the maker and of each reader of net e, which a node of a joint update makes, to t->joint.value. */
static void measure_joint(struct layer_sums *m, uint32_t e)
{
    const struct scene *s = &m->t->x->scene;
    uint32_t at = train_layer(m->t, s->m->value[s->place->net_value[e]].def);
    for_row (y, s->place->net_pin, e)
        if (train_layer(m->t, y) != at)
            add_span(&m->t->joint.value, m->t->x->use.scratch,
                     (struct layer_span){.from = at, .to = train_layer(m->t, y)});
}

/* Adds the layers of the maker and of each reader of net e, a number of samples, to t->rules.counts. */
static void measure_count(struct layer_sums *m, uint32_t e)
{
    const struct scene *s = &m->t->x->scene;
    uint32_t at = train_layer(m->t, s->m->value[s->place->net_value[e]].def);
    for_row (y, s->place->net_pin, e)
        if (train_layer(m->t, y) != at)
            add_span(&m->t->rules.counts, m->t->x->use.scratch,
                     (struct layer_span){.from = at, .to = train_layer(m->t, y)});
}

/* Fills t->values and t->gradients: for each net a span with its bytes, from the layer that makes it to the farthest
 * layer that reads it (of a gradient: the lowest); and t->rules.counts.  Nets of joint updates go to t->joint.value
 * instead. */
static void measure_moves(struct layer_sums *m)
{
    const struct scene *s = &m->t->x->scene;
    const struct csr *pin = &s->place->net_pin;
    struct train *t = m->t;
    for (uint32_t e = 0; e < s->place->nnet; e++) {
        vid v = s->place->net_value[e];
        nid def = s->m->value[v].def;
        if (!def || s->place->kind[def] != PLACE_NODE)
            continue;
        if (m->update.counts && m->update.counts[v])
            measure_count(m, e);
        if (t->joint.wanted && m->update.own[def]) {
            measure_joint(m, e);
            continue;
        }
        bool back = s->m->backward[def];
        uint32_t at = train_layer(t, def), far = at;
        for_row (y, *pin, e) {
            uint32_t to = train_layer(t, y);
            far = (back ? to < far : to > far) ? to : far;
        }
        if (far != at)
            add_span(back ? &t->gradients : &t->values, t->x->use.scratch,
                     (struct layer_span){
                         .from = at, .to = far, .amount = s->m->cost->bytes[v], .values = 1});
    }
    join_spans(&t->values);
    join_spans(&t->gradients);
    join_spans(&t->joint.value);
    join_spans(&t->rules.counts);
}

/* Fills t->waiting: for each backward node that is no update, a span with its time, from its layer to the lowest layer
 * with a backward node that needs its result, directly or not.  Adds to t->update[].weight the `each` of nodes for
 * which no other layer waits. */
static void measure_waiting(struct layer_sums *m)
{
    const struct scene *s = &m->t->x->scene;
    const struct graph *g = &s->m->graph[1];
    const struct csr *pin = &s->place->net_pin;
    struct train *t = m->t;
    struct arena *a = t->x->use.scratch;
    /* [backward node] the lowest layer with a backward node that needs its result, at most its own layer; the nodes are
     * visited in reverse topological order, so that readers come before makers */
    uint32_t *low = arena_array(a, s->m->nnode, sizeof *low);
    struct csr made = place_nets_made(s->m, s->place, a);
    for (nid v = g->first + g->count; v-- > g->first;) {
        if (s->place->kind[v] != PLACE_NODE || !s->m->backward[v])
            continue;
        int64_t ps = s->m->cost->time[m->cls][v];
        low[v] = train_layer(t, v);
        for_row (e, made, v)
            for_row (y, *pin, e)
                if (y != v && s->m->backward[y] && low[y] < low[v])
                    low[v] = low[y];
        if (t->update && low[v] == train_layer(t, v))
            t->update[low[v]].weight = sat_add(t->update[low[v]].weight, m->update.each[v]);
        if (t->update && m->update.own[v])
            continue;
        add_span(&t->waiting, a,
                 (struct layer_span){.from = train_layer(t, v),
                                     .to = low[v],
                                     .amount = ps == COST_NEVER ? 0 : ps,
                                     .overhead = costs_overhead(s->m->cost, m->cls, v)});
    }
    join_spans(&t->waiting);
}

/* ---- the row ------------------------------------------------------------------------------------ */

/* Returns pairs of layers (from, to) such that `from` must not be in a later stage than `to`: the edges of g; for
 * each value, its maker and each reader; for a value of the backward pass, which moves to earlier stages, each
 * reader and the maker.  own: [node] 1: a node of an update apart; NULL: there is none.  Sets t->joint.possible; if
 * joint updates are wanted, values that nodes of updates make give no pairs; else, as gradients that these nodes read,
 * pairs in both directions. */
static struct pairs list_pairs(struct train *t, const struct wdag *g, const uint8_t *own,
                               struct arena *a)
{
    const struct scene *s = &t->x->scene;
    const struct csr *pin = &s->place->net_pin;
    struct pairs x = {.a = a};
    for (uint32_t v = 0; v < g->n; v++)
        for_row (w, g->succ, v)
            pairs_add(&x, v, w);
    for (uint32_t e = 0; e < s->place->nnet; e++) {
        nid def = s->m->value[s->place->net_value[e]].def;
        if (!def || s->place->kind[def] != PLACE_NODE)
            continue;
        for_row (y, *pin, e) {
            uint32_t maker = train_layer(t, def), reader = train_layer(t, y);
            bool back = s->m->backward[def], updates = own && own[def], reads = own && own[y];
            if (maker == reader)
                continue;
            t->joint.possible = t->joint.possible || updates;
            if (t->joint.wanted && updates)
                continue;
            pairs_add(&x, back ? reader : maker, back ? maker : reader);
            if (back && reads) /* a gradient is added up, and used, where it is made */
                pairs_add(&x, back ? maker : reader, back ? reader : maker);
        }
    }
    return x;
}

/* Returns the pairs as edges between the n groups, group[vertex]: each edge once, in ascending order, without edges
 * within a group. */
static struct csr join_pairs(const struct pairs *x, const uint32_t *group, uint32_t n,
                             struct arena *a)
{
    struct pairs named = pairs_new(a, x->n), once = pairs_new(a, x->n);
    /* [group] 1 + the last row that has an edge to the group */
    uint32_t *seen = arena_array(a, (size_t)n + 1, sizeof *seen);
    for (uint32_t i = 0; i < x->n; i++)
        pairs_add(&named, group[x->from[i]], group[x->to[i]]);
    /* the rows of the pairs; made in two steps, by way of the reversed pairs, so that each row ascends */
    struct csr all = pairs_rows_back(&named, n);
    all = csr_transpose(a, &all, n, n);
    for (uint32_t v = 0; v < n; v++)
        for_row (y, all, v) {
            if (y == v || seen[y] == v + 1)
                continue;
            seen[y] = v + 1;
            pairs_add(&once, v, y);
        }
    return pairs_rows(&once, n);
}

/* Joins layers that must be in one stage (cycles of list_pairs), and numbers the joined layers in a topological order.
 * Sets t->layer, and the edges and number of t->layers.  g: the level with one vertex per layer before; own: as for
 * list_pairs(). */
static void join_layers(struct train *t, const struct wdag *g, const uint8_t *own, struct arena *a)
{
    uint32_t nbase = t->x->levels.base->n;
    struct pairs pairs = list_pairs(t, g, own, a);
    struct csr edge = pairs_rows(&pairs, g->n);
    uint32_t *comp = arena_array(a, (size_t)g->n + 1, sizeof *comp); /* [vertex] its component */
    uint32_t n = csr_components(&edge, g->n, comp, a);
    /* [component] its place in the topological order `order`: the number of its joined layer */
    uint32_t *order = arena_array(a, (size_t)n + 1, sizeof *order);
    uint32_t *rank = arena_array(a, (size_t)n + 1, sizeof *rank);
    /* [vertex] its joined layer */
    uint32_t *joined = arena_array(a, (size_t)g->n + 1, sizeof *joined);
    /* [base vertex] its joined layer */
    uint32_t *layer = arena_array(a, (size_t)nbase + 1, sizeof *layer);
    struct csr succ = join_pairs(&pairs, comp, n, a);
    layer_row_sort(&(struct layer_row){.t = t, .n = n, .comp = comp, .succ = &succ}, order, a);
    for (uint32_t i = 0; i < n; i++)
        rank[order[i]] = i;
    for (uint32_t v = 0; v < g->n; v++)
        joined[v] = rank[comp[v]];
    for (uint32_t v = 0; v < nbase; v++)
        layer[v] = joined[t->layer[v]];
    t->layer = layer;
    t->layers.n = n;
    t->layers.succ = join_pairs(&pairs, joined, n, a);
    t->layers.pred = csr_transpose(a, &t->layers.succ, n, n);
}

int train_begin(struct train *t, struct ctx *x, const char *planner)
{
    const struct wdag *g = x->levels.contiguous;
    struct arena *a = x->use.scratch;
    *t = (struct train){.x = x, .planner = planner, .clock = ctx_clock(x), .accepted = INT64_MAX};
    const char *why = servers_of(x->scene.cluster, &t->servers);
    if (!x->scene.m->backward)
        why =
            "the model has no backward pass; -p 'plan{from=FILE}' runs the stages of a plan forward";
    if (why)
        return diag_error(x->use.diag, "%s: %s", planner, why);
    struct layer_sums m = {.t = t, .cls = cluster_main_class(x->scene.cluster)};
    /* a scene of several micro-batches, which planners may choose unless the user has set their number or size */
    struct scene several = x->scene;
    if (several.model.training.micro_size && !train_size_said(x))
        several.model.training.micro_batches = TRAINING_MICRO_BATCHES;
    m.update = update_cost_find(&several, NULL, NULL, a);
    t->rules.own = m.update.own;
    t->rules.needs_apart = m.update.own && train_must_update_apart(&x->scene.model.training);
    t->joint.wanted = m.update.own && x->scene.model.training.schedule == TRAINING_GPIPE;
    int64_t **const sum[] = {&m.forward, &m.backward,  &m.activation,       &m.parameter,
                             &t->stored, &t->constant, &m.forward_overhead, &m.backward_overhead};
    t->layer = wdag_flatten(g, a);
    t->refusal = arena_array(a, (size_t)t->servers.ndev + 1, sizeof *t->refusal);
    t->refusals = arena_new(a);
    t->layers = (struct layers_of){.n = g->n, .succ = g->succ, .pred = g->pred};
    if (x->scene.m->ir_version)
        join_layers(t, g, m.update.own, a);
    if (m.update.own)
        t->update = arena_array(a, (size_t)t->layers.n + 1, sizeof *t->update);
    for (size_t i = 0; i < sizeof sum / sizeof *sum; i++)
        *sum[i] = arena_array(a, (size_t)t->layers.n + 1, sizeof **sum[i]);
    measure_nodes(&m);
    measure_values(&m);
    if (x->scene.m->ir_version) {
        measure_moves(&m);
        measure_waiting(&m);
    }
    t->layers.forward = m.forward;
    t->layers.backward = m.backward;
    t->layers.activation = m.activation;
    t->layers.parameter = m.parameter;
    t->layers.forward_overhead = m.forward_overhead;
    t->layers.backward_overhead = m.backward_overhead;
    return 0;
}

/* Adds a value of `bytes` bytes, which layer `from` makes and layer `to` is the last to read, to cut[]: where it begins
 * to cross the row, behind `from`, and with a minus sign where it ends, behind `to`. */
static void add_cut(int64_t *cut, uint32_t from, uint32_t to, int64_t bytes)
{
    cut[from + 1] = sat_add(cut[from + 1], bytes);
    cut[to + 1] -= bytes;
}

/* Fills cut[], the array of struct layer_chain, which is zeroed and has two entries more than there are layers. */
static void sum_cuts(const struct train *t, int64_t *cut)
{
    const struct layers_of *l = &t->layers;
    const struct training *r = &t->x->scene.model.training;
    /* the bytes of a value are added behind its maker and taken off behind its last reader; summed up below */
    for (uint32_t i = 0; i < t->values.n; i++) {
        const struct layer_span *x = &t->values.span[i];
        add_cut(cut, x->from, x->to, training_share(r, x->amount, 1));
    }
    /* a profile (ir_version 0) has no values: the activation of a layer is read up to its last successor */
    for (uint32_t v = 0; v < l->n && !t->x->scene.m->ir_version; v++) {
        uint32_t last = v;
        for_row (w, l->succ, v)
            last = larger_u32(w, last);
        if (last > v)
            add_cut(cut, v, last, training_share(r, l->activation[v], 1));
    }
    for (uint32_t v = 1; v <= l->n; v++)
        cut[v] += cut[v - 1];
}

struct layer_chain train_chain(const struct train *t)
{
    const struct layers_of *l = &t->layers;
    const struct training *r = &t->x->scene.model.training;
    struct arena *a = t->x->use.scratch;
    /* the arrays of struct layer_chain */
    enum { FORWARD, BACKWARD, PARAMETER, STORED, CUT, FORWARD_OVERHEAD, BACKWARD_OVERHEAD, SUMS };
    int64_t *sum[SUMS];
    for (uint32_t i = 0; i < SUMS; i++)
        sum[i] = arena_array(a, (size_t)l->n + 2, sizeof *sum[i]);
    for (uint32_t v = 0; v < l->n; v++) {
        const int64_t add[SUMS] = {
            [FORWARD] = training_time(r, l->forward[v], l->forward_overhead[v], 1),
            [BACKWARD] = training_time(r, l->backward[v], l->backward_overhead[v], 1),
            [PARAMETER] = l->parameter[v],
            [STORED] = training_share(r, t->stored[v], 1),
            [FORWARD_OVERHEAD] = l->forward_overhead[v],
            [BACKWARD_OVERHEAD] = l->backward_overhead[v]};
        for (uint32_t i = 0; i < SUMS; i++)
            sum[i][v + 1] = sat_add(sum[i][v], add[i]);
    }
    sum_cuts(t, sum[CUT]);
    return (struct layer_chain){.n = l->n,
                                .forward = sum[FORWARD],
                                .backward = sum[BACKWARD],
                                .parameter = sum[PARAMETER],
                                .stored = sum[STORED],
                                .cut = sum[CUT],
                                .forward_overhead = sum[FORWARD_OVERHEAD],
                                .backward_overhead = sum[BACKWARD_OVERHEAD]};
}
