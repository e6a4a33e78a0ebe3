/* Shape inference: rules of the operators on signals (Fourier transforms, windows, mel filters).
 * A transform of a real signal of n points has n / 2 + 1 different points: a one-sided one returns those only.
 * Formulas: the operator documents of ONNX and of ONNX Runtime.  O(rank) a node. */
#include "passes/shapes/infer.h"

static struct dim one_side(struct infer *f, struct dim d)
{
    return dim_shift(f->m, dim_div(f->m, d, dim_num(2)), 1);
}

/* DFT: the axis is an attribute before opset 20 and operand 2 from then on. */
void rule_dft(struct infer *f, nid n, int arg)
{
    struct shape s;
    int64_t at = f->opset < 20 ? node_attr_int(f->m, n, "axis", 1) : -2;
    bool one = node_attr_int(f->m, n, "onesided", 0) != 0,
         back = node_attr_int(f->m, n, "inverse", 0) != 0;
    (void)arg;
    shape_in(f, n, 0, &s);
    bool known =
        f->opset < 20 || node_in(f->m, n, 2) == 0 || ints_of(f, node_in(f->m, n, 2), &at, 1) == 1;
    int axis = axis_of(at, s.rank);
    if (known && axis < 0) {
        s.rank = -1;
    } else if (!known && !one && node_in(f->m, n, 1) == 0) {
        known = true; /* the axis is not known, but no axis changes its size */
    } else if (!known) {
        for (int i = 1; i < s.rank - 1; i++)
            s.d[i] = dim_unknown();
    } else {
        if (node_in(f->m, n, 1) != 0)
            s.d[axis] = value_dim(f, n, 1, 0);
        else if (one && back) /* back to the signal: its length counts as even unless it is given */
            s.d[axis] = dim_shift(f->m, dim_mul(f->m, s.d[axis], dim_num(2)), -2);
        if (one && !back)
            s.d[axis] = one_side(f, s.d[axis]);
    }
    if (s.rank > 1)
        s.d[s.rank - 1] = dim_num(one && back ? 1 : 2);
    shape_set(f, n, 0, &s);
}

/* STFT: [batch, frames, points, 2] from [batch, samples, 1 or 2]. */
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
    struct dim room = dim_sub(f->m, samples, length);
    out.d[0] = shape_dim(&in, 0);
    out.d[1] = dim_shift(f->m, dim_div(f->m, room, step), 1);
    out.d[2] = node_attr_int(f->m, n, "onesided", 1) != 0 ? one_side(f, length) : length;
    out.d[3] = dim_num(2);
    shape_set(f, n, 0, &out);
}

static enum elem output_datatype(const struct infer *f, nid n)
{
    int64_t e = node_attr_int(f->m, n, "output_datatype", ELEM_F32);
    return e > 0 && e < ELEM_COUNT ? (enum elem)e : ELEM_NONE;
}

/* HannWindow and the like: a vector of the length in operand 0. */
void rule_window(struct infer *f, nid n, int arg)
{
    (void)arg;
    struct shape s = shape_vector(output_datatype(f, n), value_dim(f, n, 0, 0));
    shape_set(f, n, 0, &s);
}

void rule_mel(struct infer *f, nid n, int arg)
{
    struct shape s = {.elem = (uint8_t)output_datatype(f, n), .rank = 2};
    (void)arg;
    s.d[0] = one_side(f, value_dim(f, n, 1, 0));
    s.d[1] = value_dim(f, n, 0, 0);
    shape_set(f, n, 0, &s);
}

/* com.microsoft's Rfft: transforms the last axis; arg 1: Irfft, from complex points back to samples. */
void rule_rfft(struct infer *f, nid n, int arg)
{
    struct shape s = operand_shape(f, n, 0);
    bool one = node_attr_int(f->m, n, "onesided", 1) != 0;
    if (arg == 0 && s.rank > 0 && s.rank < SHAPE_RANK) {
        s.d[s.rank - 1] = one ? one_side(f, s.d[s.rank - 1]) : s.d[s.rank - 1];
        s.d[s.rank++] = dim_num(2);
    } else if (arg == 1 && s.rank > 1) {
        s.rank--;
        if (one)
            s.d[s.rank - 1] = dim_shift(f->m, dim_mul(f->m, s.d[s.rank - 1], dim_num(2)), -2);
    } else {
        s.rank = -1;
    }
    shape_set(f, n, 0, &s);
}
