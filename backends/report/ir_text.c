/* The textual IR of a result. */
#include "backends/backends.h"
#include "ir/base/outfile.h"

static int write_ir(const struct result *r, const void *opts, const char *path)
{
    (void)opts;
    struct outfile o;
    if (outfile_open_to(&o, path, r->out, r->scene.m->mem, r->diag))
        return -1;
    const struct result *m = r->made ? r->made : r;
    module_print(o.f, &m->scene, m->plan);
    return outfile_close(&o, true);
}

const struct writer writer_ir = {
    .name = "ir", .suffix = ".pir", .to_stdout = true, .write = write_ir};
