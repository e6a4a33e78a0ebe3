/* Marks the backward pass of an ONNX training graph (ir/dag/training_nodes.h), and the nodes in it that must share a
 * device (backward.h).
 *
 * A node that reads a result of a backward node is backward, too, so that no edge leads from backward to forward nodes.
 *
 * These nodes get one colour, so one device: all readers of a parameter that the graph updates, the update, and the
 * backward nodes whose results reach the update and nothing else (its gradient).  A backward node that is only named
 * after a forward node may be on another device: plans are better then (by 5 to 15 % on small decoders), and its
 * transfers keep it near the forward node.  O(nodes + operands). */
#include "passes/coarsen/backward.h"

#include "ir/base/union_find.h"
#include "ir/dag/training_nodes.h"

/* The state of the search for backward nodes. */
struct backward_marks {
    struct ctx *x;
    const struct module *m;
    const struct graph *g; /* the main graph */
    struct training_nodes of;
    struct csr users; /* value -> nodes that read it */
    /* classes of nodes that share a device; each class of two nodes or more gets a colour */
    struct classes classes;
};

/* Whether plans choose a device for node n itself. */
static bool is_placed(const struct backward_marks *k, nid n)
{
    return k->x->scene.place->kind[n] == PLACE_NODE;
}

/* Marks as backward all nodes that depend on a result of a backward node.  Copies (constants, shape arithmetic) are
 * marked, too, so that dependence passes through them.  The nodes are in topological order: one walk reaches all. */
static void spread_backward(struct backward_marks *k)
{
    const struct module *m = k->m;
    for (nid n = k->g->first; n < k->g->first + k->g->count; n++)
        for (uint32_t i = 0; !k->of.backward[n] && i < m->node[n].in.n; i++) {
            vid v = m->arg[m->node[n].in.at + i];
            k->of.backward[n] = v && k->of.backward[m->value[v].def];
        }
}

/* Joins the classes of nodes a and b if both are placed. */
static void join_nodes(struct backward_marks *k, nid a, nid b)
{
    if (is_placed(k, a) && is_placed(k, b))
        classes_join(&k->classes, a, b, 0);
}

/* Whether no other node than `reader` reads results of n. */
static bool only_feeds(const struct backward_marks *k, nid n, nid reader)
{
    for (uint32_t o = 0; o < k->m->node[n].out.n; o++) {
        vid v = node_out(k->m, n, o);
        for (uint32_t i = k->users.at[v]; v && i < k->users.at[v + 1]; i++)
            if (k->users.to[i] != reader)
                return false;
    }
    return true;
}

/* Joins the classes of all nodes in a row of c. */
static void join_row(struct backward_marks *k, const struct csr *c, uint32_t row)
{
    for (uint32_t i = c->at[row] + 1; i < c->at[row + 1]; i++)
        join_nodes(k, c->to[i - 1], c->to[i]);
}

/* Joins, for each updated parameter, the classes of all nodes that read it, directly or through copies. */
static void join_readers(struct backward_marks *k, const uint8_t *is_param)
{
    const struct place *p = k->x->scene.place;
    for (uint32_t w = 0; w < p->nweight; w++)
        if (is_param[p->weight[w]])
            join_row(k, &p->weight_user, w);
    for (uint32_t e = 0; e < p->nnet; e++)
        if (is_param[p->net_value[e]])
            join_row(k, &p->net_pin, e);
}

/* Joins update n with the placed backward nodes that make its gradient: each backward node whose only reader is n,
 * and then each backward node whose only reader is a node found so.  stack: room for all nodes. */
static void join_gradient(struct backward_marks *k, nid n, nid *stack)
{
    const struct module *m = k->m;
    uint32_t top = 0;
    stack[top++] = n;
    while (top) {
        nid at = stack[--top];
        for (uint32_t i = 0; i < m->node[at].in.n; i++) {
            vid v = m->arg[m->node[at].in.at + i];
            nid def = v ? m->value[v].def : 0;
            bool joined = def && classes_find(&k->classes, def) == classes_find(&k->classes, n);
            if (!def || joined || !k->of.backward[def] || !is_placed(k, def) ||
                !only_feeds(k, def, at))
                continue;
            join_nodes(k, n, def);
            stack[top++] = def;
        }
    }
}

/* Joins the nodes of each parameter (head of this file), and numbers the classes of two nodes or more as colours. */
static void make_classes(struct backward_marks *k)
{
    struct ctx *x = k->x;
    struct module *m = x->scene.m;
    nid *stack = arena_array(x->use.scratch, (size_t)m->nnode + 1, sizeof *stack);
    /* [value] 1: a parameter that the graph updates */
    uint8_t *is_param = arena_alloc(x->use.scratch, m->nval);
    k->users = module_users(m, x->use.scratch);
    k->classes = classes_new(x->use.scratch, m->nnode);
    for (nid n = k->g->first; n < k->g->first + k->g->count; n++) {
        if (!is_placed(k, n) || !k->of.backward[n])
            continue;
        bool update = false;
        for (uint32_t i = 0; i < m->node[n].nformal; i++) {
            vid p = node_in(m, n, i);
            if (!training_updates(m, &k->of, n, p))
                continue;
            is_param[p] = 1;
            update = true;
        }
        if (update)
            join_gradient(k, n, stack);
    }
    join_readers(k, is_param);
    uint32_t *number = arena_array(x->use.scratch, m->nnode, sizeof *number), last = 0;
    uint32_t *members = arena_array(x->use.scratch, m->nnode, sizeof *members);
    m->color = arena_array(m->mem, m->nnode, sizeof *m->color);
    for (nid n = k->g->first; n < k->g->first + k->g->count; n++)
        members[classes_find(&k->classes, n)]++;
    for (nid n = k->g->first; n < k->g->first + k->g->count; n++) {
        uint32_t set = classes_find(&k->classes, n);
        if (members[set] < 2)
            continue;
        if (!number[set])
            number[set] = ++last;
        m->color[n] = number[set];
    }
}

bool training_is(const struct ctx *x, struct place *place)
{
    struct training_nodes found;
    return x->scene.m->backward != NULL ||
           training_nodes_find(x->scene.m, place->kind, &found, x->use.scratch);
}

void training_mark(struct ctx *x)
{
    struct module *m = x->scene.m;
    if (m->backward || m->color || !m->ir_version)
        return;
    struct backward_marks k = {.x = x, .m = m, .g = &m->graph[1]};
    if (!training_nodes_find(m, x->scene.place->kind, &k.of, m->mem))
        return;
    spread_backward(&k);
    uint32_t forward = 0, backward = 0;
    for (nid n = k.g->first; n < k.g->first + k.g->count; n++) {
        forward += is_placed(&k, n) && !k.of.backward[n];
        backward += is_placed(&k, n) && k.of.backward[n];
    }
    if (!forward)
        return;
    m->backward = k.of.backward;
    wdag_mark_backward(x->levels.base, m);
    if (x->levels.top != x->levels.base) /* the top level is a subdivided one */
        wdag_mark_backward(x->levels.top, m);
    make_classes(&k);
    diag_note(x->use.diag, "contract: a training graph: %u forward and %u backward nodes", forward,
              backward);
}
