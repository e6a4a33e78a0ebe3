/* Prints the manual page and completions for shells, made from the tables of options and passes. */
#ifndef PCC_TOOLS_DOCS_H
#define PCC_TOOLS_DOCS_H

#include "cli.h"

#include <stdio.h>

/* Prints the manual page of pcc in roff. */
void docs_man(FILE *f, const struct cli *c, const char *version, struct arena *scratch);
/* Prints the completions for a shell: "bash", "zsh" or "fish". */
void docs_completion(FILE *f, const struct cli *c, const char *shell, struct arena *scratch);

#endif
