/* Values whose names would mislead readers in bodies.
 *
 * In the module operands are numbers; in ONNX they are names, and a name in a body means the nearest value around that
 * has it.  So where a node in a body reads a value of a graph around, and a graph between has another value of that name,
 * the other one gets another name.  A pass that lets a body read something else, and a text that says %x@main, lead
 * there.  Where passes have changed nodes, so do results in bodies whose name a value of a graph around has, be it made
 * later: runtimes ask for single assignment in an order of their own.
 * O(values of bodies and operands in them, each times the depth of its body), expected. */
#include "backends/onnx/make.h"
#include "ir/model/edit.h"

struct hidden {
    const struct module *m;
    struct arena *a;
    struct map named; /* (graph, name) -> value */
    bool *hides;      /* [value] it needs another name */
    uint32_t n;       /* how many do */
};

static void mark(struct hidden *h, vid v)
{
    h->n += !h->hides[v];
    h->hides[v] = true;
}

static gid graph_around(const struct module *m, gid g)
{
    return m->graph[g].owner != 0 ? m->node[m->graph[g].owner].graph : 0;
}

/* Graph g reads v. */
static void check_read(struct hidden *h, gid g, vid v)
{
    const struct value *x = &h->m->value[v];
    for (; v != 0 && g != 0 && g != x->graph; g = graph_around(h->m, g)) {
        vid other = map_get(&h->named, map_key(g, x->name));
        if (other != 0 && x->name != 0)
            mark(h, other);
    }
}

/* v is a result in a body. */
static void check_result(struct hidden *h, vid v)
{
    const struct module *m = h->m;
    const struct value *x = &m->value[v];
    for (gid g = x->graph; m->graph[g].owner != 0; g = graph_around(m, g)) {
        if (map_get(&h->named, map_key(graph_around(m, g), x->name)) != 0) {
            mark(h, v);
            return;
        }
    }
}

static void find_hidden(struct hidden *h)
{
    const struct module *m = h->m;
    for (vid v = 1; v < m->nval; v++)
        if (m->value[v].name != 0)
            map_set(&h->named, h->a, map_key(m->value[v].graph, m->value[v].name), v);
    if (h->named.mask == 0)
        return;
    for (nid n = 1; n < m->nnode; n++)
        for (uint32_t i = 0; i < m->node[n].nformal; i++)
            check_read(h, m->node[n].graph, node_in(m, n, i));
    for (gid g = 2; g < m->ngraph; g++)
        for (uint32_t i = 0; i < m->graph[g].out.n; i++)
            check_read(h, g, m->arg[m->graph[g].out.at + i]);
    for (vid v = 1; v < m->nval && m->rewritten; v++)
        if (m->value[v].graph > 1 && m->value[v].def != 0 && m->value[v].name != 0)
            check_result(h, v);
}

void make_names_plain(struct module *m)
{
    if (m->ngraph <= 2)
        return;
    struct hidden h = {.m = m, .a = arena_new(m->mem)};
    const bool rewritten = m->rewritten;
    h.hides = arena_array(h.a, m->nval, sizeof *h.hides);
    find_hidden(&h);
    if (h.n > 0) {
        struct edit *e = edit_begin(m, h.a);
        for (vid v = 1; v < m->nval; v++)
            if (h.hides[v])
                edit_name_value(e, v, arena_fmt(h.a, "%s_1", value_name(m, v)));
        edit_end(e);
        m->rewritten = rewritten;
    }
    arena_free(h.a);
}
