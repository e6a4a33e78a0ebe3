/* A summary of a profile of layers. */
#ifndef PCC_BACKENDS_REPORT_PROFILE_REPORT_H
#define PCC_BACKENDS_REPORT_PROFILE_REPORT_H

#include "ir/model/module.h"

#include <stdio.h>

/* Whether all nodes are layers of a profile, each with a forward and a backward one. */
bool is_layer_profile(const struct module *m);
/* Layers, times, bytes, the largest and the smallest cut in the order of layers (where some are equal, the first).
 * O(nodes + operands). */
void profile_summary_print(FILE *f, const struct module *m);

#endif
