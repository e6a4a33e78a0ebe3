/* How parts follow each other while samples do: round by round. */
#ifndef PCC_IR_EXEC_SAMPLE_ROUNDS_RHYTHM_H
#define PCC_IR_EXEC_SAMPLE_ROUNDS_RHYTHM_H

#include "ir/exec/exec_runs.h"

/* A part comes a round behind those that it reads of on other devices; where transfers overlap computing two, so that a
 * transfer has one for itself.  GPipe's backward pass is a phase of its own.  Lives in a.  O(parts + inputs). */
struct rhythm rhythm_of_rounds(const struct rhythm_ask *of, struct arena *a);

#endif
