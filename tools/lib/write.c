/* Writes a model and its plan to files, folders or text in memory (write.h). */
#include "tools/lib/write.h"

#include "ir/base/infile.h"
#include "ir/base/nearest.h"
#include "ir/base/outfile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Returns a hint, in a, for the first word of `text`, "a,b", that is none of o's names: "; did you mean 'svg'?"; "" if
 * none is near. */
static const char *near_name(const struct opt *o, const char *text, struct arena *a)
{
    for (const char *s = text; s && (o->kind == OPT_CHOICE || o->kind == OPT_SET);) {
        size_t n = o->kind == OPT_SET ? strcspn(s, ",") : strlen(s);
        struct nearest t = nearest_to(s, n);
        for (int k = 0; o->names[k]; k++)
            nearest_try(&t, o->names[k]);
        if (t.best && (strlen(t.best) != n || memcmp(t.best, s, n) != 0))
            return nearest_hint(&t, a);
        s = s[n] ? s + n + 1 : NULL;
    }
    return "";
}

void *write_options(const struct pcc *p, const struct writer *w, struct arena *a, struct diag *d)
{
    void *opts = writer_opts_new(w, a);
    for (const struct writer_opt *const *o = w->opts; o && *o; o++) {
        const char *name = (*o)->opt.name, *text = handle_given(p, name);
        if (text && !*text && (*o)->opt.kind == OPT_BOOL)
            text = "true"; /* the option has no value on the command line, as in --curves */
        if (text && !opt_set(&(*o)->opt, opts, text)) {
            diag_error(d, "--%s '%s': expected %s%s", name, text, opt_expected(&(*o)->opt, a),
                       near_name(&(*o)->opt, text, a));
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
    int rc = 0;
    if (!opts || (w->has_model && onnx_make(p->x.scene.m, &p->diag)))
        rc = -1;
    else if (!write_is_stdout(path))
        rc = w->check ? w->check(p->x.scene.m, opts, path, &p->diag)
                      : outfile_check(path, a, &p->diag);
    arena_free(a);
    return rc;
}

/* Returns a copy of the verdict `figures` in which the nodes of w, a plan with more nodes, are counted; its loads live
 * in a. */
static struct verdict count_nodes(const struct verdict *figures, const struct written_plan *w,
                                  struct arena *a)
{
    const struct graph *g = &w->m.graph[1];
    uint32_t ndev = w->scene.cluster->ndev;
    struct verdict v = *figures;
    v.load = arena_array(a, (size_t)ndev + 1, sizeof *v.load);
    memcpy(v.load, figures->load, ndev * sizeof *v.load);
    for (uint32_t d = 0; d < ndev; d++)
        v.load[d].nodes = 0;
    for (nid n = g->first; n < g->first + g->count; n++)
        if (w->scene.place->kind[n] == PLACE_NODE)
            v.load[w->plan.dev[n]].nodes++;
    return v;
}

/* Returns the result that writer w is given.  For folders of plans whose stages recompute: with the nodes that run
 * again.  NULL after reporting an error. */
static const struct result *result_for(struct pcc *p, const struct writer *w)
{
    struct plan_figures *j = &p->judged;
    struct result *r = &j->r, *again = &j->again;
    struct arena *a = p->x.use.mem;
    if (w->suffix || !r->verdict || !written_plan_wanted(&r->scene, r->verdict->stages))
        return r;
    if (again->plan)
        return again;
    if (p->x.results.opened) {
        diag_error(&p->diag,
                   "the plan runs forward nodes again (--recompute), which cannot be written "
                   "while calls of functions are open: put their nodes into the model, -p "
                   "inline-functions,%s",
                   r->plan->planner);
        return NULL;
    }
    const struct staged_plan plan = {&r->scene, r->plan, r->verdict->stages};
    written_plan_make(&plan, a, &j->written);
    *again = *r;
    if (!j->written.copies)
        return again;
    diag_detail(&p->diag, "--recompute: %u nodes are made again in the parts", j->written.copies);
    j->written_verdict = count_nodes(r->verdict, &j->written, a);
    again->scene = j->written.scene;
    again->plan = &j->written.plan;
    again->verdict = &j->written_verdict;
    again->parts = j->written.parts;
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
