/* Writes a type as text (type_text.h).  O(dimensions shown). */
#include "backends/type_text.h"

#include "ir/base/utf8.h"
#include "ir/model/dim.h"

enum { DIMS_SHOWN = 16 /* dimensions that are shown, at most */ };

char *type_text(const struct module *m, uint32_t type, struct arena *a)
{
    const struct type *t = &m->type[type];
    char *s;
    if (t->kind != TYPE_TENSOR)
        return arena_fmt(a, "%s", t->kind == TYPE_NONE ? "?" : "non-tensor");
    if (t->rank < 0)
        return arena_fmt(a, "%s[...]", elem_name(t->elem));
    s = arena_fmt(a, "%s[", elem_name(t->elem));
    for (int i = 0; i < t->rank && i < DIMS_SHOWN; i++)
        s = arena_fmt(a, "%s%s%s", s, i ? "," : "",
                      utf8_text(a, dim_text(m, m->dim[t->dim + (uint32_t)i], a)));
    return arena_fmt(a, "%s%s]", s, t->rank > DIMS_SHOWN ? ",..." : "");
}
