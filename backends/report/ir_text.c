/* Writes a result as textual IR.  Paths of weight files are relative to the folder of the text, so that the text can be
 * read from there; on standard output they are as pcc opened the files.  O(text). */
#include "backends/backends.h"
#include "ir/base/infile.h"
#include "ir/base/outfile.h"

#include <string.h>

/* Returns the path of file f relative to the folder `folder`.  A path that ends in the location that the model gives
 * for external data keeps this end, behind the relative path of the model's folder: so it can be found although the
 * file need not exist. */
static sid path_from(struct module *m, const struct file *f, const char *folder, struct arena *a)
{
    const char *path = module_str(m, f->path), *end = module_str(m, f->location);
    size_t n = strlen(path), k = strlen(end);
    if (k == 0 || k > n || strcmp(path + n - k, end) != 0)
        return str_id(m, infile_relative(folder, path, a));
    const char *beside = n > k ? arena_strdup(a, path, n - k) : "./";
    return str_id(m, arena_fmt(a, "%s%s", infile_relative(folder, beside, a), end));
}

/* Returns a copy of the files of m, in a, with paths relative to the folder of `path`. */
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

/* Whether onnx_make() and onnx_carry() must run before printing, so that the text gets those fields that only the
 * ONNX messages have: true for a module that was read from ONNX; for a module that was read from text only if
 * passes have renamed values. */
static bool wants_messages(const struct module *m)
{
    bool renamed = false;
    for (vid v = 1; v < m->nval && m->patterns && m->rewritten; v++)
        renamed = renamed || m->value[v].was != 0;
    return m->src && (!m->patterns || renamed);
}

/* For writer.write: writes the module, with its plan, as textual IR.  Returns 0, or -1 and an error. */
static int write_ir(const struct result *r, const void *opts, const char *path)
{
    (void)opts;
    const struct result *of = r->made ? r->made : r;
    struct scene s = of->scene;
    struct module m; /* a copy, whose files may have other paths */
    struct arena *a = arena_new(s.m->mem);
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
        rc = outfile_close(&o, /*ok=*/true);
    }
    arena_free(a);
    return rc;
}

const struct writer writer_ir = {
    .name = "ir", .suffix = ".pir", .to_stdout = true, .write = write_ir};
