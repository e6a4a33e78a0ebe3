/* Writing numpy's archives of arrays, .npz. */
#ifndef PCC_TOOLS_RUN_NPZ_WRITE_H
#define PCC_TOOLS_RUN_NPZ_WRITE_H

#include "tools/run/npz.h"

#include "ir/base/outfile.h"

/* An archive that is being written. */
struct npz_out {
    struct outfile file;
    struct arena *a;
    struct npz_entry *entry; /* [n] */
    uint32_t n, cap;
    uint64_t at; /* number of bytes written so far */
};

/* Begins an archive, which appears as a whole or not at all; *z must stay at its place.  Returns 0, or -1 and an
 * error. */
int npz_begin(struct npz_out *z, const char *path, struct arena *a, struct diag *d);
/* Adds an array.  Types that numpy lacks are written as integers of their width, strings as npz_texts() makes them.
 * Returns 0; -1: the array has neither plain numbers nor strings, its name is too long, or the archive has too many
 * arrays. */
int npz_add(struct npz_out *z, const struct npz_array *array);
/* Ends the archive.  Returns 0; -1 after an error.  ok == false: removes the file, without an error, and returns -1. */
int npz_end(struct npz_out *z, bool ok);

#endif
