/* The table of all execution models. */
#ifndef PCC_TOOLS_LIB_EXEC_KINDS_H
#define PCC_TOOLS_LIB_EXEC_KINDS_H

#include "ir/cluster/exec_model.h"

/* The value of exec_model.kinds (ir/cluster/exec_model.h) in pcc: the time per sample is the first row, NULL ends
 * it. */
extern const struct exec_kind *const exec_kinds[];

#endif
