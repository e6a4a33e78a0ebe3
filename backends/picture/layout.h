/* The layout of a picture: where dot puts its boxes and arrows. */
#ifndef PCC_BACKENDS_PICTURE_LAYOUT_H
#define PCC_BACKENDS_PICTURE_LAYOUT_H

#include "ir/base/diag.h"
#include "ir/base/strings.h"

/* The place of a box, a frame or an arrow.  Box or frame: x, y is its middle, wide and high its size, in points; y
 * grows upwards.  Arrow: only curve is set, the text of its curve as Graphviz writes it (else NULL). */
struct spot {
    double x, y, wide, high;
    const char *curve;
};

/* The places that dot gave to the boxes, frames and arrows of a picture. */
struct layout {
    struct strings *name; /* names of boxes and frames, ids of arrows; NULL: dot has not run yet */
    struct spot *spot;    /* [id in `name`] its place; curve NULL and high 0: it has none */
    uint32_t n, cap;
    double screens; /* size of the arranged picture, by arrange_screens(); -1: it failed */
};

/* Reads what dot wrote with -Tjson0 to the file `path` into *l, in a.  Returns 0, or -1 and an error. */
int layout_read(const char *path, struct layout *l, struct arena *a, struct diag *d);

/* Returns the place of the box or frame with this name, or of the arrow with this id; NULL: dot has not placed it. */
const struct spot *layout_find(const struct layout *l, const char *name);

/* Returns the text of a curve moved by x, y points, in a. */
const char *layout_move_curve(const char *curve, double x, double y, struct arena *a);

#endif
