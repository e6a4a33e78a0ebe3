/* What the pass shard has done to a module whose plan is judged, shown and written. */
#ifndef PCC_IR_PLAN_SHARDING_H
#define PCC_IR_PLAN_SHARDING_H

#include <stdbool.h>
#include <stdint.h>

/* An input and an output of the model that are one state, of which each device keeps a piece: the pieces have the names
 * of the whole ones with the suffix @0, @1, ... */
struct sharded_pair {
    const char *in, *out; /* names of the whole input and output */
    uint32_t axis;        /* the axis that is cut */
    int64_t run;          /* position p of the axis belongs to device (p / run) mod ways */
};

/* What may be added up over devices: integers, whose sums are exact; or floats, too, in another order than in the
 * model. */
enum sharding_sums { SHARDING_SUMS_NONE, SHARDING_SUMS_INTEGERS, SHARDING_SUMS_ANY };

/* What is added up over devices. */
struct sharded_sums {
    uint32_t count; /* tensors */
    int64_t bytes;  /* of these tensors */
    int64_t
        tolerance; /* millionths of an output's largest value by which sums may differ; 0: they are exact */
};

/* A sharded module; times in ps. */
struct sharding {
    enum sharding_sums allowed;
    struct sharded_sums sums;
    uint32_t ways;       /* devices that share nodes */
    const uint32_t *dev; /* [ways] which they are */
    int64_t one_device;  /* the model's makespan on one of them */
    int64_t unsharded;   /* no plan that keeps each node on one device takes less, for a makespan */
    int64_t value;       /* of the choice: computing and exchanges one after the other */
    int64_t floor;       /* no choice takes less in which each device has a share of every node */
    bool optimal;        /* no choice has a smaller value */
    uint32_t cut, whole, once,
        made; /* nodes: in pieces, whole on each device, on one device; nodes afterwards */
    uint32_t joined, sliced;         /* tensors that are joined, or cut, on the devices */
    const struct sharded_pair *pair; /* [npair] states in pieces */
    uint32_t npair;
    int64_t joined_bytes; /* of the tensors that are joined */
};

#endif
