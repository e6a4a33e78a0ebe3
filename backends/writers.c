/* The table of writers, and functions that look up names, suffixes and options in it (backends.h).  O(writers) each. */
#include "backends/backends.h"

#include "ir/base/nearest.h"
#include "ir/base/strings.h"

#include <assert.h>
#include <string.h>
#include <sys/stat.h>

extern const struct writer writer_onnx, writer_ir, writer_csv, writer_json, writer_dot, writer_svg,
    writer_sizes, writer_levels, writer_pdf, writer_png, writer_gantt, writer_trace, writer_html,
    writer_explorer, writer_split;

/* All writers, in the order in which help and messages list them. */
const struct writer *const writer_table[] = {
    &writer_onnx, &writer_ir,       &writer_csv,   &writer_json, &writer_sizes, &writer_levels,
    &writer_dot,  &writer_svg,      &writer_pdf,   &writer_png,  &writer_gantt, &writer_trace,
    &writer_html, &writer_explorer, &writer_split, NULL};

/* Whether a path looks like the name of a file: its last component ends in a dot and one to four letters, or in a dot
 * and a word of formats[]; but not in a dot and a word of folders[], and there is no folder at this path.  v1.2,
 * .cache, model.split and run.old do not look like files. */
static bool looks_like_file(const char *path)
{
    static const char *const folders[] = {"d", "dir", "out", "old", "new", "tmp"};
    static const char *const formats[] = {"tflite", "safetensors", "keras", "trace", "gantt"};
    const char *base = path_base(path), *dot = strrchr(base, '.');
    struct stat there;
    bool known = false;
    if (!dot || dot == base || !dot[1])
        return false;
    for (const char *c = dot + 1; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z')))
            return false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (!strcmp(dot + 1, folders[i]))
            return false;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        known = known || !strcmp(dot + 1, formats[i]);
    return (known || strlen(dot + 1) <= 4) && (stat(path, &there) != 0 || !S_ISDIR(there.st_mode));
}

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
    if (str_ends(path, ".gantt.pdf") || str_ends(path, ".gantt.png"))
        return diag_error(d, "-o %s: charts are written as .gantt.svg", path);
    if (writer_of(path)->suffix || !looks_like_file(path))
        return 0;
    const char *dot = strrchr(path, '.');
    char *small = arena_strdup(a, dot, strlen(dot));
    /* makes capital letters small; the ending has only letters and a dot, and | 0x20 leaves a dot as it is */
    for (char *c = small; *c; c++)
        *c = (char)(*c | 0x20);
    struct nearest t = nearest_to(small, strlen(small));
    for (const struct writer *const *w = writer_table; *w; w++)
        if ((*w)->suffix)
            nearest_try(&t, (*w)->suffix);
    return diag_error(d, "-o %s: pcc writes no %s%s (a file ends in one of%s, a folder in /)", path,
                      dot, nearest_hint(&t, a), writer_suffixes(a));
}

const char *writer_suffixes(struct arena *a)
{
    const char *s = "";
    for (const struct writer *const *w = writer_table; *w; w++)
        if ((*w)->suffix)
            s = arena_fmt(a, "%s %s", s, (*w)->suffix);
    return s;
}

/* Returns the words list[0 .. n) as one text, in a: sep between two words, but `last` before the last word. */
static const char *join(const char *const *list, uint32_t n, const char *sep, const char *last,
                        struct arena *a)
{
    const char *s = n ? list[0] : "";
    for (uint32_t i = 1; i < n; i++)
        s = arena_fmt(a, "%s%s%s", s, i + 1 < n ? sep : last, list[i]);
    return s;
}

enum { MOST_WRITERS = 64 }; /* names in one list of a message */

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
