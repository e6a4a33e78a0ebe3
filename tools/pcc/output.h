/* What a run leaves: files, stdout, the table. */
#ifndef PCC_TOOLS_OUTPUT_H
#define PCC_TOOLS_OUTPUT_H

#include "cli.h"

/* Whether the options that say what is written make sense, before anything is read.  0, or -1 and an error. */
int output_check(const struct cli *c, struct arena *a, struct diag *d);
/* Whether what -o wants can be written, as far as that is known before anything is planned for the model
 * m; nothing is left.  0, or -1 and an error. */
int output_probe(const struct cli *c, const struct module *m, struct diag *d);
/* Whether -o names the folder of a split: no suffix says that it is a file. */
bool output_is_folder(const char *path);
/* Judges the plan, writes what -o and --emit want, prints the table and what goes with it.  brought: the
 * devices came with the input.  0 or -1. */
int output_write(const struct cli *c, struct ctx *x, bool brought);
/* -Werror: were there warnings that fail the run?  0, or -1 and an error. */
int output_warned(struct diag *d);

#endif
