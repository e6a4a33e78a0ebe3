/* Finds decomposed normalisations and activations (norm_groups.h).
 *
 * Each contains an operator that is rare elsewhere: Sqrt, ReduceSum, Erf, Tanh, InstanceNormalization.
 * A matcher starts at such a node, visits operands and readers, a fixed number of steps far, and notes the nodes that
 * it visits if they make up one of
 *   LayerNorm  d = x - ReduceMean(x), s = Sqrt(ReduceMean(d^2) + e), d / s or d * (1 / s), * w, + b
 *   RMSNorm    the same with d = x
 *   Softmax    p = Exp(x - ReduceMax(x)), p / ReduceSum(p)
 *   Gelu       x * (Erf(x / c) + 1) / 2, or Tanh(c * (x + c' * x^3)) in place of Erf, in any order
 *   GroupNorm  Reshape, InstanceNormalization, Reshape, * w, + b
 * Beside constants, such a chain of nodes reads only one value from outside, x, on which every node of the chain
 * depends: so joining chains closes no cycle.
 * Cost: O(nodes + operands). */
#include "passes/coarsen/norm_groups.h"

enum {
    LONGEST = 64, /* the most nodes of a chain */
    HOPS = 4,     /* the most hops (is_hop) in a row between two nodes of a chain */
    READERS = 64  /* a chain does not go on through a value with more readers */
};

/* A chain of nodes that is being matched: the nodes noted as part of it so far. */
struct match {
    const struct ctx *x;
    const struct csr *users; /* value -> nodes that read the value */
    /* vertex[n]: vertices of the nodes noted so far; a matcher that fails sets n back to drop its nodes */
    uint32_t vertex[LONGEST], n;
};

/* Notes node n as part of the chain if it has a vertex in the base level, and the chain has less than LONGEST. */
static void note_node(struct match *k, nid n)
{
    uint32_t v = k->x->levels.base->vertex[n];
    if (v != UINT32_MAX && k->n < LONGEST)
        k->vertex[k->n++] = v;
}

/* Whether v is an initializer, or made by a node that is copied to parts (constants and shape arithmetic). */
static bool is_constant(const struct match *k, vid v)
{
    const struct value *val = &k->x->scene.m->value[v];
    return val->def ? k->x->scene.place->kind[val->def] == PLACE_COPY
                    : (val->flags & VALUE_INIT) != 0;
}

/* Whether n is a hop: a node that changes only the type or the quantisation of a value. */
static bool is_hop(const struct module *m, nid n)
{
    return node_is(m, n, "Cast") || node_is(m, n, "QuantizeLinear") ||
           node_is(m, n, "DequantizeLinear");
}

/* Goes from v to the operand of the node that makes it, as long as that node is a hop; returns the value reached, v
 * itself if no hop makes v.  noted: whether to note the hops. */
static vid skip_hops(struct match *k, vid v, bool noted)
{
    const struct module *m = k->x->scene.m;
    for (int i = 0; i < HOPS && v && m->value[v].def && is_hop(m, m->value[v].def); i++) {
        if (noted)
            note_node(k, m->value[v].def);
        v = node_in(m, m->value[v].def, 0);
    }
    return v;
}

/* Whether v and w are the same value, except for hops. */
static bool same_value(struct match *k, vid v, vid w)
{
    return v && w && skip_hops(k, v, /*noted=*/false) == skip_hops(k, w, /*noted=*/false);
}

/* Returns the node that makes v if it has operator `op`, and notes that node; else returns 0.  Hops between the node
 * and v are passed over, and noted with the node. */
static nid made_by(struct match *k, vid v, const char *op)
{
    const struct module *m = k->x->scene.m;
    vid w = skip_hops(k, v, /*noted=*/false);
    nid n = w ? m->value[w].def : 0;
    if (!n || m->node[n].graph != 1 || !node_is(m, n, op))
        return 0;
    skip_hops(k, v, /*noted=*/true);
    note_node(k, n);
    return n;
}

/* If exactly one of the two operands of n is constant, returns the other one; else 0.  n may be 0. */
static vid varying_operand(const struct match *k, nid n)
{
    vid a = node_in(k->x->scene.m, n, 0), b = node_in(k->x->scene.m, n, 1);
    if (!n || !a || !b || is_constant(k, a) == is_constant(k, b))
        return 0;
    return is_constant(k, a) ? b : a;
}

/* Returns the operand of n beside v; 0 if v is no operand of n. */
static vid other_operand(struct match *k, nid n, vid v)
{
    vid a = node_in(k->x->scene.m, n, 0), b = node_in(k->x->scene.m, n, 1);
    return same_value(k, a, v) ? b : same_value(k, b, v) ? a : 0;
}

/* Returns the first reader of v, hops skipped, with operator `op`, and notes it and the hops; returns 0 if there is
 * none, or if a value has more than READERS readers: values within a chain have few.  Then it notes nothing. */
static nid read_by(struct match *k, vid v, const char *op)
{
    const struct module *m = k->x->scene.m;
    uint32_t n = k->n;
    for (int i = 0; i <= HOPS && v; i++) {
        uint32_t from = k->users->at[v], to = k->users->at[v + 1];
        for (uint32_t u = from; u < to && to - from <= READERS; u++)
            if (m->node[k->users->to[u]].graph == 1 && node_is(m, k->users->to[u], op)) {
                note_node(k, k->users->to[u]);
                return k->users->to[u];
            }
        if (to - from != 1 || !is_hop(m, k->users->to[from]))
            break;
        note_node(k, k->users->to[from]);
        v = node_out(m, k->users->to[from], 0);
    }
    k->n = n;
    return 0;
}

/* Returns the first result of node n. */
static vid result(const struct match *k, nid n)
{
    return node_out(k->x->scene.m, n, 0);
}

/* Notes a Mul with a constant that reads v, and an Add of a constant after it, as far as there are such nodes. */
static void scale_and_shift(struct match *k, vid v)
{
    static const char *const op[] = {"Mul", "Add"};
    for (int i = 0; i < 2; i++) {
        uint32_t n = k->n;
        nid next = read_by(k, v, op[i]);
        if (varying_operand(k, next))
            v = result(k, next);
        else
            k->n = n;
    }
}

/* If v is the square of a value (by Pow, taken to have the exponent 2, or by Mul with itself), notes the node and the
 * hops between it and v, and returns that value; else returns 0, and may have noted a Mul. */
static vid match_square(struct match *k, vid v)
{
    nid n = made_by(k, v, "Pow");
    if (n)
        return node_in(k->x->scene.m, n, 0);
    n = made_by(k, v, "Mul");
    vid a = node_in(k->x->scene.m, n, 0);
    return n && same_value(k, a, node_in(k->x->scene.m, n, 1)) ? a : 0;
}

/* Returns whether v is x - R(x) for some x, where R is the operator `reduction`; if so, notes Sub, reduction, and
 * the hops between these, x and v. */
static bool match_centred(struct match *k, vid v, const char *reduction)
{
    uint32_t n = k->n;
    nid sub = made_by(k, v, "Sub");
    nid red = sub ? made_by(k, node_in(k->x->scene.m, sub, 1), reduction) : 0;
    if (red && same_value(k, node_in(k->x->scene.m, red, 0), node_in(k->x->scene.m, sub, 0))) {
        /* the hops in front of the reduction are mostly the same nodes */
        skip_hops(k, node_in(k->x->scene.m, sub, 0), /*noted=*/true);
        return true;
    }
    k->n = n;
    return false;
}

/* Whether d and base are the same value, or both some x less another value: exporters write x - ReduceMean(x) twice. */
static bool match_alike(struct match *k, vid d, vid base)
{
    const struct module *m = k->x->scene.m;
    uint32_t n = k->n;
    if (same_value(k, d, base))
        return true;
    nid a = made_by(k, d, "Sub"), b = made_by(k, base, "Sub");
    if (a && b && same_value(k, node_in(m, a, 0), node_in(m, b, 0)))
        return true;
    k->n = n;
    return false;
}

/* Whether s is the Sqrt of a LayerNorm or RMSNorm; if so, notes the chain. */
static bool match_sqrt(struct match *k, nid s)
{
    const struct module *m = k->x->scene.m;
    nid add = made_by(k, node_in(m, s, 0), "Add");
    nid mean = made_by(k, add ? varying_operand(k, add) : node_in(m, s, 0), "ReduceMean");
    vid base = mean ? match_square(k, node_in(m, mean, 0)) : 0, d = 0;
    if (!base)
        return false;
    nid end = read_by(k, result(k, s), "Div");
    if (end && match_alike(k, node_in(m, end, 0), base)) {
        d = node_in(m, end, 0);
    } else { /* a division by the reciprocal: 1 / s or Reciprocal(s), then a Mul */
        if (!end)
            end = read_by(k, result(k, s), "Reciprocal");
        vid r = end ? result(k, end) : 0;
        end = r ? read_by(k, r, "Mul") : 0;
        d = end ? other_operand(k, end, r) : 0;
        if (!d || !match_alike(k, d, base))
            return false;
    }
    skip_hops(k, base, /*noted=*/true);
    /* in a LayerNorm, base and d are differences from the mean; in an RMSNorm they are not, and nothing is noted */
    match_centred(k, base, "ReduceMean");
    if (!same_value(k, d, base))
        match_centred(k, d, "ReduceMean");
    scale_and_shift(k, result(k, end));
    return true;
}

/* Whether `sum` is the ReduceSum of a Softmax; if so, notes the chain. */
static bool match_softmax(struct match *k, nid sum)
{
    const struct module *m = k->x->scene.m;
    nid exp = made_by(k, node_in(m, sum, 0), "Exp");
    nid div = exp ? read_by(k, result(k, sum), "Div") : 0;
    if (!div || !same_value(k, node_in(m, div, 0), result(k, exp)))
        return false;
    match_centred(k, node_in(m, exp, 0), "ReduceMax");
    return true;
}

/* Whether v is used in x * (v + 1) / 2, with the factors in any order; if so, notes the nodes, and a scale and shift
 * behind them. */
static bool match_gate(struct match *k, vid v, vid x)
{
    nid add = read_by(k, v, "Add");
    if (!varying_operand(k, add))
        return false;
    nid mul = read_by(k, result(k, add), "Mul");
    vid other = mul ? other_operand(k, mul, result(k, add)) : 0;
    if (mul && varying_operand(k, mul)) { /* v + 1 is multiplied by 1 / 2 first, then by x */
        nid half = mul;
        mul = read_by(k, result(k, half), "Mul");
        other = mul ? other_operand(k, mul, result(k, half)) : 0;
    }
    if (!other)
        return false;
    if (!same_value(k, other, x)) { /* the other factor is x * 1 / 2 */
        nid half = made_by(k, other, "Mul");
        if (!half || !same_value(k, varying_operand(k, half), x))
            return false;
    }
    skip_hops(k, x, /*noted=*/true);
    scale_and_shift(k, result(k, mul));
    return true;
}

/* Whether `erf` is the Erf of a Gelu; if so, notes the chain. */
static bool match_erf(struct match *k, nid erf)
{
    vid v = node_in(k->x->scene.m, erf, 0);
    nid scale = made_by(k, v, "Div");
    if (!scale)
        scale = made_by(k, v, "Mul");
    vid x = varying_operand(k, scale);
    return x && match_gate(k, result(k, erf), x);
}

/* Whether `tanh` is the Tanh of a Gelu, Tanh(c * (x + c' * x^3)), where x may be either operand of the Add; if so,
 * notes the chain. */
static bool match_tanh(struct match *k, nid tanh)
{
    const struct module *m = k->x->scene.m;
    nid outer = made_by(k, node_in(m, tanh, 0), "Mul");
    vid u = varying_operand(k, outer);
    nid add = u ? made_by(k, u, "Add") : 0;
    for (uint32_t i = 0; add && i < 2; i++) {
        uint32_t n = k->n;
        vid x = node_in(m, add, i);
        nid inner = made_by(k, node_in(m, add, 1 - i), "Mul");
        vid p = varying_operand(k, inner);
        nid pow = p ? made_by(k, p, "Pow") : 0;
        if (pow && same_value(k, node_in(m, pow, 0), x))
            return match_gate(k, result(k, tanh), x);
        k->n = n;
    }
    return false;
}

/* Whether `inst` is the InstanceNormalization of a GroupNorm; if so, notes the chain. */
static bool match_instance(struct match *k, nid inst)
{
    if (!made_by(k, node_in(k->x->scene.m, inst, 0), "Reshape"))
        return false;
    nid back = read_by(k, result(k, inst), "Reshape");
    if (back)
        scale_and_shift(k, result(k, back));
    return back != 0;
}

uint32_t norms_join(const struct ctx *x, struct classes *c)
{
    static const struct {
        const char *op;
        bool (*match)(struct match *, nid);
    } anchor[] = {{"Sqrt", match_sqrt},
                  {"ReduceSum", match_softmax},
                  {"Erf", match_erf},
                  {"Tanh", match_tanh},
                  {"InstanceNormalization", match_instance}};
    const struct csr users = module_users(x->scene.m, x->use.scratch);
    uint32_t chains = 0;
    for (uint32_t v = 0; v < x->levels.base->n; v++)
        for (size_t i = 0; i < sizeof anchor / sizeof *anchor; i++) {
            nid n = x->levels.base->node[v];
            struct match k = {.x = x, .users = &users, .vertex = {v}, .n = 1};
            if (!node_is(x->scene.m, n, anchor[i].op) || !anchor[i].match(&k, n))
                continue;
            for (uint32_t j = 1; j < k.n; j++)
                classes_join(c, v, k.vertex[j], WHY_NORM);
            chains++;
        }
    return chains;
}
