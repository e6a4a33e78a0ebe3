/* Where dot puts the boxes of a picture. */
#ifndef PCC_BACKENDS_PICTURE_LAYOUT_H
#define PCC_BACKENDS_PICTURE_LAYOUT_H

#include "ir/base/diag.h"
#include "ir/base/strings.h"

/* Where a box, a frame or an arrow lies, in points: x, y is the middle, and y grows upwards.  curve: the curve of an
 * arrow, as Graphviz writes it; NULL: no arrow. */
struct spot {
    double x, y, wide, high;
    const char *curve;
};

struct layout {
    struct strings *name;
    struct spot *spot; /* [id of name] */
    uint32_t n, cap;
    double screens; /* how large the picture is, when it is arranged */
};

/* What dot has written with -Tjson0.  -1 and an error.  Lives in a. */
int layout_read(const char *path, struct layout *l, struct arena *a, struct diag *d);

/* NULL: dot has not placed it. */
const struct spot *layout_find(const struct layout *l, const char *name);

/* A curve, moved.  Lives in a. */
const char *layout_move_curve(const char *curve, double x, double y, struct arena *a);

#endif
