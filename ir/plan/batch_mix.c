/* Finds nodes that take samples together (batch_mix.h).
 *
 * Micro-batches add up to the whole batch only if samples meet nowhere but in the loss and in sums of gradients
 * (DAPPLE, arXiv 2007.01045, VI-A).  A node takes samples together if its operator works along the axis of the batch,
 * or if it makes values of single samples from a value of all samples together. */
#include "ir/plan/batch_mix.h"

#include "ir/plan/batch_along.h"

#include <string.h>

/* Whether the node's operator is in the list, which ends with NULL. */
static bool is_one_of(const struct module *m, nid n, const char *const *list)
{
    bool any = false;
    for (; *list && !any; list++)
        any = node_is(m, n, *list);
    return any;
}

/* Whether value v is an initializer of at most 8 bytes, and no input, that is false or 0. */
static bool is_zero(const struct module *m, vid v)
{
    tid t = v && !m->value[v].def ? m->value[v].tensor : 0;
    unsigned char byte[8] = {0};
    if (!t || (m->value[v].flags & VALUE_INPUT) || !tensor_has_bytes(&m->tensor[t]) ||
        m->tensor[t].len > sizeof byte || tensor_read(m, t, 0, byte, m->tensor[t].len))
        return false;
    for (size_t i = 0; i < sizeof byte; i++)
        if (byte[i])
            return false;
    return true;
}

/* Whether the node draws random numbers: a random operator, or a Dropout that may be in training mode with a ratio
 * other than 0. */
static bool draws_random(const struct module *m, nid n)
{
    static const char *const random[] = {"RandomNormal",
                                         "RandomUniform",
                                         "RandomNormalLike",
                                         "RandomUniformLike",
                                         "Bernoulli",
                                         "Multinomial",
                                         NULL};
    bool trains = node_is(m, n, "Dropout") && node_in(m, n, 2) && !is_zero(m, node_in(m, n, 2));
    return is_one_of(m, n, random) || (trains && !is_zero(m, node_in(m, n, 1)));
}

/* Whether a result of n has the batch along two axes, while no operand has: each sample meets all other samples. */
static bool makes_square(const struct batch_view *v, nid n)
{
    const struct slice in = v->m->node[n].in, out = v->m->node[n].out;
    bool had = false, any = false;
    for (uint32_t i = 0; i < in.n; i++)
        had = had || v->squares[v->m->arg[in.at + i]];
    for (uint32_t i = 0; i < out.n; i++)
        any = any || v->squares[v->m->arg[out.at + i]];
    return any && !had;
}

/* Whether n is a forward node that calculates with value x, and x depends on the number of samples. */
static bool calculates_with(const struct batch_view *v, nid n, vid x)
{
    static const char *const reckon[] = {"Add", "Sub", "Mul", "Div", "Pow", "Sum", NULL};
    return v->counts[x] && !v->m->backward[n] && is_one_of(v->m, n, reckon);
}

/* Whether a result of the node depends on samples and has an axis of the batch. */
static bool makes_samples(const struct batch_view *v, nid n)
{
    bool any = false;
    for (uint32_t i = 0; i < v->m->node[n].out.n; i++) {
        vid y = v->m->arg[v->m->node[n].out.at + i];
        any = any || (y && v->varies[y] && v->axis[y] >= 0);
    }
    return any;
}

/* Whether the operator adds up the contributions of samples where its result loses the axis of the batch. */
static bool adds_up(const struct module *m, nid n)
{
    static const char *const sums[] = {"MatMul", "Gemm",          "ReduceSum", "Einsum",
                                       "Conv",   "ConvTranspose", NULL};
    bool scatters = node_is(m, n, "ScatterND") || node_is(m, n, "ScatterElements");
    return is_one_of(m, n, sums) || strstr(node_op(m, n), "Grad") ||
           (scatters && strcmp(node_attr_str(m, n, "reduction", "none"), "add") == 0);
}

/* Returns NULL, or the reason why node n is a loss whose mean over the batch is not the mean of its means over
 * micro-batches. */
static const char *refuse_loss(const struct module *m, nid n)
{
    if (!node_is(m, n, "SoftmaxCrossEntropyLoss") && !node_is(m, n, "NegativeLogLikelihoodLoss"))
        return NULL;
    if (strcmp(node_attr_str(m, n, "reduction", "mean"), "mean") != 0)
        return NULL;
    if (node_attr(m, n, "ignore_index"))
        return "means over labels that are not ignore_index, whose number differs by micro-batch";
    return node_in(m, n, 2) ? "means with weights, whose sum differs by micro-batch" : NULL;
}

/* Returns NULL, or the reason why the node's operator takes samples together or draws random numbers: a clause that
 * follows the name of the node. */
static const char *refuse_operator(const struct batch_view *v, nid n)
{
    const struct module *m = v->m;
    bool batch_norm = node_is(m, n, "BatchNormalization");
    if (draws_random(m, n))
        return "draws random numbers";
    if (batch_norm && (node_attr_int(m, n, "training_mode", 0) || m->node[n].out.n > 1))
        return "takes mean and variance of all samples";
    if (makes_square(v, n))
        return "makes a result with the batch along two axes, where each sample meets all others";
    const char *why = batch_along_why(m, v->axis, n);
    return why ? why : refuse_loss(m, n);
}

const char *batch_mix_why(const struct batch_view *v, nid n, struct arena *a)
{
    const struct module *m = v->m;
    const struct slice in = m->node[n].in, out = m->node[n].out;
    const char *why = refuse_operator(v, n);
    /* samples: the node makes values of single samples; has: the node reads such values */
    bool samples = makes_samples(v, n), has = false;
    for (uint32_t i = 0; i < in.n && !why; i++) {
        vid x = m->arg[in.at + i];
        has = has || (v->varies[x] && v->axis[x] >= 0);
        if (samples && v->varies[x] && v->axis[x] < 0)
            why = arena_fmt(a, "reads '%s', which is of all samples together", value_name(m, x));
        else if (samples && calculates_with(v, n, x))
            why = arena_fmt(a, "reckons with '%s', which tells how many samples there are",
                            value_name(m, x));
    }
    for (uint32_t i = 0; i < out.n && !why && has; i++) {
        vid y = m->arg[out.at + i];
        if (v->to_sum[y] && v->axis[y] < 0 && !adds_up(m, n))
            why = "takes gradients of samples together, and not by adding them up";
    }
    return why ? arena_fmt(a, "'%s' (%s) %s", node_name(m, n), node_op(m, n), why) : NULL;
}

const char *batch_mix_body_why(const struct batch_view *v, nid n, struct arena *a)
{
    const struct module *m = v->m;
    nid root = batch_body_root(m, m->node[n].graph);
    const char *why = refuse_operator(v, n);
    return why ? arena_fmt(a, "'%s' (%s), in '%s' (%s), %s", node_name(m, n), node_op(m, n),
                           node_name(m, root), node_op(m, root), why)
               : NULL;
}

nid batch_body_root(const struct module *m, gid g)
{
    nid n = 0;
    for (; g > 1 && m->graph[g].owner; g = m->node[n].graph)
        n = m->graph[g].owner;
    return g == 1 ? n : 0;
}
