/* Columns of boxes: tall frames are broken into columns side by side. */
#ifndef PCC_BACKENDS_PICTURE_COLUMNS_H
#define PCC_BACKENDS_PICTURE_COLUMNS_H

#include "backends/picture/arrows.h"

struct columns {
    /* [box] column of the box, from 1; 0: its frame has only one column; NULL: there are no columns yet */
    uint32_t *of;
    uint32_t *frame;   /* [column - 1] frame of the column */
    uint32_t n, boxes; /* numbers of columns and of boxes */
    uint32_t *above;   /* [box] the box of the same frame that must stand above this one; 0: none */
};

/* Returns the columns of a picture.  Boxes are 1 .. `boxes`, within each frame in topological order; frame_of: [box]
 * its frame + 1.  Lives in a.  O(boxes + arrows + frames). */
struct columns columns_build(const struct arrows *t, const uint32_t *frame_of, uint32_t boxes,
                             uint32_t frames, struct arena *a);

/* Whether an arrow within a frame leads to another column; then its head need not stand below its tail.  False if there
 * are no columns yet. */
bool columns_part(const struct columns *c, const struct arrow *f);

#endif
