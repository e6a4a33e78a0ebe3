/* Copies of parts whose parameters are inputs (parameter_inputs.h).
 *
 * Training gives a part new parameters in each step, so they cannot stand in its file.  An engine packs constant
 * weights once, when it loads the part, but inputs in each run: a part whose parameters are inputs takes longer, and is
 * measured as it will run. */
#include "tools/run/parameter_inputs.h"

#include "frontends/frontends.h"
#include "ir/base/json_in.h"

#include <string.h>

enum { NOT_THERE = UINT32_MAX };

/* Lists the initializers of a part's file whose names are in the table, in *out.  Returns 0, or -1 and an error. */
static int find(const struct split_part *p, const struct names *names, struct parameter_inputs *out,
                struct arena *a, struct diag *d)
{
    const struct onnx_options links = {.allow_links = true};
    const struct module *m = onnx_read(p->path, &links, a, d);
    if (!m)
        return -1;
    const struct graph *g = &m->graph[1];
    *out = (struct parameter_inputs){
        .in = arena_array(a, (size_t)g->init.n + 1, sizeof *out->in),
        .number = arena_array(a, (size_t)g->init.n + 1, sizeof *out->number)};
    for (uint32_t i = 0; i < g->init.n; i++) {
        vid v = m->arg[g->init.at + i];
        uint32_t k = names_get(names, value_name(m, v), NOT_THERE);
        if (k == NOT_THERE)
            continue;
        const struct tensor *t = &m->tensor[m->value[v].tensor];
        out->number[out->n] = k;
        out->in[out->n++] = (struct extra_input){value_name(m, v), t->elem, t->rank,
                                                 m->ints + t->dim, m->value[v].flags & VALUE_INPUT};
    }
    return 0;
}

int parameter_inputs(struct split_part *p, const struct names *names, const char *folder,
                     struct parameter_inputs *out, struct arena *a, struct diag *d)
{
    const char *copy = arena_fmt(a, "%s/%s", folder, p->file);
    if (find(p, names, out, a, d))
        return -1;
    if (!out->n)
        return 0;
    /* the path is that of the split's folder, a slash and the file */
    p->data = arena_strdup(a, p->path, strlen(p->path) - strlen(p->file) - 1);
    if (extra_inputs(p->path, copy, out->in, out->n, a, d))
        return -1;
    p->path = copy;
    return 0;
}

/* Adds to the table the names with the given key in a list of objects. */
static void add_listed(struct names *to, const json_t *list, const char *key)
{
    json_t *row;
    size_t i;
    json_array_foreach(list, i, row)
    {
        const char *name = json_get_text(row, key);
        if (name)
            names_add(to, name, to->n);
    }
}

/* Returns the table of the parameters and counters that the manifest lists, in a. */
static struct names listed(const struct split *s, struct arena *a)
{
    const json_t *training = json_object_get(s->manifest, "training");
    const json_t *gradients = json_object_get(training, "gradients");
    const json_t *counters = json_object_get(training, "counters");
    size_t n = json_array_size(gradients) + json_array_size(counters);
    struct names names = names_new(a, (uint32_t)n + 1);
    add_listed(&names, gradients, "parameter");
    add_listed(&names, counters, "value");
    return names;
}

int parameter_inputs_all(struct split *s, const struct names *names, const char *folder,
                         struct arena *a, struct diag *d)
{
    struct names own;
    struct parameter_inputs found;
    uint32_t n = 0;
    if (!names) {
        own = listed(s, a);
        names = &own;
    }
    if (names->n == 0)
        return 0;
    for (uint32_t k = 0; k < s->npart; k++) {
        if (parameter_inputs(&s->part[k], names, folder, &found, a, d))
            return -1;
        n += found.n;
    }
    diag_note(d, "%u parameter%s of parts %s, as in steps of training", n, n == 1 ? "" : "s",
              n == 1 ? "is an input" : "are inputs");
    return 0;
}
