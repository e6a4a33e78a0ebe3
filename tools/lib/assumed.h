/* Assumptions of a plan: devices, links, rates and sizes that no setting gave. */
#ifndef PCC_TOOLS_LIB_ASSUMED_H
#define PCC_TOOLS_LIB_ASSUMED_H

#include "tools/lib/handle.h"

/* "2xa100:80GiB, links of 25GB/s,10us, f32 at peak rate, nothing reserved, batch=1 sequence=128; set with -d,
 * --link, --efficiency, --reserve, --dim", of what the settings leave open; NULL: nothing.
 * sizes: those of dimensions, too.  Lives in p->x.use.mem.  O(nodes). */
const char *assumed_text(const struct pcc *p, bool sizes);

#endif
