/* Why devices of a plan have nothing to do: what it would cost to use them. */
#ifndef PCC_TOOLS_LIB_IDLE_H
#define PCC_TOOLS_LIB_IDLE_H

#include "ir/plan/plan.h"

/* Returns a line about each class with idle devices, joined by "; ", in a: "acc3 unused: would cost 8.2 % in the best
 * of 12 plans that give it another device's first or last nodes".  NULL: no device is idle; or the plan is invalid, is
 * not for the time per sample, has or may have copies, has stages, ranks or slots, or is too large for IDLE_LOOKS looks
 * at nodes. */
const char *idle_text(const struct scene *s, const struct plan *plan, struct arena *a);

#endif
