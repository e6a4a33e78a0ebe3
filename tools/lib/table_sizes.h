/* Sizes of dimensions from tables of measured times. */
#ifndef PCC_TOOLS_LIB_TABLE_SIZES_H
#define PCC_TOOLS_LIB_TABLE_SIZES_H

#include "tools/lib/handle.h"

/* Appends to p->settings.dims the sizes at which the tables of --costs and --profile-at were measured (table_facts.h),
 * as far as --dim does not say them, and notes what is taken.  Returns 0; -1 after an error: a table says another size
 * than --dim or another table, or another batch size than --profile-at; or a table of --profile-check was measured at
 * other sizes. */
int take_table_sizes(struct pcc *p);

#endif
