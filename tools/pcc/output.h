/* Output of a run: files, stdout, the table. */
#ifndef PCC_TOOLS_OUTPUT_H
#define PCC_TOOLS_OUTPUT_H

#include "cli.h"
#include "tools/lib/handle.h"

/* Checks the options of outputs before the model is read. 0, or -1 and an error. */
int output_check(const struct cli *c, struct pcc *p);
/* Whether -o or --emit has a writer with such needs; only after output_check. */
bool output_needs(const struct cli *c, enum writer_needs what);
/* Judges the plan, writes what -o and --emit want, prints the table and what goes with it.  0 or -1. */
int output_write(const struct cli *c, struct pcc *p);

#endif
