/* Changes a manifest whose parts have states in pieces ("sharding" of backends/split/manifest.md) for readers of parts:
 * its inputs and outputs become the pieces. */
#ifndef PCC_IR_PLAN_STATE_PIECES_H
#define PCC_IR_PLAN_STATE_PIECES_H

#include "ir/base/diag.h"
#include "ir/base/json_in.h"

enum { PIECES_MOST = 64 }; /* the most pieces of one state */

/* Replaces, in a manifest, each row of "inputs", "outputs" and "states" that is a state in pieces by rows of its
 * pieces, which parts read and make.  Adds the member "whole", an object with the three lists as they were; drops a
 * member "whole" that the file has.  Does nothing else if there are no such states.  path: for errors.  Returns 0, or
 * -1 and an error. */
int state_pieces(json_t *manifest, const char *path, struct arena *a, struct diag *d);

#endif
