/* Warnings about nodes that no plan divides although they take much of the time. */
#ifndef PCC_PASSES_COARSEN_UNDIVIDED_H
#define PCC_PASSES_COARSEN_UNDIVIDED_H

#include "passes/passes.h"

/* WARN_WHOLE_CALL and WARN_WHOLE_BODY, about x->levels.base. */
void warn_undivided(struct ctx *x);

#endif
