/* What the pass shard has done to a module whose plan is judged, shown and written. */
#ifndef PCC_IR_PLAN_SHARDING_H
#define PCC_IR_PLAN_SHARDING_H

#include <stdbool.h>
#include <stdint.h>

/* An input or output of the model of which each device has a piece. */
struct sharded_end {
    const char *name; /* of the whole */
    uint32_t type;    /* of the whole, an index of module.type */
    uint32_t at;      /* its place among the inputs without initializer, or the outputs */
    const char *const
        *piece; /* [ways] names of the pieces: like that of the whole with @0, @1, ... */
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
    int64_t run;              /* as in sharded_pair */
    int64_t blocks;           /* runs of a piece along the axis */
    bool contiguous;          /* the bytes of a piece are one range of the bytes of the weight */
    const char *const *piece; /* [ways] names; NULL: no part needs that piece */
};

/* Layers with the same exchanges. */
struct sharded_layers {
    uint32_t layers;             /* how many; 0: these are the exchanges outside of layers */
    uint32_t joined, cut, added; /* in each: tensors that are joined, cut, and added up */
    int64_t bytes, added_bytes;  /* in each: of tensors that are joined; that are added up */
};

/* An axis of nodes that stay whole, since the number of devices does not divide its size. */
struct sharded_axis {
    const char *node, *op; /* the node that takes longest, and its operator */
    uint32_t nodes;        /* number of nodes with this axis */
    int64_t size, padded;  /* positions; the next larger number that the devices divide */
    int64_t most;          /* ps of `node` */
    int64_t saves;         /* ps that padding the axis saves at most, of all these nodes */
};

/* A node of the model that the user has pinned: it is on that device alone. */
struct sharded_pin {
    const char *node;
    uint32_t dev;
};

/* How devices have an operand or a result of a node. */
struct sharded_value {
    const char *name; /* NULL: it is omitted */
    uint32_t axis;    /* the axis that is cut */
    int64_t size;     /* positions of that axis; -1: they depend on names of dimensions */
    int64_t run;      /* as in sharded_pair; 0: each device has the whole; < 0: a term of it */
    int64_t blocks;   /* runs of a piece; -1: as many as names of sizes say */
};

/* A node of the model before nodes were in pieces. */
struct sharded_node {
    const char *name, *op;
    const void *src; /* the message of the node in the source; NULL: none */
    enum {
        SHARDED_CUT,   /* each device computes a piece */
        SHARDED_WHOLE, /* each device with a reader of the results computes the whole node */
        SHARDED_ONCE,  /* the device `dev` alone computes it */
        SHARDED_COPIED /* without a device: each part with a reader of the results has a copy */
    } how;
    uint32_t dev;
    uint32_t layer;                    /* number of its layer; 0: none */
    uint32_t nin, nout;                /* formal operands; results */
    const struct sharded_value *value; /* [nin + nout] */
};

/* What may be added up over devices: integers, whose sums are exact; or floats, too, in another order than in the
 * model. */
enum sharding_sums { SHARDING_SUMS_NONE, SHARDING_SUMS_INTEGERS, SHARDING_SUMS_ANY };

/* What is added up over devices. */
struct sharded_sums {
    enum sharding_sums allowed;
    uint32_t count;    /* tensors */
    int64_t bytes;     /* of these tensors */
    int64_t tolerance; /* millionths of an output's largest value; 0: sums are exact */
};

enum { SHARDED_AXES = 3 };

/* A sharded module; times in ps. */
struct sharding {
    struct sharded_sums sums;
    uint32_t ways;       /* devices that share nodes */
    const uint32_t *dev; /* [ways] which they are */
    int64_t one_device;  /* the model's makespan on one of them */
    int64_t unsharded;   /* no plan that keeps each node on one device takes less, for a makespan */
    int64_t value;       /* of the choice: computing and exchanges one after the other */
    int64_t floor;       /* no choice takes less in which each device has a share of every node */
    int64_t least;       /* no choice has a smaller value; -1: not known */
    uint32_t cut, whole, once,
        made; /* nodes: in pieces, whole on each device, on one device; nodes afterwards */
    uint32_t joined, sliced;         /* tensors that are joined, or cut, on the devices */
    const struct sharded_pair *pair; /* [npair] states in pieces */
    uint32_t npair;
    int64_t joined_bytes;                        /* of the tensors that are joined */
    int64_t sliced_bytes;                        /* of the tensors that are cut */
    int64_t whole_bytes;                         /* memory that the model takes on one device */
    uint32_t source_nodes;                       /* of the model before */
    const struct sharded_weight *weight;         /* [nweight] in the order of their first use */
    const struct sharded_layers *layers;         /* [nlayers] */
    struct sharded_axis undivided[SHARDED_AXES]; /* [nundivided] the most time first */
    const struct sharded_pin *pin;               /* [npin] */
    const struct sharded_node *node;             /* [source_nodes] in their order */
    uint32_t nweight, nlayers, nundivided, npin;
    const void *source; /* the model's ONNX message before; NULL: an earlier pass changed it */
};

#endif
