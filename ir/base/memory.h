/* Streams whose text is collected in memory. If memory runs out before a stream is closed, an arena closes it and frees
 * its text. */
#ifndef PCC_IR_BASE_MEMORY_H
#define PCC_IR_BASE_MEMORY_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"

#include <stdio.h>

/* A stream whose text is collected in memory. */
struct memory {
    /* the stream, to which callers write; NULL: no stream could be opened, and memory_close() fails */
    FILE *f;
    char *text;        /* the text so far, as open_memstream() keeps it */
    size_t n;          /* bytes of text */
    struct arena *own; /* closes the stream if this arena is freed before memory_close() */
};

/* Opens m->f, until memory_close() or until `of` is freed.  *m must stay at its place until then. */
void memory_begin(struct memory *m, struct arena *of);
/* Closes the stream.  Returns its text, in a; NULL, and errno, if the stream failed. */
const char *memory_close(struct memory *m, struct arena *a);
/* Closes the stream.  Returns its text, in a; NULL if the caller's work failed (ok == false); or, if the stream
 * failed, reports an error about `what` and returns NULL. */
const char *memory_end(struct memory *m, bool ok, const char *what, struct arena *a,
                       struct diag *d);

#endif
