/* Columns of boxes: tall frames are broken into columns side by side. */
#ifndef PCC_BACKENDS_PICTURE_COLUMNS_H
#define PCC_BACKENDS_PICTURE_COLUMNS_H

#include "backends/picture/arrows.h"

struct columns {
    uint32_t *of;      /* [box] its column, from 1; 0: its frame has only one; NULL: not made yet */
    uint32_t *frame;   /* [column - 1] its frame */
    uint32_t n, boxes; /* numbers of columns and of boxes */
    uint32_t *above;   /* [box] a box of its frame below which it must stand; 0: none */
};

/* Returns the columns of a picture.  Boxes are 1 .. `boxes`, within each frame in topological order; frame_of: [box]
 * its frame + 1.  Lives in a.  O(boxes + arrows + frames). */
struct columns columns_build(const struct arrows *t, const uint32_t *frame_of, uint32_t boxes,
                             uint32_t frames, struct arena *a);

/* Whether an arrow within a frame leads to another column; then its head need not stand below its tail.  False if there
 * are no columns yet. */
bool columns_part(const struct columns *c, const struct arrow *f);

#endif
