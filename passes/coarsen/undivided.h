/* Warnings about nodes that take much of the time, since no plan can divide a node. */
#ifndef PCC_PASSES_COARSEN_UNDIVIDED_H
#define PCC_PASSES_COARSEN_UNDIVIDED_H

#include "passes/passes.h"

/* Warns of calls (WARN_WHOLE_CALL) and of nodes with bodies (WARN_WHOLE_BODY) in x->levels.base that take much of the
 * time (head of undivided.c). */
void warn_undivided(struct ctx *x);

#endif
