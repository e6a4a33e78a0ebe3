/* Prints the repeated layers of a model for the terminal. */
#ifndef PCC_BACKENDS_REPORT_LAYER_TABLE_H
#define PCC_BACKENDS_REPORT_LAYER_TABLE_H

#include "ir/model/module.h"

#include <stdio.h>

/* Prints a line for each of the (at most four) most frequent kinds of layers that repeat, such as "layers      12 x
 * {attention, mlp}, 34 nodes each"; nothing if no layer repeats.  Takes memory from a. */
void layers_print(FILE *f, const struct module *m, struct arena *a);

#endif
