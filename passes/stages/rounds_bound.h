/* What no plan with several stages on each device can beat (--schedule=interleaved). */
#ifndef PCC_PASSES_STAGES_ROUNDS_BOUND_H
#define PCC_PASSES_STAGES_ROUNDS_BOUND_H

#include "passes/stages/train.h"

struct rounds;

/* Input of the bound. */
struct rounds_of {
    const struct train *t;
    const struct training *m;     /* of an interleaved schedule */
    const struct stage_states *s; /* of all layers; NULL: they are not known */
    const int64_t
        *move; /* [state] ps: no transfer of a micro-batch's values out of the state is shorter */
};

/* All that questions need.  Lives in a, as *of has to.  O(layers * devices + states log states). */
struct rounds *rounds_set_up(const struct rounds_of *of, struct arena *a);
/* Whether no plan with two stages or more on each device takes `most` ps or less.  O(states * layers), and for each
 * number of places O(devices^3 + devices * layers log layers) of 32 devices at most. */
bool rounds_refutes(const struct rounds *r, int64_t most);

#endif
