/* Arranges the frames of a picture in stacks side by side, with the labels of the arrows between frames. */
#ifndef PCC_BACKENDS_PICTURE_ARRANGE_H
#define PCC_BACKENDS_PICTURE_ARRANGE_H

#include "ir/base/arena.h"

#include <stdint.h>

/* A frame.  All lengths in this file are in points; y grows downwards. */
struct arrange_frame {
    double wide, high;
    double x, y;    /* points: upper left corner */
    uint32_t stack; /* number of its stack, from the left, from 0 */
};

/* A label on an arrow between two frames, or between a frame and the host. */
struct arrange_sign {
    uint32_t from, to; /* the frames at the arrow's tail and head, each + 1; 0: the host */
    double wide, high;
    /* distance from the top of a frame down to the middle of the frame's box that the arrow meets; the frame is `to`,
     * or `from` if `to` is the host */
    double at;
    double x, y; /* the middle of the label */
};

struct arrangement {
    struct arrange_frame *frame; /* [frames] in the order in which they are to stand */
    struct arrange_sign *sign;   /* [signs] */
    uint32_t frames, signs;
    double wide, high; /* size of the whole picture */
};

/* Sets all x, y and stacks, wide and high.  The frames stand in their order in stacks, in the smallest number of stacks
 * that fits on one screen, else in the number for which arrange_screens() is smallest.  A label stands between its
 * two frames if these follow each other directly in a stack; else beside its frame: at the right if the host is at
 * one end, at the left otherwise.  No two boxes touch.  O(stacks * (n log n)) for n frames and labels. */
void picture_arrange(struct arrangement *t, struct arena *a);

/* Returns the size of the picture in screens: the largest of its width, its height and their product. */
double arrange_screens(const struct arrangement *t);

#endif
