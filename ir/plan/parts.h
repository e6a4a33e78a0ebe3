/* From a plan to parts: what goes into each ONNX file of a split.
 *
 * A part is a set of placed nodes of one device, with copies of the replicated nodes and the
 * initializers that they need.  Parts are numbered in an order that is legal to run: whatever a
 * part reads is a model input or made by an earlier part. */
#ifndef PCC_IR_PLAN_PARTS_H
#define PCC_IR_PLAN_PARTS_H

#include "ir/plan/plan.h"

struct part {
    uint32_t dev;
    nid *node; /* placed nodes, ascending (a topological order) */
    uint32_t nnode;
    nid *copy; /* replicated nodes that the part needs, ascending */
    uint32_t ncopy;
    vid *in; /* model inputs in the model's order, then results of earlier parts */
    uint32_t nin;
    /* results that other parts read or the model returns, in order; last returned results of copies and initializers
     * that the model returns and this part passes on */
    vid *out;
    uint32_t nout;
    /* initializers that the part reads or carries, ascending (initializers that are inputs, too) */
    vid *weight;
    uint32_t nweight;
};

/* Where an output of the model comes from, besides parts. */
enum { PART_OF_INPUT = -1, PART_OF_WEIGHTS = -2 };

struct parts {
    uint32_t nparts; /* 0: every output of the model is an input or initializer */
    struct part *part;
    int32_t *part_of;  /* [node] its part; -1: not placed */
    int32_t *out_from; /* [output of the model] part, PART_OF_INPUT, or PART_OF_WEIGHTS */
    uint32_t ncross;
    vid *cross; /* values that go from part to part, in order of the nodes that make them */
    struct csr cross_to; /* [cross] parts that read the value, ascending */
};

/* The parts of the plan dev[node].  One part per device if that can be
 * run; else the pieces (device, G), merged while the order stays legal.  A model without placed
 * nodes becomes one part on device 0.  NULL if dev leaves a placed node without a device of the
 * cluster. Everything lives in a.  O(nodes + pins) for plans with one part per device; merging
 * pieces is O(pieces * edges between pieces) but stops after work linear in pins. */
struct parts *parts_build(const struct scene *s, const int32_t *dev, struct arena *a);

/* The same for a plan.  Where devices have several stages, its parts have nodes of one stage each; where a schedule
 * makes gradients of weights apart, of either these or the others (weight_pass.h). */
struct parts *parts_of_plan(const struct staged_plan *p, struct arena *a);

/* The parts of a plan, cut wherever a transfer comes in or goes out (transfer_cut.c), so that the parts of a device,
 * run in order, take a sample as long as its nodes.  NULL: there is no such cut.  Everything lives in a.
 * O((nodes + pins) log nodes). */
struct parts *parts_by_transfers(const struct scene *s, const struct plan *p, struct arena *a);

/* Which part each placed node goes into, and the device of each part. */
struct pieces {
    uint32_t n;
    uint32_t *piece; /* [node] */
    int32_t *dev;    /* [piece] */
};
/* parts_build for given pieces k, which must be numbered in an order that is legal to run; n is 0 if no node is
 * placed.  O(nodes + pins). */
struct parts *parts_of_pieces(const struct scene *s, const struct pieces *k, struct arena *a);

/* Whether a node of it is of the backward pass. */
bool part_is_back(const struct module *m, const struct part *p);
/* "part3.onnx", "part03.onnx" when there are more than ten; lives in a. */
const char *part_file(const struct parts *c, uint32_t part, struct arena *a);

#endif
