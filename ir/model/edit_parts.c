/* Attributes, graphs and weights of a module that is edited (edit.h).  O(what they hold). */
#include "ir/model/edit_state.h"

#include <assert.h>
#include <string.h>

/* ---- attributes --------------------------------------------------------------------------------- */

uint32_t edit_nbody(const struct attr *a)
{
    return a->ref != 0 ? 0 : a->kind == ATTR_GRAPH ? 1 : a->kind == ATTR_GRAPHS ? a->u.list.n : 0;
}

gid edit_body(const struct module *m, const struct attr *a, uint32_t i)
{
    return a->kind == ATTR_GRAPH ? a->u.g : m->refs[a->u.list.at + i];
}

/* The attributes of a node anew, without the one of that name, with room for one more at the end if `add`: in place of
 * the old one, if there was one; its place. */
static uint32_t change_attrs(struct edit *e, nid n, sid name, bool add)
{
    struct module *m = e->m;
    const struct slice old = m->node[n].attr;
    uint32_t at = UINT32_MAX, k = 0;
    for (uint32_t i = 0; i < old.n && at == UINT32_MAX; i++)
        at = m->attr[old.at + i].name == name ? i : at;
    uint32_t count = old.n + (add && at == UINT32_MAX) - (!add && at != UINT32_MAX);
    struct slice now = module_add_attrs(m, NULL, count);
    for (uint32_t i = 0; i < old.n; i++)
        if (add || i != at)
            m->attr[now.at + k++] = m->attr[old.at + i];
    m->node[n].attr = now;
    return now.at + (at != UINT32_MAX ? at : old.n);
}

void edit_set_attr(struct edit *e, nid n, struct attr a)
{
    assert(a.name != 0);
    uint32_t at = change_attrs(e, n, a.name, true);
    e->m->attr[at] = a;
}

void edit_drop_attr(struct edit *e, nid n, const char *name)
{
    if (node_attr(e->m, n, name) != NULL)
        change_attrs(e, n, str_id(e->m, name), false);
}

void edit_set_int(struct edit *e, nid n, const char *name, int64_t v)
{
    edit_set_attr(e, n, (struct attr){.name = str_id(e->m, name), .kind = ATTR_INT, .u.i = v});
}

void edit_set_float(struct edit *e, nid n, const char *name, float v)
{
    edit_set_attr(e, n, (struct attr){.name = str_id(e->m, name), .kind = ATTR_FLOAT, .u.f = v});
}

void edit_set_string(struct edit *e, nid n, const char *name, const char *v)
{
    struct attr a = {.name = str_id(e->m, name), .kind = ATTR_STRING};
    a.u.s = str_id(e->m, v);
    edit_set_attr(e, n, a);
}

void edit_set_ints(struct edit *e, nid n, const char *name, const int64_t *v, uint32_t count)
{
    struct attr a = {.name = str_id(e->m, name), .kind = ATTR_INTS};
    a.u.list = module_add_ints(e->m, v, count);
    edit_set_attr(e, n, a);
}

void edit_set_tensor(struct edit *e, nid n, const char *name, tid t)
{
    edit_set_attr(e, n, (struct attr){.name = str_id(e->m, name), .kind = ATTR_TENSOR, .u.t = t});
}

/* ---- graphs ------------------------------------------------------------------------------------- */

static gid new_graph(struct edit *e, nid owner, sid name)
{
    gid g = module_add_graph(e->m);
    edit_grow_graphs(e);
    e->m->graph[g].owner = owner;
    e->m->graph[g].name = name;
    return g;
}

gid edit_graph(struct edit *e, nid n, sid name)
{
    return new_graph(e, n, name);
}

gid edit_set_body(struct edit *e, nid n, const char *name)
{
    gid g = new_graph(e, n, str_id(e->m, name));
    edit_set_attr(e, n, (struct attr){.name = str_id(e->m, name), .kind = ATTR_GRAPH, .u.g = g});
    return g;
}

/* Notes that v comes to the end of a list. */
void edit_append(struct edit *e, gid g, vid v, int list)
{
    e->border = vec_grow(e->a, e->border, &e->capborder, e->nborder + 1, sizeof *e->border);
    e->border[e->nborder].graph = g;
    e->border[e->nborder].value = v;
    e->border[e->nborder++].list = list;
}

vid edit_input(struct edit *e, gid g, const char *name, uint32_t type)
{
    vid v = edit_new_value(e, g, str_id(e->m, name), VALUE_INPUT);
    e->m->value[v].type = type;
    edit_append(e, g, v, BORDER_IN);
    return v;
}

void edit_output(struct edit *e, gid g, vid v)
{
    edit_append(e, g, v, BORDER_OUT);
    if (e->m->value[v].graph == g)
        e->m->value[v].flags |= VALUE_OUTPUT;
}

void edit_import(struct edit *e, const char *domain, int64_t version)
{
    sid d = domain != NULL && strcmp(domain, "ai.onnx") != 0 ? str_id(e->m, domain) : 0;
    if (module_opset(e->m, d) < 0)
        module_add_opset(e->m, d, version);
}

/* ---- weights ------------------------------------------------------------------------------------ */

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

tid edit_slice(struct edit *e, tid of, uint32_t axis, const int64_t *range, uint32_t n)
{
    struct module *m = e->m;
    const struct tensor base = m->tensor[of];
    struct tensor t = {.elem = base.elem, .where = TENSOR_SLICE, .rank = base.rank, .axis = axis};
    int64_t sum = 0, elems;
    assert(of > 0 && of < m->ntensor);
    for (uint32_t i = 0; i < n; i++)
        sum += range[2 * i + 1] - range[2 * i];
    t.of[0] = of;
    t.range = module_add_ints(m, range, 2 * n);
    t.dim = module_add_ints(m, NULL, base.rank).at;
    memcpy(m->ints + t.dim, m->ints + base.dim, base.rank * sizeof *m->ints);
    if (axis < base.rank)
        m->ints[t.dim + axis] = sum;
    elems = dims_elems(m, t.dim, t.rank);
    t.len = elems > 0 ? (uint64_t)elem_bytes((enum elem)t.elem, elems) : 0;
    tid id = module_add_tensor(m);
    m->tensor[id] = t;
    return id;
}

/* The type that a tensor has. */
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

/* Makes v an initializer with that tensor, which gets its name. */
static void hold_tensor(struct edit *e, vid v, tid t)
{
    struct module *m = e->m;
    if (m->tensor[t].name != 0) { /* another initializer has it */
        tid own = module_add_tensor(m);
        m->tensor[own] = m->tensor[t];
        t = own;
    }
    m->tensor[t].name = m->value[v].name;
    m->value[v].tensor = t;
    edit_append(e, m->value[v].graph, v, BORDER_INIT);
}

vid edit_weight(struct edit *e, gid g, const char *name, tid t)
{
    struct module *m = e->m;
    vid v = edit_new_value(e, g, str_id(m, name), VALUE_INIT);
    m->value[v].type = type_of_tensor(m, t);
    hold_tensor(e, v, t);
    return v;
}

void edit_fix(struct edit *e, vid v, tid t)
{
    struct module *m = e->m;
    const nid n = m->value[v].def;
    assert(n != 0 && m->value[v].name != 0);
    bool goes = true;
    edit_forget(e, n, v);
    for (uint32_t i = 0; i < m->node[n].out.n; i++)
        goes = goes && m->arg[m->node[n].out.at + i] == 0;
    m->value[v].def = 0;
    m->value[v].outno = 0;
    m->value[v].flags |= VALUE_INIT;
    uint32_t type = type_of_tensor(m, t);
    if (!types_same(m, m->value[v].type, type))
        edit_set_type(e, v, type);
    hold_tensor(e, v, t);
    if (goes)
        edit_drop(e, n);
}

vid edit_ints(struct edit *e, gid g, const char *name, const int64_t *v, uint32_t count)
{
    int64_t n = count;
    return edit_weight(e, g, name, edit_tensor(e, ELEM_I64, &n, 1, v, count * sizeof *v));
}
