/* Makes a module, appends to its arrays, and looks things up in it (module.h).
 *
 * Each array, pools included, starts with an entry 0 that means none, so an index or a slice that was never set
 * refers to a harmless entry.  Arrays grow by doubling; new entries are zeroed.  Appending takes O(1) per entry on
 * average; looking up an attribute takes O(attributes of the node). */
#include "ir/model/module.h"

#include "ir/base/strings.h"

#include <assert.h>
#include <string.h>

/* Returns count + n.  If the sum exceeds UINT32_MAX, asks the arena for an impossible size, which fails in the same way
 * as when memory runs out. */
static uint32_t checked_sum(const struct module *m, uint32_t count, uint32_t n)
{
    if (n > UINT32_MAX - count)
        arena_array(m->mem, SIZE_MAX, 2);
    return count + n;
}

struct module *module_new(struct arena *of, struct diag *diag)
{
    struct arena *a = arena_new(of);
    struct module *m = arena_alloc(a, sizeof *m);

    m->mem = a;
    m->diag = diag;
    m->str = strings_new(a);
    module_add_node(m);
    module_add_value(m);
    module_add_graph(m);
    module_add_tensor(m);
    module_add_file(m);
    module_add_type(m, (struct type){0});
    module_add_opset(m, 0, 0);
    module_add_args(m, &(vid){0}, 1);
    module_add_attrs(m, &(struct attr){0}, 1);
    module_add_dims(m, &(struct dim){0}, 1);
    module_add_ints(m, &(int64_t){0}, 1);
    module_add_floats(m, &(float){0}, 1);
    module_add_sids(m, &(sid){0}, 1);
    module_add_refs(m, &(uint32_t){0}, 1);
    module_add_about(m, (struct about){0});
    return m;
}

/* Returns a zeroed entry 0 that all inner modules share and that is never written: a file may hold a million empty
 * functions, and each of them would need arrays of its own. */
static void *shared_none(void)
{
    static const union {
        struct node node;
        struct value value;
        struct graph graph;
        struct tensor tensor;
        struct attr attr;
        struct about about;
    } none;
    return (void *)(uintptr_t)&none;
}

/* Makes x use the files that m has now. */
static void share_files(const struct module *m, struct module *x)
{
    x->file = m->file;
    x->nfile = x->capfile = m->nfile;
}

struct module *module_add_inner(struct module *m)
{
    struct module *x = arena_alloc(m->mem, sizeof *x);

    x->mem = m->mem;
    x->diag = m->diag;
    x->str = m->str;
    x->path = m->path;
    x->ir_version = m->ir_version;
    x->node = shared_none();
    x->value = shared_none();
    x->graph = shared_none();
    x->tensor = shared_none();
    x->type = shared_none();
    x->opset = shared_none();
    x->arg = shared_none();
    x->attr = shared_none();
    x->dim = shared_none();
    x->ints = shared_none();
    x->floats = shared_none();
    x->sids = shared_none();
    x->refs = shared_none();
    x->about = shared_none();
    share_files(m, x);
    x->nnode = x->nval = x->ngraph = x->ntensor = x->ntype = x->nopset = 1;
    x->narg = x->nattr = x->ndim = x->nints = x->nfloats = x->nsids = x->nrefs = x->nabout = 1;
    return x;
}

struct module module_fork(const struct module *m, struct arena *mem)
{
    struct module x = *m;

    x.mem = mem;
    /* capacities equal to the counts: the next entry moves the pool to memory of x, so m's pools are not written */
    x.captype = m->ntype;
    x.captensor = m->ntensor;
    x.capopset = m->nopset;
    x.capdim = m->ndim;
    x.capattr = m->nattr;
    x.caparg = m->narg;
    x.capints = m->nints;
    x.capfloats = m->nfloats;
    x.capsids = m->nsids;
    x.caprefs = m->nrefs;
    x.capabout = m->nabout;
    x.capval = x.capgraph = x.capnode = 0;
    x.value = vec_grow(mem, NULL, &x.capval, m->nval, sizeof *m->value);
    x.graph = vec_grow(mem, NULL, &x.capgraph, m->ngraph, sizeof *m->graph);
    x.node = vec_grow(mem, NULL, &x.capnode, m->nnode, sizeof *m->node);
    memcpy(x.value, m->value, m->nval * sizeof *m->value);
    memcpy(x.graph, m->graph, m->ngraph * sizeof *m->graph);
    memcpy(x.node, m->node, m->nnode * sizeof *m->node);
    return x;
}

uint32_t module_add_function(struct module *m)
{
    assert(m->nfunction > 0 || m->capfunction == 0);
    uint32_t f = m->nfunction == 0 ? 1 : m->nfunction; /* entry 0 stands for "none" */

    m->function =
        vec_grow(m->mem, m->function, &m->capfunction, checked_sum(m, f, 1), sizeof *m->function);
    m->function[f].body = module_add_inner(m);
    m->nfunction = f + 1;
    return f;
}

void module_share_files(struct module *m)
{
    for (uint32_t f = 1; f < m->nfunction; f++)
        share_files(m, m->function[f].body);
    if (m->aside != NULL)
        share_files(m, m->aside);
}

sid str_id_n(struct module *m, const char *s, size_t n)
{
    return strings_id(m->str, s, n);
}

sid str_id(struct module *m, const char *s)
{
    return s != NULL ? strings_id(m->str, s, strlen(s)) : 0;
}

const char *module_str(const struct module *m, sid s)
{
    return strings_text(m->str, s);
}

size_t str_size(const struct module *m, sid s)
{
    return strings_size(m->str, s);
}

nid module_add_node(struct module *m)
{
    m->node = vec_grow(m->mem, m->node, &m->capnode, checked_sum(m, m->nnode, 1), sizeof *m->node);
    return m->nnode++;
}

vid module_add_value(struct module *m)
{
    m->value = vec_grow(m->mem, m->value, &m->capval, checked_sum(m, m->nval, 1), sizeof *m->value);
    return m->nval++;
}

gid module_add_graph(struct module *m)
{
    m->graph =
        vec_grow(m->mem, m->graph, &m->capgraph, checked_sum(m, m->ngraph, 1), sizeof *m->graph);
    return m->ngraph++;
}

tid module_add_tensor(struct module *m)
{
    m->tensor = vec_grow(m->mem, m->tensor, &m->captensor, checked_sum(m, m->ntensor, 1),
                         sizeof *m->tensor);
    return m->ntensor++;
}

uint32_t module_add_file(struct module *m)
{
    m->file = vec_grow(m->mem, m->file, &m->capfile, checked_sum(m, m->nfile, 1), sizeof *m->file);
    m->file[m->nfile].fd = -1;
    return m->nfile++;
}

uint32_t module_add_type(struct module *m, struct type t)
{
    m->type = vec_grow(m->mem, m->type, &m->captype, checked_sum(m, m->ntype, 1), sizeof *m->type);
    m->type[m->ntype] = t;
    return m->ntype++;
}

uint32_t module_add_tensor_type(struct module *m, enum elem e, int rank, const struct dim *d)
{
    assert(rank >= -1 && rank <= INT16_MAX && (rank <= 0 || d));
    struct type t = {.kind = TYPE_TENSOR, .elem = (uint8_t)e, .rank = (int16_t)rank};

    if (rank > 0)
        t.dim = module_add_dims(m, d, (uint32_t)rank).at;
    return module_add_type(m, t);
}

/* Counters of a pool, for pool_add(). */
struct fill {
    uint32_t *n, *cap; /* entries in the pool; entries for which there is memory */
    size_t size;       /* bytes of an entry */
};

/* Appends s->n entries to a pool, copied from `from` (NULL: zeroed).  Sets s->at to the first of them, adds to the
 * pool's count, and returns the pool, which may have moved. */
static void *pool_add(struct module *m, void *pool, struct fill f, const void *from,
                      struct slice *s)
{
    s->at = *f.n;
    uint32_t now = checked_sum(m, *f.n, s->n);
    pool = vec_grow(m->mem, pool, f.cap, now, f.size);
    if (s->n > 0 && from != NULL)
        memcpy((char *)pool + (size_t)*f.n * f.size, from, (size_t)s->n * f.size);
    *f.n = now;
    return pool;
}

struct slice module_add_args(struct module *m, const vid *v, uint32_t n)
{
    struct slice s = {0, n};

    m->arg = pool_add(m, m->arg, (struct fill){&m->narg, &m->caparg, sizeof *v}, v, &s);
    return s;
}

struct slice module_add_attrs(struct module *m, const struct attr *a, uint32_t n)
{
    struct slice s = {0, n};

    m->attr = pool_add(m, m->attr, (struct fill){&m->nattr, &m->capattr, sizeof *a}, a, &s);
    return s;
}

struct slice module_add_dims(struct module *m, const struct dim *d, uint32_t n)
{
    struct slice s = {0, n};

    m->dim = pool_add(m, m->dim, (struct fill){&m->ndim, &m->capdim, sizeof *d}, d, &s);
    return s;
}

struct slice module_add_ints(struct module *m, const int64_t *v, uint32_t n)
{
    struct slice s = {0, n};

    m->ints = pool_add(m, m->ints, (struct fill){&m->nints, &m->capints, sizeof *v}, v, &s);
    return s;
}

struct slice module_add_floats(struct module *m, const float *v, uint32_t n)
{
    struct slice s = {0, n};

    m->floats = pool_add(m, m->floats, (struct fill){&m->nfloats, &m->capfloats, sizeof *v}, v, &s);
    return s;
}

struct slice module_add_sids(struct module *m, const sid *v, uint32_t n)
{
    struct slice s = {0, n};

    m->sids = pool_add(m, m->sids, (struct fill){&m->nsids, &m->capsids, sizeof *v}, v, &s);
    return s;
}

struct slice module_add_refs(struct module *m, const uint32_t *v, uint32_t n)
{
    struct slice s = {0, n};

    m->refs = pool_add(m, m->refs, (struct fill){&m->nrefs, &m->caprefs, sizeof *v}, v, &s);
    return s;
}

void module_add_opset(struct module *m, sid domain, int64_t version)
{
    m->opset =
        vec_grow(m->mem, m->opset, &m->capopset, checked_sum(m, m->nopset, 1), sizeof *m->opset);
    m->opset[m->nopset].domain = domain;
    m->opset[m->nopset].version = version;
    m->nopset++;
}

uint32_t module_add_about(struct module *m, struct about a)
{
    m->about =
        vec_grow(m->mem, m->about, &m->capabout, checked_sum(m, m->nabout, 1), sizeof *m->about);
    m->about[m->nabout] = a;
    return m->nabout++;
}

const char *node_name(const struct module *m, nid n)
{
    return n < m->nnode ? module_str(m, m->node[n].name) : "";
}

const char *node_op(const struct module *m, nid n)
{
    return n < m->nnode ? module_str(m, m->node[n].op) : "";
}

const char *value_name(const struct module *m, vid v)
{
    return v < m->nval ? module_str(m, m->value[v].name) : "";
}

const char *node_meta(const struct module *m, nid n, const char *key)
{
    const struct slice meta = m->about[m->node[n].about].meta;
    for (uint32_t i = 0; i < meta.n; i += 2)
        if (strcmp(module_str(m, m->sids[meta.at + i]), key) == 0)
            return module_str(m, m->sids[meta.at + i + 1]);
    return NULL;
}

bool node_is(const struct module *m, nid n, const char *op)
{
    assert(n < m->nnode);
    return m->node[n].domain == 0 && strcmp(module_str(m, m->node[n].op), op) == 0;
}

bool node_tells_sizes(const struct module *m, nid n)
{
    return node_is(m, n, "Shape") || node_is(m, n, "Size");
}

bool node_has_body(const struct module *m, nid n)
{
    assert(n < m->nnode);
    const struct slice s = m->node[n].attr;
    for (uint32_t i = 0; i < s.n; i++) {
        const struct attr *a = &m->attr[s.at + i];
        if (a->ref == 0 && (a->kind == ATTR_GRAPH || a->kind == ATTR_GRAPHS))
            return true;
    }
    return false;
}

bool module_has_calls(const struct module *m)
{
    for (nid n = m->graph[1].first; n < m->graph[1].first + m->graph[1].count; n++)
        if (m->node[n].callee != 0)
            return true;
    return false;
}

bool module_calls_anywhere(const struct module *m)
{
    for (nid n = 1; n < m->nnode; n++)
        if (m->node[n].callee != 0)
            return true;
    return false;
}

const char *module_left_out(const struct module *m, struct arena *a)
{
    uint32_t n = m->cost ? m->cost->unsized : 0;
    return n ? arena_fmt(a, "memory without %u value%s of unknown size, the first '%s'", n,
                         n == 1 ? "" : "s", value_name(m, m->cost->first_unsized))
             : NULL;
}

bool module_is_profiled(const struct module *m)
{
    const struct graph *g = &m->graph[1];
    return g->count > 0 && strcmp(module_str(m, m->node[g->first].domain), "profile") == 0;
}

uint32_t module_most_color(const struct module *m)
{
    const struct graph *g = &m->graph[1];
    uint32_t most = 0;
    for (nid n = g->first; n < g->first + g->count && m->color; n++)
        most = larger_u32(m->color[n], most);
    return most;
}

vid node_in(const struct module *m, nid n, uint32_t i)
{
    assert(n < m->nnode);
    return i < m->node[n].in.n ? m->arg[m->node[n].in.at + i] : 0;
}

vid node_out(const struct module *m, nid n, uint32_t i)
{
    assert(n < m->nnode);
    return i < m->node[n].out.n ? m->arg[m->node[n].out.at + i] : 0;
}

const struct attr *node_attr(const struct module *m, nid n, const char *name)
{
    assert(n < m->nnode);
    const struct slice s = m->node[n].attr;

    for (uint32_t i = 0; i < s.n; i++)
        if (strcmp(module_str(m, m->attr[s.at + i].name), name) == 0)
            return &m->attr[s.at + i];
    return NULL;
}

int64_t node_attr_int(const struct module *m, nid n, const char *name, int64_t absent)
{
    const struct attr *a = node_attr(m, n, name);

    return a != NULL && a->kind == ATTR_INT ? a->u.i : absent;
}

const char *node_attr_str(const struct module *m, nid n, const char *name, const char *absent)
{
    const struct attr *a = node_attr(m, n, name);

    return a != NULL && a->kind == ATTR_STRING ? module_str(m, a->u.s) : absent;
}

int64_t module_opset(const struct module *m, sid domain)
{
    for (uint32_t i = 1; i < m->nopset; i++)
        if (m->opset[i].domain == domain)
            return m->opset[i].version;
    return -1;
}

/* Returns n arrays of `size` zeros each, in a. */
static int64_t **zero_rows(struct arena *a, uint32_t n, uint32_t size)
{
    int64_t **r = arena_array(a, n, sizeof *r);
    for (uint32_t i = 0; i < n; i++)
        r[i] = arena_array(a, size, sizeof **r);
    return r;
}

struct costs *costs_new(const struct module *m, struct arena *a, uint32_t nclass)
{
    struct costs *c = arena_alloc(a, sizeof *c);
    c->nclass = nclass;
    c->time = zero_rows(a, nclass, m->nnode);
    c->flops = arena_array(a, m->nnode, sizeof *c->flops);
    c->traffic = arena_array(a, m->nnode, sizeof *c->traffic);
    c->own = arena_array(a, m->nnode, sizeof *c->own);
    c->bytes = arena_array(a, m->nval, sizeof *c->bytes);
    c->elems = arena_array(a, m->nval, sizeof *c->elems);
    c->xfer = arena_array(a, m->nval, sizeof *c->xfer);
    return c;
}

void costs_add_overhead(struct costs *c, const struct module *m, struct arena *a)
{
    c->overhead = zero_rows(a, c->nclass, m->nnode);
}
