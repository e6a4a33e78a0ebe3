/* Frames (a border in the picture around the boxes of one part or device) and blocks (nodes that are drawn as one
 * box). */
#ifndef PCC_BACKENDS_PICTURE_BLOCKS_H
#define PCC_BACKENDS_PICTURE_BLOCKS_H

#include "backends/backends.h"
#include "ir/model/layers.h"

/* The frames of a picture: one for each part, or one for each device. */
struct frames {
    uint32_t n;
    uint32_t *dev;   /* [frame] device of the frame */
    uint32_t *parts; /* [frame] number of parts in the frame */
    uint32_t *first; /* [frame] the frame's first part */
    bool shared;     /* a device has several frames */
    struct csr node; /* frame -> placed nodes of the frame, ascending */
    uint32_t *of;    /* [node] frame + 1; 0: not placed */
};

/* Returns the frames of r->parts: one for each part; if there are more than `most` parts, or the model is sharded, one
 * for each device that has parts.  Lives in a.  O(nodes + parts). */
struct frames frames_build(const struct result *r, uint32_t most, struct arena *a);

/* The bytes that the nodes of a box or frame read from memory that lasts from sample to sample. */
struct holdings {
    int64_t weights; /* bytes */
    int64_t state;   /* bytes of state inputs, such as cached keys and values */
};

/* Returns an array, in a: [box - 1] the bytes that the nodes of a box read.  of: [node] its box, 1 .. n; 0: none.  A
 * weight counts once in each box that reads it.  O(users of weights). */
struct holdings *holdings_of(const struct result *r, const uint32_t *of, uint32_t n,
                             struct arena *a);

/* Nodes of one frame that are drawn as one box. */
struct block {
    nid *node; /* [nodes] in the order of the picture, one repetition after the other */
    uint32_t nodes;
    uint32_t repeats; /* number of equal groups of nodes, drawn as "k x {...}"; 1: no repetition */
    bool layered;     /* the repeated groups begin where layers (layers.h) begin */
    uint32_t frame;
    int64_t time; /* ps: time of all nodes of the block on its device */
    struct holdings holds;
    bool small; /* joined from several boxes that were too small to be shown */
    bool pale;  /* all results of its nodes are integers or bools: shapes, indices, masks */
    const char *label, *tip; /* label and tooltip, as text for DOT */
};

struct blocks {
    struct block *block; /* [n] frame by frame */
    uint32_t n;
    uint32_t *of;    /* [node] block + 1; 0: not placed */
    struct arena *a; /* has the memory of the blocks */
};

/* Returns at most max(most, frames) blocks that hold all placed nodes.  The arrows between the blocks of a frame make
 * no cycle.  Equal plans give equal blocks.  Lives in a.  O(nodes + pins + PERIODS * boxes), see blocks.c. */
struct blocks blocks_build(const struct result *r, const struct frames *f, uint32_t most,
                           struct arena *a);

/* Sorts the boxes of each frame topologically, and joins neighbours that are both small: a small box takes less
 * than 1/200 of its device's time and reads at most 1/20 of its frame's weights and state.  O(pins + boxes). */
void blocks_join_small(const struct result *r, const struct frames *f, struct blocks *b);

/* Whether all results of node x are tensors of integers or bools, and there is one. */
bool block_node_is_pale(const struct module *m, nid x);

/* Sets the label and the tooltip of block b, in a.  l: the layers of the model. */
void block_describe(const struct result *r, const struct frames *f, const struct layers *l,
                    struct block *b, struct arena *a);

/* Whether the value of a net is a tensor of at most 64 integers or bools, such as a shape or an index. */
bool arrow_is_small(const struct result *r, uint32_t net);

#endif
