/* Layers of a model: groups of nodes that repeat, found by the paths of the nodes or as a profile gives them. */
#ifndef PCC_IR_MODEL_LAYERS_H
#define PCC_IR_MODEL_LAYERS_H

#include "ir/model/path.h"

/* The layers of a model's main graph.  In a profile, nodes belong to the layer that the profile gives (forward and
 * backward nodes to different layers).  Otherwise a node belongs to the outermost numbered scope of its path
 * (path.h): the components of a path are separated by '/', and the scope ends with the first component that ends in
 * .N, _N or @N or is a number, as in "/h.3/attn/MatMul" and "bert/encoder/layer_11/output/Add". */
struct layers {
    uint32_t n;   /* number of layers; layers are numbered 1 .. n, in order of their first nodes */
    uint32_t *of; /* [node] layer of the node; 0: none */
    /* [node] length of the layer's scope, with which the node's scope begins; 0: the layer has no scope, or no layer */
    uint32_t *len;
    /* [layer] kind of the layer, an index in the kinds of layers_repeats(), which fills it */
    uint32_t *kind;
};

/* Returns the layers of the main graph, allocated in a, without their kinds.  O(nodes + bytes of their paths). */
struct layers layers_find(const struct module *m, struct arena *a);
/* Returns the first component of the scope of node n behind the scope of its layer, such as "attn"; len 0: none. */
struct scope layers_inside(const struct module *m, const struct layers *l, nid n);

/* A kind of layer: all layers with the same operators in the same order, not counting Constant nodes. */
struct repeat {
    uint32_t count; /* number of layers of this kind */
    uint32_t first; /* the first layer of this kind */
    uint32_t nodes; /* nodes in each of the layers, not counting Constant nodes */
};

/* Writes the kinds of layers to *out, allocated in a, in order of their first layers, and fills l->kind.  Returns the
 * number of kinds.  Expected O(nodes). */
uint32_t layers_repeats(const struct module *m, struct layers *l, struct arena *a,
                        struct repeat **out);

/* Returns rows, allocated in a: row i has the nodes of layer i, ascending (row 0: nodes without a layer). */
struct csr layers_nodes(const struct module *m, const struct layers *l, struct arena *a);

#endif
