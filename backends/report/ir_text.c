/* The textual IR of a result. */
#include "backends/backends.h"
#include "ir/base/outfile.h"

int ir_write(const struct result *r, const char *path)
{
    struct outfile o;
    if (outfile_open(&o, path, r->diag))
        return -1;
    module_print(o.f, &r->scene, r->plan);
    return outfile_close(&o, true);
}
