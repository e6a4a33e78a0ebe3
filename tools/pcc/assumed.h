/* What a plan rests on that nobody said. */
#ifndef PCC_TOOLS_ASSUMED_H
#define PCC_TOOLS_ASSUMED_H

#include "cli.h"

/* "2xa100:80GiB, links of 25GB/s,10us, f32 at peak rate, nothing reserved, batch=1 sequence=128; set with -d,
 * --link, --efficiency, --reserve, --dim", of what the command line leaves open; NULL: nothing.  brought: the
 * devices came with the input.  Lives in x->use.mem.  O(nodes). */
const char *assumed_text(const struct cli *c, const struct ctx *x, bool brought);

#endif
