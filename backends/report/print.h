/* Prints one file for a writer (backends.h). */
#ifndef PCC_BACKENDS_REPORT_PRINT_H
#define PCC_BACKENDS_REPORT_PRINT_H

#include "backends/backends.h"

#include <stdio.h>

/* Opens the file `path` for result r (outfile_open_to()), has put() write it, and closes it.  put() may take memory
 * from a, which is freed after the call.  Returns 0, or -1 and an error. */
int writer_print(const struct result *r, const char *path,
                 void (*put)(FILE *f, const struct result *r, struct arena *a));

#endif
