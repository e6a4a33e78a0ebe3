/* Prints one file for a writer (print.h). */
#include "backends/report/print.h"

#include "ir/base/outfile.h"

int writer_print(const struct result *r, const char *path,
                 void (*put)(FILE *f, const struct result *r, struct arena *a))
{
    struct arena *a = arena_new(r->scene.m->mem);
    struct outfile o;
    int rc = outfile_open_to(&o, path, r->out, a, r->diag);
    if (!rc) {
        put(o.f, r, a);
        rc = outfile_close(&o, /*ok=*/true);
    }
    arena_free(a);
    return rc;
}
