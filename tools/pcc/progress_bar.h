/* A line on the terminal that shows how far a long run is. */
#ifndef PCC_TOOLS_PROGRESS_BAR_H
#define PCC_TOOLS_PROGRESS_BAR_H

#include "ir/base/listener.h"

struct progress_bar {
    int64_t began; /* the run, on clock_now() */
    int64_t drawn; /* last, on the same; 0: never */
    bool shown;    /* the cursor stands in the line */
};

/* For a listener whose user is the bar: draws the line, a few times a second, once the run takes seconds.  Never ends
 * the work. */
bool progress_draw(void *bar, const struct progress *p);
/* Takes the line away, if there is one, so that something else can be printed. */
void progress_erase(struct progress_bar *b);

#endif
