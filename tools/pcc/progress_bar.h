/* A line on the terminal, or now and then one in a log, that shows how far a long run is. */
#ifndef PCC_TOOLS_PROGRESS_BAR_H
#define PCC_TOOLS_PROGRESS_BAR_H

#include "tools/lib/pcc.h"

#include <stdbool.h>

struct progress_bar {
    int64_t began; /* the run, on clock_now() */
    int64_t drawn; /* last, on the same; 0: never */
    bool log;      /* stderr is no terminal */
    bool shown;    /* the cursor stands in the line */
};

/* What a listener is told: draws the line, a few times a second, once the run takes seconds. */
void progress_draw(struct progress_bar *b, const struct pcc_progress *p);
/* Takes the line away, if there is one, so that something else can be printed. */
void progress_erase(struct progress_bar *b);

/* Columns of the terminal at stderr; 80 if unknown. */
int progress_columns(void);

#endif
