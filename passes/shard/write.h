/* What the files that rewrite a module for several devices share (write.c, write_exchanges.c). */
#ifndef PCC_PASSES_SHARD_WRITE_H
#define PCC_PASSES_SHARD_WRITE_H

#include "passes/shard/shard.h"

#include "ir/model/edit.h"

/* A node that was made, and its device. */
struct shard_placed {
    nid node;     /* number of the node until edit_end(), which gives nodes new numbers */
    uint32_t dev; /* its device, as an index of shard.dev */
};

/* Which devices need a value, whole or in pieces. */
enum shard_need { SHARD_NEED_NONE, SHARD_NEED_FIRST, SHARD_NEED_ALL };

struct shard_writer {
    struct shard *s;
    struct module *m;
    struct arena *a;
    struct edit *e;
    uint32_t ways;
    const uint32_t *option; /* [node] its option; 0: whole */
    uint8_t *need;          /* [value] which devices need the value (enum shard_need) */
    /* (value, bit of a state) -> index in `pool` of the first of ndev entries, one for each device: the value that the
     * device has in that state, 0 if it has not been made yet */
    struct map made;
    vid *pool;
    uint32_t npool, cappool;
    struct shard_placed *placed;
    uint32_t nplaced, capplaced;
    struct map weights; /* (value, bit of its state) -> 1 + index in w->weight */
    nid at;             /* new nodes are put before this node; 0: at the end */
    struct shard_written *w;
};

/* What shard_add_node() is to make: a node with one result. */
struct shard_making {
    const char *op, *name; /* operator; name of the node and of its result */
    uint32_t dev;          /* the node's device, as an index of shard.dev */
    const vid *in;         /* [nin] the node's operands */
    uint32_t nin;
    const struct shape *shape; /* shape of the result */
};

/* ---- write.c ---- */

/* Returns what device i has of v in state st; if it does not have v in that state yet, first adds the nodes that
 * bring it there. */
vid shard_held(struct shard_writer *x, vid v, struct shard_state st, uint32_t i);

/* ---- write_exchanges.c ---- */

/* Notes that node k runs on device i. */
void shard_put(struct shard_writer *x, nid k, uint32_t i);
/* Adds the node that *k describes and returns its result; *node becomes the node, unless `node` is NULL. */
vid shard_add_node(struct shard_writer *x, const struct shard_making *k, nid *node);
/* Returns the index in x->pool of the `ndev` values that the devices have of v in the state with this bit. */
uint32_t shard_copies(struct shard_writer *x, vid v, uint32_t bit);
/* Returns v in state st on device i, made there from what the devices have of v in state `from`. */
vid shard_convert(struct shard_writer *x, vid v, struct shard_state from, struct shard_state st,
                  uint32_t i);
/* Notes in x->w that terms of v are added up. */
void shard_note_sum(struct shard_writer *x, vid v);
/* Makes node k, on device i, a sum of the terms of all devices and its other operands; its operand number `operand`
 * is the term of v on device i. */
void shard_absorb(struct shard_writer *x, nid k, uint32_t operand, vid v, uint32_t i);
/* Returns device i's term of v, a mean over all devices: `mean`, which is the mean of the device's piece, divided by
 * the number of devices. */
vid shard_mean(struct shard_writer *x, vid v, vid mean, uint32_t i);

#endif
