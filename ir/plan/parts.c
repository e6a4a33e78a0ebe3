/* Makes parts of a plan (parts.h).
 *
 * pieces.c groups the placed nodes. Then a walk over the operands of each part's nodes finds the replicated nodes
 * (copies) that the part needs, directly or through other copies, and its initializers; all other operands, which are
 * model inputs and results of other parts, become inputs of the part. The result of a copy never goes from part to
 * part. If the model returns the result, the first part with that copy does; a copy that no part needs goes to the
 * latest part that makes one of its operands, directly or through copies. An initializer that the model returns is
 * passed on by the first part that uses it, else by part 0.
 *
 * O(nodes + operands + copies in all parts together). */
#include "ir/plan/parts.h"

#include "ir/plan/pieces.h"
#include "ir/plan/update_pass.h"
#include "ir/plan/weight_pass.h"

#include <assert.h>
#include <string.h>

/* State of parts_of_pieces(). */
struct parts_builder {
    const struct module *m;
    const struct place *p;
    struct arena *a;
    struct parts *parts;
    /* [copied node] the first part that has the node: this part returns those results of the node that the model
     * returns; -1: no part has the node */
    int32_t *node_home;
    /* [value] the same for an initializer: the first part that has the initializer; -1: none */
    int32_t *value_home;
    /* [node], [value] 1 + the last part for which the node or value was counted as a need; 0: none yet */
    uint32_t *node_seen, *value_seen;
    nid *stack; /* copies of the present part whose operands have not been looked at yet */
    uint32_t nstack, capstack;
    /* [value] position among the model inputs and all results, see rank_values() */
    uint32_t *order;
    vid *by_order; /* [position] value: the inverse of order[] */
    uint32_t norder;
    /* needs of parts: (order[] of an input, part), (copied node, part), (initializer, part) */
    struct pairs in, copy, weight;
};

/* Whether node n is copied into each part that reads its results. */
static bool is_copy(const struct parts_builder *c, nid n)
{
    return n && c->p->kind[n] == PLACE_COPY;
}

/* Whether v is an initializer. */
static bool is_init(const struct parts_builder *c, vid v)
{
    return (c->m->value[v].flags & VALUE_INIT) != 0 && !c->m->value[v].def;
}

/* Whether v is an output of the model. */
static bool is_returned(const struct parts_builder *c, vid v)
{
    return (c->m->value[v].flags & VALUE_OUTPUT) != 0 && c->m->value[v].graph == 1;
}

/* ---- needs of parts ------------------------------------------------------------------------- */

/* Makes part x the home of v if v is an initializer or the result of a copy, and has no home yet or a home behind x. */
static void offer_home(struct parts_builder *c, vid v, int32_t x)
{
    nid def = c->m->value[v].def;
    int32_t *home = is_copy(c, def) ? &c->node_home[def] : is_init(c, v) ? &c->value_home[v] : NULL;
    if (home && (*home < 0 || x < *home))
        *home = x;
}

/* Returns an array: [node] for a placed node its part, for a copy the latest part with a node that the copy depends
 * on; -1: none. */
static int32_t *latest_parts(struct parts_builder *c)
{
    const struct module *m = c->m;
    const struct graph *g = &m->graph[1];
    int32_t *last = arena_array(c->a, m->nnode, sizeof *last);
    for (nid n = g->first; n < g->first + g->count; n++) {
        last[n] = c->parts->part_of[n];
        for (uint32_t i = 0; is_copy(c, n) && i < m->node[n].in.n; i++) {
            nid def = m->value[m->arg[m->node[n].in.at + i]].def;
            if (def && last[def] > last[n])
                last[n] = last[def];
        }
    }
    return last;
}

/* Fills node_home and value_home.  Walks from the last node to the first, so that a copy's readers are met before the
 * copy. */
static void find_homes(struct parts_builder *c)
{
    const struct module *m = c->m;
    const struct graph *g = &m->graph[1];
    int32_t *last = latest_parts(c);
    memset(c->node_home, 0xff, m->nnode * sizeof *c->node_home);  /* -1: no part */
    memset(c->value_home, 0xff, m->nval * sizeof *c->value_home); /* -1: no part */
    for (nid n = g->first + g->count; n-- > g->first;) {
        const struct node *nd = &m->node[n];
        int32_t x = c->parts->part_of[n];
        if (is_copy(c, n)) {
            /* no part reads the copy (else it has a home by now), but the model may return its result */
            for (uint32_t i = 0; c->node_home[n] < 0 && i < nd->out.n; i++)
                if (is_returned(c, m->arg[nd->out.at + i]))
                    c->node_home[n] = last[n] < 0 ? 0 : last[n];
            x = c->node_home[n];
        }
        for (uint32_t i = 0; x >= 0 && i < nd->in.n; i++)
            if (m->arg[nd->in.at + i])
                offer_home(c, m->arg[nd->in.at + i], x);
    }
    for (uint32_t i = 0; i < g->out.n; i++) {
        vid v = m->arg[g->out.at + i];
        if (is_init(c, v) && c->value_home[v] < 0)
            c->value_home[v] = 0;
    }
}

/* ---- contents of parts ---------------------------------------------------------------------- */

/* Adds node n to the copies of part x and pushes n on the stack, unless part x has the copy already. */
static void need_copy(struct parts_builder *c, uint32_t x, nid n)
{
    assert(x < c->parts->nparts && is_copy(c, n));
    if (c->node_seen[n] == x + 1)
        return;
    c->node_seen[n] = x + 1;
    c->stack = vec_grow(c->a, c->stack, &c->capstack, c->nstack + 1, sizeof *c->stack);
    c->stack[c->nstack++] = n;
    pairs_add(&c->copy, n, x);
}

/* Notes that part x needs value v: as a copy, an initializer, or an input, unless the part makes v itself. */
static void need_value(struct parts_builder *c, uint32_t x, vid v)
{
    nid def = c->m->value[v].def;
    if (!v || c->value_seen[v] == x + 1)
        return;
    c->value_seen[v] = x + 1;
    if (is_copy(c, def))
        need_copy(c, x, def);
    else if (is_init(c, v))
        pairs_add(&c->weight, v, x);
    else if (!def || c->parts->part_of[def] != (int32_t)x)
        pairs_add(&c->in, c->order[v], x);
}

/* Notes that part x needs all operands of node n. */
static void need_operands(struct parts_builder *c, uint32_t x, nid n)
{
    const struct slice in = c->m->node[n].in;
    for (uint32_t i = 0; i < in.n; i++)
        need_value(c, x, c->m->arg[in.at + i]);
}

/* Fills in order[] and by_order[]: model inputs in the model's order, then the results of all nodes, by node.  The
 * inputs and outputs of parts are listed in this order. */
static void rank_values(struct parts_builder *c)
{
    const struct module *m = c->m;
    const struct graph *g = &m->graph[1];
    c->order = arena_array(c->a, m->nval, sizeof *c->order);
    c->by_order = arena_array(c->a, m->nval, sizeof *c->by_order);
    for (uint32_t i = 0; i < g->in.n; i++) {
        c->order[m->arg[g->in.at + i]] = c->norder;
        c->by_order[c->norder++] = m->arg[g->in.at + i];
    }
    for (nid n = g->first; n < g->first + g->count; n++)
        for (uint32_t i = 0; i < m->node[n].out.n; i++) {
            vid v = m->arg[m->node[n].out.at + i];
            if (!v)
                continue;
            c->order[v] = c->norder;
            c->by_order[c->norder++] = v;
        }
}

/* Returns the rows part -> its items, ascending, made from pairs (item, part), item < items.  name: [item] the number
 * to write instead of the item; NULL: the item itself. */
static struct csr items_by_part(struct parts_builder *c, const struct pairs *q, uint32_t items,
                                const vid *name)
{
    struct csr by_item = pairs_rows(q, items);
    struct pairs turned = pairs_new(c->a, q->n);
    for (uint32_t r = 0; r < items; r++)
        for_row (x, by_item, r)
            pairs_add(&turned, x, name ? name[r] : r);
    return pairs_rows(&turned, c->parts->nparts);
}

/* Returns part -> model outputs that the part passes on although none of its placed nodes makes them: results of
 * copies and initializers. */
static struct csr list_passed_on(struct parts_builder *c)
{
    const struct graph *g = &c->m->graph[1];
    struct pairs q = {.a = c->a};
    for (uint32_t i = 0; i < g->out.n; i++) {
        vid v = c->m->arg[g->out.at + i];
        nid def = c->m->value[v].def;
        int32_t x = is_copy(c, def) ? c->node_home[def] : is_init(c, v) ? c->value_home[v] : -1;
        if (x >= 0 && (uint32_t)x < c->parts->nparts)
            pairs_add(&q, (uint32_t)x, v);
    }
    return pairs_rows(&q, c->parts->nparts);
}

/* Fills in the nodes, copies, inputs and weights of all parts.  nodes: part -> placed nodes. */
static void fill_lists(struct parts_builder *c, const struct csr *nodes)
{
    struct parts *parts = c->parts;
    struct csr passed_on = list_passed_on(c);
    for (uint32_t x = 0; x < parts->nparts; x++) {
        for_row (y, passed_on, x)
            need_value(c, x, y);
        for_row (n, *nodes, x)
            need_operands(c, x, n);
        while (c->nstack) /* copies that the part needs, whose own operands are not looked at yet */
            need_operands(c, x, c->stack[--c->nstack]);
    }
    struct csr in = items_by_part(c, &c->in, c->norder, c->by_order);
    struct csr copy = items_by_part(c, &c->copy, c->m->nnode, NULL);
    struct csr weight = items_by_part(c, &c->weight, c->m->nval, NULL);
    for (uint32_t x = 0; x < parts->nparts; x++) {
        struct part *t = &parts->part[x];
        t->node = nodes->to + nodes->at[x];
        t->nnode = nodes->at[x + 1] - nodes->at[x];
        t->in = in.to + in.at[x];
        t->nin = in.at[x + 1] - in.at[x];
        t->copy = copy.to + copy.at[x];
        t->ncopy = copy.at[x + 1] - copy.at[x];
        t->weight = weight.to + weight.at[x];
        t->nweight = weight.at[x + 1] - weight.at[x];
    }
}

/* ---- outputs and crossings ------------------------------------------------------------------ */

/* Fills parts->cross with the values that one part makes and others read, and parts->cross_to with the readers of each
 * of these values. */
static void find_crossings(struct parts_builder *c)
{
    struct parts *parts = c->parts;
    struct csr readers = pairs_rows(&c->in, c->norder);
    struct pairs to = {.a = c->a};
    parts->cross = arena_array(c->a, c->norder, sizeof *parts->cross);
    for (uint32_t r = 0; r < c->norder; r++) {
        vid v = c->by_order[r];
        nid def = c->m->value[v].def;
        if (!def || readers.at[r] == readers.at[r + 1])
            continue;
        for_row (reader, readers, r) {
            /* the part that makes the value comes before the part that reads it */
            assert(parts->part_of[def] < (int32_t)reader);
            pairs_add(&to, parts->ncross, reader);
        }
        parts->cross[parts->ncross++] = v;
    }
    parts->cross_to = pairs_rows(&to, parts->ncross);
}

/* Fills parts->out_from: for each output of the model the part that returns it. */
static void find_sources(struct parts_builder *c)
{
    const struct module *m = c->m;
    const struct graph *g = &m->graph[1];
    struct parts *parts = c->parts;
    parts->out_from = arena_array(c->a, g->out.n, sizeof *parts->out_from);
    for (uint32_t i = 0; i < g->out.n; i++) {
        vid v = m->arg[g->out.at + i];
        nid def = m->value[v].def;
        if (is_copy(c, def))
            parts->out_from[i] = c->node_home[def];
        else if (def)
            parts->out_from[i] = parts->part_of[def];
        else if (is_init(c, v))
            parts->out_from[i] = parts->nparts ? c->value_home[v] : PART_OF_WEIGHTS;
        else
            parts->out_from[i] = PART_OF_INPUT;
    }
}

/* Fills in the outputs of all parts: first results of placed nodes that others read, then results of copies and
 * initializers that the model returns. */
static void fill_outputs(struct parts_builder *c)
{
    const struct module *m = c->m;
    const struct graph *g = &m->graph[1];
    struct parts *parts = c->parts;
    struct pairs out = {.a = c->a};
    uint8_t *crosses = arena_alloc(c->a, m->nval), *done = arena_alloc(c->a, m->nval);
    for (uint32_t i = 0; i < parts->ncross; i++)
        crosses[parts->cross[i]] = 1;
    /* results of placed nodes that other parts or the model's caller read */
    for (uint32_t r = 0; r < c->norder; r++) {
        vid v = c->by_order[r];
        int32_t x = parts->part_of[m->value[v].def];
        if (x >= 0 && (crosses[v] || is_returned(c, v)))
            pairs_add(&out, (uint32_t)x, v);
    }
    /* outputs of the model that are results of copies, or initializers: one part returns each of them, once */
    for (uint32_t i = 0; i < g->out.n; i++) {
        vid v = m->arg[g->out.at + i];
        if (parts->out_from[i] < 0 || done[v] || parts->part_of[m->value[v].def] >= 0)
            continue;
        done[v] = 1;
        pairs_add(&out, (uint32_t)parts->out_from[i], v);
    }
    struct csr lists = pairs_rows(&out, parts->nparts);
    for (uint32_t x = 0; x < parts->nparts; x++) {
        parts->part[x].out = lists.to + lists.at[x];
        parts->part[x].nout = lists.at[x + 1] - lists.at[x];
    }
}

/* ---- making parts --------------------------------------------------------------------------- */

/* Makes the parts, with their devices and part_of, but without their lists.  Returns part -> its placed nodes. */
static struct csr group_nodes(struct parts_builder *c, const struct pieces *k)
{
    const struct module *m = c->m;
    const struct graph *g = &m->graph[1];
    struct parts *parts = c->parts;
    struct pairs in = {.a = c->a};
    bool copy_returned = false;
    parts->nparts = k->n;
    parts->part_of = arena_array(c->a, m->nnode, sizeof *parts->part_of);
    memset(parts->part_of, 0xff, m->nnode * sizeof *parts->part_of); /* -1: not placed */
    for (nid n = g->first; n < g->first + g->count; n++)
        if (c->p->kind[n] == PLACE_NODE) {
            assert(k->piece[n] < k->n);
            parts->part_of[n] = (int32_t)k->piece[n];
            pairs_add(&in, k->piece[n], n);
        }
    for (uint32_t i = 0; i < g->out.n; i++)
        copy_returned |= is_copy(c, m->value[m->arg[g->out.at + i]].def);
    /* if no node is placed, one part on device 0 makes the outputs that are results of copies */
    if (!parts->nparts && copy_returned)
        parts->nparts = 1;
    parts->part = arena_array(c->a, parts->nparts, sizeof *parts->part);
    for (uint32_t x = 0; x < parts->nparts; x++)
        parts->part[x].dev = in.n ? (uint32_t)k->dev[x] : 0;
    return pairs_rows(&in, parts->nparts);
}

struct parts *parts_of_pieces(const struct scene *s, const struct pieces *k, struct arena *a)
{
    const struct module *m = s->m;
    struct parts_builder c = {
        .m = m, .p = s->place, .a = a, .parts = arena_alloc(a, sizeof *c.parts)};
    c.in = c.copy = c.weight = (struct pairs){.a = a};
    struct csr nodes = group_nodes(&c, k);
    c.node_home = arena_array(a, m->nnode, sizeof *c.node_home);
    c.value_home = arena_array(a, m->nval, sizeof *c.value_home);
    c.node_seen = arena_array(a, m->nnode, sizeof *c.node_seen);
    c.value_seen = arena_array(a, m->nval, sizeof *c.value_seen);
    rank_values(&c);
    find_homes(&c);
    fill_lists(&c, &nodes);
    find_crossings(&c);
    find_sources(&c);
    fill_outputs(&c);
    return c.parts;
}

struct parts *parts_build(const struct scene *s, const int32_t *dev, struct arena *a)
{
    const struct graph *g = &s->m->graph[1];
    struct pieces k = {.piece = arena_array(a, s->m->nnode, sizeof *k.piece)};
    for (nid n = g->first; n < g->first + g->count; n++)
        if (s->place->kind[n] == PLACE_NODE && (dev[n] < 0 || (uint32_t)dev[n] >= s->cluster->ndev))
            return NULL;
    k.n = pieces_build(s, dev, k.piece, &k.dev, a);
    return parts_of_pieces(s, &k, a);
}

/* Whether a stage has its backward nodes in other parts than its forward nodes, because it recomputes. */
static bool is_pass_apart(const struct staged_plan *p, int32_t stage)
{
    return p->scene->m->backward && p->stages->recompute[stage];
}

struct parts *parts_of_plan(const struct staged_plan *p, struct arena *a)
{
    /* sorts of nodes of a stage: nodes of different sorts are in different parts */
    enum { USUAL_NODE, BACKWARD_NODE, WEIGHT_NODE, UPDATE_NODE, SORTS };
    const struct scene *s = p->scene;
    const struct graph *g = &s->m->graph[1];
    bool weights = weight_pass_apart(s), updates = update_pass_wanted(s);
    bool apart = weights || updates; /* some stage may have nodes of several sorts */
    struct pieces k = {.piece = arena_array(a, s->m->nnode, sizeof *k.piece)};
    for (uint32_t i = 0; p->stages && i < p->stages->n; i++)
        apart = apart || is_pass_apart(p, (int32_t)i);
    if (!p->stages || (!p->plan->stage_of && !apart))
        return parts_build(s, p->plan->dev, a);
    const int32_t *stage_of = plan_stage_of(p, a);
    const uint8_t *weight = weights ? weight_pass_nodes(s, stage_of, a) : NULL;
    const struct update_pass update =
        updates ? update_pass_find(p, stage_of, a) : (struct update_pass){.why = "not wanted"};
    /* [node] what pieces_build() gets as the node's device: SORTS * stage + sort */
    int32_t *as_device = arena_array(a, s->m->nnode, sizeof *as_device);
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (s->place->kind[n] != PLACE_NODE)
            continue;
        if (stage_of[n] < 0 || (uint32_t)stage_of[n] >= p->stages->n)
            return NULL;
        int32_t sort = USUAL_NODE;
        if (!update.why && update.own[n])
            sort = UPDATE_NODE;
        else if (weight && weight[n])
            sort = WEIGHT_NODE;
        else if (is_pass_apart(p, stage_of[n]) && s->m->backward[n])
            sort = BACKWARD_NODE;
        as_device[n] = SORTS * stage_of[n] + sort;
    }
    k.n = pieces_build(s, as_device, k.piece, &k.dev, a);
    /* k.dev has SORTS * stage + sort for each piece: replaces that by the stage's first device */
    for (uint32_t i = 0; i < k.n; i++)
        k.dev[i] = (int32_t)p->stages->device.to[p->stages->device.at[k.dev[i] / SORTS]];
    return parts_of_pieces(s, &k, a);
}

const char *part_file(const struct parts *c, uint32_t part, struct arena *a)
{
    assert(part < c->nparts);
    int digits = 1; /* of the largest number, nparts - 1 */
    for (uint32_t n = c->nparts; n > 10; n = (n + 9) / 10)
        digits++;
    return arena_fmt(a, "part%0*u.onnx", digits, part);
}

bool part_is_back(const struct module *m, const struct part *p)
{
    for (uint32_t i = 0; m->backward && i < p->nnode; i++)
        if (m->backward[p->node[i]])
            return true;
    return false;
}
