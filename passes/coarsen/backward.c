/* Finds the backward pass of an ONNX training graph, and the nodes in it that must share a device (backward.h).
 *
 * Backward nodes are found by names: gradient and optimizer operators (ONNX Runtime's ...Grad, ...Optimizer,
 * ai.onnx.preview.training), node names with "grad".  If that finds fewer than a tenth of the nodes (exports of a
 * traced training step), backward nodes are found by the outputs of the graph: if it returns a scalar, the loss, and
 * new values of its parameters, the nodes that the new values need and the loss does not need are backward. A node
 * that reads a result of a backward node is backward, too, so that no edge leads from backward to forward nodes.
 *
 * These nodes get one colour, so one device: all readers of a parameter that the graph updates, the update, and the
 * backward nodes whose results reach the update and nothing else (its gradient).  A backward node that is only named
 * after a forward node may be on another device: plans are better then (by 5 to 15 % on small decoders), and its
 * transfers keep it near the forward node.  O(nodes + operands). */
#include "passes/coarsen/backward.h"

#include "ir/base/union_find.h"

#include <ctype.h>
#include <string.h>

/* The state of the search for backward nodes. */
struct backward_marks {
    struct ctx *x;
    const struct module *m;
    const struct graph *g; /* the main graph */
    uint8_t *backward;     /* [node] 1: a backward node */
    uint8_t *output;       /* [value] 1: an output of the main graph */
    struct csr users;      /* value -> nodes that read it */
    /* classes of nodes that share a device; each class of two nodes or more gets a colour */
    struct classes classes;
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
static bool is_placed(const struct backward_marks *k, nid n)
{
    return k->x->scene.place->kind[n] == PLACE_NODE;
}

/* Whether two values have the same type of elements and the same known number of elements. */
static bool is_same_type(const struct module *m, vid a, vid b)
{
    int64_t na = type_elems(m, m->value[a].type), nb = type_elems(m, m->value[b].type);
    return na >= 0 && na == nb && m->type[m->value[a].type].elem == m->type[m->value[b].type].elem;
}

/* Whether node n gives parameter p, one of its operands, a new value: n has a result of p's type, and n is an optimizer
 * or the graph returns that result. */
static bool updates(const struct backward_marks *k, nid n, vid p)
{
    const struct module *m = k->m;
    if (!p || m->value[p].def || type_elems(m, m->value[p].type) < 2)
        return false;
    for (uint32_t o = 0; o < m->node[n].out.n; o++) {
        vid v = node_out(m, n, o);
        if (v && (k->output[v] || is_optimizer(m, n)) && is_same_type(m, p, v))
            return true;
    }
    return false;
}

/* Whether node n updates a parameter. */
static bool is_update(const struct backward_marks *k, nid n)
{
    for (uint32_t i = 0; i < k->m->node[n].nformal; i++)
        if (updates(k, n, node_in(k->m, n, i)))
            return true;
    return false;
}

/* Marks backward nodes by names.  Returns false, with no node marked, if there are fewer than 4, or fewer than a tenth
 * of the placed nodes, or if no node is a gradient operator or an update: then the names say something else. */
static bool mark_by_name(struct backward_marks *k)
{
    uint32_t placed = 0, named = 0;
    bool proof = false;
    for (nid n = k->g->first; n < k->g->first + k->g->count; n++)
        if (is_placed(k, n)) {
            /* nodes that run again are of the backward pass, but say nothing about the names of its other nodes */
            bool again = node_meta(k->m, n, META_RECOMPUTES) != NULL;
            k->backward[n] = again || is_named_backward(k->m, n);
            placed += !again;
            named += k->backward[n] && !again;
            proof = proof || has_word(node_op(k->m, n), "Grad") || is_update(k, n);
        }
    if (proof && named >= 4 && named >= placed / 10)
        return true;
    memset(k->backward, 0, k->m->nnode);
    return false;
}

/* Marks, in needed[node], all ancestors of the nodes that are marked there. */
static void mark_ancestors(const struct backward_marks *k, uint8_t *needed)
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
static bool mark_by_outputs(struct backward_marks *k)
{
    const struct module *m = k->m;
    uint8_t *loss = arena_alloc(k->x->use.scratch, m->nnode);
    uint8_t *update = arena_alloc(k->x->use.scratch, m->nnode);
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
        k->backward[n] = is_placed(k, n) && update[n] && !loss[n];
    return true;
}

/* Marks each node that reads a result of a backward node, directly or through copies (constants and shape arithmetic),
 * as backward. */
static void spread_backward(struct backward_marks *k)
{
    const struct module *m = k->m;
    for (nid n = k->g->first; n < k->g->first + k->g->count; n++)
        for (uint32_t i = 0; !k->backward[n] && i < m->node[n].in.n; i++) {
            vid v = m->arg[m->node[n].in.at + i];
            k->backward[n] = v && k->backward[m->value[v].def];
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

/* Joins update n with the placed backward nodes that make its gradient: the makers of n's operands whose results only n
 * reads, then the makers of their operands whose results only that one node reads, and so on.  stack: room for all
 * nodes. */
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
            if (!def || joined || !k->backward[def] || !is_placed(k, def) ||
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
        if (!is_placed(k, n) || !k->backward[n])
            continue;
        bool update = false;
        for (uint32_t i = 0; i < m->node[n].nformal; i++) {
            vid p = node_in(m, n, i);
            if (!updates(k, n, p))
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

/* Finds the nodes of a backward pass: fills g, output and backward of *k.  Returns false, with no node marked, if the
 * graph is not a training graph. */
static bool mark(struct backward_marks *k)
{
    const struct module *m = k->m;
    k->g = &m->graph[1];
    k->backward = arena_alloc(m->mem, m->nnode);
    k->output = arena_alloc(k->x->use.scratch, m->nval);
    for (uint32_t i = 0; i < k->g->out.n; i++)
        k->output[m->arg[k->g->out.at + i]] = 1;
    return mark_by_name(k) || mark_by_outputs(k);
}

bool training_is(const struct ctx *x, struct place *place)
{
    struct ctx look = *x;
    look.scene.place = place;
    struct backward_marks k = {.x = &look, .m = x->scene.m};
    return x->scene.m->backward != NULL || (x->scene.m->ir_version != 0 && mark(&k));
}

void training_mark(struct ctx *x)
{
    struct module *m = x->scene.m;
    if (m->backward || m->color || !m->ir_version)
        return;
    struct backward_marks k = {.x = x, .m = m};
    if (!mark(&k))
        return;
    spread_backward(&k);
    uint32_t forward = 0, backward = 0;
    for (nid n = k.g->first; n < k.g->first + k.g->count; n++) {
        forward += is_placed(&k, n) && !k.backward[n];
        backward += is_placed(&k, n) && k.backward[n];
    }
    if (!forward)
        return;
    m->backward = k.backward;
    wdag_mark_backward(x->levels.base, m);
    if (x->levels.top != x->levels.base) /* the top level is a subdivided one */
        wdag_mark_backward(x->levels.top, m);
    make_classes(&k);
    diag_note(x->use.diag, "contract: a training graph: %u forward and %u backward nodes", forward,
              backward);
}
