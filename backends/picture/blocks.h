/* Frames (a device's border in the picture) and blocks (groups of nodes drawn as one box). */
#ifndef PCC_BACKENDS_PICTURE_BLOCKS_H
#define PCC_BACKENDS_PICTURE_BLOCKS_H

#include "backends/backends.h"
#include "ir/model/layers.h"

/* The parts; or, where they are more than `most`, the devices. */
struct frames {
    uint32_t n;
    uint32_t *dev;   /* [frame] */
    uint32_t *parts; /* [frame] how many parts it stands for */
    uint32_t *first; /* [frame] the first of them */
    struct csr node; /* frame -> its placed nodes, ascending */
    uint32_t *of;    /* [node] frame + 1; 0: not placed */
};

/* O(nodes + parts). */
struct frames frames_build(const struct result *r, uint32_t most, struct arena *a);

/* What boxes read, in bytes. */
struct holdings {
    int64_t weights;
    int64_t state; /* cached keys and values */
};

/* [box - 1] what n boxes read, of[node] (0: none); a weight, or a state, counts once in every one that reads it.
 * Lives in a.  O(users of weights). */
struct holdings *holdings_of(const struct result *r, const uint32_t *of, uint32_t n,
                             struct arena *a);

struct block {
    nid *node; /* in the order of the picture */
    uint32_t nodes;
    uint32_t repeats; /* how many equal blocks in a row this box stands for; 1: itself alone */
    bool layered;     /* they are layers by name or profile */
    uint32_t frame;
    int64_t time; /* ps on its device */
    struct holdings holds;
    bool small;              /* several boxes that were too small to be looked at */
    bool pale;               /* it makes shapes, indices and masks only */
    const char *label, *tip; /* text for DOT */
};

struct blocks {
    struct block *block;
    uint32_t n;
    uint32_t *of;    /* [node] block + 1; 0: not placed */
    struct arena *a; /* where they live */
};

/* At most max(most, frames) blocks; the blocks of a frame make no cycle.  Equal plans give equal blocks.
 * Lives in a.  O(nodes + pins + PERIODS * boxes), see blocks.c. */
struct blocks blocks_build(const struct result *r, const struct frames *f, uint32_t most,
                           struct arena *a);

/* Joins the boxes that take less than 1/200 of their device's time and read less than 1/20 of their frame's weights,
 * and brings those of each frame into an order that the arrows there follow.  O(pins + boxes). */
void blocks_join_small(const struct result *r, const struct frames *f, struct blocks *b);

/* Whether all that a node makes are integers and truth values. */
bool block_node_is_pale(const struct module *m, nid x);

/* Writes the label and the tooltip of a block (block_label.c). */
void block_describe(const struct result *r, const struct frames *f, const struct layers *l,
                    struct block *b, struct arena *a);

/* Is it the net of a few integers: a shape, an index? */
bool arrow_is_small(const struct result *r, uint32_t net);

#endif
