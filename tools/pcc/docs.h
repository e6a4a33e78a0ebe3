/* The manual page and the completions of shells, made from the tables of options and passes. */
#ifndef PCC_TOOLS_DOCS_H
#define PCC_TOOLS_DOCS_H

#include "cli.h"

#include <stdio.h>

void docs_man(FILE *f, const struct cli *c, const char *version, struct arena *scratch);
/* shell: "bash", "zsh" or "fish". */
void docs_completion(FILE *f, const struct cli *c, const char *shell, struct arena *scratch);

#endif
