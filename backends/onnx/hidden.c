/* Renames values that hide a value of the same name from a body.
 *
 * In the module operands are numbers.  In ONNX they are names, and a name in a body means the value of that name in the
 * nearest graph: the body itself, or a graph around it.  If a node reads a value of an outer graph, and a graph between
 * the two has another value of the same name, that other value gets a new name.  This happens when a pass lets a body
 * read another value, and when textual IR says %x@main.
 *
 * If passes have changed nodes, results in bodies that have the name of any value of an outer graph are renamed, too:
 * runtimes may run nodes in another order than the file's, and then want a name to stand for one value alone.  O(values
 * of bodies and operands in them, each times the depth of its body), expected. */
#include "backends/onnx/make.h"
#include "ir/model/edit.h"

/* The search for values that need another name. */
struct hidden {
    const struct module *m;
    struct arena *a;
    struct map named; /* (graph, name) -> value */
    bool *hides;      /* [value] whether the value needs another name */
    uint32_t n;       /* number of values that need another name */
};

/* Notes that value v needs another name, in h->hides and h->n. */
static void mark_hiding(struct hidden *h, vid v)
{
    if (h->hides[v])
        return;
    h->hides[v] = true;
    h->n++;
}

/* Returns the graph that has the owner of body g; 0: g is the main graph. */
static gid graph_around(const struct module *m, gid g)
{
    return m->graph[g].owner != 0 ? m->node[m->graph[g].owner].graph : 0;
}

/* Marks the values that hide v from graph g, a reader of v: values of its name in g and in the graphs around g, up
 * to v's own graph. */
static void check_read(struct hidden *h, gid g, vid v)
{
    const struct value *x = &h->m->value[v];
    for (; v != 0 && g != 0 && g != x->graph; g = graph_around(h->m, g)) {
        vid other = map_get(&h->named, map_key(g, x->name));
        if (other != 0 && x->name != 0)
            mark_hiding(h, other);
    }
}

/* Marks v, a result in a body, if a value of a graph around that body has its name. */
static void check_result(struct hidden *h, vid v)
{
    const struct module *m = h->m;
    const struct value *x = &m->value[v];
    for (gid g = x->graph; m->graph[g].owner != 0; g = graph_around(m, g)) {
        if (map_get(&h->named, map_key(graph_around(m, g), x->name)) != 0) {
            mark_hiding(h, v);
            return;
        }
    }
}

/* Notes each value that needs another name: looks at all operands of nodes, all outputs of bodies and, if passes have
 * changed nodes, all results in bodies. */
static void find_hiding(struct hidden *h)
{
    const struct module *m = h->m;
    for (vid v = 1; v < m->nval; v++)
        if (m->value[v].name != 0)
            map_set(&h->named, h->a, map_key(m->value[v].graph, m->value[v].name), v);
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

void rename_hiding_values(struct module *m)
{
    if (m->ngraph <= 2)
        return;
    struct hidden h = {.m = m, .a = arena_new(m->mem)};
    const bool rewritten = m->rewritten; /* edit_end() sets it; renaming must not count */
    h.hides = arena_array(h.a, m->nval, sizeof *h.hides);
    find_hiding(&h);
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
