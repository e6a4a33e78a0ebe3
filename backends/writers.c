/* The table of writers, and what it says about names, suffixes and options (backends.h).  O(writers) each. */
#include "backends/backends.h"

#include "ir/base/strings.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

extern const struct writer writer_onnx, writer_ir, writer_csv, writer_json, writer_dot, writer_svg,
    writer_levels, writer_pdf, writer_png, writer_gantt, writer_trace, writer_split;

/* In the order in which help and messages list them. */
const struct writer *const writer_table[] = {
    &writer_onnx,  &writer_ir,    &writer_csv, &writer_json, &writer_levels,
    &writer_dot,   &writer_svg,   &writer_pdf, &writer_png,  &writer_gantt,
    &writer_trace, &writer_split, NULL};

/* Files that are something else than a folder, as far as names tell. */
static const char *const strangers[] = {"jpg",  "jpeg",   "gif",         "bmp", "webp", "tif",
                                        "tiff", "eps",    "ps",          "txt", "md",   "htm",
                                        "html", "yml",    "yaml",        "xml", "pb",   "pt",
                                        "pth",  "tflite", "safetensors", "zip", "gz"};

const struct writer *writer_named(const char *name, size_t n)
{
    for (const struct writer *const *w = writer_table; *w; w++)
        if (strlen((*w)->name) == n && !memcmp((*w)->name, name, n))
            return *w;
    return NULL;
}

const struct writer *writer_of(const char *path)
{
    const struct writer *best = NULL, *folder = NULL;
    for (const struct writer *const *w = writer_table; *w; w++)
        if (!(*w)->suffix)
            folder = *w;
        else if (str_ends(path, (*w)->suffix) &&
                 (!best || strlen((*w)->suffix) > strlen(best->suffix)))
            best = *w;
    assert(folder);
    return best ? best : folder;
}

int writer_check_name(const char *path, struct arena *a, struct diag *d)
{
    const char *dot = strrchr(path_base(path), '.');
    bool strange = false;
    if (str_ends(path, ".gantt.pdf") || str_ends(path, ".gantt.png"))
        return diag_error(d, "-o %s: charts are written as .gantt.svg", path);
    if (writer_of(path)->suffix)
        return 0;
    for (const struct writer *const *w = writer_table; dot && *w; w++)
        strange = strange ||
                  ((*w)->suffix && strcmp(dot, (*w)->suffix) && !strcasecmp(dot, (*w)->suffix));
    for (size_t i = 0; dot && i < sizeof strangers / sizeof *strangers; i++)
        strange = strange || !strcasecmp(dot + 1, strangers[i]);
    if (!strange)
        return 0;
    return diag_error(d, "-o %s: pcc writes no %s; expected a folder for a split, or one of%s",
                      path, dot, writer_suffixes(a));
}

const char *writer_suffixes(struct arena *a)
{
    const char *s = "";
    for (const struct writer *const *w = writer_table; *w; w++)
        if ((*w)->suffix)
            s = arena_fmt(a, "%s %s", s, (*w)->suffix);
    return s;
}

/* The words list[0..n) in a sentence: sep between them, `last` before the last one. */
static const char *join(const char *const *list, uint32_t n, const char *sep, const char *last,
                        struct arena *a)
{
    const char *s = n ? list[0] : "";
    for (uint32_t i = 1; i < n; i++)
        s = arena_fmt(a, "%s%s%s", s, i + 1 < n ? sep : last, list[i]);
    return s;
}

enum { MOST_WRITERS = 64 };

const char *writer_emits(const char *sep, const char *last, struct arena *a)
{
    const char *list[MOST_WRITERS] = {NULL};
    uint32_t n = 0;
    for (const struct writer *const *w = writer_table; *w && n < MOST_WRITERS; w++)
        if ((*w)->to_stdout)
            list[n++] = (*w)->name;
    return join(list, n, sep, last, a);
}

const struct writer_opt *writer_opt(const struct writer *w, const char *name)
{
    for (const struct writer_opt *const *o = w->opts; o && *o; o++)
        if (!strcmp((*o)->opt.name, name))
            return *o;
    return NULL;
}

void *writer_opts_new(const struct writer *w, struct arena *a)
{
    void *opts = arena_alloc(a, w->optsize + 1);
    for (const struct writer_opt *const *o = w->opts; o && *o; o++) {
        bool fits = opt_set(&(*o)->opt, opts, (*o)->opt.def);
        assert(fits);
        (void)fits;
    }
    return opts;
}

const char *writer_opt_unused(const struct writer_opt *o, struct arena *a)
{
    const char *list[MOST_WRITERS] = {NULL};
    uint32_t n = 0;
    if (o->unused)
        return o->unused;
    for (const struct writer *const *w = writer_table; *w && n < MOST_WRITERS; w++)
        if (writer_opt(*w, o->opt.name))
            list[n++] = (*w)->suffix ? (*w)->suffix : "folder";
    return arena_fmt(a, "no %s is written", join(list, n, ", ", " or ", a));
}

int writer_run(const struct writer *w, const struct result *r, const void *opts, const char *path)
{
    if (w->needs >= WRITER_TAKES_PLAN && !r->verdict)
        return w->suffix
                   ? diag_error(r->diag, "'%s' shows a plan: give a planner, such as -p auto-place",
                                w->name)
                   : diag_error(r->diag, "-o %s: a split folder needs a planner in -p", path);
    return w->write(w->as_planned && r->open ? r->open : r, opts, path);
}
