/* Makes a folder for temporary files. */
#ifndef PCC_TOOLS_RUN_SCRATCH_H
#define PCC_TOOLS_RUN_SCRATCH_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"

/* Makes an empty folder below $TMPDIR, or the usual place, which is removed with all that is in it when `a` is freed.
 * Returns its path, in a; NULL after an error. */
const char *scratch_folder(struct arena *a, struct diag *d);

#endif
