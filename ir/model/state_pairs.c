/* Finds state pairs by the names that exporters give to inputs and outputs (state_pairs.h). */
#include "ir/model/state_pairs.h"

#include "ir/base/strings.h"

#include <string.h>

/* State of state_pairs_find(). */
struct pair_search {
    struct module *m;
    struct arena *a;
    struct state_pairs *p; /* the result: pairs found so far */
    uint8_t *taken;        /* [value] 1: the value is in a pair */
    vid *output_named;     /* [sid < nname] the model's output with that name, or 0 */
    uint32_t nname;
};

/* Returns the name `in` with its first `from` replaced by "present"; NULL: `from` is not in the name.
 * "past_key_values.3.key" -> "present.3.key", "past_0" -> "present_0", "x.past" -> "x.present". */
static char *present_name(struct arena *a, const char *in, const char *from)
{
    const char *at = strstr(in, from);
    if (!at)
        return NULL;
    return arena_fmt(a, "%.*spresent%s", (int)(at - in), in, at + strlen(from));
}

/* Fills f->output_named; of several outputs with one name, the first one counts. */
static void index_outputs(struct pair_search *f)
{
    const struct graph *g = &f->m->graph[1];
    f->nname = strings_count(f->m->str);
    f->output_named = arena_array(f->a, (size_t)f->nname + 1, sizeof *f->output_named);
    for (uint32_t i = g->out.n; i-- > 0;) {
        vid v = f->m->arg[g->out.at + i];
        f->output_named[f->m->value[v].name] = v;
    }
}

/* Returns the output of the model with this name; 0: there is none. */
static vid output_by_name(const struct pair_search *f, sid name)
{
    return name < f->nname ? f->output_named[name] : 0;
}

/* Whether both values are tensors of the same element type. */
static bool same_kind(const struct module *m, vid x, vid y)
{
    const struct type *s = &m->type[m->value[x].type], *t = &m->type[m->value[y].type];
    return s->kind == TYPE_TENSOR && t->kind == TYPE_TENSOR && s->elem == t->elem;
}

/* Adds the pair of the values `in` and `out` and marks both as taken. */
static void add_pair(struct pair_search *f, vid in, vid out)
{
    f->p->in[f->p->n] = in;
    f->p->out[f->p->n++] = out;
    f->taken[in] = f->taken[out] = 1;
}

/* Adds the pair that the user gives by names.  Returns 0, or -1 with an error reported. */
static int take_given(struct pair_search *f, const struct state_pair *pair, struct diag *d)
{
    struct module *m = f->m;
    const struct graph *g = &m->graph[1];
    vid in = 0, out = output_by_name(f, str_id(m, pair->out));
    for (uint32_t i = 0; i < g->in.n && !in; i++)
        if (strcmp(value_name(m, m->arg[g->in.at + i]), pair->in) == 0)
            in = m->arg[g->in.at + i];
    if (!in || !out)
        return diag_error(d, "--state %s=%s: the model has no %s of that name", pair->in, pair->out,
                          in ? "output" : "input");
    if (!m->value[out].def)
        return diag_error(d, "--state %s=%s: no node makes the output, so it holds no state",
                          pair->in, pair->out);
    if (f->taken[in] || f->taken[out])
        return diag_error(d, "--state %s=%s: one of them is in another pair", pair->in, pair->out);
    add_pair(f, in, out);
    return 0;
}

int state_pairs_find(struct module *m, const struct state_pair *pair, uint32_t npair,
                     struct arena *a, struct state_pairs *p, struct diag *d)
{
    static const char *const past[] = {"past_key_values", "past_key_value", "past", NULL};
    const struct graph *g = &m->graph[1];
    struct pair_search f = {.m = m, .a = a, .p = p};
    *p = (struct state_pairs){0};
    f.taken = arena_alloc(a, m->nval);
    index_outputs(&f);
    p->in = arena_array(a, (size_t)g->in.n + npair + 1, sizeof *p->in);
    p->out = arena_array(a, (size_t)g->in.n + npair + 1, sizeof *p->out);
    for (uint32_t k = 0; k < npair; k++)
        if (take_given(&f, &pair[k], d))
            return -1;
    for (uint32_t i = 0; i < g->in.n; i++) {
        vid in = m->arg[g->in.at + i], out = 0;
        for (const char *const *s = past; *s && !out && !f.taken[in]; s++) {
            char *name = present_name(a, value_name(m, in), *s);
            if (name)
                out = output_by_name(&f, str_id(m, name));
        }
        /* an output that no node makes is an input or an initializer, and holds no state */
        if (out && !f.taken[out] && same_kind(m, in, out) && m->value[out].def)
            add_pair(&f, in, out);
    }
    return 0;
}
