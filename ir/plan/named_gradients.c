/* Finds gradients by name (named_gradients.h).
 *
 * In models of pcc-gen and in exported training graphs the gradient of P is called "P_grad"; a gradient that the user
 * names (--gradient) takes precedence.  Expected O(values). */
#include "ir/plan/named_gradients.h"

#include "ir/base/name_table.h"

#include <string.h>

static const char END[] = "_grad";

bool values_alike(const struct module *m, vid x, vid y)
{
    const struct type *a = &m->type[m->value[x].type], *b = &m->type[m->value[y].type];
    if (a->kind != TYPE_TENSOR || b->kind != TYPE_TENSOR || a->elem != b->elem ||
        a->rank != b->rank || a->rank < 0)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (m->dim[a->dim + (uint32_t)i].value < 0 ||
            m->dim[a->dim + (uint32_t)i].value != m->dim[b->dim + (uint32_t)i].value)
            return false;
    return true;
}

bool is_named_after(const struct module *m, vid v, vid of, const char *end)
{
    const char *name = value_name(m, v), *base = value_name(m, of);
    size_t n = strlen(base);
    return strncmp(name, base, n) == 0 && strcmp(name + n, end) == 0;
}

/* A gradient that the user names. of: the parameter, v: its gradient, as values of the model; 0: the model has no value
 * of that name. */
struct said_pair {
    const struct said_names *said;
    vid of, v;
    bool may_be; /* v can be a gradient */
};

/* Notes in *to the gradient that the user names for a parameter, in place of a gradient found by the parameter's name.
 * Returns NULL, or the reason why the value cannot be that gradient. */
static const char *take_said(struct named_gradients *to, const struct module *m,
                             const struct said_pair *pair, struct arena *a)
{
    const struct said_names *said = pair->said;
    vid of = pair->of, v = pair->v;
    const char *what = arena_fmt(a, "--gradient '%s=%s'", said->parameter, said->value);
    if (!of)
        return arena_fmt(a, "%s: the model has no parameter '%s'", what, said->parameter);
    if (!v)
        return arena_fmt(a, "%s: the model has no value '%s'", what, said->value);
    if (!values_alike(m, of, v))
        return arena_fmt(a, "%s: '%s' has not the type and sizes of '%s'", what, said->value,
                         said->parameter);
    if (!pair->may_be)
        return arena_fmt(a, "%s: '%s' does not follow from all samples by the backward pass", what,
                         said->value);
    if (to->said[of])
        return arena_fmt(a, "%s: the parameter has a gradient '%s' already", what,
                         value_name(m, to->of[of]));
    to->of[of] = v;
    to->said[of] = 1;
    return NULL;
}

struct named_gradients named_gradients_find(const struct module *m, const struct training *t,
                                            const uint8_t *may_be, struct arena *a)
{
    const struct graph *g = &m->graph[1];
    struct named_gradients to = {.of = arena_array(a, m->nval, sizeof *to.of),
                                 .said = arena_alloc(a, m->nval)};
    struct arena *own = arena_new(a);
    struct names parameter = names_new(own, g->init.n + 1), value = names_new(own, t->ngradient);
    for (uint32_t i = 0; i < g->init.n; i++)
        names_add(&parameter, value_name(m, m->arg[g->init.at + i]), m->arg[g->init.at + i]);
    for (uint32_t i = 0; i < t->ngradient; i++)
        names_add(&value, t->gradient[i].value, i);
    /* [number in `value`] the model's value of that name; 0: none */
    vid *found = arena_array(own, (size_t)t->ngradient + 1, sizeof *found);
    for (nid n = g->first; n < g->first + g->count; n++)
        for (uint32_t i = 0; i < m->node[n].out.n; i++) {
            vid v = m->arg[m->node[n].out.at + i];
            const char *name = v ? value_name(m, v) : "";
            size_t length = strlen(name), end = sizeof END - 1;
            uint32_t at = t->ngradient ? names_get(&value, name, t->ngradient) : t->ngradient;
            if (at < t->ngradient)
                found[at] = v;
            if (!v || !may_be[v] || length <= end || strcmp(name + length - end, END) != 0)
                continue;
            vid of = names_get(&parameter, arena_strdup(own, name, length - end), 0);
            if (of && values_alike(m, of, v))
                to.of[of] = v;
        }
    for (uint32_t i = 0; i < t->ngradient && !to.why; i++) {
        const struct said_names *said = &t->gradient[i];
        vid v = found[names_get(&value, said->value, 0)];
        const struct said_pair pair = {said, names_get(&parameter, said->parameter, 0), v,
                                       may_be[v] != 0};
        to.why = take_said(&to, m, &pair, a);
    }
    arena_free(own);
    return to;
}
