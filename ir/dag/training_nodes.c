/* Finds the backward pass of an ONNX training graph (training_nodes.h).
 *
 * Backward nodes are found by names: gradient and optimizer operators (ONNX Runtime's ...Grad, ...Optimizer,
 * ai.onnx.preview.training), node names with "grad".  If that finds fewer than a tenth of the nodes (exports of a
 * traced training step), backward nodes are found by the outputs of the graph: if it returns a scalar, the loss, and
 * new values of its parameters, the nodes that the new values need and the loss does not need are backward. */
#include "ir/dag/training_nodes.h"

#include "ir/base/name_table.h"

#include <ctype.h>
#include <string.h>

/* The state of the search for backward nodes. */
struct search {
    const struct module *m;
    const uint8_t *kind;   /* [node] enum place_kind; NULL: all nodes count as placed */
    const struct graph *g; /* the main graph */
    struct training_nodes *to;
    struct arena *a;
};

/* Whether s contains `word` with no lower-case letter right after it; case matters. */
static bool has_word(const char *s, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = s; (p = strstr(p, word)); p += n)
        if (!islower((unsigned char)p[n]))
            return true;
    return false;
}

/* Whether node n updates weights: its operator is of the domain of training, or is named after an optimizer. */
static bool is_optimizer(const struct module *m, nid n)
{
    return strcmp(module_str(m, m->node[n].domain), "ai.onnx.preview.training") == 0 ||
           has_word(node_op(m, n), "Optimizer"); /* such as "AdamWOptimizer" or "SGDOptimizerV2" */
}

/* Whether a node is of the backward pass by its operator or by words in its name, such as "Grad". */
static bool is_named_backward(const struct module *m, nid n)
{
    const char *name = node_name(m, n);
    return is_optimizer(m, n) || has_word(node_op(m, n), "Grad") ||
           (has_word(name, "_grad") && !has_word(name, "no_grad")) || has_word(name, "Grad") ||
           has_word(name, "/gradients");
}

/* Whether plans choose a device for node n itself. */
static bool is_placed(const struct search *k, nid n)
{
    return !k->kind || k->kind[n] == PLACE_NODE;
}

/* Whether two values have the same type of elements and the same known number of elements. */
static bool is_same_type(const struct module *m, vid a, vid b)
{
    int64_t na = type_elems(m, m->value[a].type), nb = type_elems(m, m->value[b].type);
    return na >= 0 && na == nb && m->type[m->value[a].type].elem == m->type[m->value[b].type].elem;
}

bool training_updates(const struct module *m, const struct training_nodes *t, nid n, vid p)
{
    if (!p || m->value[p].def || type_elems(m, m->value[p].type) < 2)
        return false;
    for (uint32_t o = 0; o < m->node[n].out.n; o++) {
        vid v = node_out(m, n, o);
        if (v && (t->output[v] || is_optimizer(m, n)) && is_same_type(m, p, v))
            return true;
    }
    return false;
}

/* Whether node n updates a parameter. */
static bool is_update(const struct search *k, nid n)
{
    for (uint32_t i = 0; i < k->m->node[n].nformal; i++)
        if (training_updates(k->m, k->to, n, node_in(k->m, n, i)))
            return true;
    return false;
}

/* Marks backward nodes by names.  Returns false, with no node marked, if there are fewer than 4, or fewer than a tenth
 * of the placed nodes, if these are known, or if no node is a gradient operator or an update: then the names say
 * something else. */
static bool mark_by_name(struct search *k)
{
    uint32_t placed = 0, named = 0;
    bool proof = false;
    for (nid n = k->g->first; n < k->g->first + k->g->count; n++)
        if (is_placed(k, n)) {
            /* nodes that run again are of the backward pass, but say nothing about the names of its other nodes */
            bool again = node_meta(k->m, n, META_RECOMPUTES) != NULL;
            k->to->backward[n] = again || is_named_backward(k->m, n);
            placed += !again;
            named += k->to->backward[n] && !again;
            proof = proof || has_word(node_op(k->m, n), "Grad") || is_update(k, n);
        }
    if (proof && named >= 4 && (!k->kind || named >= placed / 10))
        return true;
    memset(k->to->backward, 0, k->m->nnode);
    return false;
}

/* Marks, in needed[node], all ancestors of the nodes that are marked there. */
static void mark_ancestors(const struct search *k, uint8_t *needed)
{
    const struct module *m = k->m;
    for (nid n = k->g->first + k->g->count; n-- > k->g->first;)
        for (uint32_t i = 0; needed[n] && i < m->node[n].in.n; i++) {
            vid v = m->arg[m->node[n].in.at + i];
            if (v && m->value[v].graph == m->node[n].graph)
                needed[m->value[v].def] = 1;
        }
}

/* Marks backward nodes by the outputs of the graph: nodes that an update needs and the loss does not need.  Returns
 * false, with no node marked, if the graph returns no loss or no update. */
static bool mark_by_outputs(struct search *k)
{
    const struct module *m = k->m;
    uint8_t *loss = arena_alloc(k->a, m->nnode);
    uint8_t *update = arena_alloc(k->a, m->nnode);
    bool has_loss = false, has_update = false;
    /* the loss is the first output that has one element and "loss" in its name; loss[]: at first its maker, then all
     * nodes that the maker needs */
    for (uint32_t i = 0; i < k->g->out.n && !has_loss; i++) {
        vid v = m->arg[k->g->out.at + i];
        nid def = m->value[v].def;
        if (def && type_elems(m, m->value[v].type) == 1 && strcasestr(value_name(m, v), "loss"))
            loss[def] = has_loss = true;
    }
    for (nid n = k->g->first; has_loss && n < k->g->first + k->g->count; n++)
        if (is_update(k, n))
            update[n] = has_update = true;
    if (!has_update)
        return false;
    mark_ancestors(k, loss);
    mark_ancestors(k, update);
    for (nid n = k->g->first; n < k->g->first + k->g->count; n++)
        k->to->backward[n] = is_placed(k, n) && update[n] && !loss[n];
    return true;
}

bool training_nodes_find(const struct module *m, const uint8_t *kind, struct training_nodes *to,
                         struct arena *a)
{
    struct search k = {.m = m, .kind = kind, .g = &m->graph[1], .to = to, .a = a};
    to->backward = arena_alloc(a, m->nnode);
    to->output = arena_alloc(a, m->nval);
    for (uint32_t i = 0; i < k.g->out.n; i++)
        to->output[m->arg[k.g->out.at + i]] = 1;
    return m->ir_version != 0 && (mark_by_name(&k) || mark_by_outputs(&k));
}

/* Marks the initializers C for which an output is called C_new. */
static void mark_named(const struct module *m, uint8_t *renewed, struct arena *a)
{
    static const char end[] = "_new";
    const struct graph *g = &m->graph[1];
    struct arena *own = arena_new(a);
    struct names out = names_new(own, g->out.n + 1);
    for (uint32_t i = 0; i < g->out.n; i++)
        names_add(&out, value_name(m, m->arg[g->out.at + i]), 1);
    for (uint32_t i = 0; i < g->init.n; i++) {
        vid v = m->arg[g->init.at + i];
        const char *next = arena_fmt(own, "%s%s", value_name(m, v), end);
        renewed[v] = renewed[v] || names_get(&out, next, 0);
    }
    arena_free(own);
}

uint8_t *training_renewed(const struct module *m, struct arena *a)
{
    const struct graph *g = &m->graph[1];
    uint8_t *seen = arena_alloc(a, m->nval);
    vid *stack = arena_array(a, (size_t)m->nval + 1, sizeof *stack);
    uint32_t top = 0;
    for (uint32_t i = 0; i < g->out.n; i++) {
        vid v = m->arg[g->out.at + i];
        if (m->value[v].def && !seen[v]) {
            seen[v] = 1;
            stack[top++] = v;
        }
    }
    while (top > 0) {
        vid v = stack[--top];
        nid n = m->value[v].def;
        for (uint32_t i = 0; n && i < m->node[n].in.n; i++) {
            vid u = m->arg[m->node[n].in.at + i];
            if (u && !seen[u] && is_same_type(m, u, v)) {
                seen[u] = 1;
                stack[top++] = u;
            }
        }
    }
    for (vid v = 0; v < m->nval; v++)
        seen[v] = seen[v] && !m->value[v].def && (m->value[v].flags & VALUE_INIT) != 0;
    mark_named(m, seen, a);
    return seen;
}
