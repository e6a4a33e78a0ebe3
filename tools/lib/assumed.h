/* Makes the text on what a plan assumes about devices, links, rates and sizes because no setting gave it. */
#ifndef PCC_TOOLS_LIB_ASSUMED_H
#define PCC_TOOLS_LIB_ASSUMED_H

#include "tools/lib/handle.h"

/* Returns the element type whose peak rate determines the time of node n: the type of its first operand of floating
 * point numbers or, without such an operand, of its first such result; ELEM_NONE: it has no such result either. */
enum elem assumed_type(const struct module *m, nid n);
/* Returns the assumptions, with the options that set them, in p->x.use.mem: "2xa100:80GiB, links of 25GB/s,10us, f32
 * at peak rate, nothing reserved, batch=1 sequence=128; set with -d, --link, --efficiency, --reserve, --dim"; NULL:
 * there are none.  sizes: whether to name the guessed sizes of dimensions, too.  O(nodes). */
const char *assumed_text(const struct pcc *p, bool sizes);

#endif
