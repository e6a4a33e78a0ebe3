/* Decides what is to be placed: applies the replication rule, lists nets, weights and state pairs (placeable.h).
 *
 * Each copy has a root set: the values that it is computed from, directly or through other copies (results of placed
 * nodes, graph inputs, initializers, and its own results if they are large constants).  A placed node that reads a copy
 * counts as a reader of each of its roots.  Copies with equal root sets share one, as along chains of shape arithmetic.
 * A node with more than ROOTS_MAX roots is placed instead of copied, which bounds the work on hostile graphs.
 * O(nodes + operands + pins). */
#include "ir/dag/atoms.h"

#include "ir/base/strings.h"

#include <assert.h>
#include <string.h>

enum {
    ROOTS_MAX = 256,   /* the most roots of a copy */
    SMALL_ELEMS = 64,  /* the most elements of a result of shape arithmetic */
    LARGE_BYTES = 1024 /* a copy's constant result with so many bytes or more is a weight */
};

/* State of place_build(). */
struct builder {
    const struct module *m;
    struct arena *mem;
    struct place *p;     /* the result */
    uint8_t *state;      /* [value] 1: state input or output */
    uint8_t *constant;   /* [node] 1: a copy with constant results */
    uint8_t *at_host;    /* [node] 1: runtimes run the node in the host's memory (runs_at_host()) */
    struct slice *roots; /* [node] root set of a copy: entries of pool */
    vid *pool;           /* [npool] values of all root sets */
    uint32_t npool, cappool;
    /* [value] number of the last list of values (`now`) that the value was added to */
    uint32_t *stamp;
    /* number of the list of values that is being made; a value is added to a list only once */
    uint32_t now;
    struct pairs pins;    /* (value, placed node that reads it), for nets */
    struct pairs weights; /* (value, placed node that reads it), for weights */
};

/* Whether a list of operators, which NULL ends, has the operator `op`. */
static bool in_list(const char *op, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(op, *list) == 0)
            return true;
    return false;
}

/* Operators that compute shapes, sizes and indices from other shapes, sizes and indices; NULL ends the list. */
static const char *const shape_arithmetic[] = {
    "Gather",  "Slice", "Concat",     "Unsqueeze", "Squeeze",         "Cast",     "Add",
    "Sub",     "Mul",   "Div",        "Mod",       "Floor",           "Equal",    "Where",
    "Reshape", "Range", "ReduceProd", "Expand",    "ConstantOfShape", "Identity", "Max",
    "Min",     NULL};

/* Operators that draw random numbers, so that a copy would give other results. */
static const char *const random_ops[] = {
    "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike",
    "Multinomial",  "Bernoulli",     "Dropout",          NULL};

bool place_is_pure(const struct module *m, nid n)
{
    const struct node *nd = &m->node[n];
    if (nd->domain || (nd->flags & (NODE_CALL | NODE_LOST)))
        return false;
    for (uint32_t i = 0; i < nd->attr.n; i++) {
        uint8_t kind = m->attr[nd->attr.at + i].kind;
        if (kind == ATTR_GRAPH || kind == ATTR_GRAPHS)
            return false;
    }
    return !in_list(module_str(m, nd->op), random_ops);
}

/* Whether v is an initializer. */
static bool is_constant(const struct module *m, vid v)
{
    return (m->value[v].flags & VALUE_INIT) != 0;
}

/* Marks as PLACE_NODE the nodes that some output of the model needs; in a profiled graph, all nodes that are not
 * lost. */
static void mark_needed(struct builder *b)
{
    const struct module *m = b->m;
    const struct graph *g = &m->graph[1];
    uint8_t *needed = arena_alloc(b->mem, m->nnode);
    bool all = module_is_profiled(m);
    for (uint32_t i = 0; i < g->out.n; i++)
        needed[m->value[m->arg[g->out.at + i]].def] = 1;
    for (nid n = g->first + g->count; n-- > g->first;) {
        if (all && !(m->node[n].flags & NODE_LOST))
            needed[n] = 1;
        if (!needed[n])
            continue;
        b->p->kind[n] = PLACE_NODE;
        const struct node *nd = &m->node[n];
        for (uint32_t i = 0; i < nd->in.n; i++)
            needed[m->value[m->arg[nd->in.at + i]].def] = 1;
    }
}

/* Whether all results of n are integers or bools of at most SMALL_ELEMS elements. */
static bool makes_small_integers(const struct module *m, nid n)
{
    const struct node *nd = &m->node[n];
    for (uint32_t i = 0; i < nd->out.n; i++) {
        vid v = m->arg[nd->out.at + i];
        if (!v)
            continue;
        const struct type *t = &m->type[m->value[v].type];
        int64_t elems = m->cost->elems[v];
        if (t->kind != TYPE_TENSOR || !elem_is_integer(t->elem) || elems < 0 || elems > SMALL_ELEMS)
            return false;
    }
    return true;
}

/* Whether runtimes compute n, a pure node, in the host's memory, so that its results need not be fetched: n is a
 * Shape or Size; or n is shape arithmetic, that is, its operator is in the list, its operands are constants or
 * computed at the host, too, and its results are small integers. */
static bool runs_at_host(const struct builder *b, nid n)
{
    const struct module *m = b->m;
    const struct node *nd = &m->node[n];
    if (node_tells_sizes(m, n))
        return true;
    for (uint32_t i = 0; i < nd->in.n; i++) {
        vid v = m->arg[nd->in.at + i];
        nid def = m->value[v].def;
        if (v && !is_constant(m, v) && !(def && (b->constant[def] || b->at_host[def])))
            return false;
    }
    return in_list(node_op(m, n), shape_arithmetic) && makes_small_integers(m, n);
}

/* Whether every operand of n is an initializer, a result of a copy, or a result of a Shape or Size.  Writes to
 * *all_constant whether all operands are constant. */
static bool reads_only_copies(const struct builder *b, nid n, bool *all_constant)
{
    const struct module *m = b->m;
    const struct node *nd = &m->node[n];
    *all_constant = true;
    for (uint32_t i = 0; i < nd->in.n; i++) {
        vid v = m->arg[nd->in.at + i];
        if (!v || is_constant(m, v))
            continue;
        nid def = m->value[v].def;
        bool shape = def && b->p->kind[def] == PLACE_NODE && node_tells_sizes(m, def);
        if (!shape && (!def || b->p->kind[def] != PLACE_COPY))
            return false;
        if (shape || !b->constant[def])
            *all_constant = false;
    }
    return true;
}

/* Whether n is Shape(x) or Size(x) of a graph input that is not state. */
static bool is_shape_of_input(const struct builder *b, nid n)
{
    vid x = node_in(b->m, n, 0);
    return node_tells_sizes(b->m, n) && x && (b->m->value[x].flags & VALUE_INPUT) && !b->state[x];
}

/* Adds v to the root set that is being made, unless the set has it already. */
static void root_add(struct builder *b, vid v)
{
    if (b->stamp[v] == b->now)
        return;
    b->stamp[v] = b->now;
    b->pool = vec_grow(b->mem, b->pool, &b->cappool, b->npool + 1, sizeof *b->pool);
    b->pool[b->npool++] = v;
}

/* Stores the root set of n in b->roots[n]: the operands that no copy makes, the roots of the copies that make the other
 * operands and, if the results of n are constant, its large results. Returns false if the set is too large. If all
 * roots come from one operand's set, n shares this set. constant: the results of n are constant. */
static bool make_roots(struct builder *b, nid n, bool constant)
{
    const struct module *m = b->m;
    const struct node *nd = &m->node[n];
    /* the set, other than the empty one, of the last operand that a copy makes */
    struct slice last = {0, 0};
    uint32_t start = b->npool;
    bool same = true; /* no root comes from elsewhere than the set `last` */
    b->now++;
    for (uint32_t i = 0; i < nd->in.n; i++) {
        vid v = m->arg[nd->in.at + i];
        if (!v)
            continue;
        nid def = m->value[v].def;
        if (!def || b->p->kind[def] != PLACE_COPY) {
            root_add(b, v);
            same = false;
            continue;
        }
        struct slice r = b->roots[def];
        if (r.n && last.n && r.at != last.at)
            same = false;
        if (r.n)
            last = r;
        for (uint32_t k = 0; k < r.n; k++)
            root_add(b, b->pool[r.at + k]);
    }
    for (uint32_t i = 0; constant && i < nd->out.n; i++) {
        vid v = m->arg[nd->out.at + i];
        if (v && m->cost->bytes[v] >= LARGE_BYTES) {
            root_add(b, v);
            same = false;
        }
    }
    struct slice r = {start, b->npool - start};
    if (r.n > ROOTS_MAX) {
        b->npool = start;
        return false;
    }
    if (same && r.n == last.n) {
        b->npool = start;
        r = last;
    }
    b->roots[n] = r;
    return true;
}

/* Marks as PLACE_COPY the nodes that the replication rule copies, and fills constant and at_host; the nodes are in
 * topological order. */
static void choose_copies(struct builder *b)
{
    const struct module *m = b->m;
    const struct graph *g = &m->graph[1];
    for (nid n = g->first; n < g->first + g->count; n++) {
        bool all_constant = false;
        if (b->p->kind[n] != PLACE_NODE || !place_is_pure(m, n))
            continue;
        b->at_host[n] = runs_at_host(b, n);
        if (!is_shape_of_input(b, n)) {
            if (!reads_only_copies(b, n, &all_constant))
                continue;
            if (!all_constant && !(b->at_host[n] && makes_small_integers(m, n)))
                continue;
        }
        if (!make_roots(b, n, all_constant))
            continue;
        b->p->kind[n] = PLACE_COPY;
        b->constant[n] = all_constant;
    }
}

/* Adds the pair (x, y), with the reason `why`, to p->same if both are placed nodes, and not the same one. cap: capacity
 * of p->same. */
static void add_same_pair(struct builder *b, nid x, nid y, enum same_why why, uint32_t *cap)
{
    struct place *p = b->p;
    if (!x || !y || x == y || p->kind[x] != PLACE_NODE || p->kind[y] != PLACE_NODE)
        return;
    p->same = vec_grow(b->mem, p->same, cap, p->nsame + 1, sizeof *p->same);
    p->same[p->nsame++] = (struct same_pair){x, y, why};
}

/* Notes that the placed node `reader` reads value v, once for each reader and value: in b->weights
 * if a device holds the value once for all its readers (v is an initializer or the result of a
 * copy), else in b->pins; in both if v is an input of a state pair. */
static void add_read(struct builder *b, vid v, nid reader)
{
    if (b->stamp[v] == b->now)
        return;
    b->stamp[v] = b->now;
    nid def = b->m->value[v].def;
    bool placed = def && b->p->kind[def] == PLACE_NODE;
    bool once = is_constant(b->m, v) || (def && b->p->kind[def] == PLACE_COPY);
    if (once || (b->state[v] && !placed))
        pairs_add(&b->weights, v, reader);
    if (!once)
        pairs_add(&b->pins, v, reader);
}

/* Lists the values that each placed node reads, directly or through copies, in b->pins and b->weights. */
static void collect_reads(struct builder *b)
{
    const struct module *m = b->m;
    const struct graph *g = &m->graph[1];
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (b->p->kind[n] != PLACE_NODE)
            continue;
        const struct node *nd = &m->node[n];
        b->now++;
        for (uint32_t i = 0; i < nd->in.n; i++) {
            vid v = m->arg[nd->in.at + i];
            if (!v)
                continue;
            nid def = m->value[v].def;
            if (!def || b->p->kind[def] != PLACE_COPY) {
                add_read(b, v, n);
                continue;
            }
            for (uint32_t k = 0; k < b->roots[def].n; k++)
                add_read(b, b->pool[b->roots[def].at + k], n);
        }
    }
}

/* Makes a net of each value of the main graph that has at least two pins and a placed node among them; the host
 * counts as a pin of inputs and outputs of the model that are no state. */
static void make_nets(struct builder *b)
{
    const struct module *m = b->m;
    struct place *p = b->p;
    struct csr readers = pairs_rows(&b->pins, m->nval);
    struct pairs pin = {.a = b->mem};
    p->net_value = arena_array(b->mem, m->nval, sizeof *p->net_value);
    p->net_host = arena_alloc(b->mem, m->nval);
    p->net_at_host = arena_alloc(b->mem, m->nval);
    for (vid v = 1; v < m->nval; v++) {
        const struct value *val = &m->value[v];
        bool placed = val->def && p->kind[val->def] == PLACE_NODE;
        bool host = (val->flags & (VALUE_OUTPUT | VALUE_INPUT)) && val->graph == 1 && !b->state[v];
        uint32_t nread = readers.at[v + 1] - readers.at[v];
        if (val->graph != 1 || placed + nread + host < 2 || placed + nread == 0)
            continue;
        if (placed)
            pairs_add(&pin, p->nnet, val->def);
        for_row (reader, readers, v)
            pairs_add(&pin, p->nnet, reader);
        p->net_value[p->nnet] = v;
        p->net_host[p->nnet] = host;
        p->net_at_host[p->nnet] = placed && b->at_host[val->def];
        p->nnet++;
    }
    p->net_pin = pairs_rows(&pin, p->nnet);
}

/* Makes a weight of each value in b->weights, with its bytes and the placed nodes that read it. */
static void make_weights(struct builder *b)
{
    const struct module *m = b->m;
    struct place *p = b->p;
    struct csr users = pairs_rows(&b->weights, m->nval);
    struct pairs use = {.a = b->mem};
    p->weight = arena_array(b->mem, m->nval, sizeof *p->weight);
    p->weight_bytes = arena_array(b->mem, m->nval, sizeof *p->weight_bytes);
    for (vid v = 1; v < m->nval; v++) {
        if (users.at[v] == users.at[v + 1])
            continue;
        for_row (user, users, v)
            pairs_add(&use, p->nweight, user);
        p->weight[p->nweight] = v;
        p->weight_bytes[p->nweight++] = m->cost->bytes[v];
    }
    p->weight_user = pairs_rows(&use, p->nweight);
}

/* Finds the state pairs, pair[0 .. npair) that the user names and others, and marks their values in b->state. Returns
 * 0; or -1 and an error if a pair that the user names is wrong. */
static int find_state(struct builder *b, struct module *m, const struct state_pair *pair,
                      uint32_t npair, struct diag *d)
{
    struct state_pairs p;
    if (state_pairs_find(m, pair, npair, b->mem, &p, d))
        return -1;
    b->p->nstate = p.n;
    b->p->state_in = p.in;
    b->p->state_out = p.out;
    for (uint32_t i = 0; i < p.n; i++)
        b->state[p.in[i]] = b->state[p.out[i]] = 1;
    return 0;
}

/* Lists in p->same the pairs of nodes that must share a device. SAME_SHAPE: Shape(x) and the producer of x. SAME_STATE:
 * each reader of a past input and the producer of its present output, but no Shape of a past input: a mask that many
 * layers use is computed from such a Shape, and need not be where that one layer is. SAME_TYPE: the producer and each
 * reader of a value of unknown type, which no part could declare as an input. */
static void collect_same(struct builder *b)
{
    const struct module *m = b->m;
    const struct graph *g = &m->graph[1];
    uint32_t cap = 0;
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (b->p->kind[n] != PLACE_NODE || !node_tells_sizes(m, n))
            continue;
        vid x = node_in(m, n, 0);
        if (x)
            add_same_pair(b, m->value[x].def, n, SAME_SHAPE, &cap);
    }
    struct csr users = module_users(m, b->mem);
    for (uint32_t i = 0; i < b->p->nstate; i++) {
        vid in = b->p->state_in[i];
        for_row (user, users, in)
            if (m->node[user].graph == 1 && !node_tells_sizes(m, user))
                add_same_pair(b, m->value[b->p->state_out[i]].def, user, SAME_STATE, &cap);
    }
    if (module_is_profiled(m))
        return; /* a profile tells no types */
    for (vid v = 1; v < m->nval; v++) {
        if (type_is_declarable(m, m->value[v].type))
            continue;
        for_row (user, users, v)
            if (m->node[user].graph == 1)
                add_same_pair(b, m->value[v].def, user, SAME_TYPE, &cap);
    }
}

struct place *place_build(struct module *m, const struct state_pair *pair, uint32_t npair,
                          struct arena *a, struct diag *d)
{
    struct builder b = {.m = m, .mem = a, .pins = {.a = a}, .weights = {.a = a}};
    b.p = arena_alloc(a, sizeof *b.p);
    b.p->kind = arena_alloc(a, m->nnode);
    b.state = arena_alloc(a, m->nval);
    b.constant = arena_alloc(a, m->nnode);
    b.at_host = arena_alloc(a, m->nnode);
    b.roots = arena_array(a, m->nnode, sizeof *b.roots);
    b.stamp = arena_array(a, m->nval, sizeof *b.stamp);
    if (find_state(&b, m, pair, npair, d))
        return NULL;
    mark_needed(&b);
    choose_copies(&b);
    collect_same(&b);
    collect_reads(&b);
    make_nets(&b);
    atoms_find(m, b.p, a);
    make_weights(&b);
    return b.p;
}

uint8_t *place_follows(const struct module *m, const struct place *p, struct arena *a)
{
    uint8_t *follows = arena_alloc(a, m->nnode);
    for (uint32_t i = 0; i < p->nsame; i++)
        if (p->same[i].why == SAME_SHAPE)
            follows[p->same[i].b] = 1;
    return follows;
}

struct moved_value place_moved(const struct place *p, const struct costs *k, uint32_t net)
{
    assert(net < p->nnet);
    vid v = p->net_value[net];
    return (struct moved_value){k->bytes[v], k->xfer[v], p->net_at_host[net]};
}

void place_free_io(const struct module *m, struct place *p, struct arena *a)
{
    /* nets that remain move to the front: n of them, with `pins` pins, are in place so far */
    uint32_t n = 0, pins = 0;
    struct pairs there = pairs_new(a, p->net_pin.at[p->nnet]);
    p->there = arena_array(a, (size_t)p->nnet + 1, sizeof *p->there);
    for (uint32_t e = 0; e < p->nnet; e++) {
        uint32_t from = p->net_pin.at[e], to = p->net_pin.at[e + 1];
        vid v = p->net_value[e];
        if (p->net_host[e] && !m->value[v].def) { /* a model input: no longer a net */
            for (uint32_t i = from; i < to; i++)
                pairs_add(&there, p->nthere, p->net_pin.to[i]);
            p->there[p->nthere++] = v;
            continue;
        }
        p->net_value[n] = v;
        p->net_host[n] = 0;
        p->net_at_host[n] = p->net_at_host[e];
        for (uint32_t i = from; i < to; i++)
            p->net_pin.to[pins++] = p->net_pin.to[i];
        p->net_pin.at[++n] = pins; /* this entry was read before, or is `pins` already */
    }
    p->nnet = n;
    p->there_pin = pairs_rows(&there, p->nthere);
}

struct csr place_nets_made(const struct module *m, const struct place *p, struct arena *a)
{
    struct pairs made = pairs_new(a, p->nnet);
    for (uint32_t e = 0; e < p->nnet; e++)
        if (m->value[p->net_value[e]].def)
            pairs_add(&made, m->value[p->net_value[e]].def, e);
    return pairs_rows(&made, m->nnode);
}

bool place_is_parameter(const struct module *m, const struct place *p, uint32_t w)
{
    assert(w < p->nweight);
    const struct value *v = &m->value[p->weight[w]];
    return (v->flags & VALUE_INIT) && !v->def;
}
