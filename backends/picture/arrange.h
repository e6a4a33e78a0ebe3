/* Where frames stand beside and below each other, and what arrows between them carry. */
#ifndef PCC_BACKENDS_PICTURE_ARRANGE_H
#define PCC_BACKENDS_PICTURE_ARRANGE_H

#include "ir/base/arena.h"

#include <stdint.h>

/* All lengths in points; down is more. */
struct arrange_frame {
    double wide, high;
    double x, y; /* its corner at the left above */
    uint32_t stack;
};

/* A label on an arrow between two frames, or between a frame and the host. */
struct arrange_sign {
    uint32_t from, to; /* the frames at the arrow's tail and head, each + 1; 0: the host */
    double wide, high;
    /* from the top of the label's frame down to the middle of the box that the arrow meets there; the label's frame is
     * `to`, or `from` where `to` is the host */
    double at;
    double x, y; /* the middle of the label */
};

struct arrangement {
    struct arrange_frame *frame;
    struct arrange_sign *sign;
    uint32_t frames, signs;
    double wide, high;
};

/* Sets all x and y: frames in their order, in as many stacks as the picture then needs least of a screen, or as few as
 * fit on one.  A label stands between its frames if they follow each other in a stack, else at the left of the one that
 * reads, at the right for the host; no two boxes touch.  O(stacks * (n log n)) for n frames and labels. */
void picture_arrange(struct arrangement *t, struct arena *a);

/* How many screens it is, or is wide, or high, whichever is most. */
double arrange_screens(const struct arrangement *t);

#endif
