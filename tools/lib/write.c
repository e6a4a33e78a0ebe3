/* Writes a model and its plan to files, folders or text in memory (write.h). */
#include "tools/lib/write.h"

#include "ir/base/infile.h"
#include "ir/base/outfile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void *write_options(const struct pcc *p, const struct writer *w, struct arena *a, struct diag *d)
{
    void *opts = writer_opts_new(w, a);
    for (const struct writer_opt *const *o = w->opts; o && *o; o++) {
        const char *name = (*o)->opt.name, *text = handle_given(p, name);
        if (text && !*text && (*o)->opt.kind == OPT_BOOL)
            text = "true"; /* the option has no value on the command line, as in --curves */
        if (text && !opt_set(&(*o)->opt, opts, text)) {
            diag_error(d, "--%s '%s': expected %s", name, text, opt_expected(&(*o)->opt, a));
            return NULL;
        }
    }
    return opts;
}

int write_check_path(const char *model, const char *path, struct arena *a, struct diag *d)
{
    struct stat there;
    if (!*path || !strcmp(path, "-"))
        return diag_error(
            d,
            "-o '%s': expected a file or folder, or '-' and the ending of a file for stdout, such as "
            "-.json",
            path);
    if (write_is_stdout(path))
        return 0;
    if (model && stat(path, &there) == 0 && S_ISREG(there.st_mode) && infile_same(path, model))
        return diag_error(d, "-o %s: that is the model itself; expected another file", path);
    return writer_check_name(path, a, d);
}

bool write_is_stdout(const char *path)
{
    const char *suffix = writer_of(path)->suffix;
    return suffix && *path == '-' && !strcmp(path + 1, suffix);
}

bool write_is_folder(const char *path)
{
    return !writer_of(path)->suffix;
}

int write_probe(struct pcc *p, const char *path)
{
    struct arena *a = arena_new(p->x.use.mem);
    const struct writer *w = writer_of(path);
    const void *opts = write_options(p, w, a, &p->diag);
    int rc = !opts || (w->has_model && onnx_make(p->x.scene.m, &p->diag)) ? -1
             : write_is_stdout(path)                                      ? 0
             : w->check ? w->check(p->x.scene.m, opts, path, &p->diag)
                        : outfile_check(path, a, &p->diag);
    arena_free(a);
    return rc;
}

/* Returns the result that writer w is given.  For folders of plans whose stages recompute: with the nodes that run
 * again.  NULL after reporting an error. */
static const struct result *result_for(struct pcc *p, const struct writer *w)
{
    struct plan_figures *j = &p->judged;
    struct result *r = &j->r, *again = &j->again;
    if (w->suffix || !r->verdict || !remake_wanted(&r->scene, r->verdict->stages))
        return r;
    if (again->plan)
        return again;
    const struct staged_plan plan = {&r->scene, r->plan, r->verdict->stages};
    if (remake_plan(&p->x, &plan, r->verdict, &j->remade))
        return NULL;
    *again = *r;
    if (!j->remade.copies)
        return again;
    again->scene = j->remade.scene;
    again->plan = &j->remade.plan;
    again->verdict = &j->remade.verdict;
    again->parts = j->remade.parts;
    return again;
}

int write_one(struct pcc *p, const struct writer *w, const char *path)
{
    struct arena *a = arena_new(p->x.use.mem);
    const void *opts = write_options(p, w, a, &p->diag);
    p->diag.may_break_off = strcmp(path, "-") != 0;
    diag_tell(&p->diag, "writing", 0, 0);
    const struct result *r = opts ? result_for(p, w) : NULL;
    int rc =
        !r || (w->has_model && onnx_make(r->scene.m, &p->diag)) ? -1 : writer_run(w, r, opts, path);
    diag_tell(&p->diag, NULL, 0, 0);
    p->diag.may_break_off = false;
    arena_free(a);
    return rc;
}

/* ---- texts ------------------------------------------------------------------------------------ */

const char *table_text(struct pcc *p, const char *path)
{
    struct memory m;
    memory_begin(&m, p->x.use.mem);
    if (m.f)
        plan_print(m.f, &p->judged.r, path && write_is_folder(path) ? path : NULL);
    return memory_end(&m, /*ok=*/true, "the table of the plan", p->x.use.mem, &p->diag);
}
