/* Copies nodes with their bodies (edit_copy() of edit.h).
 *
 * Bodies that are still to be copied are kept in a list, so there is no recursion. All nodes and values are copied
 * before any operands, since a node may read a value that is copied later. O(size of what is copied), expected. */
#include "ir/model/edit_state.h"

/* A node or graph and its copy. */
struct copy_pair {
    uint32_t from, to;
};

/* State of edit_copy(). */
struct copy_state {
    struct edit *e;
    /* what the names of copies end in; NULL: nothing, but a number if the name is taken */
    const char *suffix;
    struct map value; /* value -> copy of the value; filled only if the node has bodies */
    bool has_bodies;  /* the node has bodies */
    struct copy_pair *node, *body; /* nodes and bodies with their copies */
    uint32_t nnode, capnode, nbody, capbody;
};

/* Returns the copy of value v, or v itself if it was not copied. */
static vid copied_value(const struct copy_state *c, vid v)
{
    vid w = map_get(&c->value, v);
    return v != 0 && w != 0 ? w : v;
}

/* Returns the name for the copy of a value or node called `name`: with the suffix, if there is one; 0 for 0. */
static sid copied_name(const struct copy_state *c, sid name)
{
    return c->suffix == NULL || name == 0
               ? name
               : str_id(c->e->m, arena_fmt(c->e->a, "%s%s", module_str(c->e->m, name), c->suffix));
}

/* Adds a copy of value v to graph g and returns it (0 for 0).  Inputs and outputs of bodies keep their names: some
 * operators find them by name (com.microsoft::BeamSearch). */
static vid copy_value(struct copy_state *c, vid v, gid g)
{
    struct module *m = c->e->m;
    if (v == 0)
        return 0;
    const uint32_t kept = VALUE_INPUT | VALUE_INIT | VALUE_LOST | VALUE_TYPED | VALUE_RETYPED;
    const struct value x = m->value[v];
    bool lost = (x.flags & VALUE_LOST) != 0;
    vid w = edit_new_value(c->e, g, copied_name(c, x.name), x.flags & kept);
    /* a value of another graph than g belongs to the body whose copy is g */
    bool border = g != x.graph && (x.flags & (VALUE_INPUT | VALUE_OUTPUT)) != 0;
    if (lost)
        m->value[w].name = 0;
    else if (border)
        m->value[w].name = x.name;
    m->value[w].type = x.type;
    c->e->value[w].like = v;
    if (x.tensor != 0) {
        tid t = edit_tensor_named(c->e, x.tensor, m->value[w].name);
        m->value[w].tensor = t;
    }
    if (c->has_bodies)
        map_set(&c->value, c->e->a, v, w);
    return w;
}

/* Appends the copy of v, an entry of list `which` of a body, to the same list of the copied body.  set_at: time at
 * which v was put there (edit.time). */
static void copy_border(struct copy_state *c, struct copy_pair body, vid v, enum graph_list which,
                        uint32_t set_at)
{
    struct edit *e = c->e;
    if (which == BORDER_OUT) {
        edit_output(e, body.to, copied_value(c, edit_output_now(e, body.from, v, set_at)));
        return;
    }
    /* an input that has an initializer is in two lists, but is copied once */
    vid copy = map_get(&c->value, v);
    edit_append(e, body.to, copy != 0 ? copy : copy_value(c, v, body.to), which);
}

/* Copies a list of a body, with the values that this edit has appended to it, to the copied body. */
static void copy_list(struct copy_state *c, struct copy_pair body, struct slice list,
                      enum graph_list which)
{
    struct edit *e = c->e;
    for (uint32_t i = 0; i < list.n; i++)
        copy_border(c, body, e->m->arg[list.at + i], which, 0);
    for (uint32_t i = e->border_first[body.from]; i != 0; i = e->border[i - 1].next)
        if (e->border[i - 1].list == which)
            copy_border(c, body, e->border[i - 1].value, which, e->border[i - 1].set_at);
}

/* Adds an empty copy of graph `from`, owned by node `owner`, notes it in c->body, and returns it. */
static gid copy_body(struct copy_state *c, gid from, nid owner)
{
    const struct graph x = c->e->m->graph[from];
    gid g = edit_graph(c->e, owner, x.name);
    c->e->m->graph[g].about = x.about;
    c->e->m->graph[g].src = x.src;
    c->body = vec_grow(c->e->a, c->body, &c->capbody, c->nbody + 1, sizeof *c->body);
    c->body[c->nbody++] = (struct copy_pair){from, g};
    return g;
}

/* Returns a copy of the attributes of node n for node `copy`, with new, still empty bodies. */
static struct slice copy_attrs(struct copy_state *c, nid n, nid copy)
{
    struct module *m = c->e->m;
    const struct slice old = m->node[n].attr;
    struct slice now = module_add_attrs(m, m->attr + old.at, old.n);
    for (uint32_t i = 0; i < now.n; i++) {
        struct attr a = m->attr[now.at + i];
        uint32_t bodies = edit_nbody(&a);
        if (bodies == 0)
            continue;
        if (a.kind == ATTR_GRAPH) {
            a.u.g = copy_body(c, a.u.g, copy);
        } else {
            struct slice list = module_add_refs(m, NULL, bodies);
            for (uint32_t k = 0; k < bodies; k++) {
                gid g = copy_body(c, m->refs[a.u.list.at + k], copy);
                m->refs[list.at + k] = g;
            }
            a.u.list = list;
        }
        m->attr[now.at + i] = a;
    }
    return now;
}

/* Adds a copy of node n to graph g behind node `after` and returns it.  It has copies of the results, and no operands
 * yet: copy_operands() adds these when all values have copies. */
static nid copy_node(struct copy_state *c, nid n, gid g, nid after)
{
    struct edit *e = c->e;
    struct module *m = e->m;
    nid k = edit_new_node(e, g, after, node_op(m, n));
    const struct slice old = m->node[n].out;
    struct slice out = module_add_args(m, NULL, old.n);
    for (uint32_t i = 0; i < old.n; i++) {
        vid v = copy_value(c, m->arg[old.at + i], g);
        m->arg[out.at + i] = v;
        if (v != 0) {
            m->value[v].def = k;
            m->value[v].outno = i;
        }
    }
    struct node x = m->node[n];
    x.graph = g;
    x.out = out;
    x.attr = copy_attrs(c, n, k);
    /* a node without a name gets one in edit_end() */
    x.name = x.name != 0 ? edit_fresh(e, copied_name(c, x.name), EDIT_NODE) : 0;
    x.flags = (x.flags & ~(uint32_t)NODE_UNNAMED) | NODE_MADE;
    m->node[k] = x;
    edit_made_from(e, k, n);
    e->slot[k].copy = !e->slot[n].is_new || e->slot[n].copy;
    c->node = vec_grow(e->a, c->node, &c->capnode, c->nnode + 1, sizeof *c->node);
    c->node[c->nnode++] = (struct copy_pair){n, k};
    return k;
}

/* Gives the copy p.to of node p.from its operands: the copies of p.from's operands or, where a value has no copy, the
 * values themselves. */
static void copy_operands(struct copy_state *c, struct copy_pair p)
{
    struct edit *e = c->e;
    struct module *m = e->m;
    struct slice in = module_add_args(m, NULL, m->node[p.from].nformal);
    for (uint32_t i = 0; i < in.n; i++) {
        vid v = copied_value(c, edit_in(e, p.from, i));
        m->arg[in.at + i] = v;
    }
    m->node[p.to].in = in;
    e->slot[p.to].set_at = e->time;
}

/* Whether an attribute of node n holds graphs. */
static bool has_bodies(const struct module *m, nid n)
{
    const struct slice attr = m->node[n].attr;
    uint32_t i = 0;
    while (i < attr.n && edit_nbody(&m->attr[attr.at + i]) == 0)
        i++;
    return i < attr.n;
}

nid edit_copy(struct edit *e, nid n)
{
    return edit_copy_named(e, n, NULL);
}

nid edit_copy_named(struct edit *e, nid n, const char *suffix)
{
    struct module *m = e->m;
    struct copy_state c = {.e = e, .suffix = suffix, .has_bodies = has_bodies(m, n)};
    nid k = copy_node(&c, n, m->node[n].graph, n);
    for (uint32_t i = 0; i < c.nbody; i++) {
        const struct copy_pair body = c.body[i];
        copy_list(&c, body, m->graph[body.from].in, BORDER_IN);
        copy_list(&c, body, m->graph[body.from].init, BORDER_INIT);
        for (nid at = e->first[body.from]; at != 0; at = e->slot[at].next)
            if (!e->slot[at].gone)
                copy_node(&c, at, body.to, e->last[body.to]);
    }
    for (uint32_t i = 0; i < c.nnode; i++)
        copy_operands(&c, c.node[i]);
    for (uint32_t i = 0; i < c.nbody; i++)
        copy_list(&c, c.body[i], m->graph[c.body[i].from].out, BORDER_OUT);
    return k;
}
