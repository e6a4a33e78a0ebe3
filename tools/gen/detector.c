/* The model detector: finds objects in one image (Liu et al. 2016; Lin et al. 2017; He et al. 2017).
 *
 *   backbone: residual blocks; level l has width * min(2^l, 4) channels at size / (4 * 2^l)
 *   pyramid:  p_l = conv3(lateral_l + enlarged p_{l+1}), `width` channels each
 *   heads:    on every level ANCHORS boxes per position, a score of each class for every box
 *   found:    for each class the boxes with a good score that do not overlap better boxes (NonMaxSuppression);
 *             then the `boxes` best of all classes, with empty boxes if there are fewer
 *   masks:    RoiAlign of each box on the level that fits its size, convolutions
 *
 * Few nodes take nearly all the time; most nodes are in the branches of the classes, which read all scores and boxes
 * and meet in one Concat, as exporters unroll loops over classes.  Nodes: 5 per block, 28 per level, 18 per class,
 * 54 others. */
#include "tools/gen/gen.h"

#include "ir/base/numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ANCHORS = 3,    /* number of boxes at each position */
    MAX_LEVELS = 8, /* the largest --levels */
    CROP = 7,       /* height and width of a mask */
    DEEPEST = 2,    /* from this level on, levels have equally many channels */
    COORDS = 4      /* numbers that describe a box */
};

/* Options, and values that all parts of the model share. */
struct detector {
    const struct gen_opt *o;
    int64_t positions;                     /* number of boxes on all levels */
    const char *axis0, *axis1, *axis2;     /* constants: lists of one axis: 0, 1, 2 */
    const char *zero, *two;                /* constants: scalars 0 and 2 */
    const char *scales;                    /* operand of Resize: doubles height and width */
    const char *near_end, *far_end, *flat; /* constants: lists of one number: 2, 4, -1 */
    /* iou, threshold: limits of NonMaxSuppression for overlap and score; most: list with the number of boxes that are
     * returned; nothing: 0; half: 0.5 */
    const char *iou, *threshold, *most, *nothing, *half;
    /* [level] its features: of backbone(), later of pyramid(); level 0 is the finest */
    const char *level[MAX_LEVELS];
};

/* Returns the number of channels of the backbone at a level. */
static int64_t channels_of(const struct detector *m, int64_t level)
{
    return m->o->width << smaller(level, DEEPEST);
}

/* Adds the constants of m. */
static void constants(struct gen *g, struct detector *m)
{
    const int64_t n[] = {0, 1, 2, 4, -1};

    m->axis0 = gen_ints(g, "const.axis0", 1, n);
    m->axis1 = gen_ints(g, "const.axis1", 1, n + 1);
    m->axis2 = gen_ints(g, "const.axis2", 1, n + 2);
    m->zero = gen_int(g, "const.zero", n[0]);
    m->two = gen_int(g, "const.two", n[2]);
    m->near_end = m->axis2;
    m->far_end = gen_ints(g, "const.four", 1, n + 3);
    m->flat = gen_ints(g, "const.flat", 1, n + 4);
    m->nothing = gen_float(g, "const.nothing", 0.0f);
    m->half = gen_float(g, "const.half", 0.5f);
    m->iou = gen_float(g, "const.iou", 0.5f);
    m->threshold = gen_float(g, "const.threshold", 0.3f);
    m->most = gen_ints(g, "const.most", 1, &m->o->boxes);
    if (m->o->levels > 1)
        m->scales = gen_floats(g, "const.scales", 4, (const float[]){1, 1, 2, 2});
}

/* Adds a convolution; its parameters have the name of its node.  Returns the name of the result. */
static const char *conv(struct gen *g, const char *path, const char *x, struct gen_conv c)
{
    return gen_conv(g, path, gen_str(g, "%s%s", g->scope, path), x, c);
}

/* ---- features -------------------------------------------------------------------------------- */

/* Adds a residual block on x, from `in` to `out` channels, in the current scope.  Returns the name of the result. */
static const char *block(struct gen *g, const char *x, int64_t in, int64_t out, int64_t stride)
{
    const char *y = conv(g, "/conv1", x, (struct gen_conv){in, out, 3, stride, 1.0});

    y = gen_op1(g, "/Relu", y);
    y = conv(g, "/conv2", y, (struct gen_conv){out, out, 3, 1, 0.3});
    if (in != out || stride != 1)
        x = conv(g, "/skip", x, (struct gen_conv){in, out, 1, stride, 0.7});
    return gen_op1(g, "/Relu_1", gen_op2(g, "/Add", y, x));
}

/* Adds the backbone on the input "image"; makes m->level. */
static void backbone(struct gen *g, struct detector *m)
{
    int64_t in = m->o->width;
    const char *x = conv(g, "/stem", "image", (struct gen_conv){3, in, 7, 2, 1.0});

    x = gen_max_pool(g, "/stem/MaxPool", gen_op1(g, "/stem/Relu", x), 2);
    for (int64_t l = 0; l < m->o->levels; l++) {
        for (int64_t i = 0; i < m->o->layers; i++) {
            gen_scope(g, gen_str(g, "/backbone.%lld.%lld", (long long)l, (long long)i));
            x = block(g, x, in, channels_of(m, l), l > 0 && i == 0 ? 2 : 1);
            in = channels_of(m, l);
        }
        m->level[l] = x;
    }
    gen_scope(g, NO_SCOPE);
}

/* Adds the feature pyramid; replaces m->level by its results. */
static void pyramid(struct gen *g, struct detector *m)
{
    const char *above = NULL;

    for (int64_t l = m->o->levels - 1; l >= 0; l--) {
        gen_scope(g, gen_str(g, "/pyramid.%lld", (long long)l));
        const char *x = conv(g, "/lateral", m->level[l],
                             (struct gen_conv){channels_of(m, l), m->o->width, 1, 1, 0.7});
        if (above) {
            above = gen_op3(g, "/Resize", above, "", m->scales);
            gen_attr_s(g, "mode", "nearest");
            gen_attr_s(g, "nearest_mode", "floor");
            gen_attr_s(g, "coordinate_transformation_mode", "asymmetric");
            x = gen_op2(g, "/Add", x, above);
        }
        above = x;
        m->level[l] = conv(g, "/out", x, (struct gen_conv){m->o->width, m->o->width, 3, 1, 0.7});
    }
    gen_scope(g, NO_SCOPE);
}

/* ---- heads ----------------------------------------------------------------------------------- */

/* Adds a head on the features x of one level, which gives `each` numbers per box, as [1, boxes, each]: nine nodes.
 * Returns the name of the result. */
static const char *level_head(struct gen *g, const struct detector *m, const char *path,
                              const char *x, int64_t each)
{
    const int64_t w = m->o->width, n[2] = {-1, each};
    const char *tail = gen_ints(g, gen_str(g, "%s%s.tail", g->scope, path), 2, n);
    const char *size[2];

    x = conv(g, gen_str(g, "%s/in", path), x, (struct gen_conv){w, w, 3, 1, 1.0});
    x = gen_op1(g, gen_str(g, "%s/Relu", path), x);
    x = conv(g, gen_str(g, "%s/out", path), x, (struct gen_conv){w, ANCHORS * each, 3, 1, 0.5});
    x = gen_transpose(g, gen_str(g, "%s/Transpose", path), x, 4, (const int64_t[]){0, 2, 3, 1});
    const char *s = gen_op1(g, gen_str(g, "%s/Shape", path), x);
    s = gen_op2(g, gen_str(g, "%s/Gather", path), s, m->zero);
    size[0] = gen_op2(g, gen_str(g, "%s/Unsqueeze", path), s, m->axis0);
    size[1] = tail;
    s = gen_concat(g, gen_str(g, "%s/Concat", path), /*axis=*/0, 2, size);
    return gen_op2(g, gen_str(g, "%s/Reshape", path), x, s);
}

/* Adds the Slice of coordinate i of all boxes x, [1, positions, 1].  Returns the name of the result. */
static const char *coordinate(struct gen *g, const struct detector *m, const char *x, int i)
{
    const int64_t n[2] = {i, i + 1};
    const char *from = gen_ints(g, gen_str(g, "boxes.from.%d", i), 1, n);
    const char *to = gen_ints(g, gen_str(g, "boxes.to.%d", i), 1, n + 1);
    const char *const in[4] = {x, from, to, m->axis2};

    return gen_node(g, gen_str(g, "/boxes/Slice_%d", i), 4, in);
}

/* Adds 19 nodes that turn x, the box heads' results, into corners of boxes in pixels.  x gives each box relative to its
 * anchor, a box with random centre (`at`) and size (`by`): a shift of the centre and a logarithm of the size, for each
 * of the two directions.  Tanh keeps boxes at most e times as large as their anchors.  Returns the name of the
 * result. */
static const char *decode(struct gen *g, const struct detector *m, const char *x)
{
    const int64_t dims[3] = {1, m->positions, 1};
    const double size = (double)m->o->size;
    const char *largest = gen_float(g, "boxes.largest", (float)size);
    const char *centre[2], *extent[2], *corner[4];

    for (int i = 0; i < 2; i++) {
        const char *at = gen_weight(g, gen_str(g, "anchors.at.%d", i), 3, dims, size / 2, size / 5);
        const char *by =
            gen_weight(g, gen_str(g, "anchors.by.%d", i), 3, dims, size / 4, size / 20);
        const char *y = gen_op2(g, gen_str(g, "/boxes/Mul_%d", i), coordinate(g, m, x, i), by);
        centre[i] = gen_op2(g, gen_str(g, "/boxes/Add_%d", i), y, at);
        y = gen_op1(g, gen_str(g, "/boxes/Tanh_%d", i), coordinate(g, m, x, i + 2));
        y = gen_op1(g, gen_str(g, "/boxes/Exp_%d", i), y);
        y = gen_op2(g, gen_str(g, "/boxes/Mul_%d", i + 2), y, by);
        extent[i] = gen_op2(g, gen_str(g, "/boxes/Mul_%d", i + 4), y, m->half);
        corner[i] = gen_op2(g, gen_str(g, "/boxes/Sub_%d", i), centre[i], extent[i]);
        corner[i + 2] = gen_op2(g, gen_str(g, "/boxes/Add_%d", i + 2), centre[i], extent[i]);
    }
    const char *y = gen_concat(g, "/boxes/Concat", /*axis=*/2, COORDS, corner);
    return gen_op3(g, "/boxes/Clip", y, m->nothing, largest);
}

/* Adds the heads of all levels.  Sets *boxes and *scores to the names of their results, [1, positions, 4] and [1,
 * classes, positions]. */
static void all_heads(struct gen *g, const struct detector *m, const char **boxes,
                      const char **scores)
{
    const char *b[MAX_LEVELS], *s[MAX_LEVELS];

    for (int64_t l = 0; l < m->o->levels; l++) {
        gen_scope(g, gen_str(g, "/heads.%lld", (long long)l));
        b[l] = level_head(g, m, "/box", m->level[l], COORDS);
        s[l] = level_head(g, m, "/class", m->level[l], m->o->classes);
    }
    gen_scope(g, NO_SCOPE);
    *boxes = decode(g, m, gen_concat(g, "/boxes/Concat_1", /*axis=*/1, (int)m->o->levels, b));
    const char *x = gen_concat(g, "/scores/Concat", /*axis=*/1, (int)m->o->levels, s);
    x = gen_op1(g, "/scores/Sigmoid", x);
    *scores = gen_transpose(g, "/scores/Transpose", x, 3, (const int64_t[]){0, 2, 1});
}

/* ---- objects that are found ------------------------------------------------------------------ */

/* The objects that are found, as names of values: [class] what the branch of the class makes; [number of classes]
 * the values for empty boxes. */
struct found {
    const char **boxes, **scores, **labels;
};

/* Returns an array for struct found, which the caller frees; NULL: no memory. */
static const char **entries(const struct detector *m)
{
    return malloc(((size_t)m->o->classes + 1) * sizeof(const char *));
}

/* Adds three nodes that give height and width, [n, 2], of boxes x, [n, 4], which have the near corner first.  Returns
 * the name of the result. */
static const char *extent(struct gen *g, const struct detector *m, const char *path, const char *x)
{
    const char *const far[4] = {x, m->near_end, m->far_end, m->axis1};
    const char *const near[4] = {x, m->axis0, m->near_end, m->axis1};
    const char *a = gen_node(g, gen_str(g, "%s/Slice", path), 4, far);
    const char *b = gen_node(g, gen_str(g, "%s/Slice_1", path), 4, near);

    return gen_op2(g, gen_str(g, "%s/Sub", path), a, b);
}

/* Adds the branch of class c: 18 nodes that find the objects of the class, and sets the names of their boxes,
 * scores and labels in *f.  Empty boxes get the score 0. */
static void find_class(struct gen *g, const struct detector *m, int64_t c, const char *boxes,
                       const char *scores, struct found *f)
{
    const int64_t ends[2] = {c, c + 1};
    gen_scope(g, gen_str(g, "/class.%lld", (long long)c));
    const char *from = gen_ints(g, gen_str(g, "%s.from", g->scope), 1, ends);
    const char *to = gen_ints(g, gen_str(g, "%s.to", g->scope), 1, ends + 1);
    const char *label = gen_int(g, gen_str(g, "%s.label", g->scope), c);
    const char *const slice[4] = {scores, from, to, m->axis1};
    const char *s = gen_node(g, "/Slice", 4, slice);
    const char *const nms[5] = {boxes, s, m->most, m->iou, m->threshold};
    const char *at = gen_node(g, "/NonMaxSuppression", 5, nms);

    /* the third number of a row of NonMaxSuppression is the index of a box */
    at = gen_op2(g, "/Gather", at, m->two);
    gen_attr_i(g, "axis", 1);
    const char *b = gen_op2(g, "/boxes/Squeeze", boxes, m->axis0);
    b = f->boxes[c] = gen_op2(g, "/boxes/Gather", b, at);
    /* 1 for boxes with an area, else 0 */
    const char *full =
        gen_reduce(g, "/boxes/ReduceMin", extent(g, m, "/boxes", b), m->axis1, DROP_AXES);
    full = gen_op2(g, "/boxes/Greater", full, m->nothing);
    full = gen_op1(g, "/boxes/Cast", full);
    gen_attr_i(g, "to", GEN_F32);
    s = gen_op2(g, "/scores/Reshape", s, m->flat);
    s = gen_op2(g, "/scores/Gather", s, at);
    s = f->scores[c] = gen_op2(g, "/scores/Mul", s, full);
    /* the label, as often as there are boxes */
    const char *n = gen_op1(g, "/labels/Shape", s);
    n = gen_op2(g, "/labels/Gather", n, m->zero);
    n = gen_op2(g, "/labels/Unsqueeze", n, m->axis0);
    f->labels[c] = gen_op2(g, "/labels/Expand", label, n);
    gen_scope(g, NO_SCOPE);
}

/* Renames the first result of the last node to `name` and makes it a model output with this type and shape.  Returns
 * the new name. */
static const char *add_output(struct gen *g, const char *name, int type, int rank,
                              const int64_t size[])
{
    struct gen_dim dims[4];

    for (int i = 0; i < rank; i++)
        dims[i] = (struct gen_dim){size[i], NULL};
    name = gen_rename(g, name);
    gen_output(g, name, type, rank, dims);
    return name;
}

/* Adds nine nodes that choose the best objects of all classes, with empty boxes if there are too few, and the outputs
 * boxes, scores and labels.  Returns the boxes. */
static const char *choose(struct gen *g, const struct detector *m, struct found *f)
{
    const int64_t k = m->o->boxes, dims[2] = {k, COORDS}, c = m->o->classes;
    const int n = (int)c + 1;
    const char *shape = gen_ints(g, "found.shape", 2, dims);

    /* empty boxes, enough to fill the outputs */
    f->boxes[c] = gen_op1(g, "/found/boxes/ConstantOfShape", shape);
    f->scores[c] = gen_op1(g, "/found/scores/ConstantOfShape", m->most);
    f->labels[c] = gen_op1(g, "/found/labels/Cast", f->scores[c]);
    gen_attr_i(g, "to", GEN_I64);
    const char *boxes = gen_concat(g, "/found/boxes/Concat", /*axis=*/0, n, f->boxes);
    const char *labels = gen_concat(g, "/found/labels/Concat", /*axis=*/0, n, f->labels);
    gen_op2(g, "/found/TopK", gen_concat(g, "/found/scores/Concat", /*axis=*/0, n, f->scores),
            m->most);
    const char *at = gen_more(g);
    add_output(g, "scores", GEN_F32, 1, &k);
    gen_op2(g, "/found/labels/Gather", labels, at);
    add_output(g, "labels", GEN_I64, 1, &k);
    gen_op2(g, "/found/boxes/Gather", boxes, at);
    return add_output(g, "boxes", GEN_F32, 2, dims);
}

/* Adds 11 nodes that give the level of each box, int64: log2 of the side of a square with the box's area, in units of
 * 1/16 of the image's height, rounded down and limited to the levels that there are.  Returns the name of the
 * result. */
static const char *level_of(struct gen *g, const struct detector *m, const char *boxes)
{
    const char *finest = gen_float(g, "masks.finest", (float)m->o->size / 16);
    const char *doubled = gen_float(g, "masks.doubled", 0.6931472f); /* log 2 */
    const char *last = gen_float(g, "masks.last", (float)(m->o->levels - 1));
    const char *y =
        gen_reduce(g, "/masks/ReduceProd", extent(g, m, "/masks", boxes), m->axis1, DROP_AXES);

    y = gen_op1(g, "/masks/Sqrt", y);
    y = gen_op2(g, "/masks/Div", y, finest);
    y = gen_op1(g, "/masks/Log", gen_op2(g, "/masks/Max", y, m->half));
    y = gen_op2(g, "/masks/Div_1", y, doubled);
    y = gen_op3(g, "/masks/Clip", y, m->nothing, last);
    y = gen_op1(g, "/masks/Cast", y);
    gen_attr_i(g, "to", GEN_I64);
    return y;
}

/* Adds the features inside each box, from the level of the box: two nodes and those of level_of(), and five for each
 * level, which crop all boxes from the level and set the crops of boxes of other levels to 0.  Returns the name of the
 * result. */
static const char *crop(struct gen *g, const struct detector *m, const char *boxes)
{
    const char *level = level_of(g, m, boxes), *crops[MAX_LEVELS];
    /* zeros, one for each box: all boxes are in image 0 */
    const char *image = gen_op2(g, "/masks/Sub_1", level, level);
    const char *axes = gen_ints(g, "masks.axes", 3, (const int64_t[]){1, 2, 3});

    for (int64_t l = 0; l < m->o->levels; l++) {
        gen_scope(g, gen_str(g, "/masks.%lld", (long long)l));
        const char *number = gen_int(g, gen_str(g, "masks.level.%lld", (long long)l), l);
        const char *here = gen_op1(g, "/Cast", gen_op2(g, "/Equal", level, number));
        gen_attr_i(g, "to", GEN_F32);
        here = gen_op2(g, "/Unsqueeze", here, axes);
        const char *x = gen_op3(g, "/RoiAlign", m->level[l], boxes, image);
        gen_attr_i(g, "output_height", CROP);
        gen_attr_i(g, "output_width", CROP);
        gen_attr_i(g, "sampling_ratio", 2);
        gen_attr_f(g, "spatial_scale", 1.0f / (float)(4 << l));
        crops[l] = gen_op2(g, "/Mul", x, here);
    }
    gen_scope(g, NO_SCOPE);
    return gen_node(g, "/masks/Sum", (int)m->o->levels, crops);
}

/* Adds a mask for each box, with the output masks: six nodes and those of crop(). */
static void add_masks(struct gen *g, const struct detector *m, const char *boxes)
{
    const int64_t w = m->o->width, dims[4] = {m->o->boxes, 1, CROP, CROP};
    const char *x = crop(g, m, boxes);

    for (int i = 0; i < 2; i++) {
        const char *path = gen_str(g, "/masks/conv%d", i);
        x = conv(g, path, x, (struct gen_conv){w, w, 3, 1, 1.0});
        x = gen_op1(g, gen_str(g, "%s/Relu", path), x);
    }
    x = conv(g, "/masks/out", x, (struct gen_conv){w, 1, 1, 1, 1.0});
    gen_op1(g, "/masks/Sigmoid", x);
    add_output(g, "masks", GEN_F32, 4, dims);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Checks that --size can be divided for all levels.  Returns 0; or prints an error and returns -1. */
static int check(const struct gen_opt *o)
{
    if (o->size % (4 << (o->levels - 1)) == 0)
        return 0;
    fprintf(stderr, "pcc-gen: --size %lld is not a multiple of %d, which --levels %lld ask for\n",
            (long long)o->size, 4 << (o->levels - 1), (long long)o->levels);
    return -1;
}

/* Returns the number of boxes on all levels: ANCHORS at each position. */
static int64_t positions_of(const struct gen_opt *o)
{
    int64_t sum = 0;

    for (int64_t l = 0; l < o->levels; l++)
        sum += ANCHORS * (o->size / (4 << l)) * (o->size / (4 << l));
    return sum;
}

int gen_detector(struct gen *g, const struct gen_opt *o)
{
    struct detector m = {.o = o, .positions = positions_of(o)};
    const char *boxes, *scores;

    if (check(o) != 0)
        return -1;
    struct found f = {entries(&m), entries(&m), entries(&m)};
    if (!f.boxes || !f.scores || !f.labels)
        gen_no_memory();
    gen_input(g, "image", GEN_F32, 4,
              (const struct gen_dim[]){{1, NULL}, {3, NULL}, {o->size, NULL}, {o->size, NULL}});
    constants(g, &m);
    backbone(g, &m);
    pyramid(g, &m);
    all_heads(g, &m, &boxes, &scores);
    for (int64_t c = 0; c < o->classes; c++)
        find_class(g, &m, c, boxes, scores, &f);
    add_masks(g, &m, choose(g, &m, &f));
    free(f.boxes);
    free(f.scores);
    free(f.labels);
    return 0;
}
