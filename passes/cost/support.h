/* Nodes that classes of devices cannot run, from lists that engines give: --support=FILE:CLASS (support.c has the
 * forms). */
#ifndef PCC_PASSES_COST_SUPPORT_H
#define PCC_PASSES_COST_SUPPORT_H

#include "passes/functions/inliner.h"
#include "passes/passes.h"

/* Whether the user gave --support. */
bool support_wanted(const struct ctx *x);
/* Reads the files of --support for the nodes of m, and notes for each how many nodes its classes cannot run.  m: the
 * scene's module, or that of `inside`, in which function calls are replaced by their nodes (NULL: none are).  Writes
 * to *lacks, in the scratch arena, [node of m] bit k: class k cannot run the node; NULL: the user gave no files.
 * Returns 0, or -1 and reports an error. */
int support_read(struct ctx *x, const struct module *m, const struct inlined_module *inside,
                 const uint8_t **lacks);
/* Sets times of the scene's module, which has costs, to COST_NEVER: the time of a node on each class that cannot run
 * the node or a node in one of its bodies.  lacks: as support_read() returns it for that module.  O(nodes *
 * classes). */
void support_apply(struct ctx *x, const uint8_t *lacks);

#endif
