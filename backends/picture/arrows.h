/* What goes from box to box of a picture. */
#ifndef PCC_BACKENDS_PICTURE_ARROWS_H
#define PCC_BACKENDS_PICTURE_ARROWS_H

#include "backends/picture/blocks.h"

/* Tensors that go from one box to another; box 0 is the host. */
struct arrow {
    uint32_t from, to, tensors;
    int64_t bytes;
    bool away;       /* from one frame to another, or the host */
    bool pale;       /* shapes, indices and masks only */
    const char *tip; /* the first of them by name */
};

struct arrows {
    struct arrow *f;
    uint32_t n;
    uint32_t hidden; /* arrows within frames that are left out */
};

/* The nets between the boxes of their pins; box_of[node] (0: not shown), frame_of[box] (frame + 1).  As on
 * the wire, a tensor goes once to each other frame: to the first box there that reads it; its arrows
 * to others there are hidden, and so are small integers (shapes) that do not cross.  In order of
 * producers.  Lives in a.  O(pins). */
struct arrows arrows_build(const struct result *r, const uint32_t *box_of, const uint32_t *frame_of,
                           uint32_t nframe, struct arena *a);

#endif
