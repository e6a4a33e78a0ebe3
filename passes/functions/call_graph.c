/* Studies the functions of a model before any call is replaced: which functions are recursive, and how large each
 * body becomes when the calls in it are replaced.
 *
 * Callees are handled before their callers (a topological order), so the sizes of the called functions are known
 * when a body's size is added up: its own nodes plus these sizes.  Sums saturate at UINT64_MAX: a file of a
 * kilobyte can describe 2^100 nodes.  A function that the order does not reach is on a cycle of calls, or its calls
 * lead to such a cycle. O(functions + their nodes). */
#include "passes/functions/inliner.h"

/* Returns a + b, at most UINT64_MAX. */
static uint64_t add_saturating(uint64_t a, uint64_t b)
{
    uint64_t s;
    return __builtin_add_overflow(a, b, &s) ? UINT64_MAX : s;
}

/* Returns rows, in a: function -> the functions whose bodies call it, one entry for each call. */
static struct csr list_callers(const struct module *m, struct arena *a)
{
    struct pairs call = {.a = a}; /* (callee, caller) */
    for (uint32_t f = 1; f < m->nfunction; f++) {
        const struct module *b = m->function[f].body;
        for (nid k = 1; k < b->nnode; k++) {
            if (b->node[k].callee != 0)
                pairs_add(&call, b->node[k].callee, f);
        }
    }
    return pairs_rows(&call, m->nfunction);
}

/* Sets x->nodes[f] and x->entries[f], whose entries for the functions that f calls must be set already. */
static void measure_function(const struct module *m, struct functions *x, uint32_t f)
{
    const struct module *b = m->function[f].body;
    x->nodes[f] = b->nnode - 1;
    x->entries[f] = (uint64_t)b->nnode + b->nval + b->narg + b->nattr + b->ngraph + b->nrefs;
    for (nid k = 1; k < b->nnode; k++) {
        uint32_t callee = b->node[k].callee;
        if (callee == 0 || x->fate[callee] != FATE_FREE)
            continue;
        x->nodes[f] = add_saturating(x->nodes[f], x->nodes[callee]);
        x->entries[f] = add_saturating(x->entries[f], x->entries[callee]);
    }
}

void functions_measure(const struct module *m, struct functions *x)
{
    for (uint32_t i = x->norder; i-- > 0;)
        measure_function(m, x, x->order[i]);
}

/* Whether an output of the function's main graph, or of a body of a node in it, is simply an input of the function. */
static bool returns_input(const struct module *body)
{
    for (gid g = 1; g < body->ngraph; g++) {
        const struct slice out = body->graph[g].out;
        for (uint32_t i = 0; i < out.n; i++) {
            const struct value *v = &body->value[body->arg[out.at + i]];
            if (v->graph == 1 && (v->flags & VALUE_INPUT) != 0)
                return true;
        }
    }
    return false;
}

struct functions *functions_study(const struct module *m, struct arena *a)
{
    struct functions *x = arena_alloc(a, sizeof *x);
    uint32_t n = m->nfunction, *order = arena_array(a, (size_t)n + 1, sizeof *order);
    struct csr callers = list_callers(m, a);
    x->n = n;
    x->order = arena_array(a, (size_t)n + 1, sizeof *x->order);
    x->fate = arena_alloc(a, (size_t)n + 1);
    x->depth = arena_array(a, (size_t)n + 1, sizeof *x->depth);
    x->returns = arena_alloc(a, (size_t)n + 1);
    x->nodes = arena_array(a, (size_t)n + 1, sizeof *x->nodes);
    x->entries = arena_array(a, (size_t)n + 1, sizeof *x->entries);
    for (uint32_t f = 1; f < n; f++) {
        x->fate[f] = FATE_CYCLE; /* unless the order below reaches f */
        x->depth[f] = 1;
        x->returns[f] = returns_input(m->function[f].body);
    }
    uint32_t sorted = csr_topo(&callers, n, NULL, order, a);
    for (uint32_t i = 0; i < sorted; i++) {
        uint32_t f = order[i];
        if (f == 0) /* entry 0 is no function */
            continue;
        x->fate[f] = x->depth[f] > CALL_DEPTH ? FATE_DEEP : FATE_FREE;
        measure_function(m, x, f);
        for_row (g, callers, f)
            x->depth[g] = larger_u32(x->depth[f] + 1, x->depth[g]);
    }
    for (uint32_t i = sorted; i-- > 0;) /* in reverse, so that callers come first */
        if (order[i])
            x->order[x->norder++] = order[i];
    return x;
}

void functions_total(const struct module *m, const struct functions *f, uint64_t *nodes,
                     uint64_t *entries)
{
    *nodes = m->nnode - 1;
    *entries = (uint64_t)m->nnode + m->nval + m->narg;
    for (nid n = 1; n < m->nnode; n++) {
        uint32_t callee = m->node[n].callee;
        if (callee == 0 || f->fate[callee] != FATE_FREE)
            continue;
        *nodes = add_saturating(*nodes, f->nodes[callee]);
        *entries = add_saturating(*entries, f->entries[callee]);
    }
}

const char *call_obstacle(const struct module *m, const struct functions *f,
                          const struct module *from, nid call)
{
    const struct node *n = &from->node[call];
    const struct module *body = m->function[n->callee].body;
    const struct graph *g = &body->graph[1];
    bool omits = g->in.n > n->nformal; /* the call omits inputs */
    if (n->nformal > g->in.n || n->out.n > g->out.n)
        return "it gives or takes more values than the function has";
    for (uint32_t i = 0; i < n->attr.n; i++) {
        const struct attr *a = &from->attr[n->attr.at + i];
        if (a->ref == 0 && (a->kind == ATTR_GRAPH || a->kind == ATTR_GRAPHS))
            return "it gives a graph as an attribute";
    }
    for (uint32_t i = 0; i < n->nformal; i++)
        omits = omits || from->arg[n->in.at + i] == 0;
    if (omits && f->returns[n->callee] != 0)
        return "it omits inputs, and the function returns an input as it is";
    return NULL;
}
