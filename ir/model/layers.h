/* Layers of a model: groups of nodes that repeat, by the names of the nodes or as a profile says. */
#ifndef PCC_IR_MODEL_LAYERS_H
#define PCC_IR_MODEL_LAYERS_H

#include "ir/model/module.h"

/* A node belongs to the layer that a profile gives it (forward and backward nodes to different ones).
 * Without a profile it belongs to its outermost numbered scope: the components of a name end at '/',
 * and the first that ends in .N or _N or is a number ends the scope, as in "/h.3/attn/MatMul" and
 * "bert/encoder/layer_11/output/Add". */
struct layers {
    uint32_t n;     /* layers 1 .. n, in order of their first nodes */
    uint32_t *of;   /* [node] layer of the node; 0: none */
    uint32_t *rest; /* [node] where its name goes on after the scope */
    uint32_t *kind; /* [layer] index into the repeats of layers_repeats; NULL before that */
};

/* Of the main graph.  Lives in a.  O(nodes + names). */
struct layers layers_find(const struct module *m, struct arena *a);

/* A kind of layer: layers with the same operators in the same order, constants left out. */
struct repeat {
    uint32_t count;
    uint32_t first; /* first node of the layer */
    uint32_t nodes; /* in each */
};

/* Writes the kinds of layer to *out, in order of their first layers, and fills l->kind; returns how many there are.
 * Expected O(nodes). */
uint32_t layers_repeats(const struct module *m, struct layers *l, struct arena *a,
                        struct repeat **out);

/* layer -> its nodes, ascending (row 0: nodes without a layer). */
struct csr layers_nodes(const struct module *m, const struct layers *l, struct arena *a);

#endif
