/* The model unet: a denoising network with a down path, an up path, skip connections and a time embedding (Ho et al.
 * 2020; Ronneberger et al. 2015).
 *
 *   level l has width * min(2^l, 4) channels at size / 2^l; attention at the lowest level only
 *   res(x, t) = skip(x) + conv(silu(norm(conv(silu(norm(x))) + linear(silu(t)))))
 *   up path:  x = res(concat(x, skip), t), where skip is a result of the down path at the same level
 *
 * Group norm is written as exporters do: Reshape to groups, InstanceNormalization, Reshape back to the shape before,
 * scale and shift per channel.  The batch is symbolic, height and width are numbers. */
#include "tools/gen/gen.h"

#include "ir/base/numbers.h"

#include <math.h>
#include <stdio.h>

enum {
    MAX_LEVELS = 8,     /* the largest --levels */
    MAX_BLOCKS = 64,    /* the largest --layers: residual blocks of a level */
    IMAGE_CHANNELS = 4, /* channels of the image that goes in and out */
    MAX_GROUPS = 32,    /* the most groups of a group norm */
    MAX_HALF = 65536    /* room for the frequencies of the time's embedding, half of --width */
};

/* A value [batch, channels, height, width] of the network. */
struct pic {
    const char *x;
    int64_t channels;
};

/* The network while it is built. */
struct unet {
    const struct gen_opt *o;
    int64_t time_width;  /* width of the time embedding */
    const char *time;    /* silu of the time embedding, [B, time_width] */
    const char *spatial; /* constant: axes 2 and 3 */
    /* results of the down path that the up path has still to read */
    struct pic skips[MAX_LEVELS * (MAX_BLOCKS + 1)];
    int nskips;
};

/* Returns the standard deviation of He-scaled weights for a layer with fan_in inputs, times gain. */
static double he_std(int64_t fan_in, double gain)
{
    return gain * sqrt(2.0 / (double)fan_in);
}

/* Adds a convolution; its parameters have the name of its node.  Returns the name of the result. */
static const char *conv(struct gen *g, const char *name, const char *x, struct gen_conv c)
{
    const int64_t kernel = c.kernel, stride = c.stride, p = kernel / 2;
    const int64_t dims[4] = {c.out, c.in, kernel, kernel};
    const double std = he_std(c.in * kernel * kernel, c.gain);
    const char *w = gen_weight(g, gen_str(g, "%s%s.weight", g->scope, name), 4, dims, 0.0, std);
    const char *b = gen_weight(g, gen_str(g, "%s%s.bias", g->scope, name), 1, &c.out, 0.0, 0.02);
    const char *y = gen_op3(g, gen_str(g, "%s/Conv", name), x, w, b);

    gen_attr_ints(g, "kernel_shape", 2, (const int64_t[]){kernel, kernel});
    gen_attr_ints(g, "pads", 4, (const int64_t[]){p, p, p, p});
    gen_attr_ints(g, "strides", 2, (const int64_t[]){stride, stride});
    return y;
}

/* Returns the number of groups for group norm.  Each group has at least two channels: at a single pixel, one channel
 * alone has no variance. */
static int64_t groups_of(int64_t channels)
{
    int64_t n = 1;

    while (n < MAX_GROUPS && channels % (4 * n) == 0)
        n *= 2;
    return n;
}

/* Adds a group norm of `in`.  Returns the name of the result. */
static const char *group_norm(struct gen *g, const char *name, struct pic in)
{
    const int64_t n = groups_of(in.channels), dims[3] = {in.channels, 1, 1};
    const char *param = gen_str(g, "%s%s", g->scope, name);
    const char *split = gen_ints(g, gen_str(g, "%s.groups", param), 3, (const int64_t[]){0, n, -1});
    const char *ones = gen_weight(g, gen_str(g, "%s.ones", param), 1, &n, 1.0, 0.0);
    const char *zeros = gen_weight(g, gen_str(g, "%s.zeros", param), 1, &n, 0.0, 0.0);
    const char *w = gen_weight(g, gen_str(g, "%s.weight", param), 3, dims, 1.0, 0.02);
    const char *b = gen_weight(g, gen_str(g, "%s.bias", param), 3, dims, 0.0, 0.02);
    const char *y = gen_op2(g, gen_str(g, "%s/Reshape", name), in.x, split);

    y = gen_op3(g, gen_str(g, "%s/InstanceNormalization", name), y, ones, zeros);
    gen_attr_f(g, "epsilon", 1e-5f);
    y = gen_op2(g, gen_str(g, "%s/Reshape_1", name), y,
                gen_op1(g, gen_str(g, "%s/Shape", name), in.x));
    y = gen_op2(g, gen_str(g, "%s/Mul", name), y, w);
    return gen_op2(g, gen_str(g, "%s/Add", name), y, b);
}

/* Adds a residual block on `in` with `out` channels: the function res(x, t) in the comment at the top of the file.
 * Returns the result. */
static struct pic res_block(struct gen *g, const struct unet *m, const char *scope, struct pic in,
                            int64_t out)
{
    struct pic p = in;
    const char *skip = in.x;

    gen_scope(g, scope);
    p.x = gen_silu(g, "/act1", group_norm(g, "/norm1", p));
    p = (struct pic){conv(g, "/conv1", p.x, (struct gen_conv){p.channels, out, 3, 1, 1.0}), out};
    const char *t =
        gen_linear(g, "/time", gen_str(g, "%s/time", scope), m->time,
                   (struct gen_linear){m->time_width, out, he_std(m->time_width, 1.0), true});
    p.x = gen_op2(g, "/Add", p.x, gen_op2(g, "/time/Unsqueeze", t, m->spatial));
    p.x = gen_silu(g, "/act2", group_norm(g, "/norm2", p));
    p.x = conv(g, "/conv2", p.x, (struct gen_conv){p.channels, out, 3, 1, 0.3});
    if (in.channels != out)
        skip = conv(g, "/skip", in.x, (struct gen_conv){in.channels, out, 1, 1, 0.7});
    p.x = gen_op2(g, "/Add_1", skip, p.x);
    gen_scope(g, NO_SCOPE);
    return p;
}

/* Adds attention between the pixels of `in`, which is `size` high and wide.  Returns the result. */
static struct pic pixel_attention(struct gen *g, const struct gen_heads *h, const char *scope,
                                  struct pic in, int64_t size)
{
    const int64_t back[4] = {0, in.channels, size, size}, perm[3] = {0, 2, 1};

    gen_scope(g, scope);
    const char *rows =
        gen_ints(g, gen_str(g, "%s.rows", scope), 3, (const int64_t[]){0, in.channels, -1});
    const char *picture = gen_ints(g, gen_str(g, "%s.picture", scope), 4, back);
    const char *y = gen_op2(g, "/Reshape", group_norm(g, "/norm", in), rows);
    y = gen_transpose(g, "/Transpose", y, 3, perm);
    y = gen_attention(g, "/attn", gen_str(g, "%s/attn", scope), h, y, NULL);
    y = gen_transpose(g, "/Transpose_1", y, 3, perm);
    y = gen_op2(g, "/Reshape_1", y, picture);
    in.x = gen_op2(g, "/Add", in.x, y);
    gen_scope(g, NO_SCOPE);
    return in;
}

/* Adds the embedding of the time and sets m->time: silu(linear(silu(linear(e)))), where e is cosine and sine of
 * timestep * frequency for each of several frequencies. */
static void time_embedding(struct gen *g, struct unet *m)
{
    const int64_t w = 2 * ((m->o->width + 1) / 2), half = w / 2; /* w: even, at least --width */
    float frequency[MAX_HALF];

    for (int64_t i = 0; i < half; i++)
        frequency[i] = (float)pow(10000.0, -(double)i / (double)half);
    const char *f = gen_floats(g, "const.frequency", (int)half, frequency);
    const char *last = gen_ints(g, "const.last_axis", 1, (const int64_t[]){-1});
    gen_scope(g, "/time");
    const char *t = gen_op1(g, "/Cast", "timestep");
    gen_attr_i(g, "to", GEN_F32);
    t = gen_op2(g, "/Mul", gen_op2(g, "/Unsqueeze", t, last), f);
    const char *c = gen_op1(g, "/Cos", t);
    t = gen_op1(g, "/Sin", t);
    t = gen_concat(g, "/Concat", /*axis=*/-1, 2, (const char *const[]){c, t});
    t = gen_linear(g, "/fc1", "time.fc1", t,
                   (struct gen_linear){w, m->time_width, he_std(w, 1.0), true});
    t = gen_silu(g, "/act", t);
    t = gen_linear(
        g, "/fc2", "time.fc2", t,
        (struct gen_linear){m->time_width, m->time_width, he_std(m->time_width, 1.0), true});
    m->time = gen_silu(g, "/act2", t);
    gen_scope(g, NO_SCOPE);
}

/* Returns the number of channels at a level: --width at level 0, twice as many at each next one up to level 2. */
static int64_t channels_of(const struct unet *m, int64_t level)
{
    return m->o->width << smaller(level, 2);
}

/* Adds the down path behind p and keeps its results in m->skips.  Returns its last result. */
static struct pic down_path(struct gen *g, struct unet *m, const struct gen_heads *h, struct pic p)
{
    const int64_t levels = m->o->levels;

    m->skips[m->nskips++] = p;
    for (int64_t l = 0; l < levels; l++) {
        for (int64_t i = 0; i < m->o->layers; i++) {
            const char *scope = gen_str(g, "/down.%lld/res.%lld", (long long)l, (long long)i);
            p = res_block(g, m, scope, p, channels_of(m, l));
            if (l == levels - 1)
                p = pixel_attention(g, h, gen_str(g, "%s.attention", scope), p, m->o->size >> l);
            m->skips[m->nskips++] = p;
        }
        if (l < levels - 1) {
            gen_scope(g, gen_str(g, "/down.%lld", (long long)l));
            p.x = conv(g, "/shrink", p.x, (struct gen_conv){p.channels, p.channels, 3, 2, 0.7});
            gen_scope(g, NO_SCOPE);
            m->skips[m->nskips++] = p;
        }
    }
    return p;
}

/* Adds the up path behind p, which takes the results in m->skips, the last one first.  Returns the result. */
static struct pic up_path(struct gen *g, struct unet *m, const struct gen_heads *h, struct pic p)
{
    const char *scales = NULL;

    if (m->o->levels > 1)
        scales = gen_floats(g, "const.scales", 4, (const float[]){1, 1, 2, 2});
    for (int64_t l = m->o->levels - 1; l >= 0; l--) {
        const char *up = gen_str(g, "/up.%lld", (long long)l);
        for (int64_t i = 0; i <= m->o->layers; i++) {
            const struct pic s = m->skips[--m->nskips];
            const char *scope = gen_str(g, "%s/res.%lld", up, (long long)i);
            p.x = gen_concat(g, gen_str(g, "%s/Concat", scope), /*axis=*/1, 2,
                             (const char *const[]){p.x, s.x});
            p.channels += s.channels;
            p = res_block(g, m, scope, p, channels_of(m, l));
            if (l == m->o->levels - 1)
                p = pixel_attention(g, h, gen_str(g, "%s.attention", scope), p, m->o->size >> l);
        }
        if (l > 0) {
            gen_scope(g, up);
            p.x = gen_op3(g, "/grow/Resize", p.x, "", scales);
            gen_attr_s(g, "mode", "nearest");
            gen_attr_s(g, "nearest_mode", "floor");
            gen_attr_s(g, "coordinate_transformation_mode", "asymmetric");
            p.x = conv(g, "/grow", p.x, (struct gen_conv){p.channels, p.channels, 3, 1, 0.7});
            gen_scope(g, NO_SCOPE);
        }
    }
    return p;
}

/* Checks that --heads divides --width, and that --size can be halved for each level.  Returns 0; or prints an error
 * and returns -1. */
static int check(const struct gen_opt *o)
{
    if (gen_check_heads(o, HEADS_WHOLE) != 0)
        return -1;
    if (o->size % (1 << (o->levels - 1)) == 0)
        return 0;
    fprintf(stderr, "pcc-gen: --size %lld cannot be halved %lld times\n", (long long)o->size,
            (long long)o->levels - 1);
    return -1;
}

int gen_unet(struct gen *g, const struct gen_opt *o)
{
    const struct gen_dim dims[4] = {
        {0, "batch"}, {IMAGE_CHANNELS, NULL}, {o->size, NULL}, {o->size, NULL}};
    struct unet m = {.o = o, .time_width = 4 * o->width};

    if (check(o) != 0)
        return -1;
    const int64_t lowest = channels_of(&m, o->levels - 1);
    gen_input(g, "sample", GEN_F32, 4, dims);
    gen_input(g, "timestep", GEN_I64, 1, dims);
    const struct gen_heads h = gen_heads(g, o->heads, lowest / o->heads);
    m.spatial = gen_ints(g, "const.spatial", 2, (const int64_t[]){2, 3});
    time_embedding(g, &m);
    struct pic p = {"sample", IMAGE_CHANNELS};
    p = (struct pic){conv(g, "/conv_in", p.x, (struct gen_conv){p.channels, o->width, 3, 1, 1.0}),
                     o->width};
    p = down_path(g, &m, &h, p);
    p = res_block(g, &m, "/mid/res.0", p, lowest);
    p = pixel_attention(g, &h, "/mid/attention", p, o->size >> (o->levels - 1));
    p = res_block(g, &m, "/mid/res.1", p, lowest);
    p = up_path(g, &m, &h, p);
    p.x = gen_silu(g, "/act_out", group_norm(g, "/norm_out", p));
    conv(g, "/conv_out", p.x, (struct gen_conv){p.channels, IMAGE_CHANNELS, 3, 1, 1.0});
    gen_output(g, gen_rename(g, "output"), GEN_F32, 4, dims);
    return 0;
}
