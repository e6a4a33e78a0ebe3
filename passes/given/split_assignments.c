/* Reads assignments of nodes to splits (split_assignments.h): "name=k;name=k".
 *
 * By Olive's rules (olive/passes/onnx/split.py): a node belongs to the split of the longest assigned name with which
 * its own name begins, counted in whole components between dots or slashes; but never to an earlier split than the
 * nodes whose results it reads.  A QuantizeLinear, and a node for which no such name is assigned, goes to the last of
 * the splits whose results it reads; if it reads no split's results, to the first of the splits that read it; if none
 * does, to split 0.  Olive copies a DequantizeLinear to all its readers; here it goes to the first of their splits.
 * The names are kept as a tree of components.  O(characters + operands). */
#include "passes/given/split_assignments.h"

#include "ir/base/name_table.h"

#include <stdlib.h>
#include <string.h>

#define KEY "split_assignments"

/* The names of the assignments: a tree whose edges are components. */
struct name_tree {
    struct names child; /* "parent/component" -> vertex; the root is 0 */
    /* [vertex] the split that is assigned to the name which ends at the vertex; SPLIT_NONE: no name ends there */
    int32_t *split;
    uint32_t n, cap; /* number of vertices; room in `split` */
    struct arena *a;
};

const char *split_assignments_of(const struct module *m)
{
    struct slice meta = m->about[m->own_about].meta;
    for (uint32_t i = 0; i + 1 < meta.n; i += 2)
        if (strcmp(module_str(m, m->sids[meta.at + i]), KEY) == 0)
            return module_str(m, m->sids[meta.at + i + 1]);
    return NULL;
}

/* Takes the first component off *name, with the separator behind it.  Returns the edge for the component from
 * `vertex`, "vertex/component", which is a key of name_tree.child; lives in a. */
static const char *take_edge(uint32_t vertex, const char **name, struct arena *a)
{
    size_t n = strcspn(*name, "./");
    const char *edge = arena_fmt(a, "%u/%.*s", vertex, (int)n, *name);
    *name += n + ((*name)[n] != 0);
    return edge;
}

/* Returns the vertex at which a name ends.  Follows the name's components from the root, and adds the vertices that
 * the tree lacks. */
static uint32_t vertex_of(struct name_tree *t, const char *name)
{
    uint32_t at = 0;
    while (*name) {
        const char *edge = take_edge(at, &name, t->a);
        at = names_get(&t->child, edge, 0);
        if (at)
            continue;
        at = t->n++;
        t->split = vec_grow(t->a, t->split, &t->cap, t->n, sizeof *t->split);
        t->split[at] = SPLIT_NONE;
        names_add(&t->child, edge, at);
    }
    return at;
}

/* Returns the split of the longest name in t that `name` begins with; SPLIT_NONE: there is none. */
static int32_t split_by_name(const struct name_tree *t, const char *name, struct arena *scratch)
{
    int32_t split = SPLIT_NONE;
    struct arena *own = arena_new(scratch);
    uint32_t at = 0;
    for (name += strspn(name, "./"); *name;) {
        at = names_get(&t->child, take_edge(at, &name, own), 0);
        if (!at)
            break;
        split = t->split[at] != SPLIT_NONE ? t->split[at] : split;
    }
    arena_free(own);
    return split;
}

/* Adds the assignments of a text to t.  Returns 0, or -1 and an error about the file `path`. */
static int read_names(struct name_tree *t, const char *text, const char *path, struct diag *d)
{
    while (*text) {
        size_t n = strcspn(text, ";");
        char *name = arena_strdup(t->a, text, n), *eq = strrchr(name, '='), *end = NULL;
        long split = eq ? strtol(eq + 1, &end, 10) : -1;
        if (!eq || eq == name || end == eq + 1 || *end || split < 0 || split >= CLUSTER_DEVICES)
            return diag_error(d, "%s: " KEY ": '%.80s': expected NAME=K, K in 0..%d", path,
                              arena_strdup(t->a, text, n), CLUSTER_DEVICES - 1);
        *eq = 0;
        uint32_t at = vertex_of(t, name);
        t->split[at] = (int32_t)split;
        text += n + (text[n] == ';');
    }
    return 0;
}

/* Returns whether a node has the operator op of ai.onnx. */
static bool has_operator(const struct module *m, nid n, const char *op)
{
    return m->node[n].domain == 0 && node_is(m, n, op);
}

/* Returns the largest split of the nodes that make what n reads; SPLIT_NONE: none has one. */
static int32_t split_read(const struct module *m, const int32_t *split, nid n)
{
    int32_t most = SPLIT_NONE;
    for (uint32_t i = 0; i < m->node[n].in.n; i++) {
        nid def = m->value[m->arg[m->node[n].in.at + i]].def;
        most = def && split[def] > most ? split[def] : most;
    }
    return most;
}

/* Returns the lowest number of a split that has a reader of n; SPLIT_NONE: n has no reader with a split. */
static int32_t split_reading(const struct module *m, const int32_t *split, nid n,
                             const struct csr *users)
{
    int32_t first = SPLIT_NONE;
    for (uint32_t i = 0; i < m->node[n].out.n; i++) {
        vid v = m->arg[m->node[n].out.at + i];
        if (!v)
            continue; /* an output that is left out */
        for_row (reader, *users, v)
            if (split[reader] != SPLIT_NONE && (first == SPLIT_NONE || split[reader] < first))
                first = split[reader];
    }
    return first;
}

const int32_t *split_assignments_read(const struct module *m, const char *text, const char *path,
                                      struct arena *a, struct diag *d)
{
    const struct graph *g = &m->graph[1];
    struct name_tree t = {.child = names_new(a, 64), .a = a, .n = 1};
    int32_t *split = arena_array(a, m->nnode, sizeof *split);
    t.split = vec_grow(a, NULL, &t.cap, 1, sizeof *t.split);
    t.split[0] = SPLIT_NONE;
    if (read_names(&t, text, path, d))
        return NULL;
    for (nid n = 0; n < m->nnode; n++)
        split[n] = SPLIT_NONE;
    /* forward: each node gets the split of its name, or the last of the splits that it reads from, if that is later */
    for (nid n = g->first; n < g->first + g->count; n++) {
        bool nameless =
            has_operator(m, n, "QuantizeLinear") || has_operator(m, n, "DequantizeLinear");
        int32_t own = nameless ? SPLIT_NONE : split_by_name(&t, node_name(m, n), a);
        int32_t from = split_read(m, split, n);
        if (!has_operator(m, n, "Constant"))
            split[n] = own > from ? own : from;
    }
    /* backward: nodes without a split, and every DequantizeLinear, go to the first split of their readers */
    struct csr users = module_users(m, a);
    for (nid n = g->first + g->count; n-- > g->first;) {
        bool copied = has_operator(m, n, "DequantizeLinear");
        int32_t to = split_reading(m, split, n, &users);
        if (has_operator(m, n, "Constant"))
            continue;
        if (copied && to != SPLIT_NONE)
            split[n] = to;
        else if (split[n] == SPLIT_NONE)
            split[n] = to == SPLIT_NONE ? 0 : to;
    }
    return split;
}
