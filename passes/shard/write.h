/* What the files that rewrite a module for several devices share (write.c, write_exchanges.c). */
#ifndef PCC_PASSES_SHARD_WRITE_H
#define PCC_PASSES_SHARD_WRITE_H

#include "passes/shard/shard.h"

#include "ir/model/edit.h"

/* A node that was made, and its device. */
struct shard_placed {
    nid node;     /* its number during the edit */
    uint32_t dev; /* an index of shard.dev */
};

struct shard_writer {
    struct shard *s;
    struct module *m;
    struct arena *a;
    struct edit *e;
    uint32_t ways;
    const uint32_t *option; /* [node] its option; 0: whole */
    uint8_t *need;          /* [value] 0: nowhere, 1: on the first device, 2: on all */
    /* values on devices: (value, state's bit) -> index in pool of `ndev` values, 0: not made yet */
    struct map made;
    vid *pool;
    uint32_t npool, cappool;
    struct shard_placed *placed;
    uint32_t nplaced, capplaced;
    struct map weights; /* (value, state's bit) -> 1 + index in w->weight */
    nid at;             /* new nodes come before this one; 0: at the end */
    struct shard_written *w;
};

/* A node with one result that is to be made. */
struct shard_making {
    const char *op, *name; /* operator; name of the node and, similarly, of its result */
    uint32_t dev;          /* its device, an index of shard.dev */
    const vid *in;         /* [nin] its operands */
    uint32_t nin;
    const struct shape *shape; /* of its result */
};

/* ---- write.c ---- */

/* Returns what device i has of v in state st; converts it there first, if need be. */
vid shard_held(struct shard_writer *x, vid v, struct shard_state st, uint32_t i);

/* ---- write_exchanges.c ---- */

/* Notes that node k runs on device i. */
void shard_put(struct shard_writer *x, nid k, uint32_t i);
/* Makes a node and returns its result; *node, if not NULL: the node. */
vid shard_add_node(struct shard_writer *x, const struct shard_making *k, nid *node);
/* Returns the index in x->pool of the values that the devices have of v in the state with this bit. */
uint32_t shard_copies(struct shard_writer *x, vid v, uint32_t bit);
/* Returns v in state st on device i, made there from what `from`, another of its states, is on all devices. */
vid shard_convert(struct shard_writer *x, vid v, struct shard_state from, struct shard_state st,
                  uint32_t i);
/* Notes in x->w that terms of v are added up. */
void shard_note_sum(struct shard_writer *x, vid v);
/* Makes node k, on device i, whose operand number `operand` is the term of v there, add up the terms of all devices. */
void shard_absorb(struct shard_writer *x, nid k, uint32_t operand, vid v, uint32_t i);
/* Returns device i's term of v, a mean: `mean`, that of its piece, divided by the number of devices. */
vid shard_mean(struct shard_writer *x, vid v, vid mean, uint32_t i);

#endif
