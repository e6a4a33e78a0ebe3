/* Outputs of a run: files, text on stdout, and the table of the plan. */
#ifndef PCC_TOOLS_OUTPUT_H
#define PCC_TOOLS_OUTPUT_H

#include "cli.h"
#include "tools/lib/handle.h"

/* Checks the options of outputs before the model is read.  Returns 0; or reports an error and returns -1. */
int output_check(const struct cli *c, struct pcc *p);
/* Whether -o or --emit names a writer whose `needs` is `what`.  output_check() must have succeeded before. */
bool output_needs(const struct cli *c, enum writer_needs what);
/* Judges the plan, writes the outputs of -o and --emit, and prints the table of the plan and the reports that
 * options ask for (--compare, --replay, ...).  Returns 0; or reports an error and returns -1. */
int output_write(const struct cli *c, struct pcc *p);

#endif
