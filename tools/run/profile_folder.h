/* Measures a split folder as a whole: reads it, makes inputs, measures its parts. */
#ifndef PCC_TOOLS_RUN_PROFILE_FOLDER_H
#define PCC_TOOLS_RUN_PROFILE_FOLDER_H

#include "ir/base/name_table.h"
#include "tools/run/costs_in.h"
#include "tools/run/inputs.h"
#include "tools/run/side_by_side.h"

/* How folders are measured. */
struct profiling {
    /* how to measure; the fields s and table, which belong to a folder, are not set */
    struct measuring m;
    struct inputs_of inputs;
    /* [ndim] NAME=N: other sizes than those that the folder was planned for */
    const char *const *dim;
    uint32_t ndim;
    /* the most copies of the slowest part that are also measured side by side; 0: none */
    uint32_t side_by_side;
    const char *cores; /* processors that the copies may use, as --cores lists them; NULL: any */
    /* parameters that are inputs of their parts, as in steps of training; NULL: those that the manifest lists */
    const struct names *parameters;
};

/* A folder that was measured. */
struct profiled {
    struct split s;
    struct measuring m;
    struct part_figures *f; /* [s.npart] what was measured of each part */
    struct side_by_side side;
};

/* Measures a folder into *out, which must stay at its place.  known: times of nodes that are scaled to the measured
 * parts, so that nodes are not measured; NULL: nodes are measured.  Returns 0, or -1 after an error. */
int profile_folder(const struct profiling *p, const char *folder, const struct costs_in *known,
                   struct profiled *out);

#endif
