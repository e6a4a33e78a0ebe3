/* Groups of vertices that stay together because the user or a default asks for it: contract{by}, {blocks}, {calls},
 * --keep-blocks. */
#ifndef PCC_PASSES_COARSEN_USER_GROUPS_H
#define PCC_PASSES_COARSEN_USER_GROUPS_H

#include "passes/passes.h"

/* group[vertex of the base level]: its layer (ir/model/layers.h) or 0.  A note says how many there are. */
void groups_by_layer(struct ctx *x, uint32_t *group);

/* group[vertex of the base level]: its layer if there are others like it, else 0.  A note says what was
 * found, a warning if nothing was. */
void groups_by_repeat(struct ctx *x, uint32_t *group);

/* group[vertex of the base level]: its block in `file`, from 1, or 0.  The file has a block per line,
 * of regular expressions separated by blanks; or, as .json, a list or an object of blocks, each one
 * regular expression or a list of them.  The first that matches a node counts.  0 or -1. */
int groups_by_block(struct ctx *x, const char *file, uint32_t *group);

/* group[vertex of the base level]: the open call that it is in if that stays together, else 0; x->results.opened
 * must be there.  share: most of the time, in percent, that such calls take in all. */
void groups_by_call(struct ctx *x, int64_t share, uint32_t *group);

#endif
