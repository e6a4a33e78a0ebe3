/* Weights in an edit (edit.h): from bytes, or as slices of other weights, whose bytes are read only when needed.
 *
 * A slice of a slice along the same axis becomes a slice of the original tensor; slices along different axes are
 * nested, at most one for each axis, however often a weight is cut.  O(bytes given + ranges). */
#include "ir/model/edit_state.h"

#include <assert.h>
#include <string.h>

tid edit_tensor(struct edit *e, enum elem elem, const int64_t *dims, uint32_t rank,
                const void *data, size_t len)
{
    struct module *m = e->m;
    struct tensor t = {.elem = (uint8_t)elem, .where = TENSOR_INLINE, .rank = rank, .len = len};
    unsigned char *bytes = arena_alloc(m->mem, len + 1);
    if (len > 0)
        memcpy(bytes, data, len);
    t.data = bytes;
    t.dim = module_add_ints(m, dims, rank).at;
    tid id = module_add_tensor(m);
    m->tensor[id] = t;
    return id;
}

tid edit_strings(struct edit *e, const int64_t *dims, uint32_t rank, const sid *s)
{
    struct module *m = e->m;
    struct tensor t = {.elem = ELEM_STR, .where = TENSOR_STRINGS, .rank = rank};
    t.dim = module_add_ints(m, dims, rank).at;
    int64_t n = dims_elems(m, t.dim, rank);
    struct slice list = module_add_sids(m, s, n > 0 ? (uint32_t)n : 0);
    t.off = list.at;
    t.len = list.n;
    tid id = module_add_tensor(m);
    m->tensor[id] = t;
    return id;
}

tid edit_sparse(struct edit *e, const int64_t *dims, uint32_t rank, tid values, tid indices)
{
    struct module *m = e->m;
    struct tensor t = {.where = TENSOR_SPARSE, .rank = rank, .of = {values, indices}};
    t.elem = m->tensor[values].elem;
    t.dim = module_add_ints(m, dims, rank).at;
    tid id = module_add_tensor(m);
    m->tensor[id] = t;
    return id;
}

/* Adds a tensor that is the slice of tensor `of` with exactly n ranges along the axis, without
 * merging slices; returns it.  Range i holds the positions range[2 * i] to range[2 * i + 1] - 1. */
static tid add_slice(struct edit *e, tid of, uint32_t axis, const int64_t *range, uint32_t n)
{
    struct module *m = e->m;
    const struct tensor base = m->tensor[of];
    struct tensor t = {.elem = base.elem, .where = TENSOR_SLICE, .rank = base.rank, .axis = axis};
    int64_t elems;
    uint64_t sum = 0; /* positions in all ranges; of ranges that are not valid, any number */
    for (uint32_t i = 0; i < n; i++)
        sum += (uint64_t)range[2 * i + 1] - (uint64_t)range[2 * i];
    t.of[0] = of;
    t.range = module_add_ints(m, range, 2 * n);
    t.dim = module_add_ints(m, NULL, base.rank).at;
    memcpy(m->ints + t.dim, m->ints + base.dim, base.rank * sizeof *m->ints);
    if (axis < base.rank)
        m->ints[t.dim + axis] = (int64_t)sum;
    elems = dims_elems(m, t.dim, t.rank);
    t.len = elems > 0 ? (uint64_t)elem_bytes((enum elem)t.elem, elems) : 0;
    tid id = module_add_tensor(m);
    m->tensor[id] = t;
    return id;
}

/* Whether tensor t is a slice along the axis, or a slice of one. */
static bool is_along(const struct module *m, tid t, uint32_t axis)
{
    for (; m->tensor[t].where == TENSOR_SLICE; t = m->tensor[t].of[0])
        if (m->tensor[t].axis == axis)
            return true;
    return false;
}

/* Whether the n ranges, each two entries of range[], lie within an axis of `size` positions. */
static bool is_within(const int64_t *range, uint32_t n, int64_t size)
{
    for (uint32_t i = 0; i < n; i++)
        if (range[2 * i] < 0 || range[2 * i] > range[2 * i + 1] || range[2 * i + 1] > size)
            return false;
    return true;
}

/* Translates the n ranges in range[], which count positions of a slice, into ranges of the tensor that it was sliced
 * from, along the same axis. Returns the translated ranges, allocated in e->a, and writes their number to *count.
 * O(ranges of both and of the result) if the ranges ascend. */
static int64_t *compose_ranges(struct edit *e, const struct tensor *slice, const int64_t *range,
                               uint32_t n, uint32_t *count)
{
    const int64_t *inner = e->m->ints + slice->range.at;
    /* `at`: the position in the slice at which its range inner[k] .. inner[k + 1] begins */
    int64_t *out = NULL, at = 0;
    uint32_t cap = 0, made = 0, k = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (range[2 * i] < at) /* the range lies before the last one: the search begins anew */
            at = k = 0;
        for (int64_t from = range[2 * i], to = range[2 * i + 1]; from < to;) {
            int64_t len = inner[k + 1] - inner[k];
            if (from >= at + len) {
                at += len;
                k += 2;
                continue;
            }
            int64_t end = to < at + len ? to : at + len;
            out = vec_grow(e->a, out, &cap, 2 * made + 2, sizeof *out);
            out[2 * made] = inner[k] + from - at;
            out[2 * made + 1] = inner[k] + end - at;
            made++;
            from = end;
        }
    }
    *count = made;
    return out;
}

tid edit_slice(struct edit *e, tid of, uint32_t axis, const int64_t *range, uint32_t n)
{
    const struct tensor base = e->m->tensor[of];
    assert(of > 0 && of < e->m->ntensor);
    bool valid = axis < base.rank && is_within(range, n, e->m->ints[base.dim + axis]);
    if (!valid || !is_along(e->m, of, axis)) /* module_verify() reports a slice that is not valid */
        return add_slice(e, of, axis, range, n);
    /* `of` is a slice along the same axis: slice the tensor that `of` was sliced from */
    if (base.axis == axis) {
        uint32_t count;
        int64_t *composed = compose_ranges(e, &base, range, n, &count);
        return add_slice(e, base.of[0], axis, composed, count);
    }
    /* slices the tensor below `of` along `axis`, where an older slice along `axis` may merge with the new one, and then
     * along the axis of `of` */
    tid inner = edit_slice(e, base.of[0], axis, range, n);
    int64_t *kept = arena_array(e->a, (size_t)base.range.n + 1, sizeof *kept);
    memcpy(kept, e->m->ints + base.range.at, base.range.n * sizeof *kept);
    return add_slice(e, inner, base.axis, kept, base.range.n / 2);
}

/* Adds the type of tensor t to the module and returns it. */
static uint32_t type_of_tensor(struct module *m, tid t)
{
    const struct tensor x = m->tensor[t];
    struct slice dims = module_add_dims(m, NULL, x.rank);
    for (uint32_t i = 0; i < x.rank; i++)
        m->dim[dims.at + i] = (struct dim){.value = m->ints[x.dim + i]};
    return module_add_type(
        m, (struct type){
               .kind = TYPE_TENSOR, .elem = x.elem, .rank = (int16_t)x.rank, .dim = dims.at});
}

/* Makes v an initializer of its graph with tensor t, or with a copy of t if another initializer may use t.  The tensor
 * gets the name of v. */
static void attach_tensor(struct edit *e, vid v, tid t)
{
    struct module *m = e->m;
    /* initializers give names to their tensors; of a sparse tensor the values must have a name of their own, too */
    if (m->tensor[t].name != 0 || m->tensor[t].where == TENSOR_SPARSE)
        t = edit_tensor_named(e, t, m->value[v].name);
    m->tensor[t].name = m->value[v].name;
    m->value[v].tensor = t;
    edit_append(e, m->value[v].graph, v, BORDER_INIT);
}

vid edit_weight(struct edit *e, gid g, const char *name, tid t)
{
    struct module *m = e->m;
    vid v = edit_new_value(e, g, str_id(m, name), VALUE_INIT);
    m->value[v].type = type_of_tensor(m, t);
    attach_tensor(e, v, t);
    return v;
}

void edit_fix(struct edit *e, vid v, tid t)
{
    struct module *m = e->m;
    const nid n = m->value[v].def;
    assert(n != 0 && m->value[v].name != 0);
    bool goes = true;
    edit_remove_result(e, n, v);
    for (uint32_t i = 0; i < m->node[n].out.n; i++)
        goes = goes && m->arg[m->node[n].out.at + i] == 0;
    m->value[v].def = 0;
    m->value[v].outno = 0;
    m->value[v].flags |= VALUE_INIT;
    uint32_t type = type_of_tensor(m, t);
    if (!types_same(m, m->value[v].type, type))
        edit_set_type(e, v, type);
    attach_tensor(e, v, t);
    if (goes)
        edit_drop(e, n);
}

vid edit_ints(struct edit *e, gid g, const char *name, const int64_t *v, uint32_t count)
{
    int64_t n = count;
    return edit_weight(e, g, name, edit_tensor(e, ELEM_I64, &n, 1, v, count * sizeof *v));
}
