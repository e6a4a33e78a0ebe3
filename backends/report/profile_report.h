/* Prints a summary of a profile of layers (a file with the times of a model's layers). */
#ifndef PCC_BACKENDS_REPORT_PROFILE_REPORT_H
#define PCC_BACKENDS_REPORT_PROFILE_REPORT_H

#include "ir/model/module.h"

#include <stdio.h>

/* Whether m was read from a profile of layers: its nodes are the forward passes of the layers, in order, and then as
 * many backward passes. */
bool is_layer_profile(const struct module *m);
/* Prints the number of layers, their times and bytes, and the largest and the smallest cut (the first of equal ones).
 * The cut after a layer is the number of bytes that this layer and all layers before it pass to later layers.
 * is_layer_profile(m) must hold.  O(nodes + operands). */
void profile_summary_print(FILE *f, const struct module *m);

#endif
