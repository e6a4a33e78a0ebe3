/* How fast copies of one part run side by side.  Devices of one machine share its memory and caches, which limits the
 * speed of any split. */
#ifndef PCC_TOOLS_RUN_SIDE_BY_SIDE_H
#define PCC_TOOLS_RUN_SIDE_BY_SIDE_H

#include "tools/run/measure.h"

/* What was measured. */
struct side_by_side {
    uint32_t copies;  /* 0: nothing was measured */
    const char *file; /* name of the file of the part that was measured */
    int64_t alone;    /* ps of a run by the clock, of one copy alone */
    int64_t together; /* the same while all copies run */
};

/* Returns how fast a copy runs beside the others, in thousandths of its speed alone. */
int64_t side_by_side_factor(const struct side_by_side *s);
/* Runs the part that takes the longest (f: figures of all parts) alone and, in turn, as many copies as the split has
 * devices, 2 at least and `most` at most.  cores: processors as --cores lists them, of which each copy gets m->threads
 * while there are enough; NULL: any.  The inputs of the model must be in m's table.  Writes *out; its `copies` is 0 if
 * Ctrl-C ended the measurement.  Returns 0, or -1 and an error. */
int side_by_side(const struct measuring *m, const struct part_figures *f, uint32_t most,
                 const char *cores, struct side_by_side *out);

#endif
