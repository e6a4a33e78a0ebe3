/* The model train: one training step of a small decoder, with forward pass, loss, backward pass and SGD in one graph
 * of primitive operators.  This file writes out the derivative of each layer.
 *
 *   forward:  x = wte[input_ids];  x += out(attention(ln_1(x)));  x += proj(relu(fc(ln_2(x))))
 *   loss:     mean over tokens of -log softmax(head(ln_f(x)))[label]
 *   backward: the layers in reverse; names of its nodes end in _grad
 *   update:   P_update = learning_rate * P_grad;  P_new = P - P_update
 *
 * --adam: P_m_new = b1 P_m + (1 - b1) P_grad;  P_v_new = b2 P_v + (1 - b2) P_grad^2;  step_new = step + 1;
 * P_update = learning_rate * P_m_new / (1 - b1^step_new) / (sqrt(P_v_new / (1 - b2^step_new)) + e)
 * with P_m, P_v and step as initializers (Kingma and Ba, arXiv 1412.6980, algorithm 1).
 *
 * The gradient, the update and the new value of every parameter P are outputs.  The backward pass reads results of
 * the forward pass, so long edges connect the two.  There are no position embeddings.  The gradient of the embedding
 * table is the one-hot matrix of the ids, transposed, times the gradient of the rows.
 *
 * Shapes in comments: B batch, S sequence, H heads, D size of a head.  A name dx is the gradient of x. */
#include "tools/gen/gen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A linear layer or a norm after its forward pass, for its backward pass. */
struct unit {
    /* prefix of its nodes, within the scope; prefix of its parameters */
    const char *path, *param;
    const char *x, *w, *b;      /* names of the input, the weight and the bias */
    const char *mean, *inv_std; /* of norms: mean and 1 / standard deviation of x */
    int64_t in, out;            /* widths of input and result */
};

/* The values of a decoder layer that its backward pass reads. */
struct tape {
    struct unit ln_1, q, k, v, o, ln_2, fc, proj;
    const char *qh, *kh, *vh; /* queries, keys and values, [B,H,S,D] */
    const char *p;            /* attention weights: the result of Softmax */
    const char *h;            /* operand of Relu */
};

/* Names of what Adam shares among parameters: 1 - b1^step_new and 1 - b2^step_new, and constants. */
struct adam {
    const char *b1, *b2;       /* rates at which moments decay */
    const char *rest1, *rest2; /* 1 - b1; 1 - b2 */
    const char *bias1, *bias2; /* 1 - b1^step_new; 1 - b2^step_new */
    const char *epsilon;
};

/* Options, and values that all layers share. */
struct train {
    const struct gen_opt *o;
    int64_t ffn;     /* inner width of the MLP: --ffn */
    double proj_std; /* standard deviation of weights whose results are added to x */
    struct gen_heads heads;
    /* token_axes: 0 and 1 */
    const char *mask, *lowest, *zero_f, *last_axis, *first_axis, *token_axes;
    const char *depth, *off_on; /* operands of OneHot */
    struct adam adam;           /* with --adam */
};

/* Permutations of axes, for Transpose. */
static const int64_t swap_01[2] = {1, 0}, swap_12[4] = {0, 2, 1, 3}, swap_23[4] = {0, 1, 3, 2};

/* Returns the path of a node of unit u, which ends in `rest`. */
static const char *node_path(struct gen *g, const struct unit *u, const char *rest)
{
    return gen_str(g, "%s/%s", u->path, rest);
}

/* ---- forward ---- */

/* Adds a linear layer on x, and notes it in *u.  Returns the name of the result. */
static const char *linear(struct gen *g, struct unit *u, const char *path, const char *param,
                          const char *x, struct gen_linear l)
{
    *u = (struct unit){.path = path, .param = param, .x = x, .in = l.in, .out = l.out};
    u->w = gen_str(g, "%s.weight", param);
    u->b = gen_str(g, "%s.bias", param);
    return gen_linear(g, path, param, x, l);
}

/* Adds a layer norm of x, and notes it in *u with its mean and 1 / standard deviation.  Returns the name of the
 * result. */
static const char *norm(struct gen *g, struct unit *u, const char *path, const char *param,
                        const char *x, int64_t width)
{
    *u = (struct unit){.path = path, .param = param, .x = x, .in = width, .out = width};
    u->w = gen_str(g, "%s.weight", param);
    u->b = gen_str(g, "%s.bias", param);
    const char *y = gen_layer_norm(g, node_path(g, u, "LayerNormalization"), param, x, width);
    u->mean = gen_more(g);
    u->inv_std = gen_more(g);
    return y;
}

/* Adds the attention of a layer on x, which is normed, and notes it in *t.  p: prefix of its parameters.  Returns the
 * name of the result. */
static const char *attend(struct gen *g, const struct train *m, struct tape *t, const char *p,
                          const char *x)
{
    const int64_t w = m->o->width;
    const char *q = linear(g, &t->q, "/attn/q", gen_str(g, "%s.q", p), x,
                           (struct gen_linear){w, w, 0.02, true});
    const char *k = linear(g, &t->k, "/attn/k", gen_str(g, "%s.k", p), x,
                           (struct gen_linear){w, w, 0.02, true});
    const char *v = linear(g, &t->v, "/attn/v", gen_str(g, "%s.v", p), x,
                           (struct gen_linear){w, w, 0.02, true});

    t->qh = gen_split_heads(g, "/attn/q", &m->heads, q, /*keys=*/false);
    t->kh = gen_split_heads(g, "/attn/k", &m->heads, k, /*keys=*/false);
    t->vh = gen_split_heads(g, "/attn/v", &m->heads, v, /*keys=*/false);
    const char *s = gen_transpose(g, "/attn/Transpose", t->kh, 4, swap_23);
    s = gen_op2(g, "/attn/MatMul", t->qh, s);
    s = gen_op2(g, "/attn/Div", s, m->heads.scale);
    s = gen_op3(g, "/attn/Where", m->mask, s, m->lowest);
    t->p = gen_op1(g, "/attn/Softmax", s);
    gen_attr_i(g, "axis", -1);
    s = gen_op2(g, "/attn/MatMul_1", t->p, t->vh);
    s = gen_transpose(g, "/attn/Transpose_1", s, 4, swap_12);
    s = gen_op2(g, "/attn/Reshape", s, m->heads.merge);
    return linear(g, &t->o, "/attn/out", gen_str(g, "%s.out", p), s,
                  (struct gen_linear){w, w, m->proj_std, true});
}

/* Adds the forward pass of layer i on x, and notes it in *t.  Returns the name of the result. */
static const char *forward(struct gen *g, const struct train *m, struct tape *t, int64_t i,
                           const char *x)
{
    const int64_t w = m->o->width;
    const char *p = gen_str(g, "layers.%lld", (long long)i), *y;

    gen_scope(g, gen_str(g, "/%s", p));
    y = norm(g, &t->ln_1, "/ln_1", gen_str(g, "%s.ln_1", p), x, w);
    x = gen_op2(g, "/attn/Add", x, attend(g, m, t, gen_str(g, "%s.attn", p), y));
    y = norm(g, &t->ln_2, "/ln_2", gen_str(g, "%s.ln_2", p), x, w);
    t->h = linear(g, &t->fc, "/mlp/fc", gen_str(g, "%s.mlp.fc", p), y,
                  (struct gen_linear){w, m->ffn, 0.02, true});
    y = gen_op1(g, "/mlp/Relu", t->h);
    y = linear(g, &t->proj, "/mlp/proj", gen_str(g, "%s.mlp.proj", p), y,
               (struct gen_linear){m->ffn, w, m->proj_std, true});
    x = gen_op2(g, "/mlp/Add", x, y);
    gen_scope(g, NO_SCOPE);
    return x;
}

/* ---- backward ---- */

/* Makes the result of the last node the output `name` of the model.  Returns the name. */
static const char *output(struct gen *g, const char *name, int rank, const struct gen_dim dims[])
{
    gen_output(g, gen_rename(g, name), GEN_F32, rank, dims);
    return name;
}

/* Adds a moment of Adam: the initializer `name`, zeros, and its new value, decay * name + rest * x, an output.  Returns
 * the new value. */
static const char *moment(struct gen *g, const char *name, const char *path, int rank,
                          const int64_t shape[], const char *const decay_rest_x[3])
{
    const struct gen_dim dims[2] = {{shape[0], NULL}, {rank > 1 ? shape[1] : 0, NULL}};
    const char *old = gen_weight(g, name, rank, shape, 0.0, 0.0);
    old = gen_op2(g, gen_str(g, "%s/Mul", path), old, decay_rest_x[0]);
    const char *more = gen_op2(g, gen_str(g, "%s/Mul_1", path), decay_rest_x[2], decay_rest_x[1]);
    gen_op2(g, gen_str(g, "%s/Add", path), old, more);
    return output(g, gen_str(g, "%s_new", name), rank, dims);
}

/* Adds the nodes that make Adam's direction of the parameter `name`, which the learning rate is to scale, from its
 * gradient, with new moments.  Returns the direction. */
static const char *adam(struct gen *g, const struct adam *k, const char *name, const char *grad,
                        int rank, const int64_t shape[])
{
    const char *square = gen_op2(g, "/Mul_1", grad, grad);
    const char *mean = moment(g, gen_str(g, "%s_m", name), "/m", rank, shape,
                              (const char *const[]){k->b1, k->rest1, grad});
    const char *spread = moment(g, gen_str(g, "%s_v", name), "/v", rank, shape,
                                (const char *const[]){k->b2, k->rest2, square});
    mean = gen_op2(g, "/Div", mean, k->bias1);
    spread = gen_op1(g, "/Sqrt", gen_op2(g, "/Div_1", spread, k->bias2));
    return gen_op2(g, "/Div_2", mean, gen_op2(g, "/Add", spread, k->epsilon));
}

/* Makes the result of the last node the gradient of the parameter `name`: renames it to <name>_grad, adds the update
 * and the new value of the parameter, and makes all three outputs of the model. */
static void add_update(struct gen *g, const struct train *m, const char *name, int rank,
                       const int64_t shape[])
{
    const struct gen_dim dims[2] = {{shape[0], NULL}, {rank > 1 ? shape[1] : 0, NULL}};
    const char *scope = g->scope;
    const char *by = output(g, gen_str(g, "%s_grad", name), rank, dims);

    gen_scope(g, gen_str(g, "/%s/%s", m->o->has.adam ? "adam" : "sgd", name));
    if (m->o->has.adam)
        by = adam(g, &m->adam, name, by, rank, shape);
    gen_op2(g, "/Mul", by, "learning_rate");
    const char *update = output(g, gen_str(g, "%s_update", name), rank, dims);
    gen_op2(g, "/Sub", name, update);
    output(g, gen_str(g, "%s_new", name), rank, dims);
    gen_scope(g, scope);
}

/* Adds the backward pass of a linear layer: from dy [B,S,out], the gradients and updates of weight and bias.
 * Returns dx, the gradient of its input. */
static const char *linear_grad(struct gen *g, const struct train *m, const struct unit *u,
                               const char *dy)
{
    const char *in =
        gen_ints(g, gen_str(g, "%s.rows_in", u->param), 2, (const int64_t[]){-1, u->in});
    const char *out =
        gen_ints(g, gen_str(g, "%s.rows_out", u->param), 2, (const int64_t[]){-1, u->out});
    const char *x = gen_op2(g, node_path(g, u, "weight/Reshape_grad"), u->x, in);
    const char *rows = gen_op2(g, node_path(g, u, "weight/Reshape_1_grad"), dy, out);

    x = gen_transpose(g, node_path(g, u, "weight/Transpose_grad"), x, 2, swap_01);
    gen_op2(g, node_path(g, u, "weight/MatMul_grad"), x, rows);
    add_update(g, m, u->w, 2, (const int64_t[]){u->in, u->out});
    gen_reduce(g, node_path(g, u, "bias/ReduceSum_grad"), rows, m->first_axis, DROP_AXES);
    add_update(g, m, u->b, 1, &u->out);
    const char *w = gen_transpose(g, node_path(g, u, "Transpose_grad"), u->w, 2, swap_01);
    return gen_op2(g, node_path(g, u, "MatMul_grad"), dy, w);
}

/* Adds the backward pass of a norm, with the updates of weight and bias.  Returns the gradient of its input: with n
 * = (x - mean) / std and dn = dy w, dx = (dn - mean(dn) - n mean(dn n)) / std. */
static const char *norm_grad(struct gen *g, const struct train *m, const struct unit *u,
                             const char *dy)
{
    const char *n = gen_op2(g, node_path(g, u, "Sub_grad"), u->x, u->mean);
    n = gen_op2(g, node_path(g, u, "Mul_grad"), n, u->inv_std);
    const char *a = gen_op2(g, node_path(g, u, "weight/Mul_grad"), dy, n);

    gen_reduce(g, node_path(g, u, "weight/ReduceSum_grad"), a, m->token_axes, DROP_AXES);
    add_update(g, m, u->w, 1, &u->out);
    gen_reduce(g, node_path(g, u, "bias/ReduceSum_grad"), dy, m->token_axes, DROP_AXES);
    add_update(g, m, u->b, 1, &u->out);
    const char *dn = gen_op2(g, node_path(g, u, "Mul_1_grad"), dy, u->w);
    a = gen_reduce(g, node_path(g, u, "ReduceMean_grad"), dn, m->last_axis, KEEP_AXES);
    const char *b = gen_op2(g, node_path(g, u, "Mul_2_grad"), dn, n);
    b = gen_reduce(g, node_path(g, u, "ReduceMean_1_grad"), b, m->last_axis, KEEP_AXES);
    b = gen_op2(g, node_path(g, u, "Mul_3_grad"), n, b);
    dn = gen_op2(g, node_path(g, u, "Sub_1_grad"), dn, a);
    dn = gen_op2(g, node_path(g, u, "Sub_2_grad"), dn, b);
    return gen_op2(g, node_path(g, u, "Mul_4_grad"), dn, u->inv_std);
}

/* Adds the backward pass of the linear layer u that makes q, k or v, from its gradient dy [B,H,S,D].  Returns its
 * share of the gradient of the attention's input. */
static const char *head_grad(struct gen *g, const struct train *m, const struct unit *u,
                             const char *dy)
{
    dy = gen_transpose(g, node_path(g, u, "heads/Transpose_grad"), dy, 4, swap_12);
    dy = gen_op2(g, node_path(g, u, "heads/Reshape_grad"), dy, m->heads.merge);
    return linear_grad(g, m, u, dy);
}

/* Adds the backward pass of the attention that *t has noted, from dy, the gradient of its result, with the updates of
 * its parameters.  Returns the gradient of its input. */
static const char *attend_grad(struct gen *g, const struct train *m, const struct tape *t,
                               const char *dy)
{
    const char *dc = linear_grad(g, m, &t->o, dy);

    dc = gen_op2(g, "/attn/Reshape_grad", dc, m->heads.split);
    dc = gen_transpose(g, "/attn/Transpose_grad", dc, 4, swap_12);
    const char *dv = gen_transpose(g, "/attn/v/Transpose_1_grad", t->p, 4, swap_23);
    dv = gen_op2(g, "/attn/v/MatMul_1_grad", dv, dc);
    const char *dp = gen_transpose(g, "/attn/Transpose_1_grad", t->vh, 4, swap_23);
    dp = gen_op2(g, "/attn/MatMul_grad", dc, dp);
    /* the mask needs no node: where it forbids, p is 0, and so ds becomes 0 */
    const char *ds = gen_op2(g, "/attn/Mul_grad", dp, t->p);
    ds = gen_reduce(g, "/attn/ReduceSum_grad", ds, m->last_axis, KEEP_AXES);
    ds = gen_op2(g, "/attn/Sub_grad", dp, ds);
    ds = gen_op2(g, "/attn/Mul_1_grad", ds, t->p);
    ds = gen_op2(g, "/attn/Div_grad", ds, m->heads.scale);
    const char *dq = gen_op2(g, "/attn/q/MatMul_1_grad", ds, t->kh);
    const char *dk = gen_transpose(g, "/attn/k/Transpose_1_grad", ds, 4, swap_23);
    dk = gen_op2(g, "/attn/k/MatMul_1_grad", dk, t->qh);
    dq = head_grad(g, m, &t->q, dq);
    dk = head_grad(g, m, &t->k, dk);
    dv = head_grad(g, m, &t->v, dv);
    return gen_op2(g, "/attn/Add_1_grad", gen_op2(g, "/attn/Add_grad", dq, dk), dv);
}

/* Adds the backward pass of layer i, from dx, the gradient of its result.  Returns the gradient of its input. */
static const char *backward(struct gen *g, const struct train *m, const struct tape *t, int64_t i,
                            const char *dx)
{
    gen_scope(g, gen_str(g, "/layers.%lld", (long long)i));
    const char *dh = linear_grad(g, m, &t->proj, dx);
    const char *on = gen_op2(g, "/mlp/Greater_grad", t->h, m->zero_f);
    dh = gen_op3(g, "/mlp/Where_grad", on, dh, m->zero_f);
    dh = norm_grad(g, m, &t->ln_2, linear_grad(g, m, &t->fc, dh));
    dx = gen_op2(g, "/mlp/Add_grad", dx, dh);
    dh = norm_grad(g, m, &t->ln_1, attend_grad(g, m, t, dx));
    dx = gen_op2(g, "/attn/Add_2_grad", dx, dh);
    gen_scope(g, NO_SCOPE);
    return dx;
}

/* ---- loss, embedding, constants ---- */

/* Adds a OneHot of ids, [B,S] -> [B,S,vocab].  Returns the name of the result. */
static const char *one_hot(struct gen *g, const struct train *m, const char *path, const char *ids)
{
    const char *y = gen_op3(g, path, ids, m->depth, m->off_on);
    gen_attr_i(g, "axis", -1);
    return y;
}

/* Adds the loss of the logits and its model output "loss".  Returns the gradient of the logits, (softmax - one-hot) /
 * number of tokens. */
static const char *loss(struct gen *g, const struct train *m, const char *logits)
{
    const char *hot = one_hot(g, m, "/loss/OneHot", "labels");
    const char *n = gen_op1(g, "/loss/Size", "labels");

    n = gen_op1(g, "/loss/Cast", n);
    gen_attr_i(g, "to", GEN_F32);
    const char *lp = gen_op1(g, "/loss/LogSoftmax", logits);
    gen_attr_i(g, "axis", -1);
    const char *sum = gen_op1(g, "/loss/ReduceSum", gen_op2(g, "/loss/Mul", lp, hot));
    gen_attr_i(g, "keepdims", 0);
    gen_op1(g, "/loss/Neg", gen_op2(g, "/loss/Div", sum, n));
    gen_output(g, gen_rename(g, "loss"), GEN_F32, 0, NULL);
    const char *d = gen_op2(g, "/loss/Sub_grad", gen_op1(g, "/loss/Exp_grad", lp), hot);
    return gen_op2(g, "/loss/Div_grad", d, n);
}

/* Adds gradient and update of the embedding table, from dx, the gradient of its rows. */
static void embed_grad(struct gen *g, const struct train *m, const char *dx)
{
    const int64_t dims[2] = {m->o->vocab, m->o->width};
    const char *ids = gen_ints(g, "wte.rows_in", 2, (const int64_t[]){-1, dims[0]});
    const char *rows = gen_ints(g, "wte.rows_out", 2, (const int64_t[]){-1, dims[1]});
    const char *hot = one_hot(g, m, "/wte/OneHot_grad", "input_ids");

    hot = gen_op2(g, "/wte/Reshape_grad", hot, ids);
    hot = gen_transpose(g, "/wte/Transpose_grad", hot, 2, swap_01);
    dx = gen_op2(g, "/wte/Reshape_1_grad", dx, rows);
    gen_op2(g, "/wte/MatMul_grad", hot, dx);
    add_update(g, m, "wte.weight", 2, dims);
}

/* Adds the count of steps, and the values that Adam shares among parameters. */
static struct adam setup_adam(struct gen *g)
{
    struct adam k = {.b1 = gen_float(g, "adam.b1", 0.9f),
                     .b2 = gen_float(g, "adam.b2", 0.999f),
                     .rest1 = gen_float(g, "adam.rest1", 0.1f),
                     .rest2 = gen_float(g, "adam.rest2", 0.001f),
                     .epsilon = gen_float(g, "adam.epsilon", 1e-8f)};
    const char *one = gen_float(g, "adam.one", 1.0f);

    gen_op2(g, "/adam/Add", gen_int(g, "step", 0), gen_int(g, "adam.one_step", 1));
    const char *step = gen_rename(g, "step_new");
    gen_output(g, step, GEN_I64, 0, NULL);
    step = gen_op1(g, "/adam/Cast", step);
    gen_attr_i(g, "to", GEN_F32);
    k.bias1 = gen_op2(g, "/adam/Sub", one, gen_op2(g, "/adam/Pow", k.b1, step));
    k.bias2 = gen_op2(g, "/adam/Sub_1", one, gen_op2(g, "/adam/Pow_1", k.b2, step));
    return k;
}

/* Adds the model's inputs, and sets the values of m that all layers share. */
static void setup(struct gen *g, struct train *m)
{
    const struct gen_opt *o = m->o;
    const struct gen_dim dims[2] = {{0, "batch"}, {0, "sequence"}};

    gen_input(g, "input_ids", GEN_I64, 2, dims);
    gen_input(g, "labels", GEN_I64, 2, dims);
    gen_input(g, "learning_rate", GEN_F32, 0, NULL);
    m->ffn = o->ffn > 0 ? o->ffn : 4 * o->width;
    m->proj_std = 0.02 / sqrt(2.0 * (double)o->layers);
    m->heads = gen_heads(g, o->heads, o->width / o->heads);
    m->lowest = gen_float(g, "const.lowest", -3.4028235e38f);
    m->zero_f = gen_float(g, "const.zero_f", 0.0f);
    m->last_axis = gen_ints(g, "const.last", 1, (const int64_t[]){-1});
    m->first_axis = gen_ints(g, "const.first_axis", 1, (const int64_t[]){0});
    m->token_axes = gen_ints(g, "const.token_axes", 2, (const int64_t[]){0, 1});
    m->depth = gen_int(g, "const.depth", o->vocab);
    m->off_on = gen_floats(g, "const.off_on", 2, (const float[]){0, 1});
    m->mask = gen_causal(g, NULL).mask;
    if (o->has.adam)
        m->adam = setup_adam(g);
}

int gen_train(struct gen *g, const struct gen_opt *o)
{
    const int64_t table[2] = {o->vocab, o->width};
    struct train m = {.o = o};
    struct unit ln_f, head;

    if (gen_check_heads(o, HEADS_WHOLE) != 0)
        return -1;
    struct tape *tapes = calloc((size_t)o->layers, sizeof *tapes);
    if (tapes == NULL)
        gen_no_memory();
    setup(g, &m);
    /* forward: the tapes keep what backward needs of each layer */
    const char *x =
        gen_op2(g, "/wte/Gather", gen_weight(g, "wte.weight", 2, table, 0.0, 0.02), "input_ids");
    for (int64_t i = 0; i < o->layers; i++)
        x = forward(g, &m, &tapes[i], i, x);
    x = norm(g, &ln_f, "/ln_f", "ln_f", x, o->width);
    x = linear(g, &head, "/lm_head", "lm_head", x,
               (struct gen_linear){o->width, o->vocab, 0.02, true});
    /* backward: x is now the gradient of a layer's result */
    x = linear_grad(g, &m, &head, loss(g, &m, x));
    x = norm_grad(g, &m, &ln_f, x);
    for (int64_t i = o->layers - 1; i >= 0; i--)
        x = backward(g, &m, &tapes[i], i, x);
    embed_grad(g, &m, x);
    free(tapes);
    return 0;
}
