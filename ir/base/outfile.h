/* A file that appears complete or not at all. */
#ifndef PCC_IR_BASE_OUTFILE_H
#define PCC_IR_BASE_OUTFILE_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"

#include <stdio.h>

struct outfile {
    FILE *f;          /* the stream that the caller writes to; NULL: closed */
    const char *path; /* final name; "-": f is a stream of the caller's, which stays open */
    char *temp;       /* temporary name; NULL: the file has none */
    struct diag *diag;
    /* when this arena is freed before outfile_close(), the file is closed and removed */
    struct arena *own;
};

/* Creates the file for the name `path` and opens o->f for writing.  Returns 0; on failure reports an error and returns
 * -1.  *o must stay at its place until it is closed.  If `of` is freed before that, nothing of the file is left. */
int outfile_open(struct outfile *o, const char *path, struct arena *of, struct diag *d);
/* Does the same, except that the path "-" means the stream `out` (NULL: stdout), which stays open. */
int outfile_open_to(struct outfile *o, const char *path, FILE *out, struct arena *of,
                    struct diag *d);
/* Tests whether outfile_open() would succeed, so that a bad path is found before the file's content is worked out;
 * leaves nothing behind.  Returns 0; on failure reports an error and returns -1. */
int outfile_check(const char *path, struct arena *of, struct diag *d);
/* Returns the first folder of the path (its last part excluded) that does not exist, in a; NULL: all exist. */
const char *outfile_missing(const char *path, struct arena *a);
/* Closes the file and gives it its final name.  Returns 0; on failure removes the file, reports an error and returns
 * -1.  ok == false: the caller's work failed: removes the file without a further error and returns -1.  If the path
 * is "-", the caller's stream is only flushed, and an error is not reported. */
int outfile_close(struct outfile *o, bool ok);
/* Closes `data`, a file that o refers to, and then o, as outfile_close() does; `ok` is as there.
 * Returns 0; or -1 after an error: then neither file is left, so that no data is without the file
 * that refers to it; but if a file of that name was there before, it and `data` stay. */
int outfile_close_both(struct outfile *o, struct outfile *data, bool ok);

#endif
