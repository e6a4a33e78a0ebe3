/* Demands of convolutions, poolings, normalisations, recurrent layers, detectors and losses (demands.h).
 * O(operands * rank) for each node. */
#include "passes/shapes/demands.h"

/* Notes that a window of a convolution or pooling fits on every axis, and that the input of a convolution has as
 * many channels as its weights.  arg: the operand with the weights; 0: there is none. */
void demand_window(struct demands *k, nid n, int arg)
{
    struct shape in = operand_shape(k->f, n, 0), out,
                 w = arg > 0 ? operand_shape(k->f, n, (uint32_t)arg) : shape_unknown(ELEM_NONE);
    int64_t groups = node_attr_int(k->f->m, n, "group", 1);
    /* a window fits if the result has a position on the axis */
    if (shape_of(k->f, node_out(k->f->m, n, 0), &out)) {
        for (int i = 2; i < out.rank; i++)
            demand(k, DEMAND_MOST, dim_num(1), out.d[i]);
    }
    if (in.rank > 2 && w.rank == in.rank && groups > 0)
        demand(k, DEMAND_EQUAL, in.d[1], dim_mul(k->f->m, w.d[1], dim_num(groups)));
}

/* Notes that operand 1 has an element for each channel of operand 0. */
void demand_channels(struct demands *k, nid n, int arg)
{
    struct shape in = operand_shape(k->f, n, 0), scale = operand_shape(k->f, n, 1);
    (void)arg;
    if (in.rank > 1)
        demand_same(k, &in, 1, &scale, 0);
}

/* Notes that operands 1 to 4, as many as there are, are broadcast with the last axes of operand 0: scale and bias
 * or, for the Skip operators, a summand, a scale and biases. */
void demand_norm(struct demands *k, nid n, int arg)
{
    struct shape in = operand_shape(k->f, n, 0), other;
    (void)arg;
    for (uint32_t i = 1; i < 5; i++) {
        shape_in(k->f, n, i, &other);
        demand_match(k, &in, &other);
    }
}

/* Notes the demands of recurrent layers; operands are the sequence, weights of inputs and of states, bias, lengths,
 * first states. */
void demand_rnn(struct demands *k, nid n, int arg)
{
    struct shape x = operand_shape(k->f, n, 0), w = operand_shape(k->f, n, 1),
                 lengths = operand_shape(k->f, n, 4), state;
    (void)arg;
    bool batch_first = node_attr_int(k->f->m, n, "layout", 0) != 0;
    int batch = batch_first ? 0 : 1;
    if (x.rank != 3)
        return;
    demand_same(k, &x, 2, &w, 2);
    demand_same(k, &x, batch, &lengths, 0);
    for (uint32_t i = 5; i < 7; i++) {
        shape_in(k->f, n, i, &state);
        if (state.rank != 3)
            continue;
        demand_same(k, &x, batch, &state, batch);
        demand_same(k, &w, 0, &state, 1 - batch);
        demand(k, DEMAND_EQUAL, state.d[2], dim_num(node_attr_int(k->f->m, n, "hidden_size", -1)));
    }
}

/* Notes that operand 1 of a ReverseSequence has a length for each entry of the batch. */
void demand_lengths(struct demands *k, nid n, int arg)
{
    struct shape in = operand_shape(k->f, n, 0), lengths = operand_shape(k->f, n, 1);
    (void)arg;
    demand_same(k, &in, axis_of(node_attr_int(k->f->m, n, "batch_axis", 1), in.rank), &lengths, 0);
}

/* Notes that a NonMaxSuppression has a score of each class for each box. */
void demand_nms(struct demands *k, nid n, int arg)
{
    struct shape boxes = operand_shape(k->f, n, 0), scores = operand_shape(k->f, n, 1);
    (void)arg;
    if (boxes.rank != 3 || scores.rank != 3)
        return;
    demand_same(k, &boxes, 0, &scores, 0);
    demand_same(k, &boxes, 1, &scores, 2);
}

/* Notes the demands of a RoiAlign: operand 2, the number of the image in which each region lies, has an entry for each
 * region of operand 1, and each entry is the number of an image of operand 0. */
void demand_regions(struct demands *k, nid n, int arg)
{
    struct shape images = operand_shape(k->f, n, 0), rois = operand_shape(k->f, n, 1),
                 which = operand_shape(k->f, n, 2);
    (void)arg;
    demand_same(k, &rois, 0, &which, 0);
    if (images.rank > 0)
        demand(k, DEMAND_MOST, reach_of(k, node_in(k->f->m, n, 2)), images.d[0]);
}

/* Notes the demands of a loss: operand 1 has a class for each entry of operand 0, and axis 1 of operand 0, which lists
 * the classes, is long enough for these. */
void demand_loss(struct demands *k, nid n, int arg)
{
    struct shape in = operand_shape(k->f, n, 0), labels = operand_shape(k->f, n, 1);
    (void)arg;
    if (in.rank < 2 || labels.rank != in.rank - 1)
        return;
    demand_same(k, &in, 0, &labels, 0);
    for (int i = 1; i < labels.rank; i++)
        demand_same(k, &in, i + 1, &labels, i);
    demand(k, DEMAND_MOST, reach_of(k, node_in(k->f->m, n, 1)), in.d[1]);
}
