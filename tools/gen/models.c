/* The smaller models of pcc-gen: resnet, inception, dense, star and ladder.
 *
 * resnet and inception: convolutions with bias (batch norm is folded into them, as in exported inference models) and
 * He-scaled weights.  dense: layers of MatMul, Add and Relu with layers * width^2 * 4 bytes of weights.  star: one
 * value with many readers.  ladder: two long chains with an Add between them at each step. */
#include "tools/gen/gen.h"

#include <math.h>
#include <stdio.h>

/* Returns the standard deviation of He-scaled weights: for a layer with fan_in inputs and a Relu behind it. */
static double he_std(int64_t fan_in)
{
    return sqrt(2.0 / (double)fan_in);
}

/* Adds the model input "input", [batch, 3, size, size]. */
static void image_input(struct gen *g, const struct gen_opt *o)
{
    gen_input(g, "input", GEN_F32, 4,
              (const struct gen_dim[]){{0, "batch"}, {3, NULL}, {o->size, NULL}, {o->size, NULL}});
}

/* Adds average pooling of x [batch, channels, h, w], a linear classifier, and the model output "output" [batch,
 * classes]. */
static void classify(struct gen *g, const char *x, int64_t channels, int64_t classes)
{
    const int64_t dims[2] = {classes, channels};
    const char *w, *b;

    x = gen_op1(g, "/avgpool/GlobalAveragePool", x);
    x = gen_op1(g, "/Flatten", x);
    gen_attr_i(g, "axis", 1);
    w = gen_weight(g, "fc.weight", 2, dims, 0.0, he_std(channels));
    b = gen_weight(g, "fc.bias", 1, &classes, 0.0, 0.02);
    gen_op3(g, "/fc/Gemm", x, w, b);
    gen_attr_i(g, "transB", 1);
    gen_output(g, gen_rename(g, "output"), GEN_F32, 2,
               (const struct gen_dim[]){{0, "batch"}, {classes, NULL}});
}

/* ---- resnet ---- */

/* The shape of a resnet. */
struct res_plan {
    bool bottleneck;        /* blocks have three convolutions instead of two */
    struct gen_list stages; /* number of blocks of each stage */
};

/* The shapes that --depth names, by the number of layers. */
static const struct res_table {
    int64_t depth;
    struct res_plan plan;
} res_table[] = {
    {18, {false, {4, {2, 2, 2, 2}}}},  {34, {false, {4, {3, 4, 6, 3}}}},
    {50, {true, {4, {3, 4, 6, 3}}}},   {101, {true, {4, {3, 4, 23, 3}}}},
    {152, {true, {4, {3, 8, 36, 3}}}},
};

/* A residual block. */
struct res_block {
    int stage, index; /* stage, from 1; number within the stage, from 0 */
    /* channels of the block's input, inside the block, and of its result; stride of its convolutions */
    int64_t in, mid, out, stride;
    bool bottleneck; /* res_plan.bottleneck */
};

/* Adds the convolution `name` ("conv1") of a block.  Returns the name of the result. */
static const char *res_conv(struct gen *g, const struct res_block *b, const char *name,
                            const char *x, struct gen_conv c)
{
    const char *param = gen_str(g, "layer%d.%d.%s", b->stage, b->index, name);
    return gen_conv(g, gen_str(g, "/%s", name), param, x, c);
}

/* Adds a residual block behind x: convolutions and Relus, plus x or a 1 x 1 convolution of it.  Returns the name of the
 * result. */
static const char *res_block(struct gen *g, const struct res_block *b, const char *x)
{
    const char *y, *skip = x;

    gen_scope(g, gen_str(g, "/layer%d/layer%d.%d", b->stage, b->stage, b->index));
    if (b->bottleneck) {
        y = res_conv(g, b, "conv1", x, (struct gen_conv){b->in, b->mid, 1, 1, 1.0});
        y = gen_op1(g, "/relu/Relu", y);
        y = res_conv(g, b, "conv2", y, (struct gen_conv){b->mid, b->mid, 3, b->stride, 1.0});
        y = gen_op1(g, "/relu/Relu_1", y);
        y = res_conv(g, b, "conv3", y, (struct gen_conv){b->mid, b->out, 1, 1, 0.2});
    } else {
        y = res_conv(g, b, "conv1", x, (struct gen_conv){b->in, b->mid, 3, b->stride, 1.0});
        y = gen_op1(g, "/relu/Relu", y);
        y = res_conv(g, b, "conv2", y, (struct gen_conv){b->mid, b->out, 3, 1, 0.2});
    }
    if (b->in != b->out || b->stride != 1)
        skip =
            res_conv(g, b, "downsample.0", x, (struct gen_conv){b->in, b->out, 1, b->stride, 1.0});
    y = gen_op2(g, "/Add", y, skip);
    y = gen_op1(g, b->bottleneck ? "/relu/Relu_2" : "/relu/Relu_1", y);
    gen_scope(g, NO_SCOPE);
    return y;
}

/* Finds the shape of the resnet by --blocks, else by --depth.  Returns 0; or prints an error and returns -1. */
static int res_find(const struct gen_opt *o, struct res_plan *plan)
{
    if (o->stages.n > 0) {
        *plan = (struct res_plan){true, o->stages};
        return 0;
    }
    for (size_t i = 0; i < sizeof res_table / sizeof *res_table; i++) {
        if (res_table[i].depth == o->depth) {
            *plan = res_table[i].plan;
            return 0;
        }
    }
    fprintf(stderr, "pcc-gen: --depth is 18, 34, 50, 101 or 152; use --blocks for other shapes\n");
    return -1;
}

/* Adds a stem, stages of residual blocks, where each stage but the first has half the height and twice the channels
 * of the stage before, and a classifier. */
int gen_resnet(struct gen *g, const struct gen_opt *o)
{
    struct res_plan plan;
    int64_t channels = o->width, mid = o->width;

    if (res_find(o, &plan) != 0)
        return -1;
    image_input(g, o);
    const char *x =
        gen_conv(g, "/conv1", "conv1", "input", (struct gen_conv){3, channels, 7, 2, 1.0});
    x = gen_op1(g, "/relu/Relu", x);
    x = gen_max_pool(g, "/maxpool/MaxPool", x, 2);
    for (int s = 0; s < plan.stages.n; s++) {
        for (int i = 0; i < plan.stages.v[s]; i++) {
            struct res_block b = {s + 1,
                                  i,
                                  channels,
                                  mid,
                                  plan.bottleneck ? mid * 4 : mid,
                                  s > 0 && i == 0 ? 2 : 1,
                                  plan.bottleneck};
            x = res_block(g, &b, x);
            channels = b.out;
        }
        mid *= 2;
    }
    classify(g, x, channels, o->classes);
    return 0;
}

/* ---- inception ---- */

/* Adds a convolution `name` with a Relu, in the scope of block i.  Returns the name of the result. */
static const char *branch(struct gen *g, int64_t i, const char *name, const char *x,
                          struct gen_conv c)
{
    const char *param = gen_str(g, "inception.%lld.%s", (long long)i, name);
    const char *y = gen_conv(g, gen_str(g, "/%s", name), param, x, c);

    return gen_op1(g, gen_str(g, "/%s/Relu", name), y);
}

/* Adds block i behind x, which has `in` channels: four branches of w channels each, joined to 4 w channels.  Returns
 * the name of the result. */
static const char *inception(struct gen *g, int64_t i, const char *x, int64_t in, int64_t w)
{
    const char *out[4];

    gen_scope(g, gen_str(g, "/inception.%lld", (long long)i));
    out[0] = branch(g, i, "b1", x, (struct gen_conv){in, w, 1, 1, 1.0});
    out[1] = branch(g, i, "b3_reduce", x, (struct gen_conv){in, w, 1, 1, 1.0});
    out[1] = branch(g, i, "b3", out[1], (struct gen_conv){w, w, 3, 1, 1.0});
    out[2] = branch(g, i, "b5_reduce", x, (struct gen_conv){in, w, 1, 1, 1.0});
    out[2] = branch(g, i, "b5", out[2], (struct gen_conv){w, w, 5, 1, 1.0});
    out[3] = gen_max_pool(g, "/pool/MaxPool", x, 1);
    out[3] = branch(g, i, "pool_proj", out[3], (struct gen_conv){in, w, 1, 1, 0.5});
    x = gen_node(g, "/Concat", 4, out);
    gen_attr_i(g, "axis", 1);
    gen_scope(g, NO_SCOPE);
    return x;
}

/* Adds a stem, blocks of four branches, with a pooling behind every third block while the picture is larger than 4
 * x 4, and a classifier. */
int gen_inception(struct gen *g, const struct gen_opt *o)
{
    int64_t channels = o->width, size = (o->size + 3) / 4; /* behind the stem */

    image_input(g, o);
    const char *x =
        gen_conv(g, "/stem", "stem", "input", (struct gen_conv){3, channels, 7, 2, 1.0});
    x = gen_op1(g, "/stem/Relu", x);
    x = gen_max_pool(g, "/stem/MaxPool", x, 2);
    for (int64_t i = 0; i < o->blocks; i++) {
        x = inception(g, i, x, channels, o->width);
        channels = 4 * o->width;
        if (i % 3 == 2 && i + 1 < o->blocks && size > 4) {
            x = gen_max_pool(g, gen_str(g, "/pool.%lld/MaxPool", (long long)i), x, 2);
            size = (size + 1) / 2;
        }
    }
    classify(g, x, channels, o->classes);
    return 0;
}

/* ---- dense ---- */

/* Adds layers of MatMul, Add and Relu, each `width` wide. */
int gen_dense(struct gen *g, const struct gen_opt *o)
{
    const struct gen_dim dims[2] = {{0, "batch"}, {o->width, NULL}};
    const int64_t square[2] = {o->width, o->width};
    const char *x = "input";

    gen_input(g, x, GEN_F32, 2, dims);
    for (int64_t i = 0; i < o->layers; i++) {
        const char *p = gen_str(g, "layers.%lld", (long long)i);
        const char *w = gen_weight(g, gen_str(g, "%s.weight", p), 2, square, 0.0, he_std(o->width));
        const char *b = gen_weight(g, gen_str(g, "%s.bias", p), 1, &o->width, 0.0, 0.02);
        gen_scope(g, gen_str(g, "/%s", p));
        x = gen_op2(g, "/MatMul", x, w);
        x = gen_op2(g, "/Add", x, b);
        x = gen_op1(g, "/Relu", x);
    }
    gen_scope(g, NO_SCOPE);
    gen_output(g, gen_rename(g, "output"), GEN_F32, 2, dims);
    return 0;
}

/* ---- star and ladder: exactly --nodes nodes, no weights ---- */

/* The shape of all values of star and ladder. */
static const struct gen_dim row[2] = {{0, "batch"}, {16, NULL}};

/* Adds a hub, a value that nodes - 1 rays read (at least one), and the rays, each of which is an output of the
 * model. */
int gen_star(struct gen *g, const struct gen_opt *o)
{
    static const char *const ops[] = {"Neg", "Abs", "Tanh", "Sigmoid", "Exp", "Softplus"};
    const char *hub;

    gen_input(g, "input", GEN_F32, 2, row);
    hub = gen_op1(g, "/hub/Tanh", "input");
    for (int64_t i = 0; i < o->nodes - 1; i++) {
        gen_op1(g, gen_str(g, "/ray.%lld/%s", (long long)i, ops[i % 6]), hub);
        gen_output(g, gen_rename(g, gen_str(g, "output.%lld", (long long)i)), GEN_F32, 2, row);
    }
    return 0;
}

/* Adds the steps of the ladder.  Each has three nodes, a Neg on both chains and an Add, in turn towards chain a and
 * chain b:
 *   even: (a, b) -> (b - a, -b)      odd: (a, b) -> (-a, -b - a)
 * Two steps are a linear map of order 6, so values neither grow nor vanish, however long the chains are.  If --nodes
 * is no multiple of three, the remaining nodes are Negs at the end of chain a. */
int gen_ladder(struct gen *g, const struct gen_opt *o)
{
    const char *a = "input_a", *b = "input_b";

    gen_input(g, a, GEN_F32, 2, row);
    gen_input(g, b, GEN_F32, 2, row);
    for (int64_t i = 0; i < o->nodes / 3; i++) {
        gen_scope(g, gen_str(g, "/step.%lld", (long long)i));
        const char *na = gen_op1(g, "/a/Neg", a), *nb = gen_op1(g, "/b/Neg", b);
        if (i % 2 == 0) {
            a = gen_op2(g, "/rung/Add", na, b);
            b = nb;
        } else {
            b = gen_op2(g, "/rung/Add", nb, na);
            a = na;
        }
    }
    gen_scope(g, "/tail");
    for (int64_t i = 0; i < o->nodes % 3; i++)
        a = gen_op1(g, gen_str(g, "/Neg_%lld", (long long)i), a);
    gen_output(g, a, GEN_F32, 2, row);
    gen_output(g, b, GEN_F32, 2, row);
    return 0;
}
