/* Copies things from another module into the edited one (edit.h).
 *
 * The pools of the other module are appended once, so the new index of an entry is its old one plus a constant.
 * O(size of the pools) once, O(1) for each entry. */
#include "ir/model/edit_state.h"

#include "ir/model/dim.h"

struct edit_source {
    struct module *m;          /* the edited module */
    const struct module *from; /* the module that is copied from */
    /* [pool] number that is added to an index of the other module to get the index in the edited one */
    uint32_t ints, floats, sids, type, tensor, about;
};

/* Returns the new index of entry i of a pool: i + by; 0 stays 0. */
static uint32_t shifted_index(uint32_t i, uint32_t by)
{
    return i != 0 ? i + by : 0;
}

/* Appends the types of the other module to the edited one; symbolic dimensions become unknown. */
static void take_types(struct edit_source *s)
{
    struct module *m = s->m;
    const struct module *b = s->from;
    s->type = m->ntype - 1;
    for (uint32_t t = 1; t < b->ntype; t++) {
        struct type x = b->type[t];
        struct slice d = {0, x.rank > 0 ? (uint32_t)x.rank : 0};
        if (d.n > 0)
            d = module_add_dims(m, b->dim + x.dim, d.n);
        for (uint32_t i = 0; i < d.n; i++)
            if (m->dim[d.at + i].sym != 0)
                m->dim[d.at + i] = dim_unknown();
        x.dim = d.at;
        x.inner = shifted_index(x.inner, s->type);
        module_add_type(m, x);
    }
}

/* Appends the documentation and metadata (module.about) of the other module. */
static void take_abouts(struct edit_source *s)
{
    s->about = s->m->nabout - 1;
    for (uint32_t i = 1; i < s->from->nabout; i++) {
        struct about x = s->from->about[i];
        x.meta.at += s->sids;
        module_add_about(s->m, x);
    }
}

/* Appends the tensors of the other module; their bytes stay where they are. */
static void take_tensors(struct edit_source *s)
{
    s->tensor = s->m->ntensor - 1;
    for (tid t = 1; t < s->from->ntensor; t++) {
        struct tensor x = s->from->tensor[t];
        x.dim += s->ints;
        if (x.where == TENSOR_STRINGS)
            x.off += s->sids;
        x.of[0] = shifted_index(x.of[0], s->tensor);
        x.of[1] = shifted_index(x.of[1], s->tensor);
        x.range.at += s->ints;
        x.about = shifted_index(x.about, s->about);
        tid n = module_add_tensor(s->m);
        s->m->tensor[n] = x;
    }
}

struct edit_source *edit_source(struct edit *e, const struct module *from)
{
    struct edit_source *s = arena_alloc(e->a, sizeof *s);
    *s = (struct edit_source){.m = e->m, .from = from};
    /* entry 0 of each pool stays behind, so that entry i becomes entry i + s->ints, for instance */
    s->ints = module_add_ints(e->m, from->ints + 1, from->nints - 1).at - 1;
    s->floats = module_add_floats(e->m, from->floats + 1, from->nfloats - 1).at - 1;
    s->sids = module_add_sids(e->m, from->sids + 1, from->nsids - 1).at - 1;
    take_types(s);
    take_abouts(s);
    take_tensors(s);
    return s;
}

uint32_t edit_source_type(const struct edit_source *s, uint32_t type)
{
    return shifted_index(type, s->type);
}

tid edit_source_tensor(const struct edit_source *s, tid t)
{
    return shifted_index(t, s->tensor);
}

uint32_t edit_source_about(const struct edit_source *s, uint32_t about)
{
    return shifted_index(about, s->about);
}

/* Returns a copy in the edited module of a list of tensors or types of the other one, with `by` added to each
 * index. */
static struct slice take_refs(struct edit_source *s, struct slice list, uint32_t by)
{
    struct slice now = module_add_refs(s->m, s->from->refs + list.at, list.n);
    for (uint32_t i = 0; i < now.n; i++)
        s->m->refs[now.at + i] = shifted_index(s->m->refs[now.at + i], by);
    return now;
}

struct attr edit_source_attr(struct edit_source *s, struct attr a)
{
    a.about = shifted_index(a.about, s->about);
    if (a.ref != 0) /* a call gives the value */
        return a;
    switch ((enum attr_kind)a.kind) {
    case ATTR_FLOATS:
        a.u.list.at += s->floats;
        break;
    case ATTR_INTS:
        a.u.list.at += s->ints;
        break;
    case ATTR_STRINGS:
        a.u.list.at += s->sids;
        break;
    case ATTR_TENSOR:
    case ATTR_SPARSE:
        a.u.t = shifted_index(a.u.t, s->tensor);
        break;
    case ATTR_TYPE:
        a.u.type = shifted_index(a.u.type, s->type);
        break;
    case ATTR_TENSORS:
    case ATTR_SPARSES:
        a.u.list = take_refs(s, a.u.list, s->tensor);
        break;
    case ATTR_TYPES:
        a.u.list = take_refs(s, a.u.list, s->type);
        break;
    default: /* numbers need no change; graphs are left to the caller */
        break;
    }
    return a;
}

void edit_take_node(struct edit *e, nid n, const struct edit_source *s, nid from)
{
    const struct node *y = &s->from->node[from];
    struct node *x = &e->m->node[n];
    x->op = y->op;
    x->domain = y->domain;
    x->overload = y->overload;
    x->callee = y->callee;
    x->flags = y->flags | NODE_MADE;
    x->about = shifted_index(y->about, s->about);
    x->src = y->src;
}
