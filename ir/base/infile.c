/* Reading whole text files into an arena (infile.h).  Works for pipes, too: the size is not asked
 * for, the buffer doubles.  O(bytes). */
#include "ir/base/infile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 65536 };

static void close_file(void *f)
{
    fclose(f);
}

char *infile_read(const char *path, struct arena *a, size_t *len, struct diag *d)
{
    struct arena *own = arena_new(a);
    FILE *f = fopen(path, "rb");
    uint32_t cap = 0, n = 0;
    size_t got = 1;
    char *text = NULL;
    if (!f) {
        diag_error(d, "%s: %s", path, strerror(errno));
        arena_free(own);
        return NULL;
    }
    arena_defer(own, close_file, f);
    while (got > 0 && n < INT32_MAX) {
        text = vec_grow(a, text, &cap, n + BLOCK + 1, 1);
        got = fread(text + n, 1, BLOCK, f);
        n += (uint32_t)got;
    }
    const char *wrong = ferror(f) ? strerror(errno) : got > 0 ? "over 2 GiB" : NULL;
    if (wrong)
        diag_error(d, "%s: cannot be read: %s", path, wrong);
    arena_free(own);
    if (wrong)
        return NULL;
    text[n] = 0;
    *len = n;
    return text;
}
