/* Finds the batch dimension of a model (batch.h).
 *
 * A sample is a row of the first dimension of the inputs.  Shapes are followed by name: an axis whose size is an
 * expression of that name ("batch", "batch*sequence") grows with the number of samples. */
#include "ir/model/batch.h"

#include "ir/base/map.h"
#include "ir/model/dim.h"

#include <string.h>

bool batch_is_name(const char *name)
{
    return strcmp(name, "N") == 0 || strcmp(name, "n") == 0 || strcmp(name, "bs") == 0 ||
           strncmp(name, "batch", 5) == 0 || strncmp(name, "Batch", 5) == 0;
}

sid batch_name(const struct module *m)
{
    sid any = 0;
    for (uint32_t i = 0; i < m->graph[1].in.n; i++) {
        const struct value *v = &m->value[m->arg[m->graph[1].in.at + i]];
        const struct type *t = &m->type[v->type];
        if (v->flags & VALUE_INIT || t->kind != TYPE_TENSOR || t->rank < 1)
            continue;
        sid name = m->dim[t->dim].sym;
        if (name && batch_is_name(module_str(m, name)))
            return name;
        if (!any)
            any = name;
    }
    return any;
}

/* Values of batch_search.depends; not 0, which map_get() returns for an expression that is not in the map. */
enum { NO = 1, YES };

/* State of value_batch_axes() and value_batch_squares(). */
struct batch_search {
    const struct module *m;
    sid batch;
    /* expression -> YES or NO: whether the name is in the expression; 0: not looked at yet */
    struct map depends;
    struct arena *a; /* for the map */
};

/* Whether a dimension depends on the batch. */
static bool depends_on_batch(struct batch_search *s, struct dim d)
{
    if (!d.sym)
        return false; /* a number, or unknown */
    if (d.sym == s->batch)
        return true;
    uint32_t known = map_get(&s->depends, map_key(0, d.sym));
    if (known)
        return known == YES;
    bool found = dim_has_name(s->m, d, module_str(s->m, s->batch));
    map_set(&s->depends, s->a, map_key(0, d.sym), found ? YES : NO);
    return found;
}

/* Returns the axis of a value of type t along which its samples lie, as value_batch_axes() describes it; -1: it has
 * none. */
static int32_t find_axis(struct batch_search *s, const struct type *t)
{
    int32_t unknown = t->kind == TYPE_TENSOR && t->rank >= 0 ? -1 : 0;
    for (int32_t i = 0; t->kind == TYPE_TENSOR && i < t->rank; i++) {
        struct dim d = s->m->dim[t->dim + (uint32_t)i];
        if (depends_on_batch(s, d))
            return i;
        if (unknown < 0 && !dim_known(d))
            unknown = i;
    }
    return unknown;
}

const int32_t *value_batch_axes(const struct module *m, struct arena *a)
{
    struct batch_search s = {.m = m, .batch = batch_name(m), .a = arena_new(a)};
    int32_t *axis = s.batch ? arena_array(a, m->nval, sizeof *axis) : NULL;
    for (vid v = 0; axis && v < m->nval; v++)
        axis[v] = find_axis(&s, &m->type[m->value[v].type]);
    arena_free(s.a);
    return axis;
}

const uint8_t *value_batch_squares(const struct module *m, struct arena *a)
{
    struct batch_search s = {.m = m, .batch = batch_name(m), .a = arena_new(a)};
    uint8_t *several = arena_alloc(a, m->nval);
    for (vid v = 0; s.batch && v < m->nval; v++) {
        const struct type *t = &m->type[m->value[v].type];
        int n = 0;
        for (int32_t i = 0; t->kind == TYPE_TENSOR && i < t->rank; i++)
            n += depends_on_batch(&s, m->dim[t->dim + (uint32_t)i]);
        several[v] = n > 1;
    }
    arena_free(s.a);
    return several;
}
