/* The repeated layers of a model, for the terminal. */
#ifndef PCC_BACKENDS_REPORT_LAYER_TABLE_H
#define PCC_BACKENDS_REPORT_LAYER_TABLE_H

#include "ir/model/module.h"

#include <stdio.h>

/* "layers      12 x {attention, mlp}, 34 nodes each": a line for each of the most frequent kinds of
 * layers that repeat; nothing if none does. */
void layers_print(FILE *f, const struct module *m, struct arena *a);

#endif
