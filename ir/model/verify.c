/* The verifier: checks the invariants in module.h.  It relies on nothing but the lengths of the arrays.
 *
 * There are four rounds; each is safe whatever violations the rounds before it have found:
 *  (1) every index, slice and enumeration is in range (verify_ranges.c);
 *  (2) graphs: each node lies in the range of its graph, each body belongs to the node whose attribute refers to it,
 *      and no graph is inside itself;
 *  (3) values: each has one definition, lists of graphs and flags of values agree, names are present and unique;
 *  (4) reads: a value that a node or a graph's outputs read is defined before, in the same graph, or is an operand of
 *      the node that owns the graph.  By induction over the nesting this proves that captures are recorded at every
 *      level and come from graphs around.
 * A slice that is out of range is reported once and counts as empty afterwards.
 * Cost: O(everything in the module); the verifier's memory is its own. */
#include "ir/model/verify.h"

#include "ir/base/strings.h"

/* Checks that every node lies in the range of its graph, and that ranges do not overlap. */
static void ranges_check(struct check *c)
{
    const struct module *m = c->m;
    uint32_t *tally = arena_array(c->mem, m->ngraph, sizeof *tally);

    for (nid n = 1; n < m->nnode; n++) {
        gid g = m->node[n].graph;
        if (g == 0 || g >= m->ngraph) {
            verify_fail(c, "node %u '%s': graph %u, expected 1 to %u", n, node_name(m, n), g,
                        m->ngraph - 1);
        } else if (n < m->graph[g].first || n - m->graph[g].first >= m->graph[g].count) {
            verify_fail(c, "node %u '%s' is outside graph %u, which has nodes [%u, %u + %u)", n,
                        node_name(m, n), g, m->graph[g].first, m->graph[g].first,
                        m->graph[g].count);
        } else {
            tally[g]++;
        }
    }
    for (gid g = 1; g < m->ngraph; g++) {
        if (tally[g] != m->graph[g].count) {
            verify_fail(c, "graph %u: %u nodes in its range, %u of them are its own", g,
                        m->graph[g].count, tally[g]);
        }
    }
}

/* Adds to refs[g] how often attributes of node n refer to graph g; reports references to wrong graphs.  Returns the
 * number of references. */
static uint32_t count_bodies(struct check *c, nid n, uint32_t *refs)
{
    const struct module *m = c->m;
    const struct slice s = verify_safe(m->node[n].attr, m->nattr);
    uint32_t named = 0;

    for (uint32_t i = 0; i < s.n; i++) {
        const struct attr *a = &m->attr[s.at + i];
        if (a->ref != 0 || (a->kind != ATTR_GRAPH && a->kind != ATTR_GRAPHS))
            continue;
        struct slice list =
            a->kind == ATTR_GRAPHS ? verify_safe(a->u.list, m->nrefs) : (struct slice){0, 1};
        for (uint32_t k = 0; k < list.n; k++, named++) {
            gid g = a->kind == ATTR_GRAPHS ? m->refs[list.at + k] : a->u.g;
            if (g == 0 || g >= m->ngraph) {
                verify_fail(c, "node %u '%s': body %u, expected a graph", n, node_name(m, n), g);
            } else if (m->graph[g].owner != n) {
                verify_fail(c, "node %u '%s' has graph %u as a body, whose owner is node %u", n,
                            node_name(m, n), g, m->graph[g].owner);
            } else {
                refs[g]++;
            }
        }
    }
    return named;
}

/* Checks that each body has an owner and is referred to by one attribute of that owner, that only nodes with bodies
 * have captures, and that no graph is inside itself. */
static void owners_check(struct check *c)
{
    const struct module *m = c->m;
    uint32_t *refs = arena_array(c->mem, m->ngraph, sizeof *refs);
    /* [graph] the graph at which the walk outwards began that visited this graph; 0: none has */
    gid *walk = arena_array(c->mem, m->ngraph, sizeof *walk);

    for (nid n = 1; n < m->nnode; n++)
        if (count_bodies(c, n, refs) == 0 && m->node[n].nformal < m->node[n].in.n)
            verify_fail(c, "node %u '%s' has captures, but no body", n, node_name(m, n));
    for (gid g = 1; g < m->ngraph; g++) {
        nid owner = m->graph[g].owner;
        bool good = g == 1 ? owner == 0 : owner != 0 && owner < m->nnode;
        if (!good) {
            verify_fail(c, "graph %u: owner %u, expected %s", g, owner, g == 1 ? "none" : "a node");
        } else if (g > 1 && refs[g] != 1) {
            verify_fail(c, "graph %u: %u attributes of its owner '%s' refer to it, expected 1", g,
                        refs[g], node_name(m, owner));
        }
    }
    for (gid g = 1; g < m->ngraph; g++) {
        gid at = g;
        while (at != 0 && at < m->ngraph && walk[at] == 0) {
            walk[at] = g;
            nid owner = m->graph[at].owner;
            at = owner != 0 && owner < m->nnode ? m->node[owner].graph : 0;
        }
        if (at != 0 && at < m->ngraph && walk[at] == g)
            verify_fail(c, "graph %u is inside itself", at);
    }
}

/* Checks that the values in a list of graph g belong to g and have the flag of the list; outputs may also belong to
 * graphs around g, which reads_check() checks. what: name of the list, for messages. Adds to seen[value] how often each
 * value of g is listed. */
static void list_check(struct check *c, gid g, const char *what, struct slice list, uint32_t flag,
                       uint32_t *seen)
{
    const struct module *m = c->m;
    const struct slice s = verify_safe(list, m->narg);

    verify_slice(c, "graph", g, what, list, m->narg);
    for (uint32_t i = 0; i < s.n; i++) {
        vid v = m->arg[s.at + i];
        if (v >= m->nval)
            continue; /* reported by args_check() */
        if (v == 0) {
            verify_fail(c, "graph %u: entry %u of its %s is none", g, i, what);
            continue;
        }
        if (m->value[v].graph == g)
            seen[v]++;
        else if (flag == VALUE_OUTPUT)
            continue; /* a captured value, which reads_check() checks */
        if (m->value[v].graph != g || (m->value[v].flags & flag) == 0) {
            verify_fail(c, "graph %u: value %u '%s' is among its %s, but not marked so", g, v,
                        value_name(m, v), what);
        }
    }
}

/* Checks that the lists of graphs and the flags of values agree, and that inputs and initializers are listed once. */
static void lists_check(struct check *c)
{
    static const struct {
        const char *what;
        uint32_t flag;
    } list[] = {{"inputs", VALUE_INPUT}, {"outputs", VALUE_OUTPUT}, {"initializers", VALUE_INIT}};
    const struct module *m = c->m;

    for (int k = 0; k < 3; k++) {
        uint32_t *seen = arena_array(c->mem, m->nval, sizeof *seen);
        for (gid g = 1; g < m->ngraph; g++) {
            const struct graph *x = &m->graph[g];
            const struct slice entries[] = {x->in, x->out, x->init}; /* in the order of list[] */
            list_check(c, g, list[k].what, entries[k], list[k].flag, seen);
        }
        for (vid v = 1; v < m->nval; v++) {
            bool marked = (m->value[v].flags & list[k].flag) != 0;
            if (marked && seen[v] == 0 && (m->value[v].flags & VALUE_LOST) == 0) {
                verify_fail(c, "value %u '%s' is marked, but not among the %s of graph %u", v,
                            value_name(m, v), list[k].what, m->value[v].graph);
            } else if (seen[v] > 1 && list[k].flag != VALUE_OUTPUT) { /* outputs may repeat */
                verify_fail(c, "value %u '%s' is %u times among the %s of graph %u", v,
                            value_name(m, v), seen[v], list[k].what, m->value[v].graph);
            }
        }
    }
}

/* Checks the fields of value v: its name, type, tensor, graph and definition. */
static void value_check(struct check *c, vid v)
{
    const struct module *m = c->m;
    const struct value *x = &m->value[v];
    bool lost = (x->flags & VALUE_LOST) != 0;

    verify_index(c, "value", v, "its name", x->name, c->nstr);
    verify_index(c, "value", v, "its type", x->type, m->ntype);
    verify_index(c, "value", v, "its tensor", x->tensor, m->ntensor);
    if (x->graph == 0 || x->graph >= m->ngraph) {
        verify_fail(c, "value %u '%s': graph %u, expected 1 to %u", v, value_name(m, v), x->graph,
                    m->ngraph - 1);
    }
    if (lost != (x->name == 0)) {
        verify_fail(c, "value %u '%s': %s", v, value_name(m, v),
                    lost ? "lost, yet named" : "no name");
    }
    if (x->tensor == 0 && (x->flags & VALUE_INIT) != 0)
        verify_fail(c, "value %u '%s' is an initializer without a tensor", v, value_name(m, v));
    if (x->tensor != 0 && (x->flags & VALUE_INIT) == 0)
        verify_fail(c, "value %u '%s' has a tensor, but is no initializer", v, value_name(m, v));
    if (x->def == 0) {
        if (!lost && (x->flags & (VALUE_INPUT | VALUE_INIT)) == 0)
            verify_fail(c, "value %u '%s' has no definition", v, value_name(m, v));
        return;
    }
    if (x->flags & (VALUE_INPUT | VALUE_INIT)) {
        verify_fail(c, "value %u '%s' is defined by node %u, and an input or initializer, too", v,
                    value_name(m, v), x->def);
    }
    if (x->def >= m->nnode) {
        verify_index(c, "value", v, "its definition", x->def, m->nnode);
        return;
    }
    const struct slice out = verify_safe(m->node[x->def].out, m->narg);
    if (x->outno >= out.n || m->arg[out.at + x->outno] != v) {
        verify_fail(c, "value %u '%s' is not result %u of node %u '%s'", v, value_name(m, v),
                    x->outno, x->def, node_name(m, x->def));
    }
    if (x->graph != m->node[x->def].graph) {
        verify_fail(c, "value %u '%s' of graph %u is defined in graph %u", v, value_name(m, v),
                    x->graph, m->node[x->def].graph);
    }
}

/* Checks all values, and that each result of a node names the node as its definition. */
static void values_check(struct check *c)
{
    const struct module *m = c->m;

    for (vid v = 1; v < m->nval; v++)
        value_check(c, v);
    for (nid n = 1; n < m->nnode; n++) {
        const struct slice out = verify_safe(m->node[n].out, m->narg);
        for (uint32_t i = 0; i < out.n; i++) {
            vid v = m->arg[out.at + i];
            if (v != 0 && v < m->nval && (m->value[v].def != n || m->value[v].outno != i)) {
                verify_fail(
                    c, "node %u '%s': result %u is value %u '%s', defined as result %u of node %u",
                    n, node_name(m, n), i, v, value_name(m, v), m->value[v].outno, m->value[v].def);
            }
        }
    }
}

/* Checks that names of values are unique in each graph. */
static void names_check(struct check *c)
{
    const struct module *m = c->m;
    gid *graph_of = arena_array(c->mem, m->nval, sizeof *graph_of);
    vid *named = c->named;

    for (vid v = 0; v < m->nval; v++)
        graph_of[v] = m->value[v].graph < m->ngraph ? m->value[v].graph : 0;
    struct csr values = csr_build(c->mem, m->ngraph, m->nval, graph_of, NULL);
    for (gid g = 1; g < m->ngraph; g++) {
        for_row (v, values, g) {
            sid name = m->value[v].name;
            if (name == 0 || name >= c->nstr)
                continue;
            vid other = named[name];
            if (other != 0 && m->value[other].graph == g) {
                verify_fail(c, "values %u and %u of graph %u are both called '%s'", other, v, g,
                            module_str(m, name));
            }
            named[name] = v;
        }
    }
    for (vid v = 1; v < m->nval; v++)
        if (m->value[v].name < c->nstr)
            named[m->value[v].name] = 0;
}

/* Checks that node n (0: the outputs of graph g) may read value v in graph g. around[v]: of the owners of bodies whose
 * operands were marked so far, the last one that reads v; it must be g's owner if v is of another graph. */
static void read_check(struct check *c, gid g, nid n, vid v, const nid *around)
{
    const struct module *m = c->m;
    const char *reader = n != 0 ? node_name(m, n) : "its outputs";

    if (v == 0 || v >= m->nval)
        return;
    const struct value *x = &m->value[v];
    if (x->flags & VALUE_LOST) {
        verify_fail(c, "graph %u: '%s' reads value %u, which is lost", g, reader, v);
    } else if (x->def == 0 && (x->flags & (VALUE_INPUT | VALUE_INIT)) == 0) {
        verify_fail(c, "graph %u: '%s' reads '%s', which no node makes", g, reader,
                    value_name(m, v));
    } else if (x->graph != g && (m->graph[g].owner == 0 || around[v] != m->graph[g].owner)) {
        verify_fail(
            c, "graph %u: '%s' reads value %u '%s' of graph %u, which is no operand of node %u", g,
            reader, v, value_name(m, v), x->graph, m->graph[g].owner);
    } else if (x->graph == g && n != 0 && x->def >= n) {
        verify_fail(c, "graph %u: '%s' (node %u) reads value '%s' of node %u, which comes later", g,
                    reader, n, value_name(m, v), x->def);
    }
}

/* Checks all reads of graph g: by its nodes (row g of `nodes`) and as its outputs.  around: as for
 * read_check(). */
static void check_graph_reads(struct check *c, gid g, const struct csr *nodes, const nid *around)
{
    const struct module *m = c->m;
    const struct slice out = verify_safe(m->graph[g].out, m->narg);

    for_row (n, *nodes, g) {
        const struct slice in = verify_safe(m->node[n].in, m->narg);
        for (uint32_t k = 0; k < in.n; k++)
            read_check(c, g, n, m->arg[in.at + k], around);
    }
    for (uint32_t k = 0; k < out.n; k++)
        read_check(c, g, 0, m->arg[out.at + k], around);
}

/* Checks all reads.  Graphs are visited owner by owner, so that the operands of each owner are marked in around[]
 * once. */
static void reads_check(struct check *c)
{
    const struct module *m = c->m;
    gid *graph_of = arena_array(c->mem, m->nnode, sizeof *graph_of);
    nid *owner_of = arena_array(c->mem, m->ngraph, sizeof *owner_of);
    nid *around = arena_array(c->mem, m->nval, sizeof *around);

    for (nid n = 0; n < m->nnode; n++)
        graph_of[n] = m->node[n].graph < m->ngraph ? m->node[n].graph : 0;
    struct csr nodes = csr_build(c->mem, m->ngraph, m->nnode, graph_of, NULL);
    for (gid g = 0; g < m->ngraph; g++)
        owner_of[g] = m->graph[g].owner < m->nnode ? m->graph[g].owner : 0;
    struct csr bodies = csr_build(c->mem, m->nnode, m->ngraph, owner_of, NULL);
    /* owner 0: the main graph, and entry 0 of the graphs, which is none */
    for (nid owner = 0; owner < m->nnode; owner++) {
        if (bodies.at[owner] == bodies.at[owner + 1])
            continue;
        const struct slice in =
            owner != 0 ? verify_safe(m->node[owner].in, m->narg) : (struct slice){0, 0};
        for (uint32_t k = 0; k < in.n; k++)
            if (m->arg[in.at + k] < m->nval)
                around[m->arg[in.at + k]] = owner;
        for_row (body, bodies, owner)
            if (body != 0)
                check_graph_reads(c, body, &nodes, around);
    }
}

/* Runs all four rounds on c->m. */
static void check_module(struct check *c)
{
    const struct module *m = c->m;

    if (m->nnode == 0 || m->nval == 0 || m->ngraph < 2 || m->ntype == 0 || m->ntensor == 0) {
        verify_fail(c, "the module has no main graph, or an array without its entry 0");
        return;
    }
    struct arena_mark mark = arena_mark(c->mem);
    verify_ranges(c);
    ranges_check(c);
    owners_check(c);
    lists_check(c);
    values_check(c);
    names_check(c);
    reads_check(c);
    arena_release(c->mem, mark);
}

/* Checks the names of function f of the model c->m, and its lists of attributes.  Sets c->m to the function's body. */
static void function_check(struct check *c, uint32_t f)
{
    const struct function *x = &c->m->function[f];
    const struct module *body = x->body;

    verify_index(c, "function", f, "its domain", x->domain, c->nstr);
    verify_index(c, "function", f, "its name", x->name, c->nstr);
    verify_index(c, "function", f, "its overload", x->overload, c->nstr);
    verify_slice(c, "function", f, "its attributes", x->need, body->nsids);
    verify_slice(c, "function", f, "its defaults", x->give, body->nattr);
    c->m = body;
    verify_attrs(c, x->give, module_str(body, x->name));
}

int module_verify(const struct module *m, struct diag *d)
{
    struct check c = {m, d, arena_new(m->mem), strings_count(m->str), m->nfunction, NULL, false};

    c.named = arena_array(c.mem, c.nstr, sizeof *c.named);
    check_module(&c);
    for (uint32_t f = 1; f < m->nfunction; f++) {
        c.m = m;
        function_check(&c, f);
        check_module(&c);
    }
    arena_free(c.mem);
    return c.bad ? -1 : 0;
}
