/* A window: a part of a file in memory, which moves on through the file.  Used by scan.c.
 *
 * The file is not mapped into memory: if it became shorter meanwhile, reading the mapping would end the process, and
 * bytes could change between being checked and being used.  With a window each byte is read once, and a file that ends
 * too early is an ordinary error. */
#ifndef PCC_FRONTENDS_ONNX_WINDOW_H
#define PCC_FRONTENDS_ONNX_WINDOW_H

#include "ir/base/arena.h"

#include <stdint.h>

enum {
    WINDOW_MOST = 1 << 16, /* the most bytes of a window */
    WINDOW_LEAST = 1 << 12 /* bytes that are read after a jump in the file; then more each time */
};

/* A file, and the part of it that is in memory. */
struct window {
    int fd;
    uint64_t size;   /* bytes of the file when it was opened */
    uint64_t from;   /* buf[0 .. n) has the bytes of the file from this position on */
    uint64_t n;      /* number of bytes in buf */
    uint64_t next;   /* size in bytes that the last window_move() gave the window, at least */
    uint8_t *buf;    /* [WINDOW_MOST] */
    const char *bad; /* why the file could not be read; NULL: it could */
};

/* Returns an empty window on file fd of `size` bytes, with memory from a. */
struct window window_new(int fd, uint64_t size, struct arena *a);
/* Reads the bytes [at, at + n) of the file to `to`, past the window.  Returns 0, or -1 and sets w->bad. */
int window_read(struct window *w, uint64_t at, uint64_t n, void *to);
/* Moves the window: it begins at position `keep` then and has at least the bytes [keep, end).  end - keep <=
 * WINDOW_MOST, end <= size.  If the file cannot be read, sets w->bad, and the bytes are zeros. */
void window_move(struct window *w, uint64_t keep, uint64_t end);

/* Whether the bytes [at, at + n) of the file are in the window. */
static inline int window_has(const struct window *w, uint64_t at, uint64_t n)
{
    return at >= w->from && at - w->from + n <= w->n;
}

#endif
