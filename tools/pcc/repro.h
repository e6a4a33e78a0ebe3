/* Reproducers: a textual IR that shows an internal failure again, with the command in its first line. */
#ifndef PCC_TOOLS_REPRO_H
#define PCC_TOOLS_REPRO_H

#include "cli.h"
#include "passes/pipeline.h"

#define REPRO_FILE "pcc-repro.pir"

/* Writes REPRO_FILE into the current folder: the module as it is before step `at` of p (or before the
 * first pass whose result is no part of the text), and the passes from there to the failed one.  y is
 * a context with the module as it was read and a diag that may be silent; it is used up.
 * 0, or -1 with a diagnostic in d. */
int repro_write(struct ctx *y, const struct pipeline *p, uint32_t at, bool verify_each,
                struct diag *d);
/* If c names a reproducer and no passes and no output: takes its first line's options, and says so.
 * 0, or -1 and an error if it has options other than those that repro_write gives. */
int repro_options(struct cli *c, struct arena *a, struct diag *d);

#endif
