/* Equality of modules, field by field, for tests.
 *
 * Not compared: pointers into files and protobuf messages, how the pools are laid out, and the
 * numbers of values and nodes: a value is matched by where it is defined, a node by its place in
 * its graph.  Graphs must have the same numbers.  Arrays of facts that are all 0 equal absent
 * ones. The first difference goes to stderr. */
#ifndef PCC_TESTS_MODULE_EQUAL_H
#define PCC_TESTS_MODULE_EQUAL_H

#include "ir/ir.h"
#include "ir/base/strings.h"

#include <stdio.h>
#include <string.h>

struct equality {
    const struct module *a, *b;
    vid *value; /* [value of a] value of b */
    nid *node;
    /* b was read from the file that a was written to: weights lie elsewhere, and what passes made is not marked, nor is
     * the type of a value that is no input or output */
    bool written;
};

static inline bool same_if(bool same, const char *what, uint32_t id)
{
    if (!same) {
        fprintf(stderr, "modules differ: %s (%u)\n", what, id);
    }
    return same;
}

static inline bool same_str(const struct equality *e, sid a, sid b)
{
    size_t n = strings_size(e->a->str, a);

    return n == strings_size(e->b->str, b) &&
           memcmp(module_str(e->a, a), module_str(e->b, b), n) == 0;
}

static inline bool same_dim(const struct equality *e, struct dim a, struct dim b)
{
    return a.value == b.value && same_str(e, a.sym, b.sym);
}

static inline bool same_type(const struct equality *e, uint32_t a, uint32_t b)
{
    for (;;) {
        const struct type *x = &e->a->type[a], *y = &e->b->type[b];
        bool dims = x->kind == TYPE_TENSOR || x->kind == TYPE_SPARSE;
        bool elem = dims || x->kind == TYPE_MAP; /* the others leave elem and rank open */
        if (x->kind != y->kind || (elem && x->elem != y->elem) || (dims && x->rank != y->rank)) {
            return false;
        }
        for (int i = 0; dims && i < x->rank; i++) {
            if (!same_dim(e, e->a->dim[x->dim + (uint32_t)i], e->b->dim[y->dim + (uint32_t)i])) {
                return false;
            }
        }
        if (x->kind != TYPE_SEQ && x->kind != TYPE_OPT && x->kind != TYPE_MAP) {
            return true;
        }
        a = x->inner;
        b = y->inner;
    }
}

static inline bool same_about(const struct equality *e, uint32_t a, uint32_t b)
{
    const struct about *x = &e->a->about[a], *y = &e->b->about[b];
    bool same =
        same_str(e, x->doc, y->doc) && x->meta.n == y->meta.n &&
        str_size(e->a, x->rest) == str_size(e->b, y->rest) &&
        memcmp(module_str(e->a, x->rest), module_str(e->b, y->rest), str_size(e->a, x->rest)) == 0;

    for (uint32_t i = 0; same && i < x->meta.n; i++) {
        same = same_str(e, e->a->sids[x->meta.at + i], e->b->sids[y->meta.at + i]);
    }
    return same;
}

/* The same bytes, wherever they are. */
static inline bool same_bytes(const struct equality *e, tid a, tid b)
{
    enum { BLOCK = 4096 };
    unsigned char p[BLOCK], q[BLOCK];
    const uint64_t len = e->a->tensor[a].len;
    const struct tensor *x = &e->a->tensor[a], *y = &e->b->tensor[b];
    bool same = len == y->len;

    if (x->where == TENSOR_FILE && e->a->file[x->file].fd < 0) /* it is not there */
        return same && y->where == TENSOR_FILE && x->off == y->off &&
               same_str(e, e->a->file[x->file].location, e->b->file[y->file].location);
    for (uint64_t at = 0, n; same && at < len; at += n) {
        n = len - at < BLOCK ? len - at : BLOCK;
        same = tensor_read(e->a, a, at, p, n) == 0 && tensor_read(e->b, b, at, q, n) == 0 &&
               memcmp(p, q, n) == 0;
    }
    return same;
}

static inline bool same_tensor(const struct equality *e, tid a, tid b)
{
    const struct tensor *x = &e->a->tensor[a], *y = &e->b->tensor[b];
    if (e->written && a != 0 && b != 0 && tensor_has_bytes(x) && tensor_has_bytes(y)) {
        bool same = same_str(e, x->name, y->name) && x->elem == y->elem && x->rank == y->rank &&
                    x->typed == y->typed;
        for (uint32_t i = 0; same && i < x->rank; i++)
            same = e->a->ints[x->dim + i] == e->b->ints[y->dim + i];
        return same && same_bytes(e, a, b);
    }
    bool same = (a == 0) == (b == 0) && same_str(e, x->name, y->name) && x->elem == y->elem &&
                x->where == y->where && x->rank == y->rank && x->file == y->file &&
                x->typed == y->typed && same_about(e, x->about, y->about) && x->axis == y->axis &&
                x->range.n == y->range.n && x->len == y->len &&
                (x->where == TENSOR_STRINGS || x->off == y->off);

    for (uint32_t i = 0; same && i < x->rank; i++) {
        same = e->a->ints[x->dim + i] == e->b->ints[y->dim + i];
    }
    for (uint32_t i = 0; same && i < x->range.n; i++) {
        same = e->a->ints[x->range.at + i] == e->b->ints[y->range.at + i];
    }
    for (int k = 0; same && a != 0 && k < 2; k++) {
        same = same_tensor(e, x->of[k], y->of[k]);
    }
    for (uint64_t i = 0; same && x->where == TENSOR_STRINGS && i < x->len; i++) {
        same = same_str(e, e->a->sids[x->off + i], e->b->sids[y->off + i]);
    }
    return same && (a == 0 || x->where != TENSOR_INLINE || x->len == 0 ||
                    memcmp(x->data, y->data, x->len) == 0);
}

static inline bool same_list_entry(const struct equality *e, unsigned kind, uint32_t i, uint32_t k)
{
    switch (kind) {
    case ATTR_FLOATS:
        return memcmp(&e->a->floats[i], &e->b->floats[k], sizeof(float)) == 0;
    case ATTR_INTS:
        return e->a->ints[i] == e->b->ints[k];
    case ATTR_STRINGS:
        return same_str(e, e->a->sids[i], e->b->sids[k]);
    case ATTR_GRAPHS:
        return e->a->refs[i] == e->b->refs[k];
    case ATTR_TYPES:
        return same_type(e, e->a->refs[i], e->b->refs[k]);
    default:
        return same_tensor(e, e->a->refs[i], e->b->refs[k]);
    }
}

static inline bool same_attr(const struct equality *e, const struct attr *x, const struct attr *y)
{
    if (!same_str(e, x->name, y->name) || !same_str(e, x->ref, y->ref) || x->kind != y->kind ||
        x->untyped != y->untyped || x->unset != y->unset || !same_about(e, x->about, y->about)) {
        return false;
    }
    if (x->ref != 0) {
        return true;
    }
    switch (x->kind) {
    case ATTR_NONE:
        return true;
    case ATTR_TYPE:
        return same_type(e, x->u.type, y->u.type);
    case ATTR_FLOAT:
        return memcmp(&x->u.f, &y->u.f, sizeof x->u.f) == 0;
    case ATTR_INT:
        return x->u.i == y->u.i;
    case ATTR_STRING:
        return same_str(e, x->u.s, y->u.s);
    case ATTR_TENSOR:
    case ATTR_SPARSE:
        return same_tensor(e, x->u.t, y->u.t);
    case ATTR_GRAPH:
        return x->u.g == y->u.g;
    default:
        break;
    }
    bool same = x->u.list.n == y->u.list.n;
    for (uint32_t i = 0; same && i < x->u.list.n; i++) {
        same = same_list_entry(e, x->kind, x->u.list.at + i, y->u.list.at + i);
    }
    return same;
}

/* Lists of values defined here: matches them. */
static inline bool match_values(struct equality *e, struct slice a, struct slice b)
{
    for (uint32_t i = 0; a.n == b.n && i < a.n; i++) {
        vid v = e->a->arg[a.at + i], w = e->b->arg[b.at + i];
        if ((v == 0) != (w == 0) || (e->value[v] != 0 && e->value[v] != w)) {
            return false;
        }
        e->value[v] = w;
    }
    return a.n == b.n;
}

static inline bool match_graphs(struct equality *e)
{
    for (gid g = 1; g < e->a->ngraph; g++) {
        const struct graph *x = &e->a->graph[g], *y = &e->b->graph[g];
        if (!same_if(x->count == y->count && match_values(e, x->in, y->in) &&
                         match_values(e, x->init, y->init),
                     "nodes, inputs or initializers of graph", g)) {
            return false;
        }
        for (uint32_t i = 0; i < x->count; i++) {
            nid n = x->first + i, o = y->first + i;
            e->node[n] = o;
            if (!same_if(match_values(e, e->a->node[n].out, e->b->node[o].out), "results of node",
                         n)) {
                return false;
            }
        }
    }
    return true;
}

static inline bool same_reads(const struct equality *e, struct slice a, struct slice b)
{
    bool same = a.n == b.n;

    for (uint32_t i = 0; same && i < a.n; i++) {
        same = e->value[e->a->arg[a.at + i]] == e->b->arg[b.at + i];
    }
    return same;
}

static inline bool same_values(const struct equality *e)
{
    for (vid v = 1; v < e->a->nval; v++) {
        const struct value *x = &e->a->value[v], *y = &e->b->value[e->value[v]];
        const uint32_t flags = ~(uint32_t)(e->written ? VALUE_RETYPED : 0);
        bool untold = e->written && e->b->type[y->type].kind == TYPE_NONE && x->def != 0;
        if (e->written && x->name == 0 && x->flags == VALUE_LOST)
            continue; /* it was dropped */
        if (!same_if(e->value[v] != 0 && same_str(e, x->name, y->name) &&
                         e->node[x->def] == y->def && x->outno == y->outno &&
                         x->graph == y->graph && (x->flags & flags) == (y->flags & flags),
                     "name, definition or flags of value", v) ||
            !same_if(untold || same_type(e, x->type, y->type), "type of value", v) ||
            !same_if(same_tensor(e, x->tensor, y->tensor), "tensor of value", v)) {
            return false;
        }
    }
    return true;
}

static inline bool same_nodes(const struct equality *e)
{
    for (nid n = 1; n < e->a->nnode; n++) {
        const struct node *x = &e->a->node[n], *y = &e->b->node[e->node[n]];
        bool attrs = x->attr.n == y->attr.n;
        const uint32_t flags = ~(uint32_t)(e->written ? NODE_MADE : 0);
        for (uint32_t i = 0; attrs && i < x->attr.n; i++) {
            attrs = same_attr(e, &e->a->attr[x->attr.at + i], &e->b->attr[y->attr.at + i]);
        }
        if (!same_if(same_str(e, x->name, y->name) && same_str(e, x->op, y->op) &&
                         same_str(e, x->domain, y->domain) &&
                         same_str(e, x->overload, y->overload) &&
                         (x->flags & flags) == (y->flags & flags) && x->callee == y->callee &&
                         x->graph == y->graph && same_about(e, x->about, y->about) &&
                         (e->written || same_str(e, x->made_from, y->made_from)),
                     "name, operator or flags of node", n) ||
            !same_if(x->nformal == y->nformal && same_reads(e, x->in, y->in), "operands of node",
                     n) ||
            !same_if(attrs, "attributes of node", n)) {
            return false;
        }
    }
    return true;
}

static inline bool same_header(const struct equality *e)
{
    const struct module *a = e->a, *b = e->b;
    bool same = a->nopset == b->nopset &&
                (e->written || (same_str(e, a->path, b->path) && a->ir_version == b->ir_version &&
                                a->nfile == b->nfile));

    for (uint32_t i = 1; same && i < a->nopset; i++) {
        same = same_str(e, a->opset[i].domain, b->opset[i].domain) &&
               a->opset[i].version == b->opset[i].version;
    }
    for (uint32_t i = 1; same && i < a->nfile && !e->written; i++) {
        same = same_str(e, a->file[i].path, b->file[i].path) &&
               same_str(e, a->file[i].location, b->file[i].location) &&
               a->file[i].size == b->file[i].size;
    }
    for (gid g = 1; same && g < a->ngraph; g++) {
        same = same_str(e, a->graph[g].name, b->graph[g].name) &&
               same_about(e, a->graph[g].about, b->graph[g].about) &&
               e->node[a->graph[g].owner] == b->graph[g].owner &&
               same_reads(e, a->graph[g].out, b->graph[g].out);
    }
    return same_if(same, "header, files, or name, owner or outputs of a graph", 0);
}

static inline bool same_costs(const struct equality *e)
{
    const struct costs *x = e->a->cost, *y = e->b->cost;

    if (!same_if((x == NULL) == (y == NULL) && (x == NULL || x->nclass == y->nclass),
                 "presence or classes of costs", 0)) {
        return false;
    }
    for (nid n = 1; x != NULL && n < e->a->nnode; n++) {
        nid o = e->node[n];
        bool same = x->flops[n] == y->flops[o] && x->traffic[n] == y->traffic[o] &&
                    x->own[n] == y->own[o] &&
                    (x->params ? x->params[n] : 0) == (y->params ? y->params[o] : 0);
        for (uint32_t c = 0; c < x->nclass; c++) {
            same &= x->time[c][n] == y->time[c][o];
        }
        if (!same_if(same, "costs of node", n)) {
            return false;
        }
    }
    for (vid v = 1; x != NULL && v < e->a->nval; v++) {
        vid w = e->value[v];
        if (!same_if(x->bytes[v] == y->bytes[w] && x->elems[v] == y->elems[w] &&
                         x->xfer[v] == y->xfer[w],
                     "costs of value", v)) {
            return false;
        }
    }
    return true;
}

static inline const char *device_text(const struct module *m, nid n)
{
    return m->device_ann ? module_str(m, m->device_ann[n]) : "";
}

static inline bool same_facts(const struct equality *e)
{
    const struct module *a = e->a, *b = e->b;

    for (nid n = 1; n < a->nnode; n++) {
        nid o = e->node[n];
        if (!same_if((a->color ? a->color[n] : 0) == (b->color ? b->color[o] : 0) &&
                         (a->layer ? a->layer[n] : 0) == (b->layer ? b->layer[o] : 0) &&
                         (a->backward ? a->backward[n] : 0) == (b->backward ? b->backward[o] : 0) &&
                         (a->slot_ann ? a->slot_ann[n] : 0) == (b->slot_ann ? b->slot_ann[o] : 0) &&
                         strcmp(device_text(a, n), device_text(b, o)) == 0,
                     "color, layer, direction, device or slot of node", n)) {
            return false;
        }
    }
    return true;
}

/* Also compares the plans, each of its module, unless both are NULL. */
static inline bool same_plan(const struct equality *e, const struct plan *x, const struct plan *y)
{
    bool same = (x == NULL) == (y == NULL);

    if (x == NULL || !same) {
        return same_if(same, "presence of a plan", 0);
    }
    same = strcmp(x->planner, y->planner) == 0 &&
           strcmp(x->claim.argument, y->claim.argument) == 0 &&
           (x->rank == NULL) == (y->rank == NULL) && (x->slot == NULL) == (y->slot == NULL) &&
           x->claim.objective == y->claim.objective && x->claim.value == y->claim.value &&
           x->claim.bound == y->claim.bound && x->claim.bound_all == y->claim.bound_all &&
           x->claim.scope == y->claim.scope && x->claim.status == y->claim.status &&
           x->states == y->states;
    for (nid n = 1; same && n < e->a->nnode; n++) {
        same = x->dev[n] == y->dev[e->node[n]] &&
               (!x->rank || x->dev[n] < 0 || x->rank[n] == y->rank[e->node[n]]) &&
               (!x->slot || x->dev[n] < 0 || x->slot[n] == y->slot[e->node[n]]);
    }
    return same_if(same, "plan", 0);
}

static inline bool same_graphs(struct equality *e, const struct plan *pa, const struct plan *pb)
{
    const struct module *a = e->a, *b = e->b;
    struct arena *mem = arena_new(NULL);

    e->value = arena_array(mem, a->nval, sizeof *e->value);
    e->node = arena_array(mem, a->nnode, sizeof *e->node);
    bool same = same_if(a->ngraph == b->ngraph && a->nnode == b->nnode &&
                            (e->written || a->nval == b->nval),
                        "numbers of graphs, nodes or values", 0) &&
                match_graphs(e) && same_header(e) && same_values(e) && same_nodes(e) &&
                same_costs(e) && same_facts(e) && same_plan(e, pa, pb);
    arena_free(mem);
    return same;
}

static inline bool same_function(const struct module *a, const struct module *b, uint32_t f)
{
    const struct function *x = &a->function[f], *y = &b->function[f];
    struct equality e = {.a = x->body, .b = y->body}, all = {.a = a, .b = b};
    bool same = same_str(&all, x->domain, y->domain) && same_str(&all, x->name, y->name) &&
                same_str(&all, x->overload, y->overload) && x->need.n == y->need.n &&
                x->give.n == y->give.n;

    for (uint32_t i = 0; same && i < x->need.n; i++)
        same = same_str(&e, x->body->sids[x->need.at + i], y->body->sids[y->need.at + i]);
    for (uint32_t i = 0; same && i < x->give.n; i++)
        same = same_attr(&e, &x->body->attr[x->give.at + i], &y->body->attr[y->give.at + i]);
    return same_if(same, "names or attributes of function", f) && same_graphs(&e, NULL, NULL);
}

static inline bool module_equal(const struct module *a, const struct plan *pa,
                                const struct module *b, const struct plan *pb)
{
    struct equality e = {.a = a, .b = b};
    bool same = same_if(a->nfunction == b->nfunction, "number of functions", 0);

    for (uint32_t f = 1; same && f < a->nfunction; f++)
        same = same_function(a, b, f);
    return same && same_graphs(&e, pa, pb);
}

static inline bool same_setting(const struct opt *o, const struct exec_model *a,
                                const struct exec_model *b)
{
    if (o->off == offsetof(struct exec_model, efficiency))
        return exec_efficiency(a) == exec_efficiency(b);
    if (o->off == offsetof(struct exec_model, training.schedule) &&
        exec_kind(a)->feed != FEED_MICRO_BATCHES)
        return exec_apart(a) == exec_apart(b);
    return opt_number(o, a) == opt_number(o, b);
}

/* Whether b is what a was written as. */
static inline bool module_written(const struct module *a, const struct module *b)
{
    struct equality e = {.a = a, .b = b, .written = true};

    return same_if(a->nfunction == b->nfunction, "number of functions", 0) &&
           same_graphs(&e, NULL, NULL);
}

static inline bool model_equal(const struct exec_model *a, const struct exec_model *b)
{
    for (const struct opt *o = exec_settings; o->name; o++)
        if (!same_if(same_setting(o, a, b), o->name, 0))
            return false;
    return true;
}

static inline bool cluster_equal(const struct cluster *a, const struct cluster *b)
{
    bool same = a->ncls == b->ncls && a->ndev == b->ndev && a->nlink == b->nlink;

    for (uint32_t i = 0; same && i < a->nlink; i++) {
        const struct device_link *x = &a->link[i], *y = &b->link[i];
        same = x->from == y->from && x->to == y->to && x->oneway == y->oneway &&
               x->latency == y->latency && x->bandwidth == y->bandwidth;
    }
    for (uint32_t i = 0; same && i < a->ncls; i++) {
        const struct device_class *x = &a->cls[i], *y = &b->cls[i];
        same = strcmp(x->name, y->name) == 0 && x->host == y->host && x->count == y->count &&
               x->memory == y->memory && memcmp(x->peak, y->peak, sizeof x->peak) == 0 &&
               x->tf32 == y->tf32 && x->precision == y->precision && x->bandwidth == y->bandwidth &&
               x->overhead == y->overhead && x->link_latency == y->link_latency &&
               x->link_bandwidth == y->link_bandwidth && x->group == y->group &&
               x->inner_bandwidth == y->inner_bandwidth && x->inner_latency == y->inner_latency &&
               x->inner_share == y->inner_share;
    }
    return same_if(same, "cluster", 0);
}

#endif
