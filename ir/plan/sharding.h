/* What the pass shard has done to a module whose plan is judged, shown and written. */
#ifndef PCC_IR_PLAN_SHARDING_H
#define PCC_IR_PLAN_SHARDING_H

#include <stdbool.h>
#include <stdint.h>

/* An input or output of the model of which each device has a piece. */
struct sharded_end {
    const char *name; /* the name of the whole tensor */
    uint32_t type;    /* type of the whole tensor, an index of module.type */
    /* number of the input among the model's inputs without initializers, or of the output among the model's outputs */
    uint32_t at;
    /* [ways] names of the pieces: the name of the whole with @0, @1, ... at its end */
    const char *const *piece;
};

/* An input and an output of the model that are one state, of which each device keeps a piece. */
struct sharded_pair {
    struct sharded_end in, out;
    uint32_t axis; /* the axis that is cut */
    int64_t run;   /* position p of the axis belongs to device (p / run) mod ways */
};

/* A weight of which each device has a piece. */
struct sharded_weight {
    const char *name;
    uint32_t axis;
    int64_t run;              /* as in struct sharded_pair */
    int64_t blocks;           /* number of runs of a piece along the axis */
    bool contiguous;          /* the bytes of a piece are one range of the bytes of the weight */
    const char *const *piece; /* [ways] names; NULL: no part needs that piece */
};

/* How many tensors are exchanged in a certain way, and their bytes. */
struct sharded_exchanges {
    uint32_t count;
    int64_t bytes; /* bytes of the whole tensors, added up */
};

/* Layers with the same exchanges. */
struct sharded_layers {
    /* number of layers; 0: this entry has the exchanges outside of layers */
    uint32_t layers;
    /* numbers of tensors, in each layer, that are joined, cut, added up, and brought from one cut to another */
    uint32_t joined, cut, added, turned;
    /* bytes, in each layer, of the tensors that are joined, added up, and brought from one cut to another */
    int64_t bytes, added_bytes, turned_bytes;
};

/* An axis of nodes that stay whole, since the number of devices does not divide its size. */
struct sharded_axis {
    const char *node, *op; /* the node that takes longest, and its operator */
    uint32_t nodes;        /* number of nodes with this axis */
    /* size: number of positions of the axis; padded: the next larger number that the number of devices divides */
    int64_t size, padded;
    int64_t most;  /* ps that `node` takes */
    int64_t saves; /* the most ps that padding the axis of all these nodes saves */
};

/* A node of the model that only device `dev` runs, because the user has pinned it there. */
struct sharded_pin {
    const char *node;
    uint32_t dev;
};

/* How devices have an operand or a result of a node. */
struct sharded_value {
    const char *name; /* NULL: the operand or result is omitted */
    uint32_t axis;    /* the axis that is cut */
    /* number of positions of that axis; -1: the number depends on names of dimensions */
    int64_t size;
    /* as in struct sharded_pair; 0: each device has the whole tensor; < 0: each device has a term, and the sum of the
     * terms is the tensor */
    int64_t run;
    int64_t blocks; /* number of runs of a piece; -1: the number depends on names of dimensions */
};

/* A node of the model as it was before nodes were divided into pieces. */
struct sharded_node {
    const char *name, *op;
    /* the node's message in the source model (struct sharding.source); NULL: none */
    const void *src;
    enum {
        SHARDED_CUT,   /* each device computes a piece of the node */
        SHARDED_WHOLE, /* each device with a reader of the results computes the whole node */
        SHARDED_ONCE,  /* the device `dev` alone computes the node */
        SHARDED_COPIED /* without a device: each part with a reader of the results has a copy */
    } how;
    uint32_t dev;
    uint32_t layer;                    /* number of the node's layer; 0: none */
    uint32_t nin, nout;                /* numbers of formal operands and of results */
    const struct sharded_value *value; /* [nin + nout] the formal operands, then the results */
};

/* What may be added up over devices.  INTEGERS: only integers, whose sums are exact.  ANY: floats, too, whose sums
 * then have another order than in the model. */
enum sharding_sums { SHARDING_SUMS_NONE, SHARDING_SUMS_INTEGERS, SHARDING_SUMS_ANY };

/* What is added up over devices. */
struct sharded_sums {
    enum sharding_sums allowed;
    uint32_t count;    /* number of tensors that are added up */
    int64_t bytes;     /* bytes of these tensors */
    int64_t tolerance; /* millionths of an output's largest value; 0: sums are exact */
};

enum { SHARDED_AXES = 3 }; /* the most entries of sharding.undivided */

/* A sharded module; times in ps. */
struct sharding {
    struct sharded_sums sums;
    uint32_t ways;       /* number of devices that share nodes */
    const uint32_t *dev; /* [ways] these devices */
    int64_t one_device;  /* makespan of the model on one of these devices */
    /* a lower bound on the makespan of plans that keep each node on one device */
    int64_t unsharded;
    /* the value of the choice that was made: computing and exchanges, one after the other */
    int64_t value;
    /* a lower bound on the value of choices in which each device has a share of every node */
    int64_t floor;
    int64_t least; /* a lower bound on the value of all choices; -1: not known */
    /* numbers of nodes: cut into pieces; whole on each device; on one device only; in the sharded module */
    uint32_t cut, whole, once, made;
    /* exchanges: of tensors joined on the devices (joined), cut (sliced), brought from one cut to another (turned) */
    struct sharded_exchanges joined, sliced, turned;
    const struct sharded_pair *pair; /* [npair] states in pieces */
    uint32_t npair;
    /* bytes of memory that the model takes on one device */
    int64_t whole_bytes;
    uint32_t source_nodes; /* number of nodes of the model before sharding */
    /* [nweight] weights in pieces, in the order of their first use */
    const struct sharded_weight *weight;
    /* [nlayers] the exchanges of layers and of the nodes outside of layers */
    const struct sharded_layers *layers;
    /* [nundivided] axes that stay whole, ordered by time, the largest first */
    struct sharded_axis undivided[SHARDED_AXES];
    const struct sharded_pin *pin; /* [npin] nodes that the user has pinned */
    /* [source_nodes] the nodes of the model before sharding, in their order */
    const struct sharded_node *node;
    uint32_t nweight, nlayers, nundivided, npin;
    /* the ONNX message of the model before sharding; NULL: an earlier pass changed the model */
    const void *source;
};

#endif
