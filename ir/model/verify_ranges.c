/* The first round of the verifier (verify.c): every index, slice and enumeration is in range, types are finite,
 * payloads have the sizes that their shapes require, and names of nodes are unique.
 *
 * All entries of the pools are checked, so later rounds need no check for an index from a pool, only for slices of
 * pools (verify_safe) and for the ids that are reported here.
 * Cost: O(everything in the module). */
#include "ir/model/verify.h"

/* Checks the entries of the pools and small arrays: dimensions, strings, opsets, abouts, files. */
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
    for (uint32_t i = 0; i < m->nabout; i++) {
        const struct about *a = &m->about[i];
        verify_index(c, "what is said", i, "its documentation", a->doc, c->nstr);
        verify_index(c, "what is said", i, "its bytes", a->rest, c->nstr);
        verify_slice(c, "what is said", i, "its metadata", a->meta, m->nsids);
    }
    for (uint32_t i = 0; i < m->nfile; i++) {
        verify_index(c, "file", i, "its path", m->file[i].path, c->nstr);
        verify_index(c, "file", i, "its location", m->file[i].location, c->nstr);
    }
    verify_index(c, "module", 0, "its path", m->path, c->nstr);
}

/* Whether types of that kind contain another type: sequence, optional or map. */
static bool has_inner(const struct type *t)
{
    return t->kind == TYPE_SEQ || t->kind == TYPE_OPT || t->kind == TYPE_MAP;
}

/* Checks the types, and that no type contains itself. */
static void types_check(struct check *c)
{
    const struct module *m = c->m;
    /* [type] the last walk over inner types that visited the type, named by the type at which the walk began */
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

/* Returns how many slices are nested in tensor i, itself included; counts to TENSOR_DEPTH + 1 at most. */
static uint32_t depth_of(const struct module *m, tid i)
{
    uint32_t depth = 0;

    for (; i != 0 && m->tensor[i].where == TENSOR_SLICE && depth <= TENSOR_DEPTH; depth++)
        i = m->tensor[i].of[0] < i ? m->tensor[i].of[0] : 0;
    return depth;
}

/* Returns the number of positions in the ranges of slice t; -1: a range is not within an axis of n positions, or the
 * number overflows. */
static int64_t sum_ranges(const struct module *m, const struct tensor *t, int64_t n)
{
    const int64_t *range = m->ints + t->range.at;
    int64_t sum = 0;

    for (uint32_t k = 0; k + 1 < t->range.n; k += 2) {
        if (range[k] < 0 || range[k] > range[k + 1] || range[k + 1] > n)
            return -1;
        if (__builtin_add_overflow(sum, range[k + 1] - range[k], &sum))
            return -1;
    }
    return sum;
}

/* Whether all ranges and rows of slice t of tensor `of` begin and end at whole bytes, which they need not do when
 * elements have 4 or 2 bits. */
static bool has_whole_bytes(const struct module *m, const struct tensor *t, const struct tensor *of)
{
    uint64_t bits = elem_bits((enum elem)t->elem);

    for (uint32_t k = t->axis + 1; k < t->rank; k++)
        bits *= (uint64_t)m->ints[t->dim + k];
    for (uint32_t k = 0; k < t->range.n; k++)
        if (bits * (uint64_t)m->ints[t->range.at + k] % 8 != 0)
            return false;
    return bits * (uint64_t)m->ints[of->dim + t->axis] % 8 == 0;
}

/* Checks tensor i, a slice: that its base, axis, ranges and shape fit together. */
static void slice_check(struct check *c, tid i)
{
    const struct module *m = c->m;
    const struct tensor *t = &m->tensor[i], *of = &m->tensor[t->of[0] < i ? t->of[0] : 0];
    bool same = t->of[0] > 0 && t->of[0] < i && t->elem == of->elem && t->rank == of->rank &&
                tensor_has_bytes(of) && verify_inside((struct slice){of->dim, of->rank}, m->nints);

    verify_slice(c, "tensor", i, "its ranges", t->range, m->nints);
    /* apart from `axis`, the slice has the sizes of its base */
    for (uint32_t k = 0; same && k < t->rank; k++)
        same = k == t->axis || m->ints[t->dim + k] == m->ints[of->dim + k];
    if (depth_of(m, i) > TENSOR_DEPTH) {
        verify_fail(c, "tensor %u '%s': it is more than %d slices deep", i, module_str(m, t->name),
                    TENSOR_DEPTH);
    } else if (!same || t->axis >= t->rank) {
        verify_fail(c, "tensor %u '%s': it cannot be a slice of tensor %u '%s' along axis %u", i,
                    module_str(m, t->name), t->of[0], module_str(m, of->name), t->axis);
    } else if (verify_inside(t->range, m->nints)) {
        int64_t n = m->ints[of->dim + t->axis], sum = sum_ranges(m, t, n);
        if (sum < 0 || t->range.n % 2 != 0 || sum != m->ints[t->dim + t->axis])
            verify_fail(c,
                        "tensor %u '%s': the ranges of its slice of tensor %u '%s' do not lie "
                        "within the %lld of axis %u, or are not as many as it has",
                        i, module_str(m, t->name), t->of[0], module_str(m, of->name), (long long)n,
                        t->axis);
        else if (!has_whole_bytes(m, t, of))
            verify_fail(c,
                        "tensor %u '%s': a range of its slice does not begin and end with a byte",
                        i, module_str(m, t->name));
    }
}

/* Checks tensor i, a sparse tensor: its values and indices must be dense tensors with smaller numbers than i. */
static void sparse_check(struct check *c, tid i)
{
    const struct tensor *t = &c->m->tensor[i];

    for (int k = 0; k < 2; k++) {
        verify_index(c, "tensor", i, k == 0 ? "its values" : "its indices", t->of[k], i);
        if (t->of[k] != 0 && t->of[k] < i && c->m->tensor[t->of[k]].where == TENSOR_SPARSE)
            verify_fail(c, "tensor %u '%s': the parts of a sparse tensor are not sparse", i,
                        module_str(c->m, t->name));
    }
}

/* Checks that the payload of tensor i is where the tensor says: within the pool of strings, within its file, or in
 * the tensors of which it is a slice or sparse. */
static void payload_check(struct check *c, tid i)
{
    const struct module *m = c->m;
    const struct tensor *t = &m->tensor[i];

    if (t->where == TENSOR_STRINGS) {
        if (t->len > m->nsids || t->off > m->nsids - t->len) {
            verify_fail(c, "tensor %u '%s': its strings are outside the pool of %u", i,
                        module_str(m, t->name), m->nsids);
        }
    } else if (t->where == TENSOR_FILE) {
        uint64_t end;
        verify_index(c, "tensor", i, "its file", t->file, m->nfile);
        if (t->file == 0 || __builtin_add_overflow(t->off, t->len, &end) ||
            (t->file < m->nfile && m->file[t->file].fd >= 0 && end > m->file[t->file].size)) {
            verify_fail(c, "tensor %u '%s': bytes %llu + %llu are outside its file", i,
                        module_str(m, t->name), (unsigned long long)t->off,
                        (unsigned long long)t->len);
        }
    } else if (t->where == TENSOR_SLICE) {
        slice_check(c, i);
    } else if (t->where == TENSOR_SPARSE) {
        sparse_check(c, i);
    }
}

/* Checks all tensors: their fields, sizes and payloads. */
static void tensors_check(struct check *c)
{
    const struct module *m = c->m;

    for (tid i = 1; i < m->ntensor; i++) {
        const struct tensor *t = &m->tensor[i];
        verify_index(c, "tensor", i, "its name", t->name, c->nstr);
        verify_index(c, "tensor", i, "its element type", t->elem, ELEM_COUNT);
        verify_index(c, "tensor", i, "its storage", t->where, TENSOR_OPAQUE + 1);
        verify_index(c, "tensor", i, "what is said about it", t->about, m->nabout);
        verify_slice(c, "tensor", i, "its shape", (struct slice){t->dim, t->rank}, m->nints);
        if (!verify_inside((struct slice){t->dim, t->rank}, m->nints))
            continue;
        for (uint32_t k = 0; k < t->rank; k++) {
            if (m->ints[t->dim + k] < 0) {
                verify_fail(c, "tensor %u '%s': dimension %u is %lld", i, module_str(m, t->name), k,
                            (long long)m->ints[t->dim + k]);
            }
        }
        payload_check(c, i);
        int64_t n = tensor_elems(m, i);
        if (n >= 0 && tensor_has_bytes(t) &&
            t->len != (uint64_t)elem_bytes((enum elem)t->elem, n)) {
            verify_fail(c, "tensor %u '%s': %llu bytes, expected %lld", i, module_str(m, t->name),
                        (unsigned long long)t->len, (long long)elem_bytes((enum elem)t->elem, n));
        }
    }
}

/* Returns the number of entries in the pool of a list attribute of that kind.  Writes to *below a number that entries
 * must be less than, as they are indices; 0: entries are no indices, or pools_check() has checked them. */
static uint32_t list_pool(const struct check *c, uint32_t kind, uint32_t *below)
{
    const struct module *m = c->m;

    *below = 0;
    switch (kind) {
    case ATTR_FLOATS:
        return m->nfloats;
    case ATTR_INTS:
        return m->nints;
    case ATTR_STRINGS:
        return m->nsids;
    case ATTR_TENSORS:
    case ATTR_SPARSES:
        *below = m->ntensor;
        return m->nrefs;
    case ATTR_GRAPHS:
        *below = m->ngraph;
        return m->nrefs;
    case ATTR_TYPES:
        *below = m->ntype;
        return m->nrefs;
    default:
        return 0;
    }
}

/* Whether attributes of that kind have a list as their value. */
static bool is_list(uint32_t kind)
{
    return kind == ATTR_FLOATS || kind == ATTR_INTS || kind == ATTR_STRINGS ||
           kind == ATTR_TENSORS || kind == ATTR_GRAPHS || kind == ATTR_SPARSES ||
           kind == ATTR_TYPES;
}

void verify_attrs(struct check *c, struct slice list, const char *of)
{
    const struct module *m = c->m;
    const struct slice all = verify_safe(list, m->nattr);

    for (uint32_t i = all.at; i < all.at + all.n; i++) {
        const struct attr *a = &m->attr[i];
        verify_index(c, "attribute", i, "its name", a->name, c->nstr);
        verify_index(c, "attribute", i, "its reference", a->ref, c->nstr);
        verify_index(c, "attribute", i, "its kind", a->kind, ATTR_TYPES + 1);
        verify_index(c, "attribute", i, "what is said about it", a->about, m->nabout);
        if (a->kind == ATTR_NONE && a->ref == 0 && !a->untyped)
            verify_fail(c, "'%s': attribute '%s' has neither kind nor value", of,
                        module_str(m, a->name));
        if (a->ref != 0)
            continue; /* a call gives the value */
        if (is_list(a->kind)) {
            uint32_t below, count = list_pool(c, a->kind, &below);
            struct slice s = verify_safe(a->u.list, count);
            verify_slice(c, "attribute", i, "its list", a->u.list, count);
            for (uint32_t k = 0; below != 0 && k < s.n; k++)
                verify_index(c, "attribute", i, "a list entry", m->refs[s.at + k], below);
        } else if (a->kind == ATTR_STRING) {
            verify_index(c, "attribute", i, "its string", a->u.s, c->nstr);
        } else if (a->kind == ATTR_TENSOR || a->kind == ATTR_SPARSE) {
            verify_index(c, "attribute", i, "its tensor", a->u.t, m->ntensor);
        } else if (a->kind == ATTR_GRAPH) {
            verify_index(c, "attribute", i, "its graph", a->u.g, m->ngraph);
        } else if (a->kind == ATTR_TYPE) {
            verify_index(c, "attribute", i, "its type", a->u.type, m->ntype);
        }
    }
}

/* Checks the entries of module.arg, the lists of operands and results. */
static void args_check(struct check *c)
{
    for (uint32_t i = 0; i < c->m->narg; i++)
        verify_index(c, "operand list entry", i, "its value", c->m->arg[i], c->m->nval);
}

/* Checks the fields of all nodes, and that their names are unique. */
static void nodes_check(struct check *c)
{
    const struct module *m = c->m;
    nid *named = c->named;

    for (nid n = 1; n < m->nnode; n++) {
        const struct node *x = &m->node[n];
        verify_index(c, "node", n, "its operator", x->op, c->nstr);
        verify_index(c, "node", n, "its domain", x->domain, c->nstr);
        verify_index(c, "node", n, "its overload", x->overload, c->nstr);
        verify_index(c, "node", n, "what is said about it", x->about, m->nabout);
        verify_index(c, "node", n, "the name that it was made from", x->made_from, c->nstr);
        /* a node of a file may lack an operator, and so may a copy of such a node; a new node must have one */
        if (x->op == 0 && (x->flags & NODE_MADE) != 0 && x->made_from == 0 && x->src == NULL)
            verify_fail(c, "node %u '%s' has no operator", n, node_name(m, n));
        verify_slice(c, "node", n, "its operands", x->in, m->narg);
        verify_slice(c, "node", n, "its results", x->out, m->narg);
        verify_slice(c, "node", n, "its attributes", x->attr, m->nattr);
        verify_attrs(c, x->attr, node_name(m, n));
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
    args_check(c);
    nodes_check(c);
}
