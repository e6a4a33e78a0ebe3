/* A file that appears complete or not at all. */
#ifndef PCC_IR_BASE_OUTFILE_H
#define PCC_IR_BASE_OUTFILE_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"

#include <stdio.h>

struct outfile {
    FILE *f;
    const char *path; /* "-": a stream of the caller's */
    char *temp;       /* NULL: it has no name yet, or is such a stream */
    struct diag *diag;
    struct arena *own; /* removes the file if it is freed before the file is closed */
};

/* 0 and o->f to write to, or -1 with a diagnostic.  *o must not be moved until it is closed; if memory runs out
 * before, or `of` is freed, nothing is left. */
int outfile_open(struct outfile *o, const char *path, struct arena *of, struct diag *d);
/* The same, but the path "-" means the stream `out` (NULL: stdout), which stays open. */
int outfile_open_to(struct outfile *o, const char *path, FILE *out, struct arena *of,
                    struct diag *d);
/* Whether outfile_open would succeed, before much work is done for it; leaves nothing.  0 or -1. */
int outfile_check(const char *path, struct arena *of, struct diag *d);
/* The first folder on the way to path that is not there, in a; NULL: all are. */
const char *outfile_missing(const char *path, struct arena *a);
/* Finishes and renames; on any failure (also an earlier one, when ok is false) nothing is left. */
int outfile_close(struct outfile *o, bool ok);

#endif
