/* Joins QuantizeLinear and DequantizeLinear with their operators (qdq_groups.h).
 *
 * Runtimes fuse DequantizeLinear -> operator -> QuantizeLinear into one integer operator, if all
 * three are in one model; a part that begins with a float tensor cannot be fused so, and gets four times the
 * bytes.  Let a QuantizeLinear with one predecessor be a tail, and a DequantizeLinear with at most one predecessor a
 * head; all other vertices, and a tail or head that directly follows a head, count as operators.
 *
 * Why there is no cycle: let the depth of a vertex be the largest number of operators on a path to it, itself
 * included.  A tail has the depth of its producer; a head joins only its readers of least depth, and
 * the class has their depth.  Then every edge between two classes leads to a larger depth: no edge leads
 * into a tail from another class, only one, from an operator or a tail, leads into a head, and an edge from a head to
 * another class leads to a reader of larger depth.  Together with other classes (colours, layers), or with `all`,
 * there may be cycles; contract joins them. */
#include "passes/coarsen/qdq_groups.h"

#include <string.h>

enum role { OPERATOR, TAIL, HEAD };

/* Whether node n has operator `op`, of ONNX itself or of ONNX Runtime's extensions. */
static bool is_op(const struct module *m, nid n, const char *op)
{
    const char *domain = module_str(m, m->node[n].domain);
    return strcmp(node_op(m, n), op) == 0 && (!*domain || strcmp(domain, "com.microsoft") == 0);
}

/* Returns the number of entries of a row. */
static uint32_t row_length(const struct csr *c, uint32_t row)
{
    return c->at[row + 1] - c->at[row];
}

/* Fills role[vertex] (enum role) and depth[vertex] (head of this file). */
static void find_roles(const struct ctx *x, uint8_t *role, uint32_t *depth)
{
    const struct wdag *g = x->levels.base;
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t n = row_length(&g->pred, v), most = 0;
        bool after_head = n == 1 && role[g->pred.to[g->pred.at[v]]] == HEAD;
        if (n == 1 && !after_head && is_op(x->scene.m, g->node[v], "QuantizeLinear"))
            role[v] = TAIL;
        else if (n <= 1 && !after_head && is_op(x->scene.m, g->node[v], "DequantizeLinear"))
            role[v] = HEAD;
        for_row (u, g->pred, v)
            most = larger_u32(depth[u], most);
        depth[v] = most + (role[v] == OPERATOR);
    }
}

/* Whether vertex v computes with the values that it reads: Shape and Size do not. */
static bool is_computing(const struct ctx *x, uint32_t v)
{
    nid n = x->levels.base->node[v];
    return !node_is(x->scene.m, n, "Shape") && !node_is(x->scene.m, n, "Size");
}

/* Joins head v with its readers of least depth (all: with every reader), except Shape and Size; returns whether it has
 * joined any.  Without `all`, v stays alone if a Shape or Size of its result has a smaller depth than these readers,
 * since joining could then close a cycle. */
static bool join_head(const struct ctx *x, uint32_t v, bool all, const uint32_t *depth,
                      struct classes *c)
{
    const struct csr *succ = &x->levels.base->succ;
    uint32_t least = UINT32_MAX, least_shape = UINT32_MAX;
    bool joined = false;
    for_row (w, *succ, v) {
        uint32_t *to = is_computing(x, w) ? &least : &least_shape;
        *to = smaller_u32(depth[w], *to);
    }
    if (least_shape < least && !all)
        return false;
    for_row (w, *succ, v)
        if (is_computing(x, w) && (all || depth[w] == least))
            joined = classes_join(c, v, w, WHY_QDQ) || joined;
    return joined;
}

uint32_t qdq_join(const struct ctx *x, bool all, struct classes *c, uint8_t *follows)
{
    const struct wdag *g = x->levels.base;
    uint8_t *role = arena_alloc(x->use.scratch, (size_t)g->n + 1);
    uint32_t *depth = arena_array(x->use.scratch, (size_t)g->n + 1, sizeof *depth), joined = 0;
    find_roles(x, role, depth);
    for (uint32_t v = 0; v < g->n; v++) {
        bool one = false;
        if (role[v] == TAIL)
            one = classes_join(c, v, g->pred.to[g->pred.at[v]], WHY_QDQ);
        else if (role[v] == HEAD)
            one = join_head(x, v, all, depth, c);
        follows[v] |= one;
        joined += one;
    }
    return joined;
}
