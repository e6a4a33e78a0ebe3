/* Shows on stderr how far a long run is: in one line of the terminal, or in a new line of a log every 30 seconds. */
#ifndef PCC_TOOLS_PROGRESS_BAR_H
#define PCC_TOOLS_PROGRESS_BAR_H

#include "tools/lib/pcc.h"

#include <stdbool.h>

/* State of the line. */
struct progress_bar {
    int64_t began; /* start of the run: ns of clock_now() */
    int64_t drawn; /* when the line was drawn last: ns of clock_now(); 0: never */
    bool log;      /* stderr is no terminal */
    bool shown;    /* the line is on the terminal, with the cursor behind it */
};

/* Draws the line for progress p, if the run takes long enough and the last line is old enough; to be called by the
 * listener each time.  p->phase == NULL: removes the line. */
void progress_draw(struct progress_bar *b, const struct pcc_progress *p);
/* Removes the line from the terminal, if it is there, so that something else can be printed. */
void progress_erase(struct progress_bar *b);

/* Returns the width of the terminal at stderr in columns; 80 if it is not known. */
int progress_columns(void);

#endif
