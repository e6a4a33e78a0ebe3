/* The first round of the verifier (verify.c): every index, slice and enumeration is in range, types
 * are finite, payloads have the size that their shapes say, names of nodes are unique.
 *
 * Looks at the pools entry by entry, so that no later round has to guard against an index that came
 * out of a pool, only against slices of pools (verify_safe) and the ids reported here.
 * Cost: O(everything in the module). */
#include "ir/model/verify.h"

static void pools_check(struct check *c)
{
    const struct module *m = c->m;

    for (uint32_t i = 0; i < m->ndim; i++) {
        verify_index(c, "dimension", i, "its symbol", m->dim[i].sym, c->nstr);
        if (m->dim[i].value < -1 || (m->dim[i].value >= 0 && m->dim[i].sym != 0)) {
            verify_fail(c, "dimension %u: %lld with symbol %u, expected a number or a symbol", i,
                        (long long)m->dim[i].value, m->dim[i].sym);
        }
    }
    for (uint32_t i = 0; i < m->nsids; i++)
        verify_index(c, "string list entry", i, "its string", m->sids[i], c->nstr);
    for (uint32_t i = 0; i < m->nopset; i++)
        verify_index(c, "opset", i, "its domain", m->opset[i].domain, c->nstr);
    for (uint32_t i = 0; i < m->nfile; i++) {
        verify_index(c, "file", i, "its path", m->file[i].path, c->nstr);
        verify_index(c, "file", i, "its location", m->file[i].location, c->nstr);
    }
    verify_index(c, "module", 0, "its path", m->path, c->nstr);
}

static bool has_inner(const struct type *t)
{
    return t->kind == TYPE_SEQ || t->kind == TYPE_OPT || t->kind == TYPE_MAP;
}

static void types_check(struct check *c)
{
    const struct module *m = c->m;
    /* the walk over inner types that came by last */
    uint32_t *walk = arena_array(c->mem, m->ntype, sizeof *walk);

    for (uint32_t i = 1; i < m->ntype; i++) {
        const struct type *t = &m->type[i];
        if (t->kind > TYPE_OPAQUE || t->elem >= ELEM_COUNT || t->rank < -1) {
            verify_fail(c, "type %u: kind %u, element type %u or rank %d is not known", i, t->kind,
                        t->elem, t->rank);
        } else if (t->kind == TYPE_TENSOR && t->rank > 0) {
            verify_slice(c, "type", i, "its dimensions", (struct slice){t->dim, (uint32_t)t->rank},
                         m->ndim);
        }
        if (has_inner(t))
            verify_index(c, "type", i, "its inner type", t->inner, m->ntype);
    }
    for (uint32_t i = 1; i < m->ntype; i++) {
        uint32_t at = i;
        while (at != 0 && at < m->ntype && walk[at] == 0) {
            walk[at] = i;
            at = has_inner(&m->type[at]) ? m->type[at].inner : 0;
        }
        if (at != 0 && at < m->ntype && walk[at] == i)
            verify_fail(c, "type %u contains itself", at);
    }
}

static void payload_check(struct check *c, tid i)
{
    const struct module *m = c->m;
    const struct tensor *t = &m->tensor[i];

    if (t->where == TENSOR_STRINGS) {
        if (t->len > m->nsids || t->off > m->nsids - t->len) {
            verify_fail(c, "tensor %u '%s': its strings are outside the pool of %u", i,
                        str(m, t->name), m->nsids);
        }
    } else if (t->where == TENSOR_FILE) {
        uint64_t end;
        verify_index(c, "tensor", i, "its file", t->file, m->nfile);
        if (t->file == 0 || __builtin_add_overflow(t->off, t->len, &end) ||
            (t->file < m->nfile && m->file[t->file].fd >= 0 && end > m->file[t->file].size)) {
            verify_fail(c, "tensor %u '%s': bytes %llu + %llu are outside its file", i,
                        str(m, t->name), (unsigned long long)t->off, (unsigned long long)t->len);
        }
    }
}

static void tensors_check(struct check *c)
{
    const struct module *m = c->m;

    for (tid i = 1; i < m->ntensor; i++) {
        const struct tensor *t = &m->tensor[i];
        verify_index(c, "tensor", i, "its name", t->name, c->nstr);
        verify_index(c, "tensor", i, "its element type", t->elem, ELEM_COUNT);
        verify_index(c, "tensor", i, "its storage", t->where, TENSOR_OPAQUE + 1);
        verify_slice(c, "tensor", i, "its shape", (struct slice){t->dim, t->rank}, m->nints);
        payload_check(c, i);
        if (!verify_inside((struct slice){t->dim, t->rank}, m->nints))
            continue;
        for (uint32_t k = 0; k < t->rank; k++) {
            if (m->ints[t->dim + k] < 0) {
                verify_fail(c, "tensor %u '%s': dimension %u is %lld", i, str(m, t->name), k,
                            (long long)m->ints[t->dim + k]);
            }
        }
        int64_t n = tensor_elems(m, i);
        if (n >= 0 && (t->where == TENSOR_INLINE || t->where == TENSOR_FILE) &&
            t->len != (uint64_t)elem_bytes((enum elem)t->elem, n)) {
            verify_fail(c, "tensor %u '%s': %llu bytes, expected %lld", i, str(m, t->name),
                        (unsigned long long)t->len, (long long)elem_bytes((enum elem)t->elem, n));
        }
    }
}

/* Number of entries in the pool of a list attribute's kind; *most: what its entries must be below, 0: any number. */
static uint32_t list_pool(const struct check *c, uint32_t kind, uint32_t *most)
{
    const struct module *m = c->m;

    *most = 0;
    switch (kind) {
    case ATTR_FLOATS:
        return m->nfloats;
    case ATTR_INTS:
        return m->nints;
    case ATTR_STRINGS:
        return m->nsids; /* pools_check has checked the entries */
    case ATTR_TENSORS:
    case ATTR_SPARSES:
        *most = m->ntensor;
        return m->nrefs;
    case ATTR_GRAPHS:
        *most = m->ngraph;
        return m->nrefs;
    default:
        return 0;
    }
}

static bool is_list(uint32_t kind)
{
    return kind == ATTR_FLOATS || kind == ATTR_INTS || kind == ATTR_STRINGS ||
           kind == ATTR_TENSORS || kind == ATTR_GRAPHS || kind == ATTR_SPARSES;
}

static void attrs_check(struct check *c)
{
    const struct module *m = c->m;

    for (uint32_t i = 1; i < m->nattr; i++) {
        const struct attr *a = &m->attr[i];
        uint32_t most;
        verify_index(c, "attribute", i, "its name", a->name, c->nstr);
        verify_index(c, "attribute", i, "its reference", a->ref, c->nstr);
        verify_index(c, "attribute", i, "its kind", a->kind, ATTR_TYPES + 1);
        if (a->ref != 0)
            continue; /* it stands for an attribute of the call, and has no value */
        if (is_list(a->kind)) {
            uint32_t count = list_pool(c, a->kind, &most);
            struct slice s = verify_safe(a->u.list, count);
            verify_slice(c, "attribute", i, "its list", a->u.list, count);
            for (uint32_t k = 0; most != 0 && k < s.n; k++)
                verify_index(c, "attribute", i, "a list entry", m->refs[s.at + k], most);
        } else if (a->kind == ATTR_STRING) {
            verify_index(c, "attribute", i, "its string", a->u.s, c->nstr);
        } else if (a->kind == ATTR_TENSOR || a->kind == ATTR_SPARSE) {
            verify_index(c, "attribute", i, "its tensor", a->u.t, m->ntensor);
        } else if (a->kind == ATTR_GRAPH) {
            verify_index(c, "attribute", i, "its graph", a->u.g, m->ngraph);
        }
    }
}

static void args_check(struct check *c)
{
    for (uint32_t i = 0; i < c->m->narg; i++)
        verify_index(c, "operand list entry", i, "its value", c->m->arg[i], c->m->nval);
}

static void nodes_check(struct check *c)
{
    const struct module *m = c->m;
    nid *named = c->named;

    for (nid n = 1; n < m->nnode; n++) {
        const struct node *x = &m->node[n];
        verify_index(c, "node", n, "its operator", x->op, c->nstr);
        verify_index(c, "node", n, "its domain", x->domain, c->nstr);
        verify_index(c, "node", n, "its overload", x->overload, c->nstr);
        verify_slice(c, "node", n, "its operands", x->in, m->narg);
        verify_slice(c, "node", n, "its results", x->out, m->narg);
        verify_slice(c, "node", n, "its attributes", x->attr, m->nattr);
        if (x->callee != 0)
            verify_index(c, "node", n, "the function that it calls", x->callee, c->ncallee);
        if (x->nformal > x->in.n) {
            verify_fail(c, "node %u '%s': %u formal operands of %u", n, node_name(m, n), x->nformal,
                        x->in.n);
        }
        if (x->name == 0 || x->name >= c->nstr) {
            verify_fail(c, "node %u: name %u, expected 1 to %u", n, x->name, c->nstr - 1);
        } else if (named[x->name] != 0) {
            verify_fail(c, "nodes %u and %u are both called '%s'", named[x->name], n,
                        node_name(m, n));
        } else {
            named[x->name] = n;
        }
    }
    for (nid n = 1; n < m->nnode; n++)
        if (m->node[n].name < c->nstr)
            named[m->node[n].name] = 0;
}

void verify_ranges(struct check *c)
{
    pools_check(c);
    types_check(c);
    tensors_check(c);
    attrs_check(c);
    args_check(c);
    nodes_check(c);
}
