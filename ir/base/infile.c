/* Reading whole text files into an arena (infile.h).  Works for pipes, too: the size is not asked
 * for, the buffer doubles.  O(bytes). */
#include "ir/base/infile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void close_file(void *f)
{
    fclose(f);
}

char *infile_read(const char *path, struct arena *a, size_t *len, struct diag *d)
{
    struct arena *own = arena_new(a);
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t n = 0, cap = 0, got = 1;
    if (!f) {
        diag_error(d, "%s: %s", path, strerror(errno));
        arena_free(own);
        return NULL;
    }
    arena_defer(own, close_file, f);
    while (got) {
        if (n + 4096 > cap) {
            char *bigger = arena_alloc(a, (cap = 2 * cap + 65536) + 1);
            if (n)
                memcpy(bigger, text, n);
            text = bigger;
        }
        got = fread(text + n, 1, cap - n, f);
        n += got;
    }
    bool bad = ferror(f) != 0;
    if (bad)
        diag_error(d, "%s: cannot be read: %s", path, strerror(errno));
    arena_free(own);
    if (bad)
        return NULL;
    *len = n;
    return text;
}
