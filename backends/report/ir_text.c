/* The textual IR of a result.  Files of weights are named as seen from the folder of the text, so that it can be read
 * where it lies; on standard output as they were opened.  O(text). */
#include "backends/backends.h"
#include "ir/base/infile.h"
#include "ir/base/outfile.h"

#include <string.h>

/* The path of file f as seen from a folder.  External data keeps the name that the model has for it, from the
 * model's own folder on: be it there or not. */
static sid path_from(struct module *m, const struct file *f, const char *folder, struct arena *a)
{
    const char *path = module_str(m, f->path), *end = module_str(m, f->location);
    size_t n = strlen(path), k = strlen(end);
    if (k == 0 || k > n || strcmp(path + n - k, end) != 0)
        return str_id(m, infile_relative(folder, path, a));
    const char *beside = n > k ? arena_strdup(a, path, n - k) : "./";
    return str_id(m, arena_fmt(a, "%s%s", infile_relative(folder, beside, a), end));
}

/* The files of m under the names that they have in the folder of `path`; lives in a. */
static struct file *name_files(struct module *m, const char *path, struct arena *a)
{
    const char *slash = strrchr(path, '/');
    const char *folder = slash ? arena_strdup(a, path, (size_t)(slash - path) + 1) : ".";
    struct file *list = arena_array(a, m->nfile, sizeof *list);
    memcpy(list, m->file, m->nfile * sizeof *list);
    for (uint32_t k = 1; k < m->nfile; k++)
        if (!list[k].nowhere)
            list[k].path = path_from(m, &m->file[k], folder, a);
    return list;
}

/* Whether ONNX messages must be made before printing: the text carries their unknown fields, and passes have
 * changed the nodes that the old messages belong to. */
static bool wants_messages(const struct module *m)
{
    bool renamed = false;
    for (vid v = 1; v < m->nval && m->patterns && m->rewritten; v++)
        renamed = renamed || m->value[v].was != 0;
    return m->src && (!m->patterns || renamed);
}

static int write_ir(const struct result *r, const void *opts, const char *path)
{
    (void)opts;
    const struct result *of = r->made ? r->made : r;
    struct scene s = of->scene;
    struct module m = *s.m;
    struct arena *a = arena_new(m.mem);
    struct outfile o;
    int rc = wants_messages(s.m) && (onnx_make(s.m, r->diag) || onnx_carry(s.m, r->diag)) ? -1 : 0;
    if (rc == 0)
        rc = outfile_open_to(&o, path, r->out, a, r->diag);
    if (rc == 0) {
        m = *s.m;
        if (strcmp(path, "-") != 0)
            m.file = name_files(s.m, path, a);
        s.m = &m;
        module_print(o.f, &s, of->plan);
        rc = outfile_close(&o, true);
    }
    arena_free(a);
    return rc;
}

const struct writer writer_ir = {
    .name = "ir", .suffix = ".pir", .to_stdout = true, .write = write_ir};
