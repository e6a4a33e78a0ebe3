/* Measuring a split folder as a whole: reading it, making inputs, measuring its parts. */
#ifndef PCC_TOOLS_RUN_PROFILE_FOLDER_H
#define PCC_TOOLS_RUN_PROFILE_FOLDER_H

#include "tools/run/costs_in.h"
#include "tools/run/inputs.h"
#include "tools/run/side_by_side.h"

/* How folders are measured. */
struct profiling {
    struct measuring m; /* without a split and its table */
    struct inputs_of inputs;
    const char *const
        *dim; /* [ndim] NAME=N: other sizes than those that the folder was planned for */
    uint32_t ndim;
    uint32_t
        side_by_side;  /* most copies of the slowest part that are run side by side, too; 0: none */
    const char *cores; /* processors that they may use, as --cores lists them; NULL: any */
};

/* A folder that was measured. */
struct profiled {
    struct split s;
    struct measuring m;
    struct part_figures *f; /* [s.npart] */
    struct side_by_side side;
};

/* Measures a folder into *out.  known: rows that give its nodes their shares, which then are not measured; NULL: none.
 * *out must stay at its place.  Returns 0, or -1 after an error. */
int profile_folder(const struct profiling *p, const char *folder, const struct costs_in *known,
                   struct profiled *out);

#endif
