/* Makes the title above a picture. */
#ifndef PCC_BACKENDS_PICTURE_TITLE_H
#define PCC_BACKENDS_PICTURE_TITLE_H

#include "backends/picture/blocks.h"

/* A blank at which title_break() breaks no line. */
#define NO_BREAK "\xc2\xa0"

/* Returns the text broken at blanks into lines of at most 84 bytes (a longer word gets a line of its own), as text for
 * DOT: each line ends in "\l", which aligns it to the left.  Lives in a.  O(length). */
const char *title_break(const char *text, struct arena *a);

/* Returns the title, as text for DOT: the model's name, the plan's value, bound, status and argument, the memory of the
 * devices if some device has several frames, and the legend.  Lives in a. */
const char *title_write(const struct result *r, const struct frames *f, const char *legend,
                        struct arena *a);

#endif
