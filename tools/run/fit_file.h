/* A class of devices fitted to the measured nodes of a model, as a cluster file. */
#ifndef PCC_TOOLS_RUN_FIT_FILE_H
#define PCC_TOOLS_RUN_FIT_FILE_H

#include "tools/run/pieces.h"

/* Fits a class (fit.h) to the nodes of the model of->model whose times the file of->costs has, prints the class and how
 * far it is off for each operator type, and writes it to `path`, for pcc's -d.  Returns 0; -1 after an error. */
int fit_write(const struct pieces_of *of, const char *path, struct arena *a, struct diag *d);

#endif
