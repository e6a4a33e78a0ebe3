/* The execution models. */
#ifndef PCC_TOOLS_LIB_EXEC_KINDS_H
#define PCC_TOOLS_LIB_EXEC_KINDS_H

#include "ir/cluster/exec_model.h"

/* For exec_model.kinds: the time per sample first; ends with NULL. */
extern const struct exec_kind *const exec_kinds[];

#endif
