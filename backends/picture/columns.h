/* Where a picture is broken so that it is not too tall. */
#ifndef PCC_BACKENDS_PICTURE_COLUMNS_H
#define PCC_BACKENDS_PICTURE_COLUMNS_H

#include "backends/picture/arrows.h"

struct columns {
    uint32_t *of;    /* [box] its column, from 1; 0: its frame has one column only */
    uint32_t *frame; /* [column - 1] */
    uint32_t n, boxes;
    uint32_t *above; /* [box] a box of its frame that it is to stand below, 0: any */
};

/* Boxes are numbered from 1, in each frame in an order that the arrows there follow; frame_of[box] is frame + 1.  Lives
 * in a.  O(boxes + arrows + frames). */
struct columns columns_build(const struct arrows *t, const uint32_t *frame_of, uint32_t boxes,
                             uint32_t frames, struct arena *a);

/* Whether an arrow within a frame leads from one column to another: it says nothing about what stands below. */
bool columns_part(const struct columns *c, const struct arrow *f);

#endif
