/* The arrows of a picture: which tensors go from box to box. */
#ifndef PCC_BACKENDS_PICTURE_ARROWS_H
#define PCC_BACKENDS_PICTURE_ARROWS_H

#include "backends/picture/blocks.h"

/* All tensors that go from one box to another.  Boxes are numbered from 1; box 0 is the host. */
struct arrow {
    uint32_t from, to;
    uint32_t tensors; /* number of tensors */
    int64_t bytes;    /* of all tensors together */
    bool away;        /* the arrow leads from one frame to another, or to or from the host */
    bool pale;        /* all tensors have integers or bools: shapes, indices and masks */
    const char *tip;  /* text for a tooltip: names and bytes of the first tensors */
};

struct arrows {
    struct arrow *f; /* [n] */
    uint32_t n;
    /* number of boxes, over all tensors, that read a tensor and got no arrow for it */
    uint32_t hidden;
};

/* Returns the arrows between boxes, in order of the nets.  box_of: [node] its box, 0: not shown; frame_of: [box] its
 * frame + 1.  A tensor goes to each other frame once, as it goes to each device once: of the boxes in a frame that
 * read the tensor, only the first has an arrow.  Small integer tensors (arrow_is_small) have no arrows within a
 * frame. Lives in a.  O(pins). */
struct arrows arrows_build(const struct result *r, const uint32_t *box_of, const uint32_t *frame_of,
                           uint32_t nframe, struct arena *a);

/* Return texts, in a.  arrow_amount(): how much an arrow carries, for DOT: "3 tensors\n1.5 MiB", of one tensor
 * "1.5 MiB".  arrow_width(): the width of an arrow with that many bytes, in points, which grows with the logarithm of
 * the bytes: "2.5". */
const char *arrow_amount(struct arena *a, uint32_t tensors, int64_t bytes);
const char *arrow_width(struct arena *a, int64_t bytes);

#endif
