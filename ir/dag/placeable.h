/* What there is to place: which nodes need a device, and which values can cross between devices.
 *
 * Constants and shape arithmetic are not placed: every part that uses one has its own copy
 * (the replication rule).  A node is a copy if
 *  - all that it depends on are constants and initializers, or
 *  - it is shape arithmetic (a closed list of operators), its operands are constants, results of
 *    Shape or Size, or of other such nodes, and its results are integers or bools of at most 64
 *    elements.
 * Shape(x) itself must be on the device of x's producer, and is a copy only if x is a graph input.  Nodes with side
 * effects or randomness, and owners of bodies, are never copies.  A net is a value that placed nodes use on possibly
 * several devices: its producer and every placed node that reads it, directly or through copies.  O(nodes + operands
 * + pins). */
#ifndef PCC_IR_DAG_PLACEABLE_H
#define PCC_IR_DAG_PLACEABLE_H

#include "ir/cluster/cluster.h"
#include "ir/model/state_pairs.h"

enum place_kind {
    PLACE_NONE, /* not in the main graph, or lost, or no output of the model needs it */
    PLACE_NODE, /* needs a device */
    PLACE_COPY  /* replicated in each part that uses the node */
};

/* Two placed nodes that must share a device, and why. */
struct same_pair {
    nid a, b;
    enum same_why {
        SAME_SHAPE, /* the producer of x and Shape(x) or Size(x) */
        SAME_STATE, /* the node that makes present and a reader of past */
        SAME_TYPE /* producer and reader of a value of unknown type, which a part could not declare, or on a
                       cycle through such nodes */
    } why;
};

struct place {
    uint8_t *kind; /* [node] enum place_kind */
    uint32_t nsame;
    struct same_pair *same;
    /* [node] the first node of its atom (atoms.h); NULL: each node is alone */
    nid *atom;
    /* [node] the device that the user fixes it to, -1: any; NULL: none is fixed */
    int32_t *pinned_to;
    uint32_t nnet;
    vid *net_value; /* [net] */
    /* net -> placed nodes: the producer first (unless the net is a model input), then readers ascending */
    struct csr net_pin;
    uint8_t *net_host;  /* [net] 1: it is also a model input or output: the host has a pin */
    uint8_t *net_light; /* [net] at most 64 elements: costs its bytes only */
    uint32_t nweight;
    vid *weight; /* [weight] initializers, large results of copies, and state inputs, that
                           placed nodes need: bytes once per device */
    /* weight -> placed nodes that read the weight, directly or through copies */
    struct csr weight_user;
    int64_t *weight_bytes;
    /* pairs of past (in) and present (out); past is a net of its readers, without a pin on the host: */
    uint32_t nstate;
    vid *state_in, *state_out;
};

/* m->cost is set.  State pairs come from state_pairs_find().  Lives in a; m grows by strings only.  Unknown names in
 * pairs: NULL, an error. */
struct place *place_build(struct module *m, const struct state_pair *pair, uint32_t npair,
                          struct arena *a, struct diag *d);

/* [node] 1: a Shape or Size that must be on the device of its operand's producer; in a. */
uint8_t *place_follows(const struct module *m, const struct place *p, struct arena *a);

/* Whether weight w is an initializer, which training changes; others are folded results and state. */
bool place_is_parameter(const struct module *m, const struct place *p, uint32_t w);

/* node -> the nets of its results; in a. */
struct csr place_nets_made(const struct module *m, const struct place *p, struct arena *a);

/* The value of a net on its way: cluster_transfer() and cluster_route() say what that takes. */
struct moved_value place_moved(const struct place *p, const struct costs *k, uint32_t net);

/* For --io=free: removes the nets of model inputs, and the host's pin from the nets of outputs. */
void place_free_io(const struct module *m, struct place *p);

#endif
