/* Shape inference: rules of the operators on images: resizing, cropping, regions, patches, grids.
 * The formulas are those of the operator documents of ONNX and of ONNX Runtime's domain com.microsoft.
 * O(operands * rank) for each node. */
#include "passes/shapes/infer.h"

#include <assert.h>
#include <string.h>

/* Writes the elements of constant v to out[max] and returns their number; -1: v is no constant of at most max f32, or
 * its file cannot be read (infer.unreadable). */
static int constant_floats(struct infer *f, vid v, float *out, int max)
{
    assert(v < f->m->nval && max > 0);
    const struct value *x = &f->m->value[v];
    tid t = v != 0 ? x->tensor : 0;
    if (v != 0 && t == 0 && x->def != 0 && node_is(f->m, x->def, "Constant")) {
        const struct attr *a = node_attr(f->m, x->def, "value");
        t = a != NULL && a->kind == ATTR_TENSOR ? a->u.t : 0;
    }
    if (t == 0 || f->m->tensor[t].elem != ELEM_F32)
        return -1;
    int64_t n = tensor_elems(f->m, t);
    if (n < 0 || n > max || !tensor_at_hand(f, t))
        return -1;
    f->unreadable = tensor_read(f->m, t, 0, out, (size_t)n * sizeof *out) != 0;
    return f->unreadable ? -1 : (int)n;
}

/* Returns the size d times scale, rounded down.  For a number it is the product of floats, as runtimes compute it;
 * for a name it is known only if scale is a whole number or 1/2, 1/4, ..., 1/64. */
static struct dim scale_dim(struct infer *f, struct dim d, float scale)
{
    float x = (float)d.value * scale;
    if (d.sym != 0 && scale >= 1.0f && scale < 1e6f && scale == (float)(int64_t)scale)
        return dim_mul(f->m, d, dim_num((int64_t)scale));
    for (int64_t part = 2; d.sym != 0 && part <= 64; part *= 2) {
        if (scale * (float)part == 1.0f)
            return dim_div(f->m, d, dim_num(part));
    }
    if (d.value < 0 || !(x >= 0.0f) || x > 1e15f)
        return dim_unknown();
    return dim_num((int64_t)x);
}

/* Multiplies the dimensions axis[0 .. k) of *s by one factor, and rounds to the nearest integer.  Each axis by
 * itself would need some factor to get its size in `size`; the common factor is the least of these factors if
 * `least` is set, else the largest.  If a size is not known, all these dimensions become unknown. */
static void keep_aspect(struct shape *s, const int64_t *axis, int k, const struct nums *size,
                        bool least)
{
    int64_t num = 0, den = 1;
    for (int i = 0; i < k; i++) {
        int64_t want = num_dim(size->at[i]).value, have = s->d[axis[i]].value;
        if (want < 0 || have < 1 || want > INT32_MAX || have > INT32_MAX) {
            num = -1;
            break;
        }
        /* whether want / have is less than num / den, without fractions */
        bool is_less = want * den < num * have;
        if (i == 0 || is_less == least) {
            num = want;
            den = have;
        }
    }
    for (int i = 0; i < k; i++) {
        struct dim *d = &s->d[axis[i]];
        *d = num >= 0 ? dim_num((2 * d->value * num + den) / (2 * den)) : dim_unknown();
    }
}

/* Rule for Resize, where operand 3 gives sizes or operand 2 gives scales.  arg 1: Upsample, whose scales are operand
 * 1 or an attribute. */
void rule_resize(struct infer *f, nid n, int arg)
{
    struct shape s;
    float scale[SHAPE_RANK];
    int64_t axes[SHAPE_RANK];
    shape_in(f, n, 0, &s);
    /* whether the operator has no operands roi and sizes yet */
    bool old = arg == 1 || f->opset < 11;
    const struct nums *size = old ? NULL : nums_of(f, node_in(f->m, n, 3));
    int nscale = constant_floats(f, node_in(f->m, n, old ? 1 : 2), scale, SHAPE_RANK);
    const struct attr *a = node_attr(f->m, n, "scales");
    if (a != NULL && a->kind == ATTR_FLOATS && a->u.list.n <= SHAPE_RANK) {
        nscale = (int)a->u.list.n;
        memcpy(scale, f->m->floats + a->u.list.at, a->u.list.n * sizeof scale[0]);
    }
    int k = attr_ints(f, n, "axes", axes, SHAPE_RANK);
    for (int i = 0; k < 0 && i < s.rank; i++)
        axes[i] = i;
    k = k < 0 ? s.rank : k;
    const char *policy = node_attr_str(f->m, n, "keep_aspect_ratio_policy", "stretch");
    bool sized = size != NULL && size->n == (uint32_t)k, stretch = strcmp(policy, "stretch") == 0;
    /* whether only a region (roi) of the image is resized: then the scales do not tell the size */
    bool crops = strcmp(node_attr_str(f->m, n, "coordinate_transformation_mode", ""),
                        "tf_crop_and_resize") == 0;
    for (int i = 0; i < k && s.rank >= 0; i++) {
        int axis = axis_of(axes[i], s.rank);
        axes[i] = axis;
        if (axis < 0)
            s.rank = -1;
        else if (sized && stretch)
            s.d[axis] = num_dim(size->at[i]);
        else if (!sized)
            s.d[axis] = size == NULL && nscale == k && !crops ? scale_dim(f, s.d[axis], scale[i])
                                                              : dim_unknown();
    }
    if (s.rank >= 0 && sized && !stretch)
        keep_aspect(&s, axes, k, size, strcmp(policy, "not_larger") == 0);
    shape_set(f, n, 0, &s);
}

/* Rule for DepthToSpace (arg 1), which turns channels into blocks of pixels, and SpaceToDepth (arg 0), the reverse. */
void rule_depth_space(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    struct dim b = dim_num(node_attr_int(f->m, n, "blocksize", -1)), bb = dim_mul(f->m, b, b);
    if (s.rank == 4) {
        s.d[1] = arg == 1 ? dim_div(f->m, s.d[1], bb) : dim_mul(f->m, s.d[1], bb);
        for (int i = 2; i < 4; i++)
            s.d[i] = arg == 1 ? dim_mul(f->m, s.d[i], b) : dim_div(f->m, s.d[i], b);
    } else {
        s.rank = -1;
    }
    shape_set(f, n, 0, &s);
}

/* --- regions --- */

/* Sets the shape of result 0 to (regions, channels, height, width).  Operand 0: the image; operand 1: the regions. */
static void set_regions(struct infer *f, nid n, struct dim height, struct dim width)
{
    struct shape in = operand_shape(f, n, 0), roi = operand_shape(f, n, 1), out = {.rank = 4};
    out.elem = in.elem;
    out.d[0] = shape_dim(&roi, 0);
    out.d[1] = shape_dim(&in, 1);
    out.d[2] = height;
    out.d[3] = width;
    shape_set(f, n, 0, &out);
}

/* Rule for RoiAlign, MaxRoiPool, CropAndResize: all regions become images of the same size.  arg: REGION_*, which
 * says where this size is given. */
void rule_regions(struct infer *f, nid n, int arg)
{
    int64_t size[2];
    if (arg == REGION_ALIGN) {
        set_regions(f, n, dim_num(node_attr_int(f->m, n, "output_height", 1)),
                    dim_num(node_attr_int(f->m, n, "output_width", 1)));
    } else if (arg == REGION_CROP) {
        set_regions(f, n, value_dim(f, n, 3, 0), value_dim(f, n, 3, 1));
    } else {
        bool known = attr_ints(f, n, "pooled_shape", size, 2) == 2;
        set_regions(f, n, dim_num(known ? size[0] : -1), dim_num(known ? size[1] : -1));
    }
}

/* Sets the results of TensorRT's EfficientNMS_TRT: result 0 has the number of boxes of each image, results 1 to 3
 * the boxes, their scores and their classes.  An attribute gives the largest number of boxes. */
static void set_best_boxes(struct infer *f, nid n)
{
    struct shape boxes = operand_shape(f, n, 0), s = {.elem = ELEM_I32, .rank = 2};
    s.d[0] = shape_dim(&boxes, 0);
    s.d[1] = dim_num(1);
    shape_set(f, n, 0, &s);
    s.d[1] = dim_num(node_attr_int(f->m, n, "max_output_boxes", -1));
    shape_set(f, n, 3, &s);
    s.elem = boxes.elem;
    shape_set(f, n, 2, &s);
    s.d[s.rank++] = dim_num(4);
    shape_set(f, n, 1, &s);
}

/* Rule for NonMaxSuppression: the result has the shape (boxes, 3); the number of boxes depends on the data.  arg:
 * one of NMS_*. */
void rule_nms(struct infer *f, nid n, int arg)
{
    struct shape s = {.elem = ELEM_I64, .rank = 2};
    if (arg == NMS_TENSORRT) {
        set_best_boxes(f, n);
        return;
    }
    s.d[0] = dim_unknown();
    s.d[1] = dim_num(3);
    shape_set(f, n, 0, &s);
}

/* Rule for TensorRT's PyramidROIAlign_TRT: each region in operand 0, of shape (batch, regions, 4), becomes an image of
 * one size.  The operands from 1 on are feature maps (batch, channels, ...); the images have as many channels. */
void rule_pyramid(struct infer *f, nid n, int arg)
{
    struct shape roi = operand_shape(f, n, 0), map = operand_shape(f, n, 1), out = {.rank = 5};
    (void)arg;
    out.elem = roi.elem;
    out.d[0] = shape_dim(&roi, 0);
    out.d[1] = shape_dim(&roi, 1);
    out.d[2] = shape_dim(&map, 1);
    out.d[3] = out.d[4] = dim_num(node_attr_int(f->m, n, "pooled_size", -1));
    shape_set(f, n, 0, &out);
}

/* Rule for Crop: attribute "border" gives the pixels to cut off at the left, top, right and bottom; attribute
 * "scale", if present, gives the height and width that remain. */
void rule_crop(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    int64_t border[4], size[2];
    (void)arg;
    bool sized = attr_ints(f, n, "scale", size, 2) == 2;
    bool known = attr_ints(f, n, "border", border, 4) == 4;
    for (int i = 0; i < 2 && s.rank == 4; i++) {
        struct num d = num_of_dim(s.d[2 + i]);
        /* the height (i = 0) loses top and bottom, border[1] and [3]; the width left and right, border[0] and [2] */
        if (known)
            d = num_sub(f, d, num_add(f, num_int(border[1 - i]), num_int(border[3 - i])));
        s.d[2 + i] = sized ? dim_num(size[i]) : known ? num_dim(d) : dim_unknown();
    }
    shape_set(f, n, 0, &s);
}

/* Rule for CenterCropPad: operand 1 gives the new sizes of the axes in attribute "axes" (all axes by default). */
void rule_center_crop_pad(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    int64_t axes[SHAPE_RANK];
    (void)arg;
    int k = attr_ints(f, n, "axes", axes, SHAPE_RANK);
    for (int i = 0; k < 0 && i < s.rank; i++)
        axes[i] = i;
    k = k < 0 ? s.rank : k;
    for (int i = 0; i < k && s.rank >= 0; i++) {
        int axis = axis_of(axes[i], s.rank);
        if (axis >= 0)
            s.d[axis] = value_dim(f, n, 1, (uint32_t)i);
        else
            s.rank = -1;
    }
    shape_set(f, n, 0, &s);
}

/* --- patches --- */

/* Rule for Col2Im: adds up overlapping blocks to an image (batch, channels, sizes in operand 1).  Operand 0 is (batch,
 * channels * elements of a block, blocks), operand 2 the shape of a block. */
void rule_col2im(struct infer *f, nid n, int arg)
{
    struct shape in, size, out;
    const struct nums *image = nums_of(f, node_in(f->m, n, 1)),
                      *block = nums_of(f, node_in(f->m, n, 2));
    (void)arg;
    shape_in(f, n, 0, &in);
    shape_in(f, n, 1, &size);
    out = shape_unknown(in.elem);
    int64_t k = image != NULL ? (int64_t)image->n : shape_dim(&size, 0).value;
    if (k >= 0 && k <= SHAPE_RANK - 2) {
        struct dim elems = block != NULL ? dim_num(1) : dim_unknown();
        for (uint32_t i = 0; block != NULL && i < block->n; i++)
            elems = dim_mul(f->m, elems, num_dim(block->at[i]));
        out.rank = (int)k + 2;
        out.d[0] = shape_dim(&in, 0);
        out.d[1] = dim_div(f->m, shape_dim(&in, 1), elems);
        for (int i = 0; i < (int)k; i++)
            out.d[2 + i] = value_dim(f, n, 1, (uint32_t)i);
    }
    shape_set(f, n, 0, &out);
}

/* Rule for UnfoldTensor of com.microsoft: takes windows along an axis; the elements of a window stand on a new last
 * axis. */
void rule_unfold(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    int64_t size = node_attr_int(f->m, n, "size", -1), step = node_attr_int(f->m, n, "step", 1);
    (void)arg;
    int axis = axis_of(node_attr_int(f->m, n, "dim", -1), s.rank);
    if (axis >= 0 && s.rank < SHAPE_RANK) {
        struct dim last_start = dim_sub(f->m, s.d[axis], dim_num(size));
        s.d[axis] = dim_shift(f->m, dim_div(f->m, last_start, dim_num(step)), 1);
        s.d[s.rank++] = dim_num(size);
    } else {
        s.rank = -1;
    }
    shape_set(f, n, 0, &s);
}

/* Rule for MaxUnpool: operand 2 gives the shape of the result.  Without it, the result has the shape from which a
 * pooling with these attributes would make the shape of operand 0. */
void rule_max_unpool(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    int64_t kernel[SHAPE_RANK], stride[SHAPE_RANK], pad[2 * SHAPE_RANK];
    (void)arg;
    int k = s.rank - 2;
    bool given = node_in(f->m, n, 2) != 0, strides, pads;
    bool known = k > 0 && attr_ints(f, n, "kernel_shape", kernel, SHAPE_RANK) == k;
    strides = attr_ints(f, n, "strides", stride, SHAPE_RANK) == k;
    pads = attr_ints(f, n, "pads", pad, 2 * SHAPE_RANK) == 2 * k;
    for (int i = 0; i < s.rank; i++) {
        if (given) {
            s.d[i] = value_dim(f, n, 2, (uint32_t)i);
        } else if (i >= 2) { /* (size - 1) * stride + kernel - pads */
            struct num d = num_of_dim(s.d[i]), by = num_int(strides ? stride[i - 2] : 1);
            d = num_mul(f, num_sub(f, d, num_int(1)), by);
            if (pads)
                d = num_sub(f, d, num_add(f, num_int(pad[i - 2]), num_int(pad[k + i - 2])));
            s.d[i] = known ? num_dim(num_add(f, d, num_int(kernel[i - 2]))) : dim_unknown();
        }
    }
    shape_set(f, n, 0, &s);
}

/* --- grids --- */

/* Rule for AffineGrid: the result has the shape (batch, height, width, 2) or (batch, depth, height, width, 3), for
 * images whose shape operand 1 lists. */
void rule_affine_grid(struct infer *f, nid n, int arg)
{
    struct shape size, out = {.rank = -1};
    (void)arg;
    out.elem = (uint8_t)elem_in(f, n, 0);
    shape_in(f, n, 1, &size);
    int64_t k = shape_dim(&size, 0).value;
    if (k == 4 || k == 5) {
        out.rank = (int)k;
        out.d[0] = value_dim(f, n, 1, 0);
        for (int i = 2; i < out.rank; i++)
            out.d[i - 1] = value_dim(f, n, 1, (uint32_t)i);
        out.d[out.rank - 1] = dim_num(k - 2);
    }
    shape_set(f, n, 0, &out);
}

/* Rule for GridSample: the result has the channels of the image in operand 0 at the points of the grid in operand 1,
 * whose shape is (batch, points..., coordinates). */
void rule_grid_sample(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), grid = operand_shape(f, n, 1), out = in;
    (void)arg;
    out.rank = in.rank >= 0 ? in.rank : grid.rank;
    for (int i = 0; i < out.rank; i++)
        out.d[i] = i < 2                   ? shape_dim(&in, i)
                   : grid.rank == out.rank ? grid.d[i - 1]
                                           : dim_unknown();
    shape_set(f, n, 0, &out);
}

/* Rule for ImageDecoder: the result has the shape (height, width, channels) and elements u8; only the number of
 * channels is known. */
void rule_image_decoder(struct infer *f, nid n, int arg)
{
    bool grey = strcmp(node_attr_str(f->m, n, "pixel_format", "RGB"), "Grayscale") == 0;
    struct shape s = {.elem = ELEM_U8, .rank = 3};
    (void)arg;
    s.d[0] = s.d[1] = dim_unknown();
    s.d[2] = dim_num(grey ? 1 : 3);
    shape_set(f, n, 0, &s);
}

/* Rule for operators of com.microsoft.nchwc, a layout of images for vector units.  arg 0: ReorderInput, which pads the
 * channels to a multiple of a block size, at most 16, that depends on the machine; 1: ReorderOutput, the reverse,
 * with an attribute for the number of channels; 2: Upsample.  Attribute channels_last: outside of this layout the
 * channels are the last axis. */
void rule_reorder(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), s = in;
    int64_t scale[SHAPE_RANK];
    bool last = node_attr_int(f->m, n, "channels_last", 0) != 0;
    if (arg == 2) {
        bool known = attr_ints(f, n, "scales", scale, SHAPE_RANK) == s.rank;
        for (int i = 0; i < s.rank; i++)
            s.d[i] = known ? dim_mul(f->m, s.d[i], dim_num(scale[i])) : dim_unknown();
    } else if (s.rank > 2) {
        int from = arg == 0 && last ? 1 : 2, to = arg == 1 && last ? 1 : 2;
        for (int i = 0; i < s.rank - 2; i++)
            s.d[to + i] = in.d[from + i];
        struct dim channels = arg == 1 ? dim_num(node_attr_int(f->m, n, "channels", -1))
                              : last   ? in.d[in.rank - 1]
                                       : in.d[1];
        if (arg == 0 && (channels.value < 0 || channels.value % 16 != 0))
            channels = dim_unknown();
        s.d[arg == 1 && last ? s.rank - 1 : 1] = channels;
    }
    shape_set(f, n, 0, &s);
}
