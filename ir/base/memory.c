/* Streams whose text is collected in memory (memory.h): open_memstream(), tied to an arena, since memory may run out
 * while a caller writes. */
#include "ir/base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Closes a struct memory whose arena is freed; called by the arena. */
static void close_memory(void *p)
{
    struct memory *m = p;
    if (m->f)
        fclose(m->f);
    free(m->text);
}

void memory_begin(struct memory *m, struct arena *of)
{
    *m = (struct memory){.own = arena_new(of)};
    arena_defer(m->own, close_memory, m);
    m->f = open_memstream(&m->text, &m->n);
}

const char *memory_close(struct memory *m, struct arena *a)
{
    bool whole = m->f && fflush(m->f) == 0 && !ferror(m->f);
    /* glibc's fclose() may succeed although there is no memory for the text */
    whole = m->f && fclose(m->f) == 0 && whole && m->text;
    m->f = NULL;
    const char *kept = whole ? arena_strdup(a, m->text, m->n) : NULL;
    arena_free(m->own);
    return kept;
}

const char *memory_end(struct memory *m, bool ok, const char *what, struct arena *a, struct diag *d)
{
    const char *kept = memory_close(m, a);
    if (ok && !kept)
        diag_error(d, "%s: %s", what, strerror(errno));
    return ok ? kept : NULL;
}
