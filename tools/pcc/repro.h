/* Reproducers: files of textual IR that show a failure inside pcc again; their first line has the command to run. */
#ifndef PCC_TOOLS_REPRO_H
#define PCC_TOOLS_REPRO_H

#include "cli.h"
#include "passes/pipeline.h"

#define REPRO_FILE "pcc-repro.pir"

/* Writes REPRO_FILE into the current folder, after step number `at` of p has failed: the module as it is before that
 * step (or before an earlier step that makes levels, which textual IR cannot hold), and the command to run the steps
 * from there to the failed one.  y: a context with the module as it was read; its diag may be silent; y cannot be
 * used afterwards.  verify_each: the run had --verify-each.  Returns 0; or reports an error to d and returns -1. */
int repro_write(struct ctx *y, const struct pipeline *p, uint32_t at, bool verify_each,
                struct diag *d);
/* If the input of c is a reproducer and c has no passes, outputs and devices: sets c->replay, gives c the options in
 * the first line that c does not have, and tells the user so in a note.  Else does nothing.  Returns 0; or reports an
 * error and returns -1, if the line cannot be parsed, has an option that reproducers do not have, or has a value that
 * begins with '@', as --passes=@FILE does. */
int repro_options(struct cli *c, struct arena *a, struct diag *d);

#endif
