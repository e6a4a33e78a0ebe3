/* The order of a plan's parts when many samples pass through it: in rounds (rounds.h). */
#ifndef PCC_IR_EXEC_SAMPLE_ROUNDS_RHYTHM_H
#define PCC_IR_EXEC_SAMPLE_ROUNDS_RHYTHM_H

#include "ir/exec/exec_runs.h"

/* Returns the round of each part, as `level`, and its phase (struct rhythm of schedule.h).  A part runs one round
 * after the parts on other devices whose results it reads; two rounds after them where transfers overlap computing,
 * so that the transfer has the round between.  With the schedule GPipe forward parts are phase 0, backward parts
 * phase 1.  Lives in a.  O(parts + inputs of parts). */
struct rhythm rhythm_of_rounds(const struct rhythm_ask *of, struct arena *a);

#endif
