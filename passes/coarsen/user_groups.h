/* Makes groups of vertices that stay together because an option asks for it: by, blocks and calls of contract, and
 * --keep-blocks. */
#ifndef PCC_PASSES_COARSEN_USER_GROUPS_H
#define PCC_PASSES_COARSEN_USER_GROUPS_H

#include "passes/passes.h"

/* Sets group[vertex of the base level] to the vertex's layer (ir/model/layers.h), 0: none.  Adds a note with the number
 * of layers, or a warning if there are none. */
void groups_by_layer(struct ctx *x, uint32_t *group);

/* Sets group[vertex of the base level] to the vertex's layer if another layer has the same operators in the same order,
 * else to 0.  Adds a note about these layers, or a warning if there are none. */
void groups_by_repeat(struct ctx *x, uint32_t *group);

/* Sets group[vertex of the base level] to the number, from 1, of the first block in `file` with a regular expression
 * that matches the vertex's node; 0: none does.  The file has a block per line, of regular expressions separated by
 * blanks; or, with the ending .json, a list or an object of blocks, each one regular expression or a list of them.
 * Returns 0, or -1 after an error. */
int groups_by_block(struct ctx *x, const char *file, uint32_t *group);

/* Sets group[vertex of the base level] to the open call whose nodes must stay together and that holds the vertex's
 * node, as index of its site; 0: none.  x->results.opened must be set.  share: percent of the time that the calls
 * that stay together may take in sum. */
void groups_by_call(struct ctx *x, int64_t share, uint32_t *group);

#endif
