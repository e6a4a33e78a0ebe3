/* Whole text files: pipelines, pins, plans, lists of patterns. */
#ifndef PCC_IR_BASE_INFILE_H
#define PCC_IR_BASE_INFILE_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"

/* All bytes of the file and a NUL after them, in a; NULL and an error if it cannot be read. */
char *infile_read(const char *path, struct arena *a, size_t *len, struct diag *d);

#endif
