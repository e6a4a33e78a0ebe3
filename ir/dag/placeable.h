/* Decides which nodes of a model need a device, and which values can cross between devices.
 *
 * Constants and shape arithmetic are not placed: every part that uses one has its own copy (the replication rule).  A
 * node is a copy if
 *  - it depends on constants and initializers only, or
 *  - its operator is in a fixed list (shape arithmetic), each of its operands is a constant, a result of Shape or Size,
 *    or a result of another copy, and its results are integers or bools of at most 64 elements.
 * Shape(x) itself must be on the device of x's producer, and is a copy only if x is a graph input.  Nodes with side
 * effects or randomness, and owners of bodies, are never copies.  A net is a value that placed nodes, possibly on
 * several devices, use: its pins are its producer and every placed node that reads it, directly or through copies.
 * O(nodes + operands + pins). */
#ifndef PCC_IR_DAG_PLACEABLE_H
#define PCC_IR_DAG_PLACEABLE_H

#include "ir/cluster/cluster.h"
#include "ir/model/state_pairs.h"

enum place_kind {
    /* no node of the main graph, a lost node, or a node that no output of the model needs */
    PLACE_NONE,
    PLACE_NODE, /* the node needs a device */
    PLACE_COPY  /* each part that uses the node has its own copy */
};

/* Two placed nodes that must share a device, and why. */
struct same_pair {
    nid a, b;
    enum same_why {
        SAME_SHAPE, /* a: producer of a value x; b: Shape(x) or Size(x) */
        SAME_STATE, /* a: producer of the present output of a state pair; b: reader of its past input */
        /* a: producer, b: reader of a value of unknown type, which a part could not declare as its input; or two
         * nodes on a cycle through such nodes */
        SAME_TYPE
    } why;
};

/* An edge of which the user says whether plans cut it (--cut-at, --no-cut). */
struct ruled_edge {
    nid from, to;        /* placed nodes: `to` reads a result of `from` */
    const char *pattern; /* the expression that the user gave */
    /* whether the user wants the edge cut (its nodes on different devices) or not cut (on the same device) */
    bool cut;
};

struct place {
    uint8_t *kind; /* [node] enum place_kind */
    uint32_t nsame;
    struct same_pair *same; /* [nsame] pairs of nodes that must be on one device */
    /* [node] the first node of the node's atom (atoms.h); NULL: each node is an atom of its own */
    nid *atom;
    /* [node] the device that the user pins the node to, -1: any device; NULL: no node is pinned */
    int32_t *pinned_to;
    uint32_t nruled;
    struct ruled_edge *ruled; /* [nruled] edges of --cut-at and --no-cut */
    uint32_t nnet;
    vid *net_value; /* [net] the value that the net stands for */
    /* net -> placed nodes: the producer first (unless the net is a model input), then readers ascending */
    struct csr net_pin;
    uint8_t *net_host; /* [net] 1: a model input or output, so the host has a pin, too */
    uint32_t nthere;
    /* after place_free_io(): there: [nthere] the model inputs that were nets; there_pin: such an input -> placed
     * nodes that read it, ascending */
    vid *there;
    struct csr there_pin;
    /* [net] 1: a result of Shape, Size or shape arithmetic, which runtimes make in the host's memory: its transfer
     * pays no latency */
    uint8_t *net_at_host;
    uint32_t nweight;
    /* [weight] a value that a device holds once for all its readers: an initializer, a large result of a copy, or a
     * state input */
    vid *weight;
    /* weight -> placed nodes that read the weight, directly or through copies */
    struct csr weight_user;
    int64_t *weight_bytes; /* [weight] bytes */
    /* state pairs: state_in[i] is a past input, state_out[i] its present output, i < nstate; the past is a net of its
     * readers, without a pin on the host */
    uint32_t nstate;
    vid *state_in, *state_out;
};

/* Returns what is to be placed of m, in a; NULL and an error in d if a pair has an unknown name.  pair[0 .. npair): the
 * state pairs that the user names; state_pairs_find() adds those that it recognises.  m->cost must be set; m changes
 * by new strings only. */
struct place *place_build(struct module *m, const struct state_pair *pair, uint32_t npair,
                          struct arena *a, struct diag *d);

/* Whether node n computes the same results wherever and however often it runs: it is an operator of
 * ai.onnx, draws no random numbers, has no bodies, is no call of a function, and is not lost
 * (NODE_LOST). */
bool place_is_pure(const struct module *m, nid n);

/* Returns an array, in a: [node] 1: a Shape or Size that must be on the device of its operand's producer; else 0. */
uint8_t *place_follows(const struct module *m, const struct place *p, struct arena *a);

/* Whether weight w (an index of p->weight) is an initializer, which training changes; the other weights are constant
 * results of copies and state inputs. */
bool place_is_parameter(const struct module *m, const struct place *p, uint32_t w);

/* Returns rows, in a: node -> the nets that it produces, ascending. */
struct csr place_nets_made(const struct module *m, const struct place *p, struct arena *a);

/* Returns the bytes of a net's value, its measured transfer time, and whether it is made at the host, for
 * cluster_transfer() and cluster_route().  k: the costs of the module that p was made from. */
struct moved_value place_moved(const struct place *p, const struct costs *k, uint32_t net);

/* Makes model inputs and outputs cost no transfers (--io=free): moves the nets of inputs to p->there, in a, and removes
 * the host's pin from the nets of outputs. */
void place_free_io(const struct module *m, struct place *p, struct arena *a);

#endif
