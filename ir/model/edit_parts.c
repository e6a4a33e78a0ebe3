/* Adds and changes attributes, bodies, inputs and outputs in an edit (edit.h).  Each function takes O(size of the list
 * that it changes). */
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

/* Returns the place of the attribute `name` in a list of attributes; list.n: the list has no such attribute. */
static uint32_t find_attr(const struct module *m, struct slice list, sid name)
{
    uint32_t i = 0;
    while (i < list.n && m->attr[list.at + i].name != name)
        i++;
    return i;
}

void edit_set_attr(struct edit *e, nid n, struct attr a)
{
    struct module *m = e->m;
    const struct slice old = m->node[n].attr;
    assert(a.name != 0);
    uint32_t at = find_attr(m, old, a.name);
    struct slice now = module_add_attrs(m, NULL, at < old.n ? old.n : old.n + 1);
    memcpy(m->attr + now.at, m->attr + old.at, old.n * sizeof *m->attr);
    m->attr[now.at + at] = a;
    m->node[n].attr = now;
}

void edit_drop_attr(struct edit *e, nid n, const char *name)
{
    struct module *m = e->m;
    const struct slice old = m->node[n].attr;
    if (node_attr(m, n, name) == NULL)
        return;
    uint32_t at = find_attr(m, old, str_id(m, name));
    struct slice now = module_add_attrs(m, NULL, old.n - 1);
    memcpy(m->attr + now.at, m->attr + old.at, at * sizeof *m->attr);
    memcpy(m->attr + now.at + at, m->attr + old.at + at + 1, (old.n - at - 1) * sizeof *m->attr);
    m->node[n].attr = now;
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

gid edit_graph(struct edit *e, nid n, sid name)
{
    gid g = module_add_graph(e->m);
    edit_grow_graphs(e);
    e->m->graph[g].owner = n;
    e->m->graph[g].name = name;
    return g;
}

gid edit_set_body(struct edit *e, nid n, const char *name)
{
    gid g = edit_graph(e, n, str_id(e->m, name));
    edit_set_attr(e, n, (struct attr){.name = str_id(e->m, name), .kind = ATTR_GRAPH, .u.g = g});
    return g;
}

gid edit_add_body(struct edit *e, nid n, const char *name)
{
    struct module *m = e->m;
    const struct attr *old = node_attr(m, n, name);
    struct attr a = {.name = str_id(m, name), .kind = ATTR_GRAPHS};
    const struct slice none = {0, 0};
    const struct slice list = old != NULL && old->kind == ATTR_GRAPHS ? old->u.list : none;
    gid g = edit_graph(e, n, a.name);
    a.u.list = module_add_refs(m, NULL, list.n + 1);
    memcpy(m->refs + a.u.list.at, m->refs + list.at, list.n * sizeof *m->refs);
    m->refs[a.u.list.at + list.n] = g;
    edit_set_attr(e, n, a);
    return g;
}

void edit_append(struct edit *e, gid g, vid v, enum graph_list list)
{
    const uint32_t at = e->nborder++;
    e->border = vec_grow(e->a, e->border, &e->capborder, e->nborder, sizeof *e->border);
    e->border[at] = (struct edit_border){.graph = g, .value = v, .list = list, .set_at = e->time};
    /* puts the entry behind the last one of the graph; entries are linked by 1 + their index */
    if (e->border_first[g] == 0)
        e->border_first[g] = at + 1;
    else
        e->border[e->border_last[g] - 1].next = at + 1;
    e->border_last[g] = at + 1;
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

void edit_withdraw(struct edit *e, vid v)
{
    struct value *x = &e->m->value[v];
    e->value[v].withdrawn = true;
    x->flags &= ~(uint32_t)(VALUE_INPUT | VALUE_OUTPUT);
    /* an input without a default value has no definition any more */
    if (x->def == 0 && (x->flags & VALUE_INIT) == 0)
        *x = (struct value){.graph = x->graph, .flags = VALUE_LOST};
}

void edit_import(struct edit *e, const char *domain, int64_t version)
{
    sid d = domain != NULL && strcmp(domain, "ai.onnx") != 0 ? str_id(e->m, domain) : 0;
    if (module_opset(e->m, d) < 0)
        module_add_opset(e->m, d, version);
}
