/* Sorts the nodes of each graph topologically.
 *
 * The graphs of most files are sorted; this is checked first.  Otherwise, of all nodes whose operands are defined, the
 * first one in the file comes next.  So the order of the file is kept as far as possible.
 *
 * Cost: O(nodes + operands) for sorted graphs, O(nodes log nodes + operands) for others. */
#include "frontends/onnx/build.h"

#include <assert.h>

/* Returns the number of operands of slot s, captures included. */
static uint32_t operand_count(const struct onnx_build *b, uint32_t s)
{
    return b->slot[s].in.n + (b->capture.at[s + 1] - b->capture.at[s]);
}

/* Returns operand i of slot s; captures follow the formal operands. */
static vid operand_of(const struct onnx_build *b, uint32_t s, uint32_t i)
{
    assert(i < operand_count(b, s));
    struct slice in = b->slot[s].in;

    return i < in.n ? b->arg[in.at + i] : b->capture.to[b->capture.at[s] + (i - in.n)];
}

/* Returns the slot that defines operand i of slot s; 0: no node of graph g does. */
static uint32_t slot_of_operand(const struct onnx_build *b, gid g, uint32_t s, uint32_t i)
{
    vid v = operand_of(b, s, i);
    const struct value *x = &b->m->value[v];

    return v != 0 && x->graph == g ? x->def : 0;
}

/* Whether each node of graph g comes after the nodes whose results it reads. */
static bool is_sorted(const struct onnx_build *b, gid g)
{
    const struct onnx_body *body = &b->body[g];

    for (uint32_t s = body->first; s < body->first + body->count; s++) {
        for (uint32_t i = 0, n = operand_count(b, s); i < n; i++)
            if (slot_of_operand(b, g, s, i) >= s)
                return false;
    }
    return true;
}

/* Reports a node on a cycle as an error.  sorted[s - first]: 0 if slot s is on a cycle or depends on one.  Returns
 * -1. */
static int report_cycle(const struct onnx_build *b, gid g, const uint8_t *sorted)
{
    assert(b->body[g].count > 0);
    const struct onnx_body *body = &b->body[g];
    const struct module *m = b->m;
    uint32_t s = body->first, def = 0;
    vid v = 0;

    while (sorted[s - body->first])
        s++;
    /* Each unsorted node reads an unsorted one: a walk of `count` steps back along operands ends on a cycle. */
    for (uint32_t step = 0; step <= body->count; step++) {
        for (uint32_t i = 0, n = operand_count(b, s); i < n; i++) {
            def = slot_of_operand(b, g, s, i);
            if (def != 0 && !sorted[def - body->first]) {
                v = operand_of(b, s, i);
                break;
            }
        }
        if (step < body->count)
            s = def;
    }
    return diag_error(
        b->d, "%s: node '%s' is on a cycle: it reads '%s' of node '%s', which depends on it",
        b->path, module_str(m, b->slot[s].name), value_name(m, v),
        module_str(m, b->slot[def].name));
}

/* Sorts graph g and sets onnx_slot.id of its slots.  Returns 0, or -1 and an error about a cycle. */
static int sort_graph(struct onnx_build *b, gid g)
{
    const struct onnx_body *body = &b->body[g];
    uint32_t first = body->first, count = body->count, edges = 0;

    for (uint32_t s = first; s < first + count; s++)
        for (uint32_t i = 0, n = operand_count(b, s); i < n; i++)
            edges += slot_of_operand(b, g, s, i) != 0;
    uint32_t *from = arena_array(b->tmp, edges, sizeof *from);
    uint32_t *to = arena_array(b->tmp, edges, sizeof *to);
    for (uint32_t s = first, e = 0; s < first + count; s++)
        for (uint32_t i = 0, n = operand_count(b, s); i < n; i++) {
            uint32_t def = slot_of_operand(b, g, s, i);
            if (def != 0) {
                from[e] = def - first;
                to[e++] = s - first;
            }
        }
    struct csr users = csr_build(b->tmp, count, edges, from, to);
    uint32_t *order = arena_array(b->tmp, count, sizeof *order);
    /* all 0: of the nodes that can come next, the first in the file does */
    uint32_t *equal_keys = arena_array(b->tmp, count, sizeof *equal_keys);
    uint8_t *sorted = arena_alloc(b->tmp, count);
    uint32_t done = csr_topo(&users, count, equal_keys, order, b->tmp);
    for (uint32_t i = 0; i < done; i++) {
        b->slot[first + order[i]].id = first + i;
        sorted[order[i]] = 1;
    }
    return done == count ? 0 : report_cycle(b, g, sorted);
}

int onnx_sort(struct onnx_build *b)
{
    for (gid g = 1; g < b->nbody; g++) {
        const struct onnx_body *body = &b->body[g];
        if (!is_sorted(b, g)) {
            if (sort_graph(b, g) != 0)
                return -1;
            continue;
        }
        for (uint32_t s = body->first; s < body->first + body->count; s++)
            b->slot[s].id = s;
    }
    return 0;
}
