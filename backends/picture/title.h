/* The words over a picture. */
#ifndef PCC_BACKENDS_PICTURE_TITLE_H
#define PCC_BACKENDS_PICTURE_TITLE_H

#include "backends/picture/blocks.h"

/* A blank at which no line is broken. */
#define NO_BREAK "\xc2\xa0"

/* Text for DOT in lines of bounded length, which are to stand at the left: broken at blanks, never within a word.
 * Lives in a.  O(length). */
const char *title_break(const char *text, struct arena *a);

/* The model, how good its plan is and why, the memory of devices that have several frames, and a legend; text for DOT.
 * Lives in a. */
const char *title_write(const struct result *r, const struct frames *f, const char *legend,
                        struct arena *a);

/* Whether a device has several frames.  O(frames + devices). */
bool frames_share_devices(const struct result *r, const struct frames *f);

#endif
