/* Shape inference: rules of operators on signals (Fourier transforms, windows, mel filters).
 * The transform of a real signal of n points has n / 2 + 1 different points; a one-sided transform returns only these.
 * The formulas are those of the operator documents of ONNX and of ONNX Runtime.  O(rank) for each node. */
#include "passes/shapes/infer.h"

/* Returns the number of points of the one-sided transform of d points: d / 2 + 1. */
static struct dim one_side(struct infer *f, struct dim d)
{
    return dim_shift(f->m, dim_div(f->m, d, dim_num(2)), 1);
}

/* Rule for DFT, or its inverse, along one axis.  Operand 1, if present, gives the number of points; the axis is an
 * attribute before opset 20 and operand 2 from then on.  The last axis of the result has the parts of a number: two,
 * real and imaginary, or one. */
void rule_dft(struct infer *f, nid n, int arg)
{
    struct shape s;
    /* from opset 20 on the default is -2, the last axis but one; operand 2 may name another */
    int64_t at = f->opset < 20 ? node_attr_int(f->m, n, "axis", 1) : -2;
    bool onesided = node_attr_int(f->m, n, "onesided", 0) != 0,
         inverse = node_attr_int(f->m, n, "inverse", 0) != 0;
    (void)arg;
    shape_in(f, n, 0, &s);
    bool known =
        f->opset < 20 || node_in(f->m, n, 2) == 0 || ints_of(f, node_in(f->m, n, 2), &at, 1) == 1;
    int axis = axis_of(at, s.rank);
    if (known && axis < 0) {
        s.rank = -1;
    } else if (!known && !onesided && node_in(f->m, n, 1) == 0) {
        known = true; /* the axis is not known, but no axis would change its size */
    } else if (!known) {
        for (int i = 0; i < s.rank - 1; i++)
            s.d[i] = dim_unknown();
    } else {
        if (node_in(f->m, n, 1) != 0)
            s.d[axis] = value_dim(f, n, 1, 0);
        else if (onesided && inverse) /* operand 1 must give an odd length */
            s.d[axis] = dim_shift(f->m, dim_mul(f->m, s.d[axis], dim_num(2)), -2);
        if (onesided && !inverse)
            s.d[axis] = one_side(f, s.d[axis]);
    }
    if (s.rank > 1)
        s.d[s.rank - 1] = dim_num(onesided && inverse ? 1 : 2);
    shape_set(f, n, 0, &s);
}

/* Rule for STFT: turns (batch, samples, 1 or 2) into (batch, frames, points, 2), with a frame every `operand 1`
 * samples.  A frame is as long as operand 3 says, or as the window in operand 2. */
void rule_stft(struct infer *f, nid n, int arg)
{
    struct shape in = operand_shape(f, n, 0), window, out = {.rank = 4};
    (void)arg;
    out.elem = in.elem;
    struct dim length = dim_unknown(), step = value_dim(f, n, 1, 0), samples = shape_dim(&in, 1);
    if (node_in(f->m, n, 3) != 0)
        length = value_dim(f, n, 3, 0);
    else if (shape_in(f, n, 2, &window) && window.rank == 1)
        length = window.d[0];
    struct dim last_start = dim_sub(f->m, samples, length);
    out.d[0] = shape_dim(&in, 0);
    out.d[1] = dim_shift(f->m, dim_div(f->m, last_start, step), 1);
    out.d[2] = node_attr_int(f->m, n, "onesided", 1) != 0 ? one_side(f, length) : length;
    out.d[3] = dim_num(2);
    shape_set(f, n, 0, &out);
}

/* Returns the element type in attribute output_datatype, f32 by default; ELEM_NONE: no element type. */
static enum elem output_datatype(const struct infer *f, nid n)
{
    int64_t e = node_attr_int(f->m, n, "output_datatype", ELEM_F32);
    return e > 0 && e < ELEM_COUNT ? (enum elem)e : ELEM_NONE;
}

/* Rule for BlackmanWindow, HammingWindow and HannWindow: the result is a vector whose length is the element of
 * operand 0. */
void rule_window(struct infer *f, nid n, int arg)
{
    (void)arg;
    struct shape s = shape_vector(output_datatype(f, n), value_dim(f, n, 0, 0));
    shape_set(f, n, 0, &s);
}

/* Rule for MelWeightMatrix: the result has the shape (points of the one-sided transform of n points, mel bands),
 * where n is the element of operand 1 and operand 0 gives the number of mel bands. */
void rule_mel(struct infer *f, nid n, int arg)
{
    struct shape s = {.elem = (uint8_t)output_datatype(f, n), .rank = 2};
    (void)arg;
    s.d[0] = one_side(f, value_dim(f, n, 1, 0));
    s.d[1] = value_dim(f, n, 0, 0);
    shape_set(f, n, 0, &s);
}

/* Rule for Rfft of com.microsoft: transforms the last axis to complex points, whose two parts stand on a new axis;
 * arg 1: Irfft, the reverse. */
void rule_rfft(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    bool onesided = node_attr_int(f->m, n, "onesided", 1) != 0;
    if (arg == 0 && s.rank > 0 && s.rank < SHAPE_RANK) {
        s.d[s.rank - 1] = onesided ? one_side(f, s.d[s.rank - 1]) : s.d[s.rank - 1];
        s.d[s.rank++] = dim_num(2);
    } else if (arg == 1 && s.rank > 1) {
        s.rank--;
        if (onesided)
            s.d[s.rank - 1] = dim_shift(f->m, dim_mul(f->m, s.d[s.rank - 1], dim_num(2)), -2);
    } else {
        s.rank = -1;
    }
    shape_set(f, n, 0, &s);
}
