/* From a plan to parts.
 *
 * The placed nodes are grouped by pieces.c.  Then each part gets, by a walk over the operands of
 * its nodes, the replicated nodes that it needs (and theirs), the initializers, and as inputs
 * whatever else is read: model inputs and results of other parts.  A replicated node never crosses;
 * if no placed node needs one whose result the model returns, the latest part that makes something
 * it stands on computes it (that keeps the order legal).  An initializer that the model returns is passed on by a
 * part that uses it, else by the first.
 *
 * O(nodes + operands) plus the copies that the parts hold in the end. */
#include "ir/plan/parts.h"

#include "ir/plan/pieces.h"
#include "ir/plan/weight_pass.h"

#include <assert.h>
#include <string.h>

/* Pairs (row, entry) for csr_build. */
struct pairs {
    uint32_t *row, *entry;
    uint32_t n, caprow, capentry;
};

struct parting {
    const struct module *m;
    const struct place *p;
    struct arena *a;
    struct parts *parts;
    /* [node] of a copy: the first part that needs it, which also returns it if need be; -1: none */
    int32_t *node_home;
    int32_t *value_home;              /* [value] of an initializer: the same */
    uint32_t *node_seen, *value_seen; /* 1 + the part that noted it last */
    nid *stack;                       /* copies whose operands are still to be read */
    uint32_t nstack, capstack;
    uint32_t *order; /* [value] rank among model inputs and results */
    vid *by_order;   /* its inverse */
    uint32_t norder;
    struct pairs in, copy, weight; /* (order, part), (node, part), (value, part) */
};

static void add_pair(struct parting *c, struct pairs *q, uint32_t row, uint32_t entry)
{
    assert(q->n < UINT32_MAX);
    q->row = vec_grow(c->a, q->row, &q->caprow, q->n + 1, sizeof *q->row);
    q->entry = vec_grow(c->a, q->entry, &q->capentry, q->n + 1, sizeof *q->entry);
    q->row[q->n] = row;
    q->entry[q->n++] = entry;
}

static bool is_copy(const struct parting *c, nid n)
{
    return n && c->p->kind[n] == PLACE_COPY;
}

static bool is_init(const struct parting *c, vid v)
{
    return (c->m->value[v].flags & VALUE_INIT) != 0 && !c->m->value[v].def;
}

static bool is_returned(const struct parting *c, vid v)
{
    return (c->m->value[v].flags & VALUE_OUTPUT) != 0 && c->m->value[v].graph == 1;
}

/* ---- who needs what ------------------------------------------------------------------------- */

/* Makes part x the home of v (an initializer, or a copy's result) if it is earlier than the present one. */
static void offer_home(struct parting *c, vid v, int32_t x)
{
    nid def = c->m->value[v].def;
    int32_t *home = is_copy(c, def) ? &c->node_home[def] : is_init(c, v) ? &c->value_home[v] : NULL;
    if (home && (*home < 0 || x < *home))
        *home = x;
}

/* [node] of a copy: the latest part that makes something it is computed from; -1: none. */
static int32_t *latest_parts(struct parting *c)
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

static void find_homes(struct parting *c)
{
    const struct module *m = c->m;
    const struct graph *g = &m->graph[1];
    int32_t *last = latest_parts(c);
    memset(c->node_home, 0xff, m->nnode * sizeof *c->node_home);
    memset(c->value_home, 0xff, m->nval * sizeof *c->value_home);
    for (nid n = g->first + g->count; n-- > g->first;) {
        const struct node *nd = &m->node[n];
        int32_t x = c->parts->part_of[n];
        if (is_copy(c, n)) {
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

/* ---- what a part holds ---------------------------------------------------------------------- */

static void need_copy(struct parting *c, uint32_t x, nid n)
{
    assert(x < c->parts->nparts && is_copy(c, n));
    if (c->node_seen[n] == x + 1)
        return;
    c->node_seen[n] = x + 1;
    c->stack = vec_grow(c->a, c->stack, &c->capstack, c->nstack + 1, sizeof *c->stack);
    c->stack[c->nstack++] = n;
    add_pair(c, &c->copy, n, x);
}

static void need_value(struct parting *c, uint32_t x, vid v)
{
    nid def = c->m->value[v].def;
    if (!v || c->value_seen[v] == x + 1)
        return;
    c->value_seen[v] = x + 1;
    if (is_copy(c, def))
        need_copy(c, x, def);
    else if (is_init(c, v))
        add_pair(c, &c->weight, v, x);
    else if (!def || c->parts->part_of[def] != (int32_t)x)
        add_pair(c, &c->in, c->order[v], x);
}

static void need_operands(struct parting *c, uint32_t x, nid n)
{
    const struct slice in = c->m->node[n].in;
    for (uint32_t i = 0; i < in.n; i++)
        need_value(c, x, c->m->arg[in.at + i]);
}

/* Ranks the values in the order of parts' inputs: model inputs, then results. */
static void rank_values(struct parting *c)
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

/* From pairs (row, part): part -> name[row] (the row itself if name is NULL), by ascending row. */
static struct csr turn_pairs(struct parting *c, const struct pairs *q, uint32_t rows,
                             const vid *name)
{
    struct csr by_row = csr_build(c->a, rows, q->n, q->row, q->entry);
    uint32_t *part = arena_array(c->a, q->n, sizeof *part), k = 0;
    uint32_t *entry = arena_array(c->a, q->n, sizeof *entry);
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t i = by_row.at[r]; i < by_row.at[r + 1]; i++) {
            part[k] = by_row.to[i];
            entry[k++] = name ? name[r] : r;
        }
    assert(k == q->n);
    return csr_build(c->a, c->parts->nparts, k, part, entry);
}

/* part -> values that it returns for the model although no placed node of it makes them: results of copies,
 * initializers. */
static struct csr list_carried(struct parting *c)
{
    const struct graph *g = &c->m->graph[1];
    struct pairs q = {0};
    for (uint32_t i = 0; i < g->out.n; i++) {
        vid v = c->m->arg[g->out.at + i];
        nid def = c->m->value[v].def;
        int32_t x = is_copy(c, def) ? c->node_home[def] : is_init(c, v) ? c->value_home[v] : -1;
        if (x >= 0 && (uint32_t)x < c->parts->nparts)
            add_pair(c, &q, (uint32_t)x, v);
    }
    return csr_build(c->a, c->parts->nparts, q.n, q.row, q.entry);
}

static void fill_lists(struct parting *c, const struct csr *nodes)
{
    struct parts *parts = c->parts;
    struct csr also = list_carried(c);
    for (uint32_t x = 0; x < parts->nparts; x++) {
        for (uint32_t i = also.at[x]; i < also.at[x + 1]; i++)
            need_value(c, x, also.to[i]);
        for (uint32_t i = nodes->at[x]; i < nodes->at[x + 1]; i++)
            need_operands(c, x, nodes->to[i]);
        while (c->nstack)
            need_operands(c, x, c->stack[--c->nstack]);
    }
    struct csr in = turn_pairs(c, &c->in, c->norder, c->by_order);
    struct csr copy = turn_pairs(c, &c->copy, c->m->nnode, NULL);
    struct csr weight = turn_pairs(c, &c->weight, c->m->nval, NULL);
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

static void find_crossings(struct parting *c)
{
    struct parts *parts = c->parts;
    struct csr readers = csr_build(c->a, c->norder, c->in.n, c->in.row, c->in.entry);
    struct pairs to = {0};
    parts->cross = arena_array(c->a, c->norder, sizeof *parts->cross);
    for (uint32_t r = 0; r < c->norder; r++) {
        vid v = c->by_order[r];
        nid def = c->m->value[v].def;
        if (!def || readers.at[r] == readers.at[r + 1])
            continue;
        for (uint32_t i = readers.at[r]; i < readers.at[r + 1]; i++) {
            assert(parts->part_of[def] < (int32_t)readers.to[i]); /* made before it is read */
            add_pair(c, &to, parts->ncross, readers.to[i]);
        }
        parts->cross[parts->ncross++] = v;
    }
    parts->cross_to = csr_build(c->a, parts->ncross, to.n, to.row, to.entry);
}

/* Where each output of the model comes from. */
static void find_sources(struct parting *c)
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

static void fill_outputs(struct parting *c)
{
    const struct module *m = c->m;
    const struct graph *g = &m->graph[1];
    struct parts *parts = c->parts;
    struct pairs out = {0};
    uint8_t *crosses = arena_alloc(c->a, m->nval), *done = arena_alloc(c->a, m->nval);
    for (uint32_t i = 0; i < parts->ncross; i++)
        crosses[parts->cross[i]] = 1;
    for (uint32_t r = 0; r < c->norder; r++) {
        vid v = c->by_order[r];
        int32_t x = parts->part_of[m->value[v].def];
        if (x >= 0 && (crosses[v] || is_returned(c, v)))
            add_pair(c, &out, (uint32_t)x, v);
    }
    for (uint32_t i = 0; i < g->out.n; i++) {
        vid v = m->arg[g->out.at + i];
        if (parts->out_from[i] < 0 || done[v] || parts->part_of[m->value[v].def] >= 0)
            continue;
        done[v] = 1;
        add_pair(c, &out, (uint32_t)parts->out_from[i], v);
    }
    struct csr lists = csr_build(c->a, parts->nparts, out.n, out.row, out.entry);
    for (uint32_t x = 0; x < parts->nparts; x++) {
        parts->part[x].out = lists.to + lists.at[x];
        parts->part[x].nout = lists.at[x + 1] - lists.at[x];
    }
}

/* ---- the cut -------------------------------------------------------------------------------- */

/* Groups the placed nodes; returns part -> nodes. */
static struct csr group_nodes(struct parting *c, const struct pieces *k)
{
    const struct module *m = c->m;
    const struct graph *g = &m->graph[1];
    struct parts *parts = c->parts;
    struct pairs in = {0};
    bool copies_only = false;
    parts->nparts = k->n;
    parts->part_of = arena_array(c->a, m->nnode, sizeof *parts->part_of);
    memset(parts->part_of, 0xff, m->nnode * sizeof *parts->part_of);
    for (nid n = g->first; n < g->first + g->count; n++)
        if (c->p->kind[n] == PLACE_NODE) {
            assert(k->piece[n] < k->n);
            parts->part_of[n] = (int32_t)k->piece[n];
            add_pair(c, &in, k->piece[n], n);
        }
    for (uint32_t i = 0; i < g->out.n; i++)
        copies_only |= is_copy(c, m->value[m->arg[g->out.at + i]].def);
    if (!parts->nparts && copies_only)
        parts->nparts = 1;
    parts->part = arena_array(c->a, parts->nparts, sizeof *parts->part);
    for (uint32_t x = 0; x < parts->nparts; x++)
        parts->part[x].dev = in.n ? (uint32_t)k->dev[x] : 0;
    return csr_build(c->a, parts->nparts, in.n, in.row, in.entry);
}

struct parts *parts_of_pieces(const struct scene *s, const struct pieces *k, struct arena *a)
{
    const struct module *m = s->m;
    struct parting c = {.m = m, .p = s->place, .a = a, .parts = arena_alloc(a, sizeof *c.parts)};
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

struct parts *parts_of_plan(const struct planned *p, struct arena *a)
{
    const struct scene *s = p->scene;
    const struct graph *g = &s->m->graph[1];
    bool apart = weight_pass_apart(s);
    struct pieces k = {.piece = arena_array(a, s->m->nnode, sizeof *k.piece)};
    if (!p->stages || (!p->plan->stage_of && !apart))
        return parts_build(s, p->plan->dev, a);
    const int32_t *stage_of = plan_stage_of(p, a);
    const uint8_t *weight = apart ? weight_pass_nodes(s, stage_of, a) : NULL;
    int32_t *lane = arena_array(a, s->m->nnode, sizeof *lane); /* as if each were a device */
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (s->place->kind[n] != PLACE_NODE)
            continue;
        if (stage_of[n] < 0 || (uint32_t)stage_of[n] >= p->stages->n)
            return NULL;
        lane[n] = 2 * stage_of[n] + (weight && weight[n]);
    }
    k.n = pieces_build(s, lane, k.piece, &k.dev, a);
    for (uint32_t i = 0; i < k.n; i++)
        k.dev[i] = (int32_t)p->stages->device.to[p->stages->device.at[k.dev[i] / 2]];
    return parts_of_pieces(s, &k, a);
}

const char *part_file(const struct parts *c, uint32_t part, struct arena *a)
{
    assert(part < c->nparts);
    int digits = 1;
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
