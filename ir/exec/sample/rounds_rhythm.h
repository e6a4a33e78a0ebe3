/* How parts follow each other while samples do: round by round. */
#ifndef PCC_IR_EXEC_SAMPLE_ROUNDS_RHYTHM_H
#define PCC_IR_EXEC_SAMPLE_ROUNDS_RHYTHM_H

#include "ir/exec/exec_runs.h"

/* A part runs one round after the parts on other devices whose results it reads; two rounds after them where
 * transfers overlap computing, so that the transfer has a round of its own.  GPipe's backward pass is a phase of its
 * own.  Lives in a.  O(parts + inputs). */
struct rhythm rhythm_of_rounds(const struct rhythm_ask *of, struct arena *a);

#endif
