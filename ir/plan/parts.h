/* Divides a plan into parts, each of which becomes one ONNX file of a split.
 *
 * A part is a set of placed nodes of one device, with copies of the replicated nodes (constants, shape arithmetic) and
 * the initializers that they need.  Parts are numbered in an order in which they can run: each input of a part is a
 * model input or an output of an earlier part. */
#ifndef PCC_IR_PLAN_PARTS_H
#define PCC_IR_PLAN_PARTS_H

#include "ir/plan/plan.h"

/* A part of a plan: nodes of one device, with what goes in and out. */
struct part {
    uint32_t dev;
    nid *node; /* placed nodes, ascending (a topological order) */
    uint32_t nnode;
    nid *copy; /* replicated nodes that the part needs, ascending */
    uint32_t ncopy;
    /* inputs of the part: model inputs in the model's order, then outputs of earlier parts */
    vid *in;
    uint32_t nin;
    /* outputs of the part: first, in the order of their nodes, results of its placed nodes that other parts read or
     * the model returns; then results of copies, and initializers, that the model returns and no earlier part passes
     * on */
    vid *out;
    uint32_t nout;
    /* initializers that the part reads or passes on, ascending; some may be model inputs, too */
    vid *weight;
    uint32_t nweight;
};

/* Values of parts.out_from for an output of the model that no part makes: the output is a model input, or an
 * initializer of a model without parts. */
enum { PART_OF_INPUT = -1, PART_OF_WEIGHTS = -2 };

/* The parts of a plan. */
struct parts {
    uint32_t nparts; /* 0: every output of the model is an input or initializer */
    struct part *part;
    int32_t *part_of; /* [node] number of the node's part; -1: not placed */
    /* [output of the model] the part that has it as output, PART_OF_INPUT, or PART_OF_WEIGHTS */
    int32_t *out_from;
    uint32_t ncross;
    /* values that one part makes and others read, in the order of the nodes that make them */
    vid *cross;
    struct csr cross_to; /* index in cross[] -> parts that read the value, ascending */
};

/* Returns the parts of a plan, dev: [node] its device.  Makes one part per device if the parts can run one after the
 * other; else more parts (pieces.c), as few as it finds in limited time.  A model without placed nodes has one part,
 * on device 0, if copies make an output of the model, else no part.  NULL: a placed node has no device of the cluster.
 * Everything lives in a.  O(nodes + pins) for plans with one part per device; merging pieces is O(pieces * edges
 * between pieces) but stops after work linear in pins. */
struct parts *parts_build(const struct scene *s, const int32_t *dev, struct arena *a);

/* Returns the parts of a plan with stages, as parts_build() does, but with parts of one stage only, if a device has
 * several stages.  If the schedule computes gradients of weights in a pass of their own (weight_pass.h), no part has
 * both nodes of that pass and other nodes; likewise if the update is apart (update_pass.h).  In a stage that
 * recomputes, no part has both forward and backward nodes: such a part would run the nodes again that it has run just
 * before.  NULL: a placed node has no stage. */
struct parts *parts_of_plan(const struct staged_plan *p, struct arena *a);

/* Returns the parts of a plan that is cut wherever a transfer begins or ends (transfer_cut.c): running the parts of
 * each device in their order takes as long for a sample as running the single nodes.  NULL: no such parts can run one
 * after the other.  Everything lives in a.  O((nodes + pins) log nodes). */
struct parts *parts_by_transfers(const struct scene *s, const struct plan *p, struct arena *a);

/* How a plan is cut into parts.  AUTO: a kind of execution model chooses; FEW: parts_of_plan(); TRANSFERS:
 * parts_by_transfers(). */
enum parts_cut { PARTS_AUTO, PARTS_FEW, PARTS_TRANSFERS };

/* The piece of each placed node; each piece will be a part. */
struct pieces {
    uint32_t n;      /* number of pieces; 0: no node is placed */
    uint32_t *piece; /* [node] number of the node's piece */
    int32_t *dev;    /* [piece] device */
};
/* Makes a part of each piece, with the same number.  Pieces must be numbered in an order in which they can run.
 * Everything lives in a.  O(nodes + pins). */
struct parts *parts_of_pieces(const struct scene *s, const struct pieces *k, struct arena *a);

/* Whether at least one node of part p is of the backward pass. */
bool part_is_back(const struct module *m, const struct part *p);
/* Returns the file name of a part: "part3.onnx", or "part03.onnx" if there are more than ten parts.  Lives in a. */
const char *part_file(const struct parts *c, uint32_t part, struct arena *a);

#endif
