/* A file seen through a window: pieces of it in memory, read when they are looked at.  For the scan alone.
 *
 * A mapping would end the process when the file is cut short meanwhile, and what was checked in it could change before
 * it is used.  Here bytes come in once, and a file that ends too early is an error like any other. */
#ifndef PCC_FRONTENDS_ONNX_WINDOW_H
#define PCC_FRONTENDS_ONNX_WINDOW_H

#include "ir/base/arena.h"

#include <stdint.h>

enum { WINDOW_MOST = 1 << 16, WINDOW_LEAST = 1 << 12 };

struct window {
    int fd;
    uint64_t size;   /* of the file, when it was opened */
    uint64_t from;   /* position in the file of the bytes in memory */
    uint64_t n;      /* number of bytes in memory */
    uint64_t next;   /* bytes to read at a time */
    uint8_t *buf;    /* [WINDOW_MOST] */
    const char *bad; /* why the file could not be read, NULL: it could */
};

struct window window_new(int fd, uint64_t size, struct arena *a);
/* Reads [at, at + n) of the file to `to`.  0; -1 and w->bad. */
int window_read(struct window *w, uint64_t at, uint64_t n, void *to);
/* Makes the window begin at `keep` and hold [keep, end), end - keep <= WINDOW_MOST, end <= size; if that fails it holds
 * zeros, and w->bad. */
void window_move(struct window *w, uint64_t keep, uint64_t end);

/* Whether [at, at + n) is in the window. */
static inline int window_has(const struct window *w, uint64_t at, uint64_t n)
{
    return at >= w->from && at - w->from + n <= w->n;
}

#endif
